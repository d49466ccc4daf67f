"""Links that robots.txt forbids are dropped before the scheduler, if REP_FILTER_LINKS says so."""

from __future__ import annotations

from pathlib import Path
from time import time
from typing import Any

import pytest
from scrapy.core.spidermw import SpiderMiddlewareManager

from scrapy_rep.output import held_links
from tests.support.crawl import Crawl, crawl, on_each_loop
from tests.support.site import Answer, Site, hang, robots

RULES = robots("User-agent: *\nDisallow: /private\nDisallow: /cart\n")
LINKS = "tests.crawl.output_spiders:Links"
SPIDERS = [LINKS, "tests.crawl.output_spiders:LinksAsync"]
FILTER = "scrapy_rep.output.link_filter"
NO_DELAY = {"REP_RETRY_TIMES": 0}


def follow(
    site: Site,
    *links: Any,
    choice: str = "known",
    spider: str = SPIDERS[0],
    loop: str = "asyncio",
    **settings: Any,
) -> Crawl:
    """A crawl whose first page yields *links*: paths of the first origin, URLs, arguments, names of items."""
    attributes: dict[str, Any] = {name: settings.pop(name) for name in ("fails", "pause") if name in settings}
    return crawl(
        f"{site.origin}/start",
        spider=spider,
        attributes={"links": [url(site, link) for link in links], **attributes},
        settings={"REP_FILTER_LINKS": choice, **NO_DELAY, **settings},
        loop=loop,
    )


def url(site: Site, link: Any) -> Any:
    if isinstance(link, dict):
        return {**link, "url": url(site, link["url"])}
    return f"{site.origin}{link}" if link.startswith("/") else link


def noted(result: Crawl, what: str = "scheduled") -> list[str]:
    """What the first page led to: the paths of requests, and the names of items."""
    found = result.stats.get(f"noted/{what}", "").split()
    return ["/" + text.split("/", 3)[-1] if "://" in text else text for text in found if "/start" not in text]


@pytest.mark.parametrize("spider", SPIDERS)
@on_each_loop
@pytest.mark.parametrize("choice", ["known", "all"])
def test_ours_a_forbidden_link_is_not_scheduled_and_all_else_keeps_its_order(
    choice: str, loop: str, spider: str
) -> None:
    with Site() as site:
        site.answer("/robots.txt", RULES)
        links = ("/a", "item-1", "/private/1", "/b", "item-2", "/cart", "/private/2", "/c")
        result = follow(site, *links, choice=choice, loop=loop, spider=spider)
        assert not {"/private/1", "/private/2", "/cart"} & set(site.paths())
    assert [text for text in noted(result) if text[0] == "/"] == ["/a", "/b", "/c"]
    assert [text for text in noted(result) if text[0] != "/"] == ["item-1", "item-2"]
    assert result.stats["rep/links/filtered_count"] == 3
    assert "robotstxt/forbidden" not in result.stats
    assert not result.tracebacks


def test_ours_by_default_the_gate_alone_judges() -> None:
    with Site() as site:
        site.answer("/robots.txt", RULES)
        result = follow(site, "/private/1", choice="off")
    assert noted(result) == ["/private/1"]
    assert result.stats["robotstxt/forbidden"] == 1
    assert "rep/links/filtered_count" not in result.stats
    assert not any("LinkFilter" in line.message for line in result.log)


def test_ours_the_end_of_the_crawl_names_the_rules_that_filtered_most() -> None:
    with Site() as site:
        site.answer("/robots.txt", RULES)
        result = follow(site, "/private/1", "/cart", "/private/2")
        origin = site.origin
    assert (
        f"3 links were not followed because robots.txt forbids them, most by"
        f" {origin} (line 2, Disallow: /private) 2, {origin} (line 3, Disallow: /cart) 1"
    ) in result.lines("INFO", "scrapy_rep.gate.report")
    line = f"Link not followed, forbidden by robots.txt: <GET {origin}/cart> (line 3, Disallow: /cart)"
    assert line in result.lines("DEBUG", FILTER)


def test_ours_the_signal_tells_link_verdict_and_response() -> None:
    with Site() as site:
        site.answer("/robots.txt", RULES)
        result = follow(site, "/cart")
    assert result.stats["noted/filtered"] == f"{site.origin}/cart|Disallow: /cart|{site.origin}/start"


@pytest.mark.parametrize(
    "arguments",
    [
        {"errback": True},
        {"dont_filter": True},
        {"meta": {"dont_obey_robotstxt": True}},
        {"meta": {"is_start_request": True}},
    ],
    ids=str,
)
def test_ours_what_somebody_waits_for_is_left_to_the_gate(arguments: dict[str, Any]) -> None:
    with Site() as site:
        site.answer("/robots.txt", RULES)
        result = follow(site, {"url": "/cart", **arguments}, "/private")
    assert noted(result) == ["/cart"]
    assert result.stats["rep/links/filtered_count"] == 1
    assert len(result.failures) == ("errback" in arguments)


