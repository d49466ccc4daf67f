"""A part of the day: what Request-rate and Visit-time call a window."""

from __future__ import annotations

import pytest

from scrapy_rep.politeness.time_of_day import Window

NOON = 1_700_049_600.0 + 43_200 - 1_700_049_600.0 % 86_400


def opens_in(text: str, hours: float) -> float:
    """Seconds until the window opens, at so many hours after midnight of some day."""
    window = Window.parse(text)
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
    assert Window.parse(text) is None
