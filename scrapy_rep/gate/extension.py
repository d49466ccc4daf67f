"""The robots.txt files of one crawl: who has been asked, who is being asked, what they say.

The extension owns the state; middleware, spiders and contracts ask it, so that there is one cache,
one fetch and one set of stats.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cached_property, partial
from time import time
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import build_from_crawler, load_object

from scrapy_rep.crawl.product_tokens import ProductTokens
from scrapy_rep.exceptions import FetchError
from scrapy_rep.politeness import open_rate_limiter
from scrapy_rep.politeness.crawl_delay import CrawlDelay
from scrapy_rep.politeness.other_scheduler import OtherScheduler
from scrapy_rep.politeness.robots_source import Gate, RobotsSource
from scrapy_rep.protocol import SCHEMES, Access, Origin, Verdict
from scrapy_rep.protocol.freshness import Entry
from scrapy_rep.settings import RepSettings, asks_robots
from scrapy_rep.signals import sitemaps_found
from scrapy_rep.stores import open_store
from scrapy_rep.stores.memory import Memory
from scrapy_rep.stores.redis_link import RedisLink

from .fetch import Fetcher
from .refresh import Refreshed, Refresher
from .report import Report
from .robots import ALLOW_ALL, DISALLOW_ALL, Robots
from .single_flight import SingleFlight
from .sitemap_lines import sitemaps_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.robotstxt import RobotParser
    from typing_extensions import Self

logger = logging.getLogger(__name__)


class RepExtension(RobotsSource):
    """One crawl's robots.txt files: at most one fetch per origin at a time, for any number of waiters."""

    def __init__(self, crawler: Crawler) -> None:
        """Raises `InvalidSettingError`, and what the parser back-end raises when it cannot be used."""
        self.settings = RepSettings.from_crawler(crawler)
        self.identity = ProductTokens(crawler)
        self._crawler = crawler
        self._obey = crawler.settings.getbool("ROBOTSTXT_OBEY")
        self._asks = asks_robots(crawler.settings)
        self._parser_class = load_object(crawler.settings["ROBOTSTXT_PARSER"])
        self._build_parser(ALLOW_ALL)  # a missing dependency is to be seen now, not at the first page
        self.redis = RedisLink(crawler) if self.settings.redis_url else None
        self._store = open_store(crawler, self.redis)
        self.limiter = open_rate_limiter(crawler, self._store, self.redis)
        self._fetcher = Fetcher(crawler, self._waiting)
        self._renewer = Refresher(crawler, self._fetcher, self._store)
        self._memory: Memory[Robots] = Memory(self.settings.memory_entries, self.settings.memory_size)
        self._flights: dict[Origin, SingleFlight[Robots]] = {}
        self.report = Report(crawler, self.settings.unreachable)
        crawler.signals.connect(self._spider_closed, signal=signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def obeys(self, request: Request) -> bool:
        """Whether robots.txt decides about *request*.

        Not with ``ROBOTSTXT_OBEY`` off, not with the meta key ``dont_obey_robotstxt``, and not for a
        scheme that has no robots.txt.
        """
        return self._obey and not request.meta.get("dont_obey_robotstxt") and self.asks(request)

    def asks(self, request: Request) -> bool:
        """Whether robots.txt is fetched because of *request*: to decide about it, to pace it, or on demand.

        The meta key ``rep_fetch`` demands it where nobody else asks.
        """
        wanted = self._asks and not request.meta.get("dont_obey_robotstxt")
        return (wanted or bool(request.meta.get("rep_fetch"))) and urlparse_cached(request).scheme in SCHEMES

    def in_hand(self, url: str) -> Robots | None:
        """The robots.txt that speaks for *url*, if it is known and may be used now; never waits.

        Raises ``ValueError`` for a URL that has no robots.txt.
        """
        robots = self._memory.get(Origin.from_url(url))
        return robots if robots and robots.holds(time()) else None

    def entry(self, url: str) -> Entry | None:
        """What is known now of the robots.txt that speaks for *url*; never waits.

        Raises ``ValueError`` for a URL that has no robots.txt.
        """
        robots = self.in_hand(url)
        return robots.entry if robots else None

    async def robots(self, subject: Request | str) -> Robots:
        """The robots.txt that speaks for *subject*, a request or a URL; fetched when it is not in hand.

        Waits for the fetch and, while the origin is unreachable, for further attempts. Raises
        ``ValueError`` for a URL that has no robots.txt, `RedisRequiredError` where Redis is required and away.
        """
        request = subject if isinstance(subject, Request) else Request(subject)
        robots = self.in_hand(request.url)
        if robots is not None:
            return robots
        return await self._flight(request).join()

    def _flight(self, cause: Request) -> SingleFlight[Robots]:
        """The fetch that brings the robots.txt for *cause*: the one that is under way, or a new one."""
        origin = Origin.from_url(cause.url)
        flight = self._flights.get(origin)
        if flight is None:
            flight = self._flights[origin] = SingleFlight(landed=partial(self._flights.__delitem__, origin))
            flight.start(self._renew(origin, cause))
        return flight

    def verdict(self, robots: Robots, request: Request) -> Verdict:
        """What *robots* says of *request*, under the product token that the request goes by."""
        return robots.verdict(self.identity.tokens(request), request.url)

    def retry_after(self, robots: Robots) -> float:
        """Seconds until an unreachable origin is asked again, once a request for it comes."""
        return max(robots.until - time(), 0.0)

    def origin_to_ask(self, request: Request) -> Origin | None:
        """The origin whose robots.txt has to be in hand before *request* starts; None when nobody asks it.

        A URL without a usable host has none: the gate tells.
        """
        try:
            return Origin.from_url(request.url) if self._has_gate and self.asks(request) else None
        except ValueError:
            return None

    def is_cached(self, origin: Origin) -> bool:
        """Whether its robots.txt is known and may be used now."""
        robots = self._memory.get(origin)
        return robots is not None and time() < robots.until

    def forbids(self, request: Request) -> bool:
        """Whether the robots.txt in hand forbids *request*; False when none is in hand. Never raises."""
        try:
            robots = self.in_hand(request.url) if self.obeys(request) else None
            return robots is not None and not self.verdict(robots, request).allowed
        except Exception:  # noqa: BLE001  # of a parser back-end; the gate asks it again, and fails with the request
            return False

    def prepare(self, request: Request) -> None:
        """Put what the robots.txt in hand asks for on the download slot of *request*. Never raises."""
        if self._crawl_delay is None or request.meta.get("dont_obey_robotstxt"):
            return
        try:
            robots = self.in_hand(request.url)
            if robots is not None:
                self._crawl_delay.prepare(request, robots.parser)
        except Exception:  # a parser back-end that breaks; the gate asks it again, and fails with the request
            logger.exception("The delay that robots.txt asks for %s cannot be told.", request)

    def can_start(self, request: Request) -> bool:
        """Whether *request* could start at once: robots.txt is in hand, its download slot has room, its delay has
        passed, and it has its permit.

        For the queue of a scheduler that is not Scrapy's: what cannot start goes back to its end. What it
        lacks is seen to, and the engine asks again when that has come.
        """
        return self._other_scheduler.can_start(request)

    def prefetch(self, request: Request, ended: Callable[[], None], waiting: Callable[[], int]) -> None:
        """Fetch the robots.txt that speaks for *request*, or join the fetch that is under way.

        *ended* is called when that is over, however it ends; perhaps before this returns. *waiting* tells
        how many requests wait for that.
        """
        if self.origin_to_ask(request) is None:  # it was stored by a crawl with other settings
            ended()
        else:
            self._flight(request).call_when_landed(ended, waiting)

    def cancel_prefetches(self) -> None:
        """End the fetches that nobody else waits for: the crawl is closing."""
        for flight in list(self._flights.values()):
            if not flight.has_waiters:
                flight.cancel()

    @property
    def downloads(self) -> int:
        """How many requests for robots.txt are under way now; further attempts that are not due do not count."""
        return self._fetcher.downloads

    @cached_property
    def _has_gate(self) -> bool:
        """Whether our middleware stands; the engine, and so its middlewares, comes after the extensions."""
        return self._crawler.get_downloader_middleware(Gate) is not None

    @cached_property
    def _other_scheduler(self) -> OtherScheduler:
        return OtherScheduler(self._crawler, self)

    @cached_property
    def _crawl_delay(self) -> CrawlDelay | None:
        return self._crawler.get_extension(CrawlDelay)

    async def _renew(self, origin: Origin, cause: Request) -> Robots:
        known = self._memory.get(origin)
        renewal = await self._renewer.renew(
            origin, cause, known.entry if known else None, forbids=lambda url: self._forbids_hop(url, cause)
        )
        robots = self._come_alive(renewal, known)
        if renewal.result is not None:
            if not renewal.result.is_cached:
                await self._pace_from_now(robots, cause)
            await self._renewer.keep(renewal)
        self._memory.put(origin, robots, robots.octets)
        self.report.renewed(renewal, robots, known)
        if robots.access is not Access.UNREACHABLE and (known is None or robots.parser is not known.parser):
            await self._send_robots_parsed(robots.parser, cause)
            await self._send_sitemaps_found(robots, cause)
        return robots

    async def _pace_from_now(self, robots: Robots, cause: Request) -> None:
        """Let the delay run from the answer, before other processes hear of it."""
        if self._crawl_delay is None or cause.meta.get("dont_obey_robotstxt"):
            return
        try:
            await self._crawl_delay.robots_answered(cause, robots.parser)
        except Exception:  # as in `prepare`
            logger.exception("The delay that robots.txt asks for %s cannot be told.", cause)

    def _waiting(self, origin: Origin) -> int:
        """How many requests wait for the robots.txt of *origin*."""
        return self._flights[origin].waiting if origin in self._flights else 0

    def _forbids_hop(self, url: str, cause: Request) -> bool:
        """Whether an entry in hand forbids the target of a redirect; nothing is fetched for that."""
        robots = self.in_hand(url)
        return robots is not None and not robots.verdict(self.identity.tokens(cause), url).allowed

    def _come_alive(self, renewal: Refreshed, known: Robots | None) -> Robots:
        """The entry with its parser back-end: the one in hand when nothing changed."""
        entry, now, freshness = renewal.entry, time(), self._renewer.freshness
        access, until = freshness.access(entry, now), freshness.usable_until(entry, now)
        error = _why_unreachable(renewal) if access is Access.UNREACHABLE else None
        if known and (known.access, known.entry.body) == (access, entry.body):
            return Robots(entry, access, until, known.parser, error)
        try:
            return Robots(entry, access, until, self._build_parser(self._body(entry, access)), error)
        except Exception as parser_error:  # noqa: BLE001  # a robots.txt that breaks a parser allows nothing
            return Robots(entry, Access.UNREACHABLE, until, self._build_parser(DISALLOW_ALL), parser_error)

    def _body(self, entry: Entry, access: Access) -> bytes:
        """What the parser back-end is handed: the body, or the rules that the access stands for."""
        if access is Access.UNREACHABLE:
            access = self.settings.unreachable
        return {Access.SUCCESSFUL: entry.body, Access.UNAVAILABLE: ALLOW_ALL}.get(access, DISALLOW_ALL)

    def _build_parser(self, body: bytes) -> RobotParser:
        parser: RobotParser = build_from_crawler(self._parser_class, self._crawler, body)
        return parser

    async def _send_robots_parsed(self, parser: RobotParser, cause: Request) -> None:
        signal: Any = getattr(signals, "robots_parsed", None)  # Scrapy >= 2.18
        if signal is not None:
            await self._crawler.signals.send_catch_log_async(signal=signal, robotparser=parser, request=cause)

    async def _send_sitemaps_found(self, robots: Robots, cause: Request) -> None:
        sitemaps = sitemaps_of(robots)
        self.report.sitemaps(robots.entry.origin, sitemaps)
        if sitemaps.urls:
            await self._crawler.signals.send_catch_log_async(
                signal=sitemaps_found, urls=sitemaps.urls, origin=robots.entry.origin, request=cause
            )

    def _spider_closed(self) -> None:
        self.report.close()
        self._store.close()
        self._crawler.stats.set_value("rep/memory/evicted_count", self._memory.evicted)

    def __repr__(self) -> str:
        return f"<RepExtension {self._memory!r} {self._store!r} flights={len(self._flights)}>"


def _why_unreachable(renewal: Refreshed) -> Exception:
    """The failure; one that another process has seen is told by when."""
    if renewal.result and renewal.result.error:
        return renewal.result.error
    seconds_ago = time() - renewal.entry.tried_at
    return FetchError(f"unreachable {seconds_ago:.0f} s ago, in {renewal.entry.failures} attempts")
