"""A list of sites with columns, and what a survey keeps on disk about sites."""

from __future__ import annotations

import gc
import sqlite3
from datetime import datetime, timezone
from itertools import permutations

import pytest

from scrapy_rep.protocol import Origin
from scrapy_rep.tools.commands.inputs import origin_of
from scrapy_rep.tools.survey.site_list import SiteList, Sites, _Temporary, newest


def listed(*lines: str) -> tuple[dict[str, dict[str, str] | None], list[tuple[int, str]]]:
    """The sites of a list with *lines* and their strata; the numbers of invalid lines and what is wrong."""
    sites = SiteList()
    problems = [(number, str(error)) for number, error in sites.read(enumerate(lines, start=1), origin_of)]
    return {site: sites.strata(site) for site in sites}, problems


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["a.example", "http://b.example:80/page"], {"https://a.example": {}, "http://b.example": {}}),
        (["1,a.example", "2,b.example"], {"https://a.example": {"rank": "1"}, "https://b.example": {"rank": "2"}}),
        (
            ["Sector,Domain,Rank", '"news, local",a.example,7', "shop,b.example,"],
            {"https://a.example": {"sector": "news, local", "rank": "7"},
             "https://b.example": {"sector": "shop", "rank": ""}},
        ),
        (["site", "a.example"], {"https://a.example": {}}),
        (["# a list", "a.example", "#b.example"], {"https://a.example": {}}),
        (["a.example", "1,a.example"], {"https://a.example": {}}),
    ],
)  # fmt: skip
def test_a_line_is_a_site_with_what_is_known_of_it(
    lines: list[str], expected: dict[str, dict[str, str] | None]
) -> None:
    assert listed(*lines) == (expected, [])


def test_an_invalid_line_is_told_with_its_number_and_leaves_the_others() -> None:
    sites, problems = listed("host,sector", "a.example,news", "exa mple,news", "b.example")
    assert sites == {"https://a.example": {"sector": "news"}, "https://b.example": {}}
    assert problems == [(3, "exa mple: no host contains ' '")]


def test_a_site_that_is_not_listed_has_no_strata() -> None:
    sites = SiteList()
    sites.add(Origin.from_url("https://a.example"))
    assert (sites.strata("https://a.example"), sites.strata("https://b.example"), len(sites)) == ({}, None, 1)


def test_a_site_is_new_once() -> None:
    sites = Sites()
    assert [sites.is_new(site) for site in "abab"] == [True, True, False, False]


def test_the_database_of_a_list_is_closed_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = []

    def close(database: sqlite3.Connection) -> None:
        closed.append(id(database))
        sqlite3.Connection.close(database)

    monkeypatch.setattr(_Temporary, "close", close)
    sites = SiteList()
    number = id(sites._database)
    assert number not in closed
    del sites
    gc.collect()
    assert number in closed


def test_the_newest_capture_of_each_wanted_site_is_chosen() -> None:
    old, new = (datetime(year, 1, 1, tzinfo=timezone.utc) for year in (2024, 2026))
    captures = [("a", old), ("b", new), ("b", old), ("a", new), ("c", None), ("d", old), ("c", old)]
    found = newest(((site, time, "") for site, time in captures), lambda site: site != "d")
    assert list(found) == [0, 1, 0, 1, 0, 0, 1]


def test_of_captures_of_one_time_the_order_of_the_files_chooses_none() -> None:
    captures = [("a", None, "x"), ("a", None, "z"), ("a", None, "y")]
    for order in permutations(captures):
        assert order[list(newest(order, lambda _: True)).index(1)] == ("a", None, "z")


def test_a_capture_before_1970_is_newer_than_one_without_a_time() -> None:
    time = datetime(1969, 1, 1, tzinfo=timezone.utc)
    assert list(newest([("a", None, "z"), ("a", time, "")], lambda _: True)) == [0, 1]
    assert list(newest([("a", time, ""), ("a", None, "z")], lambda _: True)) == [1, 0]


def test_a_site_without_any_time_is_chosen_once() -> None:
    assert list(newest([("a", None, ""), ("a", None, "")], lambda _: True)) == [1, 0]


def test_a_list_whose_first_line_names_no_column_of_sites_is_refused() -> None:
    with pytest.raises(ValueError, match="the first line names no column of sites: one must be site"):
        listed("name,sector", "A,news")
