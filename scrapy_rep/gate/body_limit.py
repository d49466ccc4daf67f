"""How much of a robots.txt is downloaded: as much as counts, whatever limits the project has for its pages."""

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
"""A body may be so many times ``REP_MAX_SIZE`` after decompression; one that is larger is a bomb."""

_META: Final = "rep_received"  # meta key of our requests: what has been received, shared by their copies
_STOPPED: Final = "download_stopped"  # Scrapy's flag
_HONEST: Final = default_settings.DOWNLOAD_MAXSIZE


@dataclass(slots=True)
class Received:
    """The ``octets`` of one body so far, as they came over the wire."""

    octets: int = 0

    def is_whole(self, response: Response, limit: int) -> bool:
        """Whether nobody but us, at the *limit*, stopped the body of *response* before its end."""
        if _STOPPED not in response.flags or self.octets > limit:
            return True
        length = response.headers.get(b"Content-Length") or b""
        return length.isdigit() and self.octets >= int(length)


class BodyLimit:
    """Ends downloads at *limit* octets and keeps what came; bounds what decompression makes of it."""

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
        """While entered, the body of *request* is limited."""
        received = request.meta[_META] = Received()
        request.meta["download_maxsize"] = MAX_INFLATION * self._limit
        # Connected only while needed: any listener costs Scrapy a call per chunk of every page.
        if not self._in_flight:
            for signal, listener in self._listeners.items():
                self._crawler.signals.connect(listener, signal=signal)
        self._in_flight += 1
        try:
            yield received
        finally:
            self._in_flight -= 1
            if not self._in_flight:
                for signal, listener in self._listeners.items():
                    self._crawler.signals.disconnect(listener, signal=signal)

    def _reached_downloader(self, request: Request) -> None:
        """Lift the limits of the project, which would abort an honest large file by its Content-Length."""
        if _META in request.meta:
            request.meta["download_maxsize"] = _HONEST

    def _bytes_received(self, data: bytes, request: Request) -> None:
        """Stop at the limit. From here on the meta key is read only by the middleware that decompresses."""
        received = request.meta.get(_META)
        if received is None:
            return
        request.meta["download_maxsize"] = MAX_INFLATION * self._limit
        received.octets += len(data)
        if received.octets > self._limit:
            raise StopDownload(fail=False)
