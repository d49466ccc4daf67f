"""How long an entry may be used and when the next attempt is due, with time as an argument."""

from __future__ import annotations

import pytest

from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.cache import Backoff, Entry, retry_after

NOW = 1_800_000_000.0  # Fri, 15 Jan 2027 08:00:00 GMT


def test_an_entry_is_used_until_it_expires_and_not_after() -> None:
    origin = Origin("https", "example.com", 443)
    entry = Entry(origin, Access.SUCCESSFUL, origin.robots_url, 200, b"", (), NOW, NOW + 10)
    assert entry.is_fresh(NOW + 9.9)
    assert not entry.is_fresh(NOW + 10)


def test_the_distance_between_attempts_doubles_up_to_its_bound() -> None:
    backoff = Backoff(first=1.0, most=10.0)
    assert [backoff.distance(failures) for failures in range(1, 7)] == [1, 2, 4, 8, 10, 10]
    assert backoff.distance(100_000) == 10


def test_retry_after_lengthens_the_distance_and_never_shortens_it() -> None:
    backoff = Backoff(first=2.0, most=60.0)
    assert backoff.distance(1, retry_after=30.0) == 30
    assert backoff.distance(1, retry_after=1.0) == 2
    assert backoff.distance(1, retry_after=86_400.0) == 60


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (b"120", 120.0),
        (b" 0 ", 0.0),
        (b"Fri, 15 Jan 2027 08:01:30 GMT", 90.0),
        (b"Fri, 15 Jan 2027 08:01:30 -0000", 90.0),
        (b"Fri, 15 Jan 2027 07:00:00 GMT", 0.0),
        (b"", None),
        (b"-5", None),
        (b"soon", None),
        (b"1.5", None),
        ("١٢".encode(), None),
        (b"Fri, 99 Jan 2027 08:01:30 GMT", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(value: bytes, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds


def test_a_retry_after_of_endless_digits_is_a_finite_number() -> None:
    wait = retry_after(b"9" * 5_000, NOW)
    assert wait is not None
    assert Backoff(1.0, 60.0).distance(1, wait) == 60
