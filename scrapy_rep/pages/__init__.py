"""What a crawl does with what pages say: reads directives from responses. Private.

Knows Scrapy's responses and `scrapy_rep.directives`. Must not know how a request is judged.
"""
