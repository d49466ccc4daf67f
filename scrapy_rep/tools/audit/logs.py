"""One audit log, read from its first line to its last: its runs, and what is wrong with it, in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from scrapy_rep.extras.audit.audit_log import NO_LINE, VERSION
from scrapy_rep.tools.files import open_file

from .bounded import Bodies, Fields
from .runs import Run, Start

TORN: Final = "torn"
"""The flaw of a line that a process did not finish."""
NO_EVENT: Final = "not an event"
TOO_LONG: Final = "too long"
UNCHAINED: Final = "the line before was changed or removed"
INSERTED: Final = "the line before was inserted"

_LONGEST: Final = 16_777_216  # octets of a line that is read as an event
_MOST_PIECES: Final = 8  # of that length in a line: what is behind a longer one is not read, as it may never end
_MOST_REMARKS: Final = 20
_MOST_RUNS: Final = 400

_NO_EVENTS: Final = {
    TORN: "the line is torn, and no crawl began after it: it was cut or overwritten",
    NO_EVENT: "the line is not an event: it was overwritten",
    TOO_LONG: "the line is too long for an event",
}


@dataclass(frozen=True, slots=True)
class Remark:
    """Something about a line of a log; line 0 is the whole file."""

    line: int
    text: str


class Remarks:
    """The first remarks, and the number of all."""

    def __init__(self) -> None:
        self.first: list[Remark] = []
        self.number = 0

    def add(self, line: int, text: str) -> None:
        """Add a remark about *line*."""
        self.number += 1
        if len(self.first) < _MOST_REMARKS:
            self.first.append(Remark(line, text))


class Log:
    """What one audit log says. ``problems`` mean that it was changed; ``notes`` are what an honest log may have.

    ``last_hash`` is the SHA-256 of its last line. Beyond 400 runs the last of ``runs`` has the
    sums of all further ones, whose number is ``runs_left_out``.
    """

    def __init__(self, path: Path, bodies: Path | None = None) -> None:
        """Read the file *path*; check the folder *bodies*, if any, for what it names.

        Raises ``OSError``, and ``ValueError`` for a file of several lines of which none is from an audit log.
        """
        self.path = path
        self.lines = 0
        self.last_hash = NO_LINE
        self.problems, self.notes = Remarks(), Remarks()
        self.runs: list[Run] = []
        self.runs_left_out = 0
        self.bodies = Bodies(bodies) if bodies else None
        self._unread: LogLine | None = None
        open_file(path).close()  # which refuses what the loop would wait for
        is_log = False
        for line in read_events(path):
            self._add(line)
            is_log = is_log or bool(line.event and "prev" in line.event)
        if self.lines > 1 and not is_log:
            raise ValueError("not an audit log: none of its lines is an event that REP_AUDIT wrote")
        self._end()

    @property
    def is_intact(self) -> bool:
        """Whether nothing shows that the log was changed."""
        return not self.problems.number

    def _add(self, line: LogLine) -> None:
        self.lines, self.last_hash = line.number, line.sha256
        kind = line.event["event"] if line.event else ""
        self._settle_unread(line if kind == "start" else None)
        if line.event is None:
            self._unread = line
            return
        if line.flaw:
            self.problems.add(line.number, _broken(line))
        self._add_event(line.number, kind, Fields(line.event))

    def _settle_unread(self, start: LogLine | None) -> None:
        """A torn line is fine where a process was killed and the next one, with its *start*, went on behind it."""
        unread, self._unread = self._unread, None
        if unread is None:
            return
        if start and start.flaw is None and unread.flaw != TOO_LONG:
            self.notes.add(unread.number, "the line is torn: the process was killed, and a later crawl continued")
        else:
            self.problems.add(unread.number, _NO_EVENTS[unread.flaw or NO_EVENT])

    def _add_event(self, number: int, kind: str, event: Fields) -> None:
        if kind == "start":
            self._start(number, event)
        elif not self.runs:
            self._start(number, Fields(None))
            self.problems.add(number, "the log does not begin with the start of a run: its beginning is missing")
        elif self.runs[-1].end is not None and not self.runs_left_out:
            self.problems.add(number, "the line follows the end of its run: it was added later")
        if kind == "decision" and not self.runs[-1].has_answer_for(event):
            self.problems.add(
                number, "no earlier event has the robots.txt of this decision: a line was removed or changed"
            )
        self.runs[-1].add(kind, event)
        if kind == "robots" and self.bodies and (problem := self.bodies.check(event.text("sha256"))):
            self.problems.add(number, problem)
        if kind == "end":
            self._check_sums(number)

    def _start(self, number: int, event: Fields) -> None:
        if self.runs and self.runs[-1].end is None and not self.runs_left_out:
            self.notes.add(number, "the previous run has no end: its process was killed")
            self._check_sums(number - 1)
        if event.number("v") not in (0, VERSION):
            self.notes.add(number, "a later version of scrapy_rep wrote the run: this one may misread it")
        if len(self.runs) < _MOST_RUNS:
            self.runs.append(Run(Start.of(number, event)))
        else:
            self.runs_left_out += 1

    def _check_sums(self, number: int) -> None:
        if not self.runs_left_out and (text := self.runs[-1].contradiction()):
            self.problems.add(number, f"{text}: lines were removed or changed")

    def _end(self) -> None:
        if self._unread and self._unread.flaw == TORN:
            self.notes.add(self._unread.number, "the last line is torn: the process was killed while writing it")
            self._unread = None
        self._settle_unread(None)
        if self.is_intact and not self.runs:
            self.problems.add(0, "the log holds no run: it was emptied or overwritten, or is not a log")
        elif self.runs and self.runs[-1].end is None and not self.runs_left_out:
            self.notes.add(self.lines, "the last run has no end: it is still running, or its process was killed")
            self._check_sums(self.lines)


def _broken(line: LogLine) -> str:
    if line.number == 1:
        return "the first line does not begin a log: lines before it were removed, or it was changed"
    before = f"line {line.number - 1:,}"
    if line.flaw == INSERTED:
        return f"{before} was inserted: this line follows the one before it"
    return (
        f"this line does not follow {before}: {before} was changed, or lines were removed, added or swapped here"
    )


# Its lines.


class LogLine(NamedTuple):
    """One line of an audit log: its event, what is wrong with it, and the SHA-256 that the next line refers to.

    A line that holds no event has None for it, and a flaw.
    """

    number: int
    event: Mapping[str, Any] | None
    flaw: str | None
    sha256: str


def read_events(path: Path) -> Iterator[LogLine]:
    """The lines of an audit log, one at a time; whatever they hold, only ``OSError`` is raised."""
    before = last = NO_LINE
    with path.open("rb") as file:
        for number, (text, digest, is_whole) in enumerate(_lines(file), start=1):
            event = _event(text)
            flaw = _why_not_next(event, last, before) if event else _why_no_event(text, is_whole=is_whole)
            yield LogLine(number, event, flaw, digest)
            before, last = last, digest


def _lines(file: BinaryIO) -> Iterator[tuple[bytes | None, str, bool]]:
    """Each line without its end, its SHA-256, and whether it has an end; None for a line that is too long."""
    while text := file.readline(_LONGEST):
        line, digest = text.removesuffix(b"\n"), sha256(text.removesuffix(b"\n"))
        pieces = 1
        while not text.endswith(b"\n") and pieces < _MOST_PIECES and (text := file.readline(_LONGEST)):
            digest.update(text.removesuffix(b"\n"))
            pieces += 1
        yield line if pieces == 1 else None, digest.hexdigest(), text.endswith(b"\n")
        if pieces == _MOST_PIECES:
            return


def _event(text: bytes | None) -> Mapping[str, Any] | None:
    try:
        event = json.loads(text or b"")
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and isinstance(event.get("event"), str) else None


def _why_no_event(text: bytes | None, *, is_whole: bool) -> str:
    if text is None:
        return TOO_LONG
    return TORN if not is_whole or not text.endswith(b"}") else NO_EVENT


def _why_not_next(event: Mapping[str, Any], last: str, before: str) -> str | None:
    if event.get("prev") == last:
        return None
    return INSERTED if event.get("prev") == before else UNCHAINED
