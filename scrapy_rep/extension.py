"""The robots.txt files of one crawl: who has been asked, who is being asked, what they say.

The extension owns the state; middleware, spiders and contracts ask it, so that there is one cache,
one fetch and one set of stats.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from time import time
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import build_from_crawler, load_object

from .downloader import WaitingRoom
from .fetch import Fetcher, FetchResult
from .flight import Flight
from .identity import Identity
from .origin_log import OriginLog
from .protocol import SCHEMES, Access, Origin, Verdict
from .protocol.cache import LIFETIME, Backoff, Entry
from .robots import ALLOW_ALL, DISALLOW_ALL, Robots
from .settings import RepSettings
from .stores.memory import Memory

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.robotstxt import RobotParser
    from typing_extensions import Self

logger = logging.getLogger(__name__)


class RepExtension:
    """One crawl's robots.txt files: at most one fetch per origin at a time, for any number of waiters."""

    def __init__(self, crawler: Crawler) -> None:
        """Raises `InvalidSettingError`, and what the parser back-end raises when it cannot be used."""
        self.settings = RepSettings.from_crawler(crawler)
        self.identity = Identity(crawler)
        self._crawler = crawler
        self._obey = crawler.settings.getbool("ROBOTSTXT_OBEY")
        self._parser_class = load_object(crawler.settings["ROBOTSTXT_PARSER"])
        self._build_parser(ALLOW_ALL)  # a missing dependency is to be seen now, not at the first page
        self.waiting_room = WaitingRoom(crawler, self.settings.max_waiting)
        self._fetcher = Fetcher(crawler, self.waiting_room)
        self._backoff = Backoff(self.settings.retry_delay, self.settings.retry_max_delay)
        self._memory: Memory[Robots] = Memory(self.settings.memory_entries, self.settings.memory_size)
        self._flights: dict[Origin, Flight[Robots]] = {}
        self._fetched = OriginLog(logger, logging.INFO, "robots.txt of %d more origins fetched")
        self._unreachable = OriginLog(logger, logging.WARNING, "robots.txt of %d more origins is unreachable")
        crawler.signals.connect(self._spider_closed, signal=signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def obeys(self, request: Request) -> bool:
        """Whether robots.txt decides about *request*.

        Not with ``ROBOTSTXT_OBEY`` off, not with the meta key ``dont_obey_robotstxt``, and not for a
        scheme that has no robots.txt.
        """
        return (
            self._obey
            and not request.meta.get("dont_obey_robotstxt")
            and urlparse_cached(request).scheme in SCHEMES
        )

    def in_hand(self, url: str) -> Robots | None:
        """The robots.txt that speaks for *url*, if it is known and may be used now; never waits.

        Raises ``ValueError`` for a URL that has no robots.txt.
        """
        robots = self._memory.get(Origin.from_url(url))
        return robots if robots and robots.entry.is_fresh(time()) else None

    def entry(self, url: str) -> Entry | None:
        """What is known now of the robots.txt that speaks for *url*; never waits.

        Raises ``ValueError`` for a URL that has no robots.txt.
        """
        robots = self.in_hand(url)
        return robots.entry if robots else None

    async def robots(self, subject: Request | str) -> Robots:
        """The robots.txt that speaks for *subject*, a request or a URL; fetched when it is not in hand.

        Waits for the fetch and, while the origin is unreachable, for further attempts. Raises
        ``ValueError`` for a URL that has no robots.txt.
        """
        request = subject if isinstance(subject, Request) else Request(subject)
        robots = self.in_hand(request.url)
        if robots is not None:
            return robots
        origin = Origin.from_url(request.url)
        flight = self._flights.get(origin)
        if flight is None:
            flight = self._flights[origin] = Flight(landed=partial(self._flights.__delitem__, origin))
            flight.start(self._fetch(origin, request))
        return await flight.join()

    def verdict(self, robots: Robots, request: Request) -> Verdict:
        """What *robots* says of *request*, under the product token that the request goes by."""
        return robots.verdict(self.identity.tokens(request), request.url)

    def retry_after(self, robots: Robots) -> float:
        """Seconds until an unreachable origin is asked again, once a request for it comes."""
        return max(robots.entry.expires_at - time(), 0.0)

    async def _fetch(self, origin: Origin, cause: Request) -> Robots:
        known = self._memory.get(origin)
        failures = known.entry.failures if known else 0
        result = await self._fetcher.fetch(
            origin,
            cause,
            forbids=lambda url: self._forbids_hop(url, cause),
            # An origin that was unreachable a moment ago has had its patience.
            patience=0.0 if failures else self.settings.unreachable_wait,
        )
        entry = self._entry(origin, result, failures)
        robots = self._come_alive(entry, result.error, known)
        self._memory.put(origin, robots, robots.octets)
        self._count(result)
        self._tell(robots, first=not failures)
        if robots.entry.access is not Access.UNREACHABLE and (known is None or robots.parser is not known.parser):
            await self._send_robots_parsed(robots.parser, cause)
        return robots

    def _forbids_hop(self, url: str, cause: Request) -> bool:
        """Whether an entry in hand forbids the target of a redirect; nothing is fetched for that."""
        robots = self.in_hand(url)
        return robots is not None and not robots.verdict(self.identity.tokens(cause), url).allowed

    def _entry(self, origin: Origin, result: FetchResult, failures: int) -> Entry:
        now = time()
        unreachable = result.access is Access.UNREACHABLE
        failures = failures + result.attempts if unreachable else 0
        lifetime = self._backoff.distance(failures, result.retry_after) if unreachable else LIFETIME
        return Entry(
            origin,
            result.access,
            result.url,
            result.status,
            result.body,
            result.hops,
            fetched_at=now,
            expires_at=now + lifetime,
            failures=failures,
        )

    def _come_alive(self, entry: Entry, error: Exception | None, known: Robots | None) -> Robots:
        """*entry* with its parser back-end: the one in hand when nothing changed."""
        if known and (known.entry.access, known.entry.body) == (entry.access, entry.body):
            return Robots(entry, known.parser, error)
        try:
            return Robots(entry, self._build_parser(self._body(entry)), error)
        except Exception as parser_error:  # noqa: BLE001  # a robots.txt that breaks a parser allows nothing
            broken = replace(entry, access=Access.UNREACHABLE, failures=1)
            return Robots(broken, self._build_parser(DISALLOW_ALL), parser_error)

    def _body(self, entry: Entry) -> bytes:
        """What the parser back-end is handed: the body, or the rules that the access stands for."""
        meaning = entry.access
        if meaning is Access.UNREACHABLE:
            meaning = self.settings.unreachable
        return {Access.SUCCESSFUL: entry.body, Access.UNAVAILABLE: ALLOW_ALL}.get(meaning, DISALLOW_ALL)

    def _build_parser(self, body: bytes) -> RobotParser:
        parser: RobotParser = build_from_crawler(self._parser_class, self._crawler, body)
        return parser

    async def _send_robots_parsed(self, parser: RobotParser, cause: Request) -> None:
        signal: Any = getattr(signals, "robots_parsed", None)  # Scrapy >= 2.18
        if signal is not None:
            await self._crawler.signals.send_catch_log_async(signal=signal, robotparser=parser, request=cause)

    def _count(self, result: FetchResult) -> None:
        """Count a fetch: the stats of Scrapy's middleware with their meaning there, and ours."""
        stats = self._crawler.stats
        stats.inc_value("robotstxt/request_count")
        if result.status is not None:
            stats.inc_value("robotstxt/response_count")
            stats.inc_value(f"robotstxt/response_status_count/{result.status}")
        elif not isinstance(result.error, IgnoreRequest):
            stats.inc_value(f"robotstxt/exception_count/{type(result.error)}")
        stats.inc_value(f"rep/access/{result.access.value}")
        stats.inc_value("rep/html_count", int(result.is_html))

    def _tell(self, robots: Robots, *, first: bool) -> None:
        entry = robots.entry
        if entry.access is not Access.UNREACHABLE:
            self._fetched.add(
                "robots.txt of %s: %s (HTTP status %s, %d octets, %d hops)",
                entry.origin, entry.access.value, entry.status, len(entry.body), len(entry.hops),
            )  # fmt: skip
        elif first:
            # A component of the project that ignored the request has said why; it is no news.
            log = self._fetched if isinstance(robots.error, IgnoreRequest) else self._unreachable
            log.add(
                "robots.txt of %s is unreachable (%s): its pages are %s until an attempt succeeds",
                entry.origin, describe(robots.error), _FATE[self.settings.unreachable],
            )  # fmt: skip

    def _spider_closed(self) -> None:
        self._fetched.close()
        self._unreachable.close()
        self._crawler.stats.set_value("rep/memory/evicted_count", self._memory.evicted)

    def __repr__(self) -> str:
        return f"<RepExtension {self._memory!r} flights={len(self._flights)}>"


_FATE = {Access.UNAVAILABLE: "allowed", Access.UNREACHABLE: "forbidden"}


def describe(error: Exception | None) -> str:
    """One line about *error*."""
    return " ".join(f"{type(error).__name__}: {error}".split())
