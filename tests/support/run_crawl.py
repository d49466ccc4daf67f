"""Runs one crawl, in a process that is there for it alone, and writes what became of it: see ``crawl.py``."""

from __future__ import annotations

import gc
import json
import logging
import os
import random
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.crawler import AsyncCrawlerProcess, AsyncCrawlerRunner, CrawlerProcess
from scrapy.exceptions import ScrapyDeprecationWarning
from scrapy.settings import default_settings
from scrapy.utils.misc import load_object

_BASES = ("DOWNLOADER_MIDDLEWARES_BASE", "EXTENSIONS_BASE", "SPIDER_MIDDLEWARES_BASE")
PRELOADED = [
    "scrapy.core.downloader.handlers.datauri",
    "scrapy.core.downloader.handlers.file",
    "scrapy.core.downloader.handlers.http11",
    "scrapy.cmdline",
    "scrapy.core.scheduler",
    "scrapy.core.scraper",
    "scrapy.spiders.sitemap",
    "scrapy.squeues",
    "scrapy_rep.addon",
    "scrapy_rep.tools.commands.explain",
    "tldextract",
    "twisted.web.client",
    *sorted({path.rpartition(".")[0] for base in _BASES for path in getattr(default_settings, base)}),
]
"""What most crawls import; none of it chooses a reactor."""

_LOOPS: dict[str, tuple[type, dict[str, Any]]] = {
    "asyncio": (AsyncCrawlerProcess, {}),
    "twisted": (CrawlerProcess, {"TWISTED_REACTOR": None}),
    "reactorless": (AsyncCrawlerProcess, {"TWISTED_REACTOR_ENABLED": False}),
}
"""Makes a monotonic time of the wall-clock time that an older Scrapy notes; the largest was not interrupted."""

_QUIET = {"TELNETCONSOLE_ENABLED": False, "MEMUSAGE_ENABLED": False, "LOG_LEVEL": "DEBUG"}


class Recorder(Spider):
    """Requests what it is told and records what becomes of it."""

    name = "recorder"
    requests: list[dict[str, Any]] = []
    facts: dict[str, Any]

    async def start(self) -> Any:
        self.began = monotonic()
        for arguments in self.requests:
            yield Request(callback=self.page, errback=self.failure, **{"dont_filter": True, **arguments})

    def page(self, response: Any) -> None:
        tag = response.meta.get("tag")
        self.facts["pages"].append(
            {"url": response.url, "status": response.status, "length": len(response.body), "tag": tag,
             "time": monotonic() - self.began, "stamp": response.meta.get("rep"), "flags": response.flags}
        )  # fmt: skip

    def failure(self, failure: Any) -> None:
        error, cause = failure.value, failure.value.__cause__
        facts = {name: getattr(error, name, None) for name in ("reason", "line", "rule", "origin", "retry_after")}
        self.facts["failures"].append(
            {
                "url": failure.request.url,
                "type": type(error).__qualname__,
                "message": str(error),
                "cause": cause and [type(cause).__qualname__, str(cause)],
                "tag": failure.request.meta.get("tag"),
                "time": monotonic() - self.began,
                **facts,
                "reason": getattr(facts["reason"], "value", facts["reason"]),
                "rule": facts["rule"] and str(facts["rule"]),
                "origin": facts["origin"] and str(facts["origin"]),
            }
        )


class Collector(logging.Handler):
    """Keeps every log record as plain data."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[dict[str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = "".join(traceback.format_exception(*record.exc_info)) if record.exc_info else ""
        self.lines.append(
            {
                "level": record.levelname,
                "name": record.name,
                "message": record.getMessage(),
                "traceback": text,
            }
        )


def run(job: dict[str, Any]) -> dict[str, Any]:
    process_class, loop_settings = _LOOPS[job["loop"]]
    process = process_class({**_QUIET, **loop_settings, **job["settings"]})
    collector = Collector()
    logging.root.addHandler(collector)
    crawler, facts, attributes = make_crawler(job, process)
    process.crawl(crawler, **attributes)
    process.start()
    facts["stats"] = plain_stats(crawler)
    facts["log"] = collector.lines
    facts["failed"] = process.bootstrap_failed
    return facts


def make_crawler(job: dict[str, Any], runner: Any = None) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """The crawler of *job*, the facts that it will fill, and the attributes of its spider."""
    facts: dict[str, Any] = {"pages": [], "failures": [], "starts": [], "robots_parsed": [], "seconds": 0.0}
    runner = runner or AsyncCrawlerRunner({**_QUIET, **job["settings"]})
    module, _, name = job["spider"].partition(":")
    crawler = runner.create_crawler(load_object(f"{module}.{name}"))
    listen(crawler, facts, job.get("journal"))
    return crawler, facts, {**job["attributes"], "requests": job["requests"], "facts": facts}


def listen(crawler: Any, facts: dict[str, Any], journal: str | None = None) -> None:
    """Gather *facts*; the starts of requests are written into the *journal*, too, at once: see `crawl_until`."""
    began = 0.0

    def note(start: dict[str, Any]) -> None:
        facts["starts"].append(start)
        if journal:
            with Path(journal).open("a") as file:
                file.write(json.dumps(start) + "\n")

    def opened() -> None:
        nonlocal began
        began = monotonic()
        note_starts(crawler.engine.downloader, note)

    def closed() -> None:
        facts["seconds"] = monotonic() - began

    def parsed(request: Request) -> None:
        facts["robots_parsed"].append(request.url)

    crawler.signals.connect(opened, signal=signals.spider_opened, weak=False)
    crawler.signals.connect(closed, signal=signals.spider_closed, weak=False)
    if hasattr(signals, "robots_parsed"):
        crawler.signals.connect(parsed, signal=signals.robots_parsed, weak=False)


def note_starts(downloader: Any, note: Callable[[dict[str, Any]], None]) -> None:
    """Have noted when *downloader* hands which request to its download handler."""
    if not hasattr(downloader, "handlers"):
        return
    download = downloader.handlers.download_request_async

    def start(request: Request) -> Any:
        slot = getattr(downloader, "slots", {}).get(request.meta.get("download_slot"))
        note({"url": request.url, "time": monotonic(), "delay": slot.delay if slot is not None else 0.0})
        return download(request)

    downloader.handlers.download_request_async = start


def refuse_deprecations() -> None:
    """What scrapy_rep uses must not be deprecated; Scrapy and Twisted may do what they like."""
    for category in (DeprecationWarning, ScrapyDeprecationWarning):
        warnings.filterwarnings("error", category=category, module=r"scrapy_rep(\.|$)")


def plain_stats(crawler: Any) -> dict[str, Any]:
    # A crawl that died at start-up may have none, and newer versions of Scrapy raise for that.
    try:
        stats = crawler.stats.get_stats() if crawler.stats else {}
    except RuntimeError:
        stats = {}
    return {key: value if isinstance(value, (int, float)) else str(value) for key, value in stats.items()}


def main(job: dict[str, Any], report: Path, stderr: Path, environment: dict[str, str], folder: Path) -> None:
    """Run *job* and write the *report*; the exit code is 1 when the crawl did not start."""
    os.environ.update(environment)
    os.chdir(folder)
    with stderr.open("w") as file:
        os.dup2(file.fileno(), 2)
    random.seed()  # every crawl was forked from the same state
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # a pool of ours blocks it for what it forks
    refuse_deprecations()
    outcome = run(job)
    failed = outcome.pop("failed") or "start_time" not in outcome["stats"]
    report.write_text(json.dumps(outcome))
    gc.collect()  # Twisted tells of an error that nobody handled when its Deferred goes
    sys.exit(1 if failed else 0)
