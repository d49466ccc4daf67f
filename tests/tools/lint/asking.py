"""How the tests of the linter ask it, and the URLs that they ask the engine about."""

from __future__ import annotations

from typing import Any, Final

import pytest

from scrapy_rep.protocol import GOOGLE, GOOGLE_EXACT, Dialect
from scrapy_rep.tools.lint import Finding, lint

HEAD: Final = b"User-agent: *\n"
BOTH = pytest.mark.parametrize("dialect", [GOOGLE, GOOGLE_EXACT], ids=lambda dialect: dialect.name)
URLS: Final = [
    "/", "/a", "/ab", "/abab", "/a/", "/a/b", "/a/b/", "/b", "/ba", "/bb", "/aa", "/a/aa/b", "/a/index.html",
    "/a$", "/%C3%A9", "/%C3%A9x", "//a",
]  # fmt: skip


def codes(body: bytes, dialect: Dialect = GOOGLE, **source: Any) -> set[str]:
    """The codes of what is found in *body*."""
    return {each.code for each in lint(body, dialect, **source)}


def only(body: bytes, code: str) -> Finding:
    """The one finding of *code* in *body*."""
    (finding,) = [each for each in lint(body) if each.code == code]
    return finding
