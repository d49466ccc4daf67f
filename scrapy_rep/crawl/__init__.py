"""The parts that every crawl needs, and nothing else. Private.

Four questions decide the fate of a request, and each has one owner:

* Which robots.txt applies, and what is its verdict? `robots` keeps a record per origin.
* What does the verdict mean for this request? `policy` turns it into a decision, by a pure function.
* When may the request start? `pacing` keeps a record per site, which answers that question.
* Was all of that checked? The door, in `pacing`, is the last place that a request passes.

Below them, `runtime` holds the running crawl. Beside and above them, `sitemaps` turns Sitemap lines into
requests, and `gate` combines the answers, stamps the request and keeps the account.

The obvious alternative is a single downloader middleware that fetches, waits and judges, like Scrapy's own. There
a waiting request holds a place in the downloader, and forty sites that hang stop the healthy sites. A request
from a pipeline or a custom scheduler is not judged. And a delay is known only after the first requests have left.
Here requests wait in the scheduler, where waiting costs nothing, and the door holds whatever happened before.

Parts that only some crawls need are in `scrapy_rep.extras`. They subscribe to `runtime.events.Events`, and crawls
without them pay nothing: an event without subscribers is not sent.
"""

from __future__ import annotations

from typing import Final

import scrapy

OLDEST_SCRAPY: Final = "2.14"
"""The oldest supported version of Scrapy, as in setup.cfg."""

try:  # the newest Scrapy module that every crawl needs
    from scrapy.utils import asyncio as _asyncio  # noqa: F401
except ImportError:
    raise ImportError(
        f"scrapy_rep supports Scrapy {OLDEST_SCRAPY} and later, and this is Scrapy {scrapy.__version__}:"
        f" pip install 'scrapy>={OLDEST_SCRAPY}'",
        name="scrapy",
    ) from None
