"""What the pages of a survey say about a finding. A survey that is resumed may have codes of another version."""

from __future__ import annotations

import re
from typing import Final

from scrapy_rep.tools.lint import CODES, Severity

_FACT: Final = re.compile(r"\{\d\}")
_LAST_FACT: Final = re.compile(r"(?:[:,] |(?<=\w))\{\d\}\.$")

SEVERITY_COLOURS: Final = {
    Severity.ERROR: "red", Severity.WARNING: "amber", Severity.OPTIMISE: "blue", Severity.NOTE: "grey",
}  # fmt: skip
SEVERITY_NAMES: Final = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.OPTIMISE: "possible improvement",
    Severity.NOTE: "note",
}
FINDING_GROUPS: Final = {
    Severity.ERROR: "Errors",
    Severity.WARNING: "Warnings",
    Severity.OPTIMISE: "Possible improvements",
    Severity.NOTE: "Notes",
}


def severity_of(code: str) -> Severity:
    """Return the severity of findings of *code*."""
    return CODES[code].severity if code in CODES else Severity.NOTE


def finding_title(code: str) -> str:
    """Return the name of findings of *code*."""
    return CODES[code].title if code in CODES else code


def finding_text(code: str) -> str:
    """Return what findings of *code* mean and what to do.

    What only a line can tell is an ellipsis, or left out.
    """
    if code not in CODES:
        return ""
    message, advice = CODES[code].message, CODES[code].advice
    message = _FACT.sub("…", _LAST_FACT.sub(".", message))
    return message if "{" in advice else f"{message} {advice}"
