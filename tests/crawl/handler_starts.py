"""When requests start, measured at the download handler: the last place before the network."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler
from scrapy.http import Response

from tests.support.site import Site

_FILE = "NOTED_STARTS"  # setting


class NotesStarts(HTTP11DownloadHandler):
    """Appends the time and the host of each request to a file that the processes of one machine share."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._noted = Path(crawler.settings[_FILE])

    async def download_request(self, request: Request) -> Response:
        line = f"{monotonic()} {urlsplit(request.url).hostname}\n"
        with self._noted.open("a") as file:  # a short line is written at once, whoever else writes
            file.write(line)
        return await super().download_request(request)


class NotedStarts:
    """The starts that crawls with these ``settings`` have noted in *folder*."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "starts"
        self._file.touch()
        handler = f"{__name__}.{NotesStarts.__name__}"
        self.settings: dict[str, Any] = {"DOWNLOAD_HANDLERS": {"http": handler}, _FILE: str(self._file)}

    def by_host(self) -> dict[str, list[float]]:
        times = defaultdict(list)
        for line in self._file.read_text().splitlines():
            time, _, host = line.partition(" ")
            times[host].append(float(time))
        return {host: sorted(found) for host, found in times.items()}


def assert_delay_is_kept(delay: float, site: Site, starts: NotedStarts, hosts: list[str] | None = None) -> None:
    """Assert that no two requests of a host started closer at the handlers, and that none came past them.

    How late each arrives depends on the machine. *hosts* are those that have a delay, if not all have.
    """
    times = starts.by_host()
    assert sum(map(len, times.values())) == len(site.log)
    gaps = [gap for host in hosts or times for gap in _gaps(times[host])]
    short = sorted(round(gap, 3) for gap in gaps if gap < delay)
    assert gaps
    assert not short, f"{len(short)} of {len(gaps)} gaps are shorter than {delay}: {short}"


def _gaps(times: list[float]) -> list[float]:
    return [after - before for before, after in pairwise(times)]
