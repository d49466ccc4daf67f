"""Waiting in the scheduler's queue, in real crawls: order, ends, what holds up what, and who keeps a delay."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import chain, pairwise
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import pytest

from scrapy_rep.crawl.pacing.disk_queue import Journal
from tests.crawl.queue_spiders import Keeps
from tests.support.crawl import crawl, crawl_until, on_each_loop
from tests.support.in_process import crawler_at_rest
from tests.support.site import Answer, Site, hang, robots

PAGES = [f"/page/{number}" for number in range(20)]
SPIDERS = "tests.crawl.queue_spiders"
ALLOW = "User-agent: *\nAllow: /\n"
DISK_QUEUES = ("SCHEDULER_DISK_QUEUE", "SCHEDULER_START_DISK_QUEUE")
RECOVERABLE = dict(
    zip(DISK_QUEUES, ("scrapy_rep.RecoverableLifoDiskQueue", "scrapy_rep.RecoverableFifoDiskQueue"), strict=True)
)
APART = True
"""In a process of its own: of a request that is cancelled Scrapy keeps the transfer until its time-out."""


def pages(site: Site, origin: str | None = None) -> list[str]:
    return [path for path in site.paths(origin) if path != "/robots.txt"]


def gaps(site: Site, origin: str | None = None) -> list[float]:
    """Seconds between the pages of *origin*; a busy machine makes their sum more, not less."""
    times = [a.time for a in site.log if a.path != "/robots.txt" and origin in {None, a.origin}]
    return [after - before for before, after in pairwise(times)]


def filtered(urls: Iterable[str]) -> list[dict[str, Any]]:
    """Requests that Scrapy's filter of duplicates sees."""
    return [{"url": url, "dont_filter": False} for url in urls]


@on_each_loop
def test_behind_the_first_robots_txt_the_order_is_that_of_scrapys_queue(loop: str) -> None:
    orders = []
    without_addon: dict[str, Any] = {"ADDONS": {}}
    for settings in ({}, without_addon):
        with Site() as site:
            site.answer("/robots.txt", robots(ALLOW, delay=0.2))
            crawl(
                site.origin, loop=loop, spider=f"{SPIDERS}:Prioritized",
                settings={"CONCURRENT_REQUESTS": 1, **settings},
            )  # fmt: skip
            orders.append(pages(site))
    assert orders[0] == orders[1]
    assert len(orders[0]) == 7


@pytest.mark.parametrize("what", ["robots.txt", "further attempts", "a delay"])
@on_each_loop
def test_a_crawl_that_closes_waits_for_nothing_and_a_job_goes_on(loop: str, what: str, tmp_path: Path) -> None:
    answers = {
        "robots.txt": hang(),
        "further attempts": Answer(503),
        "a delay": robots("User-agent: *\nCrawl-delay: 300\n"),
    }
    with Site([f"127.0.41.{number}" for number in range(1, 6)]) as site:
        healthy = site.origins[0]
        site.answer("/robots.txt", answers[what])
        site.answer("/robots.txt", robots(ALLOW), healthy)
        requests = filtered(origin + path for origin in site.origins for path in PAGES[:3])
        settings = {"JOBDIR": str(tmp_path), "REP_TIMEOUT": 60.0, "REP_UNREACHABLE_WAIT": 120.0}
        closing = {**settings, "CLOSESPIDER_TIMEOUT": 0.5}
        first = crawl(*requests, loop=loop, settings=closing, apart=APART if what == "robots.txt" else False)
        site.answer("/robots.txt", robots(ALLOW))
        second = crawl(*requests, loop=loop, settings=settings)
    assert first.reason == "closespider_timeout"
    assert first.seconds < 20  # of the minutes for which the others wait
    assert all(url.startswith(healthy) for url in first.urls)
    assert first.failures == second.failures == []
    assert sorted(first.urls + second.urls) == sorted(request["url"] for request in requests)


def test_a_crawl_with_another_scheduler_that_asked_first_waits_for_no_robots_txt_when_it_closes() -> None:
    with Site() as site:
        site.answer("/robots.txt", hang())
        settings = {"SCHEDULER": f"{SPIDERS}.AsksFirst", "REP_TIMEOUT": 40.0, "CLOSESPIDER_TIMEOUT": 0.5}
        result = crawl(*(site.origin + path for path in PAGES[:3]), settings=settings, timeout=60.0, apart=APART)
    assert result.seconds < 20  # of the 40 for which it hangs


