"""Each page request of a sitemap spider carries its entry, whatever the sitemap looks like."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy import signals

from tests.support.crawl import Crawl, crawl, on_each_loop
from tests.support.site import Answer, Site, redirect, robots, sitemap, sitemap_index

from .sitemap_shapes import SHAPES, Shape

with_each_spider = pytest.mark.parametrize("spider", ["Ours", "Scrapys"])


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(("127.0.0.1", "127.0.0.2")) as running:
        yield running


def crawl_sitemaps(
    site: Site, spider: str, settings: dict[str, Any] | None = None, loop: str = "asyncio", **more: Any
) -> Crawl:
    where = (
        {"sites": [site.origin]}
        if spider.startswith(("Ours", "Makes"))
        else {"sitemap_urls": [f"{site.origin}/robots.txt"]}
    )
    spider = f"tests.crawl.sitemap_spiders:{spider}"
    result = crawl(spider=spider, settings=settings, loop=loop, attributes={**where, **more})
    assert not result.tracebacks
    return result


def said(value: Any, folder: str, origin: str) -> Any:
    """What a shape is to say, with the URLs of the *folder* and the *origin* that it has here."""
    if isinstance(value, dict):
        return {name: said(each, folder, origin) for name, each in value.items()}
    if isinstance(value, list):
        return [said(each, folder, origin) for each in value]
    return value.replace("@", folder).replace("^", origin) if isinstance(value, str) else value


@on_each_loop
@with_each_spider
def test_sitemaps_of_every_shape_are_read(site: Site, spider: str, loop: str) -> None:
    folders = {f"{site.origin}/{number}/": shape for number, shape in enumerate(SHAPES)}
    for folder, shape in folders.items():
        headers = [*shape.headers, *([("Content-Type", shape.type)] if shape.type else [])]
        path = folder.removeprefix(site.origin) + shape.path
        site.answer(path, Answer(body=shape.octets(folder), headers=headers))
    lines = "".join(f"Sitemap: {folder}{shape.path}\n" for folder, shape in folders.items())
    site.answer("/robots.txt", robots(lines))
    result = crawl_sitemaps(site, f"{spider}TellsEntries", loop=loop)
    assert len(SHAPES) >= 40
    assert [
        shape.name for folder, shape in folders.items() if not is_read(shape, folder, site.origin, result)
    ] == []
    assert result.stats["rep/sitemap/invalid_count"] == 3


def is_read(shape: Shape, folder: str, origin: str, result: Crawl) -> bool:
    """Whether the pages in *shape*, and no others, were crawled, and their entries say what it says."""
    entries = {page.url.removeprefix(folder): page.tag for page in result.pages if page.url.startswith(folder)}
    return entries.keys() == shape.pages.keys() and all(
        entries[page] == {**entries[page], **said(expected, folder, origin), "sitemap": f"{folder}{shape.path}"}
        for page, expected in shape.pages.items()
    )


def test_a_spider_makes_the_request_of_an_entry_or_skips_it(site: Site) -> None:
    site.answer("/robots.txt", robots("Sitemap: /sitemap.xml\n"))
    dated = f"{site.origin}/a <lastmod>2026-05-01</lastmod>"
    site.answer("/sitemap.xml", sitemap(dated, f"{site.origin}/b <priority>0.0</priority>"))
    (page,) = crawl_sitemaps(site, "MakesRequests").pages
    assert (page.url, page.tag) == (f"{site.origin}/a", "2026-05-01T00:00:00+00:00")


def test_a_filter_may_change_an_entry_and_knows_what_the_request_will_tell(site: Site) -> None:
    site.answer("/robots.txt", robots("Sitemap: /sitemap.xml\n"))
    site.answer("/sitemap.xml", sitemap(f"{site.origin}/a <priority>0.5</priority>", f"{site.origin}/b"))
    (page,) = crawl_sitemaps(site, "OursFilters").pages
    assert (page.url, page.tag["loc"]) == (f"{site.origin}/a?print", f"{site.origin}/a")


@pytest.fixture
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scrapy_rep.crawl.sitemaps.reading.BATCH", 5)


@with_each_spider
@pytest.mark.usefixtures("_small_batches")
def test_a_large_sitemap_is_read_piece_by_piece_in_its_order(site: Site, spider: str) -> None:
    pages = [f"{site.origin}/{number}" for number in range(11)]
    site.answer("/robots.txt", robots("Sitemap: /s.xml\n"))
    site.answer("/s.xml", sitemap(*pages))
    result = crawl_sitemaps(site, spider, {"CONCURRENT_REQUESTS": 1})
    assert [{*result.urls[:5]}, {*result.urls[5:10]}, {*result.urls[10:]}] == [
        {*pages[:5]}, {*pages[5:10]}, {*pages[10:]}
    ]  # fmt: skip
    assert site.count("/s.xml") == 1
    assert result.stats["scheduler/enqueued"] == len(pages) + 4  # robots.txt, the sitemap, and twice for its rest


@with_each_spider
@pytest.mark.usefixtures("_small_batches")
def test_a_job_that_stops_within_a_sitemap_goes_on_there(site: Site, spider: str, tmp_path: Path) -> None:
    pages = [f"{site.origin}/{number}" for number in range(11)]
    site.answer("/robots.txt", robots("Sitemap: /s.xml\n"))
    site.answer("/s.xml", sitemap(*pages))
    settings = {"JOBDIR": str(tmp_path / "job"), "REP_STORE_PATH": str(tmp_path / "robots.sqlite")}
    first = crawl_sitemaps(site, spider, {**settings, "CLOSESPIDER_PAGECOUNT": 4, "CONCURRENT_REQUESTS": 1})
    second = crawl_sitemaps(site, spider, settings)
    assert 0 < len(first.urls) < 5
    assert second.stats["dupefilter/filtered"] == 1  # robots.txt, with which every run starts
    assert sorted(first.urls + second.urls) == sorted(pages)
    assert Counter(site.paths()) == {**{f"/{number}": 1 for number in range(11)}, "/robots.txt": 1, "/s.xml": 2}


@with_each_spider
@pytest.mark.usefixtures("_small_batches")
def test_in_scrapys_http_cache_a_large_sitemap_stays_whole(site: Site, spider: str, tmp_path: Path) -> None:
    site.answer("/robots.txt", robots("Sitemap: /s.xml\n"))
    site.answer("/s.xml", sitemap(*[f"{site.origin}/{number}" for number in range(11)]))
    settings = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path)}
    assert [len(crawl_sitemaps(site, spider, settings).urls) for _ in range(2)] == [11, 11]


@pytest.mark.usefixtures("_small_batches")
def test_a_job_that_stopped_within_a_sitemap_is_no_last_run_of_it(site: Site, tmp_path: Path) -> None:
    site.answer("/robots.txt", robots("Sitemap: /s.xml\n"))
    dates = "<lastmod>2020-01-01</lastmod>"
    site.answer("/s.xml", sitemap(*[f"{site.origin}/{number} {dates}" for number in range(11)]))
    store = {"REP_SITEMAP_SINCE": "last run", "REP_STORE_PATH": str(tmp_path / "robots.sqlite")}
    job = {**store, "JOBDIR": str(tmp_path / "job"), "CONCURRENT_REQUESTS": 1}
    crawl_sitemaps(site, "Ours", {**job, "CLOSESPIDER_PAGECOUNT": 4})
    assert crawl_sitemaps(site, "Ours", job).reason == "finished"
    assert [len(crawl_sitemaps(site, "Ours", store).urls) for _ in range(2)] == [11, 0]


def test_a_page_of_another_origin_counts_if_its_robots_txt_names_a_sitemap_that_led_there(site: Site) -> None:
    here, there = site.origins
    site.answer("/robots.txt", robots("Sitemap: /index.xml\n"), here)
    site.answer("/index.xml", sitemap_index(f"{here}/old.xml"), here)
    site.answer("/old.xml", redirect("/new.xml"), here)
    site.answer("/new.xml", sitemap(f"{here}/a", f"{there}/a", f"{there}/a"), here)
    named = {"/other.xml": False, "/new.xml": True, "/old.xml": True, "/index.xml": True}
    for path, counts in named.items():
        site.answer("/robots.txt", robots(f"Sitemap: {here}{path}\n"), there)
        result = crawl_sitemaps(site, "Ours")
        assert sorted(result.urls) == [f"{here}/a", *[f"{there}/a"] * counts], path
        assert result.stats.get("rep/sitemap/cross_submit_count", 0) == (0 if counts else 2)


@pytest.mark.parametrize("settings", [{"REP_OFFSITE_SITEMAPS": True}, {"ROBOTSTXT_OBEY": False}])
def test_any_sitemap_counts_where_the_owner_of_the_crawl_says_so(site: Site, settings: dict[str, Any]) -> None:
    here, there = site.origins
    site.answer("/robots.txt", robots("Sitemap: /sitemap.xml\n"), here)
    site.answer("/sitemap.xml", sitemap(f"{there}/a"), here)
    assert crawl_sitemaps(site, "Ours", settings).urls == [f"{there}/a"]


if_signalled = pytest.mark.skipif(not hasattr(signals, "robots_parsed"), reason="no signal robots_parsed")


@pytest.mark.parametrize("spider", ["Ours", "Scrapys", pytest.param("FedBySignal", marks=if_signalled)])
def test_a_sitemap_that_robots_txt_the_spider_and_an_index_name_is_fetched_once(site: Site, spider: str) -> None:
    site.answer("/robots.txt", robots("Sitemap: /index.xml\nSitemap: /a.xml\n"))
    site.answer("/index.xml", sitemap_index(f"{site.origin}/a.xml"))
    site.answer("/a.xml", sitemap(f"{site.origin}/a"))
    urls = [f"{site.origin}/robots.txt", f"{site.origin}/a.xml"]
    crawl_sitemaps(site, spider, sitemap_urls=urls)
    assert Counter(site.paths()) == {"/robots.txt": 1, "/index.xml": 1, "/a.xml": 1, "/a": 1}


@if_signalled
def test_a_signal_alone_may_feed_a_spider(site: Site) -> None:
    site.answer("/robots.txt", robots(f"Sitemap: {site.origin}/a.xml\n"))
    site.answer("/a.xml", sitemap(f"{site.origin}/a"))
    crawl_sitemaps(site, "FedBySignal", sitemap_urls=[], first_pages=[f"{site.origin}/start"])
    assert Counter(site.paths()) == {"/robots.txt": 1, "/start": 1, "/a.xml": 1, "/a": 1}


@pytest.mark.parametrize(("spider", "tells"), [("OwnBody", "entry"), ("OwnParser", "own")])
def test_a_spider_may_read_its_sitemaps_in_its_own_way(site: Site, spider: str, tells: str) -> None:
    url = f"{site.origin}/sitemap.xml"
    body = sitemap("[page]?a" if spider == "OwnBody" else f"{url}?a").body
    headers = [("Content-Encoding", "gzip"), ("Content-Type", "application/xml")]
    site.answer("/sitemap.xml", Answer(body=gzip.compress(body), headers=headers))
    (page,) = crawl_sitemaps(site, spider, sitemap_urls=[url]).pages
    assert page.url == f"{url}?a"
    assert page.tag == "own" if tells == "own" else page.tag["loc"] == page.url
