"""The request for a robots.txt: what it inherits, how much is downloaded, and what a closing crawl awaits.

Scrapy's decompression hides damage to a body, and raises for a body that is not needed. This module therefore
decompresses each body just before Scrapy would, from the network and from Scrapy's HTTP cache.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from scrapy import Request, signals
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import StopDownload
from scrapy.http import TextResponse
from scrapy.http.request import NO_CALLBACK
from scrapy.responsetypes import responsetypes
from scrapy.settings import default_settings
from scrapy.utils.asyncio import call_later
from scrapy.utils.httpobj import urlparse_cached

from scrapy_rep.crawl.runtime.event_loop import CLOSING_CHECK
from scrapy_rep.decoders import decoders
from scrapy_rep.protocol import Origin
from scrapy_rep.protocol.access import Via
from scrapy_rep.protocol.codings import undo

if TYPE_CHECKING:
    from scrapy.http import Response
    from scrapy.utils.asyncio import CallLaterResult

    from scrapy_rep.crawl.runtime.crawl import Crawl
    from scrapy_rep.settings import RepSettings

logger = logging.getLogger(__name__)

PRIORITY: Final = 1_000
"""The priority of robots.txt in Scrapy's own middleware: before every page."""

_OURS: Final[dict[str, Any]] = {
    "dont_obey_robotstxt": True,
    "is_robotstxt_request": True,
    # The fetcher follows redirects and retries itself, see `scrapy_rep.crawl.robots.fetch`.
    "dont_redirect": True,
    "dont_retry": True,
    # The spider requested the site; a redirect may keep its robots.txt elsewhere.
    "allow_offsite": True,
    "autothrottle_dont_adjust_delay": True,
    # A truncated response is flagged instead of raising; the fetcher handles it.
    "download_fail_on_dataloss": False,
    # A project's parameters for pages, such as a browser, would change a plain text file.
    "zyte_api_default_params": False,
}
_OF_NETWORK: Final = frozenset({"download_slot", "bindaddress", "ftp_passive"})
_OF_NETWORK_AND_PROXY: Final = _OF_NETWORK | {"proxy", "_auth_proxy"}
_HEADERS_OF_NETWORK: Final = (b"User-Agent", b"Proxy-Authorization")  # as Scrapy spells keys
_CREDENTIALS: Final = frozenset({"ftp_user", "ftp_password", "http_user", "http_pass", "http_auth_domain"})

_META: Final = "rep_received"  # meta key of our requests: the `Download` that all copies of a request share
_STOPPED: Final = "download_stopped"  # Scrapy's flag
_SCRAPY_MAXSIZE: Final = default_settings.DOWNLOAD_MAXSIZE


def is_robots_txt(request: Request) -> bool:
    """Whether *request* is for a robots.txt: ours, even after redirects, or a spider's."""
    return bool(request.meta.get("is_robotstxt_request")) or urlparse_cached(request).path == "/robots.txt"


def proxy_of(request: Request) -> str:
    """Return the proxy that *request* names; empty if it is left to middlewares and the environment."""
    return "" if is_of_environment(request) else request.meta.get("proxy") or ""


def is_of_environment(request: Request) -> bool:
    """Whether Scrapy took the proxy of *request* from the environment, by URL scheme."""
    return "_scheme_proxy" in request.meta


def robots_request(
    url: str, cause: Request, settings: RepSettings, headers: dict[str, Any], timeout: float
) -> Request:
    """Build the request for the robots.txt at *url*, to be sent by the client of *cause*.

    It carries the validators in *headers*, unless ``REP_CLIENT_META`` chooses the client, and times out after
    *timeout* seconds. It sets no ``dont_cache``: a replay from Scrapy's HTTP cache must find its robots.txt.
    ``REP_REQUEST_HOOK`` may replace it; raises ``TypeError`` if the hook returns no `scrapy.Request`.
    """
    headers_of_network, of_network = _of_network(cause)
    password, client = client_of(url, cause, settings)
    has_jar = "cookiejar" in settings.client_meta and not cause.meta.get("dont_merge_cookies")
    request = Request(
        url,
        callback=NO_CALLBACK,
        # A browser treats 304 as a failure.
        headers=headers_of_network | password | (headers if client.keys() <= _CREDENTIALS else {}),
        cookies=cause.cookies if has_jar and Origin.find(url) == Origin.find(cause.url) else None,
        meta={**of_network, **client, **_OURS, "dont_merge_cookies": not has_jar, "download_timeout": timeout},
        priority=PRIORITY,
        dont_filter=True,
    )
    if settings.request_hook is None:
        return request
    hooked = settings.request_hook(request, cause)
    if not isinstance(hooked, Request):
        raise TypeError(f"REP_REQUEST_HOOK returned {hooked!r}: it must return a scrapy.Request")
    return hooked


def cause_for(url: str, cause: Request) -> Request:
    """Build the request that causes the fetch of the robots.txt of *url*, to which *cause* leads."""
    # Its other headers, and its credentials, are for its own URL.
    headers, meta = _of_network(cause)
    meta.pop("download_slot", None)
    return Request(url, cause.callback, headers=headers, meta=meta)


