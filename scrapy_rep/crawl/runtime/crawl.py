"""`Crawl`: the objects that the components of a crawl share. Components get it by ``Crawl.of(crawler)``."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from scrapy.utils.misc import load_object

from scrapy_rep.crawl.runtime.events import Events
from scrapy_rep.crawl.runtime.log import OriginLog
from scrapy_rep.crawl.runtime.product_tokens import ProductTokens
from scrapy_rep.crawl.runtime.scrapy_internals import Downloader, DownloadSlots, Engine
from scrapy_rep.crawl.runtime.targets import Targets
from scrapy_rep.settings import RepSettings, extras_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

T = TypeVar("T")

_ATTRIBUTE: Final = "_scrapy_rep"  # of the crawler: both are freed together


class Crawl:
    """A crawl: its settings, targets, product tokens, engine, downloader, download slots, log and stats.

    ``has_gate`` says whether our downloader middleware judges its requests, ``keeps_delays`` whether `CrawlDelay`
    is enabled; both components set their own flag.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Raises `InvalidSettingError`, which is logged."""
        self.crawler = crawler
        self.settings = RepSettings.from_crawler(crawler)
        self.events = Events()
        self.targets = Targets(self.settings.target_url)
        self.engine = Engine(crawler, self.events)
        self.downloader = Downloader(crawler, self.events)
        self.download_slots = DownloadSlots(crawler)
        self.log = OriginLog(crawler)
        self.has_gate = self.keeps_delays = False
        self._parts: dict[Any, Any] = {}

    @classmethod
    def of(cls, crawler: Crawler) -> Crawl:
        """Return the `Crawl` of *crawler*; create it if necessary."""
        crawl = vars(crawler).get(_ATTRIBUTE)
        if crawl is None:
            crawl = vars(crawler)[_ATTRIBUTE] = cls(crawler)
        return cast("Crawl", crawl)

    @cached_property
    def product_tokens(self) -> ProductTokens:
        """The crawler's names in robots.txt. Raises `InvalidSettingError`."""
        return ProductTokens(self.crawler, self.settings.user_agents)

    @cached_property
    def stats(self) -> StatsCollector:
        """Scrapy's stats, which exist when components are built."""
        return self.crawler.stats

    def start_extras(self) -> None:
        """Build the extras that the settings enable, once; they subscribe to the events they need.

        Components that keep state of a crawl call this first. A crawl that only uses the rule engine does not.
        """
        for path in extras_of(self.crawler.settings, self.settings):
            self.part(load_object(path))

    def add(self, part: object) -> None:
        """Register *part*, the only instance of its class in this crawl, for `find`."""
        self._parts[type(part)] = part

    def part(self, kind: Callable[[Crawl], T]) -> T:
        """Return the part of class *kind*; build it on first use."""
        found = self._parts.get(kind)
        if found is None:
            found = self._parts[kind] = kind(self)
        return cast("T", found)

    def find(self, kind: type[T]) -> T | None:
        """Return the part of class *kind*, or None."""
        return self._parts.get(kind)
