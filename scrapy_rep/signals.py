"""Signals of ours, for ``crawler.signals.connect``; those of Scrapy are in ``scrapy.signals``."""

from __future__ import annotations

from typing import Final

sitemaps_found: Final = object()
"""An origin whose robots.txt names sitemaps came to hand; sent before the requests that wait for it go on.

Handlers are called with ``urls``, a tuple of absolute http(s) URLs, ``origin`` and ``request``, the one
that caused the fetch; they may be coroutines. Sent again when the file changes, or comes again after it
left memory.
"""
