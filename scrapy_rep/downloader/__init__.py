"""Everything of ours that touches Scrapy's downloader, and what is private in its engine.

Scrapy plans to replace download slots by a throttler: what depends on them is here, and nowhere else.
"""
