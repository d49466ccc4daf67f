"""`PageMiddleware`: what the spider middlewares that read pages share."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from scrapy_rep.gate.extension import RepExtension
from scrapy_rep.gate.sitemap_lines import sitemap_callback
from scrapy_rep.settings import RepSettings

from .reading import said_by

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_rep.directives.page import PageDirectives


class PageMiddleware(BaseSpiderMiddleware):
    """Reads each response before its callback runs. Sitemaps are not read: what they say is not for their URLs."""

    def __init__(self, crawler: Crawler) -> None:
        """Raises ``NotConfigured`` without `RepExtension`."""
        super().__init__(crawler)
        extension = crawler.get_extension(RepExtension)
        if extension is None:
            raise NotConfigured
        self._settings = RepSettings.from_crawler(crawler)
        self._extension = extension
        self._sitemap_callback = sitemap_callback(crawler.spider)

    def process_spider_input(self, response: Response) -> None:
        """Read what *response* says."""
        request = response.request
        if request is not None and (self._sitemap_callback is None or request.callback != self._sitemap_callback):
            self._read(response, request)

    def _read(self, response: Response, request: Request) -> None:
        raise NotImplementedError

    def _said(self, response: Response, request: Request) -> PageDirectives:
        """The directives of *response* for this crawler."""
        return said_by(response, self._extension.product_tokens.of(request), self._settings)

    def _log_dropped(self, logger: logging.Logger, message: str, what: str) -> None:
        logger.debug(message, {"what": what}, extra={"spider": self.crawler.spider})
