"""One rich world, crawled on each event loop of Scrapy; the only file of which the default run sees all loops."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.support.crawl import LOOPS, Crawl, crawl
from tests.support.exceptions import exception
from tests.support.site import Answer, Answers, Site, reset, robots, truncated

RULES = "User-agent: *\nDisallow: /private\nDisallow: /page\n"
LEAKY = [f"/private/{number}" for number in range(6)]
HEALTHY = [f"/{number}" for number in range(30)]
PATIENCE = 30.0
"""Seconds until a robots.txt times out: longer than the crawl."""


def gzipped(body: bytes) -> Answer:
    return Answer(body=gzip.compress(body), headers=[("Content-Encoding", "gzip"), ("Content-Type", "text/plain")])


def html(head: str, body: str = "", *headers: tuple[str, str]) -> Answer:
    text = f"<html><head>{head}</head><body>{body}</body></html>"
    return Answer(body=text.encode(), headers=[("Content-Type", "text/html"), *headers])


HANDLED: dict[str, tuple[Answers, str | None]] = {
    "missing": (Answer(404), None),
    "rules": (robots(RULES), "rule"),
    "over-the-limit": (robots(RULES + "# padding\n" * 200_000), "rule"),
    "rules-behind-the-limit": (robots("# padding\n" * 200_000 + RULES), None),
    "gzip": (gzipped(RULES.encode()), "rule"),
    "gzip-bomb": (gzipped(RULES.encode() + bytes(20_000_000)), "unreachable"),
    "reset": (reset(), "unreachable"),
    "closed": (Answer(raw=b""), "unreachable"),
    "truncated": (truncated(RULES.encode()), "unreachable"),
    "reserved": (robots("User-agent: *\nContent-Signal: ai-train=no\nAllow: /\n"), "ai-signal"),
    "reported": (robots(RULES), None),
    "excepted": (robots(RULES), None),
}
"""What a download handler and the policy make of a robots.txt, and why ``/page`` was not had then."""

HANGING = [f"hanging-{number}" for number in range(20)]


@dataclass(frozen=True)
class World:
    """A crawl of all origins at once."""

    site: Site
    origins: dict[str, str]
    crawl: Crawl

    def reason(self, name: str, path: str = "/page") -> str | None:
        """Why the page was not had, or None when it was."""
        url = self.origins[name] + path
        return None if url in self.crawl.urls else self.crawl.failure(url).reason

    def verdict(self, name: str) -> str:
        (page,) = (page for page in self.crawl.pages if page.url == f"{self.origins[name]}/page")
        return (page.stamp or {})["verdict"]


def make(site: Site, origins: dict[str, str]) -> None:
    """What hangs does so until every page of the healthy origin has been requested."""

    def is_served() -> bool:
        return set(HEALTHY) <= set(site.paths(origins["healthy"]))

    site.answer("/robots.txt", Answer(raw=b"", when=is_served))
    for name, (answer, _) in HANDLED.items():
        site.answer("/robots.txt", answer, origins[name])
    site.answer("/robots.txt", robots(RULES), origins["healthy"])
    site.answer("/robots.txt", robots(RULES, when=is_served), origins["leaky"])
    site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.3\n"), origins["delayed"])
    site.answer("/robots.txt", Answer(404), origins["speaking"])
    site.answer("/", html('<meta name="robots" content="nofollow">', '<a href="/link">1</a>'), origins["speaking"])
    site.answer("/noindex", html('<meta name="robots" content="noindex">'), origins["speaking"])
    site.answer("/noai", html("", "", ("Content-Usage", "train-ai=n")), origins["speaking"])


def requests(origins: dict[str, str]) -> list[str]:
    """Those of origins that hang come first, so that they could take every place there is."""
    paths = {"leaky": LEAKY, **{name: ["/page"] for name in [*HANGING, *HANDLED]}}
    paths |= {"healthy": HEALTHY, "delayed": ["/1", "/2", "/3"], "speaking": ["/", "/noindex", "/noai"]}
    return [origins[name] + path for name, each in paths.items() for path in each]


@pytest.fixture(scope="module", params=LOOPS)
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    names = ["leaky", *HANGING, *HANDLED, "healthy", "delayed", "speaking"]
    with Site([f"127.0.8.{number}" for number in range(1, len(names) + 1)]) as site:
        origins = dict(zip(names, site.origins, strict=True))
        make(site, origins)
        settings = {
            "REP_TIMEOUT": PATIENCE, "REP_RETRY_TIMES": 0, "REP_PAGE_DIRECTIVES": "obey", "REP_NOINDEX": "drop",
            "REP_PURPOSES": ["ai-train"], "REP_AI_SIGNALS": "refuse", "REP_MODES": {origins["reported"]: "report"},
            "REP_EXCEPTIONS": [exception(f"{origins['excepted']}/page")],
        }  # fmt: skip
        spider = "tests.crawl.output_spiders:Scrapes"
        result = crawl(*requests(origins), settings=settings, spider=spider, loop=request.param)
        yield World(site, origins, result)


def test_rfc_2_2_no_page_behind_a_slow_robots_txt_that_forbids_it_is_requested(world: World) -> None:
    assert [world.reason("leaky", path) for path in LEAKY] == ["rule"] * len(LEAKY)
    assert set(world.site.paths(world.origins["leaky"])) <= {"/robots.txt", "/.well-known/tdmrep.json"}


def test_origins_that_hang_do_not_hold_up_a_healthy_one(world: World) -> None:
    assert [world.reason("healthy", path) for path in HEALTHY] == [None] * len(HEALTHY)
    assert {world.reason(name) for name in HANGING} == {"unreachable"}
    assert world.crawl.seconds < PATIENCE


def test_a_crawl_delay_is_kept(world: World) -> None:
    gaps = world.crawl.gaps(world.origins["delayed"])
    assert len(gaps) == 4  # between robots.txt, the tdmrep.json of the site and three pages
    assert min(gaps) >= 0.3


@pytest.mark.parametrize("name", HANDLED)
def test_a_download_handler_leaves_a_robots_txt_the_meaning_that_it_has(world: World, name: str) -> None:
    assert world.reason(name) == HANDLED[name][1]
    assert world.site.count("/page", world.origins[name]) == (HANDLED[name][1] is None)


def test_pages_are_heard_about_their_links_and_items(world: World) -> None:
    items = [page.url for page in world.crawl.pages if page.url.startswith(f"item:{world.origins['speaking']}")]
    assert items == [f"item:{world.origins['speaking']}/"]
    assert world.site.count("/link") == 0
    stats = world.crawl.stats
    assert (stats["rep/page/noindex_count"], stats["rep/page/nofollow_count"]) == (1, 1)
    assert (stats["rep/page/item_dropped_count"], stats["rep/ai/item_dropped_count"]) == (1, 1)


def test_an_exception_and_a_mode_let_pass_what_they_name(world: World) -> None:
    assert (world.verdict("excepted"), world.verdict("reported")) == ("excepted", "reported")
    assert (world.crawl.stats["rep/exception/used_count"], world.crawl.stats["rep/reported_count"]) == (1, 1)


def test_every_request_has_one_outcome_and_nothing_is_logged_as_an_error(world: World) -> None:
    outcomes = [page.url for page in world.crawl.pages] + [failure.url for failure in world.crawl.failures]
    assert sorted(url for url in outcomes if not url.startswith("item:")) == sorted(requests(world.origins))
    assert (world.crawl.tracebacks, world.crawl.lines("ERROR")) == ([], [])


@pytest.mark.parametrize("loop", LOOPS)
def test_a_crawl_that_ctrl_c_ends_waits_for_nobody_and_its_job_goes_on(loop: str, tmp_path: Path) -> None:
    released = Event()
    with Site(["127.0.8.1", "127.0.8.2"]) as site:
        known, hanging = site.origins
        site.answer("/robots.txt", robots(RULES), known)
        site.answer("/robots.txt", robots(RULES, when=released.is_set), hanging)
        urls = [f"{origin}{path}" for path in ("/a", "/b", "/private") for origin in site.origins]
        job: dict[str, Any] = {"loop": loop, "settings": {"JOBDIR": str(tmp_path), "REP_TIMEOUT": PATIENCE}}
        requests = [{"url": url, "dont_filter": False} for url in urls]
        first = crawl(*requests, **job, interrupt_when=lambda: {"/a", "/b"} <= set(site.paths(known)))
        released.set()
        second = crawl(*requests, **job)
    assert first.reason == "shutdown"
    assert first.seconds < PATIENCE
    assert (second.reason, first.tracebacks, second.tracebacks) == ("finished", [], [])
    assert sorted(first.urls + second.urls) == sorted(url for url in urls if "/private" not in url)
    assert {failure.reason for failure in first.failures + second.failures} == {"rule"}
    assert {site.count(path) for path in ("/a", "/b")} == {2}
