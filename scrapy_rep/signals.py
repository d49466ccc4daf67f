"""The signals of scrapy_rep, for ``crawler.signals.connect``; Scrapy's own are in ``scrapy.signals``."""

from __future__ import annotations

from typing import Final

sitemaps_found: Final = object()
"""Sent when a robots.txt that names sitemaps has been loaded, before the requests that wait for it continue.

Handlers receive ``urls`` (a tuple of absolute http(s) URLs), ``origin`` (`Origin`) and ``request`` (the `Request`
that caused the fetch); they may be coroutines. Sent again when the file has changed, or is loaded again after its
eviction from memory.
"""

link_filtered: Final = object()
"""Sent for each link that `LinkFilter` drops because robots.txt forbids it (``REP_FILTER_LINKS``).

Handlers receive ``request`` (the `Request` that is not scheduled), ``verdict`` (`Verdict`) and ``response`` (the
`Response` whose callback yielded it); they must not be coroutines.
"""

page_directives: Final = object()
"""Sent before the callback of each response that says something to this crawler (``REP_PAGE_DIRECTIVES``).

Handlers receive ``response`` and ``directives``, what X-Robots-Tag and meta robots say together; they must not
be coroutines.
"""

ai_signals: Final = object()
"""Sent before the callback of each response about whose use by AI something was said (``REP_PURPOSES``).

Handlers receive ``response``, ``answers`` (a dict from `Purpose` to `Permission`) and ``statements`` (a list of
`Statement`); they must not be coroutines.
"""
