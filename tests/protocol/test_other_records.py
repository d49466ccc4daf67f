"""The records beside the protocol and the figures in them: RFC 9309 section 2.2.4."""

from __future__ import annotations

import time

import pytest

from scrapy_rep.protocol import GOOGLE, GOOGLE_EXACT, Dialect, Kind, RequestRate, RobotsTxt, parse
from scrapy_rep.protocol.robotstxt import request_rate, seconds

DELAYS = {b"0": 0.0, b"1": 1.0, b"10": 10.0, b"0.5": 0.5, b".5": 0.5, b"5.": 5.0, b"007": 7.0}
NO_DELAYS = [
    "", ".", "-1", "-0", "+1", "nan", "NaN", "inf", "Infinity", "-inf", "1e3", "10 s", "5\n", "1_000", "1,5",
    "1 2", "1.2.3", "10s", "0x10", "ten", "9" * 400, "٣",
]  # fmt: skip
RATES = {
    b"1/5": (1, 5.0, ""),
    b"10/1m": (10, 60.0, ""),
    b"1/5s": (1, 5.0, ""),
    b"3/2H": (3, 7_200.0, ""),
    b"1/1d": (1, 86_400.0, ""),
    b"1 / 10 M": (1, 600.0, ""),
    b"1/5 0600-0845": (1, 5.0, "0600-0845"),
    b"1/5m  0600 - 0845": (1, 300.0, "0600 - 0845"),
    b"1/5 caf\xe9": (1, 5.0, "caf\udce9"),
    b"999999999/1": (999_999_999, 1.0, ""),
}
NO_RATES = [
    "", "1", "1/", "/5", "0/5", "1/0", "1/0m", "-1/5", "1/-5", "1.5/5", "1/5x", "1/5ms", "1/5/5", "1:5", "a/b",
    "1000000000/1", f"1/{'9' * 5_000}",
]  # fmt: skip
KINDS = {
    "Crawl-delay: 1": Kind.CRAWL_DELAY,
    "Request-rate: 1/5": Kind.REQUEST_RATE,
    "Visit-time: 0600-0845": Kind.VISIT_TIME,
    "Host: h.example": Kind.HOST,
    "Clean-param: ref /x": Kind.CLEAN_PARAM,
    "Content-Signal: search=yes": Kind.CONTENT_SIGNAL,
    "Content-Usage: train-ai=n": Kind.CONTENT_USAGE,
    "Noindex: /x": Kind.NOINDEX,
}

# Lines, and the delays for the crawlers a, b and c.
FILES = {
    "User-agent: a; User-agent: b; Crawl-delay: 2": (2, 2, None),
    "User-agent: a; Crawl-delay: 1; User-agent: b; User-agent: c; Crawl-delay: 2": (1, 2, 2),
    "User-agent: a; Disallow: /x; Sitemap: /s; Foo: bar; Crawl-delay: 3": (3, None, None),
    "Crawl-delay: 3; User-agent: *; Disallow: /x": (None, None, None),
    # The last readable one counts.
    "User-agent: a; Crawl-delay: 1; Crawl-delay: 3; Crawl-delay: 2": (2, None, None),
    "User-agent: a; Crawl-delay: 1; User-agent: b; Crawl-delay: 9; User-agent: a; Crawl-delay: 2": (2, 9, None),
    "User-agent: a; Crawl-delay: 4; Crawl-delay: 0": (0, None, None),
    "User-agent: a; Crawl-delay: 4; Crawl-delay: soon": (4, None, None),
    "User-agent: *; Crawl-delay: 5; User-agent: a; Crawl-delay: soon": (None, 5, 5),
    # Who has a group of its own, or is but named, does not inherit that of all.
    "User-agent: *; Crawl-delay: 5; User-agent: a; Disallow: /x": (None, 5, 5),
    "User-agent: *; Crawl-delay: 5; User-agent: a": (None, 5, 5),
    "User-agent: a; User-agent: *; Crawl-delay: 5": (5, 5, 5),
    # The key is exact.
    "User-agent: a; Crawl-delays: 4; Crawl_delay: 4; x-crawl-delay: 4; Delay: 4": (None, None, None),
    # What ends a run of user-agent lines for this record, and what does not.
    **{
        f"User-agent: a; {between}; User-agent: b; Crawl-delay: 2": (None, 2, None)
        for between in ("Disallow: /x", "Disallow:", "Allow: /", "Host: h", "Foo: bar", "Noindex: /")
    },
    **{
        f"User-agent: a; {between}; User-agent: b; Crawl-delay: 2": (2, 2, None)
        for between in ("Sitemap: http://h.example/s.xml", "", "# comment", "some garbage here")
    },
}


def robots(lines: str, dialect: Dialect = GOOGLE) -> RobotsTxt:
    """A file with these *lines*, between semicolons."""
    return parse("\n".join(lines.split("; ")).encode(), dialect)


