"""What a robots.txt says about the use by AI: lines, answers, and the control tokens that it addresses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from scrapy_rep.directives.robots_signals import RobotsSignals
from scrapy_rep.directives.terms import is_url
from scrapy_rep.directives.vocabulary import Answer, Signal, answers
from scrapy_rep.protocol import Kind, Record, RobotsTxt

from .records import Counts

_NAMES: Final = {
    Kind.CONTENT_SIGNAL: "Content-Signal",
    Kind.CONTENT_USAGE: "Content-Usage",
    Kind.LICENSE: "License",
}
SIGNALS: Final = tuple(_NAMES.values())
"""The records that are counted."""

Answers = dict[str, dict[str, str]]
"""By signal, the answer for each category about which it says something."""


@dataclass(frozen=True, slots=True)
class ControlToken:
    """A product token that no crawler sends: its group only says what ``owner`` may do with what it crawled.

    ``since`` is the month in which the owner announced it.
    """

    name: str
    owner: str
    since: str


CONTROL_TOKENS: Final = (
    ControlToken("Google-Extended", "Google", "2023-09"),
    ControlToken("Applebot-Extended", "Apple", "2024-06"),
)
"""Checked on 2026-09-21."""


def signal_lines(records: Iterable[Record]) -> Counts:
    """The number of lines of each signal; a License counts when it names a URL."""
    return dict(
        Counter(
            _NAMES[record.kind]
            for record in records
            if record.kind in _NAMES and (record.kind is not Kind.LICENSE or is_url(record.text))
        )
    )


def answers_in(robotstxt: RobotsTxt, lines: Counts) -> Answers:
    """What the signals of *robotstxt* answer for ``/`` to a crawler that no group names.

    What may not be requested has no preferences. *lines* are those that `signal_lines` counts.
    """
    if not lines or not robotstxt.verdict("", "/").allowed:
        return {}
    said = RobotsSignals.of(robotstxt, "").statements("/")
    found = {
        str(signal): answers(one for one in said if one.signal is signal)
        for signal in (Signal.CONTENT_SIGNAL, Signal.CONTENT_USAGE)
    }
    stated = {
        signal: {str(category): str(answer) for category, answer in each.items() if answer is not Answer.UNKNOWN}
        for signal, each in found.items()
    }
    return {signal: each for signal, each in stated.items() if each}
