"""A request for a scraping API is judged, paced and stamped by its target; the key is shown nowhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import Crawl, crawl, on_each_loop
from tests.support.exceptions import exception
from tests.support.site import Answer, Arrival, Site, redirect, robots

from .target_spiders import KEY, api_url

API, SHOP, OTHER = "127.0.0.9", "127.0.0.1", "127.0.0.2"
MODULE = "tests.crawl.target_spiders"
SCRAPYS_QUEUE = {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"}
RULES = "User-agent: *\nDisallow: /private\n"
with_each_queue = pytest.mark.parametrize("queue", [{}, SCRAPYS_QUEUE], ids=["ours", "scrapys"])


@pytest.fixture
def site() -> Iterator[Site]:
    """The API, which fetches nothing and answers with a page, and two sites."""
    with Site([API, SHOP, OTHER]) as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /\n"), site.origins[0])
        site.answer("/robots.txt", robots(RULES), site.origins[1])
        yield site


def ask(*requests: Any, spider: str = "Stamps", loop: str = "asyncio", **settings: Any) -> Crawl:
    settings = {"REP_TARGET_URL": {API: "url"}, **settings}
    return crawl(*requests, spider=f"{MODULE}:{spider}", settings=settings, loop=loop)


def through(site: Site, *urls: str, **more: Any) -> Crawl:
    """Crawl *urls* through the API."""
    return ask(*(api_url(site.origins[0], url) for url in urls), **more)


def stamp(result: Crawl) -> dict[str, Any]:
    (page,) = result.pages
    return page.tag["stamp"]


def slots(result: Crawl) -> list[str]:
    return [page.tag["slot"] for page in result.pages]


def test_the_robots_txt_of_the_target_decides_and_the_stamp_and_the_audit_log_say_so(
    site: Site, tmp_path: Path
) -> None:
    shop, audit = site.origins[1], tmp_path / "audit.jsonl"
    result = through(site, f"{shop}/p", f"{shop}/private/1", REP_AUDIT=str(audit))
    assert result.urls == [api_url(site.origins[0], f"{shop}/p")]
    assert result.pages[0].tag["flags"] == []
    names = ("origin", "robots", "verdict")
    assert [stamp(result)[name] for name in names] == [shop, f"{shop}/robots.txt", "allowed"]
    (failure,) = result.failures
    assert (failure.type, failure.line, failure.origin) == ("ForbiddenByRobots", 2, shop)
    assert site.paths(shop) == ["/robots.txt"]
    assert site.count("/robots.txt", site.origins[0]) == 0
    events = [json.loads(line) for line in audit.read_text().splitlines()]
    (decision,) = [event for event in events if event["event"] == "decision"]
    assert (decision["url"], decision["via"], decision["verdict"]) == (f"{shop}/private/1", API, "forbidden")


def test_the_key_of_the_api_is_shown_nowhere(site: Site, tmp_path: Path) -> None:
    shop, api, audit = site.origins[1], site.origins[0], tmp_path / "audit.jsonl"
    result = ask(
        api_url(api, f"{shop}/p"), api_url(api, f"{shop}/private/1"), api_url(api, "nonsense"),
        f"{api}/account?api_key={KEY}",
        {"url": api_url(api, f"{shop}/exempt"), "meta": {"dont_obey_robotstxt": True}},
        {"url": f"{shop}/private/2", "headers": {"Referer": api_url(api, f"{shop}/p")}},
        REP_AUDIT=str(audit), REP_AUDIT_ALL=True,
    )  # fmt: skip
    assert (len(result.pages), len(result.failures)) == (2, 4)
    showing = {line.name for line in result.log if KEY in line.message + line.traceback}
    assert showing == {"scrapy.core.engine"}
    assert KEY not in json.dumps(result.stats)
    assert not any(KEY in json.dumps([page.tag["stamp"]]) for page in result.pages)
    assert not any(KEY in f"{failure.message}{failure.cause}" for failure in result.failures)
    assert KEY not in audit.read_text()
    forbidden = [line for line in result.lines("DEBUG", "scrapy_rep") if line.startswith("Forbidden by")]
    assert f"Forbidden by robots.txt: <GET {shop}/private/1> via {API} (line 2, Disallow: /private)" in forbidden


def test_a_crawl_through_an_api_leaves_no_key_in_the_summary_of_what_was_forbidden(site: Site) -> None:
    warning, sums_up = through(site, f"{site.origins[1]}/private/1").lines("WARNING", "scrapy_rep")
    assert warning.startswith("robots.txt forbade every request of this crawl, first <GET http://127.0.0.1:")
    assert KEY not in warning + sums_up


@on_each_loop
@with_each_queue
def test_the_delay_is_that_of_the_target(site: Site, loop: str, queue: dict[str, Any]) -> None:
    shop, other = site.origins[1:]
    site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.3\n"), shop)
    urls = [f"{origin}/{number}" for number in range(4) for origin in (shop, other)]
    result = through(site, *urls, loop=loop, **queue)
    assert set(slots(result)) == {SHOP, OTHER}
    times, undelayed = (
        [start for start in result.starts if f"%2F{host}%3A" in start.url] for host in (SHOP, OTHER)
    )
    assert len(times) == 4
    assert all(after.time - before.time >= 0.3 for before, after in pairwise(times))
    assert [start.delay for start in undelayed] == [0.0] * 4


def test_a_download_slot_of_the_project_stays(site: Site) -> None:
    request = {"url": api_url(site.origins[0], f"{site.origins[1]}/p"), "meta": {"download_slot": "mine"}}
    assert slots(ask(request)) == ["mine"]


def test_another_scheduler_that_asks_whether_a_request_can_start_gets_the_slot_of_the_target(
    site: Site,
) -> None:
    assert through(site, f"{site.origins[1]}/p", spider="AsksCanStart").stats["slot"] == SHOP


def test_a_request_for_the_api_itself_is_judged_by_the_robots_txt_of_the_api(site: Site) -> None:
    (failure,) = ask(f"{site.origins[0]}/account?api_key={KEY}").failures
    assert (failure.type, failure.origin) == ("ForbiddenByRobots", site.origins[0])


def test_without_the_setting_the_api_is_a_site_like_any_other(site: Site) -> None:
    result = through(site, f"{site.origins[1]}/p", REP_TARGET_URL=None)
    assert [failure.origin for failure in result.failures] == [site.origins[0]]


@with_each_queue
def test_a_request_without_a_usable_target_ends_in_an_error(site: Site, queue: dict[str, Any]) -> None:
    (failure,) = through(site, "nonsense", **queue).failures
    assert failure.type == "TargetUrlError"
    assert failure.message.startswith(f"the query parameter 'url' of a request to {API} is not an absolute URL")
    assert site.log == []


def test_a_callable_finds_the_target(site: Site) -> None:
    api, shop, _ = site.origins
    urls = [f"{api}/fetch/{shop}/p", f"{api}/fetch/{shop}/private/1", f"{shop}/q"]
    result = ask(*urls, REP_TARGET_URL=f"{MODULE}.target_in_path")
    assert sorted(result.urls) == sorted([urls[0], urls[2]])
    assert set(slots(result)) == {SHOP}
    assert [failure.origin for failure in result.failures] == [shop]


def test_a_request_for_which_the_callable_fails_is_not_sent(site: Site) -> None:
    (failure,) = through(site, f"{site.origins[1]}/p", REP_TARGET_URL=f"{MODULE}.target_or_error").failures
    assert (failure.type, failure.cause) == ("TargetUrlError", ["KeyError", "'missing'"])
    assert site.log == []


@pytest.mark.parametrize("to_itself", [False, True])
def test_a_redirect_of_the_api_is_judged_and_paced_by_its_new_target(site: Site, to_itself: bool) -> None:
    api, shop, other = site.origins
    moved = api_url(api, f"{other}/moved") if to_itself else f"{other}/moved"
    site.answer(api_url(api, f"{shop}/p").removeprefix(api), redirect(moved), api)
    result = through(site, f"{shop}/p")
    assert (result.urls, slots(result)) == ([moved], [OTHER])
    assert stamp(result)["origin"] == other
    assert site.paths(other) == ["/robots.txt"] + ["/moved"] * (not to_itself)


def test_a_mode_and_an_exception_of_the_target_apply(site: Site) -> None:
    shop, other = site.origins[1:]
    site.answer("/robots.txt", robots("User-agent: *\nDisallow: /\n"), other)
    settings = {"REP_MODES": {OTHER: "report"}, "REP_EXCEPTIONS": [exception(f"{shop}/private/*")]}
    result = through(site, f"{shop}/private/1", f"{other}/x", **settings)
    assert sorted(page.tag["stamp"]["verdict"] for page in result.pages) == ["excepted", "reported"]


def test_a_hook_may_send_robots_txt_through_the_api_too(site: Site, tmp_path: Path) -> None:
    api, shop, _ = site.origins
    audit = tmp_path / "audit.jsonl"

    def answer(arrival: Arrival) -> Answer:
        return robots(RULES) if "robots.txt" in arrival.path else Answer(body=b"page")

    site.answer("*", answer, api)
    settings = {"REP_REQUEST_HOOK": f"{MODULE}.through_api", "REP_AUDIT": str(audit)}
    result = through(site, f"{shop}/p", f"{shop}/private/1", **settings)
    assert site.paths(shop) == []
    assert stamp(result)["robots"] == f"{shop}/robots.txt"
    assert len(result.failures) == 1
    assert KEY not in audit.read_text()
