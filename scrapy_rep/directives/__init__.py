"""What a page and a site say beside Allow and Disallow: page directives, signals about the use by AI, sitemaps.

`page_directives` reads what a page says to a crawler, `ai_answers` for which purposes it may be used. Both take
header fields, HTML and files as they were received, and need only the standard library.

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
