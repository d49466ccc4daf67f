"""Asks what robots.txt says before it makes a request; nothing is fetched twice for that."""

import scrapy

from scrapy_rep import RepExtension


class AskSpider(scrapy.Spider):
    name = "ask"
    start_urls = ["http://127.0.0.1:8998/"]

    async def parse(self, response):
        extension = self.crawler.get_extension(RepExtension)
        robots = await extension.robots(response.url)
        for request in response.follow_all(css="a", callback=self.page):
            if extension.verdict(robots, request).allowed:
                yield request

    def page(self, response):
        """
        @url http://127.0.0.1:8998/list
        @robots_disallows /list?sort=price
        @scrapes page
        """
        yield {"page": response.url}
