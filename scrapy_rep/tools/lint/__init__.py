"""The linter: errors in a robots.txt and possible improvements, each with a line, a code and advice.

It uses the parser's records and the engine's patterns, so that whatever it claims is true for the engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill, indent
from typing import Final

from scrapy_rep.protocol import GOOGLE, MAX_SIZE, Dialect

from . import accidents, agent_checks, content_usage_checks, path_checks, record_checks, rule_checks, text_checks
from .codes import CODES, Code, Severity
from .consequences import fold, merged
from .finding import MOST_OF_A_CODE, Consequence, Edit, Finding, Findings, Fix
from .fixes import fix_for
from .subject import Subject

__all__ = [
    "CODES", "MOST_OF_A_CODE", "Code", "Consequence", "Edit", "Finding", "Fix", "Severity", "fix_for", "lint",
]  # fmt: skip

_LINE_BY_LINE: Final = (
    accidents,
    text_checks,
    agent_checks,
    path_checks,
    rule_checks,
    record_checks,
    content_usage_checks,
)


def lint(
    body: bytes,
    dialect: Dialect = GOOGLE,
    *,
    limit: int | None = MAX_SIZE,
    url: str = "",
    hops: Sequence[str] = (),
    status: int | None = None,
) -> tuple[Finding, ...]:
    """Return the findings in the robots.txt *body*, by line and column, each with its consequences.

    They are about Google's reading, also if *dialect* is none of Google's: that has no findings of its own.
    *limit* is the number of octets that are parsed (None: all). *url* is the URL that was requested, *hops* are
    its redirects, *status* is that of the final response; what is unknown is not checked. Each code has at most
    `MOST_OF_A_CODE` findings, an improvement one for all its lines. Raises `TypeError` for a *body* that is not
    ``bytes``, and nothing else, whatever the body contains.
    """
    return findings_in(Subject.of(body, dialect, limit, url=url, hops=hops, status=status))


def findings_in(subject: Subject) -> tuple[Finding, ...]:
    """The findings in *subject*, as `lint` returns them."""
    return merged(filter(None, fold(separate_findings_in(subject), subject, separate_findings_in)))


def separate_findings_in(subject: Subject) -> tuple[Finding, ...]:
    """The findings in *subject*, their consequences as findings of their own."""
    found = Findings()
    text_checks.check_file(subject, found)
    if subject.is_readable:
        for checks in _LINE_BY_LINE:
            checks.check(subject, found)
    return found.sorted()


def example_of(code: str) -> Finding:
    """The finding of *code* in its bad example."""
    bad = CODES[code].bad
    is_call = bad.startswith("lint(")
    findings = eval(bad, {"lint": lint}) if is_call else lint(f"{bad}\n".encode())  # noqa: S307  # our own table
    return next(finding for finding in findings if finding.code == code)


def explained(code: str, width: int = 100) -> str:
    """What the findings of *code* mean, with an example, as plain text of *width* columns."""
    kind, finding = CODES[code], example_of(code)
    parts = (
        f"{code}: {kind.severity}: {kind.title}",
        indent(kind.bad, "    "),
        fill(f"{finding.message} {finding.advice}", width),
        fill(kind.why, width),
        kind.good and "Good:",
        indent(kind.good, "    "),
    )
    return "\n\n".join(filter(None, parts)) + "\n"
