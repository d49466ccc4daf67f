"""Signals about the use by AI are read for a declared purpose; the owner of the crawl decides what follows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import crawl, on_each_loop
from tests.support.exceptions import exception
from tests.support.site import Answer, Answers, Site, hang, redirect, robots, sequence, sitemap

from .scraping import Scraped, html, scrape, x_robots_tag

RESERVED = "User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\n"
LINKS = '<a href="/a">a</a>'
TDMREP = "/.well-known/tdmrep.json"
TRAIN: dict[str, Any] = {"REP_PURPOSES": ["ai-train"]}
OBEY: dict[str, Any] = {**TRAIN, "REP_AI_SIGNALS": "obey"}
REFUSE: dict[str, Any] = {**TRAIN, "REP_AI_SIGNALS": "refuse"}
USAGE_NO, USAGE_YES = ("Content-Usage", "train-ai=n"), ("Content-Usage", "train-ai=y")
SIGNAL_NO = ("Content-Signal", "ai-train=no")


def answers(result: Scraped) -> dict[str, str]:
    """What was said about training for each item, by path; "-" where nothing was read."""
    return {path: tag["ai"]["ai-train"] if tag and tag["ai"] else "-" for path, tag in result.items.items()}


def ai(result: Scraped, path: str = "/") -> dict[str, Any]:
    """The part of the stamp of a page that tells of signals."""
    return result.stamps[path]["ai"]


def stats(result: Scraped) -> dict[str, int]:
    return result.stats("rep/ai/")


def rsl(url: str, usage: str) -> Answer:
    license_ = f'<content url="{url}"><license><prohibits type="usage">{usage}</prohibits></license></content>'
    return html(f'<script type="application/rsl+xml"><rsl>{license_}</rsl></script>')


def tdmrep(**reserved: int) -> Answer:
    """The file of a site that reserves these paths, or does not."""
    rules = [{"location": f"/{path.strip('_')}", "tdm-reservation": value} for path, value in reserved.items()]
    return Answer(body=json.dumps(rules).encode(), headers=[("Content-Type", "application/json")])


SITUATIONS: dict[str, tuple[Answer, str]] = {
    "/usage-no": (html("", USAGE_NO), "no"),
    "/usage-yes": (html("", USAGE_YES), "yes"),
    "/signal": (html("", SIGNAL_NO), "no"),
    "/tdm-reservation": (html("", ("tdm-reservation", "1")), "no"),
    "/tdm-element": (html('<meta name="TDM-Reservation" content="1">'), "no"),
    "/noai": (html(meta="noai"), "no"),
    "/named-noai": (html("", x_robots_tag("mybot: noai")), "no"),
    "/rsl": (rsl("/", "ai-all"), "no"),
    "/silent": (html(), "unknown"),
    "/another-bot": (html("", x_robots_tag("otherbot: noai")), "unknown"),
    "/an-image-only": (html(meta="noimageai"), "unknown"),
    "/another-page": (rsl("/x", "all"), "unknown"),
    "/noarchive": (html(meta="noarchive"), "unknown"),
    "/nosnippet": (html(meta="nosnippet"), "unknown"),
    "/use": (html("", ("Content-Signal", "use=reference")), "unknown"),
    "/404": (html("", SIGNAL_NO, status=404), "no"),
}
"""Pages of a site that says nothing for all of them, and what each says about training to mybot."""

SAID = {path: said for path, (_, said) in SITUATIONS.items()}


def scraped(**settings: Any) -> Scraped:
    pages = {path: page for path, (page, _) in SITUATIONS.items()}
    return scrape(pages, pages, HTTPERROR_ALLOW_ALL=True, **{**TRAIN, **settings})


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audit") / "audit.jsonl"


@pytest.fixture(scope="module")
def reported(audit: Path) -> Scraped:
    return scraped(REP_AUDIT=str(audit))


@pytest.fixture(scope="module")
def obeyed() -> Scraped:
    return scraped(REP_AI_SIGNALS="obey")


def test_a_page_reserves_itself_in_many_ways_and_what_is_meant_for_others_says_nothing(
    reported: Scraped,
) -> None:
    assert answers(reported) == SAID
    counts = {f"ai-train/{said}_count": [*SAID.values()].count(said) for said in ("yes", "no", "unknown")}
    assert stats(reported) == {**counts, "file_count": 1}


def test_if_obeyed_items_of_a_page_that_reserves_itself_are_dropped(obeyed: Scraped) -> None:
    assert obeyed.requested() == sorted([*SITUATIONS, TDMREP])
    kept = {path: said for path, said in SAID.items() if said != "no" or path == "/404"}
    assert answers(obeyed) == kept, "an error page is not dropped"
    dropped = set(SAID) - set(kept)
    assert stats(obeyed)["item_dropped_count"] == len(dropped)
    for path in dropped:
        line = f"Item dropped, its page is reserved from ai-train: {obeyed.site.origin}{path}"
        assert line in obeyed.crawl.lines("DEBUG")


def test_directives_count_as_signals_if_a_setting_says_so() -> None:
    assert answers(scraped(REP_AI_SOURCES="bing")) == {**SAID, "/noarchive": "no"}
    google = scraped(REP_PURPOSES="ai-input", REP_AI_SOURCES="google")
    said = {path: ai(google, path)["answers"]["ai-input"] for path in ("/nosnippet", "/noarchive")}
    assert said == {"/nosnippet": "no", "/noarchive": "unknown"}


def test_silence_may_mean_no() -> None:
    assert answers(scraped(REP_AI_SIGNALS="obey", REP_AI_UNKNOWN="no")) == {"/usage-yes": "yes", "/404": "no"}


def test_the_audit_log_names_pages_that_are_reserved(reported: Scraped, audit: Path) -> None:
    events = [event for line in audit.read_text().splitlines() if (event := json.loads(line))["event"] == "ai"]
    by_path = {event["url"].removeprefix(reported.site.origin): event for event in events}
    assert set(by_path) == {path for path, said in SAID.items() if said == "no"}
    event = by_path["/usage-no"]
    assert (event["status"], event["reserved"], event["purposes"]) == (200, True, ["ai-train"])
    assert event["statements"][0]["text"] == "train-ai=n"


def test_what_robots_txt_says_about_a_declared_purpose_is_reported() -> None:
    result = scrape({"/robots.txt": robots(RESERVED)}, **TRAIN)
    statement = {"signal": "Content-Signal", "source": "robots.txt", "line": 2, "irregular": False}
    assert answers(result) == {"/": "no"}
    assert ai(result) == {
        "answers": {"search": "yes", "ai-input": "unknown", "ai-train": "no", "ai-index": "unknown"},
        "statements": [
            {**statement, "category": "ai-train", "allows": False, "text": "ai-train=no"},
            {**statement, "category": "search", "allows": True, "text": "search=yes"},
        ],
        "licenses": [],
    }
    assert stats(result) == {"file_count": 1, "ai-train/no_count": 1}


def test_without_a_declared_purpose_nothing_is_read_or_requested() -> None:
    result = scrape({"/robots.txt": robots(RESERVED)})
    assert result.site.paths() == ["/robots.txt", "/"]
    assert (answers(result), stats(result)) == ({"/": "-"}, {})


MIXED = """\
User-agent: *
Content-Usage: train-ai=n
Content-Usage: /open/ train-ai=y
Content-Usage: /open/*.jpg train-ai=n
"""
HUB: dict[str, Answers] = {
    "/robots.txt": robots(MIXED),
    "/": html('<a href="/open/a">a</a> <a href="/closed">b</a> <a href="/gone">c</a>'),
    "/gone": html(status=404),
}
"""A site that reserves its pages but one, which a page that is reserved leads to."""


def saving(folder: Path) -> dict[str, Any]:
    """The settings with which files are saved in *folder*."""
    return {"ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1}, "FILES_STORE": str(folder)}


def test_aipref_if_obeyed_a_reserved_page_is_read_for_its_links_and_its_item_dropped(tmp_path: Path) -> None:
    files: dict[str, Any] = {
        "ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1},
        "FILES_STORE": str(tmp_path),
    }
    result = scrape(HUB, spider="Saves", HTTPERROR_ALLOW_ALL=True, **OBEY, **files)
    assert result.requested() == sorted(["/", "/open/a", "/closed", "/gone", TDMREP]), "and not /open/photo.jpg"
    assert answers(result) == {"/open/a": "yes"}
    assert stats(result) == {
        "file_count": 1, "ai-train/no_count": 3, "ai-train/yes_count": 1, "item_dropped_count": 3,
        "refused_count": 1,
    }  # fmt: skip
    assert [stamp["verdict"] for stamp in result.stamps.values()] == ["allowed"] * 4


def test_a_reserved_file_is_saved_where_signals_are_reported(tmp_path: Path) -> None:
    files: dict[str, Any] = {
        "ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1},
        "FILES_STORE": str(tmp_path),
    }
    assert scrape(HUB, ["/open/a"], spider="Saves", **TRAIN, **files).site.count("/open/photo.jpg") == 1


def test_if_refused_a_page_that_robots_txt_reserves_is_not_requested() -> None:
    result = scrape({"/robots.txt": robots(RESERVED)}, **REFUSE)
    assert result.site.paths() == ["/robots.txt", TDMREP]
    (failure,) = result.crawl.failures
    assert (failure.type, failure.reason, failure.line) == ("ForbiddenByRobots", "ai-signal", 2)
    assert failure.message == "Forbidden by robots.txt (line 2, ai-signal)"


def test_another_purpose_is_not_reserved() -> None:
    result = scrape({"/robots.txt": robots(RESERVED)}, REP_PURPOSES=["search"], REP_AI_SIGNALS="obey")
    assert result.site.paths() == ["/robots.txt", "/"]  # tdmrep.json says nothing of search
    assert list(result.items) == ["/"]


def test_aipref_the_group_of_the_crawler_speaks_for_its_paths() -> None:
    rules = "User-agent: mybot\nContent-Usage: train-ai=n\nContent-Usage: /open/ train-ai=y\n"
    text = f"User-agent: *\nContent-Usage: train-ai=y\n{rules}"
    assert answers(scrape({"/robots.txt": robots(text)}, ["/", "/open/x"], **TRAIN)) == {
        "/": "no",
        "/open/x": "yes",
    }


def test_tdmrep_the_file_of_a_site_speaks_for_its_paths_and_pages_overrule_it() -> None:
    pages = {
        TDMREP: tdmrep(a=0, _=1),
        "/b": html("", ("tdm-reservation", "0")),
        "/c": html('<meta name="tdm-reservation" content="0">', ("tdm-reservation", "1")),
    }
    result = scrape(pages, ["/", "/a", "/b", "/c"], **TRAIN)
    assert result.site.count(TDMREP) == 1
    assert answers(result) == {"/": "no", "/a": "yes", "/b": "yes", "/c": "yes"}


@pytest.mark.parametrize(
    "answer",
    [Answer(503), Answer(404), Answer(body=b"<html>"), Answer(resets=True), redirect("/private/tdm.json")],
)
def test_tdmrep_a_file_that_cannot_be_read_says_nothing(answer: Answer) -> None:
    """Nor one behind a redirect that robots.txt forbids to follow."""
    rules = robots("User-agent: *\nDisallow: /private/\n")
    result = scrape({"/robots.txt": rules, TDMREP: answer, "/private/tdm.json": tdmrep(_=1)}, **TRAIN)
    assert result.site.count("/private/tdm.json") == 0
    assert answers(result) == {"/": "unknown"}


def test_a_file_that_robots_txt_forbids_is_not_fetched() -> None:
    result = scrape({"/robots.txt": robots("User-agent: *\nDisallow: /.well-known/\n")}, **TRAIN)
    assert result.site.paths() == ["/robots.txt", "/"]
    assert answers(result) == {"/": "unknown"}


@on_each_loop
def test_the_file_is_fetched_at_the_pace_of_the_site(loop: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.3\n"))
        result = crawl(f"{site.origin}/", loop=loop, settings=TRAIN)
    assert site.paths() == ["/robots.txt", TDMREP, "/"]
    assert all(gap >= 0.3 for gap in result.gaps())


def test_the_file_is_stored_with_the_robots_txt(tmp_path: Path) -> None:
    settings = {**TRAIN, "REP_STORE_PATH": str(tmp_path / "robots.sqlite")}
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /x\n"))
        site.answer(TDMREP, tdmrep(_=1))
        scrape(site, **settings)
        result = scrape(site, **settings)
    assert site.paths() == ["/robots.txt", TDMREP, "/", "/"]
    assert answers(result) == {"/": "no"}
    assert "file_count" not in stats(result)


def test_spawning_an_ai_txt_counts_if_a_setting_says_so() -> None:
    pages: dict[str, Answers] = {"/ai.txt": robots("User-Agent: *\nDisallow: *.jpg\nAllow: /\n")}
    result = scrape(pages, ["/", "/a.jpg"], REP_AI_SOURCES="ai.txt", **TRAIN)
    without = scrape(pages, ["/", "/a.jpg"], **TRAIN)
    assert (result.site.count("/ai.txt"), without.site.count("/ai.txt")) == (1, 0)
    assert answers(result) == {"/": "yes", "/a.jpg": "no"}
    assert stats(result)["file_count"] == 2
    assert answers(without) == {"/": "unknown", "/a.jpg": "unknown"}


def test_a_redirect_is_judged_by_the_signals_of_its_target() -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        first, second = site.origins
        site.answer("/robots.txt", robots(RESERVED), second)
        site.answer("/", redirect(f"{second}/page"), first)
        result = crawl(f"{first}/", settings=REFUSE)
    assert [failure.reason for failure in result.failures] == ["ai-signal"]


def test_where_a_response_arrives_decides_whether_it_is_used(tmp_path: Path) -> None:
    """Through a browser or an API, which follows redirects by itself."""
    arrives: dict[str, Any] = {
        "DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.Arrives": 800},
        "REP_FORBIDDEN_RESPONSE": "drop",
    }
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        first, second = site.origins
        site.answer("/robots.txt", robots(RESERVED), second)
        site.answer("/", html('<a href="/page">a</a>'), first)
        for path in ("/page", "/photo.jpg"):
            site.answer(path, html("", ("X-Final-Url", f"{second}{path}")), first)
        result = scrape(site, spider="Saves", **OBEY, **saving(tmp_path), **arrives)
    assert {"/page", "/photo.jpg"} < set(site.paths(first))
    assert answers(result) == {"/": "unknown"}
    assert not [*tmp_path.rglob("*.jpg")]


def test_a_cached_page_is_judged_by_its_own_signals(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path), **OBEY}
    with Site() as site:
        site.answer("/", html("", SIGNAL_NO))
        scrape(site, **settings)
        site.answer("/", html())
        assert answers(scrape(site, **settings)) == {}


def test_in_report_mode_a_reserved_page_is_requested_and_its_item_kept() -> None:
    result = scrape({"/robots.txt": robots(RESERVED)}, **REFUSE, REP_MODES={"127.0.0.1": "report"})
    assert (result.stamps["/"]["verdict"], result.stamps["/"]["reason"]) == ("reported", "ai-signal")
    assert answers(result) == {"/": "no"}
    assert stats(result)["ai-train/no_count"] == 1


def granted(site: Site, *paths: str, kind: str = "ai-signal") -> dict[str, Any]:
    return {"REP_EXCEPTIONS": [exception(f"{site.origin}{path}", **{"for": kind}) for path in paths]}


def test_an_exception_may_cover_what_a_signal_reserves_and_the_page_keeps_what_was_said() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RESERVED))
        result = scrape(site, ["/granted", "/other"], **REFUSE, **granted(site, "/granted"))
    assert result.site.paths() == ["/robots.txt", TDMREP, "/granted"]
    assert answers(result) == {"/granted": "no"}
    assert ai(result, "/granted")["answers"]["ai-train"] == "no"
    assert stats(result)["ai-train/no_count"] == 1
    assert result.crawl.stats["rep/exception/used_count"] == 1, "the gate has counted it"


def test_an_exception_covers_what_the_page_or_the_site_reserves_too() -> None:
    with Site() as site:
        site.answer(TDMREP, tdmrep(**{"by-site": 1}))
        for path in ("/", "/other"):
            site.answer(path, html("", USAGE_NO))
        result = scrape(site, ["/", "/by-site", "/other"], **OBEY, **granted(site, "/$", "/by-site"))
    assert answers(result) == {"/": "no", "/by-site": "no"}
    assert stats(result)["item_dropped_count"] == 1
    assert result.crawl.stats["rep/exception/used_count"] == 2


def test_a_page_that_is_excepted_from_its_delay_keeps_what_was_said_about_it() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RESERVED + "Crawl-delay: 0.1\n"))
        result = scrape(site, **TRAIN, **granted(site, "/$", kind="crawl-delay"))
    assert ai(result)["answers"]["ai-train"] == "no"


def test_licenses_are_named_those_of_the_page_first() -> None:
    link = ("Link", '<https://e.org/page.xml>; rel="license"; type="application/rsl+xml"')
    with Site() as site:
        site.answer("/robots.txt", robots(f"License: {site.origin}/site.xml\nUser-agent: *\nDisallow:\n"))
        site.answer("/", html("", link))
        result = scrape(site, ["/", "/a"], **TRAIN)
    assert ai(result)["licenses"] == ["https://e.org/page.xml"]
    assert ai(result, "/a")["licenses"] == [f"{site.origin}/site.xml"]


def test_a_robots_txt_that_changes_counts_from_its_fetch_on() -> None:
    quick = [("Cache-Control", "max-age=0")]
    rules = sequence(*(Answer(body=text.encode(), headers=quick) for text in ("", RESERVED)))
    result = scrape({"/robots.txt": rules, "/": html(LINKS, delay=0.3)}, **TRAIN, REP_MIN_TTL=0.1)
    assert answers(result) == {"/": "unknown", "/a": "no"}


def test_a_purpose_that_nobody_knows_is_refused() -> None:
    result = crawl("data:,x", settings={"REP_PURPOSES": ["training"]})
    message = "REP_PURPOSES = ['training']: expected a list of search, ai-input, ai-train, ai-index"
    assert message in str(result.lines("CRITICAL"))


@on_each_loop
def test_a_file_that_hangs_holds_requests_up_once_and_says_nothing(loop: str) -> None:
    with Site() as site:
        site.answer(TDMREP, hang())
        urls = [f"{site.origin}/{number}" for number in range(20)]
        result = crawl(*urls, loop=loop, settings={**TRAIN, "REP_TIMEOUT": 0.4})
        assert (site.count(TDMREP), site.count("/robots.txt")) == (1, 1)
    assert sorted(result.urls) == sorted(urls)


@on_each_loop
def test_a_crawl_that_is_interrupted_does_not_wait_for_the_file(loop: str) -> None:
    with Site() as site:
        site.answer(TDMREP, hang())
        urls = [f"{site.origin}/{number}" for number in range(5)]
        settings = {**TRAIN, "REP_TIMEOUT": 60.0}
        result = crawl(*urls, loop=loop, settings=settings, interrupt_when=lambda: site.count(TDMREP) > 0)
    assert result.reason == "shutdown"
    assert result.seconds < 60


def test_a_sitemap_is_no_page_that_is_reserved() -> None:
    with Site() as site:
        listed = sitemap(f"{site.origin}/a")
        site.answer("/sitemap.xml", Answer(body=listed.body, headers=[*listed.headers, SIGNAL_NO]))
        attributes = {"sitemap_urls": [f"{site.origin}/sitemap.xml"]}
        result = crawl(spider="tests.crawl.sitemap_spiders:Scrapys", attributes=attributes, settings=OBEY)
    assert (result.urls, result.stats["rep/ai/ai-train/unknown_count"]) == ([f"{site.origin}/a"], 1)
    assert "rep/ai/ai-train/no_count" not in result.stats


def test_if_reserved_pages_are_refused_a_sitemap_is_read_to_find_the_others() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(MIXED))
        site.answer("/sitemap.xml", sitemap(f"{site.origin}/closed", f"{site.origin}/open/a"))
        attributes = {"sitemap_urls": [f"{site.origin}/sitemap.xml"]}
        result = crawl(spider="tests.crawl.sitemap_spiders:Scrapys", attributes=attributes, settings=REFUSE)
    assert site.paths() == ["/robots.txt", TDMREP, "/sitemap.xml", "/open/a"]
    assert result.stats["robotstxt/forbidden"] == 1


@pytest.mark.parametrize("parser", ["scrapy.robotstxt.ProtegoRobotParser", "scrapy.robotstxt.PythonRobotParser"])
def test_signals_are_read_with_any_parser_back_end(parser: str) -> None:
    pages = {"/robots.txt": robots(RESERVED)}
    assert answers(scrape(pages, **TRAIN, ROBOTSTXT_PARSER=parser)) == {"/": "no"}
    refused = scrape(pages, **REFUSE, ROBOTSTXT_PARSER=parser)
    assert [failure.reason for failure in refused.crawl.failures] == ["ai-signal"]
