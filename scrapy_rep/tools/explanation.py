"""Why a robots.txt answers as it does: the user-agent lines that apply, the rules that match, the one that wins.

The verdict comes from the engine, and its patterns do the matching.
"""

from __future__ import annotations

from dataclasses import dataclass

from scrapy_rep.protocol import Kind, Record, RobotsTxt, Rule, Verdict
from scrapy_rep.protocol.other_records import seconds
from scrapy_rep.protocol.path_pattern import Pattern, path_of
from scrapy_rep.protocol.verdict import RulePaths


@dataclass(frozen=True, slots=True)
class Match:
    """A rule that matches, and the length that ranks it. At equal length allow wins, then the first line."""

    rule: Rule
    length: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """A ``verdict`` and the rules that match, the strongest first."""

    verdict: Verdict
    matches: tuple[Match, ...]


class Explainer:
    """Explains what one robots.txt says to the crawler called ``token``.

    ``agents`` are the user-agent lines that apply, ``by_name`` or because they are for all; ``rules`` are the
    rules. ``delay`` is the Crawl-delay that applies; ``extensions`` are the other records that RFC 9309 does not
    define.
    """

    def __init__(self, robotstxt: RobotsTxt, token: str) -> None:
        self.robotstxt = robotstxt
        self.token = token
        self.by_name = robotstxt.has_group(token)
        self.agents = robotstxt.agents_for(token)
        self.rules = robotstxt.rules(token)
        records = robotstxt.extensions_for(token)
        delays = [each for each in records if each.kind is Kind.CRAWL_DELAY and seconds(each.value) is not None]
        self.delay: Record | None = delays[-1] if delays else None
        self.extensions = tuple(each for each in records if each is not self.delay)
        self._canonical_octets = robotstxt.dialect.canonical_octets
        self._patterns = [(rule, self._patterns_of(rule)) for rule in self.rules]

    def explain(self, url: str | bytes) -> Explanation:
        """Return the verdict on *url*, and every rule that matches it."""
        path = path_of(url, canonical_octets=self._canonical_octets)
        matches = []
        for rule, patterns in self._patterns:
            length = next((each.specificity for each in patterns if each.matches(path)), None)
            if length is not None:
                matches.append(Match(rule, length))
        matches.sort(key=lambda match: (-match.length, not match.rule.allow))
        return Explanation(self.robotstxt.verdict(self.token, url), tuple(matches))

    def _patterns_of(self, rule: Rule) -> list[Pattern]:
        """The pattern of *rule*, followed by that of its folder if the rule allows an index page."""
        folders = RulePaths.of([rule.value], []).folders_of_index_pages() if rule.allow else []
        spellings = [rule.value, *(folder for folder, _ in folders)]
        return [Pattern.of(spelling, canonical_octets=self._canonical_octets) for spelling in spellings]
