"""Licenses (RSL) that a robots.txt names are fetched once, for a declared purpose, and answer for every page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import crawl, on_each_loop
from tests.support.site import Answer, Site, hang, redirect, reset, robots, stream

from .scraping import Scraped, html, scrape

LICENSE = "/license.xml"
TDMREP = "/.well-known/tdmrep.json"
TRAIN: dict[str, Any] = {"REP_PURPOSES": ["ai-train"]}
RSL_TYPE = 'rel="license"; type="application/rsl+xml"'


def rsl(*contents: tuple[str, str, str], max_age: int = 30) -> Answer:
    """A license file: the URL of a content, ``permits`` or ``prohibits``, and tokens."""
    parts = (
        f'<content url="{url}"><license><{name} type="usage">{tokens}</{name}></license></content>'
        for url, name, tokens in contents
    )
    body = f'<rsl xmlns="https://rslstandard.org/rsl" max-age="{max_age}">{"".join(parts)}</rsl>'
    return Answer(body=body.encode(), headers=[("Content-Type", "application/rsl+xml")])


FORBIDS = rsl(("/", "prohibits", "ai-all"), ("/open/", "permits", "all"))
PERMITS = rsl(("/", "permits", "all"))


def naming(*urls: str, rules: str = "Disallow:") -> Answer:
    licenses = "".join(f"License: {url}\n" for url in urls)
    return robots(f"{licenses}User-agent: *\n{rules}\n")


def answers(result: Scraped) -> dict[str, str]:
    """What was said about training for each item, by path; "-" where nothing was read."""
    return {path: tag["ai"]["ai-train"] if tag and tag["ai"] else "-" for path, tag in result.items.items()}


def ai(result: Scraped, path: str) -> dict[str, Any]:
    return result.stamps[path]["ai"]


PAGES = [*(f"/{number}" for number in range(20)), "/own", "/open/a", "/open/link", "/open/other"]


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audit") / "audit.jsonl"


@pytest.fixture(scope="module")
def scraped(audit: Path) -> Scraped:
    """A crawl of 24 pages whose robots.txt names a license, that three of them name or replace."""
    with Site() as site:
        url = f"{site.origin}{LICENSE}"
        site.answer("/robots.txt", naming(url))
        site.answer(LICENSE, FORBIDS)
        site.answer("/open/link", html("", ("Link", f"<{url}>; {RSL_TYPE}")))
        site.answer("/open/other", html("", ("Link", f"<https://e.org/l.xml>; {RSL_TYPE}")))
        own = '<rsl><content url=""><license><permits type="usage">ai-train</permits></license></content></rsl>'
        site.answer("/own", html(f'<script type="application/rsl+xml">{own}</script>'))
        return scrape(site, PAGES, REP_AUDIT=str(audit), **TRAIN)


def test_rsl_the_file_is_fetched_once_for_all_pages(scraped: Scraped) -> None:
    assert scraped.site.count(LICENSE) == 1
    assert scraped.crawl.stats["rep/ai/file_count"] == 2  # tdmrep.json is the other one
    assert scraped.site.paths()[:3] == ["/robots.txt", TDMREP, LICENSE]


def test_rsl_its_answer_is_in_the_stamp_the_stats_and_the_audit_log(scraped: Scraped, audit: Path) -> None:
    found = answers(scraped)
    assert {path: found[path] for path in ("/0", "/19", "/open/a", "/open/link")} == {
        "/0": "no", "/19": "no", "/open/a": "yes", "/open/link": "yes",
    }  # fmt: skip
    url = f"{scraped.site.origin}{LICENSE}"
    statement = {"signal": "RSL", "source": url, "line": 0, "irregular": False}
    text = {"category": "ai-train", "allows": False, "text": "/ prohibits: ai-all"}
    assert ai(scraped, "/0")["statements"][-1] == {**statement, **text}
    assert ai(scraped, "/0")["licenses"] == [url]
    no = sum(said == "no" for said in found.values())
    assert scraped.crawl.stats["rep/ai/ai-train/no_count"] == no == 20
    events = [event for line in audit.read_text().splitlines() if (event := json.loads(line))["event"] == "ai"]
    assert len(events) == no
    assert events[0]["statements"][0]["text"] == "/ prohibits: ai-all"


def test_rsl_the_license_of_a_page_precedes_and_one_that_is_only_named_permits_nothing(scraped: Scraped) -> None:
    found = answers(scraped)
    assert (found["/own"], found["/open/other"]) == ("yes", "unknown")
    assert ai(scraped, "/own")["answers"] == {
        "search": "no", "ai-input": "no", "ai-train": "yes", "ai-index": "no",
    }  # fmt: skip


def test_without_a_declared_purpose_nothing_is_fetched() -> None:
    with Site() as site:
        site.answer("/robots.txt", naming(f"{site.origin}{LICENSE}"))
        result = scrape(site)
    assert result.site.paths() == ["/robots.txt", "/"]
    assert answers(result) == {"/": "-"}


def test_if_obeyed_items_of_reserved_pages_are_dropped() -> None:
    with Site() as site:
        site.answer("/robots.txt", naming(f"{site.origin}{LICENSE}"))
        site.answer(LICENSE, FORBIDS)
        result = scrape(site, ["/a", "/open/a"], REP_PURPOSES=["ai-index"], REP_AI_SIGNALS="obey")
    assert sorted(result.site.paths()) == ["/a", LICENSE, "/open/a", "/robots.txt"], "no tdmrep.json"
    assert list(result.items) == ["/open/a"]


SHAPES: dict[str, tuple[Answer, int, str]] = {
    "503": (Answer(503, body=PERMITS.body), 1, "unknown"),
    "404": (Answer(404, body=PERMITS.body), 1, "unknown"),
    "401": (Answer(401, body=PERMITS.body), 1, "unknown"),
    "reset": (reset(), 1, "unknown"),
    "a page": (html("<p>404"), 1, "unknown"),
    "100 MB": (stream(100_000_000), 1, "unknown"),
    "a redirect": (redirect("/moved.xml"), 1, "yes"),
    "a forbidden redirect": (redirect("/private/l.xml"), 1, "unknown"),
    "redirects": (redirect(LICENSE), 6, "unknown"),
    "any media type": (Answer(body=PERMITS.body, headers=[("Content-Type", "text/html")]), 1, "yes"),
    "a document type": (Answer(body=b"<!DOCTYPE rsl>" + PERMITS.body), 1, "unknown"),
}
"""What a server sends for a license, how often it is asked, and what is known of training then."""


@pytest.fixture(scope="module")
def by_shape() -> dict[str, tuple[int, str]]:
    """How often each shape was asked for, and the answer, from one crawl of many hosts."""
    names = {f"127.0.1.{number}": name for number, name in enumerate(SHAPES, start=1)}
    with Site([*names]) as site:
        for origin, name in zip(site.origins, SHAPES, strict=True):
            site.answer("/robots.txt", naming(f"{origin}{LICENSE}", rules="Disallow: /private/"), origin)
            site.answer(LICENSE, SHAPES[name][0], origin)
            for path in ("/moved.xml", "/private/l.xml"):
                site.answer(path, PERMITS, origin)
        settings = {**TRAIN, "REP_MAX_SIZE": 600_000, "RETRY_ENABLED": False}
        result = crawl(*(f"{origin}/" for origin in site.origins), settings=settings)
        counts = {
            origin: sum(one.origin == origin and one.path == LICENSE for one in site.log)
            for origin in site.origins
        }
        private = [one for one in site.log if one.path.startswith("/private/")]
    assert private == []
    said = {page.url[:-1]: page.stamp["ai"]["answers"]["ai-train"] for page in result.pages if page.stamp}
    return {name: (counts[origin], said[origin]) for origin, name in zip(site.origins, SHAPES, strict=True)}


@pytest.mark.parametrize("name", SHAPES)
def test_rsl_a_file_that_cannot_be_read_permits_nothing(name: str, by_shape: dict[str, tuple[int, str]]) -> None:
    assert by_shape[name] == SHAPES[name][1:]


@on_each_loop
def test_licenses_on_other_hosts_wait_for_the_robots_txt_there_and_not_for_each_other(loop: str) -> None:
    """The first two name each other's, the third is closed, and the fourth names that of the first as well."""
    with Site([f"127.0.2.{number}" for number in range(1, 5)]) as site:
        one, two, closed, four = site.origins
        site.answer("/robots.txt", naming(f"{two}{LICENSE}"), one)
        site.answer("/robots.txt", naming(f"{one}{LICENSE}", f"{closed}{LICENSE}"), two)
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /\n"), closed)
        site.answer("/robots.txt", naming(f"{two}{LICENSE}"), four)
        for origin in site.origins:
            site.answer(LICENSE, PERMITS, origin)
        result = crawl(f"{one}/", f"{two}/", f"{four}/", loop=loop, settings=TRAIN)
        asked = sorted((one.origin, one.path) for one in site.log if one.path != TDMREP)
    said = {page.url[:-1]: page.stamp["ai"]["answers"]["ai-train"] for page in result.pages if page.stamp}
    assert said == {one: "yes", two: "unknown", four: "yes"}
    expected = [(origin, "/robots.txt") for origin in site.origins]
    assert asked == sorted(
        [*expected, (one, LICENSE), (two, LICENSE), *((each, "/") for each in (one, two, four))]
    )
    assert result.stats["rep/origin_count"] == result.stats["robotstxt/request_count"] == 4