def test_ctrl_c_ends_a_crawl_that_only_waits_for_a_delay() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 300\n"))

        def waits() -> bool:
            return bool(site.log) and monotonic() > site.log[0].time + 0.3

        result = crawl(*(site.origin + path for path in PAGES), interrupt_when=waits, timeout=40.0)
    assert (result.reason, result.failures) == ("shutdown", [])


def test_hundreds_of_forbidden_urls_take_no_hundreds_of_delays() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.3\nDisallow: /private\n"))
        result = crawl(*(f"{site.origin}/private/{number}" for number in range(400)), timeout=50.0)
    assert len(result.failures) == 400


def test_a_crawl_delay_that_is_longer_than_robots_txt_counts_does_not_keep_every_page_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("scrapy_rep.crawl.pacing.priority_queue._GRACE", 0.25)
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.3\n"))
        settings = {"REP_MIN_TTL": 0.1, "REP_MAX_TTL": 0.1, "CLOSESPIDER_TIMEOUT": 30}
        result = crawl(*(site.origin + path for path in PAGES[:2]), settings=settings)
    assert (result.reason, len(result.pages)) == ("finished", 2)


def test_answers_from_scrapys_cache_take_no_delay(tmp_path: Path) -> None:
    settings = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path)}
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.02\n"))
        urls = [site.origin + path for path in PAGES]
        crawl(*urls, settings=settings)
        for file in tmp_path.rglob("response_body"):
            file.write_bytes(file.read_bytes().replace(b"0.02", b"30.0"))
        again = crawl(*urls, settings=settings, timeout=40.0)
    assert len(again.pages) == len(urls)


# With the other pattern a URL is read whenever nothing can go.
@pytest.mark.parametrize(("pattern", "least"), [("needs_backout", 150), ("scheduler_empty", 5)])
def test_a_lazy_start_does_not_read_on_while_a_hundred_hosts_hang(pattern: str, least: int) -> None:
    with Site([f"127.0.42.{number}" for number in range(1, 101)]) as site:
        site.answer("/robots.txt", hang())
        attributes = {"pattern": pattern, "many": 20_000, "least": least}
        settings = {"REP_TIMEOUT": 30.0, "REP_MAX_WAITING": 150}
        result = crawl(
            *site.origins, spider=f"{SPIDERS}:Lazy", attributes=attributes, settings=settings, apart=APART
        )
    assert least <= result.stats["read"] <= 170


@pytest.mark.parametrize("pattern", ["needs_backout", "scheduler_empty"])
def test_a_lazy_start_is_read_to_its_end(pattern: str) -> None:
    with Site([f"127.0.42.{number}" for number in range(1, 21)]) as site:
        site.answer("/robots.txt", robots(ALLOW))
        attributes, settings = {"pattern": pattern, "many": 100}, {"REP_MAX_WAITING": 5}
        result = crawl(*site.origins, spider=f"{SPIDERS}:Lazy", attributes=attributes, settings=settings)
    assert (result.stats["read"], len(result.pages)) == (100, 100)


def test_of_two_ports_in_one_download_slot_one_that_hangs_does_not_hold_up_the_other() -> None:
    with Site(ports=2) as site:
        hanging, healthy = site.origins
        site.answer("/robots.txt", robots(ALLOW, when=lambda: len(pages(site, healthy)) == len(PAGES)), hanging)
        site.answer("/robots.txt", robots(ALLOW), healthy)
        urls = [origin + path for path in PAGES for origin in site.origins]
        result = crawl(*urls, settings={"REP_TIMEOUT": 20.0, "REP_RETRY_TIMES": 0})
    assert result.failures == []
    assert len(result.pages) == 2 * len(PAGES)


@on_each_loop
def test_a_request_that_a_rendering_service_makes_anew_keeps_the_pace_of_its_site(loop: str) -> None:
    with Site(["127.0.0.1", "127.0.43.1"]) as site:
        asked, service = site.origins
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.2\n"), asked)
        settings = {
            "DOWNLOADER_MIDDLEWARES": {f"{SPIDERS}:UsesService".replace(":", "."): 600},
            "SERVICE": service,
        }
        result = crawl(*(asked + path for path in PAGES[:6]), settings=settings, loop=loop)
        assert site.paths(asked) == ["/robots.txt"]
        assert len(pages(site, service)) == len(result.pages) == 6
        assert sum(gaps(site, service)) > 0.88


