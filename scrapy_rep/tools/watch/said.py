"""What an old and a new robots.txt say to each of many crawlers, which are asked about together where they can be.

Each reads them by its profile: Googlebot-Image follows the group of Googlebot where it has none of its own.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field

from scrapy_rep.directives.robots_signals import RobotsSignals
from scrapy_rep.protocol import RobotsTxt, Rule, Verdict
from scrapy_rep.tools.answers import uses
from scrapy_rep.tools.difference import even_sample, paths_of, patterns_in
from scrapy_rep.tools.profiles import reading


def alike(agents: Iterable[str], old: RobotsTxt, new: RobotsTxt) -> list[Crawlers]:
    """The crawlers called *agents*, those to which both files say the same together."""
    files = _File(old), _File(new)
    found: dict[tuple[CrawlerInstructions, CrawlerInstructions], list[str]] = {}
    for agent in agents:
        before, after = (file.said_to(agent) for file in files)
        found.setdefault((before, after), []).append(agent)
    return [Crawlers(names, *said) for said, names in found.items()]


@dataclass(frozen=True, slots=True)
class CrawlerInstructions:
    """What ``robotstxt`` says to a crawler, asked by ``token``; equal for crawlers to which it says the same."""

    robotstxt: RobotsTxt = field(compare=False)
    token: str = field(compare=False)
    lines: bytes
    """The lines of the rules, 4 octets each: the rules themselves would take a hundred times as much."""
    crawl_delay: float | None
    uses: tuple[tuple[str, str], ...]
    """Each use by AI with the answer about ``/``."""

    def rules(self) -> tuple[Rule, ...]:
        """The rules for the crawler."""
        return self.robotstxt.rules(self.token)

    def verdict(self, path: str) -> Verdict:
        """Whether the crawler may fetch *path*."""
        return self.robotstxt.verdict(self.token, path)


class _File:
    """A robots.txt that is read once for all crawlers that it does not name."""

    def __init__(self, robotstxt: RobotsTxt) -> None:
        self._robotstxt = robotstxt
        self._said: dict[tuple[bool, str, float | None], CrawlerInstructions] = {}

    def said_to(self, agent: str) -> CrawlerInstructions:
        heard = reading(self._robotstxt, agent)
        file, delay = heard.robotstxt, heard.crawl_delay
        token = heard.token if file.has_group(heard.token) else "*"
        key = file is self._robotstxt, token, delay
        if key not in self._said:
            answers = uses(RobotsSignals.of(file, token).statements("/"))
            lines = array("I", (rule.line for rule in file.rules(token))).tobytes()
            self._said[key] = CrawlerInstructions(file, token, lines, delay, (*answers.items(),))
        return self._said[key]


@dataclass(frozen=True, slots=True)
class Crawlers:
    """Crawlers called ``names``, and what the ``old`` and the ``new`` file say to each of them."""

    names: list[str]
    old: CrawlerInstructions
    new: CrawlerInstructions

    def sample_paths(self, samples: int) -> list[str]:
        """Paths on which the verdicts may differ: ``/``, and those made of the rules that only one file has.

        *samples* is for how many crawlers there are such paths.
        """
        old, new, dialect = self.old.rules(), self.new.rules(), self.new.robotstxt.dialect
        rules, same = (*old, *new), {_meaning(rule) for rule in old} & {_meaning(rule) for rule in new}
        if not dialect.is_googles:
            same = set()  # there the order of the rules may decide, or the group that they are in
        changed = patterns_in((rule for rule in rules if _meaning(rule) not in same), dialect)
        octets = len(self.old.robotstxt.body) + len(self.new.robotstxt.body)
        return even_sample(dict.fromkeys(["/", *paths_of(changed)]), patterns_in(rules, dialect), octets, samples)


def _meaning(rule: Rule) -> tuple[bool, bytes]:
    return rule.allow, rule.value
