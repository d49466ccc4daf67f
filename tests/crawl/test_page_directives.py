"""What pages say about themselves is counted and stamped, and followed where the owner of the crawl decides so."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from scrapy_rep.tools.audit.logs import Log
from tests.support.crawl import crawl
from tests.support.site import Answer, Site, redirect, sitemap

from .scraping import HTML, Scraped, html, scrape, x_robots_tag

OBEY: dict[str, Any] = {"REP_PAGE_DIRECTIVES": "obey"}
DROP: dict[str, Any] = {**OBEY, "REP_NOINDEX": "drop"}
WIDELY: dict[str, Any] = {"HTTPERROR_ALLOW_ALL": True, "RETRY_ENABLED": False, "METAREFRESH_ENABLED": False}
"""Error pages reach their callback; Scrapy's middleware for meta refresh fails on pages that cannot be parsed."""

LINKS = '<a href="a">a</a> <a href="b">b</a>'
RELS = {"rel/a": "NEXT", "rel/b": "start Prev", "rel/c": "alternate\n stylesheet", "rel/d": "stylesheet"}
META = '<meta name="robots" content="noindex">'

SITUATIONS: dict[str, tuple[Answer, list[str] | None]] = {
    "/silent/": (html(LINKS), None),
    "/both/": (html(LINKS, x_robots_tag("nofollow"), meta="noindex, max-snippet:5"),
               ["noindex", "nofollow", "max-snippet=5"]),
    "/noindex/": (html(LINKS, meta="noindex"), ["noindex"]),
    "/none/": (html(LINKS, meta="none"), ["noindex", "nofollow"]),
    "/nofollow/": (html(f'{LINKS}<area href="area"><iframe src="frame">', meta="nofollow"), ["nofollow"]),
    "/spelt/": (html('<base href="sub/"><a href="x?b=2&amp;a=1#part">x</a>', meta="nofollow"), ["nofollow"]),
    "/rels/": (html("".join(f'<link rel="{rel}" href="{path}">' for path, rel in RELS.items()), meta="nofollow"),
               ["nofollow"]),
    "/expired/": (html(LINKS, x_robots_tag("unavailable_after: 25 Jun 2010 15:00:00 PST")),
                  ["noindex", "unavailable_after=2010-06-25T23:00:00Z"]),
    "/expires/": (html(meta="unavailable_after: 2099-01-01"), ["unavailable_after=2099-01-01T00:00:00Z"]),
    "/pdf": (Answer(body=b'%PDF <meta name="robots" content="nofollow">',
                    headers=[("Content-Type", "application/pdf"), x_robots_tag("noindex")]), ["noindex"]),
    "/header": (html("", x_robots_tag("otherbot: nofollow, mybot: noindex")), ["noindex"]),
    "/element": (html('<meta name="MyBot" content="noindex">'), ["noindex"]),
    "/others": (html('<meta name="otherbot" content="noindex"><meta name="my-news" content="noindex">'), None),
    "/404/": (html(LINKS, meta="none", status=404), ["noindex", "nofollow"]),
    "/503/": (html(LINKS, meta="none", status=503), ["noindex", "nofollow"]),
    "/base": (Answer(body=f'<head><base href="http://[">{META}</head>'.encode(), headers=[HTML]), ["noindex"]),
    "/charset": (Answer(body=META.encode(), headers=[("Content-Type", "text/html; charset=hex")]), ["noindex"]),
}  # fmt: skip
"""Pages, and what each says to mybot."""

SAID = {f"{word}_count": sum(word in (says or ()) for _, says in SITUATIONS.values())
        for word in ("noindex", "nofollow")}  # fmt: skip

MOVED = redirect("/there/")
PAGES = {
    **{path: page for path, (page, _) in SITUATIONS.items()},
    "/moved": Answer(MOVED.status, headers=[*MOVED.headers, x_robots_tag("noindex, nofollow")]),
    "/there/": html(LINKS),
}
FIRST = [path for path in PAGES if path != "/there/"]
EXTRA = {
    "/nofollow/": [{"url": "api"}, {"url": "frame"}, {"url": "a", "method": "POST"},
                   {"url": "b", "meta": {"rep_follow": True}}],
    "/none/": [{"url": "api"}],
    "/spelt/": [{"url": "sub/x?a=1&b=2"}],
    "/rels/": [{"url": path} for path in RELS],
}  # fmt: skip
"""What the callbacks of some pages request beside the links."""


