"""A response from another URL than the one that was judged: a browser or an API followed a redirect."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import Crawl, crawl
from tests.support.exceptions import exception
from tests.support.site import Answer, Site, robots

ARRIVES = {"DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.Arrives": 800}}
DROP = {"REP_FORBIDDEN_RESPONSE": "drop"}
FLAG = "robots:forbidden-url"
STAMPS = "tests.crawl.target_spiders:Stamps"


def make(addresses: int) -> Site:
    site = Site([f"127.0.0.{number}" for number in range(1, addresses + 1)])
    site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private\nDisallow: /granted\n"))
    return site


@pytest.fixture
def site() -> Iterator[Site]:
    with make(2) as site:
        yield site


def arrive(site: Site, path: str, final: str) -> str:
    """The URL of a page that comes from the URL *final*."""
    site.answer(path, Answer(body=b"page", headers=[("X-Final-Url", final)]), site.origin)
    return f"{site.origin}{path}"


def arriving(site: Site, final: str, **settings: Any) -> Crawl:
    return crawl(arrive(site, "/page", final), settings={**ARRIVES, **settings}, spider=STAMPS)


def finals(site: Site) -> dict[str, str]:
    """Where pages of the first origin arrive."""
    here, there, broken, ignored, reported, unasked = site.origins
    return {
        "unasked": f"{unasked}/private", "private": f"{there}/private", "public": f"{there}/public",
        "granted": f"{there}/granted", "same": f"{here}/private", "unreachable": f"{broken}/public",
        "ignored": f"{ignored}/private", "reported": f"{reported}/private", "blank": "about:blank",
    }  # fmt: skip


Outcome = tuple[Site, Crawl, Path]


def crawled(folder: Path, **settings: Any) -> Outcome:
    """One crawl of pages that arrive everywhere."""
    with make(6) as site:
        site.answer("/robots.txt", Answer(503), site.origins[2])
        there = finals(site)
        urls: list[Any] = [arrive(site, f"/to-{name}", final) for name, final in there.items()]
        urls[0] = {"url": urls[0], "meta": {"dont_obey_robotstxt": True}}
        settings |= {
            "REP_MODES": {"127.0.0.4": "ignore", "127.0.0.5": "report"}, "REP_RETRY_TIMES": 0,
            "REP_EXCEPTIONS": [exception(there["granted"])], "REP_AUDIT": str(folder / "audit.jsonl"),
        }  # fmt: skip
        return site, crawl(*urls, settings={**ARRIVES, **settings}, spider=STAMPS), folder / "audit.jsonl"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return crawled(tmp_path_factory.mktemp("kept"))


@pytest.fixture(scope="module")
def dropped(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return crawled(tmp_path_factory.mktemp("dropped"), **DROP)


def flags(outcome: Outcome) -> dict[str, list[str]]:
    """The flags of each page, by its situation."""
    site, result, _ = outcome
    names = {final: name for name, final in finals(site).items()}
    return {names[page.url]: page.tag["flags"] for page in result.pages}


def stamp(outcome: Outcome, name: str) -> dict[str, Any]:
    site, result, _ = outcome
    (found,) = (page.tag["stamp"] for page in result.pages if page.url == finals(site)[name])
    return found


def warnings(result: Crawl) -> list[str]:
    return [line for line in result.lines("WARNING", "scrapy_rep") if " ended at " in line]


PASS = {"public": [], "blank": [], "ignored": [], "reported": [FLAG], "unasked": ["robots:ignored"], "granted": []}
FORBIDDEN = {"private", "same", "unreachable"}


def test_a_response_from_a_forbidden_url_is_flagged_counted_and_kept(kept: Outcome) -> None:
    site, result, _ = kept
    assert flags(kept) == {**PASS, **{name: [FLAG] for name in FORBIDDEN}}
    assert result.stats["rep/response/forbidden_count"] == len(FORBIDDEN) + 1
    line = (
        f"<GET {site.origin}/to-private> ended at {site.origins[1]}/private, which robots.txt of {site.origins[1]}"
    )
    assert f"{line} forbids (line 2, Disallow: /private): the response is kept" in warnings(result)


def test_it_may_be_dropped_and_nothing_else_is(dropped: Outcome) -> None:
    site, result, _ = dropped
    assert flags(dropped) == PASS
    told = [(failure.type, failure.origin, failure.reason, failure.line) for failure in result.failures]
    assert sorted(told) == [
        ("ForbiddenByRobots", site.origin, "rule", 2), ("ForbiddenByRobots", site.origins[1], "rule", 2),
        ("ForbiddenByRobots", site.origins[2], "unreachable", 0),
    ]  # fmt: skip
    assert sum(line.endswith("the response is dropped") for line in warnings(result)) == len(FORBIDDEN)


def test_robots_txt_of_each_final_url_that_obeys_is_requested_once(dropped: Outcome) -> None:
    here, there, broken, ignored, reported, unasked = dropped[0].origins
    counts = {origin: dropped[0].count("/robots.txt", origin) for origin in dropped[0].origins}
    assert counts == {here: 1, there: 1, broken: 1, ignored: 0, reported: 1, unasked: 0}


def test_the_stamp_is_that_of_the_url_that_answered(kept: Outcome) -> None:
    names = ("origin", "verdict", "rule")
    there = kept[0].origins[1]
    assert [stamp(kept, "private")[name] for name in names] == [there, "reported", "Disallow: /private"]
    assert [stamp(kept, "public")[name] for name in names] == [there, "allowed", None]
    assert stamp(kept, "granted")["verdict"] == "excepted"


def test_the_audit_log_names_the_url_asked_for_and_the_final_one(kept: Outcome) -> None:
    site, _, audit = kept
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    events = {line["url"]: line for line in lines if line["event"] == "response"}
    event = events[f"{site.origin}/to-private"]
    assert (event["final"], event["verdict"]) == (f"{site.origins[1]}/private", "reported")
    assert event["rule"] == "Disallow: /private"


@pytest.mark.parametrize("final", ["{}/page#part", "{}/page?", "HTTP://{}/page"])
def test_the_same_page_spelt_otherwise_costs_no_fetch(site: Site, final: str) -> None:
    """Its robots.txt has expired by then."""
    site.answer("/robots.txt", Answer(headers=[("Cache-Control", "max-age=0")]), site.origin)
    settings = {"REP_MIN_TTL": 0, **DROP}
    arriving(site, f"{site.origin}/page", **settings)
    once = site.count("/robots.txt")
    final = final.format(site.origin.partition("://")[2] if final.startswith("HTTP") else site.origin)
    assert arriving(site, final, **settings).urls == [final]
    assert site.count("/robots.txt") == 2 * once


def test_with_obeying_off_no_robots_txt_of_a_final_url_is_requested(site: Site) -> None:
    settings = {"REP_CRAWL_DELAY": "always", "ROBOTSTXT_OBEY": False, **DROP}
    assert [page.tag["flags"] for page in arriving(site, f"{site.origins[1]}/private", **settings).pages] == [[]]
    assert site.count("/robots.txt", site.origins[1]) == 0


def test_the_robots_txt_of_the_final_url_is_not_itself_judged(site: Site) -> None:
    arrive(site, "/robots.txt", f"{site.origins[1]}/private")
    assert len(crawl(f"{site.origin}/page", settings={**ARRIVES, **DROP}).pages) == 1
    assert site.paths(site.origins[1]) == []


def test_an_api_that_tells_its_final_url_is_judged_by_that(site: Site) -> None:
    final, asked = f"{site.origins[1]}/private", f"{site.origins[1]}/page"
    url = arrive(site, f"/?key=s3cret&url={asked}", final)
    arrive(site, "/robots.txt", final)
    result = crawl(url, settings={**ARRIVES, "REP_TARGET_URL": {"127.0.0.1": "url"}}, spider=STAMPS)
    assert [(page.url, page.tag["flags"]) for page in result.pages] == [(final, [FLAG])]
    assert warnings(result)[0].startswith(f"<GET {asked}> via 127.0.0.1 ended at {final}")


def test_a_final_url_of_the_api_itself_is_shown_without_its_key(site: Site, tmp_path: Path) -> None:
    audit, url = (
        tmp_path / "audit.jsonl",
        arrive(site, "/page?key=s3cret", f"{site.origins[1]}/private?key=s3cret"),
    )
    services = {"127.0.0.1": "url", "127.0.0.2": "url"}
    result = crawl(url, settings={**ARRIVES, "REP_TARGET_URL": services, "REP_AUDIT": str(audit)})
    assert warnings(result)[0].startswith(f"<GET {site.origin}/page> ended at {site.origins[1]}/private, which")
    assert "key=s3" not in audit.read_text()


def test_after_ten_warnings_responses_are_counted(site: Site) -> None:
    urls = [arrive(site, f"/{number}", f"{site.origins[1]}/private") for number in range(13)]
    result = crawl(*urls, settings=ARRIVES)
    assert len(warnings(result)) == 10
    assert "3 more responses from forbidden URLs were kept" in result.lines("WARNING", "scrapy_rep")
