"""The spider of ``benchmarks.fleet`` that measures how long a permit takes that no other worker wants."""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import Any

from scrapy import Request

from scrapy_rep.crawl.pacing.crawl_delay import CrawlDelay
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.extras.fleet.permits import Permits
from tests.crawl.spiders import OneAfterAnother


class Latency(OneAfterAnother):
    """Before each next page acquires a permit for a site that was idle for longer than its delay."""

    name = "latency"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.took: list[float] = []

    async def page(self, response: Any) -> Any:  # type: ignore[override]
        permits: Any = Permits.of(Crawl.of(self.crawler))
        delays: Any = self.crawler.get_extension(CrawlDelay)
        site = delays.site(Request(response.url))
        began = perf_counter()
        permits.use(site, await permits.acquire(site))
        self.took.append(perf_counter() - began)
        self.crawler.stats.set_value("latency/median", median(self.took))
        self.crawler.stats.set_value("latency/worst", max(self.took))
        return super().page(response)