def test_a_delay_is_a_decimal_number_of_seconds_or_none() -> None:
    assert {value: seconds(value) for value in DELAYS} == DELAYS
    assert {value: seconds(value.encode()) for value in NO_DELAYS} == dict.fromkeys(NO_DELAYS)


def test_a_request_rate_is_requests_in_a_time_or_none() -> None:
    assert {value: request_rate(value) for value in RATES} == {
        value: RequestRate(*rate) for value, rate in RATES.items()
    }
    assert {value: request_rate(value.encode()) for value in NO_RATES} == dict.fromkeys(NO_RATES)


@pytest.mark.parametrize(("lines", "expected"), FILES.items())
def test_a_crawl_delay_is_for_the_user_agents_above_it(lines: str, expected: tuple[float | None, ...]) -> None:
    assert tuple(map(robots(lines).crawl_delay, "abc")) == expected


def test_a_crawl_delay_does_not_close_a_group_of_rules() -> None:
    file = robots("User-agent: a; Crawl-delay: 1; User-agent: b; Crawl-delay: 2; Disallow: /x")

    assert [file.crawl_delay(token) for token in "abc"] == [1.0, 2.0, None]
    assert [file.verdict(token, "/x").allowed for token in "abc"] == [False, False, True]


def test_a_record_before_any_user_agent_is_nobodys_and_one_that_is_unreadable_still_its_agents() -> None:
    file = robots("Crawl-delay: 3; User-agent: a; Crawl-delay: soon")

    assert [([agent.value for agent in each.agents], each.record.value) for each in file.extensions] == [
        ([], b"3"), ([b"a"], b"soon"),
    ]  # fmt: skip
    assert [record.value for record in file.extensions_for("a")] == [b"soon"]


def test_the_last_readable_request_rate_of_its_own_group_counts() -> None:
    file = robots(
        "User-agent: *; Request-rate: 1/9; User-agent: b; Disallow: /x; "
        "User-agent: a; Request-rate: 1/5; Request-rate: 2/1m; Request-rate: often"
    )

    assert [file.request_rate(token) for token in "abc"] == [
        RequestRate(2, 60.0, ""), None, RequestRate(1, 9.0, ""),
    ]  # fmt: skip
    assert file.crawl_delay("a") is None


def test_every_extension_is_kept_with_its_line_and_its_agents() -> None:
    for line, kind in KINDS.items():
        (extension,) = robots(f"; User-agent: a; User-agent: b; {line}").extensions
        assert (extension.record.kind, extension.record.line) == (kind, 4)
        assert [agent.value for agent in extension.agents] == [b"a", b"b"]


def test_records_of_the_protocol_and_unknown_ones_are_no_extensions() -> None:
    assert robots("User-agent: a; Allow: /; Disallow: /x; Sitemap: /s; Foo: bar").extensions == ()


def test_the_extensions_of_all_groups_of_a_token_come_in_order() -> None:
    file = robots("User-agent: a; Host: 1; Disallow: /; User-agent: b; Host: 2; User-agent: A; Noindex: 3")

    assert [record.value for record in file.extensions_for("a")] == [b"1", b"3"]


@pytest.mark.parametrize("dialect", [GOOGLE, GOOGLE_EXACT], ids=lambda dialect: dialect.name)
def test_google_no_record_beside_the_protocol_closes_a_group_of_rules(dialect: Dialect) -> None:
    file = robots("; ".join(["User-agent: a", *KINDS, "User-agent: b", "Disallow: /x"]), dialect)

    assert [file.verdict(token, "/x").allowed for token in "abc"] == [False, False, True]
    assert [record.line for record in file.extensions_for("a")] == [*range(2, 2 + len(KINDS))]
    assert file.extensions_for("b") == ()


def test_a_name_beyond_rfc_characters_has_a_delay_of_its_own() -> None:
    google, exact = (
        robots("User-agent: MJ12bot; Crawl-delay: 3; User-agent: *; Crawl-delay: 5", dialect)
        for dialect in (GOOGLE, GOOGLE_EXACT)
    )
    assert [google.crawl_delay("MJ12bot"), exact.crawl_delay("MJ12bot"), exact.crawl_delay("MJ")] == [
        3.0,
        5.0,
        3.0,
    ]


def test_hostile_figures_take_no_time() -> None:
    blanks = " " * 16_600
    delays = robots("User-agent: a" + f"; Crawl-delay: {'1' * 16_600}x; Crawl-delay: {blanks}x" * 15)
    rates = robots("User-agent: a" + f"; Request-rate: 1{blanks}x; Request-rate: 1/1{blanks}/" * 15)
    start = time.process_time()

    assert delays.crawl_delay("a") is None
    assert rates.request_rate("a") == RequestRate(1, 1.0, "/")
    assert time.process_time() - start < 2
