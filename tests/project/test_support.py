"""The crawl that the integration tests stand on, without the add-on."""

from __future__ import annotations

import logging
import warnings
from functools import partial
from typing import Any

import pytest
from scrapy.utils.asyncio import call_later
from twisted.internet.defer import Deferred

from tests.support import crawl_here
from tests.support.crawl import crawl, on_each_loop
from tests.support.run_crawl import Recorder
from tests.support.site import Site, hang, reset

WITHOUT_ADDON: dict[str, Any] = {"ADDONS": {}}
HERE = "tests.project.test_support"
plain_crawl = partial(crawl, settings=WITHOUT_ADDON)


class Broken(Recorder):
    def page(self, _response: Any) -> None:
        raise ArithmeticError("cannot count")


class Deprecated(Recorder):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        warnings.warn_explicit("old", DeprecationWarning, "part.py", 1, module="elsewhere")
        warnings.warn_explicit("old", DeprecationWarning, "part.py", 1, module="scrapy_rep.part")


class Noisy(Recorder):
    async def start(self) -> Any:
        for _ in range(2_000):
            self.logger.debug("x" * 100)
        async for request in super().start():
            yield request


class LeavesTimer(Recorder):
    async def start(self) -> Any:
        call_later(30, print)
        async for request in super().start():
            yield request


class LeavesError(Recorder):
    def page(self, response: Any) -> None:
        super().page(response)
        Deferred().errback(ArithmeticError("nobody handles this"))


class Refusing:
    def __init__(self) -> None:
        raise ValueError("will not start")


@on_each_loop
def test_a_crawl_reports_pages_and_failures_on_every_loop(loop: str) -> None:
    with Site() as site, Site(tls=True) as secure:
        site.answer("/reset", reset())
        failing = {"url": f"{site.origin}/reset", "meta": {"tag": "b", "dont_retry": True}}
        pages = {"url": f"{site.origin}/page", "meta": {"tag": "a"}}, f"{secure.origin}/page"
        result = plain_crawl(*pages, failing, loop=loop)
        assert (site.count("/page"), secure.count("/page"), site.count("/robots.txt")) == (1, 1, 0)
    assert sorted((page.url, page.status, page.length, page.tag) for page in result.pages) == sorted(
        [(f"{site.origin}/page", 200, 19, "a"), (f"{secure.origin}/page", 200, 19, None)]
    )
    assert [(failure.url, failure.tag, failure.reason) for failure in result.failures] == [
        (f"{site.origin}/reset", "b", None)
    ]
    assert (result.exit_code, result.reason, result.stats["downloader/response_count"]) == (0, "finished", 2)
    assert 0 < result.seconds < 60
    assert sorted(start.url for start in result.starts) == sorted(
        f"{page}" for page in (pages[0]["url"], pages[1], failing["url"])
    )
    assert "Spider opened" in result.lines("INFO", "scrapy.core.engine")


def test_a_callback_that_breaks_leaves_its_traceback() -> None:
    with Site() as site:
        result = plain_crawl(f"{site.origin}/", spider=f"{HERE}:Broken")
    assert ["ArithmeticError: cannot count" in line.traceback for line in result.tracebacks] == [True]


@on_each_loop
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"EXTENSIONS": {f"{HERE}.Refusing": 0}}, "ValueError: will not start"),
        ({"DOWNLOADER_MIDDLEWARES": {f"{HERE}.Refusing": 0}}, "ValueError: will not start"),
        ({"SCHEDULER": f"{HERE}.Missing"}, "Missing"),
    ],
)
def test_a_crawl_that_dies_at_start_up_says_why(loop: str, settings: dict[str, Any], message: str) -> None:
    result = crawl("http://127.0.0.1:9/", settings={**WITHOUT_ADDON, **settings}, loop=loop)
    assert result.exit_code == 1
    assert message in result.stderr


@pytest.mark.parametrize("apart", [False, True])
def test_only_a_deprecation_that_scrapy_rep_causes_is_an_error(apart: bool) -> None:
    result = plain_crawl("http://127.0.0.1:9/", spider=f"{HERE}:Deprecated", apart=apart)
    assert result.exit_code == 1
    assert "DeprecationWarning: old" in result.stderr


@pytest.mark.parametrize(
    ("spider", "complaint"), [("LeavesTimer", "left behind"), ("LeavesError", "nobody handled")]
)
def test_a_crawl_in_this_process_leaves_nothing(
    spider: str, complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawl_here, "_PATIENCE", 0.2)
    with Site() as site, pytest.raises(AssertionError, match=complaint):
        plain_crawl(f"{site.origin}/", spider=f"{HERE}:{spider}")


def test_a_crawl_in_this_process_changes_neither_logging_nor_warnings() -> None:
    def state() -> tuple[Any, ...]:
        loggers = [logging.getLogger(name) for name in ("", "scrapy", "twisted")]
        return [(one.level, list(one.handlers)) for one in loggers], list(warnings.filters), warnings.showwarning

    before = state()
    with Site() as site:
        plain_crawl(f"{site.origin}/")
    assert state() == before


def test_a_crawl_that_does_not_end_is_killed_and_shows_its_log() -> None:
    with Site() as site:
        site.answer("/", hang())
        with pytest.raises(AssertionError, match=r"(?s)did not end.*Spider opened"):
            plain_crawl(f"{site.origin}/", timeout=1.0, interrupt_when=lambda: bool(site.log))


@on_each_loop
def test_a_crawl_can_be_interrupted(loop: str) -> None:
    with Site() as site:
        site.answer("/", hang())
        request = {"url": f"{site.origin}/", "meta": {"download_timeout": 4.0, "dont_retry": True}}
        result = plain_crawl(request, f"{site.origin}/page", loop=loop, interrupt_when=lambda: len(site.log) == 2)
    assert (result.reason, result.exit_code, result.urls) == ("shutdown", 0, [f"{site.origin}/page"])


def test_a_crawl_that_logs_much_ends() -> None:
    with Site() as site:
        result = plain_crawl(f"{site.origin}/", spider=f"{HERE}:Noisy", interrupt_when=lambda: False)
    assert (result.reason, len(result.pages)) == ("finished", 1)
