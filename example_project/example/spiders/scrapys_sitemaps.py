"""Scrapy's own sitemap spider, as it always was: its robots.txt is answered from what the crawl knows."""

from scrapy.spiders import SitemapSpider


class ScrapysSitemapsSpider(SitemapSpider):
    name = "scrapys_sitemaps"
    sitemap_urls = ["http://127.0.0.1:8998/robots.txt"]

    def parse(self, response):
        """
        @url http://127.0.0.1:8998/about
        @sitemaps 2
        @scrapes page
        """
        yield {"page": response.url}
