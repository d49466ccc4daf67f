"""For tests: a conformance kit for parsers, a site with a robots.txt, and assertions about a crawl.

`scrapy_rep.testing.plugin` is the pytest plugin. Nothing here is imported in a crawl, and pytest is needed by the
plugin alone. The names below are loaded on first use, so that the plugin starts without Scrapy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .assertions import assert_allowed, assert_disallowed
    from .conformance import Answer, Conformance, ask
    from .site import RobotsSite, SiteRequest
    from .situations import SITUATIONS, Question, Situation

__all__ = [
    "SITUATIONS",
    "Answer",
    "Conformance",
    "Question",
    "RobotsSite",
    "SiteRequest",
    "Situation",
    "ask",
    "assert_allowed",
    "assert_disallowed",
]

_MODULES = {
    "assertions": ("assert_allowed", "assert_disallowed"),
    "conformance": ("Answer", "Conformance", "ask"),
    "site": ("RobotsSite", "SiteRequest"),
    "situations": ("SITUATIONS", "Question", "Situation"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
