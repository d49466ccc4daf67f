"""How long an entry counts, what stands in for it, and when the next attempt is due; time is an argument."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import LIFETIME, LONG_UNREACHABLE, Backoff, Entry, Freshness, retry_after

NOW = 1_800_000_000.0  # Fri, 15 Jan 2027 08:00:00 GMT
MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
FRESHNESS = Freshness(5 * MINUTE, DAY, 30 * DAY, Backoff(1.0, 600.0))
ORIGIN = Origin("https", "example.com", 443)


def entry(access: Access = Access.SUCCESSFUL) -> Entry:
    return Entry(ORIGIN, access, ORIGIN.robots_url, 200, b"", (), NOW, NOW)


def answered(
    access: Access = Access.SUCCESSFUL, now: float = NOW, policy: Freshness = FRESHNESS, cache_control: str = ""
) -> Entry:
    facts = {"origin": ORIGIN, "access": access, "url": ORIGIN.robots_url, "status": 200, "body": b"", "hops": ()}
    return policy.answered(now, cache_control, **facts)


LIFETIMES = {
    "": DAY,
    "max-age=3600": HOUR,
    "public, Max-Age = 3600": HOUR,
    'private,max-age="3600"': HOUR,
    "max-age=3600, max-age=7200": HOUR,
    "max-age=1": 5 * MINUTE,
    "max-age=0": 5 * MINUTE,
    "max-age=999999999999999999999": DAY,
    "s-maxage=3600": DAY,
    "x-max-age=3600": DAY,
    "max-age=soon": DAY,
    "max-age=-1": DAY,
    "no-cache": 5 * MINUTE,
    "max-age=3600, no-store": 5 * MINUTE,
    "x-no-cache": DAY,
}


def test_rfc_2_4_max_age_sets_the_lifetime_within_its_bounds() -> None:
    assert {each: FRESHNESS.lifetime(each) for each in LIFETIMES} == LIFETIMES


def test_a_higher_bound_lets_max_age_lengthen_the_lifetime_and_a_lower_one_shortens_the_default() -> None:
    assert replace(FRESHNESS, most=7 * DAY).lifetime("max-age=518400") == 6 * DAY
    assert replace(FRESHNESS, most=7 * DAY).lifetime("") == LIFETIME
    assert replace(FRESHNESS, most=HOUR).lifetime("") == HOUR


@pytest.mark.parametrize("access", [Access.SUCCESSFUL, Access.UNAVAILABLE])
def test_an_answer_is_used_until_its_life_is_over_and_not_after(access: Access) -> None:
    fresh = answered(access)
    assert FRESHNESS.access(fresh, NOW + DAY - 1) is access
    assert FRESHNESS.usable_until(fresh, NOW) == FRESHNESS.due_at(fresh) == NOW + DAY
    assert FRESHNESS.usable_until(fresh, NOW + DAY) == NOW + DAY  # a fetch is due


def test_an_origin_that_never_answered_is_unreachable_and_after_30_days_without_restrictions() -> None:
    unknown = FRESHNESS.failed(entry(Access.UNREACHABLE), NOW, 5, None)
    assert (unknown.failures, unknown.unreachable_since, unknown.retry_at) == (5, NOW, NOW + 16)
    assert FRESHNESS.access(unknown, NOW + LONG_UNREACHABLE - 1) is Access.UNREACHABLE
    assert FRESHNESS.access(unknown, NOW + LONG_UNREACHABLE) is Access.UNAVAILABLE


def test_a_copy_within_its_stale_life_stands_in_and_the_attempts_are_further_and_further_apart() -> None:
    stale = FRESHNESS.failed(answered(), NOW + DAY, 1, None)
    again = FRESHNESS.failed(stale, NOW + DAY + 10, 1, None)
    assert (stale.retry_at, again.retry_at) == (NOW + DAY + 1, NOW + DAY + 12)
    assert (again.unreachable_since, again.tried_at, again.fetched_at) == (NOW + DAY, NOW + DAY + 10, NOW)
    assert FRESHNESS.access(again, NOW + DAY + 11) is Access.SUCCESSFUL
    assert FRESHNESS.usable_until(again, NOW + DAY + 11) == NOW + DAY + 12


def test_a_copy_past_its_stale_life_counts_again_after_30_days_unreachable() -> None:
    policy = replace(FRESHNESS, stale=HOUR)
    stale = policy.failed(answered(policy=policy), NOW + DAY, 1, None)
    times = [NOW + DAY, NOW + DAY + HOUR, NOW + DAY + LONG_UNREACHABLE - 1, NOW + DAY + LONG_UNREACHABLE]
    assert [policy.access(stale, time) for time in times] == [
        Access.SUCCESSFUL,
        Access.UNREACHABLE,
        Access.UNREACHABLE,
        Access.SUCCESSFUL,
    ]


def test_what_holds_is_looked_at_again_when_the_stale_life_ends_before_the_next_attempt() -> None:
    policy = replace(FRESHNESS, stale=HOUR)
    stale = policy.failed(answered(policy=policy), NOW + DAY + HOUR - 1, 1, 300.0)
    assert policy.usable_until(stale, NOW + DAY + HOUR - 1) == NOW + DAY + HOUR
    assert policy.usable_until(stale, NOW + DAY + HOUR) == stale.retry_at


def test_a_shorter_bound_holds_for_what_was_stored_under_a_longer_one() -> None:
    assert replace(FRESHNESS, most=HOUR).usable_until(answered(), NOW + 1) == NOW + HOUR


def test_an_entry_from_the_future_does_not_count_for_the_clock_was_put_back() -> None:
    assert FRESHNESS.usable_until(answered(), NOW - 30) == NOW + DAY
    assert FRESHNESS.usable_until(answered(), NOW - HOUR) == NOW - HOUR


def test_a_failure_that_a_clock_ahead_has_dated_is_tried_again_now() -> None:
    failed = FRESHNESS.failed(answered(now=NOW - 2 * DAY), NOW + 365 * DAY, 1, None)
    assert FRESHNESS.usable_until(failed, NOW) == NOW


def test_an_answer_that_a_clock_ahead_has_dated_stands_in_for_no_longer_than_another() -> None:
    ahead = answered(now=NOW + 365 * DAY)
    failed = FRESHNESS.failed(ahead, NOW, 1, None)
    assert FRESHNESS.usable_until(failed, NOW) == NOW + 1  # the next attempt, not one with every question
    assert FRESHNESS.access(failed, NOW + 29 * DAY) is Access.SUCCESSFUL
    assert FRESHNESS.access(replace(failed, unreachable_since=NOW + 5 * DAY), NOW + 31 * DAY) is Access.UNREACHABLE


def test_failures_that_began_while_the_clock_was_ahead_began_now_at_the_latest() -> None:
    ahead = FRESHNESS.failed(entry(Access.UNREACHABLE), NOW + 365 * DAY, 1, None)
    assert FRESHNESS.failed(ahead, NOW, 1, None).unreachable_since == NOW


def test_an_answer_ends_all_failures() -> None:
    entry = answered(now=NOW + 2 * DAY, cache_control="max-age=3600")
    assert (entry.failures, entry.unreachable_since, entry.retry_at) == (0, None, 0.0)
    assert (entry.fetched_at, entry.tried_at, entry.fresh_until) == (*[NOW + 2 * DAY] * 2, NOW + 2 * DAY + HOUR)


def test_an_entry_knows_the_sha_256_of_its_body() -> None:
    assert entry().sha256 == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@given(
    steps=st.lists(
        st.tuples(st.floats(0, 2 * DAY), st.sampled_from([None, 0, 600, 90_000]), st.booleans()), max_size=40
    ),
    stale=st.sampled_from([0.0, HOUR, 40 * DAY]),
)
def test_no_copy_outlives_itself_but_in_need_and_no_life_sees_two_fetches(
    steps: list[tuple[float, int | None, bool]], stale: float
) -> None:
    """A crawl that asks now and then, against a model that knows three times alone."""
    policy = replace(FRESHNESS, stale=stale)
    held: Entry | None = None
    now, life_ends, failing_since, pause_ends = NOW, -math.inf, None, -math.inf
    for wait, max_age, is_up in steps:
        now += wait
        due = now >= max(life_ends, pause_ends)
        assert due == (held is None or now >= policy.due_at(held))
        assert due == (held is None or policy.usable_until(held, now) <= now)
        if due and is_up:
            cache_control = "" if max_age is None else f"max-age={max_age}"
            held = answered(now=now, policy=policy, cache_control=cache_control)
            life = DAY if max_age is None else min(max(float(max_age), 5 * MINUTE), DAY)
            life_ends, failing_since, pause_ends = now + life, None, -math.inf
        elif due:
            held = policy.failed(held or entry(Access.UNREACHABLE), now, 1, None)
            failing_since = now if failing_since is None else failing_since
            pause_ends = now + min(2.0 ** min(held.failures - 1, 64), 600.0)
        if held is None:
            continue
        known = life_ends > -math.inf
        if failing_since is None or (known and now < life_ends + stale):
            expected = Access.SUCCESSFUL
        elif now - failing_since < LONG_UNREACHABLE:
            expected = Access.UNREACHABLE
        else:
            expected = Access.SUCCESSFUL if known else Access.UNAVAILABLE
        assert policy.access(held, now) is expected
        assert failing_since is not None or now < life_ends


def test_the_distance_between_attempts_doubles_up_to_its_bound() -> None:
    backoff = Backoff(first=1.0, most=10.0)
    assert [backoff.distance(failures) for failures in range(1, 7)] == [1, 2, 4, 8, 10, 10]
    assert backoff.distance(100_000) == 10


def test_retry_after_lengthens_the_distance_and_never_shortens_it() -> None:
    backoff = Backoff(first=2.0, most=60.0)
    assert backoff.distance(1, retry_after=30.0) == 30
    assert backoff.distance(1, retry_after=1.0) == 2
    assert backoff.distance(1, retry_after=86_400.0) == 60


RETRY_AFTER = {
    b"120": 120.0,
    b" 0 ": 0.0,
    str(int(NOW) + 90).encode(): 90.0,
    str(int(NOW) - 90).encode(): 0.0,
    str(int(NOW + 90) * 1_000).encode(): 90.0,
    b"999999999": 999_999_999.0,
    b"Fri, 15 Jan 2027 08:01:30 GMT": 90.0,
    b"Fri, 15 Jan 2027 08:01:30 -0000": 90.0,
    b"Fri, 15 Jan 2027 07:00:00 GMT": 0.0,
    b"": None,
    b"-5": None,
    b"soon": None,
    b"1.5": None,
    "١٢".encode(): None,
    # Beyond all dates.
    b"Fri, 99 Jan 2027 08:01:30 GMT": None,
    b"1 jan 1 99999999999:00:00 GMT": None,
    b"1 jan 99999999999999999999 0:0 GMT": None,
    b"1 jan 1 0:0:0 +9999999999999999": None,
}


def test_retry_after_is_read_as_seconds_or_as_a_date() -> None:
    assert {value: retry_after(value, NOW) for value in RETRY_AFTER} == RETRY_AFTER


def test_a_retry_after_of_endless_digits_is_a_finite_number() -> None:
    wait = retry_after(b"9" * 5_000, NOW)
    assert wait is not None
    assert Backoff(1.0, 60.0).distance(1, wait) == 60
