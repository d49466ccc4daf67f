"""A site of pages on which each path is one situation, and what a crawl makes of their items and links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tests.support.crawl import Crawl, crawl
from tests.support.site import Answer, Answers, Site

HTML = ("Content-Type", "text/html; charset=utf-8")


def html(body: str = "", *headers: tuple[str, str], meta: str = "", **kwargs: Any) -> Answer:
    """A page with *headers*, and *meta* as its robots meta element."""
    head = f'<meta name="robots" content="{meta}">' if meta else ""
    text = f"<html><head>{head}</head><body>{body}</body></html>"
    return Answer(body=text.encode(), headers=[HTML, *headers], **kwargs)


def x_robots_tag(value: str) -> tuple[str, str]:
    return ("X-Robots-Tag", value)


@dataclass(frozen=True)
class Scraped:
    """A crawl in which each page yields an item and follows its links, and the site, which has closed."""

    crawl: Crawl
    site: Site

    @property
    def items(self) -> dict[str, Any]:
        """The field of each item, by the path of its page."""
        found = (page for page in self.crawl.pages if page.url.startswith("item:"))
        return {urlsplit(page.url[5:]).path: page.tag for page in found}

    def requested(self, below: str = "/") -> list[str]:
        """The sorted paths that were requested *below* a path, and that path."""
        return sorted(path for path in self.site.paths() if path.startswith(below) and path != "/robots.txt")

    def stats(self, prefix: str) -> dict[str, int]:
        """The stats that start with *prefix*, without it."""
        return {name[len(prefix) :]: each for name, each in self.crawl.stats.items() if name.startswith(prefix)}

    @property
    def stamps(self) -> dict[str, dict[str, Any]]:
        """The stamp of each page, by its path."""
        return {urlsplit(page.url).path: page.stamp for page in self.crawl.pages if page.stamp}


def scrape(
    pages: Mapping[str, Answers] | Site,
    first: Iterable[str] = ("/",),
    *,
    spider: str = "Scrapes",
    attributes: dict[str, Any] | None = None,
    **settings: Any,
) -> Scraped:
    """Crawl a site, or one that answers *pages*, from the paths that come *first* on."""
    if not isinstance(pages, Site):
        with Site() as site:
            for path, answer in pages.items():
                site.answer(path, answer)
            return scrape(site, first, spider=spider, attributes=attributes, **settings)
    result = crawl(
        *(f"{pages.origin}{path}" for path in first),
        spider=f"tests.crawl.output_spiders:{spider}",
        attributes=attributes,
        settings={"REP_ITEM_FIELD": "robots", "USER_AGENT": "mybot/1.0", **settings},
        apart=spider == "Forgets",
    )
    return Scraped(result, pages)
