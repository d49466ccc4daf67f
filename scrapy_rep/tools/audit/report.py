"""The page about audit logs, ``report.html``. The template holds its words and its looks."""

from __future__ import annotations

from typing import Final

from scrapy_rep.tools.page import Part, page_template

from .runs import AGAINST, NOT_SENT, UNASKED
from .sentences import LIMITS, Summary, day_and_time

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


def report(summary: Summary) -> str:
    """Return the page about the logs of *summary*."""
    total, counts = summary.total, summary.total.counts
    used, unused = (total.tallies[name].facts() for name in ("exceptions_used", "exceptions_unused"))
    needed = [{**each, "count": 0, "examples": []} for each in used]
    left = [{**each, "count": 0} for each in unused]  # those that no crawl needed
    return page_template(__package__).render(
        {name: tallies.facts() for name, tallies in total.tallies.items()},
        summary=summary,
        limits=LIMITS,
        moment=lambda time: ", ".join(day_and_time(time)) if time else "unknown",
        allowed=counts.get("allowed", 0),
        against=total.groups(AGAINST),
        unasked=total.groups(UNASKED),
        forbidden=total.groups(NOT_SENT),
        numbers=[total.counted(verdicts) for verdicts in (AGAINST, UNASKED, NOT_SENT)],
        parts=[Part(name, counts.get(verdict, 0), colour) for verdict, (name, colour) in _WORDS.items()],
        exceptions=used + [each for each in left if each not in needed],
        accesses=[(words, total.robots[access]) for access, words in _ACCESSES.items() if total.robots[access]],
    )