def test_a_job_that_scrapys_queue_began_goes_on_with_ours(tmp_path: Path) -> None:
    settings = {"JOBDIR": str(tmp_path)}
    with Site(["127.0.0.1", "127.0.44.1"], ports=2) as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /page/7\n"))
        site.answer("*", Answer(delay=0.05))
        requests = filtered(origin + path for path in PAGES[:10] for origin in site.origins)
        first = crawl(*requests, settings={**settings, "ADDONS": {}, "CLOSESPIDER_PAGECOUNT": 9})
        left = json.loads((tmp_path / "requests.queue" / "active.json").read_text())
        second = crawl(*requests, settings=settings)
    assert isinstance(left, dict)
    allowed = [request["url"] for request in requests if not request["url"].endswith("/7")]
    fetched = first.urls + second.urls
    assert len(fetched) == len(set(fetched))
    assert set(allowed) <= set(fetched)
    assert any("only scrapy_rep.RepPriorityQueue can resume" in line for line in second.lines("INFO"))


def test_a_job_that_goes_on_without_obeying_fetches_no_robots_txt(tmp_path: Path) -> None:
    settings = {"JOBDIR": str(tmp_path)}
    with Site() as site:
        site.answer("/robots.txt", robots(ALLOW))
        site.answer("*", Answer(delay=0.05))
        requests = filtered(site.origin + path for path in PAGES)
        first = crawl(*requests, settings={**settings, "CLOSESPIDER_PAGECOUNT": 3})
        second = crawl(*requests, settings={**settings, "ROBOTSTXT_OBEY": False})
        assert site.count("/robots.txt") == 1
    assert second.pages
    assert len(first.pages) + len(second.pages) == len(PAGES)


@on_each_loop
def test_a_job_that_goes_on_fetches_nothing_before_the_middlewares_know_the_spider(
    loop: str, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {"JOBDIR": str(tmp_path / "job"), "REP_MAX_WAITING": 3}
    cache = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path / "cache")}  # opened with the spider
    slow = {"ITEM_PIPELINES": {f"{SPIDERS}.OpensSlowly": 1}}
    with Site() as site:
        site.answer("/robots.txt", hang())
        requests = filtered(site.origin + path for path in PAGES)
        crawl(*requests, settings={**settings, "CLOSESPIDER_TIMEOUT": 0.5}, loop=loop, apart=APART)
        site.answer("/robots.txt", robots(ALLOW))
        result = crawl(*requests, settings={**settings, **cache, **slow}, loop=loop)
    assert result.tracebacks == []
    assert len(result.pages) == len(requests)


def test_the_queue_works_alone() -> None:
    with Site(["127.0.0.1", "127.0.45.1"]) as site:
        settings = {"ADDONS": {}, "SCHEDULER_PRIORITY_QUEUE": "scrapy_rep.RepPriorityQueue"}
        result = crawl(*(origin + path for path in PAGES for origin in site.origins), settings=settings)
        assert len(result.pages) == 40
        assert site.count("/robots.txt") == 0


def test_a_project_without_our_middleware_is_left_scrapys_own() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private\n"))
        settings = {"DOWNLOADER_MIDDLEWARES": {"scrapy_rep.RepMiddleware": None}}
        result = crawl(site.origin + "/private", site.origin + "/open", settings=settings)
        assert sorted(site.paths()) == ["/open", "/robots.txt"]
    assert any("so Scrapy's own middleware handles robots.txt" in line for line in result.lines("WARNING"))


def test_a_concurrency_per_ip_ends_the_crawl_in_words_of_ours() -> None:
    result = crawl("http://127.0.0.1:9/", settings={"CONCURRENT_REQUESTS_PER_IP": 2})
    assert result.pages == []
    assert "CONCURRENT_REQUESTS_PER_IP does not work with scrapy_rep.RepPriorityQueue" in (
        result.stderr + "".join(line.message + line.traceback for line in result.log)
    )


