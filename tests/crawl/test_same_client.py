"""robots.txt is asked for by the client of the page that caused it, and no other origin learns its credentials."""

from __future__ import annotations

from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.settings import Settings, default_settings

from scrapy_rep.crawl.robots.request import cause_for, robots_request
from scrapy_rep.settings import RepSettings
from tests.crawl.fleet import wait_until
from tests.support.crawl import Crawl, crawl, on_each_download_handler
from tests.support.crawl_site import visit
from tests.support.site import Answer, Answers, Arrival, Site, redirect, robots

RULES = robots("User-agent: *\nDisallow: /private\n")
BASIC = "Basic " + b64encode(b"user:secret").decode()
LOGGED_IN = {"headers": {"Authorization": BASIC}}
CLIENTS: dict[str, Any] = {"DOWNLOAD_HANDLERS": {"http": "tests.crawl.clients.Impersonates"}}
TWO = ["127.0.0.1", "127.0.0.2"]
HAS_SETTINGS = hasattr(default_settings, "HTTPAUTH_USER")  # Scrapy 2.19
QUEUES = ["scrapy_rep.RepPriorityQueue", "scrapy.pqueues.ScrapyPriorityQueue"]


def only(header: str, value: str, answer: Answer, otherwise: int = 401) -> Answers:
    """*answer* for requests whose *header* has this *value*."""
    return lambda arrival: answer if arrival.headers.get(header) == value else Answer(otherwise)


def sent(site: Site, header: str) -> list[tuple[str, str | None]]:
    """The paths that *site* was asked for, each with the *header* of the request."""
    return [(arrival.path, arrival.headers.get(header)) for arrival in site.log]


def is_obeyed(result: Crawl) -> bool:
    """Whether the page was fetched, and the disallowed one was not."""
    return ([url[-5:] for url in result.urls], [failure.rule for failure in result.failures]) == (
        ["/page"], ["Disallow: /private"]
    )  # fmt: skip


@on_each_download_handler
def test_robots_txt_behind_basic_auth_is_read_with_the_header_of_its_page(loop: str) -> None:
    pages: list[dict[str, Any]] = [{"url": path, **LOGGED_IN} for path in ("/page", "/private")]
    _, result = visit(only("authorization", BASIC, RULES), *pages, loop=loop)
    assert is_obeyed(result)


def test_robots_txt_behind_basic_auth_is_read_with_the_password_of_the_project() -> None:
    with Site(TWO) as site:
        site.answer("/robots.txt", only("authorization", BASIC, RULES), site.origins[0])
        host = site.origins[0].removeprefix("http://")
        names = ("HTTPAUTH_USER", "HTTPAUTH_PASS", "HTTPAUTH_DOMAIN")
        names = names if HAS_SETTINGS else ("http_user", "http_pass", "http_auth_domain")
        password = dict(zip(names, ("user", "secret", host), strict=True))
        pages = [f"{site.origins[0]}/page", f"{site.origins[0]}/private", f"{site.origins[1]}/other"]
        given: dict[str, Any] = {"settings": password} if HAS_SETTINGS else {"attributes": password}
        result = crawl(*pages, **given)
    assert [failure.rule for failure in result.failures] == ["Disallow: /private"]
    assert {arrival.headers.get("authorization") for arrival in site.log if "127.0.0.2" in arrival.origin} == {
        None
    }


@pytest.mark.skipif(not HAS_SETTINGS, reason="this Scrapy reads no password in meta")
def test_robots_txt_behind_basic_auth_is_read_with_the_password_in_the_meta_of_its_page() -> None:
    meta = {"http_user": "user", "http_pass": "secret"}
    with Site(TWO) as site:
        here, there = site.origins
        site.answer("/robots.txt", only("authorization", BASIC, redirect(f"{there}/robots.txt")), here)
        site.answer("/robots.txt", RULES, there)
        result = crawl(*({"url": here + path, "meta": meta} for path in ("/page", "/private")))
    assert is_obeyed(result)
    assert sent(site, "authorization")[:2] == [("/robots.txt", BASIC), ("/robots.txt", None)]


