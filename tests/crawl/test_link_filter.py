"""Links that robots.txt forbids are dropped before the scheduler, if REP_FILTER_LINKS says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy.core.spidermw import SpiderMiddlewareManager

from scrapy_rep.tools.audit.logs import Log
from tests.support.crawl import Crawl, crawl, on_each_loop
from tests.support.exceptions import exception
from tests.support.site import Answer, Site, robots

RULES = robots("User-agent: *\nDisallow: /private\nDisallow: /cart\n")
MODULE = "tests.crawl.output_spiders"
LINKS = f"{MODULE}:Links"
FILTER = "scrapy_rep.extras.pages.link_filter"
OTHER = "127.0.0.2"


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(["127.0.0.1", OTHER, "127.0.0.3"]) as site:
        site.answer("/robots.txt", RULES)
        yield site


def follow(
    site: Site,
    *links: Any,
    choice: str = "known",
    spider: str = LINKS,
    loop: str = "asyncio",
    fails: bool = False,
    **settings: Any,
) -> Crawl:
    """A crawl whose first page yields *links*: paths of the first origin, URLs, arguments, names of items."""
    attributes = {"links": [url(site, link) for link in links], "fails": fails}
    settings = {"REP_FILTER_LINKS": choice, "REP_RETRY_TIMES": 0, **settings}
    return crawl(f"{site.origin}/start", spider=spider, attributes=attributes, settings=settings, loop=loop)


def url(site: Site, link: Any) -> Any:
    if isinstance(link, dict):
        return {**link, "url": url(site, link["url"])}
    return f"{site.origin}{link}" if link.startswith("/") else link


def noted(result: Crawl) -> list[str]:
    """What the first page led to: the paths of requests, and the names of items."""
    found = result.stats.get("noted/scheduled", "").split()
    return ["/" + text.split("/", 3)[-1] if "://" in text else text for text in found if "/start" not in text]


def links(result: Crawl) -> dict[str, int]:
    """The stats about links."""
    return {name[10:]: value for name, value in result.stats.items() if name.startswith("rep/links/")}


@pytest.mark.parametrize("spider", [LINKS, f"{MODULE}:LinksAsync"])
def test_a_forbidden_link_is_not_scheduled_and_all_else_keeps_its_order(
    site: Site, spider: str, tmp_path: Path
) -> None:
    log = tmp_path / "audit.jsonl"
    mixed = ("/a", "item-1", "/private/1", "/b", "item-2", "/cart", "/private/2", "/c")
    result = follow(site, *mixed, spider=spider, REP_AUDIT=str(log))
    assert not {"/private/1", "/private/2", "/cart"} & set(site.paths())
    assert [text for text in noted(result) if text[0] == "/"] == ["/a", "/b", "/c"]
    assert [text for text in noted(result) if text[0] != "/"] == ["item-1", "item-2"]
    assert links(result) == {"filtered_count": 3}
    assert "robotstxt/forbidden" not in result.stats
    assert not result.tracebacks
    assert (
        f"3 links were not followed because robots.txt forbids them, most by"
        f" {site.origin} (line 2, Disallow: /private) 2, {site.origin} (line 3, Disallow: /cart) 1"
    ) in result.lines("INFO", "scrapy_rep")
    line = f"Link not followed, forbidden by robots.txt: <GET {site.origin}/cart> (line 3, Disallow: /cart)"
    assert line in result.lines("DEBUG", FILTER)
    told = f"{site.origin}/cart|Disallow: /cart|{site.origin}/start"
    assert told in result.stats["noted/filtered"], "the signal tells link, rule and response"
    dropped = Log(log).runs[0].tallies["dropped"].facts()
    assert [(each["what"], each["origin"], each["why"], each["count"]) for each in dropped] == [
        ("link", site.origin, "Disallow: /private", 2),
        ("link", site.origin, "Disallow: /cart", 1),
    ]


def test_by_default_the_gate_alone_judges(site: Site) -> None:
    result = follow(site, "/private/1", choice="off")
    assert noted(result) == ["/private/1"]
    assert result.stats["robotstxt/forbidden"] == 1
    assert links(result) == {}
    assert not any("LinkFilter" in line.message for line in result.log)


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
def test_what_somebody_waits_for_is_left_to_the_gate(site: Site, arguments: dict[str, Any]) -> None:
    result = follow(site, {"url": "/cart", **arguments}, "/private")
    assert noted(result) == ["/cart"]
    assert links(result) == {"filtered_count": 1}
    assert len(result.failures) == ("errback" in arguments)


def test_a_start_request_is_left_to_the_gate(site: Site) -> None:
    request = {"url": f"{site.origin}/cart", "dont_filter": False}
    result = crawl(request, settings={"REP_FILTER_LINKS": "known"})
    assert result.failure(f"{site.origin}/cart").type == "ForbiddenByRobots"
    assert links(result) == {}


@pytest.mark.parametrize("handles", [False, True])
def test_the_errback_that_a_crawl_spider_adds_counts_only_if_its_rule_names_one(site: Site, handles: bool) -> None:
    page = b"<a href='/open'>1</a><a href='/cart'>2</a>"
    site.answer("/start", Answer(body=page, headers=[("Content-Type", "text/html")]))
    settings = {"REP_FILTER_LINKS": "known"}
    start, attributes = f"{site.origin}/start", {"handles": handles}
    result = crawl(start, spider=f"{MODULE}:Follows", attributes=attributes, settings=settings)
    assert site.count("/open") == 1
    assert links(result) == ({} if handles else {"filtered_count": 1})
    assert result.stats.get("failed", 0) == handles


@pytest.mark.parametrize(("mode", "counts"), [("report", {"reported_count": 1}), ("ignore", {})])
def test_where_nothing_is_stopped_links_are_counted_at_most(site: Site, mode: str, counts: dict[str, int]) -> None:
    assert links(follow(site, "/cart", "/open", REP_MODES={"127.0.0.1": mode})) == counts
    assert site.count("/cart") == 1


def test_what_an_exception_lets_pass_is_not_dropped(site: Site) -> None:
    granted = [exception(f"{site.origin}/private/ok*")]
    result = follow(site, "/private/ok", "/private/no", REP_EXCEPTIONS=granted)
    assert site.count("/private/ok") == 1
    assert links(result) == {"filtered_count": 1}
    assert result.stats["rep/exception/used_count"] == 1, "the gate counts it, once"


def test_a_link_without_a_usable_host_or_with_another_scheme_passes(site: Site) -> None:
    result = follow(site, {"url": "data:text/plain,x"}, "http://")
    assert noted(result) == ["data:text/plain,x", "/"]


@on_each_loop
def test_known_judges_without_a_fetch_and_lets_pass_what_is_not_in_memory(site: Site, loop: str) -> None:
    unknown = site.origins[2]
    result = follow(site, f"{unknown}/cart", "/cart", "/open", loop=loop)
    assert noted(result) == ["/cart", "/open"]
    assert links(result) == {"filtered_count": 1}
    assert result.stats["robotstxt/forbidden"] == 1, "the gate judges what the filter let pass"


def test_a_link_that_fails_to_be_judged_passes_and_that_is_logged_once(site: Site) -> None:
    parser: dict[str, Any] = {"ROBOTSTXT_PARSER": "tests.crawl.parsers.FailsWhenAsked"}
    result = follow(site, "/broken/1", "/broken/2", "/open", **parser)
    assert noted(result) == ["/broken/1", "/broken/2", "/open"]
    (line,) = result.lines("ERROR", FILTER)
    assert line.startswith(f"REP_FILTER_LINKS cannot check <GET {site.origin}/broken/1> (cannot judge)")


def test_what_a_callback_yielded_before_it_failed_is_not_lost(site: Site) -> None:
    result = follow(site, "/cart", "/a", fails=True)
    assert noted(result) == ["/a"]
    assert result.stats["spider_exceptions/ZeroDivisionError"] == 1


@pytest.mark.skipif(
    hasattr(SpiderMiddlewareManager, "_get_async_method_pair"),
    reason="this Scrapy cannot recover a callback that is no coroutine, with any asynchronous middleware",
)
def test_a_middleware_that_recovers_from_a_failed_callback_still_does(site: Site) -> None:
    recovers: dict[str, Any] = {"SPIDER_MIDDLEWARES": {f"{MODULE}.Recovers": 543}}
    result = follow(site, "/cart", "/a", fails=True, **recovers)
    assert site.count("/recovered") == 1
    assert noted(result) == ["/a", "/recovered"]
    assert not result.tracebacks


def start(site: Site, *urls: str) -> list[str]:
    """The warnings of a crawl with these start requests, which goes elsewhere when one fails."""
    elsewhere = {"elsewhere": f"{site.origin}/elsewhere"}
    result = crawl(*urls, spider=f"{MODULE}:GoesElsewhere", attributes=elsewhere)
    assert site.count("/elsewhere") == 1
    return result.lines("WARNING", "scrapy_rep")


def test_a_crawl_whose_start_requests_were_all_forbidden_says_by_which_rules(site: Site) -> None:
    first, second, _ = site.origins
    assert start(site, f"{first}/cart", f"{first}/cart/2", f"{second}/private") == [
        f"robots.txt forbade every start request of this crawl: {first} (line 3, Disallow: /cart) 2,"
        f" {second} (line 2, Disallow: /private) 1"
    ]


@pytest.mark.parametrize("other", ["/open", "data:,x"])
def test_one_start_request_that_passes_is_enough_to_say_nothing(site: Site, other: str) -> None:
    assert start(site, f"{site.origin}/cart", url(site, other)) == []
