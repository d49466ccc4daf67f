"""What a browser requests for a page is judged like the page: scripts, images, frames, and where scripts lead."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.settings import Settings

from scrapy_rep import Addon, abort_forbidden
from scrapy_rep.extras.services.browser import BrowserGate
from tests.support.chromium import CHROMIUM
from tests.support.crawl import Crawl, crawl, loop_params
from tests.support.exceptions import exception
from tests.support.in_process import crawler_at_rest, run
from tests.support.run_crawl import Recorder
from tests.support.site import Answer, Site, redirect, reset, robots

from .target_spiders import BrowserRequest

HANDLER = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"
ABORT = {"PLAYWRIGHT_ABORT_REQUEST": "scrapy_rep.abort_forbidden"}
SPIDER = "tests.crawl.target_spiders:Browses"

real_browser = pytest.mark.skipif(
    not (CHROMIUM and find_spec("scrapy_playwright")), reason="it takes scrapy-playwright and a Chromium on PATH"
)


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(["127.0.0.1", "127.0.0.2"], ports=2) as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private\n"))
        yield site


def loading(site: Site, *urls: str, **settings: Any) -> Crawl:
    """Crawl one page that loads *urls*."""
    settings = {**ABORT, "REP_RETRY_TIMES": 0, **settings}
    return crawl(f"{site.origin}/page", spider=SPIDER, attributes={"loads": list(urls)}, settings=settings)


def aborted(result: Crawl) -> list[str]:
    answers = {stat[7:]: value for stat, value in result.stats.items() if stat.startswith("aborts ")}
    return [url for url, is_aborted in answers.items() if is_aborted]


def test_what_a_page_loads_is_judged_by_the_robots_txt_of_its_own_origin(site: Site) -> None:
    forbidden = [f"{origin}/private/a.png" for origin in site.origins]
    result = loading(site, *forbidden, *(f"{origin}/a.png" for origin in site.origins))
    assert aborted(result) == forbidden
    assert result.stats["rep/browser/forbidden_count"] == 4
    assert [site.count("/robots.txt", origin) for origin in site.origins] == [1, 1, 1, 1]


def test_urls_without_robots_txt_are_let_through(site: Site) -> None:
    assert loading(site, "data:,x", "blob:null/1", "about:blank", "chrome-extension://a/b").stats["aborted"] == 0


def test_what_cannot_be_judged_is_aborted(site: Site) -> None:
    site.answer("/robots.txt", reset(), site.origins[1])
    result = loading(site, f"{site.origins[1]}/a.png", "http://[broken/a.png")
    assert len(aborted(result)) == 2
    assert result.lines("WARNING", "scrapy_rep")[-1].startswith(
        "Aborted the browser's request for http://[broken/a.png: Invalid"
    )


def test_modes_and_exceptions_apply(site: Site) -> None:
    result = loading(
        site, *(f"{origin}/private/a.png" for origin in site.origins), f"{site.origins[1]}/private/b.png",
        REP_EXCEPTIONS=[exception(f"{site.origins[1]}/private/a*")],
        REP_MODES={site.origins[2]: "report", site.origins[3]: "ignore"},
    )  # fmt: skip
    assert aborted(result) == [f"{site.origin}/private/a.png", f"{site.origins[1]}/private/b.png"]
    assert result.stats["rep/browser/forbidden_count"] == 3
    assert site.count("/robots.txt", site.origins[3]) == 0


def test_robots_txt_of_the_same_host_does_not_wait_for_the_page(site: Site) -> None:
    """The page holds the only place in the download slot of its host until the browser has its answer."""
    site.answer("/page", Answer(when=lambda: site.count("/robots.txt", site.origins[1]) > 0), site.origin)
    result = crawl(
        f"{site.origin}/page", spider="tests.crawl.target_spiders:BrowsesWhileLoading",
        attributes={"loads": [f"{site.origins[1]}/private/a.png"]},
        settings={
            **ABORT, "CONCURRENT_REQUESTS": 1, "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
            "DOWNLOAD_TIMEOUT": 5, "RETRY_ENABLED": False,
        },
    )  # fmt: skip
    assert len(result.pages) == 1
    assert result.stats["aborted"] == 1


@pytest.mark.parametrize("loop", loop_params(["asyncio", "twisted"]))
def test_a_browser_in_a_thread_of_its_own_is_answered_in_the_thread_of_the_crawl(site: Site, loop: str) -> None:
    spider = "tests.crawl.target_spiders:AsksFromThread"
    result = crawl(f"{site.origin}/page", spider=spider, loop=loop)
    assert result.stats["thread"] == "MainThread"
    assert result.stats["error"] == "ZeroDivisionError"


def test_the_audit_log_names_what_was_aborted(site: Site, tmp_path: Path) -> None:
    audit = tmp_path / "audit.jsonl"
    loading(site, f"{site.origin}/private/a.png", f"{site.origin}/a.png", REP_AUDIT=str(audit))
    events = [json.loads(line) for line in audit.read_text().splitlines()]
    (event,) = [event for event in events if event["event"] == "browser"]
    assert (event["url"], event["verdict"]) == (f"{site.origin}/private/a.png", "forbidden")


def test_a_function_of_the_project_may_call_it(site: Site) -> None:
    urls = [f"{site.origin}/a.png", f"{site.origin}/private/a", f"{site.origin}/a"]
    result = loading(
        site, *urls, PLAYWRIGHT_ABORT_REQUEST="tests.crawl.target_spiders.images_and_forbidden"
    )  # fmt: skip
    assert aborted(result) == urls[:2]


def test_the_addon_binds_it_to_its_crawl() -> None:
    gates = []
    for setting in ("scrapy_rep.abort_forbidden", abort_forbidden):
        crawler = Crawler(Recorder, {"PLAYWRIGHT_ABORT_REQUEST": setting})
        Addon(crawler).update_settings(crawler.settings)
        gates.append(crawler.settings["PLAYWRIGHT_ABORT_REQUEST"])
        assert crawler.settings.copy()["PLAYWRIGHT_ABORT_REQUEST"] is gates[-1]
    assert all(isinstance(gate, BrowserGate) for gate in gates)
    assert gates[0] is not gates[1]
    settings = Settings({"PLAYWRIGHT_ABORT_REQUEST": "a.function.of.the.project"})
    Addon.from_crawler(Crawler(Recorder)).update_settings(settings)
    assert settings["PLAYWRIGHT_ABORT_REQUEST"] == "a.function.of.the.project"


@pytest.mark.parametrize(
    ("exempt", "navigation", "passes"),
    [
        ("http://127.0.0.1/private", "http://127.0.0.1/private", True),
        ("http://127.0.0.1/private", "http://127.0.0.1/private#top", True),
        ("http://127.0.0.1/private#top", "http://127.0.0.1/private", True),
        ("http://127.0.0.1", "http://127.0.0.1/", True),
        ("http://127.0.0.1?q", "http://127.0.0.1/?q", True),
        ("http://LOCALHOST:80/private", "http://localhost/private", True),
        ("http://127.0.0.1/private", "http://127.0.0.1/private/", False),
        ("http://127.0.0.1/private", "http://127.0.0.1/private//", False),
        ("http://127.0.0.1/private/", "http://127.0.0.1/private", False),
        ("http://127.0.0.1/", "http://127.0.0.1//", False),
        ("http://127.0.0.1/private", "http://127.0.0.1/private?", False),
        ("http://127.0.0.1/private", "http://127.0.0.1/private/1", False),
        ("http://127.0.0.1/private", "https://127.0.0.1/private", False),
        ("http://127.0.0.1/private", "http://127.0.0.1:8000/private", False),
    ],
)
def test_a_page_that_the_project_exempts_passes_and_no_other(
    monkeypatch: pytest.MonkeyPatch, exempt: str, navigation: str, *, passes: bool
) -> None:
    async def forbids(_: object) -> bool:
        return True

    gate = BrowserGate(crawler_at_rest())
    monkeypatch.setattr("scrapy_rep.extras.services.browser.in_reactor_thread", forbids)
    gate._started(Request(exempt, meta={"playwright": True, "dont_obey_robotstxt": True}))
    assert run(gate(BrowserRequest(navigation, "about:blank"))) is not passes
    gate._ended(Request(exempt))
    assert run(gate(BrowserRequest(navigation, "about:blank")))


def test_without_a_crawl_of_its_own_it_aborts_everything(caplog: pytest.LogCaptureFixture) -> None:
    requests = [BrowserRequest("https://shop.example/a.png"), BrowserRequest("data:,x")]
    for request in requests:
        with pytest.raises(StopIteration) as ended:
            abort_forbidden(request).send(None)
        assert ended.value.value is True
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("scrapy_rep.abort_forbidden aborts every request of the browser, because no crawl")


def browsing(site: Site, *requests: dict[str, Any], **settings: Any) -> Crawl:
    """Crawl *requests* with scrapy-playwright and Chromium."""
    launch = {"executable_path": CHROMIUM, "args": ["--no-sandbox"]}
    handlers = {"DOWNLOAD_HANDLERS": {"http": HANDLER, "https": HANDLER}, "PLAYWRIGHT_LAUNCH_OPTIONS": launch}
    for request in requests:
        request["meta"] = {"playwright": True, **request.get("meta", {})}
        request["url"] = f"{site.origin}{request['url']}"
    spider = "tests.crawl.target_spiders:Stamps"
    return crawl(*requests, settings={**ABORT, **handlers, **settings}, spider=spider, apart=True, timeout=90)


def html(text: str) -> Answer:
    return Answer(body=text.encode(), headers=[("Content-Type", "text/html")])


@pytest.mark.full
@real_browser
@pytest.mark.parametrize("settings", [
    {}, {"_PLAYWRIGHT_THREADED_LOOP": True, "CONCURRENT_REQUESTS_PER_DOMAIN": 1},
], ids=["one thread", "a thread of its own"])  # fmt: skip
def test_a_real_browser_loads_what_is_allowed(site: Site, settings: dict[str, Any]) -> None:
    near, far, farther = site.origins[1:]
    parts = [
        "<img src='/private/a.png'><img src='/a.png'>",
        f"<img src='{near}/private/b.png'><img src='{near}/b.png'>",
        f"<script src='{far}/private/c.js'></script><script src='{far}/c.js'></script>",
        f"<iframe src='{farther}/private/frame'></iframe><iframe src='{farther}/frame'></iframe>",
    ]  # fmt: skip
    site.answer("/page", html("".join(parts)), site.origin)
    result = browsing(site, {"url": "/page"}, **settings)
    assert result.urls == [f"{site.origin}/page"]
    seen = {f"{arrival.origin}{arrival.path}" for arrival in site.log if arrival.path != "/robots.txt"}
    assert seen - {f"{farther}/favicon.ico"} == {
        f"{site.origin}/page", f"{site.origin}/a.png", f"{near}/b.png", f"{far}/c.js", f"{farther}/frame",
    }  # fmt: skip
    assert result.stats["rep/browser/forbidden_count"] == result.stats["playwright/request_count/aborted"] == 4


@pytest.mark.full
@real_browser
@pytest.mark.parametrize("choice", ["report", "drop"])
def test_a_page_that_a_real_browser_ends_at_is_judged(site: Site, choice: str) -> None:
    forbidden = f"{site.origins[3]}/private"
    site.answer("/moves", redirect(f"{forbidden}/moved"), site.origin)
    site.answer("/leaves", html(f"<script>location.href='{forbidden}/left'</script>"), site.origin)
    result = browsing(site, {"url": "/moves"}, {"url": "/leaves"}, REP_FORBIDDEN_RESPONSE=choice)
    if choice == "report":
        flags = {page.url: page.tag["flags"] for page in result.pages}
        assert set(flags) == {f"{forbidden}/moved", "chrome-error://chromewebdata/"}
        assert all(flag == ["playwright", "robots:forbidden-url"] for flag in flags.values())
    else:
        assert [failure.origin for failure in result.failures] == [site.origins[3]] * 2
    assert result.stats["rep/response/forbidden_count"] == 2
    assert set(site.paths(site.origins[3])) == {"/private/moved", "/robots.txt"}


@pytest.mark.full
@real_browser
def test_a_real_browser_shows_a_page_that_the_project_exempts(site: Site) -> None:
    result = browsing(site, {"url": "/private", "meta": {"dont_obey_robotstxt": True}}, {"url": "/private/1"})
    assert [(page.url, page.tag["flags"]) for page in result.pages] == [
        (f"{site.origin}/private", ["playwright", "robots:ignored"])
    ]
