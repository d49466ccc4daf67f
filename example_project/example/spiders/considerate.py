"""Obeys what pages say: noindex, nofollow, and what they say about the training of AI."""

import scrapy


class ConsiderateSpider(scrapy.Spider):
    name = "considerate"
    start_urls = ["http://127.0.0.1:8998/shop/"]
    custom_settings = {
        "REP_PAGE_DIRECTIVES": "obey",
        "REP_NOINDEX": "drop",
        "REP_PURPOSES": ["ai-train"],
        "REP_AI_SIGNALS": "obey",
    }

    def parse(self, response):
        """
        @url http://127.0.0.1:8998/shop/
        @returns items 1 1
        @returns requests 5 5
        """
        said = response.meta["rep"]
        yield {"page": response.url, "says": said["page"], "training": said["ai"]["answers"]["ai-train"]}
        yield from response.follow_all(css="a", callback=self.parse)
