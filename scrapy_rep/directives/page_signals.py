"""Page directives that say something about the use by AI; which of them count is for the crawl's owner to choose.

Each function takes the same `PageDirectives` in one meaning: that of DeviantArt and img2dataset, Bing or Google.
"""

from __future__ import annotations

from collections.abc import Iterator

from .answers import Statement, shortened
from .page import PageDirectives
from .statement import Directive
from .vocabulary import Category, Signal


def noai(page: PageDirectives, media_type: str = "") -> list[Statement]:
    """Return the statements of ``noai``, and for an image those of ``noimageai``: no training.

    *media_type* is the Content-Type of the response. DeviantArt, 2022; img2dataset and datadiligence obey it.
    """
    words = {"noai", "noimageai"} if media_type.strip().lower().startswith("image/") else {"noai"}
    return [
        _no(Signal.NOAI, Category.AI_TRAIN, one) for one in page.statements if one.is_read and one.name in words
    ]


def bing(page: PageDirectives) -> list[Statement]:
    """Return what ``noarchive`` means to Bing: the page is neither put into answers nor trained with.

    ``nocache`` limits both to URL, title and snippet, which is no category: it is recorded. Where a page has both,
    Bing takes it as ``nocache``: the one case where one more word permits more (Bing blog, 2023-09).
    """
    categories: tuple[Category | None, ...] = (Category.AI_INPUT, Category.AI_TRAIN)
    if "nocache" in page.marks:
        categories = (None,)
    return [
        _no(Signal.BING, category, one)
        for one in page.statements
        if one.is_read and one.name in {"noarchive", "nocache"}
        for category in categories
    ]


def google(page: PageDirectives) -> list[Statement]:
    """Return what ``nosnippet`` and ``max-snippet:0`` mean to Google: the page is no direct input to AI answers.

    "Robots meta tag", 2026-03-24: they apply to AI Overviews and AI Mode too.
    """
    return [_no(Signal.GOOGLE, Category.AI_INPUT, one) for one in _without_snippet(page)]


def _without_snippet(page: PageDirectives) -> Iterator[Directive]:
    for one in page.statements:
        if one.is_read and (one.name == "nosnippet" or (one.name == "max-snippet" and one.value == 0)):
            yield one


def _no(signal: Signal, category: Category | None, directive: Directive) -> Statement:
    says = None if category is None else False
    return Statement(signal, category, says, directive.source.value, shortened(directive.text))
