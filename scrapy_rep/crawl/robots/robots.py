"""`Robots`: the robots.txt of one origin as a crawl applies it, and what it says about a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, Final

from scrapy.exceptions import IgnoreRequest

from scrapy_rep.crawl.policy.meta import BLANK, stamp_of
from scrapy_rep.crawl.policy.policy import Decision, Mode, Outcome
from scrapy_rep.crawl.robots.parser import RepRobotParser
from scrapy_rep.directives.robots_signals import NO_SIGNALS, RobotsSignals
from scrapy_rep.exceptions import FetchError
from scrapy_rep.protocol import Access, Reason, RobotsTxt, Verdict, parse
from scrapy_rep.protocol.display import iso_time
from scrapy_rep.protocol.freshness import CLOCK_SKEW, Entry

if TYPE_CHECKING:
    from scrapy.robotstxt import RobotParser


# Measured with tracemalloc on CPython 3.11.
_OCTETS_BESIDE_BODY: Final = 3_072
_COPIES_OF_BODY_IN_OTHER_PARSERS: Final = 32
_COPIES_OF_FILE: Final = 32

_MAX_TOKENS: Final = 16  # for which signals are kept
_MAX_STAMPS: Final = 8
"""Stamps of allowed requests that are kept for one robots.txt: few of its rules allow anything."""


class KeptFile:
    """Another file, in ``entry``, shared by all who name it: ``said`` is what it says, if it ``is_read`` now."""

    __slots__ = ("__weakref__", "entry", "is_read", "said")

    def __init__(self, entry: Entry, said: Any) -> None:
        self.entry = entry
        self.said = said
        self.is_read = False

    @property
    def until(self) -> float:
        """The time in POSIX seconds until which it counts: of a license its ``max-age`` after it was confirmed."""
        return self.entry.fetched_at + float(getattr(self.said, "max_age", inf))


@dataclass(slots=True, eq=False)
class Robots:
    """The robots.txt of one origin as this crawl applies it, until ``until`` (POSIX seconds).

    ``parser`` answers for ``entry``. ``access`` is the access that applies now; it differs from ``entry.access``
    when the origin is unreachable and its copy is too old to stand in. ``error`` says why an origin is
    unreachable, else it is None.
    """

    entry: Entry
    access: Access
    until: float
    parser: RobotParser
    error: Exception | None = None
    source: str = "fetched"
    """Where the entry comes from: ``fetched``, ``revalidated`` or ``store``."""
    files: Mapping[str, KeptFile] = field(default_factory=dict)
    """Other files, those of the origin by path, and the licenses that it names by URL."""
    files_until: float = 0.0
    """The time in POSIX seconds until which these are all that the purposes of the crawl need."""
    known_signals: dict[str, RobotsSignals] = field(default_factory=dict)
    """What the body says about the use of pages by AI, by the token of who asked; all with the body share it."""
    is_replayed: bool = False
    """Whether Scrapy's HTTP cache answered: then it judges pages from that cache, and no others."""
    refused_by: str | None = None
    """The proxy that refused to fetch it, as `proxy_of` names it: this is for requests through that one alone."""
    may_request_delays: bool = field(init=False, repr=False)
    """False if the file requests no delay of any crawler: then no request has to look for one."""
    _not_before: float = field(init=False, repr=False)
    _stamp: Mapping[str, Any] | None = field(init=False, repr=False, default=None)
    _robotstxt: RobotsTxt | None = field(init=False, repr=False, default=None)
    _allowing: dict[tuple[str, Verdict], dict[str, Any]] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        has_key = b"delay" in self.entry.body.lower()  # as every spelling of Crawl-delay that the parser reads
        self.may_request_delays = has_key or not isinstance(self.parser, RepRobotParser)
        self._not_before = self.entry.dated_at - CLOCK_SKEW

    def is_current(self, now: float) -> bool:
        """Whether this applies at *now* (POSIX seconds); False also if the clock was put back since then."""
        return self._not_before <= now < self.until

    @property
    def connection_error(self) -> Exception | None:
        """The exception of the connection, if that is why the origin is unreachable."""
        is_other = not self.entry.failures or isinstance(self.error, FetchError | IgnoreRequest)
        return None if is_other else self.error

    @property
    def is_stale(self) -> bool:
        """Whether an expired copy is served because the origin is unreachable."""
        return self.entry.failures > 0 and self.access is not Access.UNREACHABLE

    @property
    def robotstxt(self) -> RobotsTxt:
        """The parsed file, with any parser back-end."""
        if isinstance(self.parser, RepRobotParser):
            return self.parser.robotstxt
        if self._robotstxt is None:
            self._robotstxt = parse(self.entry.body, limit=None)
        return self._robotstxt

    def signals(self, token: str) -> RobotsSignals:
        """What the file says to *token* about the use of pages by AI, kept for the next question."""
        if self.access is not Access.SUCCESSFUL:
            return NO_SIGNALS
        found = self.known_signals.get(token)
        if found is None:
            if len(self.known_signals) >= _MAX_TOKENS:
                self.known_signals.clear()
            found = self.known_signals[token] = RobotsSignals.of(self.robotstxt, token)
        return found

    def said_in(self, name: str) -> Any:
        """What the file at a path, or the license at a URL, says; None if it could not be read."""
        kept = self.files.get(name)
        return kept.said if kept is not None and kept.is_read else None

    @property
    def stamp(self) -> Mapping[str, Any]:
        """The stamp of a request as far as it tells of this robots.txt."""
        if self._stamp is None:
            entry, has_body = self.entry, self.entry.access is Access.SUCCESSFUL
            stamp = {
                **BLANK, "origin": str(entry.origin), "robots": entry.url, "status": entry.status,
                "sha256": entry.sha256 if has_body else None,
                "fetched": iso_time(entry.fetched_at) if entry.has_answered else None,
                "source": "stale" if self.is_stale else self.source,
            }  # fmt: skip
            self._stamp = stamp
        return self._stamp

    def allowing_stamp(self, tokens: Sequence[str], url: str) -> dict[str, Any] | None:
        """The stamp of a request for *url* that the rules allow, to be copied; None if they forbid it."""
        agent = self.addressed(tokens)
        verdict = self._verdict(agent, url)
        if not verdict.allowed:
            return None
        known = self._allowing
        stamp = known.get((agent, verdict))
        if stamp is None:
            if len(known) >= _MAX_STAMPS:
                known.clear()
            decision = Decision(Mode.OBEY, Outcome.ALLOWED, verdict, line=verdict.line)
            stamp = known[agent, verdict] = stamp_of(decision, self.stamp, agent)
        return stamp

    def addressed(self, tokens: Sequence[str]) -> str:
        """The one of the product *tokens* whose group decides."""
        if len(tokens) == 1 or not isinstance(self.parser, RepRobotParser):
            return tokens[0] or "*"
        return self.parser.addressed(tokens)

    def verdict(self, tokens: Sequence[str], url: str) -> Verdict:
        """Whether a crawler with the product *tokens*, the most specific first, may request *url*.

        With a parser back-end other than `RepRobotParser` the verdict names no rule.
        """
        return self._verdict(self.addressed(tokens), url)

    def _verdict(self, agent: str, url: str) -> Verdict:
        parser = self.parser
        if isinstance(parser, RepRobotParser):
            verdict = parser.robotstxt.verdict(agent, url)
        else:
            allowed = parser.allowed(url, agent)
            verdict = Verdict(allowed, None, Reason.NO_RULE if allowed else Reason.RULE)
        if self.access is Access.SUCCESSFUL or verdict.reason is Reason.ROBOTS_TXT:
            return verdict
        return Verdict(verdict.allowed, None, Reason(self.access.value))

    @property
    def octets(self) -> int:
        """About the memory that this takes: the body and what is read from it, the URLs that led to it, and 3 KiB.

        Another parser back-end than ours is taken for 32 times the body.
        """
        entry, parser = self.entry, self.parser
        known = len(entry.url) + sum(map(len, entry.hops)) + _OCTETS_BESIDE_BODY
        known += sum(one.octets for one in self.known_signals.values())
        for one in self.files.values():
            known += _COPIES_OF_FILE * len(one.entry.body) + _OCTETS_BESIDE_BODY
        if not isinstance(parser, RepRobotParser):
            return known + (1 + _COPIES_OF_BODY_IN_OTHER_PARSERS) * len(entry.body)
        parsed = parser.robotstxt
        return known + parsed.octets + (0 if parsed.body is entry.body else len(entry.body))
