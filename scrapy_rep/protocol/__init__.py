"""The Robots Exclusion Protocol (RFC 9309): parse a robots.txt and check URLs against it.

Imports only the standard library: no Scrapy, no sockets, no clock (time comes in as ``now``).
"""

from __future__ import annotations

from .access import Access, access
from .dialect import DIALECTS, GOOGLE, GOOGLE_EXACT, Dialect
from .origin import SCHEMES, Origin, split_url
from .path_pattern import path_of
from .product_token import product_token
from .reader import MAX_SIZE, Extension, Group
from .records import Kind, Record, Rule
from .robotstxt import ENGINE, CleanParam, RequestRate, RobotsTxt, parse
from .rules import Reason, Verdict

__all__ = [
    "DIALECTS", "ENGINE", "GOOGLE", "GOOGLE_EXACT", "MAX_SIZE", "SCHEMES", "Access", "CleanParam", "Dialect",
    "Extension", "Group", "Kind", "Origin", "Reason", "Record", "RequestRate", "RobotsTxt", "Rule", "Verdict",
    "access", "parse", "path_of", "product_token", "split_url",
]  # fmt: skip