def scraped(**settings: Any) -> Scraped:
    return scrape(PAGES, FIRST, attributes={"extra": EXTRA}, **WIDELY, **settings)


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audit") / "audit.jsonl"


@pytest.fixture(scope="module")
def reported(audit: Path) -> Scraped:
    return scraped(REP_AUDIT=str(audit))


@pytest.fixture(scope="module")
def obeyed() -> Scraped:
    return scraped(**OBEY, REP_PURPOSES=["ai-train"])


@pytest.fixture(scope="module")
def dropped(audit: Path) -> Scraped:
    return scraped(**DROP, REP_AUDIT=str(audit.with_name("dropped.jsonl")))


def pages(result: Scraped) -> dict[str, Any]:
    """What the field of each item says about its page, by path."""
    return {path: tag and tag["page"] for path, tag in result.items.items()}


def test_by_default_pages_are_counted_and_stamped_and_nothing_is_dropped(reported: Scraped) -> None:
    said = pages(reported)
    assert {path: said[path] for path in SITUATIONS} == {path: says for path, (_, says) in SITUATIONS.items()}
    assert {path: stamp["page"] for path, stamp in reported.stamps.items()} == said
    for path in ("/both/", "/noindex/", "/expired/", "/404/", "/503/"):
        assert reported.requested(path) == [path, f"{path}a", f"{path}b"]
    assert reported.stats("rep/page/") == SAID
    assert reported.crawl.stats[f"heard/{reported.site.origin}/both/"] == "noindex, nofollow, max-snippet=5"


def test_what_is_ignored_is_not_read() -> None:
    ignored = scraped(REP_PAGE_DIRECTIVES="ignore")
    assert ignored.requested("/both/") == ["/both/", "/both/a", "/both/b"]
    assert set(pages(ignored).values()) == {None}
    assert ignored.stats("rep/page/") == {}


def test_google_links_of_a_nofollow_page_are_dropped_and_nothing_else_is(obeyed: Scraped) -> None:
    arrivals = [(arrival.method, arrival.path) for arrival in obeyed.site.log]
    assert sorted(each for each in arrivals if each[1].startswith("/nofollow/")) == [
        ("GET", "/nofollow/"), ("GET", "/nofollow/api"), ("GET", "/nofollow/b"), ("POST", "/nofollow/a"),
    ]  # fmt: skip
    assert obeyed.requested("/both/") == ["/both/"]
    assert obeyed.requested("/noindex/") == ["/noindex/", "/noindex/a", "/noindex/b"]
    line = f"Link not followed, its page says nofollow: <GET {obeyed.site.origin}/nofollow/a>"
    assert line in obeyed.crawl.lines("DEBUG")


def test_nofollow_cuts_off_links_and_no_other_requests_of_a_page(obeyed: Scraped) -> None:
    assert obeyed.requested("/none/") == ["/none/", "/none/api"]


def test_links_are_compared_as_the_duplicate_filter_does(obeyed: Scraped) -> None:
    assert obeyed.requested("/spelt/") == ["/spelt/"]


def test_html_standard_a_link_element_counts_by_each_word_of_its_rel_in_any_case(obeyed: Scraped) -> None:
    assert obeyed.requested("/rels/") == ["/rels/", "/rels/rel/d"]


def test_google_items_of_a_noindex_page_are_dropped_and_its_links_followed(dropped: Scraped) -> None:
    assert dropped.requested("/noindex/") == ["/noindex/", "/noindex/a", "/noindex/b"]
    assert {path for path in dropped.items if path.startswith("/noindex/")} == {"/noindex/a", "/noindex/b"}
    assert f"Item dropped, its page says noindex: {dropped.site.origin}/noindex/" in dropped.crawl.lines("DEBUG")


def test_google_items_are_dropped_by_header_by_element_and_by_date_for_the_named_agent(dropped: Scraped) -> None:
    kept = {path for path in SITUATIONS if path in dropped.items}
    restricted = {path for path, (_, says) in SITUATIONS.items() if says and "noindex" in says}
    assert kept == set(SITUATIONS) - restricted | {"/404/", "/503/"}, "an error page has no effect"
    named = scraped(**DROP, REP_USER_AGENTS="my-news,my")
    assert {path for path in ("/header", "/element", "/others") if path in named.items} == {"/header", "/element"}


