"""Which exception applies to a request: found by the rule engine itself, among any number of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf

from scrapy_rep.protocol import Origin, Reason, RobotsTxt, Rule, parse

from .policy_exception import PolicyException


@dataclass(frozen=True, slots=True)
class _Covered:
    """The exceptions of one origin and kind; ``rules`` is a robots.txt that disallows what they cover."""

    rules: RobotsTxt
    exceptions: tuple[PolicyException, ...]

    @classmethod
    def of(cls, exceptions: list[PolicyException]) -> _Covered:
        lines = ["User-agent: *", *(f"Disallow: {exception.pattern}" for exception in exceptions)]
        # One line for each, so that the line that decides names the exception.
        return cls(parse("\n".join(lines).encode(), limit=None), tuple(exceptions))

    def find(self, url: str) -> PolicyException | None:
        verdict = self.rules.verdict("*", url)
        return self.exceptions[verdict.line - 2] if not verdict.allowed else None


class ExceptionIndex:
    """The exceptions of a crawl; among those that cover a URL the longest pattern wins, as among rules."""

    def __init__(self, exceptions: Iterable[PolicyException]) -> None:
        self._all = tuple(exceptions)
        self._covered: dict[tuple[Origin, Reason], _Covered] = {}
        self._next_end = 0.0

    def find(self, url: str, kind: Reason, rule: Rule | None, now: float) -> PolicyException | None:
        """The exception for *url*, which robots.txt forbids for *kind* (by *rule*, if that is a rule), or None.

        An exception that is for another rule does not apply. *now* is POSIX seconds. Raises ``ValueError`` for a
        URL that has no robots.txt.
        """
        exception = self.covering(url, kind, now)
        return None if exception is None or has_lapsed(exception, rule) else exception

    def covering(self, url: str, kind: Reason, now: float) -> PolicyException | None:
        """As `find`, whatever rule decides."""
        if not self._all:
            return None
        if now >= self._next_end:
            self._build(now)
        covered = self._covered.get((Origin.from_url(url), kind))
        return covered.find(url) if covered else None

    def _build(self, now: float) -> None:
        """Sort those that have not expired by origin and kind, until the next one expires."""
        current = [exception for exception in self._all if exception.ends_at > now]
        self._next_end = min((exception.ends_at for exception in current), default=inf)
        sorted_out: dict[tuple[Origin, Reason], list[PolicyException]] = {}
        for exception in current:
            for kind in exception.kinds:
                sorted_out.setdefault((exception.origin, kind), []).append(exception)
        self._covered = {key: _Covered.of(exceptions) for key, exceptions in sorted_out.items()}

    def __iter__(self) -> Iterator[PolicyException]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __repr__(self) -> str:
        return f"<ExceptionIndex {len(self)} exceptions>"


def has_lapsed(exception: PolicyException, rule: Rule | None) -> bool:
    """Whether *exception* was made for another rule than the one that decides now."""
    return exception.rule is not None and (rule is None or str(rule) != exception.rule)
