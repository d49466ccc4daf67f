"""The running crawl as the other rooms see it: event loop, Scrapy's engine, product tokens, log.

Knows Scrapy and the settings. Must not know what a robots.txt says about a request, or when one may start.
"""