def client_of(url: str, cause: Request, settings: RepSettings) -> tuple[dict[Any, Any], dict[str, Any]]:
    """Return the headers and meta keys that let the client of *cause* in at *url*.

    Another origin gets no credentials, nor values that may hold some: only plain ones of ``REP_CLIENT_META``.
    """
    meta, given = cause.meta, cause.headers.keys()  # plain keys: a look-up in headers tries every spelling
    chosen: set[str] = meta.keys() & settings.client_meta | meta.keys() & _CREDENTIALS
    password = {b"Authorization": cause.headers.getlist(b"Authorization")} if b"Authorization" in given else {}
    if (chosen or password) and Origin.find(url) != Origin.find(cause.url):
        chosen = {key for key in chosen - _CREDENTIALS if isinstance(meta[key], str | int)}
        password = {}
    return password, {key: meta[key] for key in chosen}


def _of_network(cause: Request) -> tuple[dict[Any, Any], dict[str, Any]]:
    """Return the headers and meta keys that route *cause* to any server: its name, address and proxy."""
    meta, given = cause.meta, cause.headers.keys()
    # Scrapy chose this proxy by URL scheme; let it choose again for this URL.
    keys = _OF_NETWORK if is_of_environment(cause) else _OF_NETWORK_AND_PROXY
    names = _HEADERS_OF_NETWORK if "_auth_proxy" in meta else _HEADERS_OF_NETWORK[:1]
    headers = {name: cause.headers.getlist(name) for name in names if name in given}
    return headers, {key: meta[key] for key in meta.keys() & keys}


@dataclass(slots=True, eq=False)
class Download:
    """A request in flight: its limit and progress in bytes, and damage to its body or a warning about it.

    ``names_proxy`` says whether the request named a proxy before any middleware saw it. ``via`` is the carrier,
    set with the answer; ``may_change_proxy`` says whether another attempt could take another proxy.
    """

    limit: int
    names_proxy: bool = False
    octets: int = 0
    damage: str = ""
    warning: str = ""
    via: Via = Via.NOBODY
    may_change_proxy: bool = False

    def undone(self, response: Response) -> Response:
        """Return *response* with its body decompressed, or without a body if that fails."""
        self.octets = self.octets or len(response.body)  # 0: from the HTTP cache, which keeps our "stopped" flag
        codings = b",".join(response.headers.getlist("Content-Encoding")).decode("latin-1")
        if not codings:
            return response
        raw, body = response.body, b""
        try:
            is_stopped = len(raw) > self.limit
            body, self.warning = undo(raw, codings, limit=self.limit, decoders=decoders(), is_stopped=is_stopped)
        except ValueError as error:
            self.damage = str(error)
        headers = response.headers.copy()
        del headers["Content-Encoding"]
        kind = responsetypes.from_args(headers=headers, url=response.url, body=body)
        if issubclass(kind, TextResponse):
            return response.replace(cls=kind, headers=headers, body=body, encoding=None)
        return response.replace(headers=headers, body=body)

    def is_whole(self, response: Response) -> bool:
        """Whether the body of *response* is complete up to the limit: no other component cut it."""
        octets = self.octets or len(response.body)
        if _STOPPED not in response.flags or octets > self.limit:
            return True
        length = response.headers.get(b"Content-Length") or b""
        return length.isdigit() and octets >= int(length)


def _reached_downloader(request: Request) -> None:
    """Lift the project's size limit, at which Scrapy aborts even an honest large file by its Content-Length."""
    if _META in request.meta:
        request.meta["download_maxsize"] = _SCRAPY_MAXSIZE


def _bytes_received(data: bytes, request: Request) -> None:
    download: Download | None = request.meta.get(_META)
    if download is None:
        return
    download.octets += len(data)
    if download.octets > download.limit:
        raise StopDownload(fail=False)


def process_response(request: Request, response: Response) -> Response:
    """Decompress before Scrapy does, as a method of a downloader middleware."""
    download: Download | None = request.meta.get(_META)
    return response if download is None else download.undone(response)


_LISTENERS: Final = {
    signals.request_reached_downloader: _reached_downloader,
    signals.bytes_received: _bytes_received,
}


class Downloads:
    """The robots.txt requests of a crawl that are in flight.

    A download ends at ``REP_MAX_SIZE`` bytes and keeps what it received, whatever the project's limits for pages.
    """

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self._limit = crawl.settings.max_size
        self._in_flight: set[Download] = set()
        self._timer: CallLaterResult | None = None  # runs while there are requests, and a moment longer
        crawl.crawler.signals.connect(self._stop, signal=signals.spider_closed)

    def __len__(self) -> int:
        return len(self._in_flight)

    def begin(self, request: Request) -> Download:
        """Note that *request*, for a robots.txt, is about to be sent. Call `end` afterwards."""
        download = request.meta[_META] = Download(self._limit, "proxy" in request.meta)
        self._in_flight.add(download)
        if self._timer is None:
            for signal, listener in _LISTENERS.items():
                self._crawl.crawler.signals.connect(listener, signal=signal)
            self._crawl.downloader.set_method(process_response, is_on=True, before=HttpCompressionMiddleware)
            self._timer = call_later(CLOSING_CHECK, self._watch)
        return download

    def end(self, download: Download) -> None:
        """Note that *download* is over, with or without an answer."""
        self._in_flight.remove(download)

    def _watch(self) -> None:
        """Poll for the start of the crawl's end, because Scrapy sends no signal for it."""
        if not self._in_flight:
            self._stop()
            return
        if self._crawl.engine.is_closing:
            self._crawl.events.closing.send()
        self._timer = call_later(CLOSING_CHECK, self._watch)

    def _stop(self) -> None:
        """Stop listening: a listener costs Scrapy a call per response, or per chunk, of every page."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            for signal, listener in _LISTENERS.items():
                self._crawl.crawler.signals.disconnect(listener, signal=signal)
            self._crawl.downloader.set_method(process_response, is_on=False)
