"""Which download slot a request uses whose meta came from another one, and what holds between several."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import Crawl, crawl, on_each_loop
from tests.support.redis_server import RedisServer
from tests.support.site import Answer, Site, redirect, robots, sequence

DELAY = 0.2
LEAST = DELAY - 0.001  # what rounding takes
PACED = robots(f"User-agent: *\nCrawl-delay: {DELAY}\n")
COPIES = "tests.crawl.queue_spiders:CopiesMeta"
SLOTS = "tests.crawl.middlewares.RotatesSlots"


@pytest.fixture
def site() -> Iterator[Site]:
    """Three sites; the last one asks for a delay."""
    with Site([f"127.0.0.{number}" for number in range(1, 4)]) as site:
        site.answer("/robots.txt", PACED, site.origins[-1])
        yield site


def copies(site: Site, *, starts: Any = None, **kwargs: Any) -> Crawl:
    """A crawl of the others, whose pages each lead to three of the last one with their own meta."""
    starts = starts or [f"{origin}/" for origin in site.origins[:-1]]
    return crawl(*starts, spider=COPIES, attributes={"target": site.origins[-1]}, **kwargs)


def of_page(number: int) -> dict[str, str]:
    return {"download_slot": "ab"[number % 2]}


def in_two_slots(site: Site, **kwargs: Any) -> Crawl:
    """A crawl of six pages of the last one in two download slots of the project."""
    requests = ({"url": f"{site.origins[-1]}/{number}", "meta": of_page(number)} for number in range(6))
    return crawl(*requests, **kwargs)


@on_each_loop
def test_requests_with_the_meta_of_other_pages_keep_the_delay_of_their_site(site: Site, loop: str) -> None:
    result = copies(site, loop=loop)
    assert len(result.gaps(site.origins[-1])) == 6
    assert min(result.gaps(site.origins[-1])) >= LEAST
    assert {page.tag for page in result.pages} == {"127.0.0.1", "127.0.0.2", "127.0.0.3"}


def test_they_leave_the_slot_of_a_site_that_asks_for_a_delay_itself(site: Site) -> None:
    site.answer("/robots.txt", PACED)
    result = copies(site)
    assert [page.tag for page in result.pages[2:]] == ["127.0.0.3"] * 6
    assert min(result.gaps(site.origins[-1])) >= LEAST


def test_the_meta_of_a_page_without_a_host_names_no_download_slot(site: Site) -> None:
    result = copies(site, starts=["data:,one", "data:,two"])
    assert [page.tag for page in result.pages] == ["", "", *["127.0.0.3"] * 6]


def test_a_copied_slot_that_the_project_chose_stays(site: Site) -> None:
    starts = [{"url": f"{origin}/", "meta": {"download_slot": "mine"}} for origin in site.origins[:-1]]
    result = copies(site, starts=starts)
    assert {page.tag for page in result.pages} == {"mine"}
    assert min(result.gaps(site.origins[-1])) >= LEAST


def test_a_slot_of_download_slots_that_looks_like_a_host_stays(site: Site) -> None:
    request = {"url": f"{site.origins[-1]}/", "meta": {"download_slot": "127.0.0.9"}}
    result = crawl(request, spider=COPIES, settings={"DOWNLOAD_SLOTS": {"127.0.0.9": {"concurrency": 1}}})
    assert [page.tag for page in result.pages] == ["127.0.0.9"]


@on_each_loop
def test_the_delay_of_one_origin_holds_between_two_download_slots(site: Site, loop: str) -> None:
    result = in_two_slots(site, loop=loop)
    assert len(result.gaps()) == 6
    assert min(result.gaps()) >= LEAST
    assert {start.delay for start in result.starts[1:]} == {result.starts[1].delay}


def test_it_holds_between_slots_that_a_middleware_behind_the_gate_chose(site: Site) -> None:
    urls = [f"{site.origins[-1]}/{number}" for number in range(6)]
    result = crawl(*urls, settings={"DOWNLOADER_MIDDLEWARES": {SLOTS: 610}})
    assert len(result.gaps()) == 6
    assert min(result.gaps()) >= LEAST


def test_it_holds_between_two_slots_through_redirects_and_retries(site: Site) -> None:
    for number in range(6):
        again = redirect(f"/{number}/there") if number % 3 else Answer(503)
        site.answer(f"/{number}", sequence(again, Answer()))
    result = in_two_slots(site)
    assert len(result.gaps()) == 12
    assert min(result.gaps()) >= LEAST


def test_it_holds_between_two_slots_of_a_resumed_crawl(site: Site, tmp_path: Path) -> None:
    settings = {"JOBDIR": str(tmp_path)}
    first = in_two_slots(site, settings={**settings, "CLOSESPIDER_PAGECOUNT": 2})
    second = crawl(settings=settings)
    assert len(first.pages) + len(second.pages) == 6
    assert min(first.gaps() + second.gaps()) >= LEAST


def test_two_slots_of_one_origin_share_the_permits_of_a_fleet(site: Site, redis_server: RedisServer) -> None:
    result = in_two_slots(site, settings={"REP_REDIS_URL": redis_server.url, "REP_STORE": "memory"})
    assert len(result.gaps()) == 6
    assert min(result.gaps()) >= LEAST
    assert "rep/rate_limiter/expired_count" not in result.stats


def test_a_scheduler_of_another_kind_keeps_the_delay_with_copied_meta(site: Site) -> None:
    scheduler = {"SCHEDULER": "tests.crawl.queue_spiders.AsksFirst"}
    result = copies(site, settings=scheduler)
    assert len(result.pages) == 8
    assert min(result.gaps(site.origins[-1])) >= LEAST
