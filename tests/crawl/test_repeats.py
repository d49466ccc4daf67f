"""A request that is repeated keeps the delay: download handlers repeat some, unasked, when a connection ends."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from tests.support.crawl import crawl, on_each_loop
from tests.support.site import Answer, Site, reset, robots, sequence

DELAY = 0.5
LEAST = DELAY - 0.05  # what the network of this machine takes
ONE_BY_ONE = "tests.crawl.spiders:OneAfterAnother"
KEPT = Answer(keeps_alive=True)


def arrivals(rules: str, loop: str, **settings: Any) -> tuple[Site, list[float]]:
    """The site of a crawl whose second page is reset on a kept-alive connection; seconds between its requests."""
    with Site() as site:
        site.answer("/robots.txt", robots(rules, keeps_alive=True))
        site.answer("*", KEPT)
        site.answer("/1", sequence(reset(), KEPT))
        crawl(*(f"{site.origin}/{number}" for number in range(4)), spider=ONE_BY_ONE, loop=loop, settings=settings)
    return site, [after.time - before.time for before, after in pairwise(site.log)]


@on_each_loop
def test_a_request_on_a_connection_that_was_reset_is_repeated_after_the_delay(loop: str) -> None:
    site, gaps = arrivals(f"User-agent: *\nCrawl-delay: {DELAY}\n", loop)
    assert site.paths().count("/1") == 2
    assert len(gaps) == 5
    assert min(gaps) >= LEAST


@on_each_loop
def test_without_a_delay_the_download_handler_repeats_as_ever(loop: str) -> None:
    site, _ = arrivals("User-agent: *\nAllow: /\n", loop, RETRY_ENABLED=False)
    assert site.paths() == ["/robots.txt", "/0", "/1", "/1", "/2", "/3"]


def test_without_retries_a_delayed_request_that_was_reset_has_failed() -> None:
    site, _ = arrivals(f"User-agent: *\nCrawl-delay: {DELAY / 10}\n", "asyncio", RETRY_ENABLED=False)
    assert site.paths() == ["/robots.txt", "/0", "/1", "/2", "/3"]


def test_a_delayed_request_has_a_connection_of_its_own_which_no_server_has_closed() -> None:
    site, _ = arrivals(f"User-agent: *\nCrawl-delay: {DELAY / 10}\n", "asyncio")
    assert {arrival.path: arrival.headers.get("connection") for arrival in site.log} == {
        "/robots.txt": None, "/0": "close", "/1": "close", "/2": "close", "/3": "close",
    }  # fmt: skip
