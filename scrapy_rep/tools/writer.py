"""Writes a robots.txt from choices, each of its parts explained by a comment above it.

What it writes is for the crawlers as `scrapy_rep.tools.crawlers` knows them. Needs only the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from scrapy_rep.protocol.display import shown

from .crawlers import AI_CRAWLERS, AI_CRAWLERS_IN_USE, CRAWLERS, Category, Follows

__all__ = ["ChoiceError", "Choices", "written"]

MOST_PARAMETERS: Final = 50
"""Parameters of queries that are closed."""

LONGEST_DELAY: Final = 60.0
"""Seconds. A crawler that waits longer reads fewer than 1,440 pages a day."""

_LONGEST_URL: Final = 2_000
_PARAMETER: Final = re.compile(r"[A-Za-z0-9._~\[\]-]{1,50}")

TRAINING: Final = tuple(token for token in AI_CRAWLERS_IN_USE if AI_CRAWLERS[token] is Category.TRAINING)
"""The crawlers that are blocked so that AI is not trained with the pages."""

_BY_NAME_ONLY: Final = tuple(
    crawler.token for crawler in CRAWLERS if crawler.follows is Follows.OWN_GROUP and not crawler.until
)
"""Crawlers that follow no group for ``*``."""


class ChoiceError(ValueError):
    """A choice from which no line can be written; the message says what to change."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What a site owner wants.

    ``is_closed`` blocks all crawlers, and overrides the rest. ``is_training_closed`` blocks crawlers that train
    AI, and no others. ``parameters`` are the names of parameters in queries that only sort or filter what other
    pages show. ``is_wordpress`` blocks what WordPress has for its authors.
    ``sitemap`` is the URL of the sitemap; ``delay`` the seconds between two requests, 0 for none.
    """

    is_closed: bool = False
    is_training_closed: bool = False
    parameters: tuple[str, ...] = ()
    is_wordpress: bool = False
    sitemap: str = ""
    delay: float = 0.0


def written(choices: Choices) -> str:
    """The robots.txt that says what *choices* say. Raises `ChoiceError` for a value that fits in no line."""
    _require(choices)
    parts = [_closed()] if choices.is_closed else [*_open(choices)]
    return "\n\n".join(map("\n".join, parts)) + "\n"


def telling_paths(choices: Choices) -> tuple[str, ...]:
    """Paths whose verdicts show what *choices* do."""
    of_parameters = [f"/?{name}=1" for name in choices.parameters[:3]]
    return ("/", *of_parameters, *(["/wp-admin/"] if choices.is_wordpress else []))


def _require(choices: Choices) -> None:
    if len(choices.parameters) > MOST_PARAMETERS:
        raise ChoiceError(f"Name at most {MOST_PARAMETERS} parameters; {len(choices.parameters):,} were given.")
    for name in choices.parameters:
        if not _PARAMETER.fullmatch(name):
            raise ChoiceError(f"{shown(name[:50])!r} is not a parameter name: write one such as sort.")
    if not 0 <= choices.delay <= LONGEST_DELAY:  # NaN neither
        raise ChoiceError(f"The delay must be between 0 and {LONGEST_DELAY:g} seconds.")
    if choices.sitemap and not _is_url(choices.sitemap):
        raise ChoiceError("The sitemap must be a complete URL, such as https://example.com/sitemap.xml.")


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    is_plain = text.isascii() and text.isprintable() and not set(text) & set(" #")
    return is_plain and len(text) <= _LONGEST_URL and parts.scheme in {"http", "https"} and bool(parts.hostname)


def _closed() -> list[str]:
    return [
        "# Blocks all crawlers until the site is public. Crawlers that ignore robots.txt still come: use a",
        "# password as well, and remove this before launch.",
        "# lint: ignore-file site-closed (intended)",
        "User-agent: *",
        "# These crawlers ignore groups for *, so they are named.",
        *_agents(_BY_NAME_ONLY),
        "Disallow: /",
    ]


def _open(choices: Choices) -> Iterator[list[str]]:
    if choices.is_training_closed:
        yield [
            "# Blocks crawlers that train AI. Search engines, AI search and assistants that read a page for a",
            "# user stay allowed: none of their crawlers is named here.",
            *_agents(TRAINING),
            "Disallow: /",
        ]
    yield ["# All other crawlers.", "User-agent: *", *_rules(choices)]
    if choices.sitemap:
        yield ["# The pages of this site, for all crawlers.", f"Sitemap: {choices.sitemap}"]


def _rules(choices: Choices) -> Iterator[str]:
    if choices.parameters:
        yield "# URLs that only sort or filter: the parameter comes first, or after others."
    for name in dict.fromkeys(choices.parameters):
        yield f"Disallow: /*?{name}="
        yield f"Disallow: /*&{name}="
    if choices.is_wordpress:
        yield "# WordPress: what its authors use, but not the file that public pages call."
        yield "Disallow: /wp-admin/"
        yield "Allow: /wp-admin/admin-ajax.php"
        yield "# WordPress: its endless search results."
        yield "Disallow: /?s="
        yield "Disallow: /search/"
    if not (choices.parameters or choices.is_wordpress):
        yield "# Everything is allowed."
        yield "Disallow:"
    if choices.delay:
        yield "# Seconds between two requests. Bing and others read it; Google does not."
        yield f"Crawl-delay: {choices.delay:g}"


def _agents(tokens: tuple[str, ...]) -> list[str]:
    return [f"User-agent: {token}" for token in tokens]
