"""A robots.txt that a browser rendered is obeyed; a page in its place is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from scrapy_rep.crawl.gate import report
from scrapy_rep.protocol.access import without_viewer
from scrapy_rep.protocol.body_kind import BodyKind, body_kind
from tests.protocol.any_body import BODIES
from tests.support.chromium import dump_dom, needs_chromium
from tests.support.cost import seconds
from tests.support.crawl import crawl
from tests.support.site import Answer, Site, robots

RULES = "User-agent: *\nDisallow: /a?x=<1>&y=2\nDisallow: /page\n"
PAGE = Answer(body=b"<!DOCTYPE html><html><body>Welcome</body></html>", headers=[("Content-Type", "text/html")])


@needs_chromium
@pytest.mark.parametrize("kind", ["text/plain", "text/plain; charset=utf-8", "application/json", None])
def test_what_a_real_browser_makes_of_robots_txt_is_robots_txt(tmp_path: Path, kind: str | None) -> None:
    text = RULES + "Disallow: /caf\u00e9/\u00a0&amp;\u0421\u0441\n"
    with Site() as site:
        headers = [("Content-Type", kind)] if kind else []
        site.answer("/robots.txt", Answer(body=text.encode(), headers=headers))
        url = f"{site.origin}/robots.txt"
        view = dump_dom(url, tmp_path)
    assert view.startswith(b"<html>")
    assert without_viewer(view).decode() == text


def test_a_browsers_view_of_robots_txt_is_obeyed() -> None:
    settings = {"DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.Renders": 600}}
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        urls = [f"{site.origin}{path}" for path in ("/page", "/a?x=<1>&y=2", "/other")]
        result = crawl(*urls, settings=settings)
    assert result.urls == urls[2:]
    assert sorted(failure.line or 0 for failure in result.failures) == [2, 3]
    assert result.stats["rep/html_count"] == 0
    assert result.lines("WARNING", "scrapy_rep") == []


def test_pages_in_place_of_robots_txt_are_told_in_one_warning() -> None:
    with Site([f"127.0.4.{number}" for number in range(1, 15)]) as site:
        for origin in site.origins[:12]:
            site.answer("/robots.txt", PAGE, origin)
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /x\n"), site.origins[13])
        result = crawl(*(f"{origin}/page" for origin in site.origins))
    assert len(result.pages) == 14
    (warning,) = result.lines("WARNING", "scrapy_rep")
    assert warning.startswith("12 origins serve an HTML page instead of a robots.txt")
    assert sum(origin in warning for origin in site.origins) == 10
    assert result.stats["rep/html_count"] == 12


@given(BODIES)
def test_what_begins_as_a_robots_txt_is_one(body: bytes) -> None:
    for usual in (body, b"# a\n\n \t# b\r\nUser-Agent : *\n" + body):
        if report._USUAL.match(usual):
            assert body_kind(usual) is BodyKind.ROBOTS_TXT


def test_the_usual_beginning_is_looked_for_in_linear_time() -> None:
    for line in (b"\n", b"# # #\n", b" # ", b"#\r\n", b"\t"):
        assert seconds(report._USUAL.match, line * 100_000, 2) < 0.5


def test_an_error_in_place_of_robots_txt_is_told_by_what_it_is() -> None:
    with Site(["127.0.4.1", "127.0.4.2", "127.0.4.3"]) as site:
        bodies = (b"<?xml version='1.0'?><Error/>", b'{"statusCode":404}', b"Not Found")
        for origin, body in zip(site.origins, bodies, strict=True):
            site.answer("/robots.txt", Answer(body=body), origin)
        result = crawl(*(f"{origin}/page" for origin in site.origins))
    assert (len(result.pages), result.stats["rep/html_count"]) == (3, 0)
    warnings = result.lines("WARNING", "scrapy_rep")
    assert sorted(line.partition(" serves ")[2].partition(" instead")[0] for line in warnings) == [
        "a JSON document", "a text without a line of robots.txt", "an XML document"
    ]  # fmt: skip
