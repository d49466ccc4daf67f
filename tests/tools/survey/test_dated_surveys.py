"""Several dated surveys: their order, the same sites in all, and what changed at each date."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from scrapy_rep.census import Capture, Row
from scrapy_rep.tools.survey.comparison import (
    CHANGED,
    CHANGED_BACK,
    SITES,
    Changes,
    Comparison,
)
from scrapy_rep.tools.survey.comparison_report import write_comparison
from scrapy_rep.tools.survey.joined import ComparedSurvey, Joined
from scrapy_rep.tools.survey.totals import NAMED_ALL, NOTHING, STAR_ALL, STAR_PART
from tests.support.memory import octets_kept

from .surveys import Table, survey

Page = Callable[..., tuple[str, Changes]]

OPEN = b"User-agent: *\nDisallow: /x\n"
CLOSED = OPEN + b"\nUser-agent: GPTBot\nDisallow: /\n"
SHUT = b"User-agent: *\nDisallow: /\n"
DOWN = Capture("", problem="X: y")
DAYS = [datetime(2026, month, 2, 12, tzinfo=timezone.utc) for month in (1, 2, 3)]
WHEN = datetime(2026, 4, 1, tzinfo=timezone.utc)


@pytest.fixture
def page_about(tmp_path: Path) -> Page:
    """Writes the page about surveys, and returns it with the sums."""

    def write(surveys: list[ComparedSurvey]) -> tuple[str, Changes]:
        found = write_comparison(surveys, WHEN, tmp_path / "out" / "compare.html")
        return (tmp_path / "out" / "compare.html").read_text("utf-8"), found

    return write


def counts(changes: Changes, *names: str) -> list[int]:
    return [changes.sites[name] for name in names]


def labels(*surveys: Table) -> list[str]:
    return Joined(surveys).labels


def test_surveys_are_in_the_order_of_their_dates() -> None:
    late, early = Table("late", {"s": OPEN}, DAYS[1]), Table("early", {"s": OPEN}, DAYS[0])
    assert labels(late, early) == ["2026-01-02", "2026-02-02"]


def test_surveys_of_one_day_are_named_apart() -> None:
    one, other = Table("one", {"s": OPEN}, DAYS[0] + timedelta(hours=1)), Table("other", {"s": OPEN}, DAYS[0])
    assert labels(one, other) == ["2026-01-02 (other)", "2026-01-02 (one)"]


def test_without_a_date_the_order_given_and_the_name_count() -> None:
    assert labels(Table("late", {"s": OPEN}, DAYS[1]), Table("b", {"s": OPEN}), Table("a", {})) == [
        "2026-02-02", "b", "a"
    ]  # fmt: skip


def test_the_date_of_a_survey_is_the_median_of_its_rows(tmp_path: Path) -> None:
    folder = survey(tmp_path / "s", {"a": OPEN}, DAYS[0])
    folder.open(append=True)
    for row in [*Table("", {"b": OPEN}, DAYS[0]).rows(), *Table("", {"c": OPEN}, DAYS[2]).rows()]:
        folder.add(row)
    folder.close()
    assert Joined([folder, Table("late", {"a": OPEN}, DAYS[1])]).labels == ["2026-01-02", "2026-02-02"]


def test_one_survey_cannot_be_compared(page_about: Page) -> None:
    with pytest.raises(ValueError, match="two or more"):
        page_about([Table("a", {"s": OPEN})])


def test_the_rows_of_a_site_come_together_in_the_order_of_the_dates() -> None:
    surveys = [
        Table("late", {"z": CLOSED, "a": OPEN}, DAYS[1]), Table("early", {"z": OPEN, "gone": OPEN}, DAYS[0])
    ]  # fmt: skip
    found = [[(row.site, len(row.named)) for row in rows] for rows in Joined(surveys).sites()]
    assert found == [[("a", 0)], [("gone", 0)], [("z", 0), ("z", 1)]]


def test_what_is_compared_of_a_row_survives_the_join(tmp_path: Path) -> None:
    bodies = {"a": CLOSED + b"Crawl-delay: 2\nContent-Signal: ai-train=no\n", "\ud800": OPEN}
    folder = survey(tmp_path / "s", {"a": bodies["a"], "down": DOWN, "none": Capture("", 404)}, DAYS[0])
    surveys: list[ComparedSurvey] = [folder, Table("t", bodies, DAYS[1])]
    before = {(row.site, row.sha256, row.findings is None): row for each in surveys for row in each.rows()}
    after = [row for rows in Joined(surveys).sites() for row in rows]
    assert len(after) == len(before) == 5
    for row in after:
        was = before[row.site, row.sha256, row.findings is None]
        others = row.restriction.get("*", "")
        assert (row.kind, row.longest_delay) == (was.kind, was.longest_delay)
        assert {name: row.restriction.get(name, others) for name in was.restriction} == was.restriction


def test_all_sums_are_of_the_sites_in_every_survey() -> None:
    first = {"a": OPEN, "b": OPEN, "gone": SHUT, "down": SHUT, "page": b"<!doctype html><p>"}
    last = {"a": CLOSED, "b": OPEN, "new": SHUT, "down": None, "page": SHUT}
    comparison = Comparison([Table("1", first), Table("2", last)])
    assert len([*comparison.changes()]) == 3
    assert [(each.sites, each.known) for each in comparison.sums] == [(4, 4), (4, 3)]
    assert comparison.left_out == 2
    assert [each.blocks["training"] for each in comparison.sums] == [
        {STAR_PART: 2, STAR_ALL: 1, NOTHING: 1}, {NAMED_ALL: 1, STAR_PART: 1, STAR_ALL: 1}
    ]  # fmt: skip
    assert [each.of_ai("by name") for each in comparison.sums] == [0, 1]


def test_a_site_that_changed_and_changed_back_has_changed() -> None:
    surveys = [Table(str(rank), {"s": body, "t": OPEN}) for rank, body in enumerate([OPEN, CLOSED, OPEN])]
    comparison = Comparison(surveys)
    changes = {rows[0].site: overall.what for rows, overall in comparison.changes()}
    assert changes == {"s": CHANGED_BACK}
    assert counts(comparison.overall, SITES, CHANGED) == [2, 1]


def test_there_is_one_denominator(page_about: Page) -> None:
    many = Table("1", {f"{number}.example": OPEN for number in range(30)})
    page, _ = page_about([many, Table("2", {"0.example": CLOSED, "1.example": OPEN})])
    assert "All counts and shares on this page are of the 2 sites that are in every survey" in page
    assert "28 other sites count nowhere" in page
    assert "of the 30 sites" not in page


def test_an_owner_of_many_sites_is_one_owner_in_a_comparison_as_well(page_about: Page) -> None:
    sites = [f"https://{number}.shop.co.uk" for number in range(9)]
    before, now = ({**dict.fromkeys(sites, body), "https://a.example": OPEN} for body in (OPEN, CLOSED))
    page, _ = page_about([Table("1", before), Table("2", now)])
    assert "By registrable domain: 0%, now 50%" in page
    assert "shop.co.uk has 90% of the sites: shares by domain say more" in page


def test_surveys_without_findings_are_compared(page_about: Page) -> None:
    page, overall = page_about([Table("1", {"s": OPEN}, DAYS[0]), Table("2", {"s": CLOSED}, DAYS[1])])
    assert overall.shut_out == {"GPTBot": 1}
    assert 'have an error in the file</th><td class="number">not known</td>' in page


def test_the_page_has_a_bar_for_each_date_and_ranks_crawlers_date_beside_date(page_about: Page) -> None:
    bodies = [OPEN, CLOSED, CLOSED + b"User-agent: CCBot\nDisallow: /\n"]
    page, _ = page_about([Table(str(day), {"s": body}, day) for day, body in zip(DAYS, bodies, strict=True)])
    dates = re.findall(r'<tr><th scope="row">([\d-]+)</th><td class="drawn">', page)
    assert dates[:3] == ["2026-01-02", "2026-02-02", "2026-03-02"]
    ranking = page[page.index('<table class="ranking"') :].partition("</table>")[0]
    cells = re.sub(r"\s*<svg.*?</svg>\s*", "", ranking, flags=re.DOTALL)
    assert '<th scope="row">GPTBot</th><td><small>none</small></td><td>1 <small>100%, no. 1</small></td>' in cells
    assert '<th scope="row">CCBot</th><td><small>none</small></td><td><small>none</small></td>' in cells
    assert "robots.txt of 1 site, from 2026-01-02 to 2026-03-02" in page


def test_of_many_dates_four_are_side_by_side_and_the_page_says_it(page_about: Page) -> None:
    page, _ = page_about([Table(str(day), {"s": CLOSED}, WHEN + timedelta(days=day)) for day in range(9)])
    assert "4 of the 9 dates are shown." in page


def test_the_events_are_written_beside_the_page(page_about: Page, tmp_path: Path) -> None:
    page_about([Table(str(day), {"=s": body}, day) for day, body in zip(DAYS, (OPEN, CLOSED), strict=False)])
    assert (tmp_path / "out" / "compare.csv").read_text("utf-8").splitlines() == [
        "site,crawler,date,from,to", "'=s,GPTBot,2026-02-02,part through *,all by name"
    ]  # fmt: skip


@pytest.mark.parametrize("sites", [{}, {"s": None}, {"s": b""}])
def test_surveys_of_nothing_make_a_page(sites: dict[str, bytes | None], page_about: Page) -> None:
    page, overall = page_about([Table("<b>", sites), Table("2", sites), Table("2", {})])
    assert counts(overall, SITES) == [0]
    assert "&lt;b&gt;" in page
    assert "<b>," not in page


@dataclass(frozen=True)
class Many:
    """So many sites with the same file."""

    number: int
    name: str = "many"

    def rows(self) -> Iterator[Row]:
        (row,) = Table("", {"": CLOSED}, DAYS[0]).rows()
        values = row.as_dict()
        return (Row(**values | {"site": f"https://{number:06}.example"}) for number in range(self.number))


@pytest.mark.full
def test_memory_does_not_grow_with_the_number_of_sites() -> None:
    def compare(number: int) -> Comparison:
        comparison = Comparison([Many(number), Many(number)])
        assert not any(comparison.changes())
        return comparison

    compare(10)
    few, many = (octets_kept(lambda number=number: compare(number)) for number in (100, 4_000))  # type: ignore[misc]
    assert many < few + 50_000  # what SQLite keeps of its last parameters; 4,000 names are twice that
