"""Why a robots.txt answers as it does: the user-agent lines that apply, the rules that match, the one that wins.

The verdict comes from the engine that decides; what matches, and what that outranks, from `Rules`.
"""

from __future__ import annotations

from dataclasses import dataclass

from scrapy_rep.protocol import Record, RobotsTxt, Rule, Verdict
from scrapy_rep.protocol.path_pattern import path_of
from scrapy_rep.protocol.robotstxt import seconds
from scrapy_rep.protocol.rules import Rules


@dataclass(frozen=True, slots=True)
class Match:
    """A rule that matches, and the length of its pattern."""

    rule: Rule
    length: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """A ``verdict`` and the rules that match, the strongest first, as the dialect ranks them."""

    verdict: Verdict
    matches: tuple[Match, ...]


def explain(robotstxt: RobotsTxt, token: str, url: str | bytes) -> Explanation:
    """What *robotstxt* says to the crawler called *token* about *url*: the verdict, and every rule that matches.

    *token* is a product token, not a User-Agent header.
    """
    return Explainer(robotstxt, token).explain(url)


class Explainer:
    """Explains what one robots.txt says to the crawler called ``token``.

    ``agents`` are the user-agent lines that apply, ``by_name`` says whether one names the crawler; ``rules`` are
    the rules. ``delay`` is the Crawl-delay that applies; ``extensions`` are the other records that RFC 9309 does
    not define.
    """

    def __init__(self, robotstxt: RobotsTxt, token: str) -> None:
        self.robotstxt = robotstxt
        self.token = token
        self._rules = rules = Rules(robotstxt.body, token, robotstxt.dialect)
        self.by_name = rules.by_name
        self.agents = rules.agents
        self.rules = rules.rules
        delays = [record for record in rules.delays if seconds(record.value) is not None]
        self.delay: Record | None = delays[-1] if delays else None
        self.extensions = tuple(record for record in rules.extensions if record != self.delay)

    def explain(self, url: str | bytes) -> Explanation:
        """Return the verdict on *url*, and every rule that matches it."""
        path = path_of(url, canonical_octets=self.robotstxt.dialect.canonical_octets)
        matches = tuple(Match(*found) for found in self._rules.matches(path))
        return Explanation(self.robotstxt.verdict(self.token, url), matches)
