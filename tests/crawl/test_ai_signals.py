"""Signals about the use by AI are read for a declared purpose; the owner of the crawl decides what follows."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.crawl.test_page_directives import HTML, SCRAPES, html, paths, x_robots_tag
from tests.support.crawl import Crawl, crawl, on_each_loop
from tests.support.exceptions import exception
from tests.support.site import Answer, Site, hang, robots, sequence, sitemap

RESERVED = "User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\n"
LINKS = '<a href="/a">a</a>'
TDMREP = "/.well-known/tdmrep.json"
TRAIN: dict[str, Any] = {"REP_PURPOSES": ["ai-train"]}
OBEY: dict[str, Any] = {**TRAIN, "REP_AI_SIGNALS": "obey"}


def scrape(site: Site, path: str = "/", loop: str = "asyncio", **settings: Any) -> Crawl:
    settings = {"REP_ITEM_FIELD": "robots", "USER_AGENT": "mybot/1.0", **settings}
    return crawl(f"{site.origin}{path}", spider=SCRAPES, loop=loop, settings=settings)


def answers(result: Crawl) -> dict[str, str]:
    """What was said about training for each item, by path; "-" where nothing was read."""
    tags = {urlsplit(page.url[5:]).path: page.tag for page in result.pages if page.url.startswith("item:")}
    return {path: tag["ai"]["ai-train"] if tag and tag["ai"] else "-" for path, tag in tags.items()}


def ai(result: Crawl, path: str = "/") -> dict[str, Any]:
    """The part of the stamp of a page that tells of signals."""
    (stamp,) = (page.stamp for page in result.pages if page.stamp and urlsplit(page.url).path == path)
    return stamp["ai"]


def stats(result: Crawl) -> dict[str, int]:
    return {name[7:]: value for name, value in result.stats.items() if name.startswith("rep/ai/")}


@on_each_loop
def test_ours_what_robots_txt_says_about_a_declared_purpose_is_reported(loop: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RESERVED))
        result = scrape(site, loop=loop, **TRAIN)
    assert answers(result) == {"/": "no"}
    assert ai(result) == {
        "answers": {"search": "yes", "ai-input": "unknown", "ai-train": "no", "ai-index": "unknown"},
        "statements": [
            {"signal": "Content-Signal", "category": "ai-train", "allows": False, "source": "robots.txt",
             "text": "ai-train=no", "line": 2, "irregular": False},
            {"signal": "Content-Signal", "category": "search", "allows": True, "source": "robots.txt",
             "text": "search=yes", "line": 2, "irregular": False},
        ],
        "licenses": [],
    }  # fmt: skip
    assert stats(result) == {"file_count": 1, "ai-train/no_count": 1}


def test_ours_without_a_declared_purpose_nothing_is_read_or_requested() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RESERVED))
        result = scrape(site)
        assert [arrival.path for arrival in site.log] == ["/robots.txt", "/"]
    assert (answers(result), stats(result)) == ({"/": "-"}, {})


@on_each_loop
def test_ours_if_obeyed_a_page_that_robots_txt_reserves_is_not_requested(loop: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RESERVED))
        result = crawl(f"{site.origin}/page", loop=loop, settings=OBEY)
        assert [arrival.path for arrival in site.log] == ["/robots.txt", TDMREP]
    failure = result.failure(f"{site.origin}/page")
    assert (failure.type, failure.reason, failure.line) == ("ForbiddenByRobots", "ai-signal", 2)
    assert failure.message == "Forbidden by robots.txt (line 2, ai-signal)"


@on_each_loop
def test_ours_if_obeyed_items_of_a_page_that_reserves_itself_are_dropped(loop: str) -> None:
    with Site() as site:
        site.answer("/", html(LINKS, ("Content-Usage", "train-ai=n")))
        site.answer("/a", html("", ("Content-Usage", "train-ai=y")))
        result = scrape(site, loop=loop, **OBEY)
    assert paths(result) == ["/", "/a"]
    assert answers(result) == {"/a": "yes"}
    assert stats(result) == {
        "file_count": 1, "ai-train/no_count": 1, "ai-train/yes_count": 1, "item_dropped_count": 1,
    }  # fmt: skip
    assert f"Item dropped, its page is reserved from ai-train: {site.origin}/" in result.lines("DEBUG")


PAGES = {
    "Content-Usage": html("", ("Content-Usage", "train-ai=n")),
    "Content-Signal": html("", ("Content-Signal", "ai-train=no")),
    "tdm-reservation": html("", ("tdm-reservation", "1")),
    "meta": html('<meta name="TDM-Reservation" content="1">'),
    "noai": html(meta="noai"),
    "named noai": html("", x_robots_tag("mybot: noai")),
    "RSL": html('<script type="application/rsl+xml"><rsl><content url="/"><license><prohibits type="usage">ai-all'
                "</prohibits></license></content></rsl></script>"),
}  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_ours_a_page_reserves_itself_in_many_ways(name: str) -> None:
    with Site() as site:
        site.answer("/", PAGES[name])
        assert answers(scrape(site, **TRAIN)) == {"/": "no"}


OTHERS = {
    "another bot": html("", x_robots_tag("otherbot: noai")),
    "an image only": html(meta="noimageai"),
    "another page": html(
        '<script type="application/rsl+xml"><rsl><content url="/x"><license><prohibits type="usage">all'
        "</prohibits></license></content></rsl></script>"
    ),
    "noarchive": html(meta="noarchive"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_ours_what_is_meant_for_others_says_nothing(name: str) -> None:
    with Site() as site:
        site.answer("/", OTHERS[name])
        assert answers(scrape(site, **TRAIN)) == {"/": "unknown"}


def test_ours_directives_count_as_signals_if_a_setting_says_so() -> None:
    with Site() as site:
        site.answer("/", html(LINKS, meta="noarchive"))
        site.answer("/a", html(meta="nosnippet"))
        bing = scrape(site, **TRAIN, REP_AI_SOURCES="bing")
        google = scrape(site, REP_PURPOSES="ai-input", REP_AI_SOURCES="google")
    assert answers(bing) == {"/": "no", "/a": "unknown"}
    assert stats(google) == {"file_count": 1, "ai-input/unknown_count": 1, "ai-input/no_count": 1}


def test_ours_silence_may_mean_no() -> None:
    with Site() as site:
        site.answer("/", html(LINKS))
        site.answer("/a", html("", ("Content-Usage", "train-ai=y")))
        result = scrape(site, **OBEY, REP_AI_UNKNOWN="no")
    assert answers(result) == {"/a": "yes"}


def test_ours_another_purpose_is_not_reserved() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RESERVED))
        result = scrape(site, REP_PURPOSES=["search"], REP_AI_SIGNALS="obey")
        assert [arrival.path for arrival in site.log] == ["/robots.txt", "/"]  # tdmrep.json says nothing of search
    assert paths(result) == ["/"]


def test_aipref_the_group_of_the_crawler_speaks_for_its_paths() -> None:
    rules = "User-agent: mybot\nContent-Usage: train-ai=n\nContent-Usage: /open/ train-ai=y\n"
    with Site() as site:
        site.answer("/robots.txt", robots(f"User-agent: *\nContent-Usage: train-ai=y\n{rules}"))
        site.answer("/", html('<a href="/open/x">x</a>'))
        result = scrape(site, **TRAIN)
    assert answers(result) == {"/": "no", "/open/x": "yes"}


def tdmrep(*rules: dict[str, Any]) -> Answer:
    return Answer(body=json.dumps(rules).encode(), headers=[("Content-Type", "application/json")])


@on_each_loop
def test_tdmrep_the_file_of_a_site_speaks_for_its_paths_and_pages_overrule_it(loop: str) -> None:
    with Site() as site:
        site.answer(
            TDMREP, tdmrep({"location": "/a", "tdm-reservation": 0}, {"location": "/", "tdm-reservation": 1})
        )
        site.answer("/", html('<a href="/a">a</a><a href="/b">b</a><a href="/c">c</a>'))
        site.answer("/b", html("", ("tdm-reservation", "0")))
        site.answer("/c", html('<meta name="tdm-reservation" content="0">', ("tdm-reservation", "1")))
        result = scrape(site, loop=loop, **TRAIN)
        assert [arrival.path for arrival in site.log].count(TDMREP) == 1
    assert answers(result) == {"/": "no", "/a": "yes", "/b": "yes", "/c": "yes"}


@on_each_loop
def test_ours_the_file_is_fetched_at_the_pace_of_the_site(loop: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.5\n"))
        scrape(site, loop=loop, **TRAIN)
        times = [(arrival.path, arrival.time) for arrival in site.log]
    assert [path for path, _ in times] == ["/robots.txt", TDMREP, "/"]
    assert all(after - before >= 0.49 for (_, before), (_, after) in pairwise(times))


def test_ours_the_file_is_stored_with_the_robots_txt(tmp_path: Path) -> None:
    settings = {**TRAIN, "REP_STORE_PATH": str(tmp_path / "robots.sqlite")}
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /x\n"))
        site.answer(TDMREP, tdmrep({"location": "/", "tdm-reservation": 1}))
        scrape(site, **settings)
        result = scrape(site, **settings)
        assert [arrival.path for arrival in site.log] == ["/robots.txt", TDMREP, "/", "/"]
    assert answers(result) == {"/": "no"}
    assert "file_count" not in stats(result)


def test_ours_a_file_that_robots_txt_forbids_is_not_fetched() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /.well-known/\n"))
        result = scrape(site, **TRAIN)
        assert [arrival.path for arrival in site.log] == ["/robots.txt", "/"]
    assert answers(result) == {"/": "unknown"}


@pytest.mark.parametrize("answer", [Answer(503), Answer(404), Answer(body=b"<html>"), Answer(resets=True)])
def test_tdmrep_a_file_that_cannot_be_read_says_nothing(answer: Answer) -> None:
    with Site() as site:
        site.answer(TDMREP, answer)
        result = scrape(site, **TRAIN)
    assert answers(result) == {"/": "unknown"}


@on_each_loop
def test_spawning_an_ai_txt_counts_if_a_setting_says_so(loop: str) -> None:
    with Site() as site:
        site.answer("/ai.txt", robots("User-Agent: *\nDisallow: *.jpg\nAllow: /\n"))
        site.answer("/", html('<a href="/a.jpg">a</a>'))
        result = scrape(site, loop=loop, REP_AI_SOURCES="ai.txt", **TRAIN)
        without = scrape(site, loop=loop, **TRAIN)
        assert [arrival.path for arrival in site.log].count("/ai.txt") == 1
    assert answers(result) == {"/": "yes", "/a.jpg": "no"}
    assert stats(result)["file_count"] == 2
    assert answers(without) == {"/": "unknown", "/a.jpg": "unknown"}


@on_each_loop
def test_ours_a_redirect_is_judged_by_the_signals_of_its_target(loop: str) -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        first, second = site.origins
        site.answer("/robots.txt", robots(RESERVED), second)
        site.answer("/", Answer(302, headers=[("Location", f"{second}/page")]), first)
        result = crawl(f"{first}/", loop=loop, settings=OBEY)
    assert [failure.reason for failure in result.failures] == ["ai-signal"]


@on_each_loop
def test_ours_a_cached_page_is_judged_by_its_own_signals(loop: str, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path), **OBEY}
    with Site() as site:
        site.answer("/", html("", ("Content-Signal", "ai-train=no")))
        scrape(site, loop=loop, **settings)
        site.answer("/", html())
        result = scrape(site, loop=loop, **settings)
    assert answers(result) == {}


def test_ours_in_report_mode_a_reserved_page_is_requested_and_reported() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RESERVED))
        result = crawl(f"{site.origin}/", settings={**OBEY, "REP_MODES": {site.origin: "report"}})
    (page,) = result.pages
    assert page.stamp is not None
    assert (page.stamp["verdict"], page.stamp["reason"]) == ("reported", "ai-signal")


def test_ours_an_exception_may_cover_what_a_signal_reserves() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RESERVED))
        granted = exception(f"{site.origin}/granted", **{"for": ["ai-signal"]})
        urls = [f"{site.origin}/granted", f"{site.origin}/other"]
        result = crawl(*urls, settings={**OBEY, "REP_EXCEPTIONS": [granted]})
    assert result.urls == urls[:1]


def test_ours_an_exception_covers_what_the_page_or_the_site_reserves_too() -> None:
    with Site() as site:
        site.answer(TDMREP, Answer(body=b'[{"location": "/by-site", "tdm-reservation": 1}]'))
        body = '<a href="/by-site">1</a> <a href="/other">2</a>'
        for path in ("/", "/other"):
            site.answer(path, html(body, ("Content-Usage", "train-ai=n")))
        granted = [exception(f"{site.origin}/{path}", **{"for": "ai-signal"}) for path in ("$", "by-site")]
        result = scrape(site, **OBEY, REP_EXCEPTIONS=granted)
    assert answers(result) == {"/": "no", "/by-site": "no"}
    assert stats(result)["item_dropped_count"] == 1
    assert result.stats["rep/exception/used_count"] == 2


def test_ours_an_excepted_page_keeps_what_was_said_about_it() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RESERVED + "Crawl-delay: 0.1\n"))
        granted = [exception(f"{site.origin}/{path}$", **{"for": kind}) for path, kind in
                   [("signal", "ai-signal"), ("delay", "crawl-delay")]]  # fmt: skip
        urls = [f"{site.origin}/signal", f"{site.origin}/delay"]
        obeyed = crawl(urls[0], settings={**OBEY, "REP_EXCEPTIONS": granted})
        reported = crawl(urls[1], settings={**TRAIN, "REP_EXCEPTIONS": granted})
    assert ai(obeyed, "/signal")["answers"]["ai-train"] == "no"
    assert ai(reported, "/delay")["answers"]["ai-train"] == "no"


def test_ours_the_mode_report_drops_no_item_of_a_reserved_page() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RESERVED))
        result = scrape(site, **OBEY, REP_MODES={site.origin: "report"})
    assert answers(result) == {"/": "no"}


def test_ours_an_error_page_is_not_dropped() -> None:
    with Site() as site:
        site.answer("/", html("", ("Content-Signal", "ai-train=no"), status=404))
        result = scrape(site, HTTPERROR_ALLOW_ALL=True, **OBEY)
    assert answers(result) == {"/": "no"}


def test_ours_licenses_are_named_those_of_the_page_first() -> None:
    link = ("Link", '<https://e.org/page.xml>; rel="license"; type="application/rsl+xml"')
    with Site() as site:
        site.answer("/robots.txt", robots("License: https://e.org/site.xml\nUser-agent: *\nDisallow:\n"))
        site.answer("/", html(LINKS, link))
        result = scrape(site, **TRAIN)
    assert ai(result)["licenses"] == ["https://e.org/page.xml"]
    assert ai(result, "/a")["licenses"] == ["https://e.org/site.xml"]


def test_ours_a_use_above_the_level_that_is_allowed_is_counted() -> None:
    with Site() as site:
        site.answer("/", html("", ("Content-Signal", "use=reference")))
        assert stats(scrape(site, **TRAIN, REP_CONTENT_USE="full"))["content_use_exceeded_count"] == 1
        assert "content_use_exceeded_count" not in stats(scrape(site, **TRAIN, REP_CONTENT_USE="reference"))


def test_ours_the_audit_log_names_pages_that_are_reserved(tmp_path: Path) -> None:
    audit = tmp_path / "audit.jsonl"
    with Site() as site:
        site.answer("/", html(LINKS, ("Content-Usage", "train-ai=n")))
        scrape(site, **TRAIN, REP_AUDIT=str(audit))
    events = [json.loads(line) for line in audit.read_text().splitlines()]
    (event,) = (event for event in events if event["event"] == "ai")
    assert {name: event[name] for name in ("url", "status", "reserved", "purposes")} == {
        "url": f"{site.origin}/",
        "status": 200,
        "reserved": True,
        "purposes": ["ai-train"],
    }
    assert event["statements"][0]["text"] == "train-ai=n"


def test_ours_a_robots_txt_that_changes_counts_from_its_fetch_on() -> None:
    with Site() as site:
        quick = [("Cache-Control", "max-age=0")]
        site.answer(
            "/robots.txt", sequence(*(Answer(body=text.encode(), headers=quick) for text in ("", RESERVED)))
        )
        site.answer("/", Answer(body=LINKS.encode(), headers=[HTML], delay=0.3))
        result = scrape(site, **TRAIN, REP_MIN_TTL=0.1)
    assert answers(result) == {"/": "unknown", "/a": "no"}


def test_ours_a_purpose_that_nobody_knows_is_refused() -> None:
    result = crawl("data:,x", settings={"REP_PURPOSES": ["training"]}, apart=True)
    assert "REP_PURPOSES = ['training']: expected a list of search, ai-input, ai-train, ai-index" in str(
        result.lines("CRITICAL")
    )


@pytest.mark.parametrize("mode", ["report", "exception"])
@on_each_loop
def test_ours_a_reserved_page_that_passes_says_so_and_keeps_its_items(loop: str, mode: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RESERVED))
        granted = exception(f"{site.origin}/page", **{"for": ["ai-signal"]})
        passes = {"REP_MODES": {site.origin: "report"}} if mode == "report" else {"REP_EXCEPTIONS": [granted]}
        result = scrape(site, "/page", loop, **OBEY, **passes)
    assert answers(result) == {"/page": "no"}
    assert stats(result)["ai-train/no_count"] == 1


@on_each_loop
def test_ours_an_exception_covers_what_a_page_or_a_tdmrep_json_reserves(loop: str) -> None:
    with Site() as site:
        site.answer(TDMREP, tdmrep({"location": "/a", "tdm-reservation": 1}))
        site.answer("/", html('<a href="/a">a</a><a href="/b">b</a>', ("Content-Usage", "train-ai=n")))
        site.answer("/b", html("", ("Content-Usage", "train-ai=n")))
        granted = [exception(f"{site.origin}{path}", **{"for": ["ai-signal"]}) for path in ("/$", "/a")]
        result = scrape(site, loop=loop, **OBEY, REP_EXCEPTIONS=granted)
    assert answers(result) == {"/": "no", "/a": "no"}


def test_ours_a_redirect_of_the_file_to_what_robots_txt_forbids_is_not_followed() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private/\n"))
        site.answer(TDMREP, Answer(302, headers=[("Location", "/private/tdm.json")]))
        site.answer("/private/tdm.json", tdmrep({"location": "/", "tdm-reservation": 1}))
        result = scrape(site, **TRAIN)
        assert site.count("/private/tdm.json") == 0
    assert answers(result) == {"/": "unknown"}


@on_each_loop
def test_ours_a_file_that_hangs_holds_requests_up_once_and_says_nothing(loop: str) -> None:
    with Site() as site:
        site.answer(TDMREP, hang())
        urls = [f"{site.origin}/{number}" for number in range(20)]
        result = crawl(*urls, loop=loop, settings={**TRAIN, "REP_TIMEOUT": 1.0})
        assert (site.count(TDMREP), site.count("/robots.txt")) == (1, 1)
    assert sorted(result.urls) == sorted(urls)
    assert result.seconds < 10


@on_each_loop
def test_ours_a_crawl_that_is_interrupted_does_not_wait_for_the_file(loop: str) -> None:
    with Site() as site:
        site.answer(TDMREP, hang())
        urls = [f"{site.origin}/{number}" for number in range(5)]
        result = crawl(
            *urls, loop=loop, settings={**TRAIN, "REP_TIMEOUT": 5.0}, interrupt_when=lambda: site.count(TDMREP) > 0
        )
    assert result.reason == "shutdown"
    assert result.seconds < 15


def test_ours_a_sitemap_is_no_page_that_is_reserved() -> None:
    with Site() as site:
        listed = sitemap(f"{site.origin}/a")
        marked = Answer(body=listed.body, headers=[*listed.headers, ("Content-Signal", "ai-train=no")])
        site.answer("/sitemap.xml", marked)
        attributes = {"sitemap_urls": [f"{site.origin}/sitemap.xml"]}
        spider = "tests.crawl.sitemap_spiders:Scrapys"
        result = crawl(spider=spider, attributes=attributes, settings=OBEY)
    assert (paths(result), stats(result)["ai-train/unknown_count"]) == (["/a"], 1)
    assert "ai-train/no_count" not in stats(result)


@pytest.mark.parametrize("parser", ["scrapy.robotstxt.ProtegoRobotParser", "scrapy.robotstxt.PythonRobotParser"])
def test_ours_signals_are_read_with_any_parser_back_end(parser: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RESERVED))
        result = scrape(site, **TRAIN, ROBOTSTXT_PARSER=parser)
        refused = crawl(f"{site.origin}/", settings={**OBEY, "ROBOTSTXT_PARSER": parser})
    assert answers(result) == {"/": "no"}
    assert [failure.reason for failure in refused.failures] == ["ai-signal"]
