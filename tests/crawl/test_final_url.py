"""A response from another URL than the one that was judged: a browser or an API followed a redirect."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import Crawl, crawl, on_each_loop
from tests.support.site import Answer, Site, robots

SETTINGS = {"DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.Arrives": 800}}
DROP = {"REP_FORBIDDEN_RESPONSE": "drop"}
FLAG = "robots:forbidden-url"


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private\n"))
        yield site


def arriving(site: Site, final: str, settings: dict[str, Any] | None = None, **more: Any) -> Crawl:
    """Crawl a page that comes from the URL *final*."""
    site.answer("/page", Answer(body=b"page", headers=[("X-Final-Url", final)]), site.origin)
    request = {"url": f"{site.origin}/page", **more.pop("request", {})}
    settings = {**SETTINGS, **(settings or {})}
    return crawl(request, settings=settings, spider="tests.crawl.target_spiders:Stamps", **more)


def warnings(result: Crawl) -> list[str]:
    return [line for line in result.lines("WARNING", "scrapy_rep") if " ended at " in line]


@on_each_loop
def test_ours_a_response_from_a_forbidden_url_is_flagged_and_counted(site: Site, loop: str) -> None:
    final = f"{site.origins[1]}/private"
    result = arriving(site, final, loop=loop)
    (page,) = result.pages
    assert (page.url, page.tag["flags"]) == (final, [FLAG])
    assert result.stats["rep/response/forbidden_count"] == 1
    assert warnings(result) == [
        f"<GET {site.origin}/page> ended at {final}, which robots.txt of {site.origins[1]} forbids"
        " (line 2, Disallow: /private): the response is kept"
    ]


@on_each_loop
def test_ours_it_may_be_dropped(site: Site, loop: str) -> None:
    result = arriving(site, f"{site.origins[1]}/private", DROP, loop=loop)
    assert result.pages == []
    (failure,) = result.failures
    assert (failure.type, failure.line, failure.origin) == ("ForbiddenByRobots", 2, site.origins[1])
    assert result.stats["rep/response/forbidden_count"] == 1
    assert warnings(result)[0].endswith("the response is dropped")


def test_ours_the_stamp_is_that_of_the_url_that_answered(site: Site) -> None:
    (page,) = arriving(site, f"{site.origins[1]}/private").pages
    stamp = page.tag["stamp"]
    assert (stamp["origin"], stamp["verdict"], stamp["rule"]) == (
        site.origins[1],
        "reported",
        "Disallow: /private",
    )
    (page,) = arriving(site, f"{site.origins[1]}/public").pages
    assert (page.tag["stamp"]["origin"], page.tag["stamp"]["verdict"]) == (site.origins[1], "allowed")


def test_ours_an_allowed_final_url_changes_nothing(site: Site) -> None:
    result = arriving(site, f"{site.origins[1]}/public", DROP)
    (page,) = result.pages
    assert page.tag["flags"] == []
    assert "rep/response/forbidden_count" not in result.stats
    assert warnings(result) == []


def test_ours_a_forbidden_path_of_the_same_origin_is_found(site: Site) -> None:
    result = arriving(site, f"{site.origin}/private")
    assert result.pages[0].tag["flags"] == [FLAG]
    assert site.count("/robots.txt") == 1


@pytest.mark.parametrize("final", ["{}/page#part", "{}/page?", "HTTP://{}/page"])
def test_ours_the_same_page_spelt_otherwise_costs_no_fetch(site: Site, final: str) -> None:
    """Its robots.txt has expired by then."""
    site.answer("/robots.txt", Answer(headers=[("Cache-Control", "max-age=0")]), site.origin)
    settings = {"REP_MIN_TTL": 0, **DROP}
    arriving(site, f"{site.origin}/page", settings)
    once = site.count("/robots.txt")
    host = site.origin.partition("://")[2]
    final = final.format(host if final.startswith("HTTP") else site.origin)
    assert arriving(site, final, settings).urls == [final]
    assert site.count("/robots.txt") == 2 * once


def test_ours_a_final_url_that_has_no_robots_txt_is_left_alone(site: Site) -> None:
    result = arriving(site, "about:blank", DROP)
    assert result.urls == ["about:blank"]
    assert result.pages[0].tag["flags"] == []


def test_ours_an_unreachable_robots_txt_of_the_final_url_forbids_it(site: Site) -> None:
    site.answer("/robots.txt", Answer(503), site.origins[1])
    settings = {"REP_RETRY_TIMES": 0, **DROP}
    (failure,) = arriving(site, f"{site.origins[1]}/public", settings).failures
    assert (failure.type, failure.reason) == ("ForbiddenByRobots", "unreachable")


@pytest.mark.parametrize("mode", ["ignore", "report", "off"])
def test_ours_the_mode_of_the_final_url_applies(site: Site, mode: str) -> None:
    settings = (
        {"REP_MODES": {"127.0.0.2": mode}}
        if mode != "off"
        else {"REP_CRAWL_DELAY": "obey", "ROBOTSTXT_OBEY": False}
    )
    result = arriving(site, f"{site.origins[1]}/private", {**settings, **DROP})
    (page,) = result.pages
    assert page.tag["flags"] == ([FLAG] if mode == "report" else [])
    assert site.count("/robots.txt", site.origins[1]) == (mode == "report")


def test_ours_a_request_that_does_not_obey_is_left_alone(site: Site) -> None:
    result = arriving(site, f"{site.origins[1]}/private", DROP, request={"meta": {"dont_obey_robotstxt": True}})
    assert result.pages[0].tag["flags"] == ["robots:ignored"]
    assert site.paths(site.origins[1]) == []


def test_ours_an_exception_covers_the_final_url(site: Site) -> None:
    exception = {"url": f"{site.origins[1]}/private", "reason": "ticket 4711", "until": "2200-01-01"}
    settings = {"REP_EXCEPTIONS": [exception], "REP_EXCEPTION_MAX_DAYS": 100_000, **DROP}
    (page,) = arriving(site, f"{site.origins[1]}/private", settings).pages
    assert page.tag["stamp"]["verdict"] == "excepted"


def test_ours_the_robots_txt_of_the_final_url_is_not_itself_judged(site: Site) -> None:
    site.answer("/robots.txt", Answer(headers=[("X-Final-Url", f"{site.origins[1]}/private")]), site.origin)
    result = crawl(f"{site.origin}/page", settings={**SETTINGS, **DROP})
    assert len(result.pages) == 1
    assert site.paths(site.origins[1]) == []


def test_ours_the_audit_log_names_the_url_asked_for_and_the_final_one(site: Site, tmp_path: Path) -> None:
    audit = tmp_path / "audit.jsonl"
    arriving(site, f"{site.origins[1]}/private", {"REP_AUDIT": str(audit)})
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    (event,) = [line for line in lines if line["event"] == "response"]
    assert (event["url"], event["final"]) == (f"{site.origin}/page", f"{site.origins[1]}/private")
    assert (event["verdict"], event["rule"]) == ("reported", "Disallow: /private")


def test_ours_an_api_that_tells_its_final_url_is_judged_by_that(site: Site) -> None:
    final = f"{site.origins[1]}/private"
    site.answer("*", Answer(body=b"page", headers=[("X-Final-Url", final)]), site.origin)
    settings = {**SETTINGS, "REP_TARGET_URL": {"127.0.0.1": "url"}}
    url = f"{site.origin}/?key=s3cret&url={site.origins[1]}/page"
    result = crawl(url, settings=settings, spider="tests.crawl.target_spiders:Stamps")
    assert [(page.url, page.tag["flags"]) for page in result.pages] == [(final, [FLAG])]
    assert warnings(result)[0].startswith(f"<GET {site.origins[1]}/page> via 127.0.0.1 ended at {final}")


def test_ours_a_final_url_of_the_api_itself_is_shown_without_its_key(site: Site, tmp_path: Path) -> None:
    audit, page = tmp_path / "audit.jsonl", f"{site.origin}/page?key=s3cret"
    final = f"{site.origins[1]}/private?key=s3cret"
    site.answer("/page?key=s3cret", Answer(body=b"page", headers=[("X-Final-Url", final)]), site.origin)
    services = {"127.0.0.1": "url", "127.0.0.2": "url"}
    result = crawl(page, settings={**SETTINGS, "REP_TARGET_URL": services, "REP_AUDIT": str(audit)})
    assert warnings(result)[0].startswith(f"<GET {site.origin}/page> ended at {site.origins[1]}/private, which")
    assert "s3cret" not in audit.read_text()


def test_ours_after_ten_warnings_responses_are_counted(site: Site) -> None:
    answer = Answer(body=b"page", headers=[("X-Final-Url", f"{site.origins[1]}/private")])
    for number in range(13):
        site.answer(f"/{number}", answer, site.origin)
    result = crawl(*(f"{site.origin}/{number}" for number in range(13)), settings=SETTINGS)
    assert len(warnings(result)) == 10
    assert "3 more responses from forbidden URLs were kept" in result.lines("WARNING", "scrapy_rep")