def test_the_file_is_stored_and_revalidated_on_its_own(tmp_path: Path) -> None:
    settings = {**TRAIN, "REP_STORE_PATH": str(tmp_path / "robots.sqlite"), "REP_MIN_TTL": 0}
    quick = [("Cache-Control", "max-age=0"), ("ETag", '"1"')]
    with Site() as site:
        site.answer("/robots.txt", naming(f"{site.origin}{LICENSE}"))
        first = Answer(body=FORBIDS.body, headers=quick)
        site.answer(LICENSE, lambda seen: Answer(304) if seen.headers.get("if-none-match") == '"1"' else first)
        for _ in range(2):
            result = scrape(site, **settings)
            assert answers(result) == {"/": "no"}
    assert site.paths().count("/robots.txt") == 1
    assert [one.headers.get("if-none-match") for one in site.log if one.path == LICENSE] == [None, '"1"']


def test_a_file_in_memory_is_not_fetched_again_with_its_robots_txt() -> None:
    with Site() as site:
        expired = Answer(body=naming(f"{site.origin}{LICENSE}").body, headers=[("Cache-Control", "max-age=0")])
        site.answer("/robots.txt", expired)
        site.answer(LICENSE, FORBIDS)
        site.answer("/", html('<a href="/a">a</a>', delay=0.3))
        result = scrape(site, **TRAIN, REP_MIN_TTL=0.1)
    assert answers(result) == {"/": "no", "/a": "no"}
    assert (site.count("/robots.txt"), site.count(LICENSE)) == (2, 1)


