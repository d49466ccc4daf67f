"""Requests that wait for a robots.txt cost the others nothing."""

from __future__ import annotations

import pytest

from tests.support.crawl import LOOPS, crawl
from tests.support.site import Site, hang, robots

PAGES = [f"/page/{number}" for number in range(40)]
HANGING = [f"127.0.3.{number}" for number in range(1, 41)]


@pytest.mark.parametrize("spider", ["tests.support.run_crawl:Recorder", "tests.integration.spiders:Burst"])
@pytest.mark.parametrize("loop", LOOPS)
def test_forty_hanging_origins_do_not_hold_up_a_healthy_one(loop: str, spider: str) -> None:
    with Site(["127.0.0.1", *HANGING]) as site:
        healthy, *hanging = site.origins
        site.answer("/robots.txt", hang())
        site.answer("/robots.txt", robots("User-agent: *\nAllow: /\n"), healthy)
        # The hanging ones come first, so that they take every place there is.
        urls = [f"{origin}/page" for origin in hanging] + [healthy + path for path in PAGES]
        settings = {"REP_TIMEOUT": 6.0, "REP_RETRY_TIMES": 0}
        result = crawl(*urls, loop=loop, settings=settings, spider=spider)
    assert len(result.pages) == len(PAGES)
    # Scrapy's built-in needs more than the 6 s in which the first sixteen hang.
    assert max(page.time for page in result.pages) < 4.0
    assert [failure.reason for failure in result.failures] == ["unreachable"] * len(hanging)


def test_concurrency_is_given_back() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nAllow: /\n", delay=0.5))
        spider = "tests.integration.spiders:TellsConcurrency"
        result = crawl(*(site.origin + path for path in PAGES), spider=spider)
    assert len(result.pages) == len(PAGES)
    assert (result.stats["concurrency/most"], result.stats["concurrency/last"]) == (16 + 2 * len(PAGES), 16)


def test_no_more_is_lent_than_max_waiting_allows() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nAllow: /\n", delay=0.5))
        spider = "tests.integration.spiders:TellsConcurrency"
        result = crawl(*(site.origin + path for path in PAGES), spider=spider, settings={"REP_MAX_WAITING": 5})
    assert len(result.pages) == len(PAGES)
    assert (result.stats["concurrency/most"], result.stats["concurrency/last"]) == (16 + 2 * 5, 16)
