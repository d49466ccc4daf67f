"""Fairness between visitors: how much one may ask at the same time, and how often a host is fetched from.

Keeps addresses while their requests run, and hosts for seconds; nothing else, and nothing of it on disk.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv6Address, ip_address
from math import ceil
from typing import Final

from starlette.types import Scope

from scrapy_rep.clock import clock

from .limits import Limits

_MOST_HOSTS: Final = 10_000


class TooManyError(Exception):
    """A visitor asks too much at once; ``seconds`` says when to come again."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class Visitors:
    """Counts the requests of each client that are under way."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._under_way: Counter[str] = Counter()

    @contextmanager
    def admit(self, client: str) -> Iterator[None]:
        """Count a request of *client* while it lasts. Raises `TooManyError`."""
        if self._under_way[client] >= self._limits.requests_per_client:
            raise TooManyError("You ask several questions at once: wait for an answer.", 1.0)
        if self._under_way.total() >= self._limits.requests:
            raise TooManyError("Many people ask at the moment: try again in a few seconds.", 5.0)
        self._under_way[client] += 1
        try:
            yield
        finally:
            self._under_way[client] -= 1
            if not self._under_way[client]:
                del self._under_way[client]


class Hosts:
    """Keeps fetches from the same host, or address, *interval* seconds apart, whoever asks for them."""

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._fetched: OrderedDict[str, float] = OrderedDict()

    def visit(self, host: str) -> None:
        """Note that *host* is fetched from now. Raises `TooManyError` if it was a moment ago."""
        host = host.rstrip(".")  # the dot of the root changes nothing
        now = clock.monotonic()
        wait = self._fetched.get(host, -self._interval) + self._interval - now
        if self._interval and wait > 0:
            raise TooManyError(f"{host} was asked a moment ago: try again in {ceil(wait)} s.", wait)
        self._fetched[host] = now
        self._fetched.move_to_end(host)
        while len(self._fetched) > _MOST_HOSTS or now - next(iter(self._fetched.values())) > self._interval:
            self._fetched.popitem(last=False)


def client_of(scope: Scope) -> str:
    """Who asks: an IPv4 address, or the /64 network of an IPv6 one, since a customer has all of that."""
    address: str = (scope.get("client") or ("",))[0]
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address):
        return str(parsed.ipv4_mapped or IPv6Address(int(parsed) >> 64 << 64))
    return address