@pytest.mark.parametrize("store", ["shared", "none"])
def test_several_crawlers_in_one_process_keep_one_delay_by_their_store(store: str, tmp_path: Path) -> None:
    """Without a store that both can see each keeps a delay of its own, and one falls between two of the other."""
    path = str(tmp_path / "robots.sqlite")
    settings = {"REP_STORE_PATH": path} if store == "shared" else {"REP_STORE": "memory"}
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.2\n"))
        urls = [site.origin + path for path in PAGES[:5]]
        crawl(*urls, settings=settings, spider=f"{SPIDERS}:Doubled")
        assert len(pages(site)) == 10
    assert sum(gaps(site)) > 1.7 if store == "shared" else min(gaps(site)) < 0.15


@pytest.mark.parametrize("seen", [1, 9, *(pytest.param(seen, marks=pytest.mark.full) for seen in (20, 70))])
def test_stopped_at_any_moment_a_job_makes_every_request_once(seen: int, tmp_path: Path) -> None:
    """Before the first robots.txt has come, at the first page, amid the pages, and near their end."""
    with Site([f"127.0.46.{number}" for number in range(1, 9)]) as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.05\n", delay=0.2))
        site.answer("*", Answer(delay=0.02))
        requests = filtered(origin + path for path in PAGES[:10] for origin in site.origins)
        settings: dict[str, Any] = {"JOBDIR": str(tmp_path)}
        first = crawl(*requests, settings=settings, interrupt_when=lambda: len(site.log) >= seen)
        second = crawl(*requests, settings=settings)
    assert sorted(first.urls + second.urls) == sorted(request["url"] for request in requests)


def test_a_job_that_goes_on_keeps_the_order_of_requests_that_waited_for_a_robots_txt(tmp_path: Path) -> None:
    settings = {"JOBDIR": str(tmp_path), "CONCURRENT_REQUESTS": 1}
    with Site() as site:
        site.answer("/robots.txt", hang())
        requests = filtered(site.origin + path for path in PAGES)
        for _ in range(2):
            crawl(*requests, settings={**settings, "CLOSESPIDER_TIMEOUT": 1}, apart=APART)
        site.answer("/robots.txt", robots(ALLOW))
        crawl(*requests, settings=settings)
        assert pages(site) == PAGES


def test_requests_for_which_the_disk_has_no_room_are_kept_in_memory_and_counted_once(tmp_path: Path) -> None:
    full = dict.fromkeys(DISK_QUEUES, f"{SPIDERS}.FullDisk")
    with Site() as site:
        site.answer("/robots.txt", robots(ALLOW, delay=0.5))
        result = crawl(*(site.origin + path for path in PAGES), settings={"JOBDIR": str(tmp_path), **full})
        assert sorted(pages(site)) == sorted(PAGES)
    (error,) = result.lines("ERROR")
    refused = result.stats["scheduler/unserializable"]
    assert f"No space left on device): {refused} requests could not be stored and were kept in memory" in error
    assert error.endswith("; 0 requests are lost")


def test_an_empty_queue_that_cannot_end_on_a_full_disk_does_not_end_the_crawl(tmp_path: Path) -> None:
    cannot_end = dict.fromkeys(DISK_QUEUES, f"{SPIDERS}.CannotEnd")
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        urls = [origin + path for path in PAGES[:3] for origin in site.origins]
        result = crawl(*urls, settings={"JOBDIR": str(tmp_path), **cannot_end})
    assert sorted(result.urls) == sorted(urls)
    assert result.tracebacks == []


@pytest.mark.parametrize("seen", [(1, 3), (30, 60), pytest.param((90, 130), marks=pytest.mark.full)])
def test_killed_at_any_moment_a_job_makes_every_request(seen: tuple[int, int], tmp_path: Path) -> None:
    """Before the first robots.txt has come, and amid the pages; once more while it goes on, then to the end."""
    settings: dict[str, Any] = {"JOBDIR": str(tmp_path), **RECOVERABLE}
    tree = f"{SPIDERS}:Tree"
    with Site([f"127.0.47.{number}" for number in range(1, 5)]) as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.02\n", delay=0.2))
        requests = filtered(origin + path for path in PAGES[:2] for origin in site.origins)
        for arrivals in seen:
            crawl_until(lambda many=arrivals: len(site.log) >= many, *requests, settings=settings, spider=tree)  # type: ignore[misc]
        result = crawl(*requests, settings=settings, spider=tree)
        made = [origin + path for origin in site.origins for path in pages(site, origin)]
    assert (result.reason, result.failures, result.lines("ERROR")) == ("finished", [], [])
    assert len({*made}) == len(requests) * (1 + 4 + 16)
    assert len(made) - len({*made}) <= 2 * 32  # what was with the downloader, or in a callback, at each kill
    assert {path.name for path in tmp_path.glob("requests.*")} == {"requests.queue", "requests.seen"}


