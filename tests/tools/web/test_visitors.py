"""How much one visitor may ask at once, and how often a host is asked."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

import pytest

from scrapy_rep.tools.web.visitors import LOCAL, Hosts, TooManyError, Visitors, client_of

LIMITS = replace(LOCAL, requests_per_client=2, requests=3)


def test_a_client_has_so_many_requests_at_the_same_time() -> None:
    counted = Visitors(LIMITS)
    with counted.admit("192.0.2.1"), counted.admit("192.0.2.1"):
        with pytest.raises(TooManyError, match="several questions at once"), counted.admit("192.0.2.1"):
            pass
        with counted.admit("192.0.2.2"):
            pass
    with counted.admit("192.0.2.1"):
        pass


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("2001:db8::1", "2001:db8::ffff", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("", "", True),
    ],
)
def test_a_network_of_ipv6_is_one_client(one: str, other: str, is_same: bool) -> None:
    counted = Visitors(replace(LIMITS, requests_per_client=1))
    with counted.admit(client_of({"client": (one, 1)})), ExitStack() as stack:
        if is_same:
            with pytest.raises(TooManyError):
                stack.enter_context(counted.admit(client_of({"client": (other, 2)})))
        else:
            stack.enter_context(counted.admit(client_of({"client": (other, 2)})))


def test_all_clients_together_have_a_bound_too() -> None:
    counted = Visitors(LIMITS)
    with ExitStack() as stack:
        for number in range(3):
            stack.enter_context(counted.admit(f"192.0.2.{number}"))
        with pytest.raises(TooManyError, match="The server is busy"), counted.admit("192.0.2.9"):
            pass


def test_a_host_is_asked_once_in_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("scrapy_rep.clock.clock.monotonic", lambda: now)
    hosts = Hosts(5.0)
    hosts.visit("a.test.")  # the dot of the root makes no other host
    hosts.visit("b.test")
    now = 103.0
    with pytest.raises(TooManyError, match=r"a\.test was asked a moment ago: try again in 2 s") as raised:
        hosts.visit("a.test")
    assert raised.value.seconds == 2.0
    now = 105.5
    hosts.visit("a.test")
    assert list(hosts._fetched) == ["a.test"]


def test_on_one_machine_a_host_is_asked_as_often_as_one_likes() -> None:
    hosts = Hosts(LOCAL.fetch_interval)
    for _ in range(3):
        hosts.visit("a.test")
    assert len(hosts._fetched) <= 1
