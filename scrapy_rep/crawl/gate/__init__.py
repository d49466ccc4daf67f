"""What becomes of a request, and the account of it: middleware, extension, report. Private.

Asks the registry what a robots.txt says, and pacing which delays apply. Must not know extras or tools. The public
names are those of `scrapy_rep`.
"""
