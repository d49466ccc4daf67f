"""What is requested behind Scrapy's back, by browsers and services: it is judged as if Scrapy had asked for it.

A browser loads scripts, images, frames and the pages that scripts lead to: scrapy-playwright asks
``PLAYWRIGHT_ABORT_REQUEST`` about each of them, and passes a request of Playwright only. A browser, an API or a
download handler may follow a redirect; one that Scrapy follows becomes a request, which the gate judges.
"""

from __future__ import annotations

import logging
import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from weakref import WeakSet

from scrapy import Request, signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.datatypes import LocalCache

from scrapy_rep.crawl.gate.extension import RepExtension
from scrapy_rep.crawl.policy.meta import DONT_OBEY, is_exempt
from scrapy_rep.crawl.policy.policy import Outcome
from scrapy_rep.crawl.robots.request import is_robots_txt
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.crawl.runtime.event_loop import in_reactor_thread
from scrapy_rep.crawl.runtime.log import Line, describe
from scrapy_rep.exceptions import ForbiddenByRobots
from scrapy_rep.protocol import SCHEMES, Origin

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

logger = logging.getLogger(__name__)


ABORT_REQUEST: Final = "PLAYWRIGHT_ABORT_REQUEST"
"""The setting of scrapy-playwright."""

_MAX_DEAD_ENDS: Final = 1_000

FLAG: Final = "robots:forbidden-url"
"""The flag of a response whose final URL robots.txt forbids."""

_INHERITED: Final = ("proxy", "_auth_proxy", "_scheme_proxy", "bindaddress")  # for the request for robots.txt


async def abort_forbidden(request: Any) -> bool:
    """Whether robots.txt forbids *request*, a ``playwright.async_api.Request``: True aborts it.

    ``PLAYWRIGHT_ABORT_REQUEST = "scrapy_rep.abort_forbidden"`` makes scrapy-playwright ask it. Whatever a page
    loads is judged by the robots.txt of its own origin, under the modes and exceptions of the crawl. Waits for a
    robots.txt that is not known. Never raises: what cannot be judged is aborted.

    The add-on binds it to the crawl whose setting it is. Called from a function of the project it serves the only
    crawl of the process; with several crawls it aborts everything.
    """
    gates = list(_open)
    if len(gates) == 1:
        return await gates[0](request)
    _log_unbound(len(gates))
    return True