def test_killed_and_continued_with_other_settings_a_job_makes_every_request(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"JOBDIR": str(tmp_path), **RECOVERABLE}
    with Site(["127.0.0.1", "127.0.48.1"]) as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.05\n"))
        requests = filtered(origin + path for path in PAGES for origin in site.origins)
        crawl_until(lambda: len(site.log) > 15, *requests, settings=settings)
        result = crawl(*requests, settings={**settings, "ROBOTSTXT_OBEY": False})
        made = {origin + path for origin in site.origins for path in pages(site, origin)}
    assert (result.reason, result.lines("ERROR")) == ("finished", [])
    assert made == {request["url"] for request in requests}


def test_a_job_that_was_stopped_goes_on_without_a_request_made_twice_in_a_recoverable_queue(
    tmp_path: Path,
) -> None:
    settings: dict[str, Any] = {"JOBDIR": str(tmp_path), **RECOVERABLE}
    tree = f"{SPIDERS}:Tree"
    with Site(["127.0.0.1", "127.0.48.2"]) as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.02\n"))
        site.answer("*", Answer(delay=0.02))
        requests = filtered(origin + path for path in PAGES[:2] for origin in site.origins)
        crawl(*requests, settings=settings, spider=tree, interrupt_when=lambda: len(site.log) > 20)
        crawl(*requests, settings=settings, spider=tree)
        made = [origin + path for origin in site.origins for path in pages(site, origin)]
    assert len(made) == len(set(made)) == len(requests) * (1 + 4 + 16)


def test_a_job_that_scrapys_queue_began_is_refused_by_a_recoverable_one(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"JOBDIR": str(tmp_path)}
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 9\n"))
        requests = filtered(site.origin + path for path in PAGES)
        crawl(*requests, settings={**settings, "CLOSESPIDER_TIMEOUT": 0.5})
        result = crawl(*requests, settings={**settings, **RECOVERABLE}, apart=APART)  # Scrapy leaves a file open
    assert result.pages == []
    told = result.stderr + "".join(line.message + line.traceback for line in result.log)
    assert "were stored by another SCHEDULER_DISK_QUEUE: set the one that it began with" in told


def test_a_job_that_a_recoverable_queue_began_is_refused_by_scrapys(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"JOBDIR": str(tmp_path)}
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 9\n"))
        requests = filtered(site.origin + path for path in PAGES)
        crawl(*requests, settings={**settings, **RECOVERABLE, "CLOSESPIDER_TIMEOUT": 0.5})
        result = crawl(*requests, settings=settings, apart=APART)
    assert result.pages == []
    told = result.stderr + "".join(line.message + line.traceback for line in result.log)
    assert "were stored by another SCHEDULER_DISK_QUEUE: set the one that it began with" in told


def test_after_a_kill_a_page_that_the_spider_kept_is_not_made_again(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"JOBDIR": str(tmp_path), "CONCURRENT_REQUESTS": 1, **RECOVERABLE}
    with Site() as site:
        site.answer("/robots.txt", robots(ALLOW))
        site.answer("*", Answer(delay=0.1))  # Scrapy 2.14 takes a tenth of a second to end a request
        requests = filtered(site.origin + path for path in PAGES)
        crawl_until(lambda: len(site.log) > 15, *requests, settings=settings, spider=f"{SPIDERS}:Keeps")
        made = pages(site)
    journal = Journal(crawler_at_rest({}, Keeps), tmp_path / "requests.journal")
    begins = chain.from_iterable(journal.waiting.values())
    left = {urlsplit(journal.hand_out(begin).url).path for begin in begins}
    journal.close()
    assert len(made) >= 15
    assert len(left & {*made}) <= 3
