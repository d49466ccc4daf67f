"""How much of a robots.txt is downloaded: ``REP_MAX_SIZE``, whatever limits the project has for its pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from scrapy import signals
from scrapy.exceptions import StopDownload
from scrapy.settings import default_settings

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

MAX_INFLATION: Final = 32
"""A decompressed body may be this many times ``REP_MAX_SIZE``; a larger one is treated as a bomb."""

_META: Final = "rep_received"  # meta key of our requests: the `Received` that all copies of one share
_STOPPED: Final = "download_stopped"  # Scrapy's flag
_SCRAPY_MAXSIZE: Final = default_settings.DOWNLOAD_MAXSIZE


@dataclass(slots=True)
class Received:
    """How many ``octets`` of one body have come over the wire so far."""

    octets: int = 0

    def is_whole(self, response: Response, limit: int) -> bool:
        """Whether the body of *response* is complete up to *limit* octets: no other component cut it off."""
        if _STOPPED not in response.flags or self.octets > limit:
            return True
        length = response.headers.get(b"Content-Length") or b""
        return length.isdigit() and self.octets >= int(length)


class BodyLimit:
    """Stops downloads at *limit* octets and keeps what was received; bounds the size after decompression."""

    def __init__(self, crawler: Crawler, limit: int) -> None:
        self._crawler = crawler
        self._limit = limit
        self._in_flight = 0
        self._listeners: dict[Any, Any] = {
            signals.request_reached_downloader: self._reached_downloader,
            signals.bytes_received: self._bytes_received,
        }

    @contextmanager
    def on(self, request: Request) -> Iterator[Received]:
        """Limit the body of *request* inside the ``with`` block."""
        received = request.meta[_META] = Received()
        request.meta["download_maxsize"] = MAX_INFLATION * self._limit
        # Connected only while needed: any listener costs Scrapy a call per chunk of every page.
        if not self._in_flight:
            for signal, listener in self._listeners.items():
                self._crawler.signals.connect(listener, signal=signal, weak=False)
        self._in_flight += 1
        try:
            yield received
        finally:
            self._in_flight -= 1
            if not self._in_flight:
                for signal, listener in self._listeners.items():
                    self._crawler.signals.disconnect(listener, signal=signal, weak=False)

    def _reached_downloader(self, request: Request) -> None:
        """Lift the project's limit, with which Scrapy aborts an honest large file by its Content-Length."""
        if _META in request.meta:
            request.meta["download_maxsize"] = _SCRAPY_MAXSIZE

    def _bytes_received(self, data: bytes, request: Request) -> None:
        """Stop at the limit. From now on only the middleware that decompresses reads ``download_maxsize``."""
        received = request.meta.get(_META)
        if received is None:
            return
        request.meta["download_maxsize"] = MAX_INFLATION * self._limit
        received.octets += len(data)
        if received.octets > self._limit:
            raise StopDownload(fail=False)
