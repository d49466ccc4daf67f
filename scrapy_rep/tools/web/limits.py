"""Bounds on everything that a visitor can ask for. Times are in seconds, sizes in octets."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Final

from scrapy_rep.protocol import MAX_SIZE


@dataclass(frozen=True, slots=True)
class Limits:
    """What one visitor, and all of them together, may ask for.

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