def test_what_is_dropped_or_marked_is_counted(obeyed: Scraped, dropped: Scraped, audit: Path) -> None:
    assert pages(obeyed)["/noindex/"] == ["noindex"]
    links = 2 + 2 + 4 + 2 + 3  # of /both/, /none/, /nofollow/, /spelt/ and /rels/
    items = SAID["noindex_count"] - 2  # not those of the error pages
    assert obeyed.stats("rep/page/") == {**SAID, "link_dropped_count": links, "item_marked_count": items}
    assert dropped.stats("rep/page/") == {**SAID, "link_dropped_count": links, "item_dropped_count": items}
    (run,) = Log(audit.with_name("dropped.jsonl")).runs
    assert {(each["what"], each["why"], each["count"]) for each in run.tallies["dropped"].facts()} == {
        ("link", "its page says nofollow", links),
        ("item", "its page says noindex", items),
    }


@pytest.mark.parametrize("path", ["/404/", "/503/"])
def test_an_error_page_is_read_and_has_no_effect(dropped: Scraped, path: str) -> None:
    assert dropped.requested(path) == [path, f"{path}a", f"{path}b"]
    assert pages(dropped)[path] == ["noindex", "nofollow"]


def test_what_a_redirect_says_is_for_its_own_url(dropped: Scraped) -> None:
    assert dropped.requested("/there/") == ["/there/", "/there/a", "/there/b"]
    assert "/there/" in dropped.items


def test_a_page_that_the_parser_fails_on_reaches_its_callback(obeyed: Scraped) -> None:
    assert [pages(obeyed)[path] for path in ("/base", "/charset")] == [["noindex"]] * 2


def test_the_audit_log_names_pages_that_restrict(reported: Scraped, audit: Path) -> None:
    told = [json.loads(line) for line in audit.read_text().splitlines()]
    events = {event["url"]: event for event in told if event["event"] == "page"}
    event = events[f"{reported.site.origin}/header"]
    assert {name: event[name] for name in ("status", "directives", "said")} == {
        "status": 200,
        "directives": ["noindex"],
        "said": [{"text": "noindex", "source": "X-Robots-Tag", "agent": "mybot"}],
    }
    assert f"{reported.site.origin}/expires/" not in events


def test_a_sitemap_with_noindex_stops_nothing() -> None:
    with Site() as site:
        listed = sitemap(f"{site.origin}/a", f"{site.origin}/b")
        marked = Answer(body=listed.body, headers=[*listed.headers, x_robots_tag("noindex, nofollow")])
        site.answer("/sitemap.xml", marked)
        spider = "tests.crawl.sitemap_spiders:Scrapys"
        attributes = {"sitemap_urls": [f"{site.origin}/sitemap.xml"]}
        result = crawl(spider=spider, attributes=attributes, settings=DROP)
    assert sorted(result.urls) == [f"{site.origin}/a", f"{site.origin}/b"]
    assert not any(name.startswith("rep/page/") for name in result.stats)


def test_a_cached_page_says_what_it_said(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path), **DROP}
    with Site() as site:
        site.answer("/", html(LINKS, x_robots_tag("noindex, nofollow")))
        scrape(site, **settings)
        site.answer("/", html(LINKS))
        result = scrape(site, **settings)
    assert result.crawl.stats["httpcache/hit"] >= 1
    assert (result.crawl.urls, result.items) == ([f"{site.origin}/"], {})


def test_a_crawl_that_is_resumed_follows_what_pages_say(tmp_path: Path) -> None:
    extra: dict[str, Any] = {"JOBDIR": str(tmp_path), **DROP}
    with Site() as site:
        site.answer("/", html(LINKS))
        site.answer("/a", html('<a href="/c">c</a>', meta="none"))
        first = scrape(site, CLOSESPIDER_PAGECOUNT=1, CONCURRENT_REQUESTS=1, **extra)
        result = scrape(site, **extra)
    assert sorted(set(site.paths()) - {"/robots.txt"}) == ["/", "/a", "/b"]
    assert sorted({*first.items, *result.items}) == ["/", "/b"]


REL = '<a rel="nofollow" href="/a">a</a> <a rel="UGC, noopener" href="/b">b</a> <a href="/c">c</a>'
TWICE = f'{REL}<a href="/a">once more</a>'


