"""The records beside the protocol and the figures in them: RFC 9309 section 2.2.4."""

from __future__ import annotations

import time

import pytest

from scrapy_rep.protocol import GOOGLE, GOOGLE_EXACT, Dialect, Kind, RequestRate, RobotsTxt, parse
from scrapy_rep.protocol.other_records import request_rate, seconds


def robots(*lines: str, dialect: Dialect = GOOGLE) -> RobotsTxt:
    return parse("\n".join(lines).encode(), dialect)


def delays(*lines: str) -> dict[str, float | None]:
    found = robots(*lines)
    return {token: found.crawl_delay(token) for token in "abc"}


@pytest.mark.parametrize(
    ("value", "delay"),
    [(b"0", 0.0), (b"1", 1.0), (b"10", 10.0), (b"0.5", 0.5), (b".5", 0.5), (b"5.", 5.0), (b"007", 7.0)],
)
def test_ours_a_delay_is_a_decimal_number_of_seconds(value: bytes, delay: float) -> None:
    assert seconds(value) == delay


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b".",
        b"-1",
        b"-0",
        b"+1",
        b"nan",
        b"NaN",
        b"inf",
        b"Infinity",
        b"-inf",
        b"1e3",
        b"1e9",
        b"10 s",
        b"5\n",
        b"1_000",
        b"1,5",
        b"1 2",
        b"1.2.3",
        b"10s",
        b"0x10",
        b"ten",
        b"9" * 400,
        "٣".encode(),
    ],
)
def test_ours_an_unreadable_delay_is_none(value: bytes) -> None:
    assert seconds(value) is None


@pytest.mark.parametrize(
    ("value", "requests", "length"),
    [
        (b"1/5", 1, 5.0),
        (b"10/1m", 10, 60.0),
        (b"1/5s", 1, 5.0),
        (b"3/2H", 3, 7_200.0),
        (b"1/1d", 1, 86_400.0),
        (b"1 / 10 M", 1, 600.0),
    ],
)
def test_ours_a_request_rate_is_requests_in_a_time(value: bytes, requests: int, length: float) -> None:
    assert request_rate(value) == RequestRate(requests, length, "")


def test_ours_a_request_rate_keeps_its_window_as_written() -> None:
    assert request_rate(b"1/5 0600-0845") == RequestRate(1, 5.0, "0600-0845")
    assert request_rate(b"1/5m  0600 - 0845") == RequestRate(1, 300.0, "0600 - 0845")
    assert request_rate(b"1/5 caf\xe9") == RequestRate(1, 5.0, "caf\udce9")


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"1",
        b"1/",
        b"/5",
        b"0/5",
        b"1/0",
        b"1/0m",
        b"-1/5",
        b"1/-5",
        b"1.5/5",
        b"1/5x",
        b"1/5ms",
        b"1/5/5",
        b"1:5",
        b"a/b",
    ],
)
def test_ours_an_unreadable_request_rate_is_none(value: bytes) -> None:
    assert request_rate(value) is None


def test_ours_a_request_rate_with_an_absurd_figure_is_none() -> None:
    assert request_rate(b"999999999/1") == RequestRate(999_999_999, 1.0, "")
    assert request_rate(b"1000000000/1") is None
    assert request_rate(b"1/" + b"9" * 5_000) is None


def test_ours_a_crawl_delay_is_for_the_user_agents_above_it() -> None:
    assert delays("User-agent: a", "User-agent: b", "Crawl-delay: 2") == {"a": 2.0, "b": 2.0, "c": None}


def test_ours_a_second_run_of_user_agents_shares_a_delay_too() -> None:
    lines = ("User-agent: a", "Crawl-delay: 1", "User-agent: b", "User-agent: c", "Crawl-delay: 2")

    assert delays(*lines) == {"a": 1.0, "b": 2.0, "c": 2.0}


def test_ours_a_crawl_delay_ends_a_run_of_user_agents_for_its_kind_alone() -> None:
    lines = ("User-agent: a", "Crawl-delay: 1", "User-agent: b", "Crawl-delay: 2", "Disallow: /x")
    found = robots(*lines)

    assert delays(*lines) == {"a": 1.0, "b": 2.0, "c": None}
    assert [found.verdict(token, "/x").allowed for token in "abc"] == [False, False, True]


