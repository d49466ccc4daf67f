"""The stamp says what robots.txt said when the request was sent, wherever the request has been before."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import Crawl, crawl
from tests.support.crawl_site import visit
from tests.support.site import Answer, Site, redirect, robots, sequence

RULES = "User-agent: *\nAllow: /open\nDisallow: /private\n"
LIE = {"rep": {"v": 1, "mode": "obey", "verdict": "allowed", "rule": "Allow: /lie", "line": 99}}
EXEMPT = {"dont_obey_robotstxt": True}
SPIDERS = "tests.crawl.spiders"


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        yield site


@pytest.fixture(scope="module")
def stamps() -> dict[str, Any]:
    """The stamp of each page, by its path, of requests that have a copied one, but for two."""
    answers = {"/again": sequence(Answer(503), redirect("/open/retried"))}
    lying = [{"url": url, "meta": LIE} for url in ("/open/copied", "data:,x", "/again")]
    exempt = {"url": "/exempt", "meta": LIE | EXEMPT}
    site, result = visit(RULES, "/open", "/other", *lying, exempt, answers=answers, USER_AGENT="my/1")
    found = {page.url.removeprefix(site.origin): page.stamp for page in result.pages}
    return {"origin": site.origin, **found}


def test_a_page_carries_what_robots_txt_said(stamps: dict[str, Any]) -> None:
    origin = stamps["origin"]
    assert stamps["/open"] == {
        "v": 1, "mode": "obey", "verdict": "allowed", "reason": "rule", "rule": "Allow: /open", "line": 2,
        "agent": "my", "origin": origin, "robots": f"{origin}/robots.txt", "status": 200,
        "sha256": sha256(RULES.encode()).hexdigest(), "fetched": stamps["/open"]["fetched"], "source": "fetched",
        "exception": None, "page": None, "ai": None, "refused": None,
    }  # fmt: skip
    assert stamps["/other"] == {**stamps["/open"], "reason": "no rule", "rule": None, "line": 0}


def test_a_copied_stamp_never_stays(stamps: dict[str, Any]) -> None:
    assert stamps["/open/copied"] == stamps["/open"]
    assert (stamps["/exempt"]["verdict"], stamps["/exempt"]["line"]) == ("ignored", 0)
    assert stamps["data:,x"] is None


def test_retries_and_redirects_are_stamped_by_their_own_url(stamps: dict[str, Any]) -> None:
    assert stamps["/open/retried"]["rule"] == "Allow: /open"


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (None, {"reason": "unavailable", "status": 404, "sha256": None}),
        (redirect("/moved.txt"), {"robots": "/moved.txt", "line": 2}),
    ],
)
def test_the_stamp_names_the_robots_txt_that_answered(rules: Any, expected: dict[str, Any]) -> None:
    site, result = visit(rules, "/open", answers={"/moved.txt": robots(RULES)})
    (stamp,) = (page.stamp for page in result.pages if page.stamp)
    assert {name: str(stamp[name]).removeprefix(site.origin) for name in expected} == {
        name: str(value) for name, value in expected.items()
    }


def test_a_forbidden_request_has_no_stamp() -> None:
    lying = {"url": "/private", "meta": LIE}
    _, result = visit(RULES, lying, spider=f"{SPIDERS}:ReportsMetaOfFailures")
    assert result.failures[0].tag == "no stamp"


def page(result: Crawl) -> tuple[list[str], Any]:
    """The flags and the stamp of the only page."""
    (page,) = result.pages
    return list(page.flags), page.stamp


def test_a_page_from_the_http_cache_is_stamped(site: Site, tmp_path: Path) -> None:
    settings = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path)}
    _, (flags, stamp) = (page(crawl(f"{site.origin}/open", settings=settings)) for _ in range(2))
    assert (flags, stamp["verdict"]) == (["cached"], "allowed")


def test_requests_from_a_jobdir_are_stamped_anew(site: Site, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"JOBDIR": str(tmp_path), "CLOSESPIDER_PAGECOUNT": 1, "CONCURRENT_REQUESTS": 1}
    urls = [f"{site.origin}/open/{number}" for number in range(3)]
    requests = [{"url": url, "meta": LIE, "dont_filter": False} for url in urls]
    pages = crawl(*requests, settings=settings).pages
    pages += crawl(*requests, settings={"JOBDIR": str(tmp_path)}).pages
    assert {page.url for page in pages} == set(urls)
    assert [page.stamp and page.stamp["line"] for page in pages] == [2, 2, 2]


def test_a_stale_copy_and_a_stored_one_are_named(site: Site, tmp_path: Path) -> None:
    url = f"{site.origin}/open"
    settings = {"REP_STORE_PATH": str(tmp_path / "r.sqlite"), "REP_RETRY_TIMES": 0, "REP_MIN_TTL": 0}
    crawl(url, settings=settings)
    flags, stamp = page(crawl(url, settings=settings))
    assert (flags, stamp["source"]) == ([], "store")
    site.answer("/robots.txt", Answer(503))
    flags, stamp = page(crawl(url, settings={**settings, "REP_MAX_TTL": 0.001}))
    assert (flags, stamp["source"]) == (["robots:stale"], "stale")


def test_the_helper_gives_the_stamp_of_a_response_as_an_object() -> None:
    _, result = visit(RULES, "/open", "data:,x", spider=f"{SPIDERS}:AsksForStamps")
    assert result.stats["stamp/open"] == "allowed line 2 True"
    assert result.stats["stamp/data:,x"] == "None"


def test_a_value_of_the_project_under_the_key_of_the_stamp_is_replaced_with_one_warning() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private\n"))
        mine = [{"url": f"{site.origin}/{path}", "meta": {"rep": path}} for path in ("a", "private", "b")]
        exempt = {"url": f"{site.origin}/c", "meta": {"rep": "c", "dont_obey_robotstxt": True}}
        result = crawl(*mine, exempt)
    assert {page.stamp and page.stamp["verdict"] for page in result.pages} == {"allowed", "ignored"}
    (warning,) = result.lines("WARNING")
    assert warning.startswith("The meta key 'rep' of <GET http://127.0.0.1:")


def test_a_stamp_that_a_spider_copies_is_replaced_silently() -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        spider = {"spider": "tests.crawl.queue_spiders:CopiesMeta", "attributes": {"target": site.origins[1]}}
        assert crawl(f"{site.origin}/", **spider).lines("WARNING", "scrapy_rep") == []  # type: ignore[arg-type]
