"""Crawls what the sitemaps of a site list: it is told the site, robots.txt names the sitemaps."""

from scrapy_rep import RepSitemapSpider


class SitemapsSpider(RepSitemapSpider):
    name = "sitemaps"
    sites = ["http://127.0.0.1:8998"]
    sitemap_rules = [("/news/.", "parse_news"), ("", "parse")]

    def parse_news(self, response):
        """
        @url http://127.0.0.1:8998/news/2026/frost
        @sitemaps /sitemap.xml /news/index.xml.gz
        @scrapes news
        """
        yield {"news": response.css("title::text").get()}

    def parse(self, response):
        yield {"page": response.url}
