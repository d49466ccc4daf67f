"""What a page and a new origin cost a crawl, in instructions: how busy the machine is does not change them.

Scrapy with robots.txt off, with its built-in middleware and with scrapy_rep crawl what a download handler answers
at once, one request after another, with a robots.txt of median length and with a long one. Each crawl runs twice,
and the second has so many pages more: what it takes more is due to them. A count repeats to about one per cent.
System calls and memory out of the cache do not show in it, so ask ``benchmarks.crawl_cost`` as well.

From the root of the repository, with valgrind; it takes about ten minutes:

    python -m benchmarks.instructions [--pages 200]
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from tempfile import TemporaryDirectory
from typing import Any, Final

import scrapy
from scrapy import Request, Spider
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.utils.httpobj import urlparse_cached

from .any_origin import LONG, MEDIAN, robots_txt

ADDON: Final = {"ADDONS": {"scrapy_rep.Addon": 300}}
OFF: Final = "robots.txt off"
MODES: Final[dict[str, dict[str, Any]]] = {
    OFF: {"ROBOTSTXT_OBEY": False},
    "Scrapy's built-in": {"ROBOTSTXT_OBEY": True},
    "scrapy_rep, in memory": {**ADDON, "REP_STORE": "memory"},
    "scrapy_rep, in SQLite": {**ADDON, "REP_STORE_PATH": "{folder}/robots.sqlite"},
}
PAGE: Final = b"<html><head><title>page</title></head><body>" + b"page " * 200 + b"</body></html>"  # silent
WARM: Final = 50  # pages of both crawls
VALGRIND: Final = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")


class AtOnce(BaseDownloadHandler):
    """Answers every request with a page, or with a robots.txt of so many rules."""

    async def download_request(self, request: Request) -> Response:
        await asyncio.sleep(0)
        url = urlparse_cached(request)
        if url.path == "/robots.txt":
            body = robots_txt(url.netloc, self.crawler.settings.getint("RULES"))
            return TextResponse(request.url, body=body, headers={"Content-Type": "text/plain"}, request=request)
        return HtmlResponse(request.url, body=PAGE, headers={"Content-Type": "text/html"}, request=request)


class OneByOne(Spider):
    """So many pages of one host, or of a new host each."""

    name = "one_by_one"
    count: int
    hosts: bool

    async def start(self) -> AsyncIterator[Request]:
        self.left = self.requests()
        yield next(self.left)

    def requests(self) -> Iterator[Request]:
        for number in range(self.count):
            yield Request(f"http://host{number if self.hosts else ''}.example/p/{number}")

    def parse(self, _: Response) -> Iterator[Request]:
        yield from filter(None, [next(self.left, None)])


def crawl(job: dict[str, Any]) -> None:
    gc.disable()  # when it runs depends on what was imported
    process = AsyncCrawlerProcess(
        {
            "LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False, "RETRY_ENABLED": False, "RULES": job["rules"],
            "CONCURRENT_ITEMS": 1,  # else Scrapy 2.19 starts 100 tasks for the items of every page
            "DOWNLOAD_HANDLERS": {"http": AtOnce}, **job["settings"],
        }
    )  # fmt: skip
    process.crawl(OneByOne, count=job["count"], hosts=job["hosts"])
    process.start()


def instructions(**job: Any) -> int:
    """How many one crawl takes, from the start of its process to the end."""
    with TemporaryDirectory() as folder:
        text = json.dumps(job).replace("{folder}", folder)
        result = subprocess.run(  # noqa: S603
            [*VALGRIND, sys.executable, "-m", "benchmarks.instructions", "--job", text],
            env={**os.environ, "PYTHONHASHSEED": "0"}, capture_output=True, text=True, check=False,
        )  # fmt: skip
    found = re.search(r"I +refs: +([\d,]+)", result.stderr)
    if result.returncode or found is None or "ERROR" in result.stderr:
        raise SystemExit(f"the crawl broke:\n{result.stderr[-4_000:]}")
    return int(found[1].replace(",", ""))


def per_page(pages: int, **job: Any) -> float:
    """Thousands of instructions that a page takes once the first ones have come."""
    return (instructions(count=WARM + pages, **job) - instructions(count=WARM, **job)) / pages / 1_000


def table(pages: int) -> Iterator[str]:
    yield "| thousands of instructions | a page | more than off | a page of a new origin | more than off |"
    yield "|---|---|---|---|---|"
    off: dict[bool, float] = {}
    for rules in (MEDIAN, LONG):
        for name, settings in MODES.items():
            if name == OFF and off:
                continue  # it fetches no robots.txt
            took = {hosts: per_page(pages, rules=rules, settings=settings, hosts=hosts) for hosts in (False, True)}
            off = off or took
            cells = [f"{took[hosts]:,.0f} | {took[hosts] - off[hosts]:,.0f}" for hosts in took]
            yield f"| {name}{'' if name == OFF else f', {rules} rules'} | " + " | ".join(cells) + " |"


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.instructions")
    options.add_argument("--pages", type=int, default=200, help="that count in a crawl (default: %(default)s)")
    options.add_argument("--job", type=json.loads, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.job:
        crawl(chosen.job)
    else:
        print(f"Scrapy {scrapy.__version__}", "", *table(chosen.pages), sep="\n")


if __name__ == "__main__":
    main()