def test_a_license_on_a_host_that_fails_is_not_read() -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        first, second = site.origins
        site.answer("/robots.txt", naming(f"{second}{LICENSE}"), first)
        site.answer("/robots.txt", Answer(503), second)
        result = crawl(f"{first}/", settings={**TRAIN, "REP_RETRY_TIMES": 0})
        asked = [one.path for one in site.log if one.origin == second]
    assert asked == ["/robots.txt"]
    stamp = result.pages[0].stamp or {}
    (statement,) = stamp["ai"]["statements"]
    assert (statement["source"], statement["text"]) == (f"{second}{LICENSE}", "license not read")


def test_the_file_is_fetched_at_the_pace_of_its_host() -> None:
    with Site() as site:
        site.answer("/robots.txt", naming(f"{site.origin}{LICENSE}", rules="Crawl-delay: 0.2"))
        result = crawl(f"{site.origin}/", settings={"REP_PURPOSES": ["search"]})
    assert site.paths() == ["/robots.txt", LICENSE, "/"]
    assert all(gap >= 0.2 for gap in result.gaps())


@on_each_loop
def test_a_file_that_hangs_holds_requests_up_once_and_a_closing_crawl_not_at_all(loop: str) -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        first, second = site.origins
        site.answer("/robots.txt", naming(f"{second}{LICENSE}"), first)
        site.answer(LICENSE, hang(), second)
        urls = [f"{first}/{number}" for number in range(5)]
        settings: dict[str, Any] = {"REP_PURPOSES": ["search"], "REP_TIMEOUT": 0.4}
        result = crawl(*urls, loop=loop, settings=settings)
        assert site.count(LICENSE) == 1
        assert sorted(result.urls) == sorted(urls)
        settings["REP_TIMEOUT"] = 60.0
        closing = crawl(*urls, loop=loop, settings=settings, interrupt_when=lambda: site.count(LICENSE) > 1)
    assert (closing.reason, closing.seconds < 60) == ("shutdown", True)
