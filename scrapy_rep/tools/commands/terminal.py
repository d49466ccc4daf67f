"""How the commands write to a terminal: colours, errors, progress, and lines of files with carets below a part."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import IO, Final

from scrapy_rep.clock import clock
from scrapy_rep.protocol.display import duration, shown

from . import FAILED

_COLOURS: Final = {"good": "32", "bad": "31", "strong": "1", "faint": "2"}
_TERMINAL_INTERVAL: Final = 0.2  # seconds between two updates
_LOG_INTERVAL: Final = 5.0  # seconds, where each update is a line of its own
_WIDEST: Final = 100  # columns of a line that are shown
_BEFORE: Final = 40  # of these before the carets, where both ends are cut
_TAB: Final = "    "
_CUT: Final = "…"


def print_error(command: str, problem: object) -> int:
    """Print why ``scrapy robots`` *command* failed; return the exit code."""
    print(f"scrapy robots {command}: {shown(str(problem))}", file=sys.stderr)  # noqa: T201
    return FAILED


@lru_cache(maxsize=8)
def has_colours(out: IO[str]) -> bool:
    """Whether *out* is a terminal that wants colours: https://no-color.org."""
    return out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, style: str, out: IO[str]) -> str:
    """Return *text* in a *style*, ``good``, ``bad``, ``strong`` or ``faint``, where *out* can show it."""
    return f"\033[{_COLOURS[style]}m{text}\033[0m" if has_colours(out) else text


def labelled(sections: Iterable[tuple[str, Iterable[str]]], out: IO[str]) -> Iterator[str]:
    """The lines of *sections*, the first of each behind its label."""
    for label, texts in sections:
        for text in texts:
            yield f"{paint(f'{label:<13}', 'faint', out)}{text}"
            label = ""  # noqa: PLW2901


class Progress:
    """The progress of a long command on standard error: one line that changes, or a new line now and then."""

    def __init__(self, err: IO[str]) -> None:
        self._err = err
        self._is_terminal = err.isatty()
        self._interval = _TERMINAL_INTERVAL if self._is_terminal else _LOG_INTERVAL
        self._next = clock.monotonic() + self._interval
        self._width = 0

    def show(self, text: str, *, at_once: bool = False) -> None:
        """Show *text* if the interval has passed; *at_once* on a terminal without waiting for it."""
        now = clock.monotonic()
        if now < self._next and not (at_once and self._is_terminal):
            return
        self._next = now + self._interval
        self._err.write(f"\r{text:<{self._width}}" if self._is_terminal else f"{text}\n")
        self._err.flush()
        self._width = len(text)

    def note(self, text: str) -> None:
        """Write *text* on a line that stays."""
        self.clear()
        self._err.write(f"{text}\n")
        self._err.flush()

    def clear(self) -> None:
        """Erase the line that changes."""
        if self._is_terminal and self._width:
            self._err.write(f"\r{'':<{self._width}}\r")
            self._err.flush()
            self._width = 0


class Speed:
    """How fast a command gets on since now, and how long the rest takes at that speed."""

    def __init__(self) -> None:
        self._began = clock.monotonic()

    def text(self, done: int, share: float | None) -> str:
        """The speed after *done* things; *share* is the part of the work that is done, None if that is unknown."""
        seconds = max(clock.monotonic() - self._began, 0.001)
        rate = f"{done / seconds:,.0f} per second"
        return f"{rate}, {duration(seconds / share - seconds)} left" if share and share < 1 else rate


def with_carets(line: bytes, column: int, length: int) -> tuple[str, str]:
    """The part of *line* around *length* characters from *column* on, which counts from 1, and their carets.

    What is not printable is escaped; the carets stand below the characters on a terminal, however wide these are.
    """
    text = line.decode("utf-8", "surrogateescape")
    at = min(column - 1, len(text))
    if len(text) <= _WIDEST and text.isascii() and text.isprintable():  # as nearly all are
        return text, " " * at + "^" * max(min(length, len(text) - at), 1)
    before = _fitting(text[max(at - _WIDEST, 0) : at][::-1], _BEFORE if len(text) > _WIDEST else _WIDEST)[::-1]
    width = sum(map(_width, before))
    after = _fitting(text[at : at + _WIDEST], _WIDEST - width)
    start, end = (_CUT if len(before) < at else ""), (_CUT if at + len(after) < len(text) else "")
    carets = max(sum(map(_width, after[:length])), 1)
    return start + "".join(map(_cell, before + after)) + end, " " * (len(start) + width) + "^" * carets


def _fitting(text: str, columns: int) -> str:
    """The beginning of *text* that takes no more than *columns*."""
    for at, character in enumerate(text):
        columns -= _width(character)
        if columns < 0:
            return text[:at]
    return text


def _cell(character: str) -> str:
    return _TAB if character == "\t" else shown(character)


def _width(character: str) -> int:
    """The columns that *character* takes: https://www.unicode.org/reports/tr11/."""
    cell = _cell(character)
    if len(cell) > 1:
        return len(cell)
    if unicodedata.category(cell) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(cell) in {"W", "F"} else 1
