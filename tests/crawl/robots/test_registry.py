"""What is kept of a robots.txt that could not be fetched, or that broke its parser."""

from __future__ import annotations

from typing import Any

from scrapy.crawler import Crawler

from scrapy_rep.crawl.robots.fetch import FetchResult
from scrapy_rep.crawl.robots.parser import RepRobotParser
from scrapy_rep.crawl.robots.registry import Registry
from scrapy_rep.crawl.robots.robots import Robots
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import Entry
from tests.support.in_process import crawler_at_rest

NOW = 1_800_000_000.0
ORIGIN = Origin("https", "example.com", 443)


class Breaks(RepRobotParser):
    """A parser back-end that some file breaks."""

    @classmethod
    def from_crawler(cls, crawler: Crawler | None, robotstxt_body: bytes) -> Any:
        if b"break" in robotstxt_body:
            _fail(robotstxt_body)
        return super().from_crawler(crawler, robotstxt_body)


def _fail(received: bytes) -> None:
    try:
        raise OSError(f"in the middle of {len(received)} octets")
    except OSError as error:
        raise ValueError("it broke") from error


def built(body: bytes, access: Access, error: Exception | None = None, **settings: Any) -> Robots:
    registry = Crawl.of(crawler_at_rest({"REP_STALE_MAX": 0, **settings})).find(Registry)
    assert registry is not None
    entry = Entry(ORIGIN, access, ORIGIN.robots_url, 200, body, (), NOW, NOW + 100)
    return registry.build(entry, FetchResult(access, ORIGIN.robots_url, error=error), None)


def is_alone(error: Exception | None) -> bool:
    """Whether *error* is there and keeps nothing else alive."""
    return error is not None and not (error.__traceback__ or error.__cause__ or error.__context__)


def test_the_error_of_a_fetch_is_kept_without_the_frames_that_received_the_body() -> None:
    try:
        _fail(b"megabytes")
    except ValueError as caught:
        robots = built(b"", Access.UNREACHABLE, caught)
    assert is_alone(robots.error)
    assert str(robots.error) == "it broke"


def test_the_error_of_a_parser_is_kept_without_the_frames_that_read_the_body() -> None:
    robots = built(b"break", Access.SUCCESSFUL, ROBOTSTXT_PARSER=Breaks)
    assert robots.access is Access.UNREACHABLE
    assert is_alone(robots.error)
