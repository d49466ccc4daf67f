"""Sitemap spiders that start from robots.txt: `RepSitemapSpider`, and `SitemapFeed` for Scrapy's own. Private.

This room knows which sitemaps a spider follows. How robots.txt is fetched, and which lines name sitemaps, is up to
the gate.
"""
