"""What a proxy or a scraping API answers in place of the site says nothing about the site."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from scrapy_rep.crawl.robots.robots import REFUSALS
from scrapy_rep.crawl.robots.stores.sqlite_file import SqliteFile
from tests.support.answers import ALLOWED, CARRIED, FORBIDDEN, OF_CARRIERS, RULES, UNREACHABLE
from tests.support.crawl import Crawl, crawl, on_each_download_handler
from tests.support.site import Answer, Site, robots

from .target_spiders import api_url

SITE = "http://site.example"
TEXT = robots(RULES.decode())
OUTCOMES = {None: ALLOWED, "rule": FORBIDDEN, "unreachable": UNREACHABLE}
THROUGH_API = {
    "REP_TARGET_URL": {"127.0.0.1": "url"},
    "REP_REQUEST_HOOK": "tests.crawl.target_spiders.through_api",
}


def through(proxy: str, path: str = "/page", **meta: Any) -> dict[str, Any]:
    return {"url": SITE + path, "meta": {"proxy": proxy, **meta}}


def fate(result: Crawl) -> str:
    (reason,) = {failure.reason for failure in result.failures} or {None}
    return OUTCOMES[reason]


def stored(path: Path) -> list[int | None]:
    """The statuses of the entries in the store at *path*."""
    with closing(SqliteFile(path)) as file:
        return [entry.status for entry in file.entries()]


def asked(proxy: Site) -> int:
    """How often *proxy* was asked for the robots.txt of the site."""
    return proxy.count(f"{SITE}/robots.txt")


@pytest.mark.parametrize("name", [name for name, case in CARRIED.items() if case.via == "proxy"])
def test_an_answer_through_a_proxy_means_what_the_table_says(name: str, tmp_path: Path) -> None:
    settings = {"REP_STORE_PATH": str(tmp_path / "store"), "REP_RETRY_TIMES": 0}
    with Site() as proxy, Site() as other:
        proxy.answer(f"{SITE}/robots.txt", CARRIED[name].answer)
        other.answer(f"{SITE}/robots.txt", TEXT)
        assert fate(crawl(through(proxy.origin), settings=settings)) == CARRIED[name].outcome
        assert stored(tmp_path / "store") == ([] if name in OF_CARRIERS else [CARRIED[name].status])
        later = fate(crawl(through(other.origin), settings=settings))
    asks_again = name in OF_CARRIERS or CARRIED[name].status in REFUSALS
    assert later == (FORBIDDEN if asks_again else CARRIED[name].outcome)


@pytest.mark.parametrize("name", [name for name, case in CARRIED.items() if case.via == "service"])
def test_an_answer_through_a_service_means_what_the_table_says(name: str, tmp_path: Path) -> None:
    settings = {"REP_STORE_PATH": str(tmp_path / "store"), "REP_RETRY_TIMES": 0, **THROUGH_API}
    with Site() as service, Site() as proxy:
        page = api_url(service.origin, f"{SITE}/page")
        service.answer(api_url("", f"{SITE}/robots.txt"), CARRIED[name].answer)
        proxy.answer(f"{SITE}/robots.txt", TEXT)
        assert fate(crawl(page, settings=settings)) == CARRIED[name].outcome
        later = fate(crawl(through(proxy.origin), settings={"REP_STORE_PATH": settings["REP_STORE_PATH"]}))
    assert later == (FORBIDDEN if name in OF_CARRIERS else CARRIED[name].outcome)


@on_each_download_handler
@pytest.mark.parametrize("queue", ["scrapy_rep.RepPriorityQueue", "scrapy.pqueues.ScrapyPriorityQueue"])
def test_a_request_with_another_proxy_asks_at_once(queue: str, loop: str) -> None:
    with Site() as refusing, Site() as working:
        refusing.answer("*", Answer(407))
        working.answer(f"{SITE}/robots.txt", TEXT)
        requests = [through(refusing.origin), *(through(working.origin, f"/{number}") for number in "abc")]
        requests += [through(working.origin)]
        result = crawl(*requests, settings={"SCHEDULER_PRIORITY_QUEUE": queue}, loop=loop)
        assert (asked(refusing), asked(working)) == (1, 1)
    assert sorted(page.url for page in result.pages) == [f"{SITE}/{number}" for number in "abc"]
    reasons = [failure.reason for failure in result.failures]
    assert sorted(map(str, reasons)) == ["rule", "unreachable"]
    assert result.seconds < 5
    assert result.tracebacks == []


@pytest.mark.parametrize("queue", ["scrapy_rep.RepPriorityQueue", "scrapy.pqueues.ScrapyPriorityQueue"])
def test_many_requests_through_a_proxy_that_refuses_ask_it_seldom(queue: str) -> None:
    with Site() as refusing:
        refusing.answer("*", Answer(407))
        requests = [through(refusing.origin, f"/{number}") for number in range(60)]
        result = crawl(*requests, settings={"SCHEDULER_PRIORITY_QUEUE": queue})
        assert asked(refusing) <= 1 + result.seconds
    assert [failure.reason for failure in result.failures] == ["unreachable"] * 60
    assert result.stats["rep/origin_count"] == 1
    (line,) = result.lines("WARNING", "scrapy_rep.crawl.runtime.log")
    assert f"robots.txt of {SITE} is unreachable after 1 attempt (the proxy refused: HTTP status 407)" in line


def test_no_attempt_is_repeated_through_a_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with Site() as refusing:
        refusing.answer("*", Answer(407))
        monkeypatch.setenv("http_proxy", refusing.origin)
        result = crawl(f"{SITE}/page")
        assert asked(refusing) == 1
    assert fate(result) == UNREACHABLE


def test_another_attempt_may_take_another_proxy() -> None:
    with Site() as refusing, Site() as working:
        refusing.answer("*", Answer(407))
        working.answer(f"{SITE}/robots.txt", TEXT)
        rotates = {"DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.RotatesProxies": 610}}
        proxies = {"proxies": [refusing.origin, working.origin]}
        settings = {**rotates, "REP_RETRY_DELAY": 0.1}
        result = crawl(f"{SITE}/page", settings=settings, attributes=proxies)
    assert [failure.reason for failure in result.failures] == ["rule"]


@on_each_download_handler
def test_a_proxy_that_opens_no_tunnel_says_nothing_about_the_site(tmp_path: Path, loop: str) -> None:
    settings = {"REP_STORE_PATH": str(tmp_path / "store"), "DOWNLOAD_VERIFY_CERTIFICATES": False}
    with Site() as refusing, Site(tls=True) as site:
        refusing.answer("*", Answer(407))
        site.answer("/robots.txt", TEXT)
        url = f"{site.origin}/page"
        first = crawl({"url": url, "meta": {"proxy": refusing.origin}}, settings=settings, loop=loop)
        then = crawl(url, settings=settings, loop=loop)
    assert (fate(first), fate(then)) == (UNREACHABLE, FORBIDDEN)
    assert first.seconds < 5


@on_each_download_handler
def test_a_proxy_that_does_not_answer_says_nothing_about_the_site(tmp_path: Path, loop: str) -> None:
    settings = {"REP_STORE_PATH": str(tmp_path / "store")}
    with Site() as proxy, Site() as working:
        proxy.stop_listening()
        working.answer(f"{SITE}/robots.txt", TEXT)
        first = crawl(through(proxy.origin), settings=settings, loop=loop)
        then = crawl(through(working.origin), settings=settings, loop=loop)
    assert (fate(first), fate(then)) == (UNREACHABLE, FORBIDDEN)


def test_a_stale_copy_stands_in_while_a_proxy_refuses_and_keeps_its_age(tmp_path: Path) -> None:
    settings = {"REP_STORE_PATH": str(tmp_path / "store"), "REP_MIN_TTL": 0.001, "REP_RETRY_TIMES": 0}
    with Site() as proxy:
        short = Answer(body=RULES, headers=[("Cache-Control", "max-age=0")])
        proxy.answer(f"{SITE}/robots.txt", short)
        assert fate(crawl(through(proxy.origin), settings=settings)) == FORBIDDEN
        proxy.answer(f"{SITE}/robots.txt", Answer(407))
        result = crawl(through(proxy.origin), through(proxy.origin, "/open"), settings=settings)
    assert [failure.reason for failure in result.failures] == ["rule"]
    assert [(page.url, (page.stamp or {})["source"]) for page in result.pages] == [(f"{SITE}/open", "stale")]


def test_a_queue_of_another_scheduler_gets_its_requests_back_while_a_proxy_refuses() -> None:
    with Site() as refusing:
        refusing.answer("*", Answer(407))
        result = crawl(
            through(refusing.origin), spider="tests.crawl.target_spiders:WaitsUntilItCanStart",
            settings={"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"},
        )  # fmt: skip
    assert result.stats["could_start"] is True
