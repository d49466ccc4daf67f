"""Finds out what a site says about a URL and, for ``--page``, what the page says."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING

from scrapy_rep.directives.terms import TDMREP
from scrapy_rep.gate.site_files import said_by_files
from scrapy_rep.robots.registry import needed_files

from .said import NOTHING, Page, Said

if TYPE_CHECKING:
    from scrapy.http import Response

    from scrapy_rep.settings import RepSettings

    from .crawler_rules import CrawlerRules
    from .fetching import FetchedPage, Fetcher

_DISALLOWED = "not requested: robots.txt disallows it"


def said_by_site(url: str, rules: CrawlerRules) -> Said:
    """What the site says about *url*; nothing if it may not be requested, since it has no preferences then."""
    if not rules.verdict(url).allowed:
        return NOTHING
    statements = [*rules.signals.statements(url)]
    if rules.fetched is not None:
        statements += said_by_files(rules.fetched.robots, rules.token, url)
    return Said(statements, rules.signals.licenses)


class Pages:
    """Requests pages, each once, whichever of several crawlers may have it."""

    def __init__(self, settings: RepSettings, fetcher: Fetcher) -> None:
        self._settings = settings
        self._fetcher = fetcher

    async def said(self, url: str, rules: Sequence[CrawlerRules]) -> list[Said]:
        """What the site and the page at *url* say to each of the crawlers with these *rules*."""
        page = None
        if any(each.verdict(url).allowed for each in rules):
            await self._add_files(rules)
            page = await self._fetcher.fetch_page(url)
        return [self._said(url, each, page) for each in rules]

    async def _add_files(self, rules: Sequence[CrawlerRules]) -> None:
        """Fetch the files that speak about AI once, for all pages of the origin."""
        fetched = rules[0].fetched
        if fetched is not None and not fetched.has_files:
            fetched = await self._fetcher.with_files(fetched, {TDMREP, *needed_files(self._settings)})
            for each in rules:
                each.fetched = fetched

    def _said(self, url: str, rules: CrawlerRules, page: FetchedPage | None) -> Said:
        if page is None or not rules.verdict(url).allowed:
            return Said(page=Page(problem=_DISALLOWED))
        site = said_by_site(url, rules)
        if page.response is None:
            return Said(site.statements, site.licenses, Page(problem=page.problem))
        return _read(page.response, rules.tokens, site, self._settings)


def _read(response: Response, names: Sequence[str], site: Said, settings: RepSettings) -> Said:
    """What *response* says to the crawler called *names*, added to what the *site* says."""
    from scrapy_rep.spiders.ai_signals import signals_of  # noqa: PLC0415  # loads Scrapy's middlewares
    from scrapy_rep.spiders.reading import said_by  # noqa: PLC0415

    directives = said_by(response, names, settings)
    statements, licenses = signals_of(response, directives, site.statements, settings.ai_sources)
    is_redirect = HTTPStatus.MULTIPLE_CHOICES <= response.status < HTTPStatus.BAD_REQUEST
    location = (response.headers.get(b"Location") or b"").decode("latin-1") if is_redirect else ""
    return Said(statements, licenses or site.licenses, Page(response.status, location, "", directives))