def test_robots_txt_behind_an_impersonating_handler_is_read() -> None:
    pages: list[dict[str, Any]] = [
        {"url": path, "meta": {"impersonate": "chrome"}} for path in ("/page", "/private")
    ]
    _, result = visit(only("x-client", "chrome", RULES, 403), *pages, **CLIENTS)
    assert is_obeyed(result)


def test_robots_txt_behind_the_proxy_of_each_request_is_read() -> None:
    with Site() as proxy:
        proxy.answer("http://site.example/robots.txt", RULES)
        pages = [f"http://site.example{path}" for path in ("/page", "/private")]
        result = crawl(*({"url": page, "meta": {"proxy": proxy.origin}} for page in pages))
    assert is_obeyed(result)


def test_a_redirect_of_robots_txt_takes_the_name_of_the_client_to_another_origin_and_no_more() -> None:
    meta = {"impersonate": "chrome", "impersonate_args": {"auth": "secret"}}
    with Site(TWO) as site:
        here, there = site.origins
        site.answer("/robots.txt", redirect("/moved"), here)
        site.answer("/moved", redirect(f"{there}/robots.txt"))
        site.answer("/robots.txt", redirect(f"{here}/back"), there)
        site.answer("/back", RULES)
        crawl({"url": f"{here}/page", "meta": meta, **LOGGED_IN}, settings=CLIENTS)
    names = ("authorization", "x-client", "x-options")
    own, other = (BASIC, "chrome", str(meta["impersonate_args"])), (None, "chrome", "None")
    seen = {arrival.origin + arrival.path: tuple(map(arrival.headers.get, names)) for arrival in site.log}
    expected = {f"{here}/{path}": own for path in ("robots.txt", "moved", "back", "page")}
    assert seen == {**expected, f"{there}/robots.txt": other}


@pytest.mark.parametrize(
    "url", ["https://a.example/", "http://a.example:8080/", "http://b.example/", "http://www.a.example/"]
)
def test_credentials_stay_with_scheme_host_and_port(url: str) -> None:
    meta = {"http_user": "u", "http_pass": "p", "ftp_user": "u", "ftp_password": "p", "curl": {"a": "b"}}
    cause = Request("http://a.example/page", meta=meta, headers=LOGGED_IN["headers"], cookies={"session": "1"})
    settings = RepSettings(client_meta=frozenset({"curl", "cookiejar"}))
    own = robots_request("http://a.example:80/robots.txt", cause, settings, {}, 10.0)
    assert meta.items() <= own.meta.items()
    assert (own.headers["Authorization"], own.cookies) == (BASIC.encode(), {"session": "1"})
    for other in (
        robots_request(f"{url}robots.txt", cause, settings, {}, 10.0),
        robots_request(f"{url}robots.txt", cause_for(url, cause), settings, {}, 10.0),
    ):
        assert meta.keys().isdisjoint(other.meta)
        assert ("Authorization" in other.headers, other.cookies) == (False, {})


def test_the_origin_where_a_page_arrives_learns_no_credentials() -> None:
    with Site(TWO) as site:
        here, there = site.origins
        site.answer("/page", Answer(headers=[("X-Final-Url", f"{there}/public")]), here)
        arrives = {"DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.Arrives": 800}}
        crawl({"url": f"{here}/page", **LOGGED_IN}, settings=arrives)
    assert sent(site, "authorization") == [("/robots.txt", BASIC), ("/page", BASIC), ("/robots.txt", None)]


def test_the_store_keeps_no_credentials(tmp_path: Path) -> None:
    meta = {"impersonate": "chrome", "impersonate_args": {"auth": "secret"}}
    settings = {**CLIENTS, "REP_STORE_PATH": str(tmp_path / "store")}
    with Site() as site:
        site.answer("/robots.txt", RULES)
        crawl({"url": f"{site.origin}/page", "meta": meta, **LOGGED_IN}, settings=settings)
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert site.origin.encode() in kept
    assert not any(word in kept for word in (b"secret", BASIC.encode(), b"chrome"))


