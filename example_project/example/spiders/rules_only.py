"""Scrapy's own middleware with the rules of scrapy_rep, and nothing else of it."""

import scrapy


class RulesOnlySpider(scrapy.Spider):
    name = "rules_only"
    start_urls = ["http://127.0.0.1:8998/about", "http://127.0.0.1:8998/drafts/"]
    custom_settings = {
        "ADDONS": {},
        "ROBOTSTXT_OBEY": True,
        "ROBOTSTXT_PARSER": "scrapy_rep.RepRobotParser",
    }

    def parse(self, response):
        """
        @url http://127.0.0.1:8998/about
        @returns items 1 1
        @scrapes page
        """
        yield {"page": response.url}
