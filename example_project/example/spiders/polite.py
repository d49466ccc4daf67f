"""Says how far apart its pages came: robots.txt asks ExampleBot for 0.1 s between two requests."""

from time import monotonic

import scrapy


class PoliteSpider(scrapy.Spider):
    name = "polite"
    start_urls = [f"http://127.0.0.1:8998/{path}" for path in ("about", "list", "list?page=2")]
    before = None

    def parse(self, response):
        """
        @url http://127.0.0.1:8998/about
        @crawl_delay 0.1
        @scrapes page seconds
        """
        now = monotonic()
        yield {"page": response.url, "seconds": round(now - self.before, 2) if self.before else None}
        self.before = now
