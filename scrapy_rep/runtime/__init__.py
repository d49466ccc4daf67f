"""The running crawl as the other rooms see it: `Crawl`, event loop, log, Scrapy's private parts. Private.

Knows Scrapy and the settings. Must not know what a robots.txt says about a request, or when one may start.
"""
