"""What a site says about a URL to one crawler: its robots.txt, its other files and, for ``--page``, the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from scrapy_rep.directives import PageDirectives
from scrapy_rep.directives.robots_signals import NO_SIGNALS, RobotsSignals
from scrapy_rep.directives.vocabulary import Purpose, Statement, as_values
from scrapy_rep.protocol import Access
from scrapy_rep.protocol.display import shown
from scrapy_rep.tools.answers import page_facts, page_lines, signal_lines
from scrapy_rep.tools.explanation import Explainer, Explanation
from scrapy_rep.tools.profiles import NONE, Reading, reading

if TYPE_CHECKING:
    from collections.abc import Collection

    from scrapy_rep.directives.refusals import Refusal
    from scrapy_rep.protocol import RobotsTxt, Verdict
    from scrapy_rep.settings import RepSettings

    from .fetching import CrawlFetcher, FetchedPage, FetchedRobots

_DISALLOWED: Final = "not requested: robots.txt disallows it"


@dataclass(frozen=True, slots=True)
class PageFindings:
    """The answer to the one request for a page: ``status`` is None if none came, and ``problem`` says why.

    ``location`` is the target of a redirect, ``directives`` are those for the crawler; they count if the page
    ``has_effect``. ``refusal`` is that of the site.
    """

    status: int | None = None
    location: str = ""
    problem: str = ""
    directives: PageDirectives = field(default_factory=PageDirectives)
    has_effect: bool = False
    refusal: Refusal | None = None

    def as_lines(self) -> Iterator[str]:
        """What came of the request."""
        if self.status is None:
            yield shown(self.problem)
            return
        yield f"HTTP status {self.status}"
        if self.location:
            yield f"redirects to {shown(self.location)}, which was not requested"
        elif self.refusal is not None:
            yield f"refused by the site ({self.refusal}): what the answer says has no effect"
        elif not self.has_effect:
            yield "an error page: what it says has no effect"

    def as_facts(self) -> dict[str, Any]:
        """The same, and the directives, as data for JSON."""
        facts = {"status": self.status, "location": self.location or None, "problem": self.problem or None}
        refused = asdict(self.refusal) if self.refusal else None
        return {**facts, "refused": refused, **page_facts(self.directives)}


@dataclass(frozen=True, slots=True)
class UrlStatements:
    """What a site, and the ``page`` if it was asked for, say about one URL to one crawler."""

    statements: Sequence[Statement] = ()
    licenses: Sequence[str] = ()
    page: PageFindings | None = None

    def as_sections(self, purposes: Collection[Purpose]) -> Iterator[tuple[str, list[str]]]:
        """The labels and lines of the explanation; *purposes* are answered even where nothing speaks of them."""
        if self.page is not None:
            yield "page", [*self.page.as_lines()]
            if self.page.status is not None:
                yield "directives", [*page_lines(self.page.directives)]
        yield "AI use", [*signal_lines(self.statements, self.licenses, purposes)]

    def as_facts(self) -> dict[str, Any]:
        """The same as data for JSON: ``ai`` is None if nothing is said, ``page`` if it was not asked for."""
        is_silent = not (self.statements or self.licenses)
        return {
            "ai": None if is_silent else as_values(self.statements, self.licenses),
            "page": self.page.as_facts() if self.page else None,
        }


NOTHING: Final = UrlStatements()
"""What is said about a URL that must not be requested."""


class CrawlerRules:
    """What ``robotstxt`` says to the crawler ``agent``, which is asked by ``token``.

    The robots.txt comes from ``fetched``, or from the file called ``file``.
    ``reading`` is how the crawler reads it; a crawl goes by no profile.
    """

    def __init__(
        self,
        robotstxt: RobotsTxt,
        tokens: Sequence[str],
        *,
        by_profile: bool = False,
        file: str = "",
        fetched: FetchedRobots | None = None,
    ) -> None:
        """Use the first of *tokens* that has a group, or else the last; *by_profile* as its owner documents."""
        self.robotstxt = robotstxt
        self.tokens = tokens
        self.agent = next(filter(robotstxt.has_group, tokens), tokens[-1])
        agent = self.agent
        self.reading = reading(robotstxt, agent) if by_profile else Reading(agent, None, robotstxt, agent)
        self.token = self.reading.token
        self.file = file
        self.fetched = fetched

    @property
    def has_rules(self) -> bool:
        """Whether a body was read; without one, a missing or unreachable robots.txt allows or disallows all."""
        return self.fetched is None or self.fetched.robots.access is Access.SUCCESSFUL

    @property
    def problem(self) -> str:
        """Why the rules are unknown; empty when they are known."""
        fetched = self.fetched
        if fetched is None or fetched.robots.access is not Access.UNREACHABLE:
            return ""
        return f"{fetched.origin} is unreachable: {fetched.problem}"

    @cached_property
    def explainer(self) -> Explainer:
        """The groups, rules and other records for the crawler."""
        return Explainer(self.reading.robotstxt, self.token)

    @cached_property
    def signals(self) -> RobotsSignals:
        """What robots.txt says to the crawler about the use by AI."""
        return RobotsSignals.of(self.robotstxt, self.token) if self.has_rules else NO_SIGNALS

    def verdict(self, url: str) -> Verdict:
        """Return whether the crawler may request *url*."""
        fetched, follows_none = self.fetched, self.reading.crawler and self.reading.group == NONE
        if fetched is None or (self.has_rules and follows_none):
            return self.reading.verdict(url)
        return fetched.robots.verdict((self.token,), url)

    @property
    def crawl_delay(self) -> float | None:
        """Seconds between two requests that robots.txt asks the crawler for; None without."""
        return self.reading.crawl_delay

    def explain(self, url: str) -> Explanation:
        """Return the verdict on *url*, and every rule that matches it."""
        if self.has_rules:
            return self.explainer.explain(url)
        return Explanation(self.verdict(url), ())

    def said_by_site(self, url: str) -> UrlStatements:
        """What the site says about *url*; nothing if it may not be requested, since it has no preferences then."""
        if not self.verdict(url).allowed:
            return NOTHING
        signals, statements = self.signals, [*self.signals.statements(url)]
        if self.fetched is not None:
            statements += self.fetched.said_by_files(self.agent, url, signals.licenses)
        return UrlStatements(statements, signals.licenses)


async def said_about(
    url: str, rules: Sequence[CrawlerRules], fetcher: CrawlFetcher, of_pages: RepSettings | None
) -> list[UrlStatements]:
    """What the site, with its licenses, says about *url* to each of the crawlers with these *rules*.

    Where there are settings *of_pages*, the page as well: it is requested once, whichever of them may have it.
    """
    page, fetched = None, rules[0].fetched if rules else None
    allowed = [each.verdict(url).allowed for each in rules]
    if any(allowed) and fetched is not None:
        licenses = dict.fromkeys(license_url for each in rules for license_url in each.signals.licenses)
        await fetcher.add_files(fetched, of_pages, licenses)
        page = await fetcher.fetch_page(url) if of_pages is not None else None
    if of_pages is None:
        return [each.said_by_site(url) for each in rules]
    disallowed = UrlStatements(page=PageFindings(problem=_DISALLOWED))
    return [
        _read(page, each.tokens, each.said_by_site(url), of_pages) if page and is_allowed else disallowed
        for each, is_allowed in zip(rules, allowed, strict=True)
    ]


def _read(page: FetchedPage, names: Sequence[str], site: UrlStatements, settings: RepSettings) -> UrlStatements:
    """What *page* says to the crawler called *names*, added to what the *site* says."""
    from scrapy_rep.extras.ai.ai_signals import signals_of  # noqa: PLC0415  # loads Scrapy's middlewares
    from scrapy_rep.extras.pages import reading  # noqa: PLC0415

    response = page.response
    if response is None:
        return UrlStatements(site.statements, site.licenses, PageFindings(problem=page.problem))
    directives = reading.said_by(response, names, settings)
    statements, licenses = signals_of(response, directives, site.statements, settings.ai_sources)
    is_redirect = HTTPStatus.MULTIPLE_CHOICES <= response.status < HTTPStatus.BAD_REQUEST
    location = (response.headers.get(b"Location") or b"").decode("latin-1") if is_redirect else ""
    has_effect = reading.is_successful(response) and page.refusal is None
    findings = PageFindings(response.status, location, "", directives, has_effect, page.refusal)
    return UrlStatements(statements, licenses or site.licenses, findings)
