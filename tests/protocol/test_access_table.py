"""The one reading of an answer, held against the table of answers."""

from __future__ import annotations

import pytest

from scrapy_rep.decoders import decoders
from scrapy_rep.protocol import MAX_SIZE, Access, parse
from scrapy_rep.protocol.access import TRUNCATED, Meaning, RawResponse, Via, headers_read, read
from tests.support.answers import (
    ALLOWED,
    CARRIED,
    CASES,
    FORBIDDEN,
    HTML,
    OF_CARRIERS,
    RULES,
    UNREACHABLE,
    Case,
    gz,
)

LEAST = 44


def reading(case: Case, **options: object) -> Meaning:
    headers = headers_read([("Content-Encoding", case.coding), *case.more])
    body = case.body
    if case.length is None:
        size, _, body = body.partition(b"\r\n")
        body = body[: int(size, 16)]
    damage = TRUNCATED if case.is_cut else ""
    answer = RawResponse(case.status, headers, body, damage, via=Via(case.via or "nobody"))
    return read(answer, limit=MAX_SIZE, decoders=decoders(), **options)  # type: ignore[arg-type]


def outcome(found: Meaning) -> str:
    if found.access is Access.UNREACHABLE:
        return UNREACHABLE
    body = found.body if found.access is Access.SUCCESSFUL else b""
    return ALLOWED if parse(body).verdict("*", "/page").allowed else FORBIDDEN


@pytest.mark.parametrize("name", [*CASES, *CARRIED])
def test_an_answer_means_what_the_table_says(name: str) -> None:
    case = {**CASES, **CARRIED}[name]
    found = reading(case)
    assert outcome(found) == case.outcome
    assert found.is_of_site is (name not in OF_CARRIERS)


def test_the_table_is_not_short() -> None:
    assert len(CASES) + len(CARRIED) >= LEAST


def test_a_coding_that_nobody_knows_is_named() -> None:
    assert (
        reading(CASES["unknown-coding-of-text"]).warning == "unknown Content-Encoding 'utf-8': read as plain text"
    )
    assert reading(CASES["gzip"]).warning == ""


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("gzip-cut", "truncated response (gzip)"),
        ("cut", "truncated response"),
        ("text-that-says-gzip", "wrong content coding (not gzip)"),
        ("compress", "unknown content coding (compress)"),
        ("gzip-bomb", "larger than 16,384,000 bytes when decompressed"),
        ("five-codings", "more than 4 content codings"),
        ("challenge-403", "a challenge in place of the answer (cf-mitigated, HTTP status 403)"),
        ("503-that-says-gzip", ""),
    ],
)
def test_a_problem_is_what_the_status_does_not_say(name: str, problem: str) -> None:
    assert reading(CASES[name]).problem == problem


def test_an_override_decides_before_a_challenge_and_after_a_proxy() -> None:
    allow = {403: Access.UNAVAILABLE, 407: Access.UNAVAILABLE}
    assert reading(CASES["challenge-403"], overrides=allow).access is Access.UNAVAILABLE
    assert reading(CARRIED["407"], overrides=allow).access is Access.UNREACHABLE
    assert reading(CASES["404"], overrides={404: Access.UNREACHABLE}).access is Access.UNREACHABLE


def test_a_cut_body_is_cut_whatever_an_override_makes_of_its_status() -> None:
    found = reading(CASES["gzip-cut"], overrides={200: Access.SUCCESSFUL})
    assert found.access is Access.UNREACHABLE


def test_an_override_decides_before_a_soft_404() -> None:
    found = reading(CASES["500-not-found-in-gzip"], overrides={500: Access.UNREACHABLE})
    assert found.access is Access.UNREACHABLE


def test_a_line_that_we_cut_does_not_count() -> None:
    body = gz(RULES)
    stopped = RawResponse(200, {"content-encoding": "gzip"}, body[: len(body) // 2], is_stopped=True)
    found = read(stopped, limit=MAX_SIZE, decoders={})
    assert found.access is Access.SUCCESSFUL
    assert RULES.startswith(found.body)
    assert found.body.endswith(b"\n")


def test_without_a_decoder_a_coding_is_unknown() -> None:
    answer = RawResponse(200, {"content-encoding": "br"}, CASES["br"].body)
    assert read(answer, limit=MAX_SIZE, decoders={}).problem == "unknown content coding (br)"
    text = RawResponse(200, {"content-encoding": "br"}, HTML)
    assert read(text, limit=MAX_SIZE, decoders={}).body == HTML
