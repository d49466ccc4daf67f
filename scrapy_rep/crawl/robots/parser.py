"""The rule engine as a parser back-end: ``ROBOTSTXT_PARSER = "scrapy_rep.RepRobotParser"``.

It also works in Scrapy's own middleware, where it changes only how rules are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrapy.robotstxt import RobotParser

from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.protocol import GOOGLE, MAX_SIZE, Dialect, Verdict, parse, product_token
from scrapy_rep.protocol.path_pattern import octets

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self


class RepRobotParser(RobotParser):
    """Parser of a robots.txt; ``robotstxt`` is the parsed file.

    A *user_agent* is a User-Agent header or a product token. ``REP_USER_AGENTS`` overrides it.
    """

    def __init__(
        self, body: bytes, dialect: Dialect = GOOGLE, *, limit: int = MAX_SIZE, user_agents: Sequence[str] = ()
    ) -> None:
        self.robotstxt = parse(body, dialect, limit=limit)
        self._user_agents = user_agents

    @classmethod
    def from_crawler(cls, crawler: Crawler | None, robotstxt_body: bytes) -> Self:
        """Build the parser as Scrapy does; without a *crawler*, the default settings apply."""
        if crawler is None:
            return cls(robotstxt_body)
        settings = Crawl.of(crawler).settings
        return cls(robotstxt_body, settings.dialect, limit=settings.max_size, user_agents=settings.user_agents)

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        """Whether *user_agent* may request *url*."""
        return self.verdict(url, self._tokens(user_agent)).allowed

    def verdict(self, url: str | bytes, tokens: Sequence[str]) -> Verdict:
        """Return the verdict on *url* for the first of *tokens* that has a group, else for any crawler."""
        return self.robotstxt.verdict(self.addressed(tokens), url)

    def addressed(self, tokens: Sequence[str]) -> str:
        """Return the first of *tokens* that a group names, else the last token."""
        if len(tokens) == 1:
            return tokens[0]
        return next((token for token in tokens if self.robotstxt.has_group(token)), tokens[-1])

    def crawl_delay(self, user_agent: str | bytes) -> float | None:
        """Return the Crawl-delay for *user_agent* in seconds, or None."""
        return self.robotstxt.crawl_delay(self.addressed(self._tokens(user_agent)))

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The values of the Sitemap lines, in file order."""
        return self.robotstxt.sitemaps

    def _tokens(self, user_agent: str | bytes) -> Sequence[str]:
        return self._user_agents or (product_token(octets(user_agent)),)
