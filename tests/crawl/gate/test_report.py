"""What a crawl says at its end of the requests that its rules forbade."""

from __future__ import annotations

import logging

import pytest
from scrapy import Request

from scrapy_rep import RepExtension
from scrapy_rep.clock import clock
from scrapy_rep.crawl.gate.report import Account
from scrapy_rep.crawl.robots.parser import RepRobotParser
from scrapy_rep.crawl.robots.robots import Robots
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import Entry
from tests.support.in_process import crawler_at_rest

SITE = "https://a.example"
EVERY = "robots.txt forbade every"


def robots_of(body: bytes = b"User-agent: *\nDisallow: /private\n") -> Robots:
    origin, now = Origin.from_url(SITE), clock.time()
    entry = Entry(origin, Access.SUCCESSFUL, origin.robots_url, 200, body, (), now, now + 60, tried_at=now)
    return Robots(entry, Access.SUCCESSFUL, until=now + 60, parser=RepRobotParser(body))


def request(path: str, *, is_start: bool = True) -> Request:
    return Request(f"{SITE}/{path}", meta={"is_start_request": True} if is_start else {})


def told(caplog: pytest.LogCaptureFixture, *requests: Request, answered: Request | None = None) -> list[str]:
    """The warnings at the end of a crawl with these decisions on *requests*."""
    extension = crawler_at_rest().get_extension(RepExtension)
    assert extension is not None
    account: Account = extension.account
    robots = robots_of()
    account.loaded(robots, None, None)
    for one in requests:
        account.decided(one, robots, extension.judge.decide(robots, one))
    if answered:
        account.not_forbidden(answered)
    caplog.set_level(logging.WARNING, "scrapy_rep")
    account.close()
    return caplog.messages


def test_a_crawl_of_which_nothing_passed_names_its_first_request(caplog: pytest.LogCaptureFixture) -> None:
    first = f"<GET {SITE}/private/1> (line 2, Disallow: /private)"
    assert told(caplog, request("private/1"), request("private/2")) == [
        f"{EVERY} request of this crawl, first {first}"
    ]


def test_start_requests_that_are_all_forbidden_are_told_although_others_pass(
    caplog: pytest.LogCaptureFixture,
) -> None:
    warnings = told(caplog, request("private/1"), request("open", is_start=False))
    by = f"{SITE} (line 2, Disallow: /private) 1"
    assert warnings == [f"{EVERY} start request of this crawl: {by}"]


@pytest.mark.parametrize("is_answered", [False, True])
def test_a_start_request_that_passes_or_is_answered_is_reason_enough_to_say_nothing(
    is_answered: bool, caplog: pytest.LogCaptureFixture
) -> None:
    others = [request("private/1"), request("open", is_start=False), request("open2", is_start=not is_answered)]
    assert told(caplog, *others, answered=request("robots.txt") if is_answered else None) == []
