"""How the commands write to a terminal: its width, colors, messages, progress, and carets below a part of a line.

A pipe gets the same texts, unwrapped, without colors, and of a progress a line now and then.
"""

from __future__ import annotations

import os
import sys
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from functools import lru_cache
from typing import IO, Final

from scrapy_rep.clock import clock
from scrapy_rep.protocol.display import duration, shown

from . import FAILED

_COLORS: Final = {"good": "32", "bad": "31", "warning": "33", "strong": "1", "faint": "2"}
_ERASE: Final = "\r\033[K"  # what the line of the cursor shows
_TERMINAL_INTERVAL: Final = 0.2  # seconds between two updates
_LOG_INTERVAL: Final = 5.0  # seconds, where each update is a line of its own
_USUAL_WIDTH: Final = 80  # columns, where nothing says how many there are
READABLE: Final = 120  # columns of prose; a longer line is hard to read
_NARROWEST: Final = 20
WIDEST: Final = 100  # columns of a line that are shown
_BEFORE: Final = 40  # of these before the carets, where both ends are cut
_LABEL: Final = 13  # columns of a label
_TAB: Final = "    "
_CUT: Final = "…"


# The terminal.


def is_terminal(out: IO[str] | None) -> bool:
    """Whether *out* is a terminal that can move its cursor; None is a stream that the shell has closed."""
    return out is not None and out.isatty() and os.environ.get("TERM") != "dumb"


@lru_cache(maxsize=8)
def has_colors(out: IO[str]) -> bool:
    """Whether *out* wants colors: https://no-color.org, https://force-color.org."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or is_terminal(out)


def paint(text: str, style: str, out: IO[str]) -> str:
    """*text* in a *style*, ``good``, ``bad``, ``warning``, ``strong`` or ``faint``, if *out* has colors."""
    return f"\033[{_COLORS[style]}m{text}\033[0m" if has_colors(out) else text


def width_of(out: IO[str]) -> int:
    """The columns of the terminal *out*, or ``COLUMNS`` if that is set."""
    try:
        return int(os.environ.get("COLUMNS", "")) or _USUAL_WIDTH
    except ValueError:
        pass
    try:
        return os.get_terminal_size(out.fileno()).columns or _USUAL_WIDTH
    except (AttributeError, OSError, ValueError):  # a pipe, no file at all, or closed
        return _USUAL_WIDTH


def wrapped(text: str, out: IO[str], indent: int = 0, first: int = 0) -> str:
    """*text* in lines that fit the terminal *out*, from the second on behind an *indent*; a pipe gets one line.

    The first one begins in the column *first*. A long word, such as a URL, stays whole, so that it can be copied.
    """
    if not is_terminal(out):
        return text
    lines = textwrap.wrap(
        text,
        max(min(width_of(out), READABLE), indent + _NARROWEST),
        initial_indent=" " * first,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines)[first:]


def labelled(sections: Iterable[tuple[str, Iterable[str]]], out: IO[str]) -> Iterator[str]:
    """The lines of *sections*, the first of each behind its label."""
    for label, texts in sections:
        for text in texts:
            yield f"{paint(f'{label:<{_LABEL}}', 'faint', out)}{wrapped(text, out, _LABEL, _LABEL)}"
            label = ""  # noqa: PLW2901


# Messages.


program: Final = ContextVar("program", default="scrapy robots ")
"""What stands before the name of a command in its messages: scripts are called ``robots-NAME``."""


def print_error(command: str, problem: object) -> int:
    """Print why *command* failed, or failed in part; return the exit code."""
    sys.stderr.write(message(program.get() + command, "error", problem))
    return FAILED


def print_warning(command: str, problem: object) -> None:
    """Print what a user of *command* has to know, although it did its work."""
    sys.stderr.write(message(program.get() + command, "warning", problem))


def message(name: str, kind: str, problem: object) -> str:
    """``NAME: error: PROBLEM``, as compilers write it, for standard error, where it replaces a progress."""
    err = sys.stderr
    text = wrapped(shown(str(problem)), err, 4, len(f"{name}: {kind}: "))
    start = _ERASE if is_terminal(err) else ""
    return f"{start}{name}: {paint(f'{kind}:', 'bad' if kind == 'error' else 'warning', err)} {text}\n"


class Progress:
    """The progress of a long command on standard error: one line that changes, or a new line now and then.

    Without *is_logged* a file or a pipe gets none.
    """

    def __init__(self, err: IO[str], *, is_logged: bool = True) -> None:
        self._err = err
        self._is_terminal = is_terminal(err)
        self._is_silent = not (is_logged or self._is_terminal)
        self._interval = _TERMINAL_INTERVAL if self._is_terminal else _LOG_INTERVAL
        self._next = clock.monotonic() + self._interval
        self._is_shown = False

    def show(self, text: str, *, at_once: bool = False) -> None:
        """Show *text* if the interval has passed; *at_once* on a terminal without waiting for it."""
        now = clock.monotonic()
        if self._is_silent or (now < self._next and not (at_once and self._is_terminal)):
            return
        self._next = now + self._interval
        # A line that wraps could not be erased: its beginning would stay, update by update.
        self._err.write(f"{_ERASE}{cut(text, width_of(self._err) - 1)}" if self._is_terminal else f"{text}\n")
        self._err.flush()
        self._is_shown = self._is_terminal

    def note(self, text: str) -> None:
        """Write *text* on a line that stays."""
        self.clear()
        self._err.write(f"{text}\n")
        self._err.flush()

    def clear(self) -> None:
        """Erase the line that changes."""
        if self._is_shown:
            self._err.write(_ERASE)
            self._err.flush()
            self._is_shown = False


class Speed:
    """How fast a command gets on since now, and how long the rest takes at that speed."""

    def __init__(self) -> None:
        self._began = clock.monotonic()

    def text(self, done: int, share: float | None) -> str:
        """The speed after *done* things; *share* is the part of the work that is done, None if that is unknown."""
        seconds = max(clock.monotonic() - self._began, 0.001)
        rate = f"{done / seconds:,.0f} per second"
        return f"{rate}, {duration(seconds / share - seconds)} left" if share and share < 1 else rate


def with_carets(line: bytes, column: int, length: int, widest: int = WIDEST) -> tuple[str, str]:
    """*widest* columns of *line* around *length* characters from *column*, which counts from 1, and their carets.

    What is not printable is escaped; the carets stand below the characters on a terminal, however wide these are.
    """
    text = line.decode("utf-8", "surrogateescape")
    at = min(column - 1, len(text))
    if len(text) <= widest and text.isascii() and text.isprintable():  # as nearly all are
        return text, " " * at + "^" * max(min(length, len(text) - at), 1)
    before = _fitting(
        text[max(at - widest, 0) : at][::-1], min(_BEFORE, widest // 2) if len(text) > widest else widest
    )[::-1]
    width = sum(map(_width, before))
    after = _fitting(text[at : at + widest], widest - width)
    start, end = (_CUT if len(before) < at else ""), (_CUT if at + len(after) < len(text) else "")
    carets = max(sum(map(_width, after[:length])), 1)
    return start + "".join(map(_cell, before + after)) + end, " " * (len(start) + width) + "^" * carets


def cut(text: str, columns: int) -> str:
    """*text*, or what of it fits into *columns* with an ellipsis behind it."""
    start = _fitting(text, columns)
    return text if start == text else _fitting(text, columns - 1) + _CUT


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
