"""The Robots Exclusion Protocol (RFC 9309): parse a robots.txt, ask it about URLs.

Imports only the standard library: no Scrapy, no sockets, no clock (time comes in as ``now``).
"""

from __future__ import annotations

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

__all__ = [
    "DIALECTS",
    "GOOGLE",
    "GOOGLE_EXACT",
    "MAX_SIZE",
    "SCHEMES",
    "Access",
    "CleanParam",
    "Dialect",
    "Extension",
    "Group",
    "Kind",
    "Origin",
    "Reason",
    "Record",
    "RequestRate",
    "RobotsTxt",
    "Rule",
    "Verdict",
    "access",
    "parse",
    "path_of",
    "product_token",
    "split_url",
]
