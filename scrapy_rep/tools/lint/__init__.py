"""What is wrong with a robots.txt, or could be better: findings with a line, a code and what to write instead.

It looks at the parser's records and asks the engine's patterns; it reads no line of its own. Nothing is
claimed that is not so for the engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scrapy_rep.protocol.dialect import GOOGLE, Dialect
from scrapy_rep.protocol.robotstxt import MAX_SIZE, require_octets

from . import agents, lines, others, paths, rules, whole
from .finding import MOST_OF_A_CODE, Code, Finding, Findings, Severity
from .subject import Subject

__all__ = ["CODES", "MOST_OF_A_CODE", "Code", "Finding", "Severity", "lint"]

CODES: Final[dict[str, Code]] = {
    code: kind for checks in (whole, lines, agents, paths, rules, others) for code, kind in checks.CODES.items()
}
"""What there is to find, by its code; docs/lint.md has an entry for each."""


def lint(
    body: bytes,
    dialect: Dialect = GOOGLE,
    *,
    limit: int | None = MAX_SIZE,
    url: str = "",
    hops: Sequence[str] = (),
    status: int | None = None,
) -> tuple[Finding, ...]:
    """What there is to say about the robots.txt in *body*, by line and column; nothing for a good one.

    *limit* octets are read (None: all). *url* is where the file was asked for, *hops* are the URLs to which
    that was redirected, and *status* is that of the last answer; what is not known is not judged. Of each code
    the first `MOST_OF_A_CODE` findings are given. Raises `TypeError` for a *body* that is not ``bytes``, and
    nothing else, whatever the body holds.
    """
    require_octets(body)
    subject = Subject(body, dialect, limit, url, hops, status)
    found = Findings(CODES)
    whole.check(subject, found)
    if subject.is_readable:
        for check in (lines.check, agents.check, paths.check, rules.check, others.check):
            check(subject, found)
    return found.sorted()
