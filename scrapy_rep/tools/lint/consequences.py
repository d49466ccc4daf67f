"""One finding for one cause: what is gone once its cause is repaired is a consequence, and becomes part of it.

A repair is what the advice says. Where that changes how other lines are read, the linter reads the repaired file,
and what it no longer finds there is a consequence. Where it changes one line, a table says what goes with it.
Nothing becomes part of a milder finding, nor of one that is itself a consequence.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final, NamedTuple

from scrapy_rep.protocol.display import number_of
from scrapy_rep.tools.crawlers import crawler_of

from .agent_checks import BROWSER
from .codes import CODES, Severity
from .finding import MOST_OF_A_CODE, Consequence, Finding, line_ranges
from .subject import Subject

_MOST_REPAIRED: Final = 4  # causes of a file: each takes the linter as long as the file itself
_AN_AGENT: Final = b"User-agent: any-crawler"  # whichever it is: what is gone with it is gone with every other


def fold(
    findings: Sequence[Finding], subject: Subject, find: Callable[[Subject], Sequence[Finding]]
) -> tuple[Finding | None, ...]:
    """The *findings* in *subject* with their consequences, and None in the place of each consequence.

    *find* is what finds them. At most `_MOST_REPAIRED` causes are repaired.
    """
    parts: dict[int, list[int]] = {}
    folded: set[int] = set()
    for at, others in chain(_by_repair(findings, subject, find, folded), _by_line(findings, subject)):
        rank = findings[at].severity.rank
        own = [
            other
            for other in others
            if other not in folded and other not in parts and findings[other].severity.rank >= rank
        ]
        if own and at not in folded:
            parts.setdefault(at, []).extend(own)
            folded.update(own)
    if not parts:  # as in nine of ten files
        return tuple(findings)
    return tuple(
        None
        if at in folded
        else replace(finding, consequences=_consequences(findings, parts[at]))
        if at in parts
        else finding
        for at, finding in enumerate(findings)
    )


def merged(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """*findings* with one of each improvement, which has the lines of all: they come by the hundred."""
    first: dict[tuple[str, str], int] = {}
    lines: dict[tuple[str, str], list[int]] = {}
    kept: list[Finding] = []
    for finding in findings:
        kind, key = CODES[finding.code], (finding.code, finding.advice if CODES[finding.code].is_listed else "")
        if not kind.is_listed and kind.severity is not Severity.OPTIMISE:
            kept.append(finding)
        elif key in first:
            lines[key].append(finding.line)
        else:
            first[key], lines[key] = len(kept), []
            kept.append(finding)
    for key, at in first.items():
        if others := lines[key]:
            where = f"line {others[0]}" if len(others) == 1 else f"{len(others):,} lines: {line_ranges(others)}"
            message = f"{kept[at].message} The same holds for {where}."
            kept[at] = replace(kept[at], also=tuple(others), message=message)
    return tuple(kept)


def _consequences(findings: Sequence[Finding], parts: Sequence[int]) -> tuple[Consequence, ...]:
    """Those of *findings* with the indices *parts*, each code once."""
    by_code: dict[str, list[Finding]] = {}
    for part in sorted(parts):
        by_code.setdefault(findings[part].code, []).append(findings[part])
    found = []
    for code, (first, *others) in by_code.items():
        more = f" The same is true of {number_of(len(others), 'more line', 'more lines')}." if others else ""
        found.append(Consequence(code, first.line, first.message + more))
    return tuple(found)


def _by_repair(
    findings: Sequence[Finding],
    subject: Subject,
    find: Callable[[Subject], Sequence[Finding]],
    folded: set[int],
) -> Iterator[tuple[int, list[int]]]:
    """Yield the causes that change how other lines are read, each with what is gone once it alone is repaired.

    A cause in *folded* is not repaired: it is a consequence.
    """
    causes = [at for at, finding in enumerate(findings) if finding.code in _REPAIRS]
    causes.sort(key=lambda at: _ORDER[findings[at].code])
    codes = {finding.code for finding in findings} if causes else set()
    left = 0 if len(subject.body) < len(subject.octets) else _MOST_REPAIRED  # what is cut hides consequences
    for at in causes:
        cause = findings[at]
        is_worth_it = left and at not in folded and not codes.isdisjoint(_WORTH_IT.get(cause.code, codes))
        repaired = _REPAIRS[cause.code](subject, cause) if is_worth_it else None
        if repaired:
            left -= 1
            yield at, _gone(findings, at, repaired, find)


def _gone(
    findings: Sequence[Finding], cause: int, repaired: _Repaired, find: Callable[[Subject], Sequence[Finding]]
) -> list[int]:
    """The indices of those of *findings* that are not found in what is *repaired*.

    A code that is found on another line than before stays: it may be the same finding, or a list of them.
    """
    left = {(_SAME.get(each.code, each.code), repaired.old_line(each.line)) for each in find(repaired.subject)}
    codes = [_SAME.get(finding.code, finding.code) for finding in findings]
    known = {(code, finding.line) for code, finding in zip(codes, findings, strict=True)}
    stays = {code for code, _ in left - known}
    stays |= {code for code, count in Counter(codes).items() if count >= MOST_OF_A_CODE}
    return [
        at
        for at, (code, finding) in enumerate(zip(codes, findings, strict=True))
        if at != cause and code not in stays and (code, finding.line) not in left
    ]


_SAME: Final = {
    "closed-except": "site-closed",
    "duplicate-rule": "useless-rule",
    "noindex-record": "noindex-behind-disallow",
}
"""Codes for what another repair has made of a finding: the line still has the other one."""


class _Repaired(NamedTuple):
    """The file after a repair, which put ``more`` lines above or below ``line``."""

    subject: Subject
    line: int = 0
    more: int = 0

    def old_line(self, number: int) -> int:
        """The line *number* before the repair."""
        return number if number <= self.line else max(self.line, number - self.more)


def _with_line(subject: Subject, number: int, *lines: bytes) -> _Repaired:
    """*subject* with *lines* in the place of line *number*, or of the first one for the whole file."""
    at = max(number, 1) - 1
    start, old = subject.line_starts[at], subject.lines[at]
    text = subject.end_of(at + 1).join(lines)
    body = subject.body[:start] + text + subject.body[start + len(old) :]
    return _Repaired(replace(subject, octets=body, limit=None), at + 1, len(lines) - 1)


def _replaced(subject: Subject, cause: Finding) -> _Repaired | None:
    """The line as the advice writes it, if it does."""
    return _with_line(subject, cause.line, *cause.replacement.split(b"\n")) if cause.replacement else None


def _renamed(subject: Subject, cause: Finding) -> _Repaired | None:
    """The same for the name of a crawler, if that changes a finding about another line."""
    is_judged = cause.replacement and _JUDGED.search(cause.replacement.partition(b":")[2])
    return _replaced(subject, cause) if is_judged else None


def _below_agent(subject: Subject, cause: Finding) -> _Repaired:
    return _with_line(subject, cause.line, _AN_AGENT, subject.lines[max(cause.line, 1) - 1])


_JUDGED: Final = re.compile(rb"google|\*", re.IGNORECASE)
"""The crawlers by whose reading the linter judges: other names change no finding about other lines."""

_SITEMAP: Final = re.compile(rb"^[ \t]*site-?map[ \t]*:", re.IGNORECASE | re.MULTILINE)
_WORD: Final = re.compile(rb"[a-z_-]+")
_REPAIRS: Final[dict[str, Callable[[Subject, Finding], _Repaired | None]]] = {
    **dict.fromkeys((code for code, kind in CODES.items() if kind.is_accident), _replaced),
    "misspelt-key-ignored": _replaced,
    "missing-colon": _replaced,
    "bare-url": _replaced,
    "several-agents": _renamed,
    "misspelt-agent": _renamed,
    "several-paths": _replaced,
    "no-user-agent": _below_agent,
    "rule-before-user-agent": _below_agent,
}
"""The causes that change how other lines are read, those that may cause others first, each with its repair.

