"""What a robots.txt says to a crawler that reads it as its owner documents: by its profile.

The engine is literal: asked by a token, it takes the groups that name the token, or else those for ``*``
(RFC 9309 section 2.2.1). Some crawlers do otherwise. Googlebot-Image follows the group of Googlebot where it has
none of its own, AdsBot-Google ignores groups for ``*``. The profile of a crawler, a `Crawler` of
`scrapy_rep.tools.crawlers`, says so, and with it by which token the engine is asked.

What a line names, and what counts beside it, is up to the dialect, in any of them. So in a dialect in which
groups for ``*`` count for crawlers that are named, they count for those that ignore them elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from scrapy_rep.protocol import Record, RobotsTxt, Verdict
from scrapy_rep.protocol.display import shown
from scrapy_rep.protocol.product_token import agent_matcher, token_in
from scrapy_rep.protocol.records import as_text

from .crawlers import Crawler, Follows, crawler_of

__all__ = ["Reading", "reading"]

OWN, FALLBACK, STAR, NONE = "own", "fallback", "*", "none"
GROUPS: Final = (OWN, FALLBACK, STAR, NONE)
"""The group that a crawler follows: its own, that of another token, that for ``*``, or none."""

DISOBEYS: Final = {Follows.NOTHING: "does not follow", Follows.PARTLY: "does not always follow"}
"""What is said of crawlers that do not do what robots.txt says."""


def token_for(agent: str, is_named: Callable[[str], bool]) -> str | None:
    """The token by which the crawler *agent* reads a file in which a group names those that are *is_named*.

    Its own, or that of another crawler whose group it follows where none names it; its own again where only
    groups for ``*`` are left, and None where those do not count either.
    """
    crawler = None if is_named(agent) else special(agent)
    return next(filter(is_named, crawler.fallbacks), None if crawler.ignores_star else agent) if crawler else agent


@lru_cache(maxsize=1_024)
def special(agent: str) -> Crawler | None:
    """The profile of the crawler *agent* if groups count otherwise for it than RFC 9309 says; else None."""
    crawler = crawler_of(agent)
    return crawler if crawler and (crawler.fallbacks or crawler.ignores_star) else None


def reading(robotstxt: RobotsTxt, agent: str) -> Reading:
    """How the crawler *agent*, a product token, reads *robotstxt*; one without a profile is asked literally."""
    token = token_for(agent, robotstxt.has_group)
    if token is None:
        return Reading(agent, crawler_of(agent), RobotsTxt(b"", robotstxt.dialect), agent)
    return Reading(agent, crawler_of(agent), robotstxt, token)


@dataclass(frozen=True)
class Reading:
    """A robots.txt as the crawler ``agent`` reads it; ``crawler`` is its profile, None for one that is not known.

    ``robotstxt`` answers, asked by ``token``: the file, or an empty one where none of its groups counts.
    """

    agent: str
    crawler: Crawler | None
    robotstxt: RobotsTxt
    token: str

    @property
    def ignores_star(self) -> bool:
        """Whether groups for ``*`` do not count for the crawler."""
        return self.crawler is not None and self.crawler.ignores_star

    def verdict(self, url: str | bytes) -> Verdict:
        """Whether the crawler may request *url*."""
        return self.robotstxt.verdict(self.token, url)

    @property
    def crawl_delay(self) -> float | None:
        """Seconds between two requests; None without a Crawl-delay, and for a crawler that does not read it."""
        is_unread = self.crawler is not None and self.crawler.reads_crawl_delay is False
        return None if is_unread else self.robotstxt.crawl_delay(self.token)

    @cached_property
    def group(self) -> str:
        """Which group counts, one of `GROUPS`."""
        if self.robotstxt.has_group(self.token):
            return OWN if self.token == self.agent else FALLBACK
        return STAR if self._agents else NONE

    @property
    def line(self) -> int:
        """The line of the first user-agent line that counts; 0 without one."""
        return self._agents[0].line if self._agents else 0

    @property
    def sentence(self) -> str:
        """What the group is, where it is not the one for ``*``, and what else the profile says; may be empty.

        Nothing is said of a crawler that is not known.
        """
        named = [f"is named, line {self.line}"] if self.crawler and self.group == OWN else []
        return self._sentence([*named, *self._predicates()])

    @property
    def note(self) -> str:
        """The `sentence` without what the file itself says: that a group names the crawler."""
        return self._sentence([*self._predicates()])

    def _sentence(self, predicates: list[str]) -> str:
        return f"{shown(self.agent)} {'; it '.join(predicates)}" if predicates else ""

    def _predicates(self) -> Iterator[str]:
        """What the profile says beyond the literal reading."""
        crawler = self.crawler
        if crawler is None:
            return
        if self.group == FALLBACK:
            written = as_text(token_in(self._agents[0].value, wide=True))
            yield f"follows the group of {shown(written) or self.token}, line {self.line}"
        elif self.group == NONE and self.ignores_star:
            yield "ignores groups for *"
        if crawler.follows in DISOBEYS:
            yield f"{DISOBEYS[crawler.follows]} robots.txt"
        if crawler.reads_crawl_delay is False and self.robotstxt.crawl_delay(self.token) is not None:
            yield "does not read Crawl-delay"
        if crawler.until:
            yield f"was retired in {crawler.until}" + f" and replaced by {crawler.instead}" * bool(crawler.instead)

    @cached_property
    def _agents(self) -> tuple[Record, ...]:
        """The user-agent lines that count: those that name the token first."""
        is_named_by = agent_matcher(self.token, self.robotstxt.dialect)
        return tuple(sorted(self.robotstxt.agents_for(self.token), key=lambda agent: not is_named_by(agent.value)))
