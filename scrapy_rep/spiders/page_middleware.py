"""`PageMiddleware`: what the spider middlewares that read pages share."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from scrapy_rep.gate.extension import RepExtension
from scrapy_rep.gate.sitemap_lines import sitemap_callback
from scrapy_rep.runtime.crawl import Crawl
from scrapy_rep.spiders.reading import NOTHING, is_silent, said_by

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from scrapy_rep.directives.page import PageDirectives


class PageMiddleware:
    """Reads each response before its callback runs. Sitemaps are not read: what they say is not for their URLs.

    Scrapy puts a generator around the output of a callback for each middleware that has a say in it, so one that
    only reads has none.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Raises ``NotConfigured`` without `RepExtension`."""
        self.crawler = crawler
        extension = crawler.get_extension(RepExtension)
        if extension is None:
            raise NotConfigured
        self._settings = Crawl.of(crawler).settings
        self._extension = extension
        self._sitemap_callback = sitemap_callback(crawler.spider)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_spider_input(self, response: Response) -> None:
        """Read what *response* says."""
        request = response.request
        if request is not None and (self._sitemap_callback is None or request.callback != self._sitemap_callback):
            self.read_page(response, request)

    def read_page(self, response: Response, request: Request) -> object:
        raise NotImplementedError

    def _said(self, response: Response, request: Request) -> PageDirectives:
        """The directives of *response* for this crawler."""
        if is_silent(response):
            return NOTHING
        return said_by(response, self._extension.product_tokens.of(request), self._settings)

    def _log_dropped(self, logger: logging.Logger, message: str, what: str) -> None:
        logger.debug(message, {"what": what}, extra={"spider": self.crawler.spider})
