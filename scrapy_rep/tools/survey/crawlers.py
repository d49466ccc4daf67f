"""The crawlers that a survey asks every robots.txt about, and how a file treats them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

from scrapy_rep.protocol import Kind, Record, RobotsTxt
from scrapy_rep.tools.crawlers import AI_CRAWLERS, crawler_of

SHUT_OUT, RESTRICTED, WELCOME, AS_ALL = "shut out", "restricted", "welcome", "shut out as all"
"""How a site treats a crawler: it disallows ``/`` to its name, disallows something else to its name,
disallows nothing to its name, or disallows ``/`` to every crawler that it does not name."""


class Treatment(TypedDict):
    """How a file treats a crawler that it names.

    ``line`` is that of the rule that decides about ``/``, or of the user-agent line when no rule does.
    """

    treatment: str
    line: int


class Treatments:
    """How *robotstxt*, whose records are *records*, treats crawlers. It is asked once about each."""

    def __init__(self, robotstxt: RobotsTxt, records: Iterable[Record]) -> None:
        self._robotstxt = robotstxt
        self._agents = [record for record in records if record.kind is Kind.USER_AGENT]
        self._found: dict[str, Treatment] = {}
        self._of_others: Treatment | None = None

    def of_named(self) -> dict[str, Treatment]:
        """How the file treats each well-known crawler that it names, by its product token."""
        lines: dict[str, int] = {}
        for agent in self._agents:
            crawler = crawler_of(agent.text)
            if crawler is not None:
                lines.setdefault(crawler.token, agent.line)
        found = {token: self._treatment(token) for token in lines}
        return {token: {**how, "line": how["line"] or lines[token]} for token, how in found.items()}

    def of_ai_crawlers(self) -> dict[str, str]:
        """How the file treats those of `AI_CRAWLERS` that it names or shuts out."""
        found = {name: self.of(name) for name in AI_CRAWLERS}
        return {name: how for name, how in found.items() if how}

    def of(self, name: str) -> str:
        """How the file treats the crawler called *name*; empty when it neither names it nor shuts it out."""
        return self._treatment(name)["treatment"]

    def _treatment(self, name: str) -> Treatment:
        """How the file treats the crawler called *name*, with line 0 when no rule decides about ``/``."""
        if name not in self._found:
            self._found[name] = self._by_name(name) if self._robotstxt.has_group(name) else self._as_others(name)
        return self._found[name]

    def _by_name(self, name: str) -> Treatment:
        verdict = self._robotstxt.verdict(name, "/")
        if not verdict.allowed:
            how = SHUT_OUT
        else:
            rules = self._robotstxt.rules(name)
            how = RESTRICTED if any(not rule.allow and rule.value for rule in rules) else WELCOME
        return {"treatment": how, "line": verdict.line or 0}

    def _as_others(self, name: str) -> Treatment:
        """As every crawler that is not named."""
        if self._of_others is None:
            verdict = self._robotstxt.verdict(name, "/")
            self._of_others = {"treatment": "" if verdict.allowed else AS_ALL, "line": verdict.line or 0}
        return self._of_others
