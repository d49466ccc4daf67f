"""The door: the last check before a request leaves for the network. Only the download handler comes after it.

A check at one entrance covers only that entrance. Requests also come from other schedulers, pipelines, redirects
and ``download_async``; middlewares change requests, and a robots.txt may arrive while they wait. All requests
leave through the same Scrapy function, and the door stands there. It asks two questions:

* Did the gate judge this request, under this URL? The gate leaves a note for each request that it lets pass. The
  door sends a request without a note back to the scheduler, which leads it through the gate. If the request
  arrives without a note again, the door drops it.
* May the site start a request now? If not, the request waits here and takes turns with others for its site.

The gate and the queue still come first. The gate answers early and says why. The queue and Scrapy's download
slots hold requests where waiting costs nothing. After both, the door is a quick check. If either is wrong or
missing, requests wait here instead, and still none leaves too early.

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
_UNJUDGED: Final = "rep_unjudged"  # meta key: the crawl whose gate had not seen the request before the door did

_LEAST: Final = 64  # gate notes to keep before the first clean-up

_SERVICE_RESPELLS: Final = respells(None)

_CLOSING: Final = "the crawl is closing"
_NO_DOOR: Final = (
    "scrapy_rep cannot see requests leave, so the crawl makes none:"
    " engine.downloader.handlers.download_request_async is missing."
    " Use a DOWNLOADER that extends scrapy.core.downloader.Downloader, or a Scrapy that scrapy_rep supports."
)


class SentBack(IgnoreRequest):
    """Ends a request in the downloader; ``request`` takes its place in the scheduler.

    It is an exception because the downloader treats whatever the door returns as a response.
    """

    def __init__(self, request: Request, why: str) -> None:
        super().__init__(why)
        self.request = request


def _again(request: Request, **notes: str) -> Request:
    """Copy *request*, with *notes* in its meta, past the duplicate filter, which still applies to redirects."""
    meta = {**request.meta, **notes, **({} if request.dont_filter else {FILTERED: True})}
    return request.replace(dont_filter=True, meta=meta)


class _Waited(NamedTuple):
    """A request that waits in a Scrapy download slot: the slot, and the robots.txt that let it in."""

    slot: Slot
    robots: Robots | None


class Door:
    """The door of one crawl.

    ``site`` returns the site of a request if the site asks for a pause; `CrawlDelay` sets it while any site does.
    """

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self._id = uuid4().hex
        self._events = crawl.events
        self._slots = crawl.part(Slots)
        self._judge: Judge | None = None
        # By the start of a URL: a test for whether the download handler may send another URL.
        self._respelling: dict[str, Callable[[str], object]] = {}
        # Requests that wait in Scrapy's download slots for their site.
        self._outside: dict[Request, _Waited] = {}
        # Requests that the gate let pass, with the URL that it judged.
        self.judged: dict[Request, str] = {}
        self._most_judged = _LEAST
        self.site: Callable[[Request], Site | None] | None = None
        # Requests that wait here or in a download slot, and have borrowed a place.
        self._lent: set[Request] = set()
        self._is_open = self._sends_back = self._hears_ends = False
        crawl.crawler.signals.connect(self.open, signal=signals.spider_opened)

    def open(self) -> None:
        """Start checking requests: when the spider opens, or at the first request if that comes earlier.

        Pipelines open before the signal, and may download then.
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
            else:  # without a door, decisions and delays may not hold
                logger.error(_NO_DOOR)
                self._refuse()
            self._events.opened.send()
        except Exception:
            self._refuse()  # Scrapy logs what a listener raises, and crawls on
            raise

    def _refuse(self) -> None:
        """Close the crawl, and send nothing until it has closed."""
        downloader = self._crawl.downloader
        downloader.set_method(self.process_request, is_on=True)
        downloader.set_backout(lambda: True)
        self._crawl.engine.close_spider("rep_no_door")

    def process_request(self, request: Request) -> NoReturn:  # noqa: ARG002
        """Drop every request, as a downloader middleware, because there is no door."""
        raise IgnoreRequest(_CLOSING)

    def process_exception(self, request: Request, exception: Exception) -> Request | None:  # noqa: ARG002
        """Reschedule a request that the door sent back, before another middleware treats it as failed."""
        return exception.request if isinstance(exception, SentBack) else None

    # What the gate asks.

    def note(self, request: Request, url: str) -> None:
        """Note that the gate let *request* pass under *url*, empty if only Scrapy's HTTP cache may answer."""
        if self._judge is not None:
            if len(self.judged) >= self._most_judged:
                self._forget()
            self.judged[request] = url

    def spellings(self, request: Request) -> tuple[str, ...]:
        """Other URLs that may be sent for *request*. Raises ``ValueError`` if the handler refuses its URL.

        A service fetches its target with an unknown client, which is treated like a browser.
        """
        url = self._crawl.targets.of(request)
        if url is not request.url:
            return spellings(url, None) if _SERVICE_RESPELLS(url) else ()
        return spellings(url, self._crawl.downloader.handler(request)) if self.may_respell(url) else ()

    def may_respell(self, url: str) -> object:
        """Whether the download handler may send another URL for *url*. Cheap, and true when in doubt."""
        test = self._respelling.get(url[:5])
        if test is None:
            handler = self._crawl.downloader.handler_of(urlsplit(url).scheme)
            test = self._respelling[url[:5]] = respells(handler)
        return test(url)

    # The way out.

    def let_out(self, request: Request) -> Coroutine[Any, Any, Response]:
        """Send *request* as soon as its site may start it. Raises `SentBack` if the gate has not judged it."""
        if self._outside and (waited := self._no_longer_outside(request)):
            self._check_again(request, waited.robots)
        if self._judge is not None:
            url = self.judged.pop(request, None)
            if url is not request.url and url != request.url:
                self._check(request, url)
            if self._sends_back:  # a redirect or a spider may copy the meta, and that request may go back once
                request.meta.pop(_UNJUDGED, None)
        if self.site is not None and (site := self.site(request)) is not None:
            now = clock.monotonic()
            if site.is_waited_for or self._is_granted(site) or site.start_in(now) > 0:
                return self._wait_and_send(request, site)
            site.start(now)
        return self._crawl.downloader.send(request)

    def _robots(self, request: Request) -> Robots | None:
        """The robots.txt in memory for *request*, current or expired: the verdict holds while it is the same."""
        if self._judge is None:
            return None
        try:
            return self._judge.registry.origins.at(self._crawl.targets.of(request)).robots
        except ValueError:
            return None

    def _check_again(self, request: Request, before: Robots | None) -> None:
        """Raise `SentBack` for *request*, which has waited, if it is now forbidden.

        It may be if *before* has been replaced: even an expired robots.txt is newer than the previous file. Under
        the same file, exceptions may expire and extras may change their decisions.
        """
        judge, robots = self._judge, self._robots(request)
        is_open = judge is not None and (judge.policy.has_exceptions or bool(self._events.deciding))
        if judge is None or robots is None or (robots is before and not is_open):
            return
        try:
            urls = (self._crawl.targets.of(request), *self.spellings(request))
            is_forbidden = any(judge.decide(robots, request, url).is_forbidden for url in urls)
        except Exception:  # noqa: BLE001  # a parser back-end failed; the gate will fail the request
            is_forbidden = True
        if is_forbidden:
            raise SentBack(_again(request), "robots.txt has changed")

    def _forget(self) -> None:
        """Forget requests that never reached the door, such as those that Scrapy's HTTP cache answered."""
        has = self._crawl.download_slots.has
        for request in [each for each in self.judged if not has(each)]:
            del self.judged[request]
        self._most_judged = max(_LEAST, 2 * len(self.judged))

    def _is_granted(self, site: Site) -> bool:
        """Whether a start on *site* needs a grant, because other processes request its pages."""
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
        """Wait for *request*'s turn on *site* and count it as started; return False when the crawl closes.

        Raises `SentBack` if a robots.txt has replaced *robots* meanwhile and forbids the request.
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
            if not await self._crawl.engine.pause(seconds):  # then check again: the site may have slowed us down
                return False

    def _check(self, request: Request, judged: str | None) -> None:
        """Raise for *request*, *judged* under another URL or not seen by the gate, if it needs a verdict."""
        if is_exempt(request):
            return
        new = request.copy()  # caches such as the target's are keyed by request, and hold the old URL
        targets = (self._crawl.targets.of(new), *self.spellings(new))
        if self._judge is None or not any(self._judge.mode_of(each) in ASKS for each in targets):
            return
        name = self._crawl.targets.name(request)
        if request.meta.get(_UNJUDGED) == self._id:
            raise IgnoreRequest(f"robots.txt was not checked for {name}")
        if judged == "":  # judged by a robots.txt from Scrapy's HTTP cache, but the page is not in that cache
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
        """Lend a place to *request* if it has to wait in its download slot, which it has just reached."""
        if request in self._outside or self._crawl.download_slots.starts_next(slot.key):
            return
        if not self._outside:
            self._crawl.engine.closing.add(self._give_back)
        self._outside[request] = _Waited(slot, self._robots(request))
        self._slots.waits.begin(slot, request)
        self._lend_to(request)

    def _no_longer_outside(self, request: Request) -> _Waited | None:
        """Note that *request* no longer waits in a download slot; return where it waited, or None."""
        waited = self._outside.pop(request, None)
        if waited is None:
            return None
        self._slots.waits.end(waited.slot, request)
        self._take_back(request)
        if not self._outside:
            self._crawl.engine.closing.remove(self._give_back)
        return waited

    def _give_back(self) -> None:
        """Reschedule the requests that wait in download slots: the crawl is closing."""
        for key in {waited.slot.key for waited in self._outside.values()}:
            self._crawl.download_slots.give_back(key, self.rescheduled)

    def _lend_to(self, request: Request) -> None:
        """Lend a place to *request*, which waits, to keep it from blocking other hosts.

        The host queue fills the place with a request that can start; another queue might add one that waits.
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
        """Take back the place of *request*, which no longer waits, or whose caller has given up."""
        if request in self._lent:
            self._lent.remove(request)
            self._crawl.downloader.lend_places(-1)

    def rescheduled(self, request: Request) -> Request:
        """Copy *request* for the scheduler, where a ``JOBDIR`` or a shared queue keeps it.

        This works once per request: a caller of ``engine.download_async`` gets the copy as its result and may try
        again. Raises `ClosingError` the second time, and for a robots.txt, which is no longer needed.
        """
        self._no_longer_outside(request)
        if is_robots_txt(request) or request.meta.get(_SENT_BACK) == self._id:
            raise ClosingError(_CLOSING)
        return _again(request, **{_SENT_BACK: self._id})
