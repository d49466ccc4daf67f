"""The Robots Exclusion Protocol (RFC 9309): parse a robots.txt, ask it about URLs.

Imports only the standard library: no Scrapy, no sockets, no clock (time comes in as ``now``). The linter and
the explainer are public here too, and load on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .access import Access, access
from .dialect import Dialect
from .dialects import DIALECTS, GOOGLE, GOOGLE_EXACT
from .origin import SCHEMES, Origin, split_url
from .other_records import Extension, RequestRate
from .path_pattern import path_of
from .plain_reader import Group
from .product_token import product_token
from .records import Kind, Record
from .robotstxt import MAX_SIZE, RobotsTxt, parse
from .url_records import CleanParam
from .verdict import Reason, Rule, Verdict

if TYPE_CHECKING:
    from scrapy_rep.tools.explanation import Explainer, Explanation, Match
    from scrapy_rep.tools.lint import CODES, Code, Finding, Severity, lint

__all__ = [
    "CODES",
    "DIALECTS",
    "GOOGLE",
    "GOOGLE_EXACT",
    "MAX_SIZE",
    "SCHEMES",
    "Access",
    "CleanParam",
    "Code",
    "Dialect",
    "Explainer",
    "Explanation",
    "Extension",
    "Finding",
    "Group",
    "Kind",
    "Match",
    "Origin",
    "Reason",
    "Record",
    "RequestRate",
    "RobotsTxt",
    "Rule",
    "Severity",
    "Verdict",
    "access",
    "lint",
    "parse",
    "path_of",
    "product_token",
    "split_url",
]

_HOMES = {
    **dict.fromkeys(("Explainer", "Explanation", "Match"), "scrapy_rep.tools.explanation"),
    **dict.fromkeys(("CODES", "Code", "Finding", "Severity", "lint"), "scrapy_rep.tools.lint"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
