"""The sites of a report: their files, and what is said about findings."""

from __future__ import annotations

import pytest

from scrapy_rep.census import Capture, Row, rows
from scrapy_rep.tools.lint import CODES, Severity
from scrapy_rep.tools.survey.sites import SiteExplorer, _line_texts, _row, finding_kind, site_item


def measure(name: str, body: bytes, *, light: bool = False) -> Row:
    return Row(**next(rows([Capture(name, body=body)], light=light)))


@pytest.mark.parametrize("code", CODES)
def test_every_finding_is_explained_in_whole_sentences(code: str) -> None:
    text = finding_kind(code).text
    assert text.endswith(".")
    assert not set("{}") & set(text)
    assert ": ." not in text
    assert " ." not in text


def test_a_finding_of_another_version_is_a_note_of_its_code() -> None:
    kind = finding_kind("x")
    assert (kind.severity, kind.title, kind.text) == (Severity.NOTE, "x", "")


def test_a_file_that_is_not_there_is_not_shown_nor_one_for_which_there_is_no_room() -> None:
    record, body = measure("a", b"User-agent: *\n"), b"User-agent: *\n"
    explorer = SiteExplorer()
    assert site_item(record, body).source
    gone = "The file is not in the folder of the survey, or it has changed."
    assert site_item(record, None)[2:] == (gone, (), {})
    explorer._room = 1
    for _ in range(2):
        explorer.add_site(record, site_item(record, body))
    shown = [(len(item["source"]), item["text"]) for item in explorer._waiting]
    assert shown == [(1, "As the site serves it."), (0, "This report has no room for more files.")]


def test_a_huge_file_is_shown_in_part() -> None:
    body = b"\n".join(b"Disallow: /%d" % number for number in range(50_000)) + b"\n" + b"x" * 100_000
    item = site_item(measure("a", body), body)
    assert (len(item.source), item.text) == (1_000, "The first 1,000 of 50,001 lines.")
    assert [*map(len, _line_texts([b"x" * 100_000, b"", b"\xff"]))] == [501, 0, 4]
    assert _line_texts([]) == []


def test_a_file_that_was_not_linted_has_no_number_of_findings() -> None:
    body = b"User-agent: *\nDisallow: x\n"
    assert _row(measure("a", body))[-2:] == [1, 0]
    assert _row(measure("a", body, light=True))[-2:] == [None, None]
    items = [site_item(measure("a", body, light=light), body) for light in (False, True)]
    headings = [[heading for heading, _ in item.marks] for item in items]
    assert headings == [["Findings", "Well-known crawlers"], ["Well-known crawlers"]]


def test_a_site_that_redirects_elsewhere_says_where() -> None:
    row = Row(**next(rows([Capture("https://a.example/robots.txt", 302, location="https://b.example/")])))
    assert ("Redirects to", "https://b.example/") in site_item(row, None).facts
