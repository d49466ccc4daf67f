"""What the sub-commands share at a terminal: what they are given, how they complain, paint and tell progress.

Imports nothing of a crawl: a command that fetches nothing has to be quick to start.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from functools import lru_cache, partial
from pathlib import Path
from time import monotonic
from typing import IO, Final

from scrapy_rep.protocol import Origin, product_token
from scrapy_rep.protocol.display import shown

from . import COULD_NOT_RUN

_PAINTS: Final = {"good": "32", "bad": "31", "strong": "1", "faint": "2"}
_MOST_OF_A_LINE: Final = 65_536  # octets: more is no URL
_BINARY: Final = re.compile(rb"[\0-\x08\x0e-\x1f\x7f]")
_PROGRESS_EVERY: Final = 0.2  # seconds, on a terminal
_PROGRESS_LINE_EVERY: Final = 5.0  # seconds, elsewhere


class GivenError(Exception):
    """Something given on the command line that nothing can be done with; the message names it."""


def complain(command: str, problem: object) -> int:
    """Say why ``scrapy robots`` *command* could not run; the exit code for that."""
    print(f"scrapy robots {command}: {shown(str(problem))}", file=sys.stderr)  # noqa: T201
    return COULD_NOT_RUN


def with_scheme(url: str) -> str:
    """*url*, which may be a bare host, as a URL."""
    return url if "://" in url else f"https://{url}"


def origin_of(url: str) -> Origin:
    """The origin of *url*, which may be a bare host. Raises `GivenError`."""
    try:
        return Origin.from_url(with_scheme(url))
    except ValueError as error:
        raise GivenError(f"{shown(url)}: {error}") from None


def token_of(agent: str) -> str:
    """The product token in what ``--agent`` was given, ``*`` as it is. Raises `GivenError` when it holds none."""
    token = "*" if agent == "*" else product_token(agent)
    if not token:
        raise GivenError(f"--agent {shown(agent)!r} holds no product token: write one such as ExampleBot")
    return token


def read_file(name: str) -> bytes:
    """The octets of the file called *name*, of standard input for ``-``. Raises `GivenError`."""
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except (OSError, ValueError) as error:
        raise GivenError(f"{name}: {getattr(error, 'strerror', None) or error}") from None


def lines_of(name: str) -> Iterator[str]:
    """The lines of the file called *name*, of standard input for ``-``, without blank ones, as they come.

    Raises `GivenError`, for what is no text too.
    """
    try:
        with nullcontext(sys.stdin.buffer) if name == "-" else Path(name).open("rb") as file:
            for number, line in enumerate(iter(partial(file.readline, _MOST_OF_A_LINE), b""), start=1):
                if len(line) == _MOST_OF_A_LINE or _BINARY.search(line):
                    raise GivenError(f"{_named(name)} is no text: line {number} holds what no URL does")
                if line := line.strip():
                    yield line.decode("utf-8", "surrogateescape")
    except OSError as error:
        raise GivenError(f"{name}: {error.strerror or error}") from None


def _named(name: str) -> str:
    return "standard input" if name == "-" else name


@lru_cache(maxsize=8)
def paints(out: IO[str]) -> bool:
    """Whether *out* is a terminal that may be given colours: https://no-color.org."""
    return out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, how: str, out: IO[str]) -> str:
    """*text*, ``good``, ``bad``, ``strong`` or ``faint`` where *out* can show it."""
    return f"\033[{_PAINTS[how]}m{text}\033[0m" if paints(out) else text


class Progress:
    """What a long command says of itself on standard error: one line that moves, or a line now and then."""

    def __init__(self, err: IO[str]) -> None:
        self._err = err
        self._moves = err.isatty()
        self._next = monotonic() + (_PROGRESS_EVERY if self._moves else _PROGRESS_LINE_EVERY)
        self._width = 0

    def tell(self, text: str, *, at_once: bool = False) -> None:
        """Say *text* if it is time for it; *at_once* where the line moves, whatever the time."""
        now = monotonic()
        if now < self._next and not (at_once and self._moves):
            return
        self._next = now + (_PROGRESS_EVERY if self._moves else _PROGRESS_LINE_EVERY)
        self._err.write(f"\r{text:<{self._width}}" if self._moves else f"{text}\n")
        self._err.flush()
        self._width = len(text)

    def end(self) -> None:
        """Wipe the line that moves."""
        if self._moves and self._width:
            self._err.write(f"\r{'':<{self._width}}\r")
            self._err.flush()
            self._width = 0