def test_the_jar_of_a_request_is_that_of_its_robots_txt_where_the_project_says_so() -> None:
    page: dict[str, Any] = {"url": "/page", "cookies": {"session": "1"}, "meta": {"cookiejar": "a"}}
    again: dict[str, Any] = {"url": "/next", "meta": {"cookiejar": "a"}}
    rules = Answer(body=b"", headers=[("Set-Cookie", "seen=1")])
    site, _ = visit(rules, page, REP_CLIENT_META="cookiejar")
    assert sent(site, "cookie") == [("/robots.txt", "session=1"), ("/page", "session=1; seen=1")]
    site, _ = visit(rules, page, again, REP_CLIENT_META="")
    assert sent(site, "cookie")[0] == ("/robots.txt", None)


@pytest.mark.parametrize("queue", QUEUES)
@pytest.mark.parametrize("refusal", [401, 403])
def test_a_request_with_credentials_asks_once_more_where_one_without_was_refused(queue: str, refusal: int) -> None:
    def answer(arrival: Arrival) -> Answer:
        return RULES if "authorization" in arrival.headers else Answer(refusal)

    first: list[dict[str, Any]] = [{"url": f"/{number}", "priority": 1} for number in range(5)]
    last: list[dict[str, Any]] = [{"url": path, **LOGGED_IN} for path in ("/page", "/private", "/private/2")]
    site, result = visit(answer, *first, *last, SCHEDULER_PRIORITY_QUEUE=queue, CONCURRENT_REQUESTS=1)
    asked = [value for path, value in sent(site, "authorization") if path == "/robots.txt"]
    assert asked == [None, BASIC]
    assert [failure.rule for failure in result.failures] == ["Disallow: /private"] * 2
    assert result.stats["rep/origin_count"] == 1


def test_what_the_client_of_another_process_was_refused_is_asked_with_credentials(tmp_path: Path) -> None:
    """The other process has the lease while this one starts, and stores the refusal a moment later."""

    def answer(arrival: Arrival) -> Answer:
        return RULES if "authorization" in arrival.headers else Answer(401, delay=2.0)

    settings = {"REP_STORE_PATH": str(tmp_path / "store")}
    with Site() as site, ThreadPoolExecutor(2) as processes:
        site.answer("/robots.txt", answer)
        plain = processes.submit(crawl, f"{site.origin}/page", settings=settings)
        wait_until(lambda: site.count("/robots.txt") == 1)
        private = {"url": f"{site.origin}/private", **LOGGED_IN}
        logged_in = processes.submit(crawl, private, settings=settings)
        assert plain.result().urls == [f"{site.origin}/page"]
    assert [failure.rule for failure in logged_in.result().failures] == ["Disallow: /private"]


def test_a_client_that_was_refused_asks_no_more() -> None:
    pages = [{"url": f"/{number}", **LOGGED_IN} for number in range(5)]
    site, result = visit(Answer(403), "/page", *pages)
    assert site.count("/robots.txt") == 2
    assert len(result.urls) == 6


def test_a_request_whose_robots_txt_is_read_asks_no_more_with_credentials() -> None:
    site, _ = visit(RULES, "/page", {"url": "/other", **LOGGED_IN})
    assert site.count("/robots.txt") == 1


@pytest.mark.parametrize("value", [["browser", "browser_context"], "browser, browser_context"])
def test_a_list_of_meta_keys_replaces_the_default(value: Any) -> None:
    meta = {"browser": True, "browser_context": "a", "browser_page_methods": ["click"], "impersonate": "chrome"}
    cause = Request("http://a.example/page", meta=meta)
    settings = RepSettings.from_settings(Settings({"REP_CLIENT_META": value}))
    request = robots_request("http://a.example/robots.txt", cause, settings, {"If-None-Match": '"1"'}, 10.0)
    assert {key: request.meta.get(key) for key in meta} == {
        "browser": True, "browser_context": "a", "browser_page_methods": None, "impersonate": None
    }  # fmt: skip
    assert "If-None-Match" not in request.headers, "a browser would take a 304 for a failure"
