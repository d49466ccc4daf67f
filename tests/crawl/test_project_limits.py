"""The limits that a project sets for its pages neither cut robots.txt off nor forbid a site for its sake."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.crawl import RECORDER, Crawl, crawl, on_each_download_handler
from tests.support.site import Answer, Site, robots

LONG = "User-agent: *\n" + "# padding\n" * 30_000 + "Disallow: /page\n"
STREAMED = f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{LONG}".encode()
STOPS = {"EXTENSIONS": {"tests.crawl.extensions.StopsBodies": 0}}


def crawl_pages(answer: Answer, settings: dict[str, Any], **kwargs: Any) -> tuple[Crawl, list[str | None]]:
    """The crawl, and what became of a page that is forbidden and one that is not."""
    with Site() as site:
        site.answer("/robots.txt", answer)
        site.answer("/page", Answer())
        site.answer("/other", Answer())
        result = crawl(f"{site.origin}/page", f"{site.origin}/other", settings=settings, **kwargs)
        outcomes = [
            None if url in result.urls else result.failure(url).reason
            for url in (f"{site.origin}/page", f"{site.origin}/other")
        ]
    return result, outcomes


@on_each_download_handler
@pytest.mark.parametrize("answer", [robots(LONG), Answer(raw=STREAMED)])
def test_a_body_that_a_handler_of_the_project_stops_is_unreachable(loop: str, answer: Answer) -> None:
    result, outcomes = crawl_pages(answer, STOPS, loop=loop)
    assert outcomes == ["unreachable", "unreachable"]
    assert result.stats["rep/request_count"] == 1  # another attempt would end in the same way
    (warning,) = result.lines("WARNING", "scrapy_rep.crawl.runtime.log")
    assert "a StopDownload handler of this project cut it off" in warning


def test_a_body_of_which_only_the_headers_came_is_unreachable() -> None:
    settings = {"EXTENSIONS": {"tests.crawl.extensions.StopsHeaders": 0}}
    assert crawl_pages(robots(LONG), settings)[1] == ["unreachable", "unreachable"]


@on_each_download_handler
def test_a_body_that_was_there_when_a_handler_stopped_it_counts(loop: str) -> None:
    assert crawl_pages(robots("User-agent: *\nDisallow: /page\n"), STOPS, loop=loop)[1] == ["rule", None]


def test_a_missing_robots_txt_allows_everything_however_its_page_was_stopped() -> None:
    assert crawl_pages(Answer(404, LONG.encode()), STOPS)[1] == [None, None]


@on_each_download_handler
@pytest.mark.parametrize(
    "limit",
    [
        {"settings": {"DOWNLOAD_MAXSIZE": 100}},
        {"settings": {"DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.LimitsSize": 500}}},
        {"settings": {}, "attributes": {"download_maxsize": 100}},
    ],
)
@pytest.mark.parametrize("answer", [robots(LONG), Answer(raw=STREAMED)])
def test_a_limit_to_the_size_of_pages_is_none_to_robots_txt(
    loop: str, limit: dict[str, Any], answer: Answer
) -> None:
    result, outcomes = crawl_pages(answer, loop=loop, spider=RECORDER, **limit)
    assert outcomes == ["rule", None]
    assert result.stats["rep/request_count"] == 1