@pytest.mark.parametrize(
    "between",
    ["Disallow: /x", "Disallow:", "Allow: /", "Crawl-delay: 9", "Host: h", "Foo: bar", "Noindex: /"],
)
def test_ours_a_record_ends_a_run_of_user_agents(between: str) -> None:
    assert delays("User-agent: a", between, "User-agent: b", "Crawl-delay: 2")["b"] == 2.0
    assert delays("User-agent: a", between, "User-agent: b", "Crawl-delay: 2")["a"] in {None, 9.0}


@pytest.mark.parametrize(
    "between",
    ["Sitemap: http://h.example/s.xml", "", "# comment", "some garbage here"],
    ids=["sitemap", "blank", "comment", "garbage"],
)
def test_ours_a_sitemap_or_no_record_does_not_end_a_run(between: str) -> None:
    assert delays("User-agent: a", between, "User-agent: b", "Crawl-delay: 2") == {"a": 2.0, "b": 2.0, "c": None}


def test_ours_a_delay_below_the_rules_is_still_for_the_run() -> None:
    lines = ("User-agent: a", "Disallow: /x", "Sitemap: /s", "Foo: bar", "Crawl-delay: 3")

    assert delays(*lines) == {"a": 3.0, "b": None, "c": None}


def test_ours_a_delay_before_any_user_agent_is_nobodys() -> None:
    found = robots("Crawl-delay: 3", "User-agent: *", "Disallow: /x")

    assert found.crawl_delay("a") is None
    assert [(extension.agents, extension.record.value) for extension in found.extensions] == [((), b"3")]


def test_ours_the_last_readable_crawl_delay_wins() -> None:
    assert delays("User-agent: a", "Crawl-delay: 1", "Crawl-delay: 3", "Crawl-delay: 2")["a"] == 2.0
    assert delays(
        "User-agent: a", "Crawl-delay: 1", "User-agent: b", "Crawl-delay: 9", "User-agent: a", "Crawl-delay: 2"
    ) == {
        "a": 2.0,
        "b": 9.0,
        "c": None,
    }


@pytest.mark.parametrize("value", ["-1", "nan", "inf", "soon", "", "1,5"])
def test_ours_an_unreadable_crawl_delay_is_ignored(value: str) -> None:
    assert delays("User-agent: a", "Crawl-delay: 4", f"Crawl-delay: {value}")["a"] == 4.0
    assert delays("User-agent: a", f"Crawl-delay: {value}")["a"] is None


def test_ours_a_crawl_delay_of_zero_is_a_delay() -> None:
    assert delays("User-agent: a", "Crawl-delay: 4", "Crawl-delay: 0")["a"] == 0.0


def test_ours_an_unreadable_crawl_delay_is_still_that_agents() -> None:
    found = robots("User-agent: *", "Crawl-delay: 5", "User-agent: a", "Crawl-delay: soon")

    assert found.crawl_delay("a") is None
    assert [record.value for record in found.extensions_for("a")] == [b"soon"]
    assert found.crawl_delay("b") == 5.0


def test_ours_a_group_without_a_delay_does_not_inherit_the_global_one() -> None:
    lines = ("User-agent: *", "Crawl-delay: 5", "User-agent: a", "Disallow: /x")

    assert delays(*lines) == {"a": None, "b": 5.0, "c": 5.0}


def test_ours_an_agent_named_without_rules_does_not_inherit_the_global_delay() -> None:
    assert delays("User-agent: *", "Crawl-delay: 5", "User-agent: a") == {"a": None, "b": 5.0, "c": 5.0}


def test_ours_a_delay_for_the_crawler_and_for_all_is_for_both() -> None:
    assert delays("User-agent: a", "User-agent: *", "Crawl-delay: 5") == {"a": 5.0, "b": 5.0, "c": 5.0}


def test_ours_a_crawl_delay_does_not_close_a_group_of_rules() -> None:
    found = robots("User-agent: a", "Crawl-delay: 1", "User-agent: b", "Disallow: /x")

    assert not found.verdict("a", "/x").allowed
    assert not found.verdict("b", "/x").allowed
    assert found.verdict("c", "/x").allowed


def test_ours_the_last_readable_request_rate_wins() -> None:
    found = robots("User-agent: a", "Request-rate: 1/5", "Request-rate: 2/1m", "Request-rate: often")

    assert found.request_rate("a") == RequestRate(2, 60.0, "")
    assert found.request_rate("b") is None


