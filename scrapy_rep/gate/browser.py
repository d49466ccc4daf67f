"""What a browser requests for a page: scripts, images, frames and the pages that scripts lead to.

scrapy-playwright asks ``PLAYWRIGHT_ABORT_REQUEST`` about each of them, and passes a request of Playwright only.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from weakref import WeakSet

from scrapy import Request, signals
from scrapy.exceptions import NotConfigured

from scrapy_rep.gate.extension import RepExtension
from scrapy_rep.policy.meta import DONT_OBEY, is_exempt
from scrapy_rep.protocol import SCHEMES
from scrapy_rep.runtime.crawl import Crawl
from scrapy_rep.runtime.event_loop import in_reactor_thread
from scrapy_rep.runtime.log import Line, describe

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

logger = logging.getLogger(__name__)


ABORT_REQUEST: Final = "PLAYWRIGHT_ABORT_REQUEST"
"""The setting of scrapy-playwright."""

_MAX_DEAD_ENDS: Final = 1_000


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
        self._dead_ends: dict[str, str] = {}
        self._log = Crawl.of(crawler).log
        signal_handlers = {
            signals.spider_opened: self._spider_opened, signals.spider_closed: self._spider_closed,
            signals.request_reached_downloader: self._started, signals.request_left_downloader: self._ended,
        }  # fmt: skip
        for signal, handler in signal_handlers.items():
            crawler.signals.connect(handler, signal=signal)

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
            self._add_dead_end(left, url)
        return aborts

    def dead_end(self, page: str) -> str | None:
        """The forbidden URL that a script of *page* led to; Chromium shows an error page then."""
        return self._dead_ends.pop(_key(page), None)

    def _add_dead_end(self, page: str, url: str) -> None:
        self._dead_ends[_key(page)] = url
        if len(self._dead_ends) > _MAX_DEAD_ENDS:
            del self._dead_ends[next(iter(self._dead_ends))]

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
        robots = extension.cached_robots(extension.targets.of(request))
        if robots is None:
            robots = await extension.robots(_cause(request))
        decision = extension.decide(robots, request)
        extension.account.requested_by_browser(request, robots, decision, extension.agent(robots, request))
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


def _key(url: str) -> str:
    """*url* without what a browser adds or removes."""
    return url.partition("#")[0].rstrip("/")
