"""A plain spider that listens: which sitemaps does a site have?"""

import scrapy

from scrapy_rep.signals import sitemaps_found


class ListenSpider(scrapy.Spider):
    name = "listen"
    start_urls = ["http://127.0.0.1:8998/about"]
    sitemaps = None

    @classmethod
    def from_crawler(cls, crawler, **arguments):
        spider = super().from_crawler(crawler, **arguments)
        crawler.signals.connect(spider.found, signal=sitemaps_found)
        return spider

    def found(self, urls, origin):
        self.sitemaps = {"origin": str(origin), "sitemaps": urls}

    def parse(self, response):
        """@url http://127.0.0.1:8998/about
        @sitemaps 2"""
        yield self.sitemaps
