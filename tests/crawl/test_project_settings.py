"""Whatever else a project sets, robots.txt is fetched the same way and means the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scrapy import Request

from tests.support.crawl import crawl, on_each_download_handler
from tests.support.crawl_site import visit
from tests.support.site import Answer, Answers, Site, redirect, robots, sequence

RULES = "User-agent: *\nDisallow: /private\n\nUser-agent: picky\nDisallow: /page\n"
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
HEADER = "Picky/1.0 (+https://example.com)"

PROJECTS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "no-redirects": {"REDIRECT_ENABLED": False},
    "two-redirects": {"REDIRECT_MAX_TIMES": 2},
    "no-retries": {"RETRY_ENABLED": False},
    "eager-retries": {"RETRY_HTTP_CODES": [302, 404, 503], "RETRY_TIMES": 1},
    "no-compression": {"COMPRESSION_ENABLED": False},
    "no-cookies": {"COOKIES_ENABLED": False},
    "tiny-downloads": {"DOWNLOAD_MAXSIZE": 10_000},
    "dataloss-accepted": {"DOWNLOAD_FAIL_ON_DATALOSS": False},
    "autothrottle": {"AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0.1},
    "one-at-a-time": {"CONCURRENT_REQUESTS": 1},
    "one-per-host": {"CONCURRENT_REQUESTS_PER_DOMAIN": 1},
}


@pytest.mark.parametrize("project", PROJECTS)
def test_five_hops_and_a_second_attempt_are_made_whatever_the_project_sets(project: str) -> None:
    hops: dict[str, Answers] = {f"/hop{number}": redirect(f"/hop{number + 1}") for number in range(4)}
    settings = {**PROJECTS[project], "REP_RETRY_DELAY": 0.05}
    answers = {**hops, "/hop4": robots(RULES)}
    site, result = visit(
        sequence(Answer(503), redirect("/hop0")), "/page", "/private", answers=answers, **settings
    )  # fmt: skip
    assert site.paths()[:7] == ["/robots.txt", "/robots.txt", *(f"/hop{number}" for number in range(5))]
    assert site.count("/private") == 0
    assert result.urls[:1] == [f"{site.origin}/page"]
    assert result.failures[0].reason == "rule"
    assert result.lines("ERROR") == []


@on_each_download_handler
def test_the_cookie_jar_neither_gives_to_robots_txt_nor_takes_from_it(loop: str) -> None:
    spying = Answer(body=RULES.encode(), headers=[("Set-Cookie", "spy=1")])
    site, _ = visit(spying, {"url": "/page", "cookies": {"session": "secret"}}, "/next", loop=loop)
    cookies = {arrival.path: arrival.headers.get("cookie") for arrival in site.log}
    assert cookies == {"/robots.txt": None, "/page": "session=secret", "/next": cookies["/next"]}
    assert "spy" not in str(cookies)


def test_a_user_agent_of_a_request_decides_for_that_request_and_is_sent() -> None:
    site, result = visit(RULES, {"url": "/page?0", "headers": {"User-Agent": HEADER}}, "/page?1")
    assert site.log[0].headers["user-agent"] == HEADER
    assert site.count("/robots.txt") == 1
    assert result.urls == [f"{site.origin}/page?1"]
    assert result.failure(f"{site.origin}/page?0").rule == "Disallow: /page"


@pytest.mark.parametrize(
    "settings",
    [
        {"USER_AGENT": "Picky/1.0"},
        {"USER_AGENT": "Mozilla/5.0 (compatible; picky/2; +https://example.com)"},
        {"DEFAULT_REQUEST_HEADERS": {"user-agent": "picky"}},
        {"ROBOTSTXT_USER_AGENT": "picky"},
        {"ROBOTSTXT_USER_AGENT": HEADER, "USER_AGENT": "other"},
        {"REP_USER_AGENTS": ["unnamed", "picky"], "ROBOTSTXT_USER_AGENT": "other"},
    ],
    ids=["user-agent", "compatible", "default-headers", "robotstxt-user-agent", "header", "rep-user-agents"],
)
def test_the_product_token_comes_from_the_settings(settings: dict[str, Any]) -> None:
    site, result = visit(RULES, "/page", "/private", **settings)
    assert result.urls == [f"{site.origin}/private"]
    lines = result.lines("INFO", "scrapy_rep.crawl.runtime.product_tokens")
    assert len([line for line in lines if "picky" in line.lower()]) == 1


ONLY_MY = "ROBOTSTXT_USER_AGENT = 'my bot': only my is used as product token"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"USER_AGENT": BROWSER}, ["is Mozilla, which does not identify", "REP_USER_AGENTS"]),
        ({"USER_AGENT": "(+)"}, ["contains no product token"]),
        (
            {"USER_AGENT": "User-Agent: Picky/1.0"},
            ["'User-Agent: Picky/1.0' contains no", '"Picky/1.0 (+https://example.com/bot)"'],
        ),
        ({"USER_AGENT": "+http://127.0.0.1/bot"}, ["'+http://127.0.0.1/bot'", '"ExampleBot/1.0 (+']),
        ({"USER_AGENT": "(compatible; Picky)"}, ["'(compatible; Picky)'", '"Picky/1.0 (+']),
        ({"USER_AGENT": "https://127.0.0.1/bot"}, ["'https://127.0.0.1/bot'", "only the groups for *"]),
        ({"ROBOTSTXT_USER_AGENT": BROWSER}, ["is Mozilla, which"]),
        ({"REP_USER_AGENTS": ["Mozilla/5.0"]}, ["is Mozilla, which does not identify your crawler"]),
        ({"ROBOTSTXT_USER_AGENT": "my bot"}, [ONLY_MY]),
        ({"ROBOTSTXT_USER_AGENT": b"my bot"}, [ONLY_MY]),
    ],
)
def test_a_name_that_says_little_is_warned_about_once_and_addressed_by_the_rules_for_all(
    settings: dict[str, Any], told: list[str]
) -> None:
    two = ["127.0.0.1", "127.0.0.2"]
    site, result = visit(RULES, "/page", "/private", "//127.0.0.2/page", addresses=two, **settings)
    assert sorted(result.urls) == sorted(f"{origin}/page" for origin in site.origins)
    (warning,) = result.lines("WARNING", "scrapy_rep")
    assert all(part in warning for part in told)


def add_header(request: Request, cause: Request) -> Request:
    """The hook of the test below."""
    request.headers["X-Because-Of"] = cause.url
    return request


def return_nothing(request: Request, cause: Request) -> None:
    """A hook that forgot something."""


def test_a_hook_builds_the_robots_request_differently() -> None:
    site, _ = visit(None, "/page", REP_REQUEST_HOOK=f"{__name__}.add_header")
    assert site.log[0].headers["x-because-of"] == f"{site.origin}/page"


def test_a_hook_that_returns_no_request_allows_nothing_and_is_named() -> None:
    site, result = visit(None, "/page", REP_REQUEST_HOOK=f"{__name__}.return_nothing", REP_RETRY_TIMES=0)
    assert site.paths() == []
    message = "REP_REQUEST_HOOK returned None: it must return a scrapy.Request"
    assert result.failures[0].cause == ["TypeError", message]


@on_each_download_handler
def test_with_the_server_gone_a_second_run_replays_every_page_from_the_http_cache(
    loop: str, tmp_path: Path
) -> None:
    settings = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path)}
    with Site() as site:
        site.answer("/robots.txt", redirect("/rules"))
        site.answer("/rules", robots(RULES))
        urls = [f"{site.origin}/page/{number}" for number in range(5)]
        first = crawl(*urls, f"{site.origin}/private", settings=settings, loop=loop)
        site.stop_listening()
        second = crawl(*urls, f"{site.origin}/private", settings=settings, loop=loop)
    assert sorted(first.urls) == sorted(second.urls) == urls
    assert second.failures[0].reason == "rule"
    assert second.stats["httpcache/hit"] == 7
