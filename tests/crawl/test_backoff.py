"""Sites that ask to slow down, and real crawls that do: what the server sees."""

from __future__ import annotations

import re
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import Any

import pytest

from tests.support.crawl import Crawl, crawl, on_each_download_handler, on_each_loop
from tests.support.redis_server import RedisServer
from tests.support.site import Answer, Arrival, Site, reset, robots

MEMORY: dict[str, Any] = {"REP_STORE": "memory"}
ALL = robots("User-agent: *\nDisallow: /private\n")
PAGE = Answer(body=b"page", delay=0.02)
PAGES = 16


class Busy:
    """Answers so for *seconds* from the first request on, and well after that."""

    def __init__(self, answer: Answer, seconds: float = 0.4) -> None:
        self._answer, self._seconds = answer, seconds
        self._lock, self.began = Lock(), 0.0

    def __call__(self, arrival: Arrival) -> Answer:
        with self._lock:
            self.began = self.began or arrival.time
        return self._answer if arrival.time < self.began + self._seconds else PAGE


def too_many(*headers: tuple[str, str], status: int = 429, delay: float = 0.05) -> Answer:
    return Answer(status, headers=headers, delay=delay)


def pages(site: Site, number: int = PAGES, origin: int = 0) -> list[str]:
    return [f"{site.origins[origin]}/{page}" for page in range(number)]


def times(site: Site, origin: int = 0) -> list[float]:
    """When the requests for pages came, in seconds from the first one on."""
    found = [each.time for each in site.log if each.path != "/robots.txt" and each.origin == site.origins[origin]]
    return [time - found[0] for time in found]


def later(site: Site) -> list[float]:
    """When those came that were not part of the first burst."""
    return [time for time in times(site) if time > 0.5]


def events(result: Crawl) -> int:
    return int(result.stats.get("rep/backoff/event_count", 0))


