"""One robots.txt, from a file or from its origin, asked on behalf of one crawler.

Knows nothing of how an answer is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from scrapy_rep.protocol import Access, Explainer, Explanation, RobotsTxt, Verdict

if TYPE_CHECKING:
    from .fetching import Fetched


class Subject:
    """What is asked: ``robotstxt``, by the crawler called ``token``; ``fetched``, or read from ``file``.

    ``is_html`` says that the file is a page.
    """

    def __init__(
        self,
        robotstxt: RobotsTxt,
        tokens: Sequence[str],
        *,
        file: str = "",
        is_html: bool = False,
        fetched: Fetched | None = None,
    ) -> None:
        """The first of *tokens* that has a group asks, else the last."""
        self.robotstxt = robotstxt
        self.token = next(filter(robotstxt.has_group, tokens), tokens[-1])
        self.file = file
        self.is_html = is_html
        self.fetched = fetched

    @classmethod
    def of(cls, fetched: Fetched, tokens: Sequence[str]) -> Subject:
        """The subject that has come from its origin."""
        return cls(fetched.robotstxt, tokens, fetched=fetched)

    @property
    def has_rules(self) -> bool:
        """Whether the rules are those of a body, not those that a missing or unreachable one stands for."""
        return self.fetched is None or self.fetched.robots.access is Access.SUCCESSFUL

    @property
    def problem(self) -> str:
        """Why nobody can say what holds; empty when it is known."""
        fetched = self.fetched
        if fetched is None or fetched.robots.access is not Access.UNREACHABLE:
            return ""
        return f"{fetched.origin} is unreachable: {fetched.problem}"

    @cached_property
    def explainer(self) -> Explainer:
        """What it says to the crawler, with reasons."""
        return Explainer(self.robotstxt, self.token)

    def verdict(self, url: str) -> Verdict:
        """Whether the crawler may request *url*."""
        if self.fetched is None:
            return self.robotstxt.verdict(self.token, url)
        return self.fetched.robots.verdict((self.token,), url)

    def explain(self, url: str) -> Explanation:
        """The verdict on *url*, and every rule that matches it."""
        if self.has_rules:
            return self.explainer.explain(url)
        return Explanation(self.verdict(url), ())
