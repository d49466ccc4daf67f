"""Several dated surveys: their order, the same sites in all, what changed at each date, and lines over time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from scrapy_rep.census import ALL, NONE, PART, Capture, Row
from scrapy_rep.tools.survey.comparison import (
    CHANGED,
    CHANGED_BACK,
    IN_BETWEEN,
    IN_BOTH,
    LETTING_IN,
    MISSING_IN_BETWEEN,
    SHUTTING_OUT,
    Changes,
    Comparison,
)
from scrapy_rep.tools.survey.comparison_report import comparison_report
from scrapy_rep.tools.survey.joined import ComparedSurvey, Joined
from tests.support.memory import octets_kept

from .surveys import Table, item, survey

OPEN = b"User-agent: *\nDisallow: /x\n"
CLOSED = OPEN + b"\nUser-agent: GPTBot\nDisallow: /\n"
SHUT = b"User-agent: *\nDisallow: /\n"
DOWN = Capture("", problem="X: y")
DAYS = [datetime(2026, month, 2, 12, tzinfo=timezone.utc) for month in (1, 2, 3)]
WHEN = datetime(2026, 4, 1, tzinfo=timezone.utc)


def counts(changes: Changes, *names: str) -> list[int]:
    return [changes.sites[name] for name in names]


def labels(*surveys: Table) -> list[str]:
    return [each.label for each in Joined(surveys).surveys]


def test_surveys_are_in_the_order_of_their_dates() -> None:
    late, early = Table("late", {"s": OPEN}, DAYS[1]), Table("early", {"s": OPEN}, DAYS[0])
    assert labels(late, early) == ["2026-01-02", "2026-02-02"]


def test_surveys_of_one_day_are_named_apart() -> None:
    one, other = Table("one", {"s": OPEN}, DAYS[0] + timedelta(hours=1)), Table("other", {"s": OPEN}, DAYS[0])
    assert labels(one, other, other) == [
        "2026-01-02 (other), 1", "2026-01-02 (other), 2", "2026-01-02 (one)"
    ]  # fmt: skip


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
    assert Joined([folder, folder]).surveys[0].when == DAYS[0]


def test_one_survey_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="two or more"):
        comparison_report([Table("a", {"s": OPEN})], WHEN)


def test_the_sites_of_the_last_survey_come_first_in_their_order() -> None:
    surveys = [
        Table("a", {"z": OPEN, "gone": OPEN}),
        Table("b", {"between": OPEN}),
        Table("c", {"z": OPEN, "a": OPEN}),
    ]
    found = [[row.site if row else "" for row in rows] for rows in Joined(surveys).sites()]
    assert found == [["z", "", "z"], ["", "", "a"], ["", "between", ""], ["gone", "", ""]]


def test_what_is_compared_of_a_row_survives_the_join(tmp_path: Path) -> None:
    bodies = {"a": CLOSED + b"Crawl-delay: 2\nContent-Signal: ai-train=no\n", "\ud800": OPEN}
    folder = survey(tmp_path / "s", {"a": bodies["a"], "down": DOWN, "none": Capture("", 404)}, DAYS[0])
    surveys: list[ComparedSurvey] = [folder, Table("t", bodies, DAYS[1])]
    for rows in Joined(surveys).sites():
        for each, source in zip(rows, surveys, strict=True):
            before = next((row for row in source.rows() if each and row.site == each.site), None)
            assert (each is None) == (before is None)
            if each and before:
                assert each.kind == before.kind
                assert each.longest_delay == before.longest_delay
                assert each.fetched_at == before.fetched_at
                others = each.restriction.get("*", "")
                assert {
                    name: each.restriction.get(name, others) for name in before.restriction
                } == before.restriction


def test_shares_are_of_the_sites_that_are_known_in_every_survey() -> None:
    first = {"a": OPEN, "b": OPEN, "gone": SHUT, "down": SHUT, "page": b"<!doctype html><p>"}
    last = {"a": CLOSED, "b": OPEN, "new": SHUT, "down": None, "page": SHUT}
    comparison = Comparison([Table("1", first), Table("2", last)])
    assert len([*comparison.changes()]) == 5
    assert [each.sites for each in (*comparison.all, *comparison.same, *comparison.known)] == [5, 5, 4, 4, 3, 3]
    assert [each.categories["training"] for each in comparison.known] == [{PART: 2, NONE: 1}, {ALL: 2, PART: 1}]
    assert [each.categories["search"] for each in comparison.known] == [{PART: 2, NONE: 1}, {ALL: 1, PART: 2}]


def test_a_crawler_that_is_not_named_follows_the_star() -> None:
    comparison = Comparison([Table("1", {"s": SHUT}), Table("2", {"s": CLOSED})])
    assert [*comparison.changes()]
    first, last = comparison.known
    assert (first.shut_to("GPTBot"), first.shut_to("CCBot")) == (1, 1)
    assert (last.shut_to("GPTBot"), last.shut_to("CCBot")) == (1, 0)


def test_each_step_between_two_dates_is_counted() -> None:
    surveys = [Table("1", {"s": OPEN, "t": OPEN}), Table("2", {"s": CLOSED, "t": CLOSED}), Table("3", {"s": OPEN})]
    comparison = Comparison(surveys)
    changes = {change.site: change.overall.what for change in comparison.changes()}
    assert changes == {"s": CHANGED_BACK, "t": "only in the old survey"}
    assert [counts(each, IN_BOTH, CHANGED, SHUTTING_OUT, LETTING_IN) for each in comparison.steps] == [
        [2, 2, 2, 0], [1, 1, 0, 1]
    ]  # fmt: skip
    assert comparison.steps[0].shut_out == {"GPTBot": 2}
    assert counts(comparison.overall, IN_BOTH, CHANGED) == [1, 1]


def test_a_site_of_a_survey_in_between_has_not_changed_in_both() -> None:
    comparison = Comparison([Table("1", {}), Table("2", {"s": OPEN}), Table("3", {})])
    assert [change.overall.what for change in comparison.changes()] == [IN_BETWEEN]
    assert counts(comparison.overall, CHANGED) == [0]


def test_a_site_that_a_survey_in_between_left_out_has_not_changed() -> None:
    surveys = [Table("1", {"s": OPEN, "t": OPEN}), Table("2", {}), Table("3", {"s": OPEN, "t": OPEN})]
    comparison = Comparison(surveys)
    assert [change.overall.what for change in comparison.changes()] == [MISSING_IN_BETWEEN] * 2
    assert counts(comparison.overall, IN_BOTH, CHANGED) == [2, 0]
    found = Comparison([surveys[0], surveys[1], Table("3", {"s": CLOSED}), surveys[2]])
    assert [change.overall.what for change in found.changes()] == [CHANGED_BACK, MISSING_IN_BETWEEN]


def test_no_share_of_what_changed_is_above_all_sites() -> None:
    many = Table("1", {f"{number}.example": OPEN for number in range(30)})
    page, _ = comparison_report([many, Table("2", {"0.example": CLOSED})], WHEN)
    assert "Shares are of the 30 sites in any survey." in page
    assert max(map(int, re.findall(r"\b(\d+)%</", page))) <= 100


def test_the_page_of_a_site_tells_its_history(tmp_path: Path) -> None:
    bodies = [OPEN, OPEN, CLOSED]
    surveys = [
        survey(tmp_path / f"{day:%m}", {"s": body}, day) for day, body in zip(DAYS, bodies, strict=True)
    ] + [survey(tmp_path / "04", {"s": DOWN}, WHEN)]
    page, _ = comparison_report(surveys, WHEN)
    found = item(page, "s")
    assert [label for label, *_ in found["facts"]] == ["2026-01-02 to 2026-02-02", "2026-03-02", "2026-04-01"]
    assert "closes a part to all common AI crawlers" in found["facts"][0]
    assert "closes everything to GPTBot; closes a part to the other common AI crawlers" in found["facts"][1]
    assert "X: y" in found["facts"][2]
    assert [heading for heading, _ in found["marks"]] == [
        "From 2026-01-02 to 2026-04-01", "Changed by 2026-03-02", "Changed by 2026-04-01"
    ]  # fmt: skip
    assert ["red", "newly closes everything to GPTBot", []] in found["marks"][1][1]


def test_lines_are_compared_between_the_first_and_the_last_file_that_are_there(tmp_path: Path) -> None:
    bodies: list[bytes | Capture] = [DOWN, OPEN, CLOSED, DOWN]
    days = [*DAYS, WHEN]
    surveys = [survey(tmp_path / f"{day:%m}", {"s": body}, day) for day, body in zip(days, bodies, strict=True)]
    page, _ = comparison_report(surveys, WHEN)
    found = item(page, "s")
    assert found["text"] == "Lines that were added (+) and removed (−) from 2026-02-02 to 2026-03-02."
    assert [line[2] for line in found["source"] if line[1] == "+"] == ["", "User-agent: GPTBot", "Disallow: /"]


def test_surveys_without_bodies_and_findings_are_compared() -> None:
    page, overall = comparison_report([Table("1", {"s": OPEN}, DAYS[0]), Table("2", {"s": CLOSED}, DAYS[1])], WHEN)
    found = item(page, "s")
    assert overall.shut_out == {"GPTBot": 1}
    assert found["text"] == "Two files to compare are not in the surveys, or they have changed since."
    assert found["source"] == []
    assert 'of the files contain an error</th><td class="number">not known</td>' in page


def test_the_page_has_a_dated_point_and_a_row_for_each_survey() -> None:
    surveys = [Table(str(day), {"s": body}, day) for day, body in zip(DAYS, (OPEN, CLOSED, SHUT), strict=True)]
    page, _ = comparison_report(surveys, WHEN)
    assert "<title>training, 2026-02-02: 100%</title>" in page
    assert "<title>search, 2026-02-02: 0%</title>" in page
    assert '<tr><th scope="row">2026-02-02</th><td class="number">100%</td><td class="number">100%</td>' in page
    assert "robots.txt of 1 site, from 2026-01-02 to 2026-03-02" in page


@pytest.mark.parametrize("sites", [{}, {"s": None}, {"s": b""}])
def test_surveys_of_nothing_make_a_page(sites: dict[str, bytes | None]) -> None:
    page, overall = comparison_report([Table("<b>", sites), Table("2", sites), Table("2", {})], WHEN)
    assert counts(overall, IN_BOTH) == [0]
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

    def body(self, row: Row) -> bytes | None:
        return None


@pytest.mark.full
def test_memory_does_not_grow_with_the_number_of_sites() -> None:
    def compare(number: int) -> Comparison:
        comparison = Comparison([Many(number), Many(number)])
        assert not any(comparison.changes())
        return comparison

    compare(10)
    few, many = (octets_kept(lambda number=number: compare(number)) for number in (100, 4_000))  # type: ignore[misc]
    assert many < few + 20_000
