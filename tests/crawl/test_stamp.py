"""The stamp says what robots.txt said when the request was sent, wherever the request has been before."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.support.crawl import crawl, on_each_loop
from tests.support.site import Answer, Site, redirect, robots, sequence

RULES = "User-agent: *\nAllow: /open\nDisallow: /private\n"
LIE = {"rep": {"v": 1, "mode": "obey", "verdict": "allowed", "rule": "Allow: /lie", "line": 99}}
SPIDERS = "tests.crawl.spiders"


@on_each_loop
def test_ours_a_page_carries_what_robots_txt_said(loop: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        result = crawl(f"{site.origin}/open", f"{site.origin}/other", settings={"USER_AGENT": "my/1"}, loop=loop)
    stamps = {page.url: page.stamp for page in result.pages}
    fetched = stamps[f"{site.origin}/open"]["fetched"]  # type: ignore[index]
    assert stamps[f"{site.origin}/open"] == {
        "v": 1, "mode": "obey", "verdict": "allowed", "reason": "rule", "rule": "Allow: /open", "line": 2,
        "agent": "my", "origin": site.origin, "robots": f"{site.origin}/robots.txt", "status": 200,
        "sha256": sha256(RULES.encode()).hexdigest(), "fetched": fetched, "source": "fetched", "exception": None,
        "page": None, "ai": None,
    }  # fmt: skip
    assert {**stamps[f"{site.origin}/other"]} == {  # type: ignore[dict-item]
        **stamps[f"{site.origin}/open"], "reason": "no rule", "rule": None, "line": 0,  # type: ignore[dict-item]
    }  # fmt: skip


def test_ours_without_a_robots_txt_the_stamp_names_its_status_and_no_body() -> None:
    with Site() as site:
        (page,) = crawl(f"{site.origin}/page").pages
    assert page.stamp is not None
    assert (page.stamp["reason"], page.stamp["status"], page.stamp["sha256"]) == ("unavailable", 404, None)


def test_ours_the_stamp_names_the_robots_txt_that_redirects_led_to() -> None:
    with Site() as site:
        site.answer("/robots.txt", redirect("/moved.txt"))
        site.answer("/moved.txt", robots(RULES))
        (page,) = crawl(f"{site.origin}/open").pages
    assert page.stamp is not None
    assert (page.stamp["robots"], page.stamp["line"]) == (f"{site.origin}/moved.txt", 2)


@on_each_loop
def test_ours_a_copied_stamp_never_stays(loop: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        urls = [f"{site.origin}/open", f"{site.origin}/exempt", "data:,x"]
        exempt = {"dont_obey_robotstxt": True}
        requests = [
            {"url": urls[0], "meta": LIE},
            {"url": urls[1], "meta": LIE | exempt},
            {"url": urls[2], "meta": LIE},
        ]
        result = crawl(*requests, loop=loop)
    stamps = {page.url: page.stamp and (page.stamp["verdict"], page.stamp["line"]) for page in result.pages}
    assert stamps == {urls[0]: ("allowed", 2), urls[1]: ("ignored", 0), urls[2]: None}


def test_ours_a_forbidden_request_has_no_stamp() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        spider = f"{SPIDERS}:ReportsMetaOfFailures"
        result = crawl({"url": f"{site.origin}/private", "meta": LIE}, spider=spider)
    assert result.failures[0].tag == "no stamp"


@on_each_loop
def test_ours_retries_and_redirects_are_stamped_by_their_own_url(loop: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        site.answer("/again", sequence(Answer(503), redirect("/open")))
        (page,) = crawl(f"{site.origin}/again", loop=loop).pages
    assert page.stamp is not None
    assert (page.url, page.stamp["rule"]) == (f"{site.origin}/open", "Allow: /open")


def test_ours_a_page_from_the_http_cache_is_stamped(tmp_path: Path) -> None:
    settings = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path)}
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        for _ in range(2):
            (page,) = crawl(f"{site.origin}/open", settings=settings).pages
    assert page.flags == ["cached"]
    assert page.stamp is not None
    assert page.stamp["verdict"] == "allowed"


def test_ours_requests_from_a_jobdir_are_stamped_anew(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"JOBDIR": str(tmp_path), "CLOSESPIDER_PAGECOUNT": 1, "CONCURRENT_REQUESTS": 1}
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        urls = [f"{site.origin}/open/{number}" for number in range(3)]
        requests = [{"url": url, "meta": LIE, "dont_filter": False} for url in urls]
        pages = crawl(*requests, settings=settings).pages
        pages += crawl(*requests, settings={"JOBDIR": str(tmp_path)}).pages
    assert {page.url for page in pages} == set(urls)
    assert [page.stamp and page.stamp["line"] for page in pages] == [2, 2, 2]


def test_ours_a_stale_copy_and_a_stored_one_are_named(tmp_path: Path) -> None:
    settings = {"REP_STORE_PATH": str(tmp_path / "r.sqlite"), "REP_RETRY_TIMES": 0, "REP_MIN_TTL": 0}
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        crawl(f"{site.origin}/open", settings=settings)
        (stored,) = crawl(f"{site.origin}/open", settings=settings).pages
        site.answer("/robots.txt", Answer(503))
        (stale,) = crawl(f"{site.origin}/open", settings={**settings, "REP_MAX_TTL": 0.001}).pages
    assert [page.stamp and page.stamp["source"] for page in (stored, stale)] == ["store", "stale"]
    assert (stored.flags, stale.flags) == ([], ["robots:stale"])


def test_ours_the_helper_gives_the_stamp_of_a_response_as_an_object() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        result = crawl(f"{site.origin}/open", "data:,x", spider=f"{SPIDERS}:AsksForStamps")
    assert result.stats["stamp/open"] == "allowed line 2 True"
    assert result.stats["stamp/data:,x"] == "None"


def test_ours_a_value_of_the_project_under_the_key_of_the_stamp_is_replaced_with_one_warning() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private\n"))
        mine = [{"url": f"{site.origin}/{path}", "meta": {"rep": path}} for path in ("a", "private", "b")]
        exempt = {"url": f"{site.origin}/c", "meta": {"rep": "c", "dont_obey_robotstxt": True}}
        result = crawl(*mine, exempt)
    assert {page.stamp and page.stamp["verdict"] for page in result.pages} == {"allowed", "ignored"}
    (warning,) = result.lines("WARNING")
    assert warning.startswith("The meta key 'rep' of <GET http://127.0.0.1:")


def test_ours_a_stamp_that_a_spider_copies_is_replaced_silently() -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        spider = {"spider": "tests.crawl.queue_spiders:CopiesMeta", "attributes": {"target": site.origins[1]}}
        assert crawl(f"{site.origin}/", **spider).lines("WARNING", "scrapy_rep") == []  # type: ignore[arg-type]
