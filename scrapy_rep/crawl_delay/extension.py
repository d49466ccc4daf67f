"""Which delay a download slot owes to the origins that share it.

Fed by `RepMiddleware`, else by ``signals.robots_parsed`` of Scrapy's own middleware.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf
from time import monotonic, time
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from scrapy import Request, signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.httpobj import urlparse_cached

from scrapy_rep.downloader.download_slots import DownloadSlots
from scrapy_rep.extension import RepExtension
from scrapy_rep.identity import Identity, from_setting
from scrapy_rep.protocol import Origin, Reason
from scrapy_rep.robots_request import is_robots_txt
from scrapy_rep.settings import RepSettings, asks_for_delays

from .owed import Owed
from .pace import Delay, Pace, pace_of
from .report import DelayReport

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.robotstxt import RobotParser
    from typing_extensions import Self

_TOKENS_KEPT: Final = 16  # paces of so many tokens; a crawl under ever new names stays bounded

# The server counts arrivals, and those come with the noise of event loops and networks.
_MARGIN: Final = 0.01  # seconds
_MARGIN_SHARE: Final = 0.02  # of the delay, at the most


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why robots.txt does not let a request go on: in how many seconds it does, or None for never."""

    reason: Reason
    line: int
    wait: float | None = None


class CrawlDelay:
    """Keeps every download slot to the largest of its own delay and those that robots.txt files ask for."""

    def __init__(self, crawler: Crawler) -> None:
        """Raises ``NotConfigured`` when nobody asks for delays, `InvalidSettingError` for a bad setting."""
        self._settings = RepSettings.from_crawler(crawler)
        obeys = crawler.settings.getbool("ROBOTSTXT_OBEY") or asks_for_delays(crawler.settings)
        if not obeys or not (self._settings.crawl_delay or self._settings.rate_and_visit_time):
            raise NotConfigured
        from_setting(crawler.settings)
        self._crawler = crawler
        self._most = self._settings.crawl_delay_max if self._settings.crawl_delay_over_max == "cap" else inf
        self.slots = DownloadSlots(crawler, self._settings.max_waiting)
        self._by_turns = False
        self._chosen = _chosen_delays(crawler)
        self._owed: dict[str, Owed] = {}
        self._room = self._settings.memory_entries
        self._report = DelayReport(crawler, self._settings)
        self._parsers: dict[str, RobotParser] = {}
        self._paces: WeakKeyDictionary[RobotParser, dict[tuple[str, ...], Pace]] = WeakKeyDictionary()
        self._heeded: WeakKeyDictionary[Request, Pace] = WeakKeyDictionary()
        self._arrived: WeakKeyDictionary[Request, float] = WeakKeyDictionary()
        self._connect()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _connect(self) -> None:
        connect = self._crawler.signals.connect
        connect(self._spider_opened, signal=signals.spider_opened)
        connect(self._spider_closed, signal=signals.spider_closed)
        connect(self.leave_old_host, signal=signals.request_scheduled)
        robots_parsed: Any = getattr(signals, "robots_parsed", None)  # Scrapy >= 2.18
        if robots_parsed is not None:
            connect(self._robots_parsed, signal=robots_parsed)

    def fed_by_gate(self) -> None:
        """From now on `heed` is told of every request: what the signals tell of some is not needed."""
        disconnect = self._crawler.signals.disconnect
        disconnect(self.leave_old_host, signal=signals.request_scheduled)
        robots_parsed: Any = getattr(signals, "robots_parsed", None)
        if robots_parsed is not None:
            disconnect(self._robots_parsed, signal=robots_parsed)

    def by_turns(self) -> None:
        """From now on requests wait for their turns before they reach the downloader, which keeps no delays then.

        Who makes them wait calls `arrive` for every request.
        """
        self._by_turns = True

    def arrive(self, request: Request) -> str | None:
        """*request* is about to wait for its turn: in which download slot, or None where it need not."""
        self.slots.open(request)
        return self._note(request)

    def floor(self, key: str) -> float:
        """The seconds that download slot *key* owes between two requests; 0 for none."""
        owed = self._owed.get(key)
        return owed.floor if owed else 0.0

    def waited(self, seconds: float) -> None:
        """A request has waited so long for its turn."""
        self._report.waited += seconds

    def leave_old_host(self, request: Request) -> None:
        """A request redirected to another host leaves the download slot of the old one."""
        self.slots.leave_old_host(request)

    def heed(self, request: Request, parser: RobotParser) -> Refusal | None:
        """Pace *request* as *parser* asks; or why it must not go on, or not yet."""
        pace = self._heeded[request] = self._pace(request, parser)
        now = time()
        delay = pace.delay(now)
        if delay and self._is_skipped(delay) and self.slots.key(request) not in self._chosen:
            self._report.skipped(Origin.from_url(request.url), delay)
            return Refusal(Reason.CRAWL_DELAY, delay.line)
        visit = pace.next_visit(now)
        return Refusal(Reason.VISIT_TIME, visit.line, visit.window.opens_in(now)) if visit else None

    def _is_skipped(self, delay: Delay) -> bool:
        return self._settings.crawl_delay_over_max == "skip" and delay.seconds > self._settings.crawl_delay_max

    def _spider_opened(self) -> None:
        """Connect behind AutoThrottle, which lowers the delay of a download slot after every response."""
        connect = self._crawler.signals.connect
        connect(self._reached_downloader, signal=signals.request_reached_downloader)
        connect(self._response_downloaded, signal=signals.response_downloaded)
        connect(self._left_downloader, signal=signals.request_left_downloader)

    def _robots_parsed(self, robotparser: RobotParser, request: Request) -> None:
        # Scrapy's own middleware keeps one parser per host and port, too, and as long.
        self._parsers[urlparse_cached(request).netloc] = robotparser

    def _reached_downloader(self, request: Request) -> None:
        """The download slot exists, and the request is not yet in its queue."""
        if not self._by_turns and self._note(request) is not None:
            self._arrived[request] = monotonic()

    def _note(self, request: Request) -> str | None:
        """Pace the download slot of *request* as its origin asks; which one that is, if it owes anything."""
        key = self.slots.key(request)
        pace = self._heeded.pop(request, None) or self._pace_by_signal(request)
        if pace is not None:
            self._owe(key, request, pace)
        if key in self._owed:
            self._hold(key, arriving=1)
        return key if key in self._owed else None

    def _response_downloaded(self, request: Request) -> None:
        key, latency = self.slots.key(request), request.meta.get("download_latency", 0.0)
        arrived = self._arrived.pop(request, None)
        if arrived is not None:
            self._report.waited += max(monotonic() - arrived - latency, 0.0)
        if is_robots_txt(request):
            self.slots.count_from_answer(key)
        if key in self._owed:
            self._hold(key)

    def _left_downloader(self, request: Request) -> None:
        key = self.slots.key(request)
        if key in self._owed:
            self.slots.lend(key)

    def _pace_by_signal(self, request: Request) -> Pace | None:
        parser = self._parsers.get(urlparse_cached(request).netloc)
        return self._pace(request, parser) if parser is not None else None

    def _pace(self, request: Request, parser: RobotParser) -> Pace:
        """What *parser* asks of the crawler that *request* names; a file is read for it once."""
        tokens = self._identity.tokens(request)
        known = self._paces.setdefault(parser, {})
        if tokens not in known:
            if len(known) >= _TOKENS_KEPT:
                known.clear()
            settings = self._settings
            known[tokens] = pace_of(
                parser, tokens, crawl_delay=settings.crawl_delay, times=settings.rate_and_visit_time
            )
        return known[tokens]

    def _owe(self, key: str, request: Request, pace: Pace) -> None:
        """Note what the origin of *request* asks of the download slot that it uses."""
        delay = pace.delay(time())
        if key not in self._owed and not delay:
            return
        origin = Origin.from_url(request.url)
        if delay and key in self._chosen:
            self._report.overruled(key, self._chosen[key], origin, delay)
            return
        owed = self._owed.get(key) or self._open(key)
        owed.put((origin, self._identity.tokens(request)), self._bounded(delay))
        if delay:
            self._report.paced(origin, delay)

    def _bounded(self, delay: Delay | None) -> float:
        """Seconds to keep; "skip" without our gate, which alone can end a request, means the full delay."""
        seconds = min(delay.seconds, self._most) if delay else 0.0
        return seconds + min(_MARGIN, _MARGIN_SHARE * seconds)

    def _open(self, key: str) -> Owed:
        """Room for one more download slot; what is known of those that are gone is told again when they return."""
        if len(self._owed) >= self._room:
            for gone in [key for key in self._owed if not self.slots.is_open(key)]:
                self.slots.forget(gone)
                del self._owed[gone]
            self._room = max(self._room, 2 * len(self._owed))
        self._crawler.stats.inc_value("rep/crawl_delay/slot_count")
        owed = self._owed[key] = Owed()
        return owed

    def _hold(self, key: str, arriving: int = 0) -> None:
        floor = self._owed[key].floor
        self.slots.hold(key, floor, elsewhere=self._by_turns)
        if floor:
            self.slots.lend(key, arriving)
        else:
            self.slots.forget(key)
            del self._owed[key]

    @cached_property
    def _identity(self) -> Identity:
        extension = self._crawler.get_extension(RepExtension)
        return extension.identity if extension else Identity(self._crawler)

    def _spider_closed(self) -> None:
        self._report.close()

    def __repr__(self) -> str:
        longest = max((owed.floor for owed in self._owed.values()), default=0.0)
        return f"<CrawlDelay slots={len(self._owed)} longest={longest:g}>"


def _chosen_delays(crawler: Crawler) -> dict[str, float]:
    """The delays that the user gave to single download slots; they win."""
    entries = crawler.settings.getdict("DOWNLOAD_SLOTS").items()
    return {key: float(entry["delay"]) for key, entry in entries if "delay" in entry}
