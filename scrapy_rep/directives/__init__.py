"""Directives beyond Allow and Disallow: page directives (noindex, nofollow), AI signals, and sitemaps.

`page_directives` reads the directives of a page for a crawler; `ai_answers` tells whether AI may use the page.
Both take header fields, HTML and files as received, and need only the standard library.

>>> from scrapy_rep.directives import ai_answers, page_directives
>>> print(page_directives(["mybot"], [("X-Robots-Tag", "noindex, max-snippet: 50")]))
noindex, max-snippet=50
>>> ai_answers("mybot", "/", headers=[("Content-Usage", "train-ai=n")])["ai-train"]
False
"""

from __future__ import annotations

from .ai import ai_answers
from .page import Directive, PageDirectives, Source, page_directives

__all__ = ["Directive", "PageDirectives", "Source", "ai_answers", "page_directives"]
