"""From an entry to the `Robots` that answers for it: what its access means, and the parser of its body."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.utils.misc import build_from_crawler, load_object

from scrapy_rep.clock import clock
from scrapy_rep.exceptions import FetchError
from scrapy_rep.protocol import Access
from scrapy_rep.protocol.access import ALLOW_ALL, DISALLOW_ALL, rules_by
from scrapy_rep.robots.robots import Robots
from scrapy_rep.settings import RepSettings

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.robotstxt import RobotParser

    from scrapy_rep.protocol.freshness import Entry, Freshness
    from scrapy_rep.robots.refresh import Refreshed


class RobotsBuilder:
    """Builds the `Robots` of one crawl."""

    def __init__(self, crawler: Crawler, freshness: Freshness) -> None:
        """Raises whatever the parser back-end raises if it cannot be used: now, and not at the first page."""
        self._crawler = crawler
        self._freshness = freshness
        self._unreachable = RepSettings.from_crawler(crawler).unreachable.access
        self._parser_class = load_object(crawler.settings["ROBOTSTXT_PARSER"])
        self._parser(ALLOW_ALL)

    def build(self, refreshed: Refreshed, known: Robots | None) -> Robots:
        """The entry with its parser; the parser of *known* is reused if nothing changed."""
        entry, source, now = refreshed.entry, refreshed.source, clock.time()
        access, until = self._freshness.access(entry, now), self._freshness.usable_until(entry, now)
        error = _kept(_why_unreachable(refreshed)) if access is Access.UNREACHABLE else None
        if known and (known.access, known.entry.body) == (access, entry.body):
            return Robots(entry, access, until, known.parser, error, source)
        try:
            return Robots(entry, access, until, self._parser(self._body(entry, access)), error, source)
        except Exception as parser_error:  # noqa: BLE001  # a robots.txt that breaks its parser allows nothing
            unparsed = self._parser(DISALLOW_ALL)
            return Robots(entry, Access.UNREACHABLE, until, unparsed, _kept(parser_error), source)

    def _body(self, entry: Entry, access: Access) -> bytes:
        """What the parser back-end reads: the body, or the rules that *access* stands for."""
        if access is Access.UNREACHABLE:
            access = self._unreachable
        return rules_by(access, entry.body)

    def _parser(self, body: bytes) -> RobotParser:
        parser: RobotParser = build_from_crawler(self._parser_class, self._crawler, body)
        return parser

    def __repr__(self) -> str:
        return f"<RobotsBuilder {self._parser_class.__name__}>"


def _kept(error: Exception) -> Exception:
    """*error* without its traceback and its causes.

    It is kept as long as the robots.txt, and would keep every frame alive with all that was received there: of a
    decompression bomb that is megabytes.
    """
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


def _why_unreachable(refreshed: Refreshed) -> Exception:
    """The failure of the fetch, or when another process saw one."""
    if refreshed.result and refreshed.result.error:
        return refreshed.result.error
    seconds_ago = clock.time() - refreshed.entry.tried_at
    return FetchError(f"unreachable {seconds_ago:.0f} s ago, after {refreshed.entry.failures} attempts")
