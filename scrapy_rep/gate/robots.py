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

# At most, measured with tracemalloc on CPython 3.11.
_OCTETS_BESIDE_BODY: Final = 3_072
_COPIES_OF_BODY_IN_OTHER_PARSERS: Final = 32


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
        """The memory that this takes at most: three times the body, the URLs that led to it, and 5 KiB.

        Another parser back-end than ours is taken for 32 times the body.
        """
        entry, parser = self.entry, self.parser
        known = len(entry.body) + len(entry.url) + sum(map(len, entry.hops)) + _OCTETS_BESIDE_BODY
        if isinstance(parser, RepRobotParser):
            return known + parser.robotstxt.octets
        return known + _COPIES_OF_BODY_IN_OTHER_PARSERS * len(entry.body)