def test_ours_a_request_rate_is_no_crawl_delay() -> None:
    found = robots("User-agent: a", "Request-rate: 1/5", "User-agent: b", "Crawl-delay: 5")

    assert (found.crawl_delay("a"), found.request_rate("b")) == (None, None)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Crawl-delay: 1", Kind.CRAWL_DELAY),
        ("crawldelay: 1", Kind.CRAWL_DELAY),
        ("crawl delay: 1", Kind.CRAWL_DELAY),
        ("Request-rate: 1/5", Kind.REQUEST_RATE),
        ("Visit-time: 0600-0845", Kind.VISIT_TIME),
        ("Host: h.example", Kind.HOST),
        ("Clean-param: ref /x", Kind.CLEAN_PARAM),
        ("Content-Signal: search=yes", Kind.CONTENT_SIGNAL),
        ("Content-Usage: train-ai=n", Kind.CONTENT_USAGE),
        ("Noindex: /x", Kind.NOINDEX),
    ],
)
def test_ours_every_extension_is_kept_with_its_line_and_its_agents(line: str, kind: Kind) -> None:
    (extension,) = robots("", "User-agent: a", "User-agent: b", line).extensions

    assert (extension.record.kind, extension.record.line) == (kind, 4)
    assert [agent.value for agent in extension.agents] == [b"a", b"b"]


def test_ours_records_of_the_protocol_and_unknown_ones_are_no_extensions() -> None:
    assert robots("User-agent: a", "Allow: /", "Disallow: /x", "Sitemap: /s", "Foo: bar").extensions == ()


def test_ours_the_extensions_of_all_groups_of_a_token_come_in_order() -> None:
    found = robots(
        "User-agent: a", "Host: 1", "Disallow: /", "User-agent: b", "Host: 2", "User-agent: A", "Noindex: 3"
    )

    assert [record.value for record in found.extensions_for("a")] == [b"1", b"3"]


@pytest.mark.parametrize("dialect", [GOOGLE, GOOGLE_EXACT], ids=lambda dialect: dialect.name)
def test_google_no_record_beside_the_protocol_closes_a_group_of_rules(dialect: Dialect) -> None:
    keys = ("Crawl-delay", "Request-rate", "Visit-time", "Host", "Clean-param", "Content-Signal", "Noindex")
    lines = [f"{key}: x" for key in keys]
    found = robots("User-agent: a", *lines, "User-agent: b", "Disallow: /x", dialect=dialect)

    assert [found.verdict(token, "/x").allowed for token in "abc"] == [False, False, True]
    assert [record.line for record in found.extensions_for("a")] == list(range(2, 9))
    assert found.extensions_for("b") == ()


def test_ours_a_group_without_a_request_rate_does_not_inherit_the_global_one() -> None:
    found = robots("User-agent: *", "Request-rate: 1/9", "User-agent: a", "Disallow: /x")

    assert found.request_rate("a") is None
    assert found.request_rate("b") == RequestRate(1, 9.0, "")


def test_ours_a_name_beyond_rfc_characters_has_a_delay_of_its_own() -> None:
    lines = ("User-agent: MJ12bot", "Crawl-delay: 3", "User-agent: *", "Crawl-delay: 5")

    assert robots(*lines).crawl_delay("MJ12bot") == 3.0
    assert robots(*lines, dialect=GOOGLE_EXACT).crawl_delay("MJ12bot") == 5.0
    assert robots(*lines, dialect=GOOGLE_EXACT).crawl_delay("MJ") == 3.0


@pytest.mark.parametrize("key", ["Crawl-delays", "Crawl_delay", "x-crawl-delay", "Delay"])
def test_ours_the_key_of_a_crawl_delay_is_exact(key: str) -> None:
    assert delays("User-agent: a", f"{key}: 4")["a"] is None


def test_ours_a_hostile_crawl_delay_takes_no_time() -> None:
    start = time.process_time()

    assert robots("User-agent: a", *["Crawl-delay: " + "1" * 16_600 + "x"] * 30).crawl_delay("a") is None
    assert time.process_time() - start < 1


def test_ours_a_hostile_request_rate_takes_no_time() -> None:
    lines = ["Request-rate: 1" + " " * 16_600 + "x", "Request-rate: 1/1" + " " * 16_600 + "/"] * 15
    start = time.process_time()

    assert robots("User-agent: a", *lines).request_rate("a") == RequestRate(1, 1.0, "/")
    assert time.process_time() - start < 1
