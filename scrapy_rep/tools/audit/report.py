"""The page about audit logs: the figures of ``report.html``. The template holds its words and its looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from scrapy_rep.tools.page import Part, page_template

from .bounded import Tallies
from .runs import AGAINST, NOT_SENT, UNASKED, Note, Run
from .sentences import LIMITS, Summary, day_and_time

_ROWS: Final = 100  # of a table
_MODES: Final = 6  # sites of a crawl
_WORDS: Final = {
    "allowed": ("allowed by robots.txt", "green"),
    "excepted": ("against robots.txt, by an exception", "violet"),
    "reported": ("against robots.txt, in the mode report", "amber"),
    "ignored": ("rules not checked", "blue"),
    "off": ("robots.txt switched off", "grey"),
    "forbidden": ("not sent", "red"),
    "unreachable": ("not sent for now", "red"),
}
_ACCESSES: Final = {
    "successful": "read",
    "unavailable": "do not exist, so everything is allowed",
    "unreachable": "could not be fetched",
    "": "unknown",
}


@dataclass(frozen=True, slots=True)
class Table:
    """The first rows of a table, and how many more there are."""

    rows: list[dict[str, Any]]
    more: int = 0


def report(summary: Summary) -> str:
    """Return the page about the logs of *summary*."""
    return page_template(__package__).render(figures(summary))


def figures(summary: Summary) -> dict[str, Any]:
    """Return all that the template shows."""
    total, counts = summary.total, summary.total.counts
    return {
        "runs": summary.number_of_runs,
        "sentences": summary.sentences(),
        "limits": LIMITS,
        "is_intact": summary.is_intact,
        "sent": total.sent,
        "allowed": counts.get("allowed", 0),
        "against": total.counted(AGAINST),
        "unasked": total.counted(UNASKED),
        "forbidden": total.counted(NOT_SENT),
        "files": sum(total.robots.values()),
        "unreachable": total.robots["unreachable"],
        "stale": total.stale.total(),
        "parts": [Part(name, counts.get(verdict, 0), colour) for verdict, (name, colour) in _WORDS.items()],
        "against_table": _groups(total, AGAINST),
        "unasked_table": _groups(total, UNASKED),
        "forbidden_table": _groups(total, NOT_SENT),
        "exceptions": _exceptions(total),
        "accesses": _cut(
            [
                {"words": words, "count": total.robots[access]}
                for access, words in _ACCESSES.items()
                if total.robots[access]
            ]
        ),
        "unreachable_table": _cut(
            [
                {"site": site, "error": error, "count": tally.count}
                for (site, error), tally in total.unreachable.ranked()
            ]
        ),
        "backoff_table": _cut(
            [
                {"site": slot or "unknown", "why": "; ".join(tally.examples), "count": tally.count}
                for slot, tally in total.backoffs.ranked()
            ]
        ),
        "directives": _notes(total.directives),
        "reserved": _notes(total.reserved),
        "dropped": _notes(total.dropped),
        "stale_table": _cut([{"site": site, "count": tally.count} for site, tally in total.stale.ranked()]),
        "crawls": _cut([_crawl(run) for run in summary.runs]),
        "logs": summary.logs,
    }


def _cut(rows: list[dict[str, Any]]) -> Table:
    return Table(rows[:_ROWS], max(len(rows) - _ROWS, 0))


def _groups(run: Run, verdicts: Sequence[str]) -> Table:
    return _cut([
        {"count": tally.count, "site": group.origin, "rule": group.rule, "word": group.word,
         "examples": tally.examples}
        for group, tally in run.groups.ranked() if group.verdict in verdicts
    ])  # fmt: skip


def _notes(notes: Tallies[Note]) -> Table:
    return _cut([
        {**note._asdict(), "count": tally.count, "examples": tally.examples} for note, tally in notes.ranked()
    ])  # fmt: skip


def _exceptions(run: Run) -> Table:
    """The exceptions, those that let most requests pass first, and those that no crawl needed last."""
    used = {exception: tally.count for exception, tally in run.exceptions.ranked()}
    unused = [exception for exception, _ in run.unused.ranked() if exception not in used]
    counts = used | dict.fromkeys(unused, 0)
    return _cut([{**exception._asdict(), "count": count} for exception, count in counts.items()])


def _crawl(run: Run) -> dict[str, Any]:
    start = run.start
    modes = [start.mode or "unknown", *(f"{mode}: {site}" for site, mode in start.modes)]
    return {
        "spider": start.spider or "unknown", "project": start.project, "began": _moment(start.time),
        "ended": _moment(run.last_time) if run.end is not None else "no end recorded",
        "reason": run.end or "", "names": list(start.agents), "user_agent": start.user_agent,
        "versions": f"scrapy_rep {start.scrapy_rep or 'unknown'}, Scrapy {start.scrapy or 'unknown'}",
        "modes": modes[:_MODES], "more_modes": max(len(modes) - _MODES, 0), "sent": run.sent, "run": start.run,
    }  # fmt: skip


def _moment(time: str) -> str:
    return ", ".join(day_and_time(time)) if time else "unknown"
