"""Turn robots.txt files into records: one body, or a folder of files, which several processes share."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from scrapy_rep.protocol import GOOGLE, MAX_SIZE, Dialect, Extension, Group, Kind, Record, parse
from scrapy_rep.protocol.access import is_html
from scrapy_rep.protocol.other_records import seconds
from scrapy_rep.protocol.product_token import is_global, token_in
from scrapy_rep.protocol.records import bom_length
from scrapy_rep.tools.files import read_file
from scrapy_rep.tools.lint import Finding, findings_in, subject_of
from scrapy_rep.tools.processes import map_in_processes

from .crawlers import Treatments
from .records import Counts, SiteRecord
from .signals import CONTROL_TOKENS, answers_in, signal_lines
from .sketch import sketch

_LONGEST_NAME: Final = 64  # octets
_LINES_OF_A_FINDING: Final = 100
_RULES: Final = frozenset({Kind.ALLOW, Kind.DISALLOW})
_FILES_WORTH_PROCESSES: Final = 200


def measure(
    site: str, body: bytes, *, dialect: Dialect = GOOGLE, limit: int = MAX_SIZE, **fetched: Any
) -> SiteRecord:
    """Return the record of *site*, whose robots.txt is *body*.

    *limit* is the number of octets that are parsed; *fetched* holds the record's fields about the fetch.
    """
    subject = subject_of(body, dialect, limit=limit, **_source(site, fetched))
    findings = findings_in(subject)
    # The linter has read it, in one of Google's dialects.
    robotstxt = subject.robotstxt if dialect.is_googles else parse(body, dialect, limit=limit)
    read = subject if dialect.is_googles else robotstxt
    records, groups = read.records, read.groups
    is_page, agents = is_html(body), _rules_by_name(groups)
    treatments = Treatments(robotstxt, records)
    signals = {} if is_page else signal_lines(records)
    return SiteRecord(
        site=site,
        bytes=len(body),
        sha256=sha256(body).hexdigest(),
        is_html=is_page,
        **_line_figures(body, records),
        **_record_figures(records),
        groups=len(groups),
        agents=agents,
        crawl_delays=_crawl_delays(read.extensions),
        sitemaps=len(robotstxt.sitemaps),
        findings=dict(Counter(finding.code for finding in findings)),
        finding_lines=_finding_lines(findings),
        crawlers=treatments.of_named(),
        ai_crawlers=treatments.of_ai_crawlers(),
        ai_signals=signals,
        ai_answers=answers_in(robotstxt, signals),
        control_tokens=_control_tokens(treatments, agents),
        sketch="" if is_page else sketch(records),
        shuts_out=not robotstxt.verdict("", "/").allowed,
        **fetched,
    )


def _source(site: str, fetched: Mapping[str, Any]) -> dict[str, Any]:
    """What the linter needs to know about the fetch, if there was one."""
    if not fetched.get("url"):
        return {}
    return {"url": f"{site}/robots.txt", "hops": fetched.get("hops", ()), "status": fetched.get("status")}


def _line_figures(body: bytes, records: Iterable[Record]) -> dict[str, Any]:
    # A NUL ends a line, as for the parser.
    lines = [line.partition(b"\0")[0].strip() for line in body[bom_length(body) :].splitlines()]
    blank = lines.count(b"")
    comments = sum(line.startswith(b"#") for line in lines)
    known = sum(record.kind is not Kind.UNKNOWN for record in records)
    unread = len(lines) - blank - comments - known
    return {
        "lines": len(lines),
        "blank_lines": blank,
        "comment_lines": comments,
        "lines_with_comment": sum(b"#" in line for line in lines) - comments,
        "unread_lines": unread,
        "unread_share": round(unread / len(lines), 6) if lines else 0.0,
    }


def _record_figures(records: Iterable[Record]) -> dict[str, Any]:
    kinds = Counter(record.kind.value for record in records)
    paths = [record.value for record in records if record.kind in _RULES]
    return {
        "records": dict(kinds),
        "user_agent_fields": kinds[Kind.USER_AGENT.value],
        "allow": kinds[Kind.ALLOW.value],
        "disallow": kinds[Kind.DISALLOW.value],
        "wildcards": sum(b"*" in path for path in paths),
        "anchors": sum(path.endswith(b"$") for path in paths),
    }


def _rules_by_name(groups: Iterable[Group]) -> dict[str, Counts]:
    """The numbers of rules for each name, in its first spelling."""
    found: dict[str, Counts] = {}
    spellings: dict[str, str] = {}
    for group in groups:
        allow = sum(rule.allow for rule in group.rules)
        group_names = (_name(agent.value) for agent in group.agents)
        for name in dict.fromkeys(spellings.setdefault(name.lower(), name) for name in group_names):
            counts = found.setdefault(name, {"allow": 0, "disallow": 0})
            counts["allow"] += allow
            counts["disallow"] += len(group.rules) - allow
    return found


def _name(value: bytes) -> str:
    """The crawler that a user-agent line with *value* names: ``*``, a token, or empty when it names none."""
    name = b"*" if is_global(value) else token_in(value, wide=True)[:_LONGEST_NAME]
    return name.decode("utf-8", "backslashreplace")


def _crawl_delays(extensions: Iterable[Extension]) -> dict[str, float]:
    """The last readable Crawl-delay for each name."""
    by_run: dict[int, tuple[tuple[Record, ...], float]] = {}  # thousands of records may share thousands of lines
    for extension in extensions:
        delay = seconds(extension.record.value) if extension.record.kind is Kind.CRAWL_DELAY else None
        if delay is not None:
            by_run[id(extension.agents)] = extension.agents, delay
    return {_name(agent.value): delay for agents, delay in by_run.values() for agent in agents}


def _finding_lines(findings: Iterable[Finding]) -> dict[str, list[int]]:
    """The first lines of each code; line 0 is the whole file."""
    found: dict[str, list[int]] = {}
    for finding in findings:
        lines = found.setdefault(finding.code, [])
        if len(lines) < _LINES_OF_A_FINDING and finding.line not in lines:
            lines.append(finding.line)
    return found


def _control_tokens(treatments: Treatments, agents: Iterable[str]) -> dict[str, str]:
    named = {name.lower() for name in agents}
    names = (token.name for token in CONTROL_TOKENS)
    return {name: treatments.of(name) for name in names if name.lower() in named}


def files_in(folder: Path) -> list[Path]:
    """Return the files in *folder* and its subfolders, without hidden ones. Raises ``OSError``."""
    found = []
    for parent, folders, files in os.walk(folder, onerror=_raise):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(parent, name) for name in sorted(files) if not name.startswith(".")]
    return found


def _raise(error: OSError) -> None:
    raise error


def site_of(folder: Path, path: Path) -> str:
    """Return the site in the record of the file at *path* in *folder*."""
    name = path.relative_to(folder).as_posix()
    return os.fsencode(name.removesuffix(".txt")).decode("utf-8", "backslashreplace")


def measure_files(folder: Path, paths: list[Path], dialect: Dialect, limit: int) -> Iterator[SiteRecord]:
    """Yield a record for each file at *paths* in *folder*, in this order.

    A file that cannot be read yields a record with the problem.
    """
    measure_one = partial(_measure_file, folder, dialect, limit)
    return map_in_processes(measure_one, paths, worth_it=_FILES_WORTH_PROCESSES)


def _measure_file(folder: Path, dialect: Dialect, limit: int, path: Path) -> SiteRecord:
    site = site_of(folder, path)
    try:
        body = read_file(path)
    except OSError as error:
        return SiteRecord(site=site, access="unreachable", problem=error.strerror or str(error))
    return measure(site, body, dialect=dialect, limit=limit)
