"""The sums of one run of a spider, or of several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

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
MOST_SITES: Final = 20_000
_MOST_ANSWERS: Final = 200_000  # robots.txt files of a run that are told apart


class Group(NamedTuple):
    """What requests have in common: the verdict, who decided to send them, the site, the rule or reason."""

    verdict: str
    word: str
    origin: str
    rule: str


class Exempted(NamedTuple):
    """An exception as a log names it."""

    url: str
    reason: str
    until: str

    @classmethod
    def of(cls, fields: Fields) -> Exempted:
        """The exception that *fields* describe."""
        return cls(fields.text("url"), fields.text("reason"), fields.text("until"))


class Note(NamedTuple):
    """What pages of a site say, or what was dropped there; and why, which may be empty."""

    what: str
    origin: str
    why: str


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
    agents: tuple[str, ...] = ()
    user_agent: str = ""
    modes: tuple[tuple[str, str], ...] = ()
    exceptions: int = 0
    dialect: str = ""

    @classmethod
    def of(cls, line: int, fields: Fields) -> Start:
        """The start that *fields* describe."""
        names = ("run", "project", "spider", "scrapy_rep", "scrapy", "mode", "user_agent", "dialect")
        return cls(
            line=line, time=fields.time("time"), agents=tuple(fields.texts("agents")),
            modes=tuple(fields.pairs("modes").items()), exceptions=len(fields.tables("exceptions")),
            **{name: fields.text(name) for name in names},
        )  # fmt: skip


class Run:
    """The sums of one run; ``end`` is the reason for which the spider closed, None if its end is not recorded.

    ``groups`` are the requests that were not simply allowed, ``words`` the same by verdict and word, ``stale``
    those that an expired copy decided, by site. ``exceptions`` were used, ``unused`` ones were not. ``robots``
    counts robots.txt files by access, those that are ``unreachable`` by site and error. ``backoffs`` counts how
    often each download slot slowed down, with the first reasons as examples. ``directives`` counts pages by what
    they say about themselves, ``reserved`` those that are reserved from a purpose by that purpose, ``dropped`` the
    links and items that were dropped.
    """

    def __init__(self, start: Start) -> None:
        self.start = start
        self.last_time = start.time
        self.end: str | None = None
        self.groups: Tallies[Group] = Tallies()
        self.words: Tallies[tuple[str, str]] = Tallies()
        self.exceptions: Tallies[Exempted] = Tallies()
        self.unused: Tallies[Exempted] = Tallies()
        self.stale: Tallies[str] = Tallies()
        self.robots: Counter[str] = Counter()
        self.unreachable: Tallies[tuple[str, str]] = Tallies()
        self.backoffs: Tallies[str] = Tallies()
        self.directives: Tallies[Note] = Tallies()
        self.reserved: Tallies[Note] = Tallies()
        self.dropped: Tallies[Note] = Tallies()
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

    def add(self, kind: str, event: Fields) -> None:
        """Add an event of the *kind* that its field ``event`` names; one of a later version is left out."""
        self.last_time = max(event.time("time"), self.last_time)
        if kind == "decision":
            self._decision(event)
        elif kind == "robots":
            self._robots(event)
        elif kind == "backoff":
            self.backoffs.add(event.text("slot"), 1, event.text("why"))
        elif kind == "page":
            self._page(event)
        elif kind == "ai":
            self._ai(event)
        elif kind == "sums":
            self._sums(event)
        elif kind == "end":
            self._end(event)

    def _decision(self, event: Fields) -> None:
        verdict, url = event.text("verdict"), event.text("url")
        self._lines[verdict if verdict in VERDICTS else ""] += 1
        origin = event.text("origin") or _origin(url)
        self._visit(origin)
        exception = event.table("exception")
        if event.text("source") == "stale":
            self.stale.add(origin, 1, url)
        if verdict == _EXCEPTED and exception:
            self.exceptions.add(Exempted.of(exception), 1)
        if verdict not in PLAIN:
            rule = event.text("rule") or event.text("reason")
            word = _word(verdict, rule, exception)
            self.groups.add(Group(verdict, word, origin, "" if rule == DONT_OBEY else rule), 1, url)
            self.words.add((verdict, word), 1)

    def _robots(self, event: Fields) -> None:
        access, origin = event.text("access"), event.text("origin")
        if len(self._answers) < _MOST_ANSWERS:
            self._answers.add(hash((origin, event.text("sha256"))))
        self.robots[access if access in _ACCESSES else ""] += 1
        if access == Access.UNREACHABLE.value:
            self.unreachable.add((origin, event.text("error")), 1)

    def has_answer_for(self, decision: Fields) -> bool:
        """Whether an event before names the robots.txt that *decision* rests on; if it does, and is known."""
        answer = hash((decision.text("origin"), decision.text("sha256")))
        return answer in self._answers or not decision.text("source") or len(self._answers) == _MOST_ANSWERS

    def _page(self, event: Fields) -> None:
        url, words = event.text("url"), event.texts("directives")
        for word in _RESTRICTIONS:
            if word in words:
                self.directives.add(Note(word, _origin(url), ""), 1, url)

    def _ai(self, event: Fields) -> None:
        """Count a page that is reserved once for each purpose that it is reserved from, by what said so first."""
        url, answers = event.text("url"), event.table("answers") or Fields(None)
        purposes = dict.fromkeys(event.texts("purposes") if event.flag("reserved") else ())
        refused = [purpose for purpose in purposes if answers.text(purpose) == "no"]
        silent = [purpose for purpose in purposes if answers.text(purpose) == "unknown"]
        for purpose in refused or silent:  # silence reserves only with a setting, which the event does not name
            self.reserved.add(Note(purpose, _origin(url), _refusal(event, purpose)), 1, url)

    def _sums(self, event: Fields) -> None:
        for each in event.tables("dropped"):
            self.dropped.add(Note(*map(each.text, Note._fields)), each.number("count"))
        for each in event.tables("counts"):
            verdict, count, origin = each.text("verdict"), each.number("count"), each.text("origin")
            self._summed[verdict if verdict in VERDICTS else ""] += count
            self._visit(origin)
            if verdict == _OFF:  # its requests have no lines
                word = _word(verdict, "", None)
                self.groups.add(Group(verdict, word, origin, ""), count)
                self.words.add((verdict, word), count)

    def _end(self, event: Fields) -> None:
        self.end = event.text("reason")
        counts = event.table("counts") or Fields(None)
        self._at_end.update({verdict: counts.number(verdict) for verdict in VERDICTS})
        for each in event.tables("unused"):
            self.unused.add(Exempted.of(each), 1)

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
        for mine, theirs in ((self._lines, other._lines), (self._summed, other._summed)):
            mine.update(theirs)
        self.robots.update(other.robots)
        self.groups.merge(other.groups)
        self.words.merge(other.words)
        self.exceptions.merge(other.exceptions)
        self.stale.merge(other.stale)
        self.unreachable.merge(other.unreachable)
        self.unused.merge(other.unused)
        self.backoffs.merge(other.backoffs)
        self.directives.merge(other.directives)
        self.reserved.merge(other.reserved)
        self.dropped.merge(other.dropped)
        self.sites |= other.sites


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
