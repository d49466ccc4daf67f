"""Everything of ours that touches Scrapy's engine and downloader, behind names that say what it is for.

Scrapy plans to replace download slots by a throttler: what depends on them is here, and nowhere else.
"""