There is none where it is not clear.
"""
_WORTH_IT: Final = {
    "several-agents": {"no-star-group", "blocked-css-js", "blocked-images"},
    "misspelt-agent": {"blocked-css-js", "blocked-images"},
}
"""Frequent causes, which are repaired only beside findings that may be gone with them."""

_ORDER: Final = {code: order for order, code in enumerate(_REPAIRS)}


def _by_line(findings: Sequence[Finding], subject: Subject) -> Iterator[tuple[int, list[int]]]:
    """Yield the causes that concern one line, or the file, each with what is gone once that is repaired."""
    lines = {finding.line for finding in findings if finding.code in _ON_ITS_LINE}
    by_line: defaultdict[int, list[int]] = defaultdict(list)
    for at, finding in enumerate(findings):
        if finding.line in lines:
            by_line[finding.line].append(at)
    for places in by_line.values():
        for at in places if len(places) > 1 else ():
            cause = findings[at]
            if parts := _ON_ITS_LINE.get(cause.code):
                found = [(other, parts.get(findings[other].code)) for other in places]
                yield at, [other for other, goes_too in found if goes_too and goes_too(subject, cause)]


def _always(subject: Subject, cause: Finding) -> bool:  # noqa: ARG001
    return True


def _has_sitemap_behind(subject: Subject, cause: Finding) -> bool:  # noqa: ARG001
    """Whether a sitemap is named where the file is not read any more."""
    return _SITEMAP.search(subject.octets, len(subject.body)) is not None


def _is_browser(subject: Subject, cause: Finding) -> bool:
    """Whether the header is read as the name of a browser, by which no crawler goes, and names no other group."""
    record = subject.record(cause.line)
    first, *others = _WORD.findall(record.value.lower()) if record else [b""]
    return first == BROWSER and subject.named.keys().isdisjoint(others)


def _is_to_be_removed(subject: Subject, cause: Finding) -> bool:
    """Whether no other crawler came after a retired one."""
    record = subject.record(cause.line)
    crawler = crawler_of(record.text) if record else None
    return crawler is not None and not crawler.instead


_Condition = Callable[[Subject, Finding], bool]
_OF_A_RULE: Final[dict[str, _Condition]] = dict.fromkeys(
    ("needless-star", "indented-line", "comment-after-rule", "prefix-trap"), _always
)
_ON_ITS_LINE: Final[dict[str, dict[str, _Condition]]] = {
    "file-too-long": {"no-sitemap": _has_sitemap_behind},
    "hash-in-path": {"site-closed": _always, "closed-except": _always},
    "user-agent-header": {"agent-in-several-groups": _is_browser},
    "retired-agent": {
        "agent-with-other-text": _is_to_be_removed,
        "named-group-drops-star-rules": _is_to_be_removed,
    },
    "duplicate-rule": _OF_A_RULE,
    "useless-rule": _OF_A_RULE,
}
"""What goes with a cause on the same line, and when: the advice replaces the value, or removes the line."""
