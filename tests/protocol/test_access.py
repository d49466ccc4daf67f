"""What the status of a fetch means: RFC 9309 section 2.3.1."""

from __future__ import annotations

import time

import pytest

from scrapy_rep.protocol import Access, access

NOT_FOUND = b"<html><head><title>404 Not Found</title></head><body></body></html>"


@pytest.mark.parametrize("status", [200, 201, 204, 206, 299])
def test_rfc_2_3_1_1_a_2xx_means_that_the_rules_hold(status: int) -> None:
    assert access(status) is Access.SUCCESSFUL


def test_rfc_2_3_1_1_a_2xx_is_successful_whatever_its_body() -> None:
    assert access(200, NOT_FOUND) is Access.SUCCESSFUL


@pytest.mark.parametrize("status", [300, 301, 302, 304, 307, 308, 399])
def test_rfc_2_3_1_2_a_redirect_that_leads_nowhere_is_unavailable(status: int) -> None:
    assert access(status) is Access.UNAVAILABLE


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 418, 428, 430, 451, 499])
def test_rfc_2_3_1_3_a_4xx_is_unavailable(status: int) -> None:
    assert access(status) is Access.UNAVAILABLE


@pytest.mark.parametrize("status", [500, 501, 502, 503, 504, 520, 599])
def test_rfc_2_3_1_4_a_5xx_is_unreachable(status: int) -> None:
    assert access(status) is Access.UNREACHABLE


def test_google_too_many_requests_is_unreachable() -> None:
    assert access(429) is Access.UNREACHABLE


def test_google_too_many_requests_stays_unreachable_whatever_its_body() -> None:
    assert access(429, NOT_FOUND) is Access.UNREACHABLE


@pytest.mark.parametrize("status", [0, 100, 199, 600, 999])
def test_ours_a_status_of_no_class_is_unreachable(status: int) -> None:
    assert access(status, NOT_FOUND) is Access.UNREACHABLE


@pytest.mark.parametrize(
    "page",
    [
        b"<title>404</title>",
        b"<title>Error 404: nothing here</title>",
        b"<TITLE>Not Found</TITLE>",
        b"<title>  not\n  found! </title>",
        b"<title lang='en'>Page not found</title>",
        b"<h1>Page not <b>found</b></h1>",
        b"<h1>404 Not Found</h1>",
        b"<h1 class=big>The page you asked for could <em>not be found</em></h1>",
        b"<h1>This file does not exist</h1>",
        b"<h1>Sorry, this document doesn't exist</h1>",
        b"<h1>URL not found</h1>",
        b"<h1>Resource not found</h1>",
        b"<h1>robots.txt not found</h1>",
        b"<title>Oops</title><h1>Not found</h1>",
        b"<html><body>\n\n<h1>\n404\n</h1>",
        b"<h1>404",
    ],
)
def test_google_an_error_page_that_says_not_found_is_unavailable(page: bytes) -> None:
    assert access(500, page) is Access.UNAVAILABLE
    assert access(502, page) is Access.UNAVAILABLE


@pytest.mark.parametrize(
    "page",
    [
        b"",
        b"<title>500 Internal Server Error</title>",
        b"<title>Error 4041</title>",
        b"<title>Error</title><p>404 Not Found</p>",
        b"<title>Database server not found</title>",
        b"<title>Error</title> 404",
        b"404 Not Found",
        b"<!-- 404 --><h1>Service down</h1>",
        b"<h10>404</h10>",
        b"<titles>404</titles>",
    ],
)
def test_google_an_error_page_that_says_anything_else_is_unreachable(page: bytes) -> None:
    assert access(500, page) is Access.UNREACHABLE


def test_google_a_503_is_unreachable_whatever_its_body() -> None:
    assert access(503, NOT_FOUND) is Access.UNREACHABLE
    assert access(504, NOT_FOUND) is Access.UNAVAILABLE


def test_ours_soft_404_can_be_switched_off() -> None:
    assert access(500, NOT_FOUND, soft_404=False) is Access.UNREACHABLE
    assert access(500, NOT_FOUND, soft_404=True) is Access.UNAVAILABLE


def test_ours_only_the_top_of_an_error_page_is_read() -> None:
    assert access(500, b" " * 16_000 + NOT_FOUND) is Access.UNAVAILABLE
    assert access(500, b" " * 17_000 + NOT_FOUND) is Access.UNREACHABLE


def test_ours_only_the_start_of_a_heading_is_read() -> None:
    assert access(500, b"<h1>" + b"x " * 100 + b"404") is Access.UNAVAILABLE
    assert access(500, b"<h1>" + b"x " * 200 + b"404") is Access.UNREACHABLE


def test_ours_the_distance_between_page_and_not_found_is_bounded() -> None:
    assert access(500, b"<h1>page " + b"x" * 50 + b" not found</h1>") is Access.UNAVAILABLE
    assert access(500, b"<h1>page " + b"x" * 90 + b" not found</h1>") is Access.UNREACHABLE


@pytest.mark.parametrize("status", [200, 302, 403, 429, 500, 503])
@pytest.mark.parametrize("wanted", list(Access), ids=str)
def test_ours_an_override_comes_first(status: int, wanted: Access) -> None:
    assert access(status, NOT_FOUND, overrides={status: wanted}) is wanted


def test_ours_an_override_is_for_its_status_alone() -> None:
    overrides = {403: Access.UNREACHABLE}

    assert access(403, overrides=overrides) is Access.UNREACHABLE
    assert access(404, overrides=overrides) is Access.UNAVAILABLE
    assert access(200, overrides=overrides) is Access.SUCCESSFUL
    assert access(500, overrides=overrides) is Access.UNREACHABLE


@pytest.mark.parametrize(
    "page",
    [b"<h1>page page page page page " * 3_000, b"<h1 " * 30_000, b"<" * 100_000, b"<h1>" + b"page " * 100_000],
    ids=["headings", "open-tags", "brackets", "words"],
)
def test_ours_a_hostile_error_page_takes_no_time(page: bytes) -> None:
    start = time.process_time()

    assert access(500, page) is Access.UNREACHABLE
    assert time.process_time() - start < 1
