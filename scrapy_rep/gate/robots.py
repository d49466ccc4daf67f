"""The robots.txt of one origin, alive in one crawl: its entry and the parser back-end that answers for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scrapy_rep.crawl.robot_parser import RepRobotParser
from scrapy_rep.protocol import Access, Reason, Verdict
from scrapy_rep.protocol.freshness import Entry

if TYPE_CHECKING:
    from scrapy.robotstxt import RobotParser

ALLOW_ALL: Final = b""
DISALLOW_ALL: Final = b"User-agent: *\nDisallow: /\n"

# At the most, measured with tracemalloc on CPython 3.11 and bodies made to be dear.
_OCTETS_EMPTY: Final = 4_096
_COPIES_OF_BODY: Final = 3  # the rules in one piece, one by one, and some of them respelt
_OCTETS_PER_RULE: Final = 150
_OCTETS_PER_SIGN: Final = 250  # of a pattern
_OCTETS_PER_INDEX_PAGE: Final = 300


@dataclass(frozen=True, slots=True)
class Robots:
    """An entry alive: what it means from now until ``until``, POSIX seconds, and its parser back-end.

    ``access`` is what holds, which is not that of the entry when an unreachable origin has a copy that is
    too old; ``error`` is why the origin is unreachable, or None.
    """

    entry: Entry
    access: Access
    until: float
    parser: RobotParser
    error: Exception | None = None

    def holds(self, now: float) -> bool:
        """Whether this may still be used; not when the clock, in POSIX seconds, was put back since."""
        return now < self.until and not self.entry.is_ahead(now)

    @property
    def is_stale(self) -> bool:
        """Whether a copy stands in for an origin that is unreachable."""
        return self.entry.failures > 0 and self.access is not Access.UNREACHABLE

    def verdict(self, tokens: Sequence[str], url: str) -> Verdict:
        """Whether the crawler called by one of *tokens* may request *url*.

        From a parser back-end other than ours a verdict comes without its rule.
        """
        verdict = self._ask(tokens, url)
        if self.access is Access.SUCCESSFUL or verdict.reason is Reason.ROBOTS_TXT:
            return verdict
        return Verdict(verdict.allowed, None, Reason(self.access.value))

    def _ask(self, tokens: Sequence[str], url: str) -> Verdict:
        if isinstance(self.parser, RepRobotParser):
            return self.parser.verdict(url, tokens)
        allowed = self.parser.allowed(url, tokens[0] or "*")
        return Verdict(allowed, None, Reason.NO_RULE if allowed else Reason.RULE)

    @property
    def octets(self) -> int:
        """What this takes in memory at the most, once asked: whatever looks like a rule may be one."""
        body = self.entry.body.lower()
        return (
            _OCTETS_EMPTY
            + _COPIES_OF_BODY * len(body)
            + _OCTETS_PER_RULE * (body.count(b"low") + body.count(b"law"))
            + _OCTETS_PER_SIGN * (body.count(b"*") + body.count(b"%"))
            + _OCTETS_PER_INDEX_PAGE * body.count(b"/index.htm")
        )
