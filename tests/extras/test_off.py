"""An extra that no setting asks for is not imported, and hears of nothing."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from scrapy_rep.crawl.runtime.crawl import Crawl
from tests.support.crawl import crawl
from tests.support.run_crawl import Recorder
from tests.support.site import Site, robots

OFF = {"REP_STORE": "memory", "REP_BACKOFF": False, "REP_PAGE_DIRECTIVES": "ignore", "REP_REFUSED": "ignore"}


class NamesExtras(Recorder):
    """Puts the modules of the extras that are loaded, and the events that anybody hears, into the stats."""

    name = "names-extras"

    def page(self, response: Any) -> None:
        super().page(response)
        loaded = {name.split(".")[2] for name in sys.modules if name.startswith("scrapy_rep.extras.")}
        self.crawler.stats.set_value("extras", " ".join(sorted(loaded)))
        events = Crawl.of(self.crawler).events
        heard = {
            name
            for name in type(events).__slots__
            for subscriber in getattr(events, name).subscribers
            if ".extras." in subscriber.__module__
        }
        self.crawler.stats.set_value("heard", " ".join(sorted(heard)))


@pytest.mark.parametrize(
    ("settings", "extras"),
    [
        (OFF, ""),
        ({}, "backoff edge fleet pages topics"),
        ({**OFF, "REP_BACKOFF": True}, "backoff topics"),
        ({**OFF, "REP_REFUSED": "report"}, "edge topics"),
        ({**OFF, "REP_PURPOSES": "search"}, "ai pages"),
        ({**OFF, "REP_ITEM_FIELD": "robots"}, "pages"),
    ],
    ids=["all off", "default", "back-off", "refusals", "purposes", "items"],
)
def test_only_the_extras_that_a_setting_asks_for_are_imported(settings: dict[str, Any], extras: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /x\n"))
        spider = f"{__name__}:NamesExtras"
        result = crawl(f"{site.origin}/page", spider=spider, settings=settings, apart=True)
    assert result.stats["extras"] == extras
    assert bool(result.stats["heard"]) is (extras not in {"", "pages"})
