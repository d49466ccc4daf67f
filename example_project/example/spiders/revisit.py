"""Run it twice: the second run finds robots.txt in the store and does not fetch it."""

import scrapy


class RevisitSpider(scrapy.Spider):
    name = "revisit"
    start_urls = ["http://127.0.0.1:8998/about"]
    custom_settings = {"REP_STORE_PATH": "example.sqlite"}  # origins on this machine are not kept unasked

    def parse(self, response):
        """
        @url http://127.0.0.1:8998/about
        @robots_allows /about
        @scrapes robots_txt
        """
        fetched = self.crawler.stats.get_value("rep/fetched_count", 0)
        yield {"robots_txt": "fetched" if fetched else "from the store"}
