"""The page of each code: what a finding means, with a bad and a good example. It ships with the package."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Final

_FILE: Final = Path(__file__).with_name("pages.md")  # docs/lint.md
_ENTRY: Final = re.compile(r"^### ([a-z0-9-]+)\n\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)


def page(code: str) -> str:
    """The page of *code* in Markdown, without its heading; empty for a code that has none."""
    return _pages().get(code, "")


@lru_cache(maxsize=1)
def _pages() -> dict[str, str]:
    return {code: text.strip() for code, text in _ENTRY.findall(_FILE.read_text("utf-8"))}
