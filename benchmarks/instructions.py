"""What a page and a new origin cost a crawl, in instructions: how busy the machine is does not change them.

Scrapy with robots.txt off, with its built-in middleware and with scrapy_rep crawl what a download handler answers
at once, one request after another, with a robots.txt of median length and with a long one. Each crawl runs twice,
and the second has so many pages more: what it takes more is due to them. A count repeats to about one per cent.
System calls and memory out of the cache do not show in it, so ask ``benchmarks.crawl_cost`` as well.

From the root of the repository, with valgrind.
"""

from __future__ import annotations

import asyncio
import gc
import os
import re
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from tempfile import TemporaryDirectory
from typing import Any, Final

from scrapy import Request, Spider
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.settings import Settings
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import load_object

from scrapy_rep import Addon, CrawlDelay, RepExtension, RepMiddleware, RepPriorityQueue  # noqa: F401

from .any_origin import LONG, MEDIAN, robots_txt
from .apart import process_of
from .figures import Benchmark, main, table

ADDON: Final = {"ADDONS": {"scrapy_rep.Addon": 300}}
OFF, BUILT_IN, IN_MEMORY, IN_SQLITE = "off", "built-in", "in memory", "in SQLite"
MODES: Final[dict[str, dict[str, Any]]] = {
    OFF: {"ROBOTSTXT_OBEY": False},
    BUILT_IN: {"ROBOTSTXT_OBEY": True},
    IN_MEMORY: {**ADDON, "REP_STORE": "memory"},
    IN_SQLITE: ADDON,
}
PAGE: Final = b"<html><head><title>page</title></head><body>" + b"page " * 200 + b"</body></html>"  # silent
NO_HANDLERS: Final = ("https", "ftp", "s3", "data", "file")
WARM: Final = 50  # pages of both crawls
CASES: Final = [(rules, hosts) for hosts in (False, True) for rules in (MEDIAN, LONG)]
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


def crawl(settings: dict[str, Any], rules: int, hosts: bool, count: int) -> None:
    process = AsyncCrawlerProcess(
        {
            "LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False, "RETRY_ENABLED": False, "RULES": rules,
            "CONCURRENT_ITEMS": 1,  # else Scrapy 2.19 starts 100 tasks for the items of every page
            "DOWNLOAD_HANDLERS": {**dict.fromkeys(NO_HANDLERS), "http": AtOnce}, **settings,
        }
    )  # fmt: skip
    process.crawl(OneByOne, count=count, hosts=hosts)
    process.start()


def crawls(mode: str, pages: int) -> None:
    """All crawls of *mode*, each in a child of this process, which has imported what they need."""
    gc.disable()  # when it runs depends on what was imported
    for kind in ("DOWNLOADER_MIDDLEWARES_BASE", "SPIDER_MIDDLEWARES_BASE", "EXTENSIONS_BASE"):
        for path in Settings()[kind]:
            load_object(path)
    for rules, hosts in CASES:
        for count in (WARM, WARM + pages):
            with TemporaryDirectory() as folder:
                if not (child := os.fork()):
                    crawl({"REP_STORE_PATH": f"{folder}/robots.sqlite", **MODES[mode]}, rules, hosts, count)
                    os._exit(0)  # it reports what it has counted
                if os.waitpid(child, 0)[1]:
                    raise SystemExit("a crawl broke")


def counted(mode: str, pages: int) -> list[float]:
    """By case, the millions of instructions that a page takes once the first ones have come."""
    said = process_of(crawls, mode, pages, before=VALGRIND).stderr
    *counts, _ = (int(found.replace(",", "")) for found in re.findall(r"I +refs: +([\d,]+)", said))
    if len(counts) != 2 * len(CASES) or "ERROR" in said:
        raise SystemExit(f"a crawl broke:\n{said[-4_000:]}")
    return [(more - first) / pages / 1e6 for first, more in zip(counts[::2], counts[1::2], strict=True)]


def measure(pages: int = 100) -> list[dict[str, Any]]:
    """Millions of instructions a page, by the length of robots.txt, for one host or a new one each; by mode."""
    with ThreadPoolExecutor(len(MODES)) as pool:  # counts do not depend on who else is counted
        found = dict(zip(MODES, pool.map(lambda mode: counted(mode, pages), MODES), strict=True))
    return [
        {"rules": rules, "new": hosts, "modes": {mode: counts[number] for mode, counts in found.items()}}
        for number, (rules, hosts) in enumerate(CASES)
    ]


def more(case: dict[str, Any], mode: str) -> str:
    """What *mode* takes more than a crawl with robots.txt off, with two digits that count."""
    added = case["modes"][mode] - case["modes"][OFF]
    return f"{added:.2f}" if added < 1 else f"{added:.1f}"


def per_case(instructions: list[dict[str, Any]]) -> Iterator[str]:
    head = [
        "millions of instructions",
        "robots.txt off",
        "more with Scrapy's own",
        "with scrapy_rep, in memory",
        "in SQLite",
    ]
    rows = (
        [
            f"page of a {'new' if case['new'] else 'known'} origin, {case['rules']} rules",
            f"{case['modes'][OFF]:.2f}",
            *(more(case, mode) for mode in (BUILT_IN, IN_MEMORY, IN_SQLITE)),
        ]
        for case in instructions
    )
    return table(head, rows)


def beside_scrapys(instructions: list[dict[str, Any]]) -> Iterator[str]:
    known, new = (next(case for case in instructions if case["new"] is is_new) for is_new in (False, True))
    for text, case in (("For each page", known), (f"For a new site with {new['rules']} rules", new)):
        theirs, ours = more(case, BUILT_IN), more(case, IN_MEMORY)
        yield f"{text} Scrapy's own takes {theirs} million instructions, scrapy_rep {ours}."


BENCHMARK: Final = Benchmark(
    measure,
    minutes=3,
    quick={"pages": 4},
    blocks={"instructions": per_case, "instructions.beside": beside_scrapys},
)

if __name__ == "__main__":
    main(__spec__.name)
