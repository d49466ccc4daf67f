"""What a robots.txt requests of a crawler's timing."""

from __future__ import annotations

from typing import Any

import pytest

from scrapy_rep.pacing.requested_delays import NO_DELAYS, DailyWindow, RequestedDelays, requested_delays
from scrapy_rep.protocol import DIALECTS
from scrapy_rep.robots.parser import RepRobotParser

MIDNIGHT = 0.0


def pace(text: str, *tokens: str, **kwargs: Any) -> RequestedDelays:
    return requested_delays(RepRobotParser(text.encode()), tokens or ("mybot",), **kwargs)


def asked(text: str, now: float = MIDNIGHT, **kwargs: Any) -> tuple[float, int] | None:
    """The seconds and the line of the delay that counts."""
    delay = pace(text, **kwargs).delay(now)
    return (delay.seconds, delay.line) if delay else None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("10", 10.0), ("0.5", 0.5), ("0.0000001", 1e-7), ("0", None), ("-1", None), ("nan", None), ("1e9", None),
     ("10s", None), ("inf", None), ("", None)],
)  # fmt: skip
def test_ours_a_crawl_delay_counts_when_it_is_a_length_of_time(value: str, seconds: float | None) -> None:
    assert asked(f"User-agent: *\nCrawl-delay: {value}\n") == (seconds and (seconds, 2))


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        ("User-agent: mybot\nCrawl-delay: 7\n\nUser-agent: mybot\nCrawl-delay: 3\nCrawl-delay: soon\n", (3.0, 5)),
        ("User-agent: *\nCrawl-delay: 7\n\nUser-agent: mybot\nDisallow: /x\n", None),
    ],
    ids=["the last readable one of a merged group", "not that of all where there is a group of our own"],
)
def test_ours_the_delay_of_our_group_counts_with_its_line(text: str, delay: tuple[float, int] | None) -> None:
    assert asked(text) == delay


@pytest.mark.parametrize(
    ("dialect", "delay"), [("google", None), ("bing", (7.0, 2)), ("geoportal-first", (9.0, 8)), ("yandex", None)]
)
def test_ours_the_dialect_says_which_delay_counts(dialect: str, delay: tuple[float, int] | None) -> None:
    text = b"User-agent: *\nCrawl-delay: 7\n\nUser-agent: mybot\nDisallow: /x\n\nUser-agent: b\nCrawl-delay: 9\n"
    found = requested_delays(RepRobotParser(text, DIALECTS[dialect]), ["mybot"]).crawl_delay
    assert (found and (found.seconds, found.line)) == delay


@pytest.mark.parametrize("dialect", DIALECTS)
def test_ours_a_crawl_keeps_a_delay_that_its_dialect_does_not_read(dialect: str) -> None:
    text = b"User-agent: *\nDisallow: /x\nCrawl-delay: 7\n"
    found = requested_delays(RepRobotParser(text, DIALECTS[dialect]), ["mybot"]).crawl_delay
    assert found is not None
    assert (found.seconds, found.line) == (7.0, 3)


def test_ours_the_first_token_that_has_a_group_decides() -> None:
    text = "User-agent: my\nCrawl-delay: 7\n"
    delay = pace(text, "my-news", "my").crawl_delay
    assert delay
    assert (delay.seconds, delay.line) == (7.0, 2)


def test_ours_rates_and_times_are_not_read_unasked() -> None:
    assert pace("User-agent: *\nRequest-rate: 1/10\nVisit-time: 0600-0845\n") == NO_DELAYS


