"""What every crawl needs, and nothing else. Private.

Four questions decide what becomes of a request, and each has one owner:

* Which robots.txt counts, and what does it say? `robots` keeps one record for each origin.
* What does that mean for this request? `policy` turns a verdict into a decision, by one pure function.
* When may it start? `pacing` keeps one record for each site, with one question about time.
* Was all of that asked? The door, in `pacing`, is the last place that a request passes.

Below them, `runtime` holds the running crawl. Beside and above them, `sitemaps` makes requests of Sitemap
lines, and `gate` puts the answers together, stamps the request and keeps the account.

The obvious other way is one downloader middleware that fetches, waits and judges. Scrapy's own works like that.
There, a request that waits holds a place in the downloader, so forty sites that hang stop the healthy ones. A
request that comes another way, from a pipeline or a scheduler of its own, is not judged. And a delay is known
only after the first requests have left. Here requests wait in the scheduler, where that costs nothing, and the
door holds whatever happened before.

What only some crawls need lies in `scrapy_rep.extras`. It subscribes to `runtime.events.Events`, so that the
common case pays nothing for it: an event without subscribers is not sent.
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
