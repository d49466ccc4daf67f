"""The door: every request that goes out over the network passes it. Behind it there is only the download handler.

A promise that is checked where requests enter holds on that way alone. Requests also come from other schedulers,
pipelines, redirects and ``download_async``. Middlewares change them, and a robots.txt arrives while they wait.
All of them leave through one function of Scrapy's, so the door stands there. It asks two questions:

* Did the gate judge this request, under this URL? The gate leaves a note for each request that it lets pass. The
  door sends a request without one back to the scheduler, which leads it through the gate. The second time it
  drops it.
* May the site start one now? If not, the request waits here, and takes turns with the others of its site.

The gate and the queue still come first. The gate answers early and says why. The queue and Scrapy's download
slots let requests wait where that costs nothing. After both, the door is one look. Either may be wrong or
missing; then requests wait here, and still none leaves too early.

The door never fetches a robots.txt. A request at the door holds a place in a download slot, which the fetch may
need.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn
from urllib.parse import urlsplit
from uuid import uuid4

from scrapy import signals
from scrapy.exceptions import IgnoreRequest

from scrapy_rep.clock import clock
from scrapy_rep.crawl.pacing.slots import Slots
from scrapy_rep.crawl.policy.meta import FILTERED
from scrapy_rep.crawl.policy.policy import ASKS, Judge, is_exempt
from scrapy_rep.crawl.robots.request import is_robots_txt
from scrapy_rep.crawl.runtime.event_loop import ClosingError
from scrapy_rep.crawl.runtime.log import Topic
from scrapy_rep.crawl.runtime.wire import respells, spellings

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from scrapy_rep.crawl.pacing.slots import Site, Slot
    from scrapy_rep.crawl.robots.robots import Robots
    from scrapy_rep.crawl.runtime.crawl import Crawl

logger = logging.getLogger(__name__)

_SENT_BACK: Final = "rep_sent_back"  # meta key: the crawl that was closing when it sent the request back
_UNJUDGED: Final = "rep_unjudged"  # meta key: the crawl whose gate had not seen the request when it came here

_LEAST: Final = 64  # notes of the gate that are kept in any case

_SERVICE_RESPELLS: Final = respells(None)

_CLOSING: Final = "the crawl is closing"
_NO_DOOR: Final = (
    "scrapy_rep cannot see requests leave, so the crawl makes none:"
    " engine.downloader.handlers.download_request_async is missing."
    " Use a DOWNLOADER that extends scrapy.core.downloader.Downloader, or a Scrapy that scrapy_rep supports."
)


class SentBack(IgnoreRequest):
    """Ends a request in the downloader; ``request`` takes its place in the scheduler.

    An exception, because the downloader takes whatever the door returns for a response.
    """

    def __init__(self, request: Request, why: str) -> None:
        super().__init__(why)
        self.request = request


def _again(request: Request, **notes: str) -> Request:
    """*request* for the scheduler, which has seen it, with *notes* in its meta; its redirects are filtered."""
    meta = {**request.meta, **notes, **({} if request.dont_filter else {FILTERED: True})}
    return request.replace(dont_filter=True, meta=meta)


class _Waited(NamedTuple):
    """A request that waits in Scrapy's download slot: in which one, and under which robots.txt it was let in."""

    slot: Slot
    robots: Robots | None


