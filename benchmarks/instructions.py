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
import re
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from tempfile import TemporaryDirectory
from typing import Any, Final

from scrapy import Request, Spider
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.utils.httpobj import urlparse_cached

from scrapy_rep.tools.processes import cores

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


def crawl(mode: str, rules: int, hosts: bool, count: int, folder: str) -> None:
    gc.disable()  # when it runs depends on what was imported
    process = AsyncCrawlerProcess(
        {
            "LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False, "RETRY_ENABLED": False, "RULES": rules,
            "CONCURRENT_ITEMS": 1,  # else Scrapy 2.19 starts 100 tasks for the items of every page
            "DOWNLOAD_HANDLERS": {"http": AtOnce}, "REP_STORE_PATH": f"{folder}/robots.sqlite", **MODES[mode],
        }
    )  # fmt: skip
    process.crawl(OneByOne, count=count, hosts=hosts)
    process.start()


def instructions(*job: Any) -> int:
    """How many one crawl takes, from the start of its process to the end."""
    with TemporaryDirectory() as folder:
        said = process_of(crawl, *job, folder, before=VALGRIND).stderr
    found = re.search(r"I +refs: +([\d,]+)", said)
    if found is None or "ERROR" in said:
        raise SystemExit(f"the crawl broke:\n{said[-4_000:]}")
    return int(found[1].replace(",", ""))


def per_page(mode: str, rules: int, hosts: bool, pages: int) -> float:
    """Millions of instructions that a page takes once the first ones have come."""
    more = instructions(mode, rules, hosts, WARM + pages) - instructions(mode, rules, hosts, WARM)
    return round(more / pages / 1e6, 4)


def measure(pages: int = 200) -> list[dict[str, Any]]:
    """Millions of instructions a page, by the length of robots.txt, for one host or a new one each; by mode."""
    cases = [(rules, hosts) for hosts in (False, True) for rules in (MEDIAN, LONG)]
    with ThreadPoolExecutor(cores()) as pool:  # counts do not depend on who else is counted
        jobs = {
            (mode, *case): pool.submit(per_page, mode, *case, pages)
            for case in cases for mode in MODES if mode != OFF or case[0] == MEDIAN
        }  # fmt: skip
        return [
            {"rules": rules, "new": hosts,
             "modes": {mode: jobs[mode, MEDIAN if mode == OFF else rules, hosts].result() for mode in MODES}}
            for rules, hosts in cases
        ]  # fmt: skip


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
            f"a page {'of a new origin' if case['new'] else 'of an origin that is known'}, {case['rules']} rules",
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
    minutes=6,
    quick={"pages": 4},
    blocks={"instructions": per_case, "instructions.beside": beside_scrapys},
)

if __name__ == "__main__":
    main(__spec__.name)
