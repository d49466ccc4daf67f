"""The Robots Exclusion Protocol (RFC 9309) without Scrapy: standard library only, no I/O, no clock."""

from .access import Access, access
from .agent import product_token
from .dialect import DIALECTS, GOOGLE, GOOGLE_EXACT, Dialect
from .explanation import Explainer, Explanation, Match
from .extensions import Extension, RequestRate
from .lint import CODES, Code, Finding, Severity, lint
from .origin import SCHEMES, Origin
from .parser import MAX_SIZE, parse
from .reading import Group
from .record import Kind, Record
from .robotstxt import RobotsTxt
from .verdict import Reason, Rule, Verdict

__all__ = [
    "CODES",
    "DIALECTS",
    "GOOGLE",
    "GOOGLE_EXACT",
    "MAX_SIZE",
    "SCHEMES",
    "Access",
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
    "product_token",
]
