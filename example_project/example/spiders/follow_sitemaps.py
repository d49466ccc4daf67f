"""Starts from a page, and is handed the sitemaps of every origin that it meets."""

import scrapy
from scrapy.spiders import SitemapSpider


class FollowSitemapsSpider(SitemapSpider):
    name = "follow_sitemaps"
    custom_settings = {"REP_FOLLOW_SITEMAPS": True}

    async def start(self):
        yield scrapy.Request("http://127.0.0.1:8998/about")

    def parse(self, response):
        """
        @url http://127.0.0.1:8998/about
        @robots_allows /sitemap.xml /news/index.xml.gz
        @scrapes page
        """
        yield {"page": response.url}
