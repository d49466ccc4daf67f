"""`PermitQueue`: which of several processes may start a request on a site next, and when."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Final, NamedTuple

# Microseconds:
LEAD: Final = 20_000  # before its start at which a permit is granted, at most
LONGEST_LIFE: Final = 5_000_000  # after its start at which a permit expires at the latest
_LONGEST_WAIT: Final = 5_000_000  # after which a process asks again at the latest: the delay may have changed
_GRACE: Final = 100_000  # that a process may ask late before others are served first
_FORGET: Final = 60_000_000  # after which a process that did not ask as expected leaves the queue
_LONGEST_DELAY: Final = 1e9  # seconds; more does not fit into the time limits of Redis


class PermitQuestion(NamedTuple):
    """What a process asks about a site; times are in microseconds, and -1 stands for none."""

    worker: str
    delay: int
    since: int
    missed: int
    more: bool
    life: int


class PermitAnswer(NamedTuple):
    """A limiter's answer, in microseconds from the moment it is given; ``number`` is 0 without a permit."""

    ask_in: int
    number: int
    starts_in: int
    expires_in: int
    awaited: int


@dataclass(slots=True)
class PermitQueue:
    """A site as a limiter keeps it; times are in microseconds of a clock that all processes share.

    ``last`` is the last start. ``holder`` has the permit that is out: its ``number`` is the time when it was
    granted, it counts from ``due`` on, and it expires at ``lapse``. ``places`` are those who wait: when each came
    (after a permit that expired unused, when that was granted), and when it is expected to ask. From ``until`` on
    nobody needs this any more.
    """

    last: int | None = None
    holder: str | None = None
    number: int | None = None
    due: int = 0
    lapse: int = 0
    until: int = 0
    places: dict[str, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str | bytes) -> PermitQueue:
        """What `text` gave; raises one of several errors for anything else."""
        last, holder, number, due, lapse, until, places = json.loads(text)
        places = {str(worker): (int(came), int(end)) for worker, (came, end) in places.items()}
        return cls(last, holder, number, due, lapse, until, places)

    @property
    def text(self) -> str:
        """What is kept, as JSON."""
        return json.dumps([self.last, self.holder, self.number, self.due, self.lapse, self.until, self.places])

    def answer(self, question: PermitQuestion, now: int) -> PermitAnswer:
        """Grant a permit, or say when to ask again."""
        me, delay = question.worker, question.delay
        is_late = (self.holder, self.number) == (me, question.missed)
        self._settle(question, now, is_late=is_late)
        self._forget(now)
        came = question.missed if question.missed >= 0 else self.places.get(me, (now, 0))[0]
        ahead = self._ahead(me, came, now)
        begin = now if self.last is None else max(self.last + delay, now)
        before, soonest = now if self.last is None else self.last, 1_000
        granted = not self.holder and (is_late or not ahead) and begin - now <= LEAD
        if granted:
            self.holder, self.number, self.due, self.lapse = me, now, begin, begin + question.life
            before, came, ahead = begin, now, self._ahead(me, now, now)
        elif self.holder:
            before, soonest = self.due, LEAD // 2
        ask_in = 0
        if granted and not question.more:
            self.places.pop(me, None)
        else:
            wait = before + delay * (len(ahead) + 1) - LEAD // 2 - now  # until shortly before its next permit
            wait = max(wait, min(min(ahead, default=now) - now, LEAD // 2))  # the first of them may be passed over
            ask_in = min(max(wait, soonest), _LONGEST_WAIT)
            self.places[me] = came, now + ask_in + _GRACE
        self.until = now + _LONGEST_WAIT + LONGEST_LIFE + delay + _FORGET
        return PermitAnswer(ask_in, now if granted else 0, begin - now, self.lapse - now, len(ahead))

    def report(self, worker: str, number: int, ago: int, memory: int, now: int) -> None:
        """Close permit *number* of *worker*, -1 for none; *ago* is -1 where it was not used.

        The start is remembered for *memory*, or as long as the rest; what was forgotten leaves nothing behind.
        """
        if not (self.until or memory):
            return
        if ago >= 0:
            self.last = max(self.last or 0, now - ago)
        self.until = max(self.until, now + memory)
        if (self.holder, self.number) == (worker, number):
            self.holder = None

    def _settle(self, question: PermitQuestion, now: int, *, is_late: bool) -> None:
        """Close the permit that is out if it has expired, and take over the last start of the process that asks.

        A process that asks has no permit any more. One that did not report may have started a request until its
        permit expired. Where the data was lost, and with it the starts of others, all wait a full delay.
        """
        starts = [] if self.last is None else [min(self.last, now)]  # the clock may have been put back
        is_lost = not self.holder and not starts and question.since < question.delay + _FORGET
        is_mine = self.holder == question.worker
        is_told = is_mine and (is_late or question.since >= 0)
        if self.holder and not is_told and not now <= self.lapse <= now + LEAD + LONGEST_LIFE:
            starts.append(min(self.lapse, now))
            self.holder = None
        if is_mine:
            self.holder = None
        if question.since >= 0:
            starts.append(now if is_lost else now - question.since)
        self.last = max(starts, default=None)

    def _forget(self, now: int) -> None:
        for worker, (_, expected) in [*self.places.items()]:
            if not now - _FORGET <= expected <= now + _LONGEST_WAIT + _GRACE:
                del self.places[worker]

    def _ahead(self, me: str, came: int, now: int) -> list[int]:
        """When those who are served before *me*, which *came* then, are expected to ask: who is late is not."""
        others = ((each, *place) for each, place in self.places.items() if each != me)
        return [expected for each, arrived, expected in others if (arrived, each) < (came, me) and expected >= now]


def microseconds(seconds: float | None) -> int:
    """Whole microseconds, bounded to what limiters can store; -1 for None."""
    return -1 if seconds is None else round(min(seconds, _LONGEST_DELAY) * 1e6)