@on_each_loop
def test_a_burst_of_429_is_one_event_and_retry_after_is_kept(loop: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", ALL)
        site.answer("*", Busy(too_many(("Retry-After", "1"))))
        result = crawl(*pages(site), settings=MEMORY, loop=loop)
        arrived = times(site)
    assert len(result.pages) == PAGES
    assert [time for time in arrived if time <= 0.5] == arrived[:8]
    assert arrived[8] >= 1.05
    assert events(result) == result.stats["rep/backoff/slot_count"] == 1
    assert result.stats["rep/backoff/reason_count/429"] == 1
    assert result.stats["retry/count"] == 8  # as Scrapy counts


def test_it_is_said_once_and_summed_up() -> None:
    with Site() as site:
        site.answer("/robots.txt", ALL)
        site.answer("*", Busy(too_many(("Retry-After", "1"))))
        result = crawl(*pages(site), settings=MEMORY)
    (line,) = [line for line in result.lines("INFO", "scrapy_rep.crawl.runtime.log") if "slow down" in line]
    assert line.startswith("127.0.0.1 asks to slow down (HTTP status 429): no requests for 1.0 s")
    (line,) = [line for line in result.lines("INFO", "scrapy_rep.extras.backoff") if "slow down" in line]
    assert line == "1 host asked to slow down, or failed repeatedly; most often 127.0.0.1 1 time."


@pytest.mark.parametrize("settings", [{"REP_BACKOFF": False}, {"ADDONS": {}}], ids=["switched off", "Scrapy"])
def test_without_back_off_the_retry_comes_at_once(settings: dict[str, Any]) -> None:
    with Site() as site:
        site.answer("/robots.txt", ALL)
        site.answer("*", Busy(too_many(("Retry-After", "1"))))
        crawl(*pages(site), settings={**MEMORY, **settings} if "ADDONS" not in settings else settings)
        assert len([time for time in times(site) if time < 0.5]) > 8


@pytest.mark.parametrize(
    "settings",
    [
        {"ROBOTSTXT_OBEY": False},
        {"REP_CRAWL_DELAY": "ignore"},
        {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue"},
        {"AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0.01},
        {"DOWNLOADER_MIDDLEWARES": {"scrapy_rep.RepMiddleware": None}},
    ],
    ids=str,
)
def test_retry_after_is_kept_whatever_else_is_set(settings: dict[str, Any]) -> None:
    with Site() as site:
        site.answer("/robots.txt", ALL)
        site.answer("*", Busy(too_many(("Retry-After", "1"))))
        result = crawl(*pages(site), settings={**MEMORY, **settings})
        assert later(site)[0] >= 1.05
        assert len(later(site)) >= 8
        assert len(times(site)) <= 2 * PAGES  # Scrapy's own queue starts all 16 in one turn of the event loop
    assert len(result.pages) == PAGES
    assert events(result) == 1


@on_each_download_handler
@pytest.mark.parametrize(
    "answer",
    [too_many(status=500), too_many(status=502), too_many(status=522), reset()],
    ids=lambda one: one.status,
)
def test_an_error_counts_when_it_repeats(answer: Answer, loop: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", ALL)
        site.answer("*", Busy(answer, 0.5))
        settings = {**MEMORY, "RETRY_HTTP_CODES": [500, 502, 522], "RETRY_TIMES": 9}
        result = crawl(*pages(site), settings=settings, loop=loop)
        arrived = times(site)
    assert len(result.pages) == PAGES
    assert [time for time in arrived if 0.5 < time < 1.0] == []
    assert events(result) == 1


@pytest.mark.parametrize("broken", [["/3"], ["/39"], ["/0"], ["/3", "/13", "/23", "/33"]], ids=str)
@pytest.mark.parametrize("answer", [too_many(status=500, delay=0.0), reset()], ids=["500", "reset"])
def test_broken_pages_among_good_ones_slow_nothing_down(broken: list[str], answer: Answer) -> None:
    with Site() as site:
        site.answer("/robots.txt", ALL)
        site.answer("*", PAGE)
        for path in broken:
            site.answer(path, answer)
        result = crawl(*pages(site, 40), settings={**MEMORY, "CONCURRENT_REQUESTS": 2})
    assert len(result.pages) + len(result.failures) == 40
    assert events(result) == 0


def test_a_page_that_is_always_busy_ends_no_recovery() -> None:
    with Site() as site:
        site.answer("/robots.txt", ALL)
        site.answer("*", PAGE)
        site.answer("/30", too_many(status=503, delay=0.0))
        result = crawl(*pages(site, 60), settings=MEMORY)
    assert len(result.pages) == 59
    assert result.stats["retry/count"] == 2
    assert events(result) == 1


def test_missing_local_files_ask_for_nothing(tmp_path: Path) -> None:
    urls = [(tmp_path / f"{number}.txt").as_uri() for number in range(4)]
    result = crawl(*urls, settings={**MEMORY, "RETRY_TIMES": 1})
    assert len(result.failures) == 4
    assert events(result) == 0


@pytest.mark.parametrize("delay", [0.0, 0.5], ids=["in the middleware", "also inside the download slot"])
@on_each_download_handler
def test_what_does_not_come_from_the_queue_waits_beside_other_hosts_and_ends_with_the_crawl(
    loop: str, delay: float
) -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        site.answer("/robots.txt", ALL)
        site.answer("*", PAGE)
        site.answer("/busy", too_many(("Retry-After", "60"), delay=delay))
        result = crawl(
            *pages(site, 60),
            spider="tests.crawl.spiders:DownloadsForEachPage",
            attributes={"url": f"{site.origins[1]}/busy"},
            settings={**MEMORY, "CLOSESPIDER_TIMEOUT": 3, "RETRY_ENABLED": False},
            loop=loop,
        )
        assert len(times(site)) == 60
        assert times(site)[-1] < 3
        assert site.count("/busy") <= 16
    assert result.reason == "closespider_timeout"
    assert result.seconds < 10


@pytest.mark.parametrize("status", [403, 404, 401, 501])
def test_other_statuses_ask_for_nothing(status: int) -> None:
    with Site() as site:
        site.answer("/robots.txt", ALL)
        site.answer("*", Answer(status, headers=[("Retry-After", "5")]))
        result = crawl(*pages(site), settings=MEMORY)
    assert events(result) == 0
    assert result.seconds < 4


def test_an_answer_of_scrapys_http_cache_counts_for_nothing(tmp_path: Path) -> None:
    cache = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path), "HTTPCACHE_IGNORE_HTTP_CODES": []}
    settings = {**MEMORY, **cache, "RETRY_ENABLED": False}
    with Site() as site:
        site.answer("/robots.txt", ALL)
        site.answer("*", too_many(("Retry-After", "5")))
        first, second = (crawl(*pages(site, 4), settings=settings) for _ in range(2))
        assert len(times(site)) == 4
    assert (events(first), events(second)) == (1, 0)
    assert second.seconds < 4


@pytest.mark.parametrize(
    ("status", "headers", "counts"),
    [
        (502, [], False),
        (504, [], False),
        (407, [("Retry-After", "1")], False),
        (502, [("Proxy-Status", "proxy.example; error=connection_timeout; next-hop=site.example")], True),
        (429, [], True),
    ],
)
def test_an_error_of_a_proxy_is_not_the_sites(status: int, headers: Any, counts: bool) -> None:
    with Site() as proxy:
        proxy.answer("*", Answer(status, headers=headers))
        proxy.answer("http://site.example/robots.txt", ALL)
        requests = [{"url": f"http://site.example/{page}", "meta": {"proxy": proxy.origin}} for page in range(6)]
        brief = {"CONCURRENT_REQUESTS": 2, "RETRY_ENABLED": False, "REP_BACKOFF_MAX": 0.05}
        result = crawl(*requests, settings={**MEMORY, **brief})
    assert bool(events(result)) is counts


def test_a_refused_connection_to_a_proxy_is_not_the_sites() -> None:
    requests = [
        {"url": f"http://site.example/{page}", "meta": {"proxy": "http://127.0.0.1:9"}} for page in range(6)
    ]
    result = crawl(*requests, settings={**MEMORY, "ROBOTSTXT_OBEY": False, "RETRY_ENABLED": False})
    assert len(result.failures) == 6
    assert events(result) == 0


@pytest.mark.parametrize(("delay", "asked", "least"), [(1.5, 1, 1.5), (0.5, 1, 1.0)])
def test_of_crawl_delay_and_retry_after_the_later_one_counts(delay: float, asked: int, least: float) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(f"User-agent: *\nCrawl-delay: {delay}\n"))
        site.answer("*", Busy(too_many(("Retry-After", str(asked)), delay=0.0), 0.2))
        crawl(*pages(site, 2), settings=MEMORY)
        arrived = times(site)
    assert least <= arrived[1] < least + 0.3


def test_a_healthy_host_beside_it_is_not_hindered() -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        site.answer("/robots.txt", ALL)
        site.answer("*", PAGE)
        busy = Busy(too_many(("Retry-After", "3")), 1.0)
        for page in range(40):
            site.answer(f"/{page}", busy, site.origins[0])
        result = crawl(*pages(site, 40), *pages(site, 100, 1), settings=MEMORY)
        healthy, slowed = times(site, 1), times(site)
    assert len(result.pages) == 140
    assert slowed[8] >= 3.0
    assert healthy[-1] < 2.5


def test_a_request_ends_with_its_retries_which_wait() -> None:
    with Site() as site:
        site.answer("/robots.txt", ALL)
        site.answer("*", too_many(("Retry-After", "1"), delay=0.0))
        result = crawl(*pages(site, 1), settings=MEMORY)
        arrived = times(site)
    assert len(result.failures) == 1
    assert [round(time) for time in arrived] == [0, 1, 2]  # RETRY_TIMES is 2


def test_the_forecast_names_a_site_that_asks_and_a_timeout_ends_the_crawl() -> None:
    settings = {**MEMORY, "LOGSTATS_INTERVAL": 0.3, "CLOSESPIDER_TIMEOUT": 1}
    with Site() as site:
        site.answer("/robots.txt", ALL)
        site.answer("*", too_many(("Retry-After", "3600"), delay=0.0))
        result = crawl(*pages(site), settings=settings)
    assert result.reason == "closespider_timeout"
    # On a slow machine one of the 16 requests may wait in the downloader, where the forecast does not see it.
    line = next(
        line for line in result.lines("INFO", "scrapy_rep.crawl.pacing") if re.match(r"So far, 1\d requests", line)
    )
    assert "127.0.0.1 3" in line
    assert "CLOSESPIDER_TIMEOUT ends the crawl" in line
    assert "less than 1% of these requests fit" in line


def test_a_site_in_several_download_slots_of_your_own_gets_no_request_through_any() -> None:
    with Site() as site:
        site.answer("/robots.txt", ALL)
        site.answer("/busy", Busy(too_many(("Retry-After", "2"), delay=0.0)))
        urls = [f"{site.origin}/{name}" for name in ("busy", "1", "2", "3")]
        requests = [{"url": url, "meta": {"download_slot": "ab"[url != urls[0]]}} for url in urls]
        settings = {**MEMORY, "DOWNLOAD_DELAY": 0.3, "RANDOMIZE_DOWNLOAD_DELAY": False}
        result = crawl(*requests, settings=settings)
        asked = [each.time for each in site.log if each.path == "/busy"]
        later = [each.time - asked[0] for each in site.log if each.time > asked[0] + 0.2]
    assert len(result.pages) == 4
    assert min(later) > 1.9


def test_a_site_that_fails_for_a_while_is_asked_seldom() -> None:
    with Site() as site:
        site.answer("/robots.txt", ALL)
        site.answer("*", Busy(too_many(status=503), 2.5))
        result = crawl(*pages(site), settings={**MEMORY, "REP_BACKOFF_MAX": 1.0})
        asked = [time for time in times(site) if 0.5 < time < 2.5]
    assert len(result.pages) == PAGES
    assert len(asked) <= 2  # a second after each answer, or a little more


@pytest.mark.full
def test_a_site_with_a_limit_is_soon_asked_a_little_less_than_that() -> None:
    taken: deque[float] = deque()
    lock = Lock()

    def limited(arrival: Arrival) -> Answer:
        with lock:
            while taken and taken[0] <= arrival.time - 1.0:
                taken.popleft()
            if len(taken) >= 10:
                return too_many()
            taken.append(arrival.time)
        return PAGE

    with Site() as site:
        site.answer("/robots.txt", ALL)
        site.answer("*", limited)
        result = crawl(*pages(site, 300), settings=MEMORY, timeout=120)
        arrived = times(site)
    refused = result.stats["downloader/response_status_count/429"]
    assert Counter(page.status for page in result.pages) == {200: 300}
    assert refused < 0.03 * len(arrived)
    assert arrived[-1] < 1.5 * 30


def shared_by(store: str, server: RedisServer, folder: Path) -> dict[str, Any]:
    return (
        {"REP_REDIS_URL": server.url, **MEMORY} if store == "redis" else {"REP_STORE_PATH": str(folder / "robots")}
    )


@pytest.mark.parametrize("store", ["sqlite", "redis"])
def test_what_one_process_is_asked_holds_the_others(store: str, redis_server: RedisServer, tmp_path: Path) -> None:
    settings = shared_by(store, redis_server, tmp_path)
    with Site() as site, ThreadPoolExecutor(2) as pool:
        site.answer("/robots.txt", ALL)
        site.answer("*", PAGE)
        busy = Busy(too_many(("Retry-After", "2"), delay=0.0), 0.3)
        site.answer("/busy", busy)
        slow = {**settings, "DOWNLOAD_DELAY": 0.6, "DOWNLOAD_DELAY_JITTER": 0, "RANDOMIZE_DOWNLOAD_DELAY": False}
        other = pool.submit(crawl, *(f"{site.origin}/other/{page}" for page in range(4)), settings=slow)
        while not any(each.path.startswith("/other") for each in site.log):
            sleep(0.005)
        result = crawl(f"{site.origin}/busy", settings=settings)
        others = [each.time for each in site.log if each.path.startswith("/other")]
        assert len(result.pages) == 1
        assert len(other.result().pages) == 4
    assert not [time for time in others if busy.began + 0.5 < time < busy.began + 2.0]
    assert other.result().stats["rep/backoff/shared_count"] == 1


@pytest.mark.parametrize("store", ["sqlite", "redis"])
def test_the_next_run_goes_on_with_what_is_left(store: str, redis_server: RedisServer, tmp_path: Path) -> None:
    settings = shared_by(store, redis_server, tmp_path)
    with Site() as site:
        site.answer("/robots.txt", ALL)
        site.answer("*", Busy(too_many(("Retry-After", "4"), delay=0.0)))

        def has_been_told() -> bool:
            return bool(times(site)) and monotonic() > site.log[1].time + 0.3

        first = crawl(*pages(site, 4), settings=settings, interrupt_when=has_been_told)
        assert first.reason == "shutdown"
        before = len(times(site))
        second = crawl(*pages(site, 4), settings=settings)
        assert times(site)[before] >= 4.0
    assert len(second.pages) == 4
