"""Two surveys: what changed, who newly shuts out whom, and the page about it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

import pytest

from scrapy_rep.census import Capture, Row
from scrapy_rep.tools.survey.comparison import (
    CHANGED,
    SHUTTING_OUT,
    SITES,
    Changes,
    Comparison,
    dated_events,
)
from scrapy_rep.tools.survey.comparison_report import write_comparison
from tests.support.chromium import dump_dom, needs_chromium

from .surveys import survey

OPEN = b"User-agent: *\nDisallow: /x\n"
CLOSED = OPEN + b"\nUser-agent: GPTBot\nDisallow: /\n"
DOWN = Capture("", problem="X: y")
NONE = Capture("", 404)
WHEN = datetime(2026, 1, 2, tzinfo=timezone.utc)


def changed(tmp_path: Path, *files: bytes | Capture) -> tuple[Sequence[Row], str, Changes] | None:
    """The rows of a site that changed, what happened, and the crawlers that it shut out and let in."""
    surveys = [survey(tmp_path / f"{number}", {"s": file}) for number, file in enumerate(files)]
    comparison = Comparison(surveys)
    return next(((rows, change.what, comparison.overall) for rows, change in comparison.changes()), None)


@pytest.mark.parametrize(
    ("old", "new", "what", "shut_out", "let_in"),
    [
        (OPEN, CLOSED, "file changed", ["GPTBot"], []),
        (CLOSED, OPEN, "file changed", [], ["GPTBot"]),
        (NONE, CLOSED, "new robots.txt", ["GPTBot"], []),
        (CLOSED, NONE, "robots.txt removed", [], ["GPTBot"]),
        (CLOSED, b"<!doctype html><p>", "robots.txt removed", [], ["GPTBot"]),
        (CLOSED, DOWN, "now unreachable", [], []),
        (DOWN, CLOSED, "reachable again", [], []),
        (OPEN, b"User-agent: *\nDisallow: /\n", "file changed", ["*"], []),
        (CLOSED, b"User-agent: *\nDisallow: /\n", "file changed", ["*"], []),
        (
            OPEN,
            b"User-agent: *\nDisallow: /\n\nUser-agent: Bingbot\nAllow: /\n",
            "file changed",
            ["*"],
            [],
        ),
        (OPEN, OPEN + b"#", "file changed", [], []),
        (OPEN, CLOSED.replace(b"/x", b"/"), "file changed", ["GPTBot", "*"], []),
        (DOWN, Capture("", 301, location="https://b.example/"), "reachable again", [], []),
        (CLOSED, Capture("", 301, location="https://b.example/"), "robots.txt removed", [], []),
    ],
)
def test_a_site_newly_closes_everything_to_who_may_request_nothing_any_more(
    tmp_path: Path,
    *,
    old: bytes | Capture,
    new: bytes | Capture,
    what: str,
    shut_out: list[str],
    let_in: list[str],
) -> None:
    change = changed(tmp_path, old, new)
    assert change
    _, happened, overall = change
    assert (happened, [*overall.shut_out], [*overall.let_in]) == (what, shut_out, let_in)


@pytest.mark.parametrize("same", [OPEN, NONE, DOWN, b""])
def test_a_site_that_is_the_same_has_not_changed(tmp_path: Path, same: bytes | Capture) -> None:
    assert changed(tmp_path, same, same) is None


def test_only_sites_in_every_survey_count(tmp_path: Path) -> None:
    old, new = {"a": OPEN, "b": OPEN, "c": OPEN}, {"c": CLOSED, "b": OPEN, "d": OPEN}
    comparison = Comparison([survey(tmp_path / "old", old), survey(tmp_path / "new", new)])
    assert [(rows[0].site, overall.what) for rows, overall in comparison.changes()] == [("c", "file changed")]
    overall = comparison.overall
    assert [overall.sites[name] for name in (SITES, CHANGED, SHUTTING_OUT)] == [2, 1, 1]
    assert (comparison.left_out, overall.shut_out) == (2, {"GPTBot": 1})


CCBOT_PART = b"User-agent: CCBot\nDisallow: /y\n"
SHUT = b"User-agent: *\nDisallow: /\n"


@pytest.mark.parametrize(
    ("files", "events"),
    [
        ([OPEN, CLOSED], [("GPTBot", "2", "part through *", "all by name")]),
        ([CLOSED, OPEN], [("GPTBot", "2", "all by name", "part through *")]),
        ([OPEN, SHUT], [("*", "2", "part", "all")]),
        ([NONE, CCBOT_PART], [("CCBot", "2", "none", "part by name")]),
        ([OPEN, OPEN + b"# other"], []),
        ([OPEN, DOWN, CLOSED], [("GPTBot", "3", "part through *", "all by name")]),
        ([OPEN, CLOSED, OPEN], [("GPTBot", "2", "part through *", "all by name"),
                                ("GPTBot", "3", "all by name", "part through *")]),
    ],
)  # fmt: skip
def test_an_event_says_what_was_closed_to_a_crawler_before_and_after(
    tmp_path: Path, files: list[bytes | Capture], events: list[tuple[str, ...]]
) -> None:
    change = changed(tmp_path, *files)
    assert change
    assert [event[1:] for event in dated_events(change[0], ["1", "2", "3"][: len(files)])] == events


@needs_chromium
def test_a_browser_shows_to_whom_everything_is_newly_closed_without_a_script(tmp_path: Path) -> None:
    evil = b"</script><img src=x>"
    old = survey(tmp_path / "old", {"s": OPEN, "same": OPEN})
    new = survey(tmp_path / "new", {"s": CLOSED + evil, "same": OPEN})
    write_comparison([old, new], WHEN, tmp_path / "page.html")
    page = dump_dom((tmp_path / "page.html").as_uri(), tmp_path).decode()
    chart = page.partition('aria-label="Sites that newly close everything to a crawler"')[2]
    assert re.search(r'(?s)GPTBot</th>.*?<td class="number">1</td><td class="number">50%</td>', chart)
    assert "<script" not in page
    assert "<img" not in page
