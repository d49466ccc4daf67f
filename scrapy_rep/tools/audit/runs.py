"""The sums of one run of a spider, or of several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from scrapy_rep.protocol import Access, Origin

from .bounded import Fields, Tallies

VERDICTS: Final = ("allowed", "excepted", "reported", "ignored", "off", "forbidden", "unreachable")
"""The verdicts of a log; those of `Outcome`, whose module loads Scrapy."""
_ALLOWED, _EXCEPTED, _REPORTED, _IGNORED, _OFF, _FORBIDDEN, _UNREACHABLE = VERDICTS
AGAINST: Final = (_EXCEPTED, _REPORTED)
"""Verdicts of requests that were sent although robots.txt says otherwise."""
UNASKED: Final = (_IGNORED, _OFF)
"""Verdicts of requests that were sent without checking the rules."""
NOT_SENT: Final = (_FORBIDDEN, _UNREACHABLE)
"""Verdicts of requests that were not sent; a retried one has the second once per attempt."""
PLAIN: Final = (_ALLOWED, _OFF)
"""Verdicts of which a log has sums, and lines only with ``REP_AUDIT_ALL``."""

DONT_OBEY: Final = "dont_obey_robotstxt"
_SETTINGS: Final = {
    _REPORTED: "the setting REP_MODES (report)",
    _IGNORED: "the setting REP_MODES (ignore)",
    _OFF: "the setting ROBOTSTXT_OBEY (False)",
}
_RESTRICTIONS: Final = ("noindex", "nofollow")
_ACCESSES: Final = tuple(access.value for access in Access)
_EVENTS: Final = ("decision", "robots", "backoff", "page", "ai", "sums", "end")
_EXCEPTION: Final = ("url", "reason", "until")
_NOTE: Final = ("what", "origin", "why")
TALLIES: Final = {
    "groups": ("verdict", "word", "origin", "rule"),  # requests that were not simply allowed; by whose decision
    "words": ("verdict", "word"),  # the same, however many sites and rules there are
    "exceptions_used": _EXCEPTION,
    "exceptions_unused": _EXCEPTION,
    "unreachable": ("origin", "error"),  # robots.txt files
    "stale": ("origin",),  # requests that an expired copy decided
    "backoffs": ("slot",),  # how often a download slot slowed down; the examples are reasons
    "directives": _NOTE,  # pages, by what they say about themselves
    "reserved": _NOTE,  # pages that are reserved from a purpose, by purpose and by what says so
    "dropped": _NOTE,  # links and items
}
"""What is counted by several texts, and the names of these texts."""

MOST_SITES: Final = 20_000
_MOST_ANSWERS: Final = 200_000  # robots.txt files of a run that are told apart


@dataclass(frozen=True, slots=True)
class Start:
    """What the ``start`` event of a run says; ``line`` is its line in the log, ``mode`` that of most sites."""

    line: int = 0
    run: str = ""
    time: str = ""
    project: str = ""
    spider: str = ""
    scrapy_rep: str = ""
    scrapy: str = ""
    mode: str = ""
    user_agent: str = ""
    agents: list[str] = field(default_factory=list)
    modes: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, line: int, event: Fields) -> Start:
        """The start that *event* describes."""
        names = ("run", "project", "spider", "scrapy_rep", "scrapy", "mode", "user_agent")
        texts = {name: event.text(name) for name in names}
        return cls(
            line, time=event.time("time"), agents=event.texts("agents"), modes=event.pairs("modes"), **texts
        )


class Run:
    """The sums of one run; ``end`` is the reason for which the spider closed, None if its end is not recorded.

    ``tallies`` are those of `TALLIES`; ``robots`` counts robots.txt files by access.
    """

    def __init__(self, start: Start) -> None:
        self.start = start
        self.last_time = start.time
        self.end: str | None = None
        self.tallies = {name: Tallies(*names) for name, names in TALLIES.items()}
        self.robots: Counter[str] = Counter()
        self.sites: set[str] = set()
        self._lines: Counter[str] = Counter()
        self._summed: Counter[str] = Counter()
        self._at_end: Counter[str] = Counter()
        self._answers: set[int] = set()  # hashes of origins and SHA-256

    @property
    def counts(self) -> dict[str, int]:
        """The requests by verdict."""
        found = {verdict: max(self._summed[verdict], self._lines[verdict]) for verdict in VERDICTS}
        return {verdict: count for verdict, count in found.items() if count}

    @property
    def sent(self) -> int:
        """The requests that were sent."""
        return sum(count for verdict, count in self.counts.items() if verdict not in NOT_SENT)

    def counted(self, verdicts: Iterable[str]) -> int:
        """The requests with one of *verdicts*."""
        counts = self.counts
        return sum(counts.get(verdict, 0) for verdict in verdicts)

    def groups(self, verdicts: Iterable[str]) -> list[dict[str, Any]]:
        """The requests with one of *verdicts*, by who decided, site, and rule."""
        return [group for group in self.tallies["groups"].facts() if group["verdict"] in verdicts]

    def add(self, kind: str, event: Fields) -> None:
        """Add an event of the *kind* that its field ``event`` names; one of a later version is left out."""
        self.last_time = max(event.time("time"), self.last_time)
        if kind in _EVENTS:
            getattr(self, f"_{kind}")(event)

    def _count(self, name: str, key: tuple[str, ...], count: int = 1, *examples: str) -> None:
        self.tallies[name].add(key, count, *examples)

    def _decision(self, event: Fields) -> None:
        verdict, url = event.text("verdict"), event.text("url")
        self._lines[verdict if verdict in VERDICTS else ""] += 1
        origin = event.text("origin") or _origin(url)
        self._visit(origin)
        exception = event.table("exception")
        if event.text("source") == "stale":
            self._count("stale", (origin,), 1, url)
        if verdict == _EXCEPTED and exception:
            self._count("exceptions_used", _exception(exception), 1, url)
        if verdict not in PLAIN:
            rule = event.text("rule") or event.text("reason")
            word = _word(verdict, rule, exception)
            self._count("groups", (verdict, word, origin, "" if rule == DONT_OBEY else rule), 1, url)
            self._count("words", (verdict, word))

    def _robots(self, event: Fields) -> None:
        access, origin = event.text("access"), event.text("origin")
        if len(self._answers) < _MOST_ANSWERS:
            self._answers.add(hash((origin, event.text("sha256"))))
        self.robots[access if access in _ACCESSES else ""] += 1
        if access == Access.UNREACHABLE.value:
            self._count("unreachable", (origin, event.text("error")))

    def _backoff(self, event: Fields) -> None:
        self._count("backoffs", (event.text("slot"),), 1, event.text("why"))

    def has_answer_for(self, decision: Fields) -> bool:
        """Whether an event before names the robots.txt that *decision* rests on; if it does, and is known."""
        answer = hash((decision.text("origin"), decision.text("sha256")))
        return answer in self._answers or not decision.text("source") or len(self._answers) == _MOST_ANSWERS

    def _page(self, event: Fields) -> None:
        url, words = event.text("url"), event.texts("directives")
        for word in _RESTRICTIONS:
            if word in words:
                self._count("directives", (word, _origin(url), ""), 1, url)

    def _ai(self, event: Fields) -> None:
        """Count a page that is reserved once for each purpose that it is reserved from, by what said so first."""
        url, answers = event.text("url"), event.table("answers") or Fields(None)
        purposes = dict.fromkeys(event.texts("purposes") if event.flag("reserved") else ())
        refused = [purpose for purpose in purposes if answers.text(purpose) == "no"]
        silent = [purpose for purpose in purposes if answers.text(purpose) == "unknown"]
        for purpose in refused or silent:  # silence reserves only with a setting, which the event does not name
            self._count("reserved", (purpose, _origin(url), _refusal(event, purpose)), 1, url)

    def _sums(self, event: Fields) -> None:
        for each in event.tables("dropped"):
            self._count("dropped", (*map(each.text, _NOTE),), each.number("count"))
        for each in event.tables("counts"):
            verdict, count, origin = each.text("verdict"), each.number("count"), each.text("origin")
            self._summed[verdict if verdict in VERDICTS else ""] += count
            self._visit(origin)
            if verdict == _OFF:  # its requests have no lines
                word = _word(verdict, "", None)
                self._count("groups", (verdict, word, origin, ""), count)
                self._count("words", (verdict, word), count)

    def _end(self, event: Fields) -> None:
        self.end = event.text("reason")
        counts = event.table("counts") or Fields(None)
        self._at_end.update({verdict: counts.number(verdict) for verdict in VERDICTS})
        for each in event.tables("unused"):
            self._count("exceptions_unused", _exception(each))

    def _visit(self, origin: str) -> None:
        if origin and len(self.sites) < MOST_SITES:
            self.sites.add(origin)

    def contradiction(self) -> str:
        """How the counts in the log contradict each other, which they do once lines are removed; or empty."""
        for verdict in VERDICTS:
            lines, summed, at_end = self._lines[verdict], self._summed[verdict], self._at_end[verdict]
            if self.end is not None and summed != at_end:
                return f"the end of the run counts {at_end:,} requests as {verdict}, its sums count {summed:,}"
            if verdict not in PLAIN and (lines < summed or (self.end is not None and lines != summed)):
                return f"the sums of the run count {summed:,} requests as {verdict}, its lines count {lines:,}"
        return ""

    def merge(self, other: Run) -> None:
        """Add the sums of *other*; its start and end are left out."""
        for name, tallies in self.tallies.items():
            tallies.update(other.tallies[name])
        self.robots.update(other.robots)
        self._lines.update(other._lines)
        self._summed.update(other._summed)
        self.sites |= other.sites


def _exception(fields: Fields) -> tuple[str, ...]:
    return (*map(fields.text, _EXCEPTION),)


def _word(verdict: str, rule: str, exception: Fields | None) -> str:
    """By whose decision a request was sent; empty if it was not sent."""
    reason = exception.text("reason") if exception else ""
    if verdict == _EXCEPTED:
        until = exception.text("until") if exception else ""
        return f"an exception until {until or 'an unknown day'}: {reason or 'without a reason'}"
    if verdict == _IGNORED and rule == DONT_OBEY:
        return f"the spider ({DONT_OBEY}): {reason or 'without a reason'}"
    return _SETTINGS.get(verdict, "")


def _refusal(event: Fields, purpose: str) -> str:
    """What reserves the page of *event* from *purpose*, and where that stands."""
    for statement in event.tables("statements"):
        if statement.text("category") == purpose and statement.flag("allows") is False:
            return f"{statement.text('text')} ({statement.text('source')})"
    return "nothing said"


def _origin(url: str) -> str:
    return str(Origin.find(url) or "")
