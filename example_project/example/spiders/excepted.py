"""Modes and exceptions: one draft may be fetched, for a reason and until a day; the rest of /drafts/ may not."""

from datetime import date, timedelta

import scrapy


class ExceptedSpider(scrapy.Spider):
    name = "excepted"
    start_urls = ["http://127.0.0.1:8998/drafts/2", "http://127.0.0.1:8998/drafts/"]
    custom_settings = {
        "REP_MODES": {"*.intranet.example": "ignore"},
        "REP_EXCEPTIONS": [
            {"url": "http://127.0.0.1:8998/drafts/2$", "reason": "the author asked for it, ticket 47",
             "until": date.today() + timedelta(days=90)}  # noqa: DTZ011  # write a day: "2027-03-31"
        ],
    }  # fmt: skip

    def parse(self, response):
        """
        @url http://127.0.0.1:8998/drafts/2
        @robots_disallows /drafts/2
        @returns items 1 1"""
        yield {"page": response.url, "although": response.meta["rep"]["rule"]}
