"""Every dialect against the cases of ``dialect_cases.md``: the verdict, and the line that decides."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from scrapy_rep.protocol import DIALECTS, Dialect, Kind, RobotsTxt, parse
from scrapy_rep.protocol.dialect import (
    BING,
    DRAFT_1996,
    GEOPORTAL_FIRST,
    GEOPORTAL_LONGEST,
    GOOGLE,
    STANDARD_1994,
    YANDEX,
)

TEXT: Final = Path(__file__).with_name("dialect_cases.md").read_text("utf-8")

MATRIX_BODY: Final = b"""# /robots.txt for http://www.fict.org/
# comments to webmaster@fict.org

User-agent: unhipbot
Disallow: /

User-agent: webcrawler
User-agent: excite
Disallow:\x20

User-agent: *
Disallow: /org/plans.html
Allow: /org/
Allow: /serv
Allow: /~mak
Disallow: /
"""
MATRIX_AGENTS: Final = (("UnhipBot",), ("WebCrawler", "Excite"), ("other",))


def table(heading: str) -> list[list[str]]:
    """The cells of the rows under *heading*, its head first, without code marks."""
    text = TEXT.partition(f"## {heading}")[2].partition("\n## ")[0]
    rows = [line[2:-2].split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip("`*") for cell in row] for row in rows]


def robots(text: str, dialect: Dialect) -> RobotsTxt:
    return parse(text.replace("⏎", "\n").encode(), dialect)


def cases() -> Iterator[tuple[str, str, str, str, str]]:
    """Dialect, robots.txt, agent, path and what is expected: "yes" or "no", perhaps with a line."""
    head, *rows = table("Verdicts")
    for row in rows:
        for name in DIALECTS.keys() & {*head}:
            yield name, row[1], row[2], row[3], row[head.index(name)].replace("*", "")


CASES: Final = sorted(cases())


def test_every_dialect_but_google_exact_has_its_column() -> None:
    assert {name for name, *_ in CASES} == {*DIALECTS} - {"google-exact"}
    assert len(CASES) == 9 * len(table("Verdicts")[1:]) == 9 * 47


@pytest.mark.parametrize("name", sorted({name for name, *_ in CASES}))
def test_a_dialect_answers_as_its_source_says(name: str) -> None:
    for _, text, agent, path, expected in (case for case in CASES if case[0] == name):
        verdict = robots(text, DIALECTS[name]).verdict(agent, f"http://h.example{path}")
        answer = "yes" if verdict.allowed else "no"
        assert (f"{answer} {verdict.line}" if verdict.line else answer) == expected, (text, agent, path)


def test_the_draft_of_1996_is_read_as_its_own_matrix_says() -> None:
    file = parse(MATRIX_BODY, DRAFT_1996)
    for path, *expected in table("The matrix of draft-koster-robots-00, section 4")[1:]:
        for agents, answer in zip(MATRIX_AGENTS, expected, strict=True):
            for agent in agents:
                allowed = file.verdict(agent, f"http://www.fict.org{path}").allowed
                assert allowed is (answer == "yes"), (path, agent)


def test_the_draft_of_1996_is_read_as_its_own_path_table_says() -> None:
    for pattern, path, expected in table("The path table of draft-koster-robots-00, section 3.2.2")[1:]:
        file = robots(f"User-agent: *⏎Disallow: {pattern}", DRAFT_1996)
        assert file.verdict("x", f"http://h.example{path}").allowed is (expected == "no"), (pattern, path)


# Records that carry figures

DELAYS: Final = "User-agent: *⏎Crawl-delay: 5⏎⏎User-agent: bingbot⏎Disallow: /x"
BOTH_GEOPORTALS = pytest.mark.parametrize(
    "dialect", [GEOPORTAL_FIRST, GEOPORTAL_LONGEST], ids=lambda dialect: dialect.name
)


def test_at_bing_a_group_without_a_crawl_delay_inherits_that_of_all() -> None:
    assert robots(DELAYS, BING).crawl_delay("bingbot") == 5.0
    assert robots(DELAYS, GOOGLE).crawl_delay("bingbot") is None
    assert robots(f"{DELAYS}⏎Crawl-delay: 2", BING).crawl_delay("bingbot") == 2.0


@BOTH_GEOPORTALS
def test_at_geoportal_the_last_whole_number_of_the_file_is_the_delay_for_everybody(dialect: Dialect) -> None:
    file = robots(
        "User-agent: a⏎Crawl-delay: 3⏎⏎User-agent: b⏎Crawl-delay: 9⏎⏎User-agent: c⏎Crawl-delay: 0.5", dialect
    )
    assert [file.crawl_delay(token) for token in ("a", "b", "other")] == [9.0, 9.0, 9.0]
    assert robots("User-agent: *⏎Crawl-delay: 0.5", dialect).crawl_delay("a") is None


@pytest.mark.parametrize("dialect", [YANDEX, STANDARD_1994, DRAFT_1996], ids=lambda dialect: dialect.name)
def test_where_crawl_delay_is_not_read_it_is_an_ordinary_record(dialect: Dialect) -> None:
    file = robots("User-agent: *⏎Crawl-delay: 5⏎Disallow: /x", dialect)
    assert file.crawl_delay("a") is None
    assert [record.kind for record in file.extensions_for("a")] == [Kind.CRAWL_DELAY]


@BOTH_GEOPORTALS
def test_at_geoportal_a_host_record_says_where_urls_are_requested(dialect: Dialect) -> None:
    file = robots("User-agent: GeoportalServer⏎Host: https://myhost:8443", dialect)
    assert file.at_host("http://myhost/a?b#c") == "https://myhost:8443/a?b#c"
    assert file.at_host("/a") == "/a"


def test_a_host_record_that_names_no_host_is_ignored() -> None:
    urls = {
        "other": "http://other/a",
        "other:81": "http://other:81/a",
        "HTTPS://[::1]/": "HTTPS://[::1]/a",
        **dict.fromkeys(["user@other", "javascript://other", ""], "http://myhost/a"),
    }
    files = {host: robots(f"Host: {host}", GEOPORTAL_FIRST) for host in urls}
    assert {host: file.at_host("http://myhost/a") for host, file in files.items()} == urls


def test_at_yandex_clean_param_names_parameters_to_drop() -> None:
    for value, url, expected in [
        ("ref /some_dir/get_book.pl", "/some_dir/get_book.pl?ref=1&book_id=2", "/some_dir/get_book.pl?book_id=2"),
        ("ref /some_dir/get_book.pl", "/other?ref=1&book_id=2", "/other?ref=1&book_id=2"),
        ("s&t", "/a?s=1&t&u=2#top", "/a?u=2#top"),
        ("s&t", "/a?t=2&s=1", "/a"),
        ("s", "/a?S=1&ss=2", "/a?S=1&ss=2"),
        ("s /*.php", "/x/y.php?s=1&&u", "/x/y.php?&u"),
        ("", "/a?=1", "/a?=1"),
        ("s" * 501, f"/a?{'s' * 501}", f"/a?{'s' * 501}"),
    ]:
        file = robots(f"User-agent: Yandex⏎Disallow: /x⏎Clean-param: {value}", YANDEX)
        assert file.clean_param(f"https://h.example{url}") == f"https://h.example{expected}"


def test_clean_params_are_listed_and_count_across_groups() -> None:
    file = robots("Clean-param: a /x⏎User-agent: other⏎Clean-param: b&c", YANDEX)
    assert [(each.names, each.path) for each in file.clean_params] == [(("a",), "/x"), (("b", "c"), "")]


def test_at_google_none_of_these_records_has_an_effect_on_urls() -> None:
    file = robots("User-agent: *⏎Host: https://myhost:8443⏎Clean-param: s&t", GOOGLE)
    assert (file.clean_params, file.at_host("http://h/a"), file.clean_param("http://h/?s")) == (
        (), "http://h/a", "http://h/?s",
    )  # fmt: skip
    assert [record.kind for record in file.extensions_for("a")] == [Kind.HOST, Kind.CLEAN_PARAM]
