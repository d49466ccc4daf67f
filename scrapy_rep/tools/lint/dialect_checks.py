"""The one place for checks of what other dialects would read differently; there are none yet."""

from __future__ import annotations

from typing import Final

from .finding import Code, Findings
from .subject import Subject

CODES: Final[dict[str, Code]] = {}


def check(subject: Subject, found: Findings) -> None:
    """Compare what other dialects read in *subject*."""
