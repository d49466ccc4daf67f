"""The two-minute test: a crawl got less than its owner expected, and the log alone says why and what to do.

One test for each reason. Together they cover the closing line, which sums every loss.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.crawl.scraping import html, scrape, x_robots_tag
from tests.support.crawl import Crawl, crawl
from tests.support.crawl_site import visit
from tests.support.site import Answer, Site, robots

MEMORY: dict[str, Any] = {"REP_STORE": "memory"}
SCRAPYS: dict[str, Any] = {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue"}
QUEUES = pytest.mark.parametrize("queue", [{}, SCRAPYS], ids=["our queue", "Scrapy's queue"])
PAGES = [f"/{page}" for page in range(5)]
ENDS_SOON: dict[str, Any] = {"CLOSESPIDER_TIMEOUT": 1}
SIGNALS = "REP_AI_SIGNALS; scrapy robots explain --page shows who says so"
LEFT_OUT = "Left out, with the settings that change it: "


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as running:
        yield running


def closing(result: Crawl) -> tuple[str, str]:
    """The level and the text of the closing line, the last one that scrapy_rep logs."""
    line = [line for line in result.log if line.name.startswith("scrapy_rep")][-1]
    assert line.name == "scrapy_rep.crawl.gate.losses", line
    return line.level, line.message


def urls(site: Site) -> list[str]:
    return [site.origin + page for page in PAGES]


def test_a_rule_is_the_reason() -> None:
    site, result = visit("User-agent: *\nDisallow: /shop\n", "/about", "/shop/1", "/shop/2", **MEMORY)
    assert closing(result) == (
        "INFO",
        f"{LEFT_OUT}2 requests that robots.txt forbids (REP_EXCEPTIONS, REP_MODES).",
    )
    named = f"2 requests forbidden, most by {site.origin} (line 2, Disallow: /shop) 2"
    assert any(named in line for line in result.lines("INFO"))


def test_a_503_for_robots_txt_is_the_reason() -> None:
    _, result = visit(Answer(503), *PAGES, **MEMORY, REP_RETRY_TIMES=0)
    why = "5 requests whose robots.txt is unreachable (REP_UNREACHABLE)."
    assert closing(result) == ("WARNING", f"No page arrived. {LEFT_OUT}{why}")
    (said, _) = result.lines("WARNING")
    assert "is unreachable after 1 attempt (HTTP status 503): its pages are forbidden until an attempt" in said
    assert said.endswith('. Start again later, or set REP_UNREACHABLE = "allow" to request them anyway')


@QUEUES
def test_a_crawl_delay_of_30_seconds_is_the_reason(queue: dict[str, Any]) -> None:
    rules = "User-agent: *\nCrawl-delay: 30\n"
    site, result = visit(rules, *PAGES, **MEMORY, **ENDS_SOON, **queue)
    level, text = closing(result)
    which = "127.0.0.1 (one every 30 s)" if queue else "5 for 127.0.0.1 (one every 30 s, 2 min 30 s in all)"
    why = f"5 requests still in the queue when the crawl closed (closespider_timeout): {which}; "
    assert (level, text.startswith(f"No page arrived. {LEFT_OUT}{why}")) == ("WARNING", True), text
    assert text.endswith("JOBDIR keeps them for the next run, REP_CRAWL_DELAY_MAX bounds delays.")
    assert f"robots.txt of {site.origin} asks for 30 s between two requests (line 2)" in result.lines("INFO")
    assert result.stats["rep/queue/left_count"] == 5
    assert 0.7 < result.stats["rep/crawl_delay/waited_seconds"] < 1.6


@QUEUES
def test_a_429_of_an_earlier_run_is_the_reason(queue: dict[str, Any], site: Site, tmp_path: Path) -> None:
    settings = {"REP_STORE_PATH": str(tmp_path / "store"), **queue}
    site.answer("/busy", Answer(429, headers=[("Retry-After", "600")]))
    crawl(f"{site.origin}/busy", settings={**settings, "RETRY_ENABLED": False})
    result = crawl(*urls(site), settings={**settings, **ENDS_SOON})
    level, text = closing(result)
    found = re.fullmatch(
        rf"No page arrived\. {LEFT_OUT}5 requests still in the queue when the crawl closed"
        r" \(closespider_timeout\): (5 for )?127\.0\.0\.1 \(it asked for a pause, (9 min 5\d s|10 min) left\);"
        r" JOBDIR keeps them for the next run, REP_BACKOFF = False does not wait for sites that asked for a"
        r" pause\.",
        text,
    )
    assert (level, bool(found)) == ("WARNING", True), text
    assert sum("asked an earlier run or another process to slow down" in one for one in result.lines("INFO")) == 1
    assert 0.7 < result.stats["rep/crawl_delay/waited_seconds"] < 1.6


def test_a_signal_about_ai_is_the_reason() -> None:
    pages = {"/robots.txt": robots("User-agent: *\nContent-Signal: ai-train=no\n"), "*": html()}
    result = scrape(pages, PAGES, REP_PURPOSES=["ai-train"], REP_AI_SIGNALS="obey").crawl
    why = f"5 items of pages that are reserved from ai-train ({SIGNALS})."
    assert closing(result) == ("WARNING", f"No item was kept. {LEFT_OUT}{why}")


# What else is left out.


def test_pages_that_are_refused_for_ai_count_apart_from_those_that_rules_forbid() -> None:
    pages = {"/robots.txt": robots("User-agent: *\nDisallow: /0\nContent-Signal: ai-train=no\n"), "*": html()}
    result = scrape(pages, PAGES, REP_PURPOSES=["ai-train"], REP_AI_SIGNALS="refuse").crawl
    assert (result.stats["robotstxt/forbidden"], result.stats["rep/ai/refused_count"]) == (5, 4)
    rule = "1 request that robots.txt forbids (REP_EXCEPTIONS, REP_MODES)"
    signal = f"4 requests for pages that robots.txt reserves from ai-train ({SIGNALS})"
    assert closing(result) == ("WARNING", f"No page arrived. {LEFT_OUT}{rule}; {signal}.")


def test_items_and_links_that_pages_ask_to_leave_out_are_counted() -> None:
    page = html('<a href="/1">1</a> <a href="/2">2</a>', x_robots_tag("noindex, nofollow"))
    obeyed: dict[str, Any] = {"REP_PAGE_DIRECTIVES": "obey", "REP_NOINDEX": "drop"}
    links = "2 links that nofollow applies to (REP_PAGE_DIRECTIVES, REP_REL_NOFOLLOW)"
    items = "1 item of pages that say noindex (REP_NOINDEX)"
    gone = closing(scrape({"/": page}, **obeyed).crawl)
    assert gone == ("WARNING", f"No item was kept. No link was followed. {LEFT_OUT}{links}; {items}.")
    others = {"/": page, "/open": html('<a href="/3">3</a>'), "/3": html()}
    assert closing(scrape(others, ["/", "/open"], **obeyed).crawl) == ("INFO", f"{LEFT_OUT}{links}; {items}.")


def test_links_that_are_dropped_early_are_counted() -> None:
    pages = {"/robots.txt": robots("User-agent: *\nDisallow: /cart\n"), "/": html('<a href="/cart/1">1</a>')}
    result = scrape(pages, REP_FILTER_LINKS="known").crawl
    why = "1 link that robots.txt forbids (REP_EXCEPTIONS, REP_MODES)."
    assert closing(result) == ("WARNING", f"No link was followed. {LEFT_OUT}{why}")


def test_a_page_count_leaves_requests_in_the_queue_and_a_jobdir_keeps_them(tmp_path: Path) -> None:
    one = {**MEMORY, "CLOSESPIDER_PAGECOUNT": 2, "CONCURRENT_REQUESTS": 1, "JOBDIR": str(tmp_path / "job")}
    with Site() as site:
        first = crawl(*urls(site), settings=one, spider="tests.crawl.spiders:Burst")
        left = first.stats["rep/queue/left_count"]
        level, text = closing(first)
        assert (level, 2 <= left <= 5) == ("INFO", True)  # robots.txt counts as a page for Scrapy
        assert f"{left} requests still in the queue when the crawl closed (closespider_pagecount)" in text
        assert text.endswith("; the next run finds those in the JOBDIR.")


@QUEUES
def test_what_an_earlier_run_left_counts_again(queue: dict[str, Any], site: Site, tmp_path: Path) -> None:
    site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 30\n"))
    settings = {**MEMORY, **queue, **ENDS_SOON, "JOBDIR": str(tmp_path / "job")}
    for requests in (urls(site), []):
        result = crawl(*requests, settings=settings)
        assert (result.stats["rep/queue/left_count"], result.pages) == (5, [])


def test_a_robots_txt_that_does_not_come_is_named(site: Site) -> None:
    site.answer("/robots.txt", Answer(hangs=True))
    level, text = closing(crawl(*urls(site), settings={**MEMORY, **ENDS_SOON}))
    assert level == "WARNING"
    assert ": 5 for 127.0.0.1 (its robots.txt has not come); " in text
    assert "REP_TIMEOUT and REP_UNREACHABLE_WAIT bound the wait for robots.txt" in text


@QUEUES
def test_a_crawl_that_got_everything_has_no_closing_line(queue: dict[str, Any]) -> None:
    _, result = visit("User-agent: *\nDisallow: /shop\n", *PAGES, **MEMORY, **queue)
    assert len(result.pages) == 5
    assert not [line for line in result.log if line.name == "scrapy_rep.crawl.gate.losses"]
    assert "rep/queue/left_count" not in result.stats


def test_waits_for_a_delay_count_once_for_a_host_with_either_queue(site: Site) -> None:
    site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 0.3\n"))
    for queue in ({}, SCRAPYS):
        result = crawl(*urls(site), settings={**MEMORY, **queue})
        assert len(result.pages) == 5
        assert 1.3 < result.stats["rep/crawl_delay/waited_seconds"] < 1.9  # not five times as much