def test_ours_a_start_request_is_left_to_the_gate() -> None:
    with Site() as site:
        site.answer("/robots.txt", RULES)
        result = crawl({"url": f"{site.origin}/cart", "dont_filter": False}, settings={"REP_FILTER_LINKS": "all"})
    assert result.failure(f"{site.origin}/cart").type == "ForbiddenByRobots"
    assert "rep/links/filtered_count" not in result.stats


@pytest.mark.parametrize("handles", [False, True])
def test_ours_the_errback_that_a_crawl_spider_adds_counts_only_if_its_rule_names_one(handles: bool) -> None:
    with Site() as site:
        site.answer("/robots.txt", RULES)
        page = b"<a href='/open'>1</a><a href='/cart'>2</a>"
        site.answer("/start", Answer(body=page, headers=[("Content-Type", "text/html")]))
        result = crawl(
            f"{site.origin}/start",
            spider="tests.crawl.output_spiders:Follows",
            attributes={"handles": handles},
            settings={"REP_FILTER_LINKS": "known"},
        )
        assert site.count("/open") == 1
    assert result.stats.get("rep/links/filtered_count", 0) == (not handles)
    assert result.stats.get("failed", 0) == handles


def test_ours_a_site_in_report_mode_has_its_forbidden_links_counted() -> None:
    with Site() as site:
        site.answer("/robots.txt", RULES)
        result = follow(site, "/cart", "/open", REP_MODES={"127.0.0.1": "report"})
        assert site.count("/cart") == 1
    assert result.stats["rep/links/reported_count"] == 1
    assert "rep/links/filtered_count" not in result.stats


def test_ours_a_site_in_ignore_mode_has_its_links_left_alone() -> None:
    with Site() as site:
        site.answer("/robots.txt", RULES)
        result = follow(site, "/cart", REP_MODES={"127.0.0.1": "ignore"})
        assert site.count("/cart") == 1
    assert not any(stat.startswith("rep/links") for stat in result.stats)


def test_ours_what_an_exception_lets_pass_is_not_dropped() -> None:
    with Site() as site:
        site.answer("/robots.txt", RULES)
        until = f"{2026 + int((time() - 1.767e9) / 31_557_600)}-12-31"
        exception = {"url": f"{site.origin}/private/ok*", "reason": "written permission", "until": until}
        result = follow(site, "/private/ok", "/private/no", REP_EXCEPTIONS=[exception])
        assert site.count("/private/ok") == 1
    assert result.stats["rep/links/filtered_count"] == 1
    assert result.stats["rep/exception/used_count"] == 1, "the gate counts it, once"


def test_ours_a_link_without_a_usable_host_or_with_another_scheme_passes() -> None:
    with Site() as site:
        result = follow(site, {"url": "data:text/plain,x"}, "http://", choice="all")
    assert noted(result) == ["data:text/plain,x", "/"]


@on_each_loop
def test_ours_known_judges_by_the_store_without_a_fetch_and_lets_pass_what_is_in_neither(
    loop: str, tmp_path: Path
) -> None:
    store = {"REP_STORE_PATH": str(tmp_path / "robots.sqlite")}
    with Site(["127.0.0.1", "127.0.0.2", "127.0.0.3"]) as site:
        site.answer("/robots.txt", RULES)
        _, stored, unknown = site.origins
        crawl(f"{stored}/x", settings=store)
        links = (f"{stored}/cart", f"{unknown}/cart", "/cart", f"{stored}/open")
        result = follow(site, *links, loop=loop, **store)
        assert site.count("/robots.txt", stored) == 1
    assert noted(result) == ["/cart", "/open"]
    assert result.stats["rep/links/filtered_count"] == 2
    assert result.stats["robotstxt/forbidden"] == 1, "the gate judges what the filter let pass"


@on_each_loop
def test_ours_all_fetches_what_is_unknown_once_per_origin(loop: str) -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        site.answer("/robots.txt", RULES)
        other = site.origins[1]
        result = follow(site, *(f"{other}/cart/{n}" for n in range(9)), f"{other}/a", choice="all", loop=loop)
        assert site.count("/robots.txt", other) == 1
    assert noted(result) == ["/a"]
    assert result.stats["rep/links/filtered_count"] == 9


@on_each_loop
def test_ours_links_to_hanging_origins_wait_together_and_hold_up_nothing_else(loop: str) -> None:
    with Site([f"127.0.5.{number}" for number in range(1, 52)]) as site:
        site.answer("/robots.txt", hang())
        site.answer("/robots.txt", RULES, site.origin)
        links = (*(f"{origin}/x" for origin in site.origins[1:]), "/a", "item", "/cart", "/b")
        result = follow(site, *links, choice="all", loop=loop, REP_TIMEOUT=2.0)
        pages = {page.url: page.time for page in result.pages}
    assert set(noted(result)[:3]) == {"/a", "item", "/b"}
    assert len(noted(result)) == 53, "an unreachable origin may be back when the request is about to start"
    assert pages[f"{site.origin}/a"] < 1.9
    assert 1.5 < result.stats["noted/scheduled_after"] < 6.0


