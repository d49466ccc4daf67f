"""What becomes of a request, and the account of it: middleware, extension, browsers, report, audit log. Private.

Knows the rooms below: it asks the stores for entries and tells pacing which delays apply. Must not know
spiders or tools. The public names are those of `scrapy_rep`.
"""
