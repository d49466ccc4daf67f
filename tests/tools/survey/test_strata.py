"""The sites by a column of their list: which value a site has, and what is counted for each."""

from __future__ import annotations

import pytest

from scrapy_rep.census import Row
from scrapy_rep.tools.survey.report import _strata
from scrapy_rep.tools.survey.totals import Totals, stratum_of


def site(name: str = "a", **strata: str) -> Row:
    return Row(name, strata=strata)


def sites_by(column: str, *values: str) -> dict[str, int]:
    """The sites of each stratum that the report lists."""
    totals = Totals(column)
    for value in values:
        totals.add(site(**{column: value}))
    return {value: number for value, number, *_ in _strata(totals)["rows"]}


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
    assert stratum_of(site(name), "tld") == tld


def test_ours_a_column_of_the_list_called_tld_is_taken_as_it_is() -> None:
    assert stratum_of(site("https://a.example", tld="x"), "tld") == "x"


def test_ours_the_most_frequent_values_count_alone_and_the_rest_together() -> None:
    values = [value for rank, value in enumerate("abcdefghijklmn") for _ in range(20 - rank)]
    found = sites_by("sector", *values, "")
    assert [*found][:12] == [*"abcdefghijkl"]
    assert found["other"] == 8 + 7 + 1


@pytest.mark.parametrize(
    ("rank", "value"),
    [
        ("1", "1 to 1,000"),
        ("1000", "1 to 1,000"),
        ("1001", "1,001 to 10,000"),
        ("10,000", "1,001 to 10,000"),
        ("10001", "10,001 to 100,000"),
        ("2000000", "1,000,001 to 10,000,000"),
        ("", "unknown"),
        ("nan", "nan"),
        ("9" * 5_000, "9" * 5_000),
    ],
)
def test_ours_ranks_count_together_by_powers_of_ten(rank: str, value: str) -> None:
    assert stratum_of(site(rank=rank), "rank") == value


def test_ours_ranks_are_listed_in_their_order() -> None:
    assert [*sites_by("rank", "5000", "4000", "1", "", "")] == ["1 to 1,000", "1,001 to 10,000", "unknown"]


def test_ours_a_column_of_a_million_values_needs_no_more_memory() -> None:
    totals = Totals("id")
    for number in range(3_000):
        totals.add(site(id=str(number)))
    assert len(totals.strata) == 1_001
    assert totals.strata["other"]["sites"] == 2_000
