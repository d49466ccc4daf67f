"""The findings, the worst first, each with its fix; and the file line by line, with what each line is."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, Final

from scrapy_rep.protocol import parse
from scrapy_rep.protocol.display import shown
from scrapy_rep.protocol.product_token import asked_token
from scrapy_rep.protocol.records import bom_length
from scrapy_rep.tools.lint import CODES, Finding, Fix, Severity
from scrapy_rep.tools.lint.config import Config
from scrapy_rep.tools.lint.file_linter import FileLinter
from scrapy_rep.tools.lint.finding import apply_fixes
from scrapy_rep.tools.lint.fixes import Fixer
from scrapy_rep.tools.watch.changes import Watch, alike

from .question import CheckQuestion
from .sentences import order_of, sentences

_MOST_LINES: Final = 3_000
"""Lines that are shown without a finding, so that a browser can show the page."""

_MOST_FINDINGS: Final = 2_000
"""Findings that are shown."""

_MOST_VERDICTS: Final = 20_000
"""URLs times crawlers that are asked about before and after a fix."""

_LONGEST_LINE: Final = 500
"""Characters of a line that are shown."""


@dataclass(frozen=True, slots=True)
class FoundHere:
    """A finding, and its ``fix`` if that is safe without a person, or else the one that ``changes`` verdicts."""

    finding: Finding
    fix: Fix | None
    changes: Fix | None = None

    @property
    def key(self) -> str:
        """By what the page names the finding, to fix it."""
        return f"{self.finding.code}:{self.finding.line}:{self.finding.column}"

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return CODES[self.finding.code].title

    def as_facts(self) -> dict[str, Any]:
        """The same as data for JSON, with the edits that fix it."""
        edits = self.fix.edits if self.fix else ()
        facts = [{**asdict(edit), "text": edit.text.decode("utf-8", "replace")} for edit in edits]
        return {**self.finding.as_facts(), "edits": facts}


@dataclass(frozen=True, slots=True)
class AnnotatedLine:
    """A line of the file: ``kind`` says what the parser takes it for, ``comment`` starts with its ``#``.

    ``skipped`` is the number of lines before it that are not shown.
    """

    number: int
    kind: str
    text: str
    comment: str
    findings: tuple[FoundHere, ...] = ()
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class AnnotatedFile:
    """The findings by their ``codes``, the worst first, the ``lines``, and how many of both there are in all."""

    codes: dict[str, list[FoundHere]]
    lines: tuple[AnnotatedLine, ...]
    line_count: int
    finding_count: int
    counts: dict[Severity, int]
    """Findings by severity, the worst first."""


def found_in(question: CheckQuestion) -> tuple[FoundHere, ...]:
    """The findings of the linter that no comment of the file silences, in its order, with their fixes."""
    source = question.source
    linted = FileLinter(Config(), question.flavour, question.limit).lint(
        source.url or "robots.txt", question.robots, url=source.url, hops=source.hops, status=source.status
    )
    fixer = Fixer(question.robots, question.flavour, limit=question.limit)
    return tuple(
        FoundHere(finding, fix, fixer.changing_fix_for(finding))
        for finding, fix in zip(linted.findings, linted.fixes, strict=True)
    )


def fixed(question: CheckQuestion, key: str, action: str = "apply") -> bytes:
    """The file after the fix of the finding with this *key*, or of all with this code; unchanged without any.

    To "apply" makes fixes that are safe; one that changes verdicts takes a "confirm".
    """
    chosen = [here for here in found_in(question) if key in {here.key, here.finding.code}]
    fixes = (here.changes if action == "confirm" else here.fix for here in chosen)
    return apply_fixes(question.robots, filter(None, fixes))[0]


def changes_by(fix: Fix, question: CheckQuestion) -> list[str]:
    """What *fix* changes, in sentences: on URLs of *question* and paths made of rules.

    Asked for the crawlers of *question*, for those that the fix names or no longer names, and for all others.
    """
    bodies = question.robots, fix.applied_to(question.robots)
    old, new = (parse(body, question.flavour, limit=question.limit) for body in bodies)
    named, renamed = ({agent.text for group in file.groups for agent in group.agents} for file in (old, new))
    agents = dict.fromkeys(["*", *question.crawlers, *filter(None, map(asked_token, sorted(named ^ renamed)))])
    watch, crawlers = Watch(tuple(agents), (), question.flavour, question.limit), alike(agents, old, new)
    urls = question.urls[: _MOST_VERDICTS // len(crawlers)]
    paths = ((each, dict.fromkeys([*urls, *each.sample_paths(len(crawlers))])) for each in crawlers)
    return [*watch.sentences(chain.from_iterable(watch.of_verdicts("", each, urls) for each, urls in paths))]


def annotate(question: CheckQuestion, found: tuple[FoundHere, ...]) -> AnnotatedFile:
    """Return the file of *question* with what was *found* in it, at its lines."""
    by_severity = Counter(here.finding.severity for here in found)
    counts = {severity: by_severity[severity] for severity in Severity if by_severity[severity]}
    codes: defaultdict[str, list[FoundHere]] = defaultdict(list)
    by_line: defaultdict[int, list[FoundHere]] = defaultdict(list)
    for here in sorted(found, key=lambda here: order_of(here.finding))[:_MOST_FINDINGS]:
        codes[here.finding.code].append(here)
        for line in here.finding.lines:
            by_line[line].append(here)
    raw = question.robots[bom_length(question.robots) :].splitlines()
    return AnnotatedFile(codes, _lines(raw, question, by_line), len(raw), len(found), counts)


def summary(question: CheckQuestion, found: tuple[FoundHere, ...]) -> list[str]:
    """The answer to *question*, with what was *found* in its file, in sentences."""
    robotstxt = parse(question.robots, question.flavour, limit=question.limit)
    findings = [here.finding for here in found]
    return sentences(robotstxt, findings, access=question.access, status=question.source.status)


def _lines(
    raw: list[bytes], question: CheckQuestion, by_line: dict[int, list[FoundHere]]
) -> tuple[AnnotatedLine, ...]:
    records = parse(question.robots, question.flavour, limit=question.limit).records
    kinds = {record.line: record.kind.value for record in records}
    shown_lines, last = [], 0
    for number, octets in enumerate(raw, start=1):
        found = by_line.get(number)
        if not found and number > _MOST_LINES:
            continue
        text, comment = _parts(octets)
        kind = kinds.get(number) or ("unread" if text.strip() else "comment" if comment else "blank")
        shown_lines.append(AnnotatedLine(number, kind, text, comment, tuple(found or ()), number - last - 1))
        last = number
    return tuple(shown_lines)


def _parts(line: bytes) -> tuple[str, str]:
    """What stands before the comment on *line*, and the comment, both fit to be shown."""
    decoded = line[: 4 * _LONGEST_LINE].decode("utf-8", "surrogateescape").replace("\t", "    ")
    if len(decoded) > _LONGEST_LINE or len(line) > 4 * _LONGEST_LINE:
        decoded = decoded[:_LONGEST_LINE] + "…"
    text, mark, comment = decoded.partition("#")
    return shown(text), mark + shown(comment)
