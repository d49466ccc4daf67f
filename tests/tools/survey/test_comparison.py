"""Two surveys: what changed, who newly shuts out whom, which lines, and the page about it."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from pathlib import Path

import pytest

from scrapy_rep.tools.survey import SiteRecord
from scrapy_rep.tools.survey.comparison import APPEARED, EVERYONE_ELSE, GONE, Comparison, SiteChange
from scrapy_rep.tools.survey.comparison_report import changed_lines, comparison_report
from scrapy_rep.tools.survey.folder import SurveyFolder
from scrapy_rep.tools.survey.measure import measure
from tests.support.chromium import dump_dom, needs_chromium

OPEN = b"User-agent: *\nDisallow: /x\n"
CLOSED = OPEN + b"\nUser-agent: GPTBot\nDisallow: /\n"
DOWN = SiteRecord("", "unreachable", problem="X: y")
NONE = SiteRecord("", "unavailable", 404)
WHEN = datetime(2026, 1, 2, tzinfo=timezone.utc)


def survey(path: Path, sites: dict[str, bytes | SiteRecord]) -> SurveyFolder:
    """A folder with a survey of *sites*: their files, or their records."""
    folder = SurveyFolder(path)
    folder.open(append=False)
    for name, body in sites.items():
        if isinstance(body, bytes):
            (path / name).write_bytes(body)
            folder.add(measure(name, body, file=name))
        else:
            folder.add(SiteRecord(name, body.access, body.status, problem=body.problem))
    folder.close()
    return folder


def changed(tmp_path: Path, old: bytes | SiteRecord, new: bytes | SiteRecord) -> SiteChange | None:
    comparison = Comparison(survey(tmp_path / "old", {"s": old}), survey(tmp_path / "new", {"s": new}))
    return next(comparison.changes(), None)


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
        (OPEN, b"User-agent: *\nDisallow: /\n", "file changed", [EVERYONE_ELSE], []),
        (CLOSED, b"User-agent: *\nDisallow: /\n", "file changed", [EVERYONE_ELSE], []),
        (
            OPEN,
            b"User-agent: *\nDisallow: /\n\nUser-agent: Bingbot\nAllow: /\n",
            "file changed",
            [EVERYONE_ELSE],
            [],
        ),
        (OPEN, OPEN + b"#", "file changed", [], []),
    ],
)
def test_ours_a_site_newly_shuts_out_who_may_request_the_home_page_no_longer(
    tmp_path: Path,
    *,
    old: bytes | SiteRecord,
    new: bytes | SiteRecord,
    what: str,
    shut_out: list[str],
    let_in: list[str],
) -> None:
    change = changed(tmp_path, old, new)
    assert change
    assert (change.what, change.shut_out, change.let_in) == (what, shut_out, let_in)


@pytest.mark.parametrize("same", [OPEN, NONE, DOWN, b""])
def test_ours_a_site_that_is_the_same_has_not_changed(tmp_path: Path, same: bytes | SiteRecord) -> None:
    assert changed(tmp_path, same, same) is None


def test_sites_of_one_survey_alone_are_told(tmp_path: Path) -> None:
    old, new = {"a": OPEN, "b": OPEN, "c": OPEN}, {"c": CLOSED, "b": OPEN, "d": OPEN}
    comparison = Comparison(survey(tmp_path / "old", dict(old)), survey(tmp_path / "new", dict(new)))
    assert [(change.site, change.what) for change in comparison.changes()] == [
        ("c", "file changed"), ("d", APPEARED), ("a", GONE)
    ]  # fmt: skip
    assert (comparison.in_both, comparison.changed, comparison.shutting_out) == (2, 1, 1)
    assert comparison.shut_out == {"GPTBot": 1}


def test_a_record_of_an_older_version_is_compared_by_its_ai_crawlers(tmp_path: Path) -> None:
    old = survey(tmp_path / "old", {"s": OPEN})
    path = tmp_path / "old" / "survey.jsonl"
    path.write_text(
        '{"site": "s", "sha256": "1", "ai_crawlers": {"GPTBot": "shut out", "CCBot": "shut out as all"}}\n'
    )
    change = next(Comparison(old, survey(tmp_path / "new", {"s": OPEN})).changes())
    assert (change.shut_out, change.let_in) == ([], ["GPTBot"])


def test_a_long_file_that_changed_is_never_all_the_same(tmp_path: Path) -> None:
    long = OPEN + b"".join(b"Disallow: /%d\n" % number for number in range(5_000))
    for old, new, alike in ((long, long + b"Allow: /y\n", 99), (OPEN, OPEN + b"# c", 100), (OPEN, b"", None)):
        change = changed(tmp_path, old, new)
        assert change
        assert change.similarity == alike


def test_the_lines_that_changed_are_shown_with_those_around() -> None:
    old = b"\n".join(b"%d" % number for number in range(20))
    new = old.replace(b"\n10\n", b"\nten\n").replace(b"\n3\n", b"\n3  \r\n")
    assert [(line.number, line.sign, line.text) for line in changed_lines(old, new)] == [
        (9, "", "8"), (10, "", "9"), (11, "-", "10"), (11, "+", "ten"), (12, "", "11"), (13, "", "12")
    ]  # fmt: skip
    assert not [*changed_lines(old, old)]


def test_hostile_files_are_compared_up_to_a_limit() -> None:
    lines = [*changed_lines(b"a\n" * 500_000, b"b\n" * 500_000)]
    assert len(lines) == 2_000


@needs_chromium
def test_a_browser_shows_who_is_newly_shut_out_and_the_lines(tmp_path: Path) -> None:
    evil = b"</script><img src=x>"
    old = survey(tmp_path / "old", {"s": OPEN, "same": OPEN})
    new = survey(tmp_path / "new", {"s": CLOSED + evil, "same": OPEN})
    page, _ = comparison_report(old, new, WHEN)
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    url = (tmp_path / "page.html").as_uri()
    assert '<a href="#list?tag=shut-out%3AGPTBot">1</a>' in page
    listed = dump_dom(f"{url}#list?tag=shut-out%3AGPTBot", tmp_path, "--virtual-time-budget=5000").decode()
    assert "1 of 1 changed sites" in listed
    item = dump_dom(f"{url}#item?s", tmp_path, "--virtual-time-budget=5000").decode()
    assert "newly shuts out GPTBot" in item
    added = re.findall(r'<tr [^>]*class="added"><th scope="row">(\d+)</th>.*?<code>(.*?)</code>', item)
    assert added == [
        ("3", ""),
        ("4", "User-agent: GPTBot"),
        ("5", "Disallow: /"),
        ("6", "&lt;/script&gt;&lt;img src=x&gt;"),
    ]
    assert "<img" not in item
