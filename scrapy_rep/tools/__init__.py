"""What is asked outside a crawl: explain, diff, lint, survey, and their commands. Private.

Imported only when used: no crawl pays for it, and importing this package imports no Scrapy. The public names are
those of `scrapy_rep.protocol`.
"""
