"""What visitors may ask for: the bounds on each question, and fairness between those who ask.

Keeps addresses while their requests run, and hosts for seconds; nothing else, and nothing of it on disk.
"""

from __future__ import annotations

import os
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from ipaddress import IPv6Address, ip_address
from math import ceil
from typing import Final

from starlette.types import Scope

from scrapy_rep.clock import clock
from scrapy_rep.protocol import MAX_SIZE

_MOST_HOSTS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Limits:
    """What one visitor, and all of them together, may ask for. Times are in seconds, sizes in octets.

    ``is_public``: visitors are strangers, so only public addresses and default ports are fetched.
    """

    is_public: bool = False
    robots_octets: int = 4 * MAX_SIZE
    """Of a robots.txt that is pasted or fetched; the engine reads 500 KiB, the linter says what is beyond."""
    request_octets: int = 16 * MAX_SIZE
    """Of the body of a request: a form or JSON writes an octet with up to six."""
    answer_octets: int = 128 * MAX_SIZE
    """Of a part of an answer."""
    urls: int = 1_000
    agents: int = 50
    verdicts: int = 10_000
    """URLs times crawlers."""
    url_characters: int = 4_096
    agent_characters: int = 256
    receive_time: float = 60.0
    """Until the body of a request has arrived."""
    wait_time: float = 30.0
    """For a worker process to be free."""
    work_time: float = 20.0
    """For one part of an answer, after which its worker process is ended."""
    fetch_time: float = 30.0
    """For a robots.txt, with all its redirects."""
    fetch_interval: float = 0.0
    """Between two fetches from the same host, whoever asks."""
    requests_per_client: int = 16
    """At the same time; further ones are refused."""
    requests: int = 64
    """Of all clients at the same time."""
    workers: int = max(2, os.cpu_count() or 1)
    """Processes that check."""
    workers_per_client: int = workers
    """Of them at the same time."""


LOCAL: Final = Limits()
"""For the people of one machine or network, who trust each other."""

PUBLIC: Final = replace(
    LOCAL,
    is_public=True,
    robots_octets=2 * MAX_SIZE,
    request_octets=8 * MAX_SIZE,
    answer_octets=8 * MAX_SIZE,
    urls=200,
    agents=20,
    verdicts=2_000,
    receive_time=20.0,
    wait_time=10.0,
    work_time=5.0,
    fetch_time=15.0,
    fetch_interval=5.0,
    requests_per_client=4,
    requests=32,
    workers_per_client=1,
)
"""For a server on the internet."""


class Problem(Exception):  # noqa: N818  # what it keeps from an answer is no error of ours
    """Why there is no answer: the message is for the visitor, ``status`` is that of the response."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class TooManyError(Problem):
    """A visitor asks too much at once, or all of them do; ``seconds`` says when to come again."""

    def __init__(self, message: str, seconds: float, status: int = 429) -> None:
        super().__init__(message, status)
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
            raise TooManyError("The server is busy: try again in a few seconds.", 5.0)
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
