"""A request for a scraping API is judged, paced and stamped by its target; the key is shown nowhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import Crawl, crawl, on_each_loop
from tests.support.site import Answer, Arrival, Site, redirect, robots

from .target_spiders import KEY, api_url

API, SHOP, OTHER = "127.0.0.9", "127.0.0.1", "127.0.0.2"
SETTINGS = {"REP_TARGET_URL": {API: "url"}}
SPIDER = "tests.crawl.target_spiders:Stamps"
SCRAPYS_QUEUE = {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"}


@pytest.fixture
def site() -> Iterator[Site]:
    """The API, which fetches nothing and answers with a page, and two sites."""
    with Site([API, SHOP, OTHER]) as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /\n"), site.origins[0])
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private\n"), site.origins[1])
        yield site


def through(
    site: Site, *urls: str, spider: str = SPIDER, settings: dict[str, Any] | None = None, **more: Any
) -> Crawl:
    """Crawl *urls* through the API."""
    asked = [api_url(site.origins[0], url) for url in urls]
    return crawl(*asked, spider=spider, settings={**SETTINGS, **(settings or {})}, **more)


def events(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@on_each_loop
def test_ours_the_robots_txt_of_the_target_decides(site: Site, loop: str) -> None:
    shop = site.origins[1]
    result = through(site, f"{shop}/p", f"{shop}/private/1", loop=loop)
    assert [page.url for page in result.pages] == [api_url(site.origins[0], f"{shop}/p")]
    (failure,) = result.failures
    assert (failure.type, failure.line, failure.origin) == ("ForbiddenByRobots", 2, shop)
    assert site.paths(shop) == ["/robots.txt"]
    assert site.count("/robots.txt", site.origins[0]) == 0


def test_ours_the_stamp_tells_of_the_target(site: Site) -> None:
    result = through(site, f"{site.origins[1]}/p")
    (page,) = result.pages
    assert page.tag["stamp"]["origin"] == site.origins[1]
    assert page.tag["stamp"]["robots"] == f"{site.origins[1]}/robots.txt"
    assert page.tag["stamp"]["verdict"] == "allowed"
    assert page.tag["flags"] == []


def test_ours_the_key_of_the_api_is_shown_nowhere(site: Site, tmp_path: Path) -> None:
    shop, api, audit = site.origins[1], site.origins[0], tmp_path / "audit.jsonl"
    result = crawl(
        api_url(api, f"{shop}/p"), api_url(api, f"{shop}/private/1"), api_url(api, "nonsense"),
        f"{api}/account?api_key={KEY}",
        {"url": api_url(api, f"{shop}/exempt"), "meta": {"dont_obey_robotstxt": True}},
        {"url": f"{shop}/private/2", "headers": {"Referer": api_url(api, f"{shop}/p")}},
        settings={**SETTINGS, "REP_AUDIT": str(audit), "REP_AUDIT_ALL": True}, spider=SPIDER,
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


def test_ours_the_audit_log_names_the_service_and_the_target(site: Site, tmp_path: Path) -> None:
    shop, audit = site.origins[1], tmp_path / "audit.jsonl"
    through(site, f"{shop}/private/1", settings={"REP_AUDIT": str(audit)})
    (decision,) = [event for event in events(audit) if event["event"] == "decision"]
    assert (decision["url"], decision["via"], decision["verdict"]) == (f"{shop}/private/1", API, "forbidden")


def test_ours_a_crawl_through_an_api_leaves_no_key_in_the_summary_of_what_was_forbidden(site: Site) -> None:
    result = through(site, f"{site.origins[1]}/private/1")
    (warning,) = result.lines("WARNING", "scrapy_rep")
    assert warning.startswith("robots.txt forbade every request of this crawl, first <GET http://127.0.0.1:")
    assert KEY not in warning


@on_each_loop
@pytest.mark.parametrize("queue", [{}, SCRAPYS_QUEUE], ids=["ours", "scrapys"])
def test_ours_the_delay_is_that_of_the_target(site: Site, loop: str, queue: dict[str, Any]) -> None:
    shop, other = site.origins[1:]
    site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.4\n"), shop)
    urls = [f"{origin}/{number}" for number in range(4) for origin in (shop, other)]
    result = through(site, *urls, settings=queue, loop=loop)
    assert {page.tag["slot"] for page in result.pages} == {SHOP, OTHER}
    times = [arrival.time for arrival in site.log if arrival.path.startswith("/?") and SHOP in arrival.path]
    assert len(times) == 4
    assert all(after - before >= 0.39 for before, after in pairwise(times))
    others = [arrival.time for arrival in site.log if arrival.path.startswith("/?") and OTHER in arrival.path]
    assert any(after - before < 0.39 for before, after in pairwise(others))


def test_ours_a_download_slot_of_the_project_stays(site: Site) -> None:
    request = {"url": api_url(site.origins[0], f"{site.origins[1]}/p"), "meta": {"download_slot": "mine"}}
    result = crawl(request, settings=SETTINGS, spider=SPIDER)
    assert [page.tag["slot"] for page in result.pages] == ["mine"]


def test_ours_another_scheduler_that_asks_whether_a_request_can_start_gets_the_slot_of_the_target(
    site: Site,
) -> None:
    asked = api_url(site.origins[0], f"{site.origins[1]}/p")
    result = crawl(asked, settings=SETTINGS, spider="tests.crawl.target_spiders:AsksCanStart")
    assert result.stats["slot"] == SHOP


def test_ours_a_request_for_the_api_itself_is_judged_by_the_robots_txt_of_the_api(site: Site) -> None:
    result = crawl(f"{site.origins[0]}/account?api_key={KEY}", settings=SETTINGS)
    (failure,) = result.failures
    assert (failure.type, failure.origin) == ("ForbiddenByRobots", site.origins[0])


@on_each_loop
@pytest.mark.parametrize("queue", [{}, SCRAPYS_QUEUE], ids=["ours", "scrapys"])
def test_ours_a_request_without_a_usable_target_ends_in_an_error(
    site: Site, loop: str, queue: dict[str, Any]
) -> None:
    result = through(site, "nonsense", settings=queue, loop=loop)
    (failure,) = result.failures
    assert failure.type == "TargetUrlError"
    assert failure.message.startswith(f"the query parameter 'url' of a request to {API} is not an absolute URL")
    assert site.log == []


def test_ours_a_callable_finds_the_target(site: Site) -> None:
    shop, api = site.origins[1], site.origins[0]
    settings = {"REP_TARGET_URL": "tests.crawl.target_spiders.target_in_path"}
    result = crawl(
        f"{api}/fetch/{shop}/p", f"{api}/fetch/{shop}/private/1", f"{shop}/q", settings=settings, spider=SPIDER
    )
    assert sorted(result.urls) == sorted([f"{api}/fetch/{shop}/p", f"{shop}/q"])
    assert {page.tag["slot"] for page in result.pages} == {SHOP}
    assert [failure.origin for failure in result.failures] == [shop]


def test_ours_a_request_for_which_the_callable_fails_is_not_sent(site: Site) -> None:
    settings = {"REP_TARGET_URL": "tests.crawl.target_spiders.target_or_error"}
    result = crawl(api_url(site.origins[0], f"{site.origins[1]}/p"), settings=settings)
    (failure,) = result.failures
    assert (failure.type, failure.cause) == ("TargetUrlError", ["KeyError", "'missing'"])
    assert site.log == []


def test_ours_a_redirect_of_the_api_to_the_site_is_judged_and_paced_as_that_site(site: Site) -> None:
    api, shop, other = site.origins
    asked = api_url(api, f"{shop}/p").removeprefix(api)
    site.answer(asked, redirect(f"{other}/moved"), api)
    result = through(site, f"{shop}/p")
    assert [(page.url, page.tag["slot"]) for page in result.pages] == [(f"{other}/moved", OTHER)]
    assert result.pages[0].tag["stamp"]["origin"] == other


def test_ours_a_redirect_of_the_api_to_itself_is_judged_and_paced_by_its_new_target(site: Site) -> None:
    api, shop, other = site.origins
    site.answer(api_url(api, f"{shop}/p").removeprefix(api), redirect(api_url(api, f"{other}/moved")), api)
    result = through(site, f"{shop}/p")
    assert [page.tag["slot"] for page in result.pages] == [OTHER]
    assert result.pages[0].tag["stamp"]["origin"] == other
    assert site.paths(other) == ["/robots.txt"]


def test_ours_a_mode_and_an_exception_of_the_target_apply(site: Site) -> None:
    shop, other = site.origins[1:]
    site.answer("/robots.txt", robots("User-agent: *\nDisallow: /\n"), other)
    exception = {"url": f"{shop}/private/*", "reason": "ticket 4711", "until": "2200-01-01", "whole_site": True}
    settings = {"REP_MODES": {OTHER: "report"}, "REP_EXCEPTIONS": [exception], "REP_EXCEPTION_MAX_DAYS": 100_000}
    result = through(site, f"{shop}/private/1", f"{other}/x", settings=settings)
    assert sorted(page.tag["stamp"]["verdict"] for page in result.pages) == ["excepted", "reported"]


def test_ours_a_hook_may_send_robots_txt_through_the_api_too(site: Site, tmp_path: Path) -> None:
    api, shop = site.origins[:2]
    audit = tmp_path / "audit.jsonl"

    def answer(arrival: Arrival) -> Answer:
        return (
            robots("User-agent: *\nDisallow: /private\n") if "robots.txt" in arrival.path else Answer(body=b"page")
        )

    site.answer("*", answer, api)
    result = through(
        site, f"{shop}/p", f"{shop}/private/1",
        settings={"REP_REQUEST_HOOK": "tests.crawl.target_spiders.through_api", "REP_AUDIT": str(audit)},
    )  # fmt: skip
    assert site.paths(shop) == []
    assert [page.tag["stamp"]["robots"] for page in result.pages] == [f"{shop}/robots.txt"]
    assert len(result.failures) == 1
    assert KEY not in audit.read_text()


def test_ours_without_the_setting_the_api_is_a_site_like_any_other(site: Site) -> None:
    result = through(site, f"{site.origins[1]}/p", settings={"REP_TARGET_URL": None})
    assert [failure.origin for failure in result.failures] == [site.origins[0]]
