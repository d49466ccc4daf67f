"""The sites by a column of their list: which value a site has, and what is counted for each."""

from __future__ import annotations

from collections import Counter

import pytest

from scrapy_rep.census import Row
from scrapy_rep.tools.survey import contents
from scrapy_rep.tools.survey.tables import Share, Strata, Tables
from scrapy_rep.tools.survey.totals import RULES_PER_AGENT, Totals, columns_of


def site(name: str = "a", **strata: str) -> Row:
    return Row(name, strata=strata)


def strata(column: str, *values: str) -> Strata:
    return Strata(column, Counter(values))


@pytest.mark.parametrize(
    ("name", "tld"),
    [
        ("https://www.a.example", "example"),
        ("http://b.co.uk:8080", "uk"),
        ("https://localhost", "localhost"),
        ("https://127.0.0.1", "unknown"),
        ("https://[::1]:8080", "unknown"),
        ("https://xn--a.xn--p1ai", "xn--p1ai"),
        ("a.example", "unknown"),
    ],
)
def test_ours_each_site_has_its_top_level_domain(name: str, tld: str) -> None:
    assert columns_of(site(name)) == {"tld": tld}


def test_ours_a_column_of_the_list_called_tld_is_taken_as_it_is() -> None:
    assert columns_of(site("https://a.example", tld="x")) == {"tld": "x"}


def test_ours_the_eight_most_frequent_values_count_alone_and_the_rest_together() -> None:
    found = strata("sector", *"aabbccddeeffgghhij")
    assert found.values == (*"abcdefgh", "unknown", "other")
    assert [found.value_of(site(sector=value)) for value in "aij"] == ["a", "other", "other"]
    assert [found.value_of(site(sector="")), found.value_of(site())] == ["unknown", "unknown"]


@pytest.mark.parametrize(
    ("rank", "value"),
    [
        ("1", "up to 1,000"),
        ("1000", "up to 1,000"),
        ("1001", "1,001 to 10,000"),
        ("10,000", "1,001 to 10,000"),
        ("999999.5", "100,001 to 1,000,000"),
        ("2000000", "more than 1,000,000"),
        ("", "unknown"),
        ("nan", "unknown"),
    ],
)
def test_ours_many_numbers_count_together_by_powers_of_ten(rank: str, value: str) -> None:
    found = strata("rank", *map(str, range(1, 30)), "")
    assert found.value_of(site(rank=rank)) == value
    assert found.values[0] == "up to 1,000"


def test_ours_a_few_numbers_count_alone_by_size() -> None:
    found = strata("year", "2025", "2024", "2024", "10")
    assert found.values == ("10", "2024", "2025", "unknown", "other")
    assert found.value_of(site(year="2024")) == "2024"


def test_ours_numbers_among_words_are_words() -> None:
    assert strata("x", *map(str, range(9)), "word").value_of(site(x="8")) in ("8", "other")


def test_ours_a_column_of_a_million_values_needs_no_more_memory() -> None:
    totals = Totals()
    for number in range(3_000):
        totals.add(site(f"https://a{number}.example", rank=str(number)))
    assert totals.columns["tld"] == {"example": 3_000}
    assert len(totals.columns["rank"]) == 1_000


def test_ours_strata_open_no_database_and_count_the_names_and_files_of_tables_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(contents, "temporary_database", None)
    rules = {"agents_allow": {"A": 0, "b": 0}, "agents_disallow": {"A": 1, "b": 2}, "bytes": 1}
    totals = Totals({"a"}, {"1"})
    for sha in "1112":
        totals.add(Row("s", sha256=sha, **rules))  # type: ignore[arg-type]
    assert {name: each.sites for name, each in totals.agents.items()} == {"a": 4}
    assert totals.sites_by_file == {"1": 3}
    assert totals.figures[RULES_PER_AGENT] == {1: 4, 2: 4}


def test_ours_the_columns_of_a_table_are_the_strata_that_have_sites() -> None:
    tables = Tables(strata("sector", "a", "b", "c"))
    for value in "aab":
        tables.add(site(sector=value))
    assert (tables.by, tables.heads(), tables.heads("files")) == ("sector", ["a", "b"], ["a: files", "b: files"])
    rows = tables.rows({"x": ("x", 3), "y": ("y", 0)}, lambda of: {"x": of.sites}, lambda of: of.sites)
    assert rows == [("x", 3, Share(2, 2), Share(1, 1)), ("y", 0, Share(0, 2), Share(0, 1))]
    assert tables.rows({"x": ("x", 3)}, lambda of: {"x": of.sites / 4}) == [("x", 3, 0.5, 0.25)]


def test_ours_without_strata_rows_are_what_they_are() -> None:
    tables = Tables()
    tables.add(site())
    assert (tables.by, tables.heads("x"), tables.rows({"x": ("x", 3)}, lambda _: {})) == ("", [], [("x", 3)])
