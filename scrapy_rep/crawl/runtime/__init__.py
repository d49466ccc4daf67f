"""The running crawl as the other rooms see it: `Crawl`, event loop, log, Scrapy's private parts. Private.

Knows Scrapy and the settings. Must not know what a robots.txt says about a request, or when one may start.
"""

from __future__ import annotations

from typing import Final

import scrapy

OLDEST_SCRAPY: Final = "2.14"
"""The oldest version of Scrapy that is supported, as setup.cfg says."""

try:  # what came last of all that every crawl needs
    from scrapy.utils import asyncio as _asyncio  # noqa: F401
except ImportError:
    raise ImportError(
        f"scrapy_rep supports Scrapy {OLDEST_SCRAPY} and later, and this is Scrapy {scrapy.__version__}:"
        f" pip install 'scrapy>={OLDEST_SCRAPY}'",
        name="scrapy",
    ) from None