class BrowserGate:
    """Judges what the browser of one crawl requests; a value of ``PLAYWRIGHT_ABORT_REQUEST``."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._exempt: set[str] = set()
        """URLs of pages under way that the project exempted from robots.txt."""
        self._dead_ends: LocalCache[str, str] = LocalCache(_MAX_DEAD_ENDS)
        self._log = Crawl.of(crawler).log
        crawler.signals.connect(self._spider_opened, signals.spider_opened)
        crawler.signals.connect(self._spider_closed, signals.spider_closed)
        crawler.signals.connect(self._started, signals.request_reached_downloader)
        crawler.signals.connect(self._ended, signals.request_left_downloader)

    @classmethod
    def of(cls, crawler: Crawler) -> BrowserGate | None:
        """The one in the settings, or one for a function of the project that calls `abort_forbidden`."""
        setting = crawler.settings.get(ABORT_REQUEST)
        if not setting:
            return None
        return setting if isinstance(setting, BrowserGate) else cls(crawler)

    async def __call__(self, request: Any) -> bool:
        """As `abort_forbidden`, for this crawl."""
        url: str = request.url
        if url.partition(":")[0] not in SCHEMES or (request.is_navigation_request() and _key(url) in self._exempt):
            return False
        left = _page_left(request)
        aborts = await in_reactor_thread(lambda: self._aborts(url))
        if aborts and left:
            self._dead_ends[_key(left)] = url
        return aborts

    def dead_end(self, page: str) -> str | None:
        """The forbidden URL that a script of *page* led to; Chromium shows an error page then."""
        return self._dead_ends.pop(_key(page), None)

    async def _aborts(self, url: str) -> bool:
        try:
            return await self._forbids(Request(url))
        except Exception as error:  # noqa: BLE001  # scrapy-playwright would leave the browser waiting
            self._log.add(Line.ABORTED, "The browser's request for %s is aborted: %s", url, describe(error))
            return True

    async def _forbids(self, request: Request) -> bool:
        extension = self._crawler.get_extension(RepExtension)
        if extension is None:
            raise NotConfigured("the extension scrapy_rep.RepExtension is not enabled")
        if not extension.judges(request):
            return False
        robots = await extension.robots(_cause(request))
        decision = extension.decide(robots, request)
        extension.account.requested_by_browser(request, robots, decision)
        return decision.is_forbidden

    def _spider_opened(self) -> None:
        _open.add(self)

    def _spider_closed(self) -> None:
        _open.discard(self)

    def _started(self, request: Request) -> None:
        if request.meta.get("playwright") and is_exempt(request):
            self._exempt.add(_key(request.url))

    def _ended(self, request: Request) -> None:
        if self._exempt:
            self._exempt.discard(_key(request.url))

    def __deepcopy__(self, _: Any) -> Self:
        """Copies of the settings are for this crawl too."""
        return self

    def __repr__(self) -> str:
        return f"<BrowserGate of {self._crawler.spidercls.name}>"


_open: WeakSet[BrowserGate] = WeakSet()
"""The gates of the crawls that run in this process."""


@cache  # a page has hundreds of requests
def _log_unbound(crawls: int) -> None:
    why = f"{crawls} crawls of this process use it" if crawls else "no crawl of this process uses it"
    logger.error(
        "scrapy_rep.abort_forbidden aborts every request of the browser, because %s: enable scrapy_rep.Addon, and"
        " set PLAYWRIGHT_ABORT_REQUEST to that name itself or run one crawl per process", why,
    )  # fmt: skip


def _cause(request: Request) -> Request:
    """The request for whose sake robots.txt is fetched, in a download slot of its own.

    A page may wait for this fetch, and may hold the last place in the download slot of the same host.
    """
    slot = f"robots.txt of {urlsplit(request.url).netloc}"
    return request.replace(meta={"download_slot": slot, DONT_OBEY: True})


def _page_left(request: Any) -> str | None:
    """The URL of the page that *request* leaves for another one; None for a frame, and for what a page loads."""
    try:
        frame = request.frame if request.is_navigation_request() else None
        return frame.url if frame is not None and frame.parent_frame is None else None
    except Exception:  # noqa: BLE001  # Playwright raises for the requests of service workers, which have no frame
        return None


_URL: Final = re.compile(r"([^/?#]*//[^/?#]*)(/?)([^#]*)")


def _key(url: str) -> str:
    """*url* as a browser requests it: no fragment, no default port, a host in lower case, a slash behind it.

    Every other octet counts: the project exempted ``/private``, and not ``/private/``.
    """
    found = _URL.match(url)
    return f"{Origin.find(found[1]) or found[1]}/{found[3]}" if found else url


class FinalUrl:
    """Judges the URLs that responses come from, in one crawl."""

    def __init__(self, crawler: Crawler, extension: RepExtension, browser: BrowserGate | None) -> None:
        self._stats = crawler.stats
        self._extension = extension
        self._browser = browser
        self._targets = extension.targets
        self._drops = extension.settings.forbidden_response == "drop"
        self._log = Crawl.of(crawler).log

    def request_for(self, request: Request, response: Response) -> Request | None:
        """A request for the final URL of *response*; None if there is nothing to judge.

        That is so if the URL is the one that was judged, and if no rules are asked about it.
        """
        if is_exempt(request) or is_robots_txt(request) or response.url == self._targets.of(request):
            return None
        try:
            url = response.url
            if self._browser is not None and url.startswith("chrome-error:"):
                url = self._browser.dead_end(request.url) or url
            final = self._targets.of(Request(url))
            if _parts(final) == _parts(self._targets.of(request)):
                return None
        except ValueError:  # nothing was fetched from such a URL
            return None
        # The meta of the request is for its own URL: its download slot, what a service is asked for.
        meta: dict[str, Any] = {key: request.meta[key] for key in _INHERITED if key in request.meta}
        asked = Request(final, request.callback, headers=request.headers, meta=meta)
        return asked if self._extension.judges(asked) else None

    async def judge(self, request: Request, response: Response, final: Request) -> Response:
        """Judge *final*, the request for the final URL of *response*.

        Raises `ForbiddenByRobots` if it is forbidden and ``REP_FORBIDDEN_RESPONSE`` is ``"drop"``.
        """
        extension = self._extension
        robots = await extension.robots(final)
        decision = extension.decide(robots, final)
        is_dropped = self._drops and decision.is_forbidden
        if decision.is_forbidden and not is_dropped:
            decision = decision._replace(outcome=Outcome.REPORTED)
        extension.account.answered(request, final, robots, decision)
        if decision.is_against_rules:
            self._stats.inc_value("rep/response/forbidden_count")
            response.flags.append(FLAG)
            what = "dropped" if is_dropped else "kept"
            self._log.add(
                Line.DROPPED if is_dropped else Line.KEPT,
                "%s ended at %s, which robots.txt of %s forbids (%s): the response is %s",
                self._targets.name(request), self._targets.url(final), robots.entry.origin, decision.why, what,
            )  # fmt: skip
        if is_dropped:
            raise ForbiddenByRobots(robots.entry.origin, decision.verdict)
        return response


def _parts(url: str) -> Any:
    """What a robots.txt is chosen by and what its rules see: origin, path and query.

    Raises ``ValueError`` for a URL that has no robots.txt.
    """
    parts = urlsplit(url)
    if parts.scheme not in SCHEMES:
        raise ValueError(parts.scheme)
    return Origin.from_url(url), parts.path or "/", parts.query
