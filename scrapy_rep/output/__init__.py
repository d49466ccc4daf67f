"""What callbacks yield: forbidden links are dropped before the scheduler, items are stamped. Private.

Knows the extension, which it asks about links, and the stamp of a response. Must not know how a robots.txt is
fetched or when a request starts. The public names are those of `scrapy_rep`.
"""
