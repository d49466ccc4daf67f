"""What a page and a site say beyond Allow and Disallow: page directives and signals about the use by AI. Private.

Needs only the standard library. Knows header fields, elements and files as text; must not know Scrapy.
"""
