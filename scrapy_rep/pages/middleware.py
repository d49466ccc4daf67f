"""`PageDirectivesMiddleware`: reports or obeys what pages say about themselves (``REP_PAGE_DIRECTIVES``)."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from time import time
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy.exceptions import NotConfigured
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from scrapy_rep.crawl.product_tokens import ProductTokens
from scrapy_rep.directives.page import PageDirectives, combine
from scrapy_rep.gate.extension import RepExtension
from scrapy_rep.gate.sitemap_lines import sitemap_callback
from scrapy_rep.policy.stamp import META_KEY, is_stamp
from scrapy_rep.settings import RepSettings
from scrapy_rep.signals import page_directives

from .links import links_of, marked_links, same
from .reading import directives_of, is_html

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

logger = logging.getLogger(__name__)

FOLLOW = "rep_follow"
"""Meta key: this request is made although the page says nofollow."""


@dataclass
class _Page:
    """What one response says, and what was done about it so far."""

    response: Response
    said: PageDirectives
    rel_words: tuple[str, ...]
    done: Counter[str] = field(default_factory=Counter)

    @cached_property
    def links(self) -> frozenset[str]:
        return links_of(self.response) if is_html(self.response) else frozenset()

    @cached_property
    def marked(self) -> frozenset[str]:
        return marked_links(self.response, self.rel_words) if is_html(self.response) else frozenset()


class PageDirectivesMiddleware(BaseSpiderMiddleware):
    """Spider middleware for ``X-Robots-Tag``, ``Robots-Tag`` and meta robots; the add-on enables it.

    With ``"report"`` what a page says is counted, stamped and signalled. With ``"obey"`` requests for the links of
    a page that says nofollow are dropped, and items of one that says noindex are marked or dropped. Sitemaps and
    error pages are read, and change nothing.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Raises ``NotConfigured`` if both ``REP_PAGE_DIRECTIVES`` and ``REP_REL_NOFOLLOW`` are ``"ignore"``."""
        super().__init__(crawler)
        self._settings = settings = RepSettings.from_crawler(crawler)
        if settings.page_directives == settings.rel_nofollow == "ignore":
            raise NotConfigured
        self._reads = settings.page_directives != "ignore"
        self._obeys = settings.page_directives == "obey"
        self._sitemap_callback = sitemap_callback(crawler.spider)
        self._pages: WeakKeyDictionary[Response, _Page] = WeakKeyDictionary()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    @cached_property
    def _extension(self) -> RepExtension | None:
        return self.crawler.get_extension(RepExtension)

    @cached_property
    def _product_tokens(self) -> ProductTokens:
        return self._extension.product_tokens if self._extension else ProductTokens(self.crawler)

    def process_spider_input(self, response: Response) -> None:
        """Read what *response* says, before its callback runs."""
        request = response.request
        if request is None or request.callback == self._sitemap_callback is not None:
            return
        names = self._product_tokens.of(request)
        head_only = self._settings.meta_robots == "head"
        found = directives_of(response, names, head_only=head_only) if self._reads else []
        said = combine(found, names, time())
        if said.statements or self._settings.rel_nofollow != "ignore":
            self._pages[response] = _Page(response, said, self._settings.rel_words)
        if said.statements:
            self._report(response, said)

    def _report(self, response: Response, said: PageDirectives) -> None:
        """Count, stamp and signal what *response* says."""
        stats = self.crawler.stats
        for name in ("noindex", "nofollow", "unread"):
            if getattr(said, name):
                stats.inc_value(f"rep/page/{name}_count")
        stamp = response.meta.get(META_KEY)
        if is_stamp(stamp):
            stamp["page"] = str(said)
        self.crawler.signals.send_catch_log(signal=page_directives, response=response, directives=said)

    # What callbacks yield.

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        """Return *request*, or None if it is for a link that is not to be followed."""
        page = self._pages.get(response) if response is not None else None
        if page is None or request.method != "GET" or request.meta.get(FOLLOW) or not _counts(page.response):
            return request
        if page.said.nofollow and (self._settings.nofollow == "all" or same(request.url) in page.links):
            return self._not_followed(request, page, "nofollow", is_obeyed=self._obeys)
        choice = self._settings.rel_nofollow
        if choice != "ignore" and same(request.url) in page.marked:
            return self._not_followed(request, page, "rel_nofollow", is_obeyed=choice == "obey")
        return request

    def _not_followed(self, request: Request, page: _Page, why: str, *, is_obeyed: bool) -> Request | None:
        page.done[why] += 1
        done = "dropped" if is_obeyed else "reported"
        self.crawler.stats.inc_value(f"rep/page/{why}_link_{done}_count")
        if not is_obeyed:
            return request
        logger.debug(
            "Link not followed, the page says %(why)s: %(request)s",
            {"why": why.replace("_", "="), "request": request},
            extra={"spider": self.crawler.spider},
        )
        return None

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        """Return *item*, or None if its page says noindex and such items are dropped."""
        page = self._pages.get(response) if response is not None else None
        if page is None or not (self._obeys and page.said.noindex and _counts(page.response)):
            return item
        is_dropped = self._settings.noindex == "drop"
        page.done["item"] += 1
        self.crawler.stats.inc_value(f"rep/page/item_{'dropped' if is_dropped else 'marked'}_count")
        return None if is_dropped else item

    def __repr__(self) -> str:
        return f"<PageDirectivesMiddleware {self._settings.page_directives}>"


def _counts(response: Response) -> bool:
    """Whether what *response* says has an effect: an error page speaks for nothing."""
    return HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES
