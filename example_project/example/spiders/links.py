"""Follows every link of the site and says what robots.txt forbade, and by which line."""

import scrapy

from scrapy_rep import ForbiddenByRobots


class LinksSpider(scrapy.Spider):
    name = "links"
    start_urls = ["http://127.0.0.1:8998/"]

    def parse(self, response):
        """
        @url http://127.0.0.1:8998/
        @robots_allows /about /drafts/published/1 /list?page=2&sort=price
        @robots_disallows /drafts/ /drafts/2 /list?sort=price
        @returns items 1 1
        @returns requests 7 7
        """
        yield {"crawled": response.url}
        yield from response.follow_all(css="a", errback=self.forbidden)

    def forbidden(self, failure):
        failure.trap(ForbiddenByRobots)
        yield {"forbidden": failure.request.url, "line": failure.value.line, "rule": str(failure.value.rule)}