@pytest.mark.parametrize(
    ("body", "settings", "followed"),
    [
        (REL, {}, "abc"),
        (REL, {"REP_REL_NOFOLLOW": "report"}, "abc"),
        (REL, {"REP_REL_NOFOLLOW": "obey"}, "bc"),
        (TWICE, {"REP_REL_NOFOLLOW": "obey"}, "abc"),
        (REL, {"REP_REL_NOFOLLOW": "obey", "REP_PAGE_DIRECTIVES": "ignore"}, "bc"),
    ],
)
def test_rel_of_a_link_counts_if_a_setting_says_so(body: str, settings: Any, followed: str) -> None:
    result = scrape({"/": html(body)}, **settings)
    assert result.requested() == ["/", *(f"/{name}" for name in followed)]
    if settings == {"REP_REL_NOFOLLOW": "report"}:
        assert result.stats("rep/page/") == {"rel_nofollow_count": 1}


def test_a_page_without_robots_txt_is_stamped_too() -> None:
    stamp = scrape({"/": html(meta="noindex")}, ROBOTSTXT_OBEY=False).stamps["/"]
    assert (stamp["mode"], stamp["page"]) == ("off", ["noindex"])


def test_long_pages_and_many_fields_are_read_up_to_a_bound() -> None:
    late = f"<p>{'x' * 3_000_000}</p>"
    fields = [*[x_robots_tag("noarchive")] * 300, x_robots_tag("nofollow")]
    situations = {"/late": html(late + META), "/early": html(META + late), "/many": html("", *fields)}
    result = scrape(situations, situations, LOG_LEVEL="INFO")
    assert pages(result) == {"/late": None, "/early": ["noindex"], "/many": ["nofollow", "noarchive"]}


def test_settings_that_cannot_be_used_say_what_to_write() -> None:
    result = crawl("data:,x", settings={"REP_PAGE_DIRECTIVES": "yes"})
    assert "REP_PAGE_DIRECTIVES = 'yes': expected one of ignore, report, obey" in str(result.lines("CRITICAL"))


WITHOUT_GATE = {"DOWNLOADER_MIDDLEWARES": {"scrapy_rep.RepMiddleware": None}}


@pytest.mark.parametrize("gate", [{}, {"ROBOTSTXT_OBEY": False}, WITHOUT_GATE], ids=str)
def test_a_stamp_that_a_request_copies_says_nothing_of_its_page(gate: dict[str, Any]) -> None:
    situations = {"/": html(meta="noindex, noai"), "/next": html()}
    result = scrape(situations, spider="CopiesMeta", REP_PURPOSES=["ai-train"], **gate)
    assert pages(result) == {"/": ["noindex", "noai"], "/next": None}
    assert result.crawl.stats["rep/ai/ai-train/no_count"] == 1


@pytest.mark.parametrize("settings", [OBEY, {"REP_REL_NOFOLLOW": "report"}], ids=str)
def test_pages_are_not_kept_in_memory(settings: dict[str, Any]) -> None:
    linked = {f"/{number}": html('<a rel="nofollow" href="/x">x</a>', meta="none") for number in range(20)}
    start = html("".join(f'<a href="{path}">x</a>' for path in linked), meta="noindex")
    result = scrape({"/": start, **linked}, spider="Forgets", **settings)
    assert len(result.requested()) >= 21
    assert result.crawl.stats["alive"] < 5


@pytest.mark.parametrize(
    ("settings", "enabled"),
    [
        ({}, ["PageDirectivesMiddleware"]),
        ({"REP_PAGE_DIRECTIVES": "ignore"}, []),
        ({"REP_FILTER_LINKS": "known"}, ["LinkFilter", "PageDirectivesMiddleware"]),
        ({"REP_ITEM_FIELD": "robots"}, ["ItemStamp", "PageDirectivesMiddleware"]),
        ({"REP_PURPOSES": "search"}, ["AiSignalsMiddleware", "PageDirectivesMiddleware"]),
    ],
)
def test_only_what_a_setting_asks_for_sees_pages(settings: dict[str, Any], enabled: list[str]) -> None:
    result = crawl("data:,x", settings=settings)
    (told,) = [line for line in result.lines("INFO", "scrapy.middleware") if "spider middlewares" in line]
    assert sorted(re.findall(r"scrapy_rep\.extras\.[\w.]+\.(\w+)", told)) == enabled
