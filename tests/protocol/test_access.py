"""What the status of a fetch means: RFC 9309 section 2.3.1."""

from __future__ import annotations

import time

from scrapy_rep.protocol import Access, access

NOT_FOUND = b"<html><head><title>404 Not Found</title></head><body></body></html>"
NOT_FOUND_PAGES = [
    b"<title>404</title>",
    b"<title>Error 404: nothing here</title>",
    b"<title>  not\n  found! </title>",
    b"<title lang='en'>Page not found</title>",
    b"<title>Oops</title><h1>Not found</h1>",
    b"<H1>Page not <b>found</b></H1>",
    b"<h1 class=big>The page you asked for could <em>not be found</em></h1>",
    b"<h1>This file does not exist</h1>",
    b"<h1>Sorry, this document doesn't exist</h1>",
    b"<h1>URL not found</h1>",
    b"<h1>Resource not found</h1>",
    b"<h1>robots.txt not found</h1>",
    b"<html><body>\n\n<h1>\n404\n</h1>",
    b"<h1>404",
]
OTHER_PAGES = [
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
]


def accesses(first: int, last: int) -> set[Access]:
    """What the statuses from *first* to *last* mean, but for 429, whatever the body."""
    statuses = {*range(first, last + 1)} - {429}
    return {access(status, body) for status in statuses for body in (b"", b"User-agent: *")}


def test_rfc_2_3_1_1_a_2xx_means_that_the_rules_hold_whatever_the_body() -> None:
    assert accesses(200, 299) == {access(200, NOT_FOUND)} == {Access.SUCCESSFUL}


def test_rfc_2_3_1_2_a_redirect_that_leads_nowhere_is_unavailable() -> None:
    assert accesses(300, 399) == {Access.UNAVAILABLE}


def test_rfc_2_3_1_3_a_4xx_is_unavailable() -> None:
    assert accesses(400, 499) == {Access.UNAVAILABLE}


def test_rfc_2_3_1_4_a_5xx_is_unreachable() -> None:
    assert accesses(500, 599) == {Access.UNREACHABLE}


def test_google_too_many_requests_is_unreachable_whatever_the_body() -> None:
    assert access(429) is access(429, NOT_FOUND) is Access.UNREACHABLE


def test_a_status_of_no_class_is_unreachable() -> None:
    for status in (0, 100, 199, 600, 999):
        assert access(status, NOT_FOUND) is Access.UNREACHABLE


def test_google_an_error_page_that_says_not_found_is_unavailable() -> None:
    for page in NOT_FOUND_PAGES:
        assert {access(status, page) for status in (500, 502, 504)} == {Access.UNAVAILABLE}, page


def test_google_an_error_page_that_says_anything_else_is_unreachable() -> None:
    for page in OTHER_PAGES:
        assert access(500, page) is Access.UNREACHABLE, page


def test_google_a_503_is_unreachable_whatever_its_body() -> None:
    assert access(503, NOT_FOUND) is Access.UNREACHABLE


def test_only_so_much_of_an_error_page_is_read() -> None:
    for read, beyond in [
        (b" " * 16_000 + NOT_FOUND, b" " * 17_000 + NOT_FOUND),
        (b"<h1>" + b"x " * 100 + b"404", b"<h1>" + b"x " * 200 + b"404"),
        (b"<h1>page " + b"x" * 50 + b" not found</h1>", b"<h1>page " + b"x" * 90 + b" not found</h1>"),
    ]:
        assert (access(500, read), access(500, beyond)) == (Access.UNAVAILABLE, Access.UNREACHABLE)


def test_an_override_comes_first_and_is_for_its_status_alone() -> None:
    for status in (200, 302, 403, 429, 500, 503):
        for wanted in Access:
            assert access(status, NOT_FOUND, overrides={status: wanted}) is wanted
            assert access(404, overrides={status: wanted}) is Access.UNAVAILABLE


def test_a_hostile_error_page_takes_no_time() -> None:
    headings, words = b"<h1>page page page page page " * 3_000, b"<h1>" + b"page " * 100_000
    start = time.process_time()
    for page in (headings, words, b"<h1 " * 30_000, b"<" * 100_000):
        assert access(500, page) is Access.UNREACHABLE
    assert time.process_time() - start < 4
