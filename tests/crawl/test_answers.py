"""The crawl, the commands and the web checker read every answer alike: the table, over a real network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from scrapy.settings import Settings

from scrapy_rep.crawl.runtime.event_loop import CLOSING_CHECK
from scrapy_rep.protocol import Access, Origin, parse
from scrapy_rep.tools.commands.fetching import FetchedRobots, fetch_each
from scrapy_rep.tools.web.fetch import FetchedFile, WebFetcher
from scrapy_rep.tools.web.network import NotFetchedError
from scrapy_rep.tools.web.visitors import LOCAL
from tests.support.answers import ALLOWED, CASES, FORBIDDEN, HTML, RULES, UNREACHABLE, gz, half
from tests.support.command_here import crawls_here
from tests.support.crawl import DOWNLOAD_HANDLERS, Crawl, crawl, loop_params
from tests.support.in_process import run
from tests.support.site import Answer, Site, robots

ONCE = {"REP_RETRY_TIMES": 0, "REP_TIMEOUT": 60.0}
OUTCOMES = {None: ALLOWED, "rule": FORBIDDEN, "unreachable": UNREACHABLE}
NAMES = [*CASES]


@dataclass(frozen=True)
class World:
    """A site for each answer."""

    site: Site
    origins: dict[str, str]

    def outcomes(self, result: Crawl) -> dict[str, str]:
        failures = {failure.url: failure.reason for failure in result.failures}
        return {name: OUTCOMES[failures.get(f"{origin}/page")] for name, origin in self.origins.items()}


EXPECTED = {name: CASES[name].outcome for name in NAMES}


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with Site([f"127.0.{10 + index // 200}.{index % 200 + 1}" for index in range(len(NAMES))]) as site:
        origins = dict(zip(NAMES, site.origins))
        for name, origin in origins.items():
            site.answer("/robots.txt", CASES[name].answer, origin)
        yield World(site, origins)


@pytest.mark.parametrize("loop", loop_params(DOWNLOAD_HANDLERS))
@pytest.mark.parametrize("is_compression_on", [True, False])
def test_a_crawl_reads_an_answer_as_the_table_says(world: World, loop: str, is_compression_on: bool) -> None:
    requests = [f"{origin}/page" for origin in world.origins.values()]
    result = crawl(*requests, settings={**ONCE, "COMPRESSION_ENABLED": is_compression_on}, loop=loop)
    assert world.outcomes(result) == EXPECTED
    assert result.tracebacks == []
    assert result.lines("ERROR") == []


def test_a_replay_from_the_http_cache_reads_an_answer_as_the_table_says(world: World, tmp_path: Path) -> None:
    cache = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path), "HTTPCACHE_IGNORE_HTTP_CODES": []}
    settings = {**ONCE, **cache, "REP_STORE": "memory"}
    names = [name for name in NAMES if not CASES[name].is_cut]  # Scrapy's cache forgets that a message was cut
    requests = [f"{world.origins[name]}/page" for name in names]
    for is_offline in (False, True):  # else an unreachable one would be asked for anew
        before = len(world.site.log)
        replay = {"HTTPCACHE_IGNORE_MISSING": is_offline}
        found = world.outcomes(crawl(*requests, settings={**settings, **replay}))
        assert {name: found[name] for name in names} == {name: EXPECTED[name] for name in names}
    assert not [arrival for arrival in world.site.log[before:] if arrival.path == "/robots.txt"]


def test_a_command_reads_an_answer_as_the_table_says(world: World) -> None:
    found: dict[str, str] = {}

    def note(fetched: FetchedRobots) -> None:
        is_allowed = fetched.robotstxt.verdict("*", "/page").allowed
        fate = ALLOWED if is_allowed else FORBIDDEN
        found[str(fetched.origin)] = UNREACHABLE if fetched.entry.access is Access.UNREACHABLE else fate

    with crawls_here():
        fetch_each(map(Origin.from_url, world.site.origins), Settings({"REP_RETRY_TIMES": 0}), note)
    assert {name: found[origin] for name, origin in world.origins.items()} == EXPECTED


def test_the_checker_reads_an_answer_as_the_table_says(world: World) -> None:
    assert {name: run(_checked(origin)) for name, origin in world.origins.items()} == EXPECTED


async def _checked(origin: str) -> str:
    try:
        (found,) = [
            step
            async for step in WebFetcher(LOCAL, "T/1").fetch(f"{origin}/robots.txt")
            if isinstance(step, FetchedFile)
        ]
    except NotFetchedError:
        return UNREACHABLE
    if found.access is Access.UNREACHABLE:
        return UNREACHABLE
    return ALLOWED if parse(found.body).verdict("*", "/page").allowed else FORBIDDEN


# Redirects, which the crawl and the checker follow before they read.

MOVED = {
    "whole": b"",
    "says gzip": HTML,
    "cut in gzip": half(gz(HTML)),
}


@pytest.mark.parametrize("body", MOVED.values(), ids=list(MOVED))
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed_whatever_its_body_is(status: int, body: bytes) -> None:
    with Site() as site:
        headers = [("Location", "/rules"), ("Content-Encoding", "gzip")]
        site.answer("/robots.txt", Answer(status, body, headers))
        site.answer("/rules", robots(RULES.decode()))
        result = crawl(f"{site.origin}/page", settings=ONCE)
        assert [failure.reason for failure in result.failures] == ["rule"]
        assert run(_checked(site.origin)) == FORBIDDEN


# What the crawl must not do to others while it reads.


def test_a_page_is_decompressed_by_scrapy_while_robots_txt_is_fetched() -> None:
    with Site(["127.0.20.1", "127.0.20.2"]) as site:
        fast, slow = site.origins
        site.answer("/robots.txt", robots(""), fast)
        site.answer("/robots.txt", robots("", when=lambda: "/page" in site.paths(fast)), slow)
        site.answer(
            "/page", Answer(body=gz(HTML), headers=[("Content-Encoding", "gzip"), ("Content-Type", "text/html")])
        )
        result = crawl(f"{fast}/page", f"{slow}/page")
    assert [page.length for page in result.pages] == [len(HTML)] * 2


def test_a_page_costs_nothing_once_robots_txt_has_come() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(""))
        site.answer("/page", Answer(delay=3 * CLOSING_CHECK))
        result = crawl(f"{site.origin}/page", spider="tests.crawl.target_spiders:SeesMethods")
    assert len(result.pages) == 1
    assert result.stats["functions"] == 0


def test_a_middleware_of_the_project_sees_robots_txt_decompressed() -> None:
    with Site() as site:
        site.answer("/robots.txt", CASES["gzip"].answer)
        seen = "tests.crawl.middlewares.SeesText"
        result = crawl(f"{site.origin}/page", settings={"DOWNLOADER_MIDDLEWARES": {seen: 300}})
    assert result.stats["seen/robots"] == len(RULES)


def test_a_body_that_is_cut_is_asked_for_again() -> None:
    with Site() as site:
        cut, whole = CASES["gzip-cut"].answer, CASES["gzip"].answer
        answers = iter([cut, whole])
        site.answer("/robots.txt", lambda _: next(answers))
        result = crawl(f"{site.origin}/page", settings={"REP_RETRY_DELAY": 0.1})
        assert site.count("/robots.txt") == 2
    assert [failure.reason for failure in result.failures] == ["rule"]


def test_the_log_says_what_is_wrong_with_a_body() -> None:
    with Site() as site:
        site.answer("/robots.txt", CASES["gzip-cut"].answer)
        result = crawl(f"{site.origin}/page", settings=ONCE)
    (line,) = result.lines("WARNING", "scrapy_rep.crawl.runtime.log")
    assert "is unreachable after 1 attempt (truncated response (gzip))" in line


def test_the_log_names_an_unknown_coding_once() -> None:
    with Site() as site:
        site.answer("/robots.txt", CASES["unknown-coding-of-text"].answer)
        result = crawl(f"{site.origin}/page", f"{site.origin}/other")
    (line,) = result.lines("WARNING", "scrapy_rep.crawl.runtime.log")
    assert line == f"robots.txt of {site.origin}: unknown Content-Encoding 'utf-8': read as plain text"
