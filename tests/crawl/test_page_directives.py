"""What pages say about themselves is counted and stamped, and followed where the owner of the crawl decides so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.crawl import Crawl, crawl, on_each_loop
from tests.support.site import Answer, Site, redirect, sitemap

SCRAPES = "tests.crawl.output_spiders:Scrapes"
HTML = ("Content-Type", "text/html; charset=utf-8")
OBEY: dict[str, Any] = {"REP_PAGE_DIRECTIVES": "obey"}
DROP: dict[str, Any] = {**OBEY, "REP_NOINDEX": "drop"}
LINKS = '<a href="/a">a</a> <a href="/b">b</a>'


def html(body: str = "", *headers: tuple[str, str], meta: str = "", **kwargs: Any) -> Answer:
    """A page with *headers*, and *meta* as its robots meta element."""
    head = f'<meta name="robots" content="{meta}">' if meta else ""
    text = f"<html><head>{head}</head><body>{body}</body></html>"
    return Answer(body=text.encode(), headers=[HTML, *headers], **kwargs)


def x_robots_tag(value: str) -> tuple[str, str]:
    return ("X-Robots-Tag", value)


def scrape(site: Site, path: str = "/", loop: str = "asyncio", attributes: Any = None, **settings: Any) -> Crawl:
    settings = {"REP_ITEM_FIELD": "robots", "USER_AGENT": "mybot/1.0", **settings}
    return crawl(f"{site.origin}{path}", spider=SCRAPES, loop=loop, attributes=attributes, settings=settings)


def paths(result: Crawl) -> list[str]:
    """The paths of the pages."""
    return sorted(urlsplit(page.url).path for page in result.pages if page.url.startswith("http"))


def items(result: Crawl) -> dict[str, Any]:
    """What the field of each item says about its page, by path."""
    found = {urlsplit(page.url[5:]).path: page.tag for page in result.pages if page.url.startswith("item:")}
    return {path: tag and tag["page"] for path, tag in found.items()}


def page_stats(result: Crawl) -> dict[str, int]:
    return {name[9:]: value for name, value in result.stats.items() if name.startswith("rep/page/")}


@on_each_loop
def test_ours_by_default_a_page_is_counted_and_stamped_and_nothing_is_dropped(loop: str) -> None:
    with Site() as site:
        site.answer("/", html(LINKS, x_robots_tag("nofollow"), meta="noindex, max-snippet:5"))
        result = scrape(site, loop=loop)
    assert paths(result) == ["/", "/a", "/b"]
    assert items(result) == {"/": ["noindex", "nofollow", "max-snippet=5"], "/a": None, "/b": None}
    assert page_stats(result) == {"noindex_count": 1, "nofollow_count": 1}
    assert result.stats[f"heard/{site.origin}/"] == "noindex, nofollow, max-snippet=5"
    stamps = {urlsplit(page.url).path: page.stamp for page in result.pages if page.stamp}
    assert stamps["/"]["page"] == ["noindex", "nofollow", "max-snippet=5"]
    assert stamps["/a"]["page"] is None


def test_ours_what_is_ignored_is_not_read() -> None:
    with Site() as site:
        site.answer("/", html(LINKS, x_robots_tag("nofollow"), meta="noindex"))
        result = scrape(site, REP_PAGE_DIRECTIVES="ignore")
    assert paths(result) == ["/", "/a", "/b"]
    assert items(result)["/"] is None
    assert page_stats(result) == {}


@on_each_loop
def test_google_links_of_a_nofollow_page_are_dropped_and_nothing_else_is(loop: str) -> None:
    with Site() as site:
        site.answer("/", html(f'{LINKS}<area href="/area"><iframe src="/frame">', meta="nofollow"))
        extra = [
            {"url": f"{site.origin}/api"},
            {"url": f"{site.origin}/frame"},
            {"url": f"{site.origin}/a", "method": "POST"},
            {"url": f"{site.origin}/b", "meta": {"rep_follow": True}},
        ]
        result = scrape(site, loop=loop, attributes={"extra": extra}, **OBEY)
        assert sorted((arrival.method, arrival.path) for arrival in site.log) == [
            ("GET", "/"), ("GET", "/api"), ("GET", "/b"), ("GET", "/robots.txt"), ("POST", "/a"),
        ]  # fmt: skip
    assert page_stats(result) == {"nofollow_count": 1, "link_dropped_count": 4}
    assert f"Link not followed, its page says nofollow: <GET {site.origin}/a>" in result.lines("DEBUG")


def test_ours_nofollow_may_cut_off_all_requests_of_a_page() -> None:
    with Site() as site:
        site.answer("/", html(LINKS, meta="none"))
        attributes = {"extra": [{"url": f"{site.origin}/api"}]}
        result = scrape(site, attributes=attributes, REP_NOFOLLOW="all", **OBEY)
    assert paths(result) == ["/"]


def test_ours_links_are_compared_as_the_duplicate_filter_does() -> None:
    with Site() as site:
        site.answer("/", html('<base href="/sub/"><a href="x?b=2&amp;a=1#part">x</a>', meta="nofollow"))
        attributes = {"extra": [{"url": f"{site.origin}/sub/x?a=1&b=2"}]}
        result = scrape(site, attributes=attributes, **OBEY)
    assert paths(result) == ["/"]


@on_each_loop
def test_google_items_of_a_noindex_page_are_dropped_and_its_links_followed(loop: str) -> None:
    with Site() as site:
        site.answer("/", html(LINKS, meta="noindex"))
        result = scrape(site, loop=loop, **DROP)
    assert paths(result) == ["/", "/a", "/b"]
    assert sorted(items(result)) == ["/a", "/b"]
    assert page_stats(result) == {"noindex_count": 1, "item_dropped_count": 1}
    assert f"Item dropped, its page says noindex: {site.origin}/" in result.lines("DEBUG")


@on_each_loop
def test_ours_items_of_a_noindex_page_are_marked_if_it_is_obeyed(loop: str) -> None:
    with Site() as site:
        site.answer("/", html(meta="noindex"))
        result = scrape(site, loop=loop, **OBEY)
    assert items(result) == {"/": ["noindex"]}
    assert page_stats(result) == {"noindex_count": 1, "item_marked_count": 1}


def test_google_a_page_is_noindex_once_it_is_no_longer_available() -> None:
    with Site() as site:
        site.answer("/", html(LINKS, x_robots_tag("unavailable_after: 25 Jun 2010 15:00:00 PST")))
        site.answer("/a", html(meta="unavailable_after: 2099-01-01"))
        result = scrape(site, **DROP)
    assert items(result) == {"/a": ["unavailable_after=2099-01-01T00:00:00Z"], "/b": None}


@on_each_loop
def test_google_a_pdf_speaks_by_its_header_alone(loop: str) -> None:
    pdf = Answer(
        body=b'%PDF <meta name="robots" content="nofollow">',
        headers=[("Content-Type", "application/pdf"), x_robots_tag("noindex")],
    )
    with Site() as site:
        site.answer("/", pdf)
        result = scrape(site, loop=loop, **DROP)
    assert items(result) == {}
    assert page_stats(result) == {"noindex_count": 1, "item_dropped_count": 1}


@on_each_loop
def test_google_a_named_agent_is_addressed_by_header_and_element(loop: str) -> None:
    with Site() as site:
        site.answer("/", html(LINKS, x_robots_tag("otherbot: nofollow, mybot: noindex")))
        site.answer("/a", html('<meta name="otherbot" content="noindex"><meta name="my-news" content="noindex">'))
        site.answer("/b", html('<meta name="MyBot" content="noindex">'))
        result = scrape(site, loop=loop, **DROP)
        named = scrape(site, loop=loop, REP_USER_AGENTS="my-news,my", **DROP)
    assert list(items(result)) == ["/a"]
    assert sorted(items(named)) == ["/", "/b"]


@on_each_loop
def test_ours_a_sitemap_with_noindex_stops_nothing(loop: str) -> None:
    with Site() as site:
        listed = sitemap(f"{site.origin}/a", f"{site.origin}/b")
        marked = Answer(body=listed.body, headers=[*listed.headers, x_robots_tag("noindex, nofollow")])
        site.answer("/sitemap.xml", marked)
        spider = "tests.crawl.sitemap_spiders:Scrapys"
        attributes = {"sitemap_urls": [f"{site.origin}/sitemap.xml"]}
        result = crawl(spider=spider, loop=loop, attributes=attributes, settings={**DROP, "REP_NOFOLLOW": "all"})
    assert paths(result) == ["/a", "/b"]
    assert page_stats(result) == {}


@on_each_loop
def test_ours_what_a_redirect_says_is_for_its_own_url(loop: str) -> None:
    with Site() as site:
        moved = redirect("/a")
        site.answer("/", Answer(moved.status, headers=[*moved.headers, x_robots_tag("noindex, nofollow")]))
        site.answer("/a", html(LINKS))
        result = scrape(site, loop=loop, **DROP)
    assert sorted(items(result)) == ["/a", "/b"]
    assert page_stats(result) == {}


@pytest.mark.parametrize("status", [404, 503])
def test_ours_an_error_page_is_read_and_has_no_effect(status: int) -> None:
    with Site() as site:
        site.answer("/", html(LINKS, meta="none", status=status))
        settings: dict[str, Any] = {"HTTPERROR_ALLOW_ALL": True, "RETRY_ENABLED": False, **DROP}
        result = scrape(site, **settings)
    assert paths(result) == ["/", "/a", "/b"]
    assert items(result)["/"] == ["noindex", "nofollow"]


@on_each_loop
def test_ours_a_cached_page_says_what_it_said(loop: str, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path), **DROP}
    with Site() as site:
        site.answer("/", html(LINKS, x_robots_tag("noindex, nofollow")))
        scrape(site, loop=loop, **settings)
        site.answer("/", html(LINKS))
        result = scrape(site, loop=loop, **settings)
    assert result.stats["httpcache/hit"] >= 1
    assert (paths(result), items(result)) == (["/"], {})


@on_each_loop
def test_ours_a_crawl_that_is_resumed_follows_what_pages_say(loop: str, tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/", html(LINKS))
        site.answer("/a", html('<a href="/c">c</a>', meta="none"))
        extra: dict[str, Any] = {"JOBDIR": str(tmp_path), **DROP}
        first = scrape(site, loop=loop, CLOSESPIDER_PAGECOUNT=1, CONCURRENT_REQUESTS=1, **extra)
        result = scrape(site, loop=loop, **extra)
    assert sorted(set(paths(first) + paths(result))) == ["/", "/a", "/b"]
    assert sorted({*items(first), *items(result)}) == ["/", "/b"]


REL = '<a rel="nofollow" href="/a">a</a> <a rel="UGC, noopener" href="/b">b</a> <a href="/c">c</a>'
TWICE = f'{REL}<a href="/a">once more</a>'


@pytest.mark.parametrize(
    ("body", "settings", "expected"),
    [
        (REL, {}, ["/", "/a", "/b", "/c"]),
        (REL, {"REP_REL_NOFOLLOW": "report"}, ["/", "/a", "/b", "/c"]),
        (REL, {"REP_REL_NOFOLLOW": "obey"}, ["/", "/b", "/c"]),
        (TWICE, {"REP_REL_NOFOLLOW": "obey"}, ["/", "/a", "/b", "/c"]),
        (REL, {"REP_REL_NOFOLLOW": "obey", "REP_REL_WORDS": "ugc,sponsored"}, ["/", "/a", "/c"]),
        (REL, {"REP_REL_NOFOLLOW": "obey", "REP_PAGE_DIRECTIVES": "ignore"}, ["/", "/b", "/c"]),
    ],
)
def test_ours_rel_of_a_link_counts_if_a_setting_says_so(body: str, settings: Any, expected: list[str]) -> None:
    with Site() as site:
        site.answer("/", html(body))
        assert paths(scrape(site, **settings)) == expected


def test_ours_links_that_rel_marks_are_reported_by_number() -> None:
    with Site() as site:
        site.answer("/", html(REL))
        assert page_stats(scrape(site, REP_REL_NOFOLLOW="report")) == {"rel_nofollow_count": 1}


def test_ours_a_page_without_robots_txt_is_stamped_too() -> None:
    with Site() as site:
        site.answer("/", html(meta="noindex"))
        result = scrape(site, ROBOTSTXT_OBEY=False)
    (stamp,) = (page.stamp for page in result.pages if page.stamp)
    assert (stamp["mode"], stamp["page"]) == ("off", ["noindex"])


def test_ours_the_audit_log_names_pages_that_restrict(tmp_path: Path) -> None:
    audit = tmp_path / "audit.jsonl"
    with Site() as site:
        site.answer("/", html(LINKS, x_robots_tag("mybot: noindex")))
        site.answer("/a", html(meta="max-image-preview:large"))
        scrape(site, REP_AUDIT=str(audit))
    (event,) = (event for line in audit.read_text().splitlines() if (event := json.loads(line))["event"] == "page")
    assert {name: event[name] for name in ("url", "status", "directives", "said")} == {
        "url": f"{site.origin}/",
        "status": 200,
        "directives": ["noindex"],
        "said": [{"text": "noindex", "source": "X-Robots-Tag", "agent": "mybot"}],
    }


def test_ours_long_pages_and_many_fields_are_read_up_to_a_bound() -> None:
    with Site() as site:
        meta = '<meta name="robots" content="noindex">'
        late = f"<p>{'x' * 3_000_000}</p>"
        site.answer("/", html(f"{LINKS}{late}{meta}"))
        site.answer("/a", html(f"{meta}{late}"))
        site.answer("/b", html("", *[x_robots_tag("noarchive")] * 300, x_robots_tag("nofollow")))
        result = scrape(site, LOG_LEVEL="INFO")
    assert items(result) == {"/": None, "/a": ["noindex"], "/b": ["nofollow", "noarchive"]}


def test_ours_settings_that_cannot_be_used_say_what_to_write() -> None:
    result = crawl("data:,x", settings={"REP_PAGE_DIRECTIVES": "yes"}, apart=True)
    assert "REP_PAGE_DIRECTIVES = 'yes': expected one of ignore, report, obey" in str(result.lines("CRITICAL"))


def test_html_standard_a_link_element_counts_by_each_word_of_its_rel_in_any_case() -> None:
    rels = {"/a": "NEXT", "/b": "start Prev", "/c": "alternate\n stylesheet", "/d": "stylesheet"}
    head = "".join(f'<link rel="{rel}" href="{path}">' for path, rel in rels.items())
    with Site() as site:
        site.answer("/", html(head, meta="nofollow"))
        extra = [{"url": f"{site.origin}{path}"} for path in rels]
        result = scrape(site, attributes={"extra": extra}, **OBEY)
    assert paths(result) == ["/", "/d"]


WITHOUT_GATE = {"DOWNLOADER_MIDDLEWARES": {"scrapy_rep.RepMiddleware": None}}


@pytest.mark.parametrize("gate", [{}, {"ROBOTSTXT_OBEY": False}, WITHOUT_GATE], ids=str)
def test_ours_a_stamp_that_a_request_copies_says_nothing_of_its_page(gate: dict[str, Any]) -> None:
    with Site() as site:
        site.answer("/", html(meta="noindex, noai"))
        settings = {"REP_ITEM_FIELD": "robots", "REP_PURPOSES": ["ai-train"], **gate}
        site.answer("/next", html())
        spider = "tests.crawl.output_spiders:CopiesMeta"
        result = crawl(f"{site.origin}/", spider=spider, settings=settings)
    assert items(result) == {"/": ["noindex", "noai"], "/next": None}
    assert result.stats["rep/ai/ai-train/no_count"] == 1


@pytest.mark.parametrize("settings", [OBEY, {"REP_REL_NOFOLLOW": "report"}], ids=str)
def test_ours_pages_are_not_kept_in_memory(settings: dict[str, Any]) -> None:
    with Site() as site:
        site.answer("/", html("".join(f'<a href="/{number}">x</a>' for number in range(20)), meta="noindex"))
        for number in range(20):
            site.answer(f"/{number}", html('<a rel="nofollow" href="/x">x</a>', meta="none"))
        spider = "tests.crawl.output_spiders:Forgets"
        result = crawl(f"{site.origin}/", spider=spider, settings=settings, apart=True)
    assert len(paths(result)) >= 21
    assert result.stats["alive"] < 5


@on_each_loop
def test_ours_a_page_that_the_parser_fails_on_reaches_its_callback(loop: str) -> None:
    with Site() as site:
        body = b'<head><base href="http://["><meta name="robots" content="noindex"></head>'
        site.answer("/base", Answer(body=body, headers=[("Content-Type", "text/html; charset=utf-8")]))
        site.answer("/charset", Answer(body=body, headers=[("Content-Type", "text/html; charset=hex")]))
        urls = [f"{site.origin}/base", f"{site.origin}/charset"]
        # Scrapy's middleware for meta refresh fails on such pages too.
        settings = {**OBEY, "REP_PURPOSES": ["ai-train"], "METAREFRESH_ENABLED": False}
        result = crawl(*urls, loop=loop, settings=settings)
    assert sorted(result.urls) == urls
    assert page_stats(result) == {"noindex_count": 2}
