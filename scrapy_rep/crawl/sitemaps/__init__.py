"""What spiders see: sitemaps, what pages say about themselves and to AI, dropped links, stamped items. Private.

Knows Scrapy's responses, `scrapy_rep.directives`, the extension and what the gate stamped. Must not know how a
robots.txt is fetched or when a request starts.
"""
