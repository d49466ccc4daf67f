"""A fetch of a robots.txt through Scrapy's engine: the request, its redirects, its attempts and its size.

This module counts redirects and attempts, not Scrapy's middlewares: the outcome must not depend on how the
project treats redirects and retries. Nothing a server does raises: a failure is a result.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from functools import partial
from http import HTTPStatus
from itertools import count
from math import inf
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urldefrag, urljoin

from scrapy.exceptions import IgnoreRequest
from w3lib.url import safe_url_string

from scrapy_rep.clock import clock
from scrapy_rep.crawl.robots.request import Download, Downloads, is_of_environment, robots_request
from scrapy_rep.crawl.runtime.event_loop import ClosingError
from scrapy_rep.crawl.runtime.log import Topic, describe, speaks_no_tls
from scrapy_rep.crawl.runtime.scrapy_internals import is_of_proxy
from scrapy_rep.decoders import decoders
from scrapy_rep.exceptions import FetchError
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.access import HEADERS, TRUNCATED, RawResponse, Via, read
from scrapy_rep.protocol.display import number_of
from scrapy_rep.protocol.freshness import Backoff, Entry, retry_after
from scrapy_rep.protocol.reader import cut

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from scrapy_rep.crawl.robots.origins import Origins
    from scrapy_rep.crawl.runtime.crawl import Crawl

MAX_HOPS: Final = 5
"""Redirects followed in a row: RFC 9309 section 2.3.1.2, "at least five consecutive redirects"."""

MAX_HEADER: Final = 1_024
"""Bytes; longer header values are ignored. Validators are stored and sent again."""

_FIELDS_OF_CACHE: Final = {"cache-control": "cache_control", "etag": "etag", "last-modified": "last_modified"}
_READ: Final = {name.title().encode(): name for name in (*HEADERS, *_FIELDS_OF_CACHE)}  # as Scrapy spells keys

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})

_NAME: Final = re.compile(r"(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?")

_STOPPED_EARLY: Final = (
    "a StopDownload handler of this project cut it off after {:,} octets:"
    " it must let requests with the meta key is_robotstxt_request pass"
)


class FetchResult(NamedTuple):
    """The outcome of a fetch.

    ``url`` answered or failed, after redirects through ``hops``; ``status`` is None without an answer. ``error``
    says why the origin is unreachable, ``final`` that another attempt would not help; ``retry_after`` is the
    server's Retry-After in seconds; ``attempts`` counts the attempts made. ``unchanged``: the server answered 304,
    and the known entry stays valid. ``is_cached``: Scrapy's HTTP cache answered. ``cache_control``, ``etag`` and
    ``last_modified`` are headers of the answer. ``warning`` describes an oddity of the body. If ``is_of_site`` is
    False, a proxy or a service refused the request, and the result says nothing about the origin.
    """

    access: Access
    url: str
    status: int | None = None
    body: bytes = b""
    hops: tuple[str, ...] = ()
    error: Exception | None = None
    final: bool = False
    retry_after: float | None = None
    attempts: int = 1
    unchanged: bool = False
    is_cached: bool = False
    cache_control: str = ""
    etag: str = ""
    last_modified: str = ""
    warning: str = ""
    is_of_site: bool = True


class _Task(NamedTuple):
    """The robots.txt to fetch, and the request that causes the fetch; see `Fetcher.fetch`.

    With ``is_live``, the answer must not come from Scrapy's HTTP cache.
    """

    origin: Origin
    cause: Request
    known: Entry | None
    forbids: Callable[[str], Awaitable[bool]]
    is_live: bool


class Fetcher:
    """Fetches the robots.txt files of a crawl."""

    def __init__(self, crawl: Crawl, backoff: Backoff, origins: Origins) -> None:
        self.downloads = Downloads(crawl)
        self._crawl = crawl
        self._settings = crawl.settings
        self._backoff = backoff
        self._origins = origins
        self._inc_value = crawl.stats.inc_value
        self._is_offline = crawl.crawler.settings.getbool("HTTPCACHE_IGNORE_MISSING")

    async def fetch(
        self,
        origin: Origin,
        cause: Request,
        known: Entry | None = None,
        *,
        forbids: Callable[[str], Awaitable[bool]],
        retry_for: float,
        is_live: bool = False,
    ) -> FetchResult:
        """Fetch the robots.txt of *origin* for the request *cause*; revalidate the *known* entry, if any.

        While the origin is unreachable, retry at growing intervals. The last attempt ends *retry_for* seconds
        after the start of the first, later if the process stalled between attempts; no attempt starts once the
        crawl is closing. Attempts use the network: if Scrapy's HTTP cache says *unreachable*, ask the server at
        once, unless the cache replays a crawl offline. *is_live* bypasses that cache. *forbids* says whether
        robots.txt forbids the URL of a redirect. Raises only exceptions that end the process or cancel the fetch.
        """
        if not _can_exist(origin.host):
            error = FetchError(f"{origin.host} is not a valid host name")
            return FetchResult(Access.UNREACHABLE, origin.robots_url, error=error, final=True)
        task, began, until = _Task(origin, cause, known, forbids, is_live), clock.monotonic(), inf
        for attempts in count(1):
            attempt_began = clock.monotonic()
            result = await self._attempt(task, until)
            if result.is_cached and result.access is Access.UNREACHABLE and not self._is_offline:
                task = task._replace(is_live=True)
                result = await self._attempt(task, until)
            if result.access is not Access.UNREACHABLE or result.final or attempts > self._settings.retry_times:
                break
            until = began + retry_for
            # Backoff counts from the start of the attempt, Retry-After from its end.
            asked_for = clock.monotonic() + (result.retry_after or 0.0)
            due = max(attempt_began + self._backoff.distance(attempts), asked_for)
            if due >= until or self._crawl.engine.is_closing:
                break
            if attempts == 1:
                self._log_retry(origin, result, due)
            if not await self._crawl.engine.pause(due - clock.monotonic()):
                break
            until += clock.monotonic() - due  # time in which the process stalled does not count as waiting
        return result if attempts == 1 else result._replace(attempts=attempts)

    def _log_retry(self, origin: Origin, failed: FetchResult, due: float) -> None:
        self._crawl.log.add(
            Topic.RETRIED, "robots.txt of %s: the first attempt failed (%s); the next one starts in %.1f s; %s",
            origin, describe(failed.error), max(due - clock.monotonic(), 0.0),
            number_of(self._origins.of(origin).waiting, "request waits", "requests wait"),
        )  # fmt: skip

    async def _attempt(self, task: _Task, until: float) -> FetchResult:
        url, known = task.origin.robots_url, task.known
        hops: list[str] = []
        sent: Request | None = None  # set while the request is under way
        try:
            while True:
                validators = _validators(known, url)
                sent = request = self._request(url, task, validators, until)
                download = self.downloads.begin(request)
                try:
                    response = await self._crawl.downloader.download_robots_txt(request)
                finally:
                    self.downloads.end(download)
                sent, response = None, self._carried(url, request, response, download)
                if validators and response.status == HTTPStatus.NOT_MODIFIED and known:
                    return _unchanged(known, response)
                target = _redirect_target(response)
                if target is None or response.status in self._settings.status_access:
                    return self._judge(response, tuple(hops), download)
                if len(hops) == MAX_HOPS or not task.origin.may_lead_to(target) or await task.forbids(target):
                    return FetchResult(Access.UNAVAILABLE, response.url, response.status, hops=tuple(hops))
                hops.append(target)
                url = target
        except Exception as error:  # noqa: BLE001  # no failure means "allowed"
            is_of_site = not isinstance(error, ClosingError)  # else nothing was asked
            is_final = isinstance(error, IgnoreRequest) or speaks_no_tls(error)  # a retry would fail again
            if sent is not None and is_of_proxy(sent, error):
                is_of_site, is_final = False, download.names_proxy or is_of_environment(sent)
            result = FetchResult(Access.UNREACHABLE, url, hops=tuple(hops), error=error, final=is_final)
            return result._replace(is_of_site=is_of_site)

    def _request(self, url: str, task: _Task, validators: dict[str, str], until: float) -> Request:
        timeout = round(min(self._settings.timeout, until - clock.monotonic()), 2)
        if timeout <= 0:
            raise FetchError("redirected for longer than REP_UNREACHABLE_WAIT")
        request = robots_request(url, task.cause, self._settings, validators, timeout)
        if task.is_live:
            request.meta["dont_cache"] = True
        self._inc_value("rep/request_count")
        return request

    def _carried(self, url: str, request: Request, response: Response, download: Download) -> Response:
        """Note who carried the *download*; return *response* under the requested *url*."""
        sent, is_direct = response.request or request, self._crawl.targets.of(request) is request.url
        if not is_direct or (self._settings.request_hook is not None and request.url != url):
            download.via = Via.SERVICE
        elif sent.meta.get("proxy"):
            download.via = Via.PROXY
            download.may_change_proxy = not (download.names_proxy or is_of_environment(sent))
        # A hook sent it through a scraping API, whose URL holds a key and is no base for redirects.
        return response if is_direct else response.replace(url=url)

    def _judge(self, response: Response, hops: tuple[str, ...], download: Download) -> FetchResult:
        settings, status = self._settings, response.status
        said = _headers(response)
        damage = TRUNCATED if "dataloss" in response.flags else download.damage
        is_whole = download.is_whole(response)
        if not is_whole:
            damage = _STOPPED_EARLY.format(download.octets)
        reading = read(
            RawResponse(status, said, response.body, damage, via=download.via),
            limit=settings.max_size,
            decoders=decoders() if "content-encoding" in said else {},
            overrides=settings.status_access,
        )
        result = partial(
            FetchResult, reading.access, response.url, status, hops=hops, is_cached="cached" in response.flags
        )
        if reading.access is Access.SUCCESSFUL:
            body = cut(reading.body, settings.max_size)
            warning = download.warning or reading.warning
            return result(body=body, warning=warning, **_of_cache(said))
        if reading.access is Access.UNAVAILABLE:
            return result(cache_control=said.get("cache-control", ""))
        is_last = status in settings.status_access or (200 <= status < 300 and not is_whole)
        return result(
            error=FetchError(reading.problem or f"HTTP status {status}"),
            final=is_last or not (reading.is_of_site or download.may_change_proxy),
            retry_after=retry_after(response.headers.get(b"Retry-After") or b"", clock.time()),
            is_of_site=reading.is_of_site,
        )


def _can_exist(host: str) -> bool:
    """Whether *host* is an IP address or a name that DNS can hold (RFC 1034 section 3.1, and underscores)."""
    return ":" in host or (len(host) <= 254 and _NAME.fullmatch(host) is not None)


def _validators(known: Entry | None, url: str) -> dict[str, str]:
    """Return headers that revalidate the *known* entry: RFC 9309 section 2.4, RFC 9110 section 13.1."""
    if known is None or known.access is not Access.SUCCESSFUL or known.url != url:
        return {}
    headers = {"If-None-Match": known.etag, "If-Modified-Since": known.last_modified}
    return {name: value for name, value in headers.items() if value}


def _unchanged(known: Entry, response: Response) -> FetchResult:
    said = {"etag": known.etag, "last-modified": known.last_modified, **_headers(response)}
    result = FetchResult(known.access, known.url, response.status, known.body, known.hops, unchanged=True)
    return result._replace(**_of_cache(said))


def _headers(response: Response) -> dict[str, str]:
    """Return the headers of *response* that this module reads, by lower-case name, up to `MAX_HEADER` bytes."""
    found = {}
    for key in response.headers.keys() & _READ.keys():
        value = b", ".join(response.headers.getlist(key)).decode("latin-1").strip()
        if value and len(value) <= MAX_HEADER:
            found[_READ[key]] = value
    return found


def _of_cache(said: dict[str, str]) -> dict[str, Any]:
    return {field: said.get(name, "") for name, field in _FIELDS_OF_CACHE.items()}


def _redirect_target(response: Response) -> str | None:
    """Return the URL that *response* redirects to, empty if it is unusable; None if it is not a redirect."""
    location = response.headers.get(b"Location") if response.status in _REDIRECTS else None
    if not location:
        return None
    try:
        return urldefrag(urljoin(response.url, safe_url_string(location.strip()))).url
    except ValueError:
        return ""
