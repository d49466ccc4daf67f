"""The totals of one name in user-agent lines."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class AgentTotals:
    """One name in user-agent lines: the sites that use it, its rules, and its spellings."""

    sites: int = 0
    allow: int = 0
    disallow: int = 0
    spellings: Counter[str] = field(default_factory=Counter)

    @property
    def name(self) -> str:
        """The most frequent spelling."""
        return self.spellings.most_common(1)[0][0]

    @property
    def rules(self) -> int:
        """The number of rules."""
        return self.allow + self.disallow
