"""One audit log, read from its first line to its last: its runs, and what is wrong with it, in words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scrapy_rep.gate.audit_log import INSERTED, NO_EVENT, NO_LINE, TOO_LONG, TORN, Line, read_events
from scrapy_rep.tools.files import open_file

from .bodies import Bodies
from .fields import Fields
from .runs import Run, Start

_MOST_REMARKS: Final = 20
_MOST_RUNS: Final = 400
_VERSION: Final = 1

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
        """Read the file *path*; check the folder *bodies*, if any, for what it names. Raises ``OSError``."""
        self.path = path
        self.lines = 0
        self.last_hash = NO_LINE
        self.problems, self.notes = Remarks(), Remarks()
        self.runs: list[Run] = []
        self.runs_left_out = 0
        self.bodies = Bodies(bodies) if bodies else None
        self._unread: Line | None = None
        open_file(path).close()  # which refuses what the loop would wait for
        for line in read_events(path):
            self._add(line)
        self._end()

    @property
    def is_intact(self) -> bool:
        """Whether nothing shows that the log was changed."""
        return not self.problems.number

    def _add(self, line: Line) -> None:
        self.lines, self.last_hash = line.number, line.sha256
        kind = line.event["event"] if line.event else ""
        self._settle_unread(line if kind == "start" else None)
        if line.event is None:
            self._unread = line
            return
        if line.flaw:
            self.problems.add(line.number, _broken(line))
        self._add_event(line.number, kind, Fields(line.event))

    def _settle_unread(self, start: Line | None) -> None:
        """A torn line is fine where a process was killed and the next one, with its *start*, went on behind it."""
        unread, self._unread = self._unread, None
        if unread is None:
            return
        if start and start.flaw is None and unread.flaw != TOO_LONG:
            self.notes.add(unread.number, "the line is torn: the process was killed, and a later crawl went on")
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
                number, "no event before has the robots.txt of this decision: one was removed or changed"
            )
        self.runs[-1].add(kind, event)
        if kind == "robots" and self.bodies and (problem := self.bodies.check(event.text("sha256"))):
            self.problems.add(number, problem)
        if kind == "end":
            self._check_sums(number)

    def _start(self, number: int, event: Fields) -> None:
        if self.runs and self.runs[-1].end is None and not self.runs_left_out:
            self.notes.add(number, "the run before has no end: its process was killed")
            self._check_sums(number - 1)
        if event.number("v") not in (0, _VERSION):
            self.notes.add(number, "the run was written by a later version: some of it may not be understood")
        if len(self.runs) < _MOST_RUNS:
            self.runs.append(Run(Start.of(number, event)))
        else:
            self.runs_left_out += 1

    def _check_sums(self, number: int) -> None:
        if not self.runs_left_out and (text := self.runs[-1].contradiction()):
            self.problems.add(number, f"{text}: lines were removed or changed")

    def _end(self) -> None:
        if self._unread and self._unread.flaw == TORN:
            self.notes.add(self._unread.number, "the last line is torn: the process was killed while it wrote it")
            self._unread = None
        self._settle_unread(None)
        if self.is_intact and not self.runs:
            self.problems.add(0, "the log holds no run: it was emptied or overwritten, or never was a log")
        elif self.runs and self.runs[-1].end is None and not self.runs_left_out:
            self.notes.add(self.lines, "the last run has no end: it still goes on, or its process was killed")
            self._check_sums(self.lines)


def _broken(line: Line) -> str:
    if line.number == 1:
        return "the first line does not begin a log: lines before it were removed, or it was changed"
    before = f"line {line.number - 1:,}"
    if line.flaw == INSERTED:
        return f"{before} was inserted: this line follows the one before it"
    return (
        f"this line does not follow {before}: {before} was changed, or lines were removed, added or swapped here"
    )
