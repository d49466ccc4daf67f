"""A robots.txt, its verdicts and their rules may be shared between threads."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from scrapy_rep.protocol import RobotsTxt, parse

THREADS = 4
URLS = [f"https://h.example/a/{number}/x" for number in range(40)]
BODY = b"User-agent: *\n" + b"".join(
    b"".join(b"Disallow: /a/%d/%d\n" % (number, below) for below in range(20)) + b"Allow: /a/%d\n" % number
    for number in range(40)
)


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads take turns as often as can be."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def at_once(question: Callable[[], object]) -> list[object]:
    """The answers to *question* of several threads that start together."""
    barrier = Barrier(THREADS)

    def ask() -> object:
        barrier.wait(timeout=60)
        return question()

    with ThreadPoolExecutor(THREADS) as threads:
        return [asked.result(timeout=60) for asked in [threads.submit(ask) for _ in range(THREADS)]]


def test_threads_that_share_a_file_get_the_answers_of_one_alone(hasty: None) -> None:
    def ask(file: RobotsTxt) -> object:
        verdicts = [file.verdict("x", url) for url in URLS]
        lines = [(verdict.allowed, verdict.line, verdict.rule) for verdict in verdicts]
        return lines, file.rules("x"), file.groups, file.crawl_delay("x"), file.agents_for("x"), file.sitemaps

    expected = ask(parse(BODY))
    for _ in range(5):
        file = parse(BODY)
        assert at_once(lambda file=file: ask(file)) == [expected] * THREADS  # type: ignore[misc]


def test_threads_that_ask_two_files_for_many_tokens_get_the_answers_of_one_alone(hasty: None) -> None:
    bodies = [BODY, b"\n" + BODY]

    def ask(files: list[RobotsTxt]) -> object:
        tokens = [f"x{chr(97 + number)}" for number in range(20)]  # more than a file keeps
        return [[file.verdict(token, URLS[0]).line for file in files] for token in tokens]

    expected = ask([parse(body) for body in bodies])
    files = [parse(body) for body in bodies]
    assert at_once(lambda: ask(files)) == [expected] * THREADS
