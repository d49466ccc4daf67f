"""What a site says about a URL to one crawler: its robots.txt, its other files and, for ``--page``, the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from scrapy_rep.directives import PageDirectives
from scrapy_rep.directives.robots_signals import NO_SIGNALS, RobotsSignals
from scrapy_rep.directives.rsl import MAX_SIZE, RslFile, said_by_licenses
from scrapy_rep.directives.vocabulary import Permission, Purpose, Statement, answers, as_values
from scrapy_rep.protocol import Access
from scrapy_rep.protocol.display import shown
from scrapy_rep.tools.answers import page_facts, page_lines, signal_lines
from scrapy_rep.tools.explanation import Explainer, Explanation
from scrapy_rep.tools.profiles import NONE, Reading, reading

if TYPE_CHECKING:
    from collections.abc import Collection

    from scrapy.http import Response

    from scrapy_rep.protocol import RobotsTxt, Verdict
    from scrapy_rep.settings import RepSettings

    from .fetching import CrawlFetcher, FetchedPage, FetchedRobots

_DISALLOWED: Final = "not requested: robots.txt disallows it"


@dataclass(frozen=True, slots=True)
class PageFindings:
    """The answer to the one request for a page: ``status`` is None if none came, and ``problem`` says why.

    ``location`` is the target of a redirect, ``directives`` are those for the crawler; they count if the page
    ``has_effect``.
    """

    status: int | None = None
    location: str = ""
    problem: str = ""
    directives: PageDirectives = field(default_factory=PageDirectives)
    has_effect: bool = False

    def as_lines(self) -> Iterator[str]:
        """What came of the request."""
        if self.status is None:
            yield shown(self.problem)
            return
        yield f"HTTP status {self.status}"
        if self.location:
            yield f"redirects to {shown(self.location)}, which was not requested"
        elif not self.has_effect:
            yield "an error page: what it says has no effect"

    def as_facts(self) -> dict[str, Any]:
        """The same, and the directives, as data for JSON."""
        facts = {"status": self.status, "location": self.location or None, "problem": self.problem or None}
        return {**facts, **page_facts(self.directives)}


@dataclass(frozen=True, slots=True)
class UrlStatements:
    """What a site, and the ``page`` if it was asked for, say about one URL to one crawler."""

    statements: Sequence[Statement] = ()
    licenses: Sequence[str] = ()
    page: PageFindings | None = None

    @property
    def answers(self) -> Mapping[Purpose, Permission]:
        """The answer for each use."""
        return answers(self.statements)

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
        self.licenses: Mapping[str, RslFile] = {}  # files beside that of the rules, by the URLs that these name

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


def said_by_site(url: str, rules: CrawlerRules) -> UrlStatements:
    """What the site says about *url*; nothing if it may not be requested, since it has no preferences then."""
    if not rules.verdict(url).allowed:
        return NOTHING
    statements = [*rules.signals.statements(url)]
    if rules.fetched is not None:
        statements += rules.fetched.said_by_files(rules.agent, url, rules.signals.licenses)
    elif rules.licenses:
        statements += said_by_licenses(rules.signals.licenses, rules.licenses, url)
    return UrlStatements(statements, rules.signals.licenses)


async def add_licenses(rules: Sequence[CrawlerRules], fetcher: CrawlFetcher) -> None:
    """Fetch the licenses that the robots.txt of an origin names to crawlers with these *rules*."""
    if rules and (fetched := rules[0].fetched):
        await fetcher.add_licenses(fetched, dict.fromkeys(url for each in rules for url in each.signals.licenses))


def licenses_beside(file: str, rules: CrawlerRules) -> dict[str, RslFile]:
    """The licenses that *rules* name and that are files beside the robots.txt called *file*, by their URLs."""
    found = {}
    for url in rules.signals.licenses:
        name = PurePosixPath(urlsplit(url).path).name
        if name and (beside := Path(file).with_name(name)).is_file():
            with suppress(OSError), beside.open("rb") as opened:
                found[url] = RslFile(opened.read(MAX_SIZE + 1))
    return found


async def said_with_page(
    url: str, rules: Sequence[CrawlerRules], fetcher: CrawlFetcher, settings: RepSettings
) -> list[UrlStatements]:
    """What the site and the page at *url* say to each of the crawlers with these *rules*.

    The page is requested once, whichever of the crawlers may have it.
    """
    page = None
    if any(each.verdict(url).allowed for each in rules):
        if fetched := rules[0].fetched:
            await fetcher.add_files(fetched, settings)
        await add_licenses(rules, fetcher)
        page = await fetcher.fetch_page(url)
    return [_said_with_page(url, each, page, settings) for each in rules]


def _said_with_page(
    url: str, rules: CrawlerRules, page: FetchedPage | None, settings: RepSettings
) -> UrlStatements:
    if page is None or not rules.verdict(url).allowed:
        return UrlStatements(page=PageFindings(problem=_DISALLOWED))
    site = said_by_site(url, rules)
    if page.response is None:
        return UrlStatements(site.statements, site.licenses, PageFindings(problem=page.problem))
    return _read(page.response, rules.tokens, site, settings)


def _read(response: Response, names: Sequence[str], site: UrlStatements, settings: RepSettings) -> UrlStatements:
    """What *response* says to the crawler called *names*, added to what the *site* says."""
    from scrapy_rep.extras.ai.ai_signals import signals_of  # noqa: PLC0415  # loads Scrapy's middlewares
    from scrapy_rep.extras.pages import reading  # noqa: PLC0415

    directives = reading.said_by(response, names, settings)
    statements, licenses = signals_of(response, directives, site.statements, settings.ai_sources)
    is_redirect = HTTPStatus.MULTIPLE_CHOICES <= response.status < HTTPStatus.BAD_REQUEST
    location = (response.headers.get(b"Location") or b"").decode("latin-1") if is_redirect else ""
    page = PageFindings(response.status, location, "", directives, reading.is_successful(response))
    return UrlStatements(statements, licenses or site.licenses, page)
