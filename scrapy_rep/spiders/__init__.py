"""What pages say, and what a crawl does about it: page directives and signals about the use by AI. Private.

Knows Scrapy's responses, `scrapy_rep.directives` and what the gate stamped. Must not know how a robots.txt is
fetched or when a request starts.
"""