class Door:
    """The door of one crawl.

    ``site`` finds the site of a request if that asks for a pause; `CrawlDelay` sets it while any site does.
    """

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self._id = uuid4().hex
        self._events = crawl.events
        self._slots = crawl.part(Slots)
        self._judge: Judge | None = None
        # Tests for URLs by how they start: whether the download handler may send another URL.
        self._respelling: dict[str, Callable[[str], object]] = {}
        # Requests that wait in Scrapy's download slots for their site.
        self._outside: dict[Request, _Waited] = {}
        # Each request that the gate let pass, with the URL that it judged.
        self.judged: dict[Request, str] = {}
        self._most_judged = _LEAST
        self.site: Callable[[Request], Site | None] | None = None
        # Requests that wait, here or there, and have a place lent to them.
        self._lent: set[Request] = set()
        self._is_open = self._sends_back = self._hears_ends = False
        crawl.crawler.signals.connect(self.open, signal=signals.spider_opened)

    def open(self) -> None:
        """Begin to work: when the spider has been opened, or before, when something is requested already.

        Pipelines may download when they are opened, which is before the signal.
        """
        if self._is_open:
            return
        self._is_open = True
        try:
            judge = self._crawl.find(Judge)
            if judge is not None and self._crawl.has_gate and judge.policy.is_asking:
                self._judge = judge
            downloader = self._crawl.downloader
            if downloader.set_door(self.let_out):
                downloader.set_method(self.process_exception, is_on=True, is_first=True)
            else:  # without a door, neither decisions nor delays are certain to hold
                logger.error(_NO_DOOR)
                self._refuse()
            self._events.opened.send()
        except Exception:
            self._refuse()  # Scrapy logs what a listener raises, and crawls on
            raise

    def _refuse(self) -> None:
        """End the crawl, and let nothing out until it has ended."""
        downloader = self._crawl.downloader
        downloader.set_method(self.process_request, is_on=True)
        downloader.set_backout(lambda: True)
        self._crawl.engine.close_spider("rep_no_door")

    def process_request(self, request: Request) -> NoReturn:  # noqa: ARG002
        """Drop every request, as a downloader middleware: there is no door."""
        raise IgnoreRequest(_CLOSING)

    def process_exception(self, request: Request, exception: Exception) -> Request | None:  # noqa: ARG002
        """Reschedule what the door sent back, before any other middleware takes that for a failure."""
        return exception.request if isinstance(exception, SentBack) else None

    # What the gate asks.

    def note(self, request: Request, url: str) -> None:
        """Note that the gate let *request* pass under *url*; an empty one if only for Scrapy's HTTP cache."""
        if self._judge is not None:
            if len(self.judged) >= self._most_judged:
                self._forget()
            self.judged[request] = url

    def spellings(self, request: Request) -> tuple[str, ...]:
        """The other URLs that may be sent for *request*. Raises ``ValueError`` where the handler refuses its URL.

        A service fetches its target by a client that is unknown here, as a browser is.
        """
        url = self._crawl.targets.of(request)
        if url is not request.url:
            return spellings(url, None) if _SERVICE_RESPELLS(url) else ()
        return spellings(url, self._crawl.downloader.handler(request)) if self.may_respell(url) else ()

    def may_respell(self, url: str) -> object:
        """Whether the download handler may send another URL for *url*. It is cheap, and true in case of doubt."""
        test = self._respelling.get(url[:5])
        if test is None:
            handler = self._crawl.downloader.handler_of(urlsplit(url).scheme)
            test = self._respelling[url[:5]] = respells(handler)
        return test(url)

    # The way out.

    def let_out(self, request: Request) -> Coroutine[Any, Any, Response]:
        """Send *request*, now or when its site may start one. Raises `SentBack` if the gate has not judged it."""
        if self._outside and (waited := self._no_longer_outside(request)):
            self._check_again(request, waited.robots)
        if self._judge is not None:
            url = self.judged.pop(request, None)
            if url is not request.url and url != request.url:
                self._check(request, url)
            if self._sends_back:  # what a redirect or a spider makes of its meta may be sent back once, too
                request.meta.pop(_UNJUDGED, None)
        if self.site is not None and (site := self.site(request)) is not None:
            now = clock.monotonic()
            if site.is_waited_for or self._is_granted(site) or site.start_in(now) > 0:
                return self._wait_and_send(request, site)
            site.start(now)
        return self._crawl.downloader.send(request)

    def _robots(self, request: Request) -> Robots | None:
        """The robots.txt in memory for *request*, current or not: as long as it is the same, so is the verdict."""
        if self._judge is None:
            return None
        try:
            return self._judge.registry.origins.at(self._crawl.targets.of(request)).robots
        except ValueError:
            return None

    def _check_again(self, request: Request, before: Robots | None) -> None:
        """Raise for *request*, which has waited, if another robots.txt than the one of *before* forbids it.

        One that has expired by now still says more than the one before it. Exceptions expire, and what extras
        decide may change, under the same robots.txt too.
        """
        judge, robots = self._judge, self._robots(request)
        is_open = judge is not None and (judge.policy.has_exceptions or bool(self._events.deciding))
        if judge is None or robots is None or (robots is before and not is_open):
            return
        try:
            urls = (self._crawl.targets.of(request), *self.spellings(request))
            is_forbidden = any(judge.decide(robots, request, url).is_forbidden for url in urls)
        except Exception:  # noqa: BLE001  # a parser back-end failed; it fails again in the gate, with the request
            is_forbidden = True
        if is_forbidden:
            raise SentBack(_again(request), "robots.txt has changed")

    def _forget(self) -> None:
        """Forget requests that left the downloader on another way, as those that Scrapy's HTTP cache answers."""
        has = self._crawl.download_slots.has
        for request in [each for each in self.judged if not has(each)]:
            del self.judged[request]
        self._most_judged = max(_LEAST, 2 * len(self.judged))

    def _is_granted(self, site: Site) -> bool:
        """Whether a start on *site* has to be granted, because other processes request its pages too."""
        return site.is_shared and bool(self._events.granting)

    async def _wait_and_send(self, request: Request, site: Site) -> Response:
        robots = self._robots(request)
        slot = self._slots.of(self._crawl.download_slots.key(request))
        self._slots.waits.begin(slot, request)
        self._lend_to(request)
        try:
            await site.enter(first=is_robots_txt(request))
            try:
                may_start = await self._wait_for(site, request, robots)
            finally:
                site.leave()
        finally:
            self._take_back(request)
            self._slots.waits.end(slot, request)
            self._crawl.download_slots.restart_delay(slot.key)
            self._slots.changed(site)
        if not may_start:
            raise SentBack(self.rescheduled(request), _CLOSING)
        return await self._crawl.downloader.send(request)

    async def _wait_for(self, site: Site, request: Request, robots: Robots | None) -> bool:
        """Wait until *request* may start on *site*, which it does at once; return False when the crawl closes.

        Raises `SentBack` where another robots.txt than *robots* has come meanwhile and forbids it.
        """
        while True:
            grant = None
            if self._is_granted(site) and (grant := await self._events.granting.ask_async(site)) is None:
                return False
            self._check_again(request, robots)
            now = clock.monotonic()
            if (seconds := site.start_in(now)) <= 0:
                site.start(now)
                if grant is not None:
                    self._events.started.send(site, grant)
                return True
            if not await self._crawl.engine.pause(seconds):  # or it was asked to slow down meanwhile
                return False

    def _check(self, request: Request, judged: str | None) -> None:
        """Raise for *request*, which the gate *judged* under another URL, unless it needs no verdict."""
        if is_exempt(request):
            return
        new = request.copy()  # what was found out about the URL before, such as a target, is kept by request
        targets = (self._crawl.targets.of(new), *self.spellings(new))
        if self._judge is None or not any(self._judge.mode_of(each) in ASKS for each in targets):
            return
        name = self._crawl.targets.name(request)
        if request.meta.get(_UNJUDGED) == self._id:
            raise IgnoreRequest(f"robots.txt was not checked for {name}")
        if judged == "":  # by a robots.txt from Scrapy's HTTP cache, which turned out not to have the page
            self._judge.registry.ask_network(request)
        else:
            self._crawl.stats.inc_value("rep/unjudged_count")
            self._crawl.log.add(
                Topic.UNJUDGED, "%s reached its download handler without a verdict: a component changed its URL"
                " after RepMiddleware, or bypassed that. Scheduling it again", name,
            )  # fmt: skip
        self._sends_back = True
        raise SentBack(_again(request, **{_UNJUDGED: self._id}), "robots.txt must be checked first")

    # Requests that wait in Scrapy's download slots.

    def reached(self, request: Request, slot: Slot) -> None:
        """Let *request*, which has reached its download slot and may wait there, take no place of another."""
        if request in self._outside or self._crawl.download_slots.starts_next(slot.key):
            return
        if not self._outside:
            self._crawl.engine.closing.add(self._give_back)
        self._outside[request] = _Waited(slot, self._robots(request))
        self._slots.waits.begin(slot, request)
        self._lend_to(request)

    def _no_longer_outside(self, request: Request) -> _Waited | None:
        """Note that *request* waits in no download slot any more; return where it did, if it did."""
        waited = self._outside.pop(request, None)
        if waited is None:
            return None
        self._slots.waits.end(waited.slot, request)
        self._take_back(request)
        if not self._outside:
            self._crawl.engine.closing.remove(self._give_back)
        return waited

    def _give_back(self) -> None:
        """The crawl closes: end what only waits."""
        for key in {waited.slot.key for waited in self._outside.values()}:
            self._crawl.download_slots.give_back(key, self.rescheduled)

    def _lend_to(self, request: Request) -> None:
        """Lend a place to *request*, which waits, so that it takes none of another host's.

        The queue of hosts fills it with a request that can start; any other queue would add one more that waits.
        """
        if not self._slots.has_queue or request in self._lent:
            return
        if not self._hears_ends:
            self._hears_ends = True
            self._events.ended.subscribe(self._take_back)
            self._crawl.downloader.tell_ends()
        wakes = self._crawl.downloader.is_full
        self._lent.add(request)
        self._crawl.downloader.lend_places(1)
        if wakes:
            self._crawl.engine.wake()

    def _take_back(self, request: Request) -> None:
        """Take back the place of *request*: it waits no more, or whoever waited for it has given it up."""
        if request in self._lent:
            self._lent.remove(request)
            self._crawl.downloader.lend_places(-1)

    def rescheduled(self, request: Request) -> Request:
        """*request* for the scheduler, where a ``JOBDIR`` or a shared queue keeps it.

        Once per request: code that calls ``engine.download_async`` gets it as the result, and may call again. A
        robots.txt is no longer needed.
        """
        self._no_longer_outside(request)
        if is_robots_txt(request) or request.meta.get(_SENT_BACK) == self._id:
            raise ClosingError(_CLOSING)
        return _again(request, **{_SENT_BACK: self._id})
