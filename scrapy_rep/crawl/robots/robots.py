"""`Robots`: the robots.txt of an origin as a crawl applies it, and its verdict on a request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from scrapy.exceptions import IgnoreRequest

from scrapy_rep.crawl.robots.parser import RepRobotParser
from scrapy_rep.exceptions import FetchError
from scrapy_rep.protocol import Access, Reason, RobotsTxt, Verdict, parse
from scrapy_rep.protocol.freshness import CLOCK_SKEW, Entry

if TYPE_CHECKING:
    from scrapy.robotstxt import RobotParser

# Measured with tracemalloc on CPython 3.11.
OCTETS_BESIDE_BODY: Final = 3_072
_COPIES_OF_BODY_IN_OTHER_PARSERS: Final = 32

REFUSALS: Final = frozenset({401, 402, 403})
"""Statuses with which a server refuses a robots.txt. They mean "unavailable": everything is allowed."""


@dataclass(slots=True, eq=False)
class Robots:
    """The robots.txt of an origin as this crawl applies it, until ``until`` (POSIX seconds).

    ``parser`` answers for ``entry``. ``access`` is the access that applies now; it differs from ``entry.access``
    when the origin is unreachable and its copy is too old to stand in. ``error`` says why the origin is
    unreachable; otherwise it is None.
    """

    entry: Entry
    access: Access
    until: float
    parser: RobotParser
    error: Exception | None = None
    source: str = "fetched"
    """Where the entry comes from: ``fetched``, ``revalidated`` or ``store``."""
    kept_octets: int = 0
    """Bytes of memory that extras use for this robots.txt; see `Origins.resize`."""
    is_replayed: bool = False
    """Whether Scrapy's HTTP cache answered: the file then judges only pages from that cache."""
    refused_by: str | None = None
    """The proxy that refused to fetch it, as `proxy_of` names it: this applies only to requests through it."""
    refused: frozenset[Any] | None = None
    """Headers and meta keys of the clients that the server refused; a client with more asks again."""
    may_request_delays: bool = field(init=False, repr=False)
    """False if the file requests no delay of any crawler: requests then skip the search for a delay."""
    not_before: float = field(init=False, repr=False)
    _robotstxt: RobotsTxt | None = field(init=False, repr=False, default=None)
    stamps: dict[Any, dict[str, Any]] = field(init=False, repr=False, default_factory=dict)
    """Stamps that `policy.meta` has written for this robots.txt, for requests to copy."""

    def __post_init__(self) -> None:
        # Every spelling of Crawl-delay that the parser reads has this word. `in` would first try it as a number.
        has_key = self.entry.body.lower().find(b"delay") >= 0
        self.may_request_delays = has_key or not isinstance(self.parser, RepRobotParser)
        self.not_before = self.entry.dated_at - CLOCK_SKEW

    def is_current(self, now: float) -> bool:
        """Whether this applies at *now* (POSIX seconds); also False if the clock was set back since the fetch."""
        return self.not_before <= now < self.until

    @property
    def connection_error(self) -> Exception | None:
        """The connection error that made the origin unreachable, or None."""
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

    def addressed(self, tokens: Sequence[str]) -> str:
        """Return the product token, out of *tokens*, whose group decides."""
        if len(tokens) == 1 or not isinstance(self.parser, RepRobotParser):
            return tokens[0] or "*"
        return self.parser.addressed(tokens)

    def verdict(self, tokens: Sequence[str], url: str) -> Verdict:
        """Return the verdict on *url* for a crawler with the product *tokens*, the most specific first.

        With a parser back-end other than `RepRobotParser`, the verdict names no rule.
        """
        return self.verdict_for(self.addressed(tokens), url)

    def verdict_for(self, agent: str, url: str) -> Verdict:
        """As `verdict`, for the product token from `addressed`."""
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
        """Approximate memory in bytes: the body, its parsed form, the URLs that led to it, and 3 KiB.

        A parser back-end other than ours is estimated at 32 times the body.
        """
        entry, parser = self.entry, self.parser
        known = len(entry.url) + sum(map(len, entry.hops)) + OCTETS_BESIDE_BODY + self.kept_octets
        if not isinstance(parser, RepRobotParser):
            return known + (1 + _COPIES_OF_BODY_IN_OTHER_PARSERS) * len(entry.body)
        parsed = parser.robotstxt
        return known + parsed.octets + (0 if parsed.body is entry.body else len(entry.body))
