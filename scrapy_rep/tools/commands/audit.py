"""Sum up audit logs (REP_AUDIT), and verify that they are intact.

    scrapy robots audit FILE… [--bodies DIR] [--html OUT] [--json]

Shows who crawled what, which requests went against robots.txt and who decided that, which exceptions applied,
which robots.txt files the crawl read, what pages said about themselves, and which links and items it dropped. Each
line of a log has the SHA-256 of the line before; --bodies also checks that DIR (REP_AUDIT_BODIES) has each
robots.txt that a log names, unchanged. --html writes an HTML report to OUT; it needs Jinja2:
pip install 'scrapy_rep[report]'.
Exits with 0 if all logs are intact, 1 if one is not or a robots.txt is missing or changed, 2 if a file cannot be
read. The chain cannot show that lines are missing at the end: compare the last hash with a copy.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from scrapy_rep.protocol.display import number_of, shown
from scrapy_rep.tools.audit.logs import Log, Remark
from scrapy_rep.tools.audit.runs import AGAINST, NOT_SENT, UNASKED, Run
from scrapy_rep.tools.audit.sentences import LIMITS, Summary, report

from . import FOUND, OK
from .inputs import WITHOUT_JINJA2
from .terminal import labelled, paint, print_error

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_SHOWN: Final = 20  # groups


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="an audit log")
    parser.add_argument("--bodies", metavar="DIR", help="also check the robots.txt files in this folder")
    parser.add_argument("--html", metavar="OUT", help="write an HTML report to this file")
    parser.add_argument("--json", action="store_true", help="print one JSON object per log")


def run(arguments: Namespace, settings: BaseSettings, out: IO[str]) -> int:  # noqa: ARG001
    """Run the command; return the exit code."""
    if arguments.html and not find_spec("jinja2"):
        return print_error("audit", WITHOUT_JINJA2)
    logs, code = _read_all(arguments.files, Path(arguments.bodies) if arguments.bodies else None)
    summary = Summary(logs)
    if arguments.html and logs:
        try:
            Path(arguments.html).write_text(report(summary), encoding="utf-8")
        except OSError as error:
            return print_error("audit", f"{arguments.html}: {error.strerror or error}")
    if arguments.json:
        out.writelines(f"{json.dumps(_log_facts(log))}\n" for log in logs)
    elif logs:
        out.writelines(f"{line}\n" for line in _text(summary, out))
    return code or (OK if summary.is_intact else FOUND)


def _read_all(names: Iterable[str], bodies: Path | None) -> tuple[list[Log], int]:
    """The logs that can be read, and the exit code for those that cannot."""
    logs, code = [], OK
    if bodies and not bodies.is_dir():
        return [], print_error("audit", f"{bodies}: not a folder")
    for name in dict.fromkeys(names):
        try:
            logs.append(Log(Path(name), bodies))
        except (OSError, ValueError) as error:  # noqa: PERF203
            code = print_error("audit", f"{name}: {getattr(error, 'strerror', None) or error}")
    return logs, code


def _text(summary: Summary, out: IO[str]) -> Iterator[str]:
    done, colour = summary.verdict()
    yield paint(f"{done}.", {"red": "bad", "green": "good"}.get(colour, "strong"), out)
    yield from summary.sentences()
    for log in summary.logs:
        yield ""
        yield from _log_lines(log, out)
    if sections := [*labelled(_sections(summary), out)]:
        yield from ["", *sections]
    yield ""
    yield LIMITS


def _log_lines(log: Log, out: IO[str]) -> Iterator[str]:
    state = paint("intact", "good", out) if log.is_intact else paint("NOT INTACT", "bad", out)
    name = shown(str(log.path))
    yield f"{paint(name, 'strong', out)}: {number_of(log.lines, 'line', 'lines')}, {state}"
    for remark in log.problems.first:
        yield _remark(name, remark)
    if log.problems.number > len(log.problems.first):
        yield f"  and {log.problems.number - len(log.problems.first):,} more problems"
    for remark in log.notes.first:
        yield _remark(name, remark)
    if log.bodies:
        yield f"  {number_of(log.bodies.checked, 'robots.txt is', 'robots.txt files are')} there, unchanged"
    yield f"  last hash  {log.last_hash}"


def _remark(name: str, remark: Remark) -> str:
    return f"  {name}:{remark.line}: {remark.text}"


def _sections(summary: Summary) -> Iterator[tuple[str, list[str]]]:
    """What a terminal has room for; the page and JSON have the rest."""
    yield "against", _lines(summary.total.groups(AGAINST))
    yield "not checked", _lines(summary.total.groups(UNASKED))
    yield "forbidden", _lines(summary.total.groups(NOT_SENT))
    yield "unused", _lines(summary.unused)


def _lines(facts: Sequence[Mapping[str, Any]]) -> list[str]:
    """The first *facts*, each with its number, who decided, and an example, as far as these are known."""
    lines = [line for fact in facts[:_SHOWN] for line in _fact(fact)]
    more = sum(fact["count"] for fact in facts[_SHOWN:])
    return [*lines, f"and {more:,} more"] if more else lines


def _fact(fact: Mapping[str, Any]) -> Iterator[str]:
    texts = (text for name, text in fact.items() if name not in ("count", "word", "examples"))
    yield "  ".join(filter(None, [f"{fact['count']:,}", *texts]))
    if fact.get("word"):
        yield f"  by {fact['word']}"
    yield from (f"  {example}" for example in fact["examples"][:1])


def _log_facts(log: Log) -> dict[str, Any]:
    return {
        "file": str(log.path), "lines": log.lines, "intact": log.is_intact, "last_hash": log.last_hash,
        "problems": [asdict(remark) for remark in log.problems.first],
        "problem_count": log.problems.number,
        "notes": [asdict(remark) for remark in log.notes.first],
        "bodies_checked": log.bodies.checked if log.bodies else None,
        "runs": [_run_facts(run) for run in log.runs], "runs_left_out": log.runs_left_out,
    }  # fmt: skip


def _run_facts(run: Run) -> dict[str, Any]:
    facts = asdict(run.start)
    start = facts.pop("time")
    lists = {name: tallies.facts() for name, tallies in run.tallies.items() if name != "words"}
    return {
        **facts, "start": start, "end": run.last_time, "end_reason": run.end, "counts": run.counts,
        "sites": len(run.sites), "groups_left_out": run.tallies["groups"].more, **lists,
        "stale": {fact["origin"]: fact["count"] for fact in lists["stale"]},
        "robots": {access or "unknown": count for access, count in run.robots.items()},
    }  # fmt: skip
