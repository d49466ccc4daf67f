"""``docs/reference/audit.md`` lists the events and the fields that a crawl writes, and no others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import crawl
from tests.support.exceptions import day
from tests.support.markdown import PAGES, names, section
from tests.support.site import Answer, Site, robots

PAGE = PAGES["docs/reference/audit.md"]
EVERYWHERE = {"event", "time", "prev"}
EVENTS = ["start", "robots", "decision", "page", "ai", "backoff", "sums", "end"]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The log of a crawl that writes each event."""
    log = tmp_path_factory.mktemp("audit") / "audit.jsonl"
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /api/\n"))
        site.answer("/api/1", Answer(headers=[("X-Robots-Tag", "noindex, noai")]))
        site.answer("/busy", Answer(429))
        exception = {
            "url": f"{site.origin}/api/1",
            "reason": "r",
            "until": day(),
            "rule": "Disallow: /api/",
        }
        crawl(
            f"{site.origin}/api/1", f"{site.origin}/api/2", f"{site.origin}/busy", apart=True, settings={
                "ROBOTSTXT_OBEY": True, "REP_AUDIT": str(log), "REP_EXCEPTIONS": [exception],
                "REP_PURPOSES": ["ai-train"], "CONCURRENT_REQUESTS": 1, "RETRY_ENABLED": False,
                "REP_PAGE_DIRECTIVES": "obey", "REP_NOINDEX": "drop",
            }, spider="tests.crawl.output_spiders:Scrapes",
        )  # fmt: skip
    return [json.loads(line) for line in Path(log).read_text("utf-8").splitlines()]


def test_every_event_has_its_section(written: list[dict[str, Any]]) -> None:
    assert {event["event"] for event in written} == {*EVENTS}
    assert all(section(PAGE, f"## {name}") for name in EVENTS)
    assert set(names(section(PAGE, "## Every event"))) == EVERYWHERE


@pytest.mark.parametrize("name", EVENTS)
def test_every_field_of_an_event_has_its_row(written: list[dict[str, Any]], name: str) -> None:
    for event in written:
        if event["event"] == name:
            assert set(event) >= EVERYWHERE
            assert set(event) - EVERYWHERE == set(names(section(PAGE, f"## {name}")))


def test_the_fields_of_counts_and_exceptions_are_named(written: list[dict[str, Any]]) -> None:
    by_name = {event["event"]: event for event in written}
    nested = [by_name["sums"]["counts"][0], by_name["sums"]["dropped"][0], by_name["start"]["exceptions"][0]]
    nested += [by_name["page"]["said"][0], by_name["ai"]["statements"][0]]
    nested += [event["exception"] for event in written if event.get("exception")]
    assert len(nested) == 6
    assert all(f"`{field}`" in PAGE for found in nested for field in found)
