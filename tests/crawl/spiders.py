"""Spiders for situations that the recording spider does not make."""

from __future__ import annotations

from time import monotonic
from typing import Any

from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest
from scrapy.http.request import NO_CALLBACK

from scrapy_rep import RepExtension, stamp
from scrapy_rep.clock import clock
from scrapy_rep.crawl.runtime.event_loop import sleep
from tests.support.run_crawl import Recorder


def move_the_clock(seconds: float) -> None:
    """Let so many *seconds* pass at once by the clock of scrapy_rep, until the end of the test."""
    clock.time = lambda now=clock.time: now() + seconds  # type: ignore[misc]
    clock.monotonic = lambda now=clock.monotonic: now() + seconds  # type: ignore[misc]


class OneAfterAnother(Recorder):
    """Makes each request only when the one before has an outcome."""

    name = "one-after-another"

    async def start(self) -> Any:
        async for request in super().start():
            self.left = [Request(**arguments, callback=self.page, errback=self.failure, dont_filter=True)
                         for arguments in self.requests[1:]]  # fmt: skip
            yield request
            return

    def page(self, response: Any) -> Any:
        super().page(response)
        return self.next()

    def failure(self, failure: Any) -> Any:
        super().failure(failure)
        return self.next()

    def next(self) -> Any:
        return self.left.pop(0) if self.left else None


class AsksTheExtension(Recorder):
    """Awaits the robots.txt of its first request from a callback, where no gate waits."""

    name = "asks-the-extension"

    async def page(self, response: Any) -> None:  # type: ignore[override]
        super().page(response)
        extension: Any = self.crawler.get_extension(RepExtension)
        known = extension.entry(response.url)
        robots = await extension.robots(response.url)
        facts = {
            "known": known is not None,
            "access": robots.entry.access.value,
            "allowed": extension.verdict(robots, response.request).allowed,
            "again": extension.entry(response.url) is robots.entry,
        }
        for name, fact in facts.items():
            self.crawler.stats.set_value(f"asked/{name}", int(fact) if isinstance(fact, bool) else fact)


class AsksBeforeItStarts(Recorder):
    """Has robots.txt fetched while it is being opened."""

    name = "asks-before"

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.ask, signal=signals.spider_opened)
        return spider

    async def ask(self) -> None:
        extension: Any = self.crawler.get_extension(RepExtension)
        robots = await extension.robots(self.requests[0]["url"])
        self.crawler.stats.set_value("asked", robots.access.value)


class SlowListener(Recorder):
    """Takes its time over robots_parsed and counts the pages that come after it was done."""

    name = "slow-listener"
    done = False

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.listen, signal=signals.robots_parsed)
        return spider

    async def listen(self) -> None:
        await sleep(0.3)
        self.done = True

    def page(self, response: Any) -> None:
        super().page(response)
        self.crawler.stats.inc_value("listener/done_before_pages", int(self.done))


class TimeTraveller(OneAfterAnother):
    """Lets ``jump`` seconds of wall-clock time pass before each next request."""

    name = "time-traveller"
    jump = 0.0

    def next(self) -> Any:
        move_the_clock(self.jump)
        return super().next()


class Burst(Recorder):
    """Yields all its requests at once from a callback, so that nothing but the scheduler holds them."""

    name = "burst"

    async def start(self) -> Any:
        self.began = monotonic()
        yield Request("data:text/plain,start", callback=self.burst)

    def burst(self, _: Any) -> Any:
        for arguments in self.requests:
            yield Request(**arguments, callback=self.page, errback=self.failure, dont_filter=True)


class BurstLater(Recorder):
    """Makes its first requests, and when they have come all others at once."""

    name = "burst-later"
    first = 3

    async def start(self) -> Any:
        self.began = monotonic()
        for arguments in self.requests[: self.first]:
            yield self.make(arguments)

    def page(self, response: Any) -> Any:
        super().page(response)
        if len(self.facts["pages"]) == self.first:
            return map(self.make, self.requests[self.first :])
        return None

    def make(self, arguments: dict[str, Any]) -> Request:
        return Request(**arguments, callback=self.page, errback=self.failure, dont_filter=True)


class Collects(Recorder):
    """Makes its first requests; then lets the downloader drop its idle download slots, and makes the others."""

    name = "collects"
    first = 2
    pause = 0.3

    async def start(self) -> Any:
        self.began = monotonic()
        requests = [
            Request(**arguments, callback=self.page, errback=self.failure, dont_filter=True)
            for arguments in self.requests
        ]
        for request in requests[: self.first]:
            yield request
        while len(self.facts["pages"]) < self.first:
            await sleep(0.02)
        await sleep(self.pause)
        downloader = self.crawler.engine.downloader
        downloader._slot_gc(age=0)
        self.crawler.stats.set_value("collects/slots_left", len(downloader.slots))
        for request in requests[self.first :]:
            yield request


class InTwoParts(Recorder):
    """Makes the last of its requests when the others, of ``hosts``, have met their robots.txt."""

    name = "in-two-parts"
    last = 40
    hosts = 1

    async def start(self) -> Any:
        number = 0
        async for request in super().start():
            if number == len(self.requests) - self.last:
                while self.crawler.stats.get_value("rep/origin_count", 0) < self.hosts:
                    await sleep(0.02)
            number += 1
            yield request


class Downloads(Recorder):
    """Makes an item of each page, with ``files`` for a media pipeline."""

    name = "downloads"
    files: list[str] = []

    def page(self, response: Any) -> Any:
        super().page(response)
        return {"file_urls": self.files}


class ReportsMetaOfFailures(Recorder):
    """Tags each failure with whether its request has a stamp."""

    name = "reports-meta-of-failures"

    def failure(self, failure: Any) -> None:
        failure.request.meta["tag"] = "stamp" if "rep" in failure.request.meta else "no stamp"
        super().failure(failure)


class AsksForStamps(Recorder):
    """Puts the stamps of its pages into the stats, as `scrapy_rep.stamp` gives them."""

    name = "asks-for-stamps"

    def page(self, response: Any) -> None:
        super().page(response)
        found = stamp(response)
        text = found and f"{found.verdict} line {found.line} {found.is_ordinary}"
        self.crawler.stats.set_value(f"stamp/{response.url.rpartition('/')[2]}", str(text))


class TellsOfFrames(Recorder):
    """Puts into the stats which error is kept for the unreachable origin, and whether it has frames."""

    name = "tells-of-frames"

    def closed(self, _: str) -> None:
        extension: Any = self.crawler.get_extension(RepExtension)
        error = extension.registry.origins.at(self.requests[0]["url"]).robots.error
        self.crawler.stats.set_value("kept/type", type(error).__qualname__)
        self.crawler.stats.set_value("kept/frames", int(error.__traceback__ is not None))


class DownloadsForEachPage(Recorder):
    """Downloads ``url`` for each page, as a pipeline does: past the scheduler."""

    name = "downloads-for-each-page"
    url = ""

    def page(self, response: Any) -> Any:
        super().page(response)
        return self.download()

    async def download(self) -> None:
        try:
            await self.crawler.engine.download_async(Request(self.url, callback=NO_CALLBACK))
        except IgnoreRequest:
            return