def test_ours_only_so_many_origins_are_asked_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_links, "MAX_ORIGINS", 2)
    with Site([f"127.0.5.{number}" for number in range(1, 8)]) as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /cart\n", delay=0.3))
        result = follow(site, *(f"{origin}/cart" for origin in site.origins[1:]), choice="all")
        times = [arrival.time for arrival in site.log if arrival.path == "/robots.txt"][1:]
    assert result.stats["rep/links/filtered_count"] == 6
    assert all(after - before > 0.25 for before, after in zip(times, times[2:], strict=False))


def test_ours_a_slow_store_does_not_hold_up_a_link_for_long(tmp_path: Path) -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        site.answer("/robots.txt", RULES)
        settings = {
            "REP_STORE": "tests.crawl.output_spiders.SlowStore",
            "REP_STORE_PATH": str(tmp_path / "x"),
        }
        result = follow(site, f"{site.origins[1]}/open", **settings)
    assert noted(result) == ["/open"]
    assert 0.9 < result.stats["noted/scheduled_after"] < 2.5


@on_each_loop
def test_ours_a_crawl_that_closes_releases_the_links_that_wait_into_its_jobdir(loop: str, tmp_path: Path) -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        link, jobdir = f"{site.origins[1]}/x", str(tmp_path)
        site.answer("/robots.txt", hang(), site.origins[1])
        limits: dict[str, Any] = {"REP_TIMEOUT": 20.0, "CLOSESPIDER_TIMEOUT": 1.0}
        result = follow(site, link, choice="all", loop=loop, JOBDIR=jobdir, **limits)
        site.answer("/robots.txt", RULES, site.origins[1])
        crawl(spider=LINKS, loop=loop, settings={"JOBDIR": jobdir})
        assert site.count("/x") == 1
    assert noted(result) == ["/x"]
    assert result.seconds < 6.0
    assert not result.tracebacks


def test_ours_a_link_that_fails_to_be_judged_passes_and_that_is_logged_once() -> None:
    with Site() as site:
        settings = {"ROBOTSTXT_PARSER": "tests.crawl.parsers.FailsWhenAsked"}
        result = follow(site, "/broken/1", "/broken/2", "/open", **settings)
    assert noted(result) == ["/broken/1", "/broken/2", "/open"]
    (line,) = result.lines("ERROR", FILTER)
    assert line.startswith(f"REP_FILTER_LINKS: <GET {site.origin}/broken/1> cannot be judged (cannot judge)")


@on_each_loop
def test_ours_what_a_callback_yielded_before_it_failed_is_not_lost(loop: str) -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        site.answer("/robots.txt", RULES)
        other = site.origins[1]
        result = follow(site, f"{other}/cart", f"{other}/a", choice="all", loop=loop, fails=True)
    assert noted(result) == ["/a"]
    assert result.stats["spider_exceptions/ZeroDivisionError"] == 1


@pytest.mark.skipif(
    hasattr(SpiderMiddlewareManager, "_get_async_method_pair"),
    reason="this Scrapy cannot recover a callback that is no coroutine, with any asynchronous middleware",
)
def test_ours_a_middleware_that_recovers_from_a_failed_callback_still_does() -> None:
    with Site() as site:
        site.answer("/robots.txt", RULES)
        recovers: dict[str, Any] = {"SPIDER_MIDDLEWARES": {"tests.crawl.output_spiders.Recovers": 543}}
        result = follow(site, "/cart", "/a", fails=True, **recovers)
        assert site.count("/recovered") == 1
    assert noted(result) == ["/a", "/recovered"]
    assert not result.tracebacks


def test_ours_a_crawl_whose_start_requests_were_all_forbidden_says_by_which_rules() -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        site.answer("/robots.txt", RULES)
        first, second = site.origins
        result = crawl(
            *(f"{first}/cart", f"{first}/cart/2", f"{second}/private"),
            spider="tests.crawl.output_spiders:GoesElsewhere",
            attributes={"elsewhere": f"{first}/open"},
        )
        assert site.count("/open") == 1
    assert result.lines("WARNING", "scrapy_rep") == [
        f"robots.txt forbade every start request of this crawl: {first} (line 3, Disallow: /cart) 2,"
        f" {second} (line 2, Disallow: /private) 1"
    ]


@pytest.mark.parametrize("other", ["/open", "data:,x"])
def test_ours_one_start_request_that_passes_is_enough_to_say_nothing(other: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", RULES)
        result = crawl(
            f"{site.origin}/cart",
            url(site, other),
            spider="tests.crawl.output_spiders:GoesElsewhere",
            attributes={"elsewhere": f"{site.origin}/elsewhere"},
        )
        assert site.count("/elsewhere") == 1
    assert not result.lines("WARNING", "scrapy_rep")
