"""Judge the requests of a browser like requests of Scrapy.

A browser loads scripts, images, frames, and pages to which scripts navigate. scrapy-playwright calls
``PLAYWRIGHT_ABORT_REQUEST`` for each request, and passes only Playwright's request.
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
from scrapy_rep.crawl.policy.policy import DONT_OBEY, is_exempt
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.crawl.runtime.event_loop import in_reactor_thread
from scrapy_rep.crawl.runtime.log import describe
from scrapy_rep.extras.topics import ExtraTopic
from scrapy_rep.protocol import SCHEMES, Origin
from scrapy_rep.settings import ABORT_REQUEST

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

logger = logging.getLogger(__name__)

_MAX_DEAD_ENDS: Final = 1_000


async def abort_forbidden(request: Any) -> bool:
    """Return True, which aborts *request*, a ``playwright.async_api.Request``, if robots.txt disallows it.

    ``PLAYWRIGHT_ABORT_REQUEST = "scrapy_rep.abort_forbidden"`` makes scrapy-playwright call it. Each request of a
    page is judged by the robots.txt of its origin, under the modes and exceptions of the crawl. Waits for an
    unknown robots.txt. Never raises: a request that cannot be judged is aborted.

    The add-on binds the function to the crawl with the setting. Called from a project's function, it serves the
    only crawl of the process; with several crawls it aborts every request.
    """
    gates = list(_open)
    if len(gates) == 1:
        return await gates[0](request)
    _log_unbound(len(gates))
    return True


class BrowserGate:
    """Judges the browser requests of one crawl; a value of ``PLAYWRIGHT_ABORT_REQUEST``."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        # URLs of pages in progress that the project exempted from robots.txt.
        self._exempt: set[str] = set()
        self._dead_ends: LocalCache[str, str] = LocalCache(_MAX_DEAD_ENDS)
        self._log = Crawl.of(crawler).log
        Crawl.of(crawler).events.final_url.subscribe(self._final_url)
        crawler.signals.connect(self._spider_opened, signals.spider_opened)
        crawler.signals.connect(self._spider_closed, signals.spider_closed)
        crawler.signals.connect(self._started, signals.request_reached_downloader)
        crawler.signals.connect(self._ended, signals.request_left_downloader)

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

    def _final_url(self, request: Request, response: Response) -> str | None:
        """The disallowed URL to which a script navigated the page; Chromium then shows an error page."""
        if response.url.startswith("chrome-error:"):
            return self._dead_ends.pop(_key(request.url), None)
        return None

    async def _aborts(self, url: str) -> bool:
        try:
            return await self._forbids(Request(url))
        except Exception as error:  # noqa: BLE001  # scrapy-playwright would leave the browser waiting
            self._log.add(ExtraTopic.ABORTED, "Aborted the browser's request for %s: %s", url, describe(error))
            return True

    async def _forbids(self, request: Request) -> bool:
        extension = self._crawler.get_extension(RepExtension)
        if extension is None:
            raise NotConfigured("the extension scrapy_rep.RepExtension is not enabled")
        if not extension.judge.asks_rules(request):
            return False
        robots = await extension.robots(_cause(request))
        decision = extension.judge.decide(robots, request)
        if decision.is_against_rules:
            self._crawler.stats.inc_value("rep/browser/forbidden_count")
        stamp = extension.account.stamp_by(request, decision, robots)
        Crawl.of(self._crawler).events.judged.send("browser", request, stamp, "")
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
        """Return the gate itself, because copies of the settings also belong to this crawl."""
        return self

    def __repr__(self) -> str:
        return f"<BrowserGate of {self._crawler.spidercls.name}>"


def gate_of(crawl: Crawl) -> BrowserGate:
    """The gate that the add-on put into the settings, or a new gate for functions that call `abort_forbidden`."""
    setting = crawl.crawler.settings.get(ABORT_REQUEST)
    return setting if isinstance(setting, BrowserGate) else BrowserGate(crawl.crawler)


_open: WeakSet[BrowserGate] = WeakSet()
"""The gates of the running crawls in this process."""


@cache  # a page has hundreds of requests
def _log_unbound(crawls: int) -> None:
    why = f"{crawls} crawls of this process use it" if crawls else "no crawl of this process uses it"
    logger.error(
        "scrapy_rep.abort_forbidden aborts every request of the browser, because %s: enable scrapy_rep.Addon, and"
        ' set PLAYWRIGHT_ABORT_REQUEST = "scrapy_rep.abort_forbidden" or run one crawl per process', why,
    )  # fmt: skip


def _cause(request: Request) -> Request:
    """The request that causes a fetch of robots.txt, in a separate download slot.

    A page may wait for this fetch and occupy the last place in the download slot of the same host.
    """
    slot = f"robots.txt of {urlsplit(request.url).netloc}"
    return request.replace(meta={"download_slot": slot, DONT_OBEY: True})


def _page_left(request: Any) -> str | None:
    """The URL of the page that *request* navigates away from; None for frames and for resources of a page."""
    try:
        frame = request.frame if request.is_navigation_request() else None
        return frame.url if frame is not None and frame.parent_frame is None else None
    except Exception:  # noqa: BLE001  # Playwright raises for the requests of service workers, which have no frame
        return None


_URL: Final = re.compile(r"([^/?#]*//[^/?#]*)(/?)([^#]*)")


def _key(url: str) -> str:
    """*url* as a browser requests it: no fragment, no default port, and a lower-case host followed by a slash.

    Every other byte counts: a project that exempts ``/private`` does not exempt ``/private/``.
    """
    found = _URL.match(url)
    return f"{Origin.find(found[1]) or found[1]}/{found[3]}" if found else url
