"""From a request to a verdict: middleware, extension, fetching, refreshing, single flight. Private.

Knows the rooms below: it asks the stores for entries and tells pacing which delays apply. Must not know
spiders or tools. The public names are those of `scrapy_rep`.
"""