@pytest.mark.parametrize(
    ("records", "hour", "delay"),
    [
        ("Request-rate: 1/10", 0, (10.0, 2)),
        ("Request-rate: 5/1m", 0, (12.0, 2)),
        ("Request-rate: 1/1h", 0, (3_600.0, 2)),
        ("Crawl-delay: 20\nRequest-rate: 1/10", 0, (20.0, 2)),  # the longer one counts
        ("Crawl-delay: 5\nRequest-rate: 1/10", 0, (10.0, 3)),
        ("Crawl-delay: 1\nRequest-rate: 1/10 0600-0845", 7, (10.0, 3)),  # one with a window, inside it alone
        ("Crawl-delay: 1\nRequest-rate: 1/10 0600-0845", 9, (1.0, 2)),
        ("Request-rate: 1/10 at night", 0, (10.0, 2)),  # one with an unreadable window, always
    ],
)
def test_ours_a_request_rate_is_a_delay(records: str, hour: int, delay: tuple[float, int]) -> None:
    assert asked(f"User-agent: *\n{records}\n", hour * 3_600.0, times=True) == delay


def test_ours_with_crawl_delay_ignored_a_rate_still_counts() -> None:
    text = "User-agent: *\nCrawl-delay: 20\nRequest-rate: 1/10\n"
    assert asked(text, crawl_delay=False, times=True) == (10.0, 3)


def test_ours_outside_every_visit_time_the_next_one_is_named() -> None:
    visits = pace("User-agent: *\nVisit-time: 0600-0845\nVisit-time: 0200-0300\n", times=True)
    next_visit = visits.next_visit_time(MIDNIGHT)
    assert next_visit
    assert (next_visit.window.opens_in(MIDNIGHT), next_visit.line) == (7_200.0, 3)
    assert visits.next_visit_time(2.5 * 3_600) is None


class Foreign:
    """A parser back-end that tells *delay*."""

    def __init__(self, delay: Any) -> None:
        self._delay = delay

    def crawl_delay(self, _: str) -> Any:
        return self._delay


@pytest.mark.parametrize(("told", "seconds"), [(4, 4.0), (None, None), (-1.0, None), (float("nan"), None)])
def test_ours_another_parser_back_end_is_asked_for_a_delay(told: Any, seconds: float | None) -> None:
    delay = requested_delays(Foreign(told), ("mybot",)).delay(MIDNIGHT)  # type: ignore[arg-type]
    assert (delay and delay.seconds) == seconds


def test_ours_a_parser_back_end_that_tells_no_delays_asks_for_nothing() -> None:
    assert requested_delays(object(), ("mybot",)) == NO_DELAYS  # type: ignore[arg-type]


NOON = 1_700_049_600.0 + 43_200 - 1_700_049_600.0 % 86_400


def opens_in(text: str, hours: float) -> float:
    """Seconds until the window opens, at *hours* after midnight of some day."""
    window = DailyWindow.parse(text)
    assert window
    return window.opens_in(NOON - 43_200 + hours * 3_600)


@pytest.mark.parametrize(
    ("text", "hours", "seconds"),
    [
        ("0600-0845", 5.5, 1_800.0),
        ("0600-0845", 6.0, 0.0),
        ("0600-0845", 8.75, 0.0),
        ("0600-0845", 9.0, 75_600.0),
        ("06:00 - 8:45 UTC", 7.0, 0.0),
        ("1700-0459", 23.0, 0.0),
        ("1700-0459", 4.98, 0.0),
        ("1700-0459", 5.0, 43_200.0),
        ("0000-2359", 23.99, 0.0),
        ("0000-2400", 12.0, 0.0),
        ("0600-0600", 3.0, 0.0),
    ],
)
def test_ours_a_window_tells_when_it_opens(text: str, hours: float, seconds: float) -> None:
    assert opens_in(text, hours) == seconds


def test_ours_two_windows_tile_a_day() -> None:
    at_one_time = [
        [not opens_in(text, minute / 60) for text in ("1300-1659", "1700-1259")] for minute in range(1_440)
    ]
    assert all(sum(inside) == 1 for inside in at_one_time)


@pytest.mark.parametrize("text", ["", "0600", "0660-0845", "2500-0845", "six to nine", "0600-0845-0900", "-1-5"])
def test_ours_what_is_no_part_of_a_day_is_not_read(text: str) -> None:
    assert DailyWindow.parse(text) is None
