"""From a request to a verdict: middleware, extension, fetching, refreshing, single flight.

Knows the rooms below: it asks `stores` for entries and tells `politeness` about delays. Must not know spiders,
sitemap crawls or tools.
"""
