"""Extensions of projects: whatever they do to downloads, robots.txt is read whole or not believed."""

from __future__ import annotations

from typing import Any

from scrapy import signals
from scrapy.exceptions import StopDownload


class StopsBodies:
    """Is content with the first octets of every response."""

    signal = signals.bytes_received

    @classmethod
    def from_crawler(cls, crawler: Any) -> Any:
        extension = cls()
        crawler.signals.connect(extension.stop, signal=cls.signal)
        return extension

    def stop(self) -> None:
        raise StopDownload(fail=False)


class StopsHeaders(StopsBodies):
    """Is content with the headers of every response."""

    signal = signals.headers_received


class NotesTimeouts:
    """Puts the time-outs of the requests for robots.txt into the stats."""

    crawler: Any

    @classmethod
    def from_crawler(cls, crawler: Any) -> Any:
        extension = cls()
        extension.crawler = crawler
        crawler.signals.connect(extension.note, signal=signals.request_reached_downloader)
        return extension

    def note(self, request: Any) -> None:
        if request.meta.get("is_robotstxt_request"):
            self.crawler.stats.inc_value("timeouts/count")
            self.crawler.stats.inc_value("timeouts/sum", request.meta["download_timeout"])
