"""What logs come down to, for a reader who answers to others and knows no robots.txt: in sentences, and as a page.

The template ``report.html`` holds the words of the page and its looks.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from operator import itemgetter
from typing import Any, Final

from scrapy_rep.protocol.display import number_of, shown
from scrapy_rep.tools.answers import day_text

from .logs import Log
from .runs import AGAINST, MOST_SITES, NOT_SENT, UNASKED, Run, Start

LIMITS: Final = (
    "The chain shows a line that was changed, removed, added or swapped. It cannot show lines that were removed or"
    " added at the end, nor changes by one who computed the hashes anew: compare the last hash with a copy of it."
)
_NAMED: Final = 3
_WORDS: Final = {
    "allowed": ("allowed by robots.txt", "green"),
    "excepted": ("against robots.txt, by an exception", "violet"),
    "reported": ("against robots.txt, in the mode report", "red"),
    "ignored": ("rules not checked", "amber"),
    "off": ("robots.txt switched off", "amber"),
    "forbidden": ("not sent", "grey"),
    "unreachable": ("not sent for now", "grey"),
}
"""The verdicts in words. Red is what went against robots.txt without permission, grey what was not sent."""

_ACCESSES: Final = {
    "successful": "read",
    "unavailable": "do not exist, so everything is allowed",
    "unreachable": "could not be fetched",
    "": "unknown",
}


class Summary:
    """All runs of all *logs*: ``total`` has their sums."""

    def __init__(self, logs: Sequence[Log]) -> None:
        self.logs = logs
        self.runs = [run for log in logs for run in log.runs]
        self.number_of_runs = len(self.runs) + sum(log.runs_left_out for log in logs)
        self.total = Run(Start())
        for run in self.runs:
            self.total.merge(run)

    @property
    def is_intact(self) -> bool:
        """Whether nothing shows that a log was changed."""
        return all(log.is_intact for log in self.logs)

    @property
    def unused(self) -> list[dict[str, Any]]:
        """The exceptions that no run needed, with the number of runs that had them."""
        exception = itemgetter("url", "reason", "until")
        used = [*map(exception, self.total.tallies["exceptions_used"].facts())]
        return [each for each in self.total.tallies["exceptions_unused"].facts() if exception(each) not in used]

    def verdict(self) -> tuple[str, str]:
        """What was done, in a sentence, and its colour: red where no exception permitted it."""
        total, against = self.total, self.total.counted(AGAINST)
        unasked, sent = total.counted(UNASKED), number_of(total.sent, "request", "requests")
        if against:
            without = against - total.counted(["excepted"])
            text = f"{against:,} of {sent} went against robots.txt, {self._by_exceptions(against, without)}"
            also = f"; {unasked:,} were sent without checking it" if unasked else ""
            return text + also, "red" if without else "violet"
        if unasked:
            was = "was" if total.sent == 1 else "were"
            return f"{unasked:,} of {sent} {was} sent without checking robots.txt", "amber"
        if not total.sent:
            return "No request was sent", "grey"
        return f"All {sent} kept to robots.txt" if total.sent > 1 else "The request kept to robots.txt", "green"

    def _by_exceptions(self, against: int, without: int) -> str:
        """By whose permission requests went *against* robots.txt, of which so many were *without*."""
        if without:
            return "without an exception" if without == against else f"{without:,} of them without an exception"
        used = self.total.tallies["exceptions_used"].facts()
        dated = "dated " if all(each["until"] for each in used) else ""
        exceptions = f"one {dated}exception" if len(used) == 1 else f"{len(used):,} {dated}exceptions"
        return f"{'all ' if against > 1 else ''}by {exceptions}"

    def sentences(self) -> tuple[str, str, str]:
        """Who crawled what, when and under which name; requests, and who decided; whether the log is intact."""
        return self._who(), self._what(), self._whether()

    def _who(self) -> str:
        if not self.runs:
            return "The log holds no run of a spider."
        spiders = [*dict.fromkeys(run.start.spider for run in self.runs if run.start.spider)]
        agents = [*dict.fromkeys(agent for run in self.runs for agent in run.start.agents)]
        who = f"The spider {_listed(spiders)}" if len(spiders) == 1 else f"The spiders {_listed(spiders)}"
        in_runs = f" in {self.number_of_runs:,} runs" if self.number_of_runs > 1 else ""
        more = "more than " if len(self.total.sites) >= MOST_SITES else ""
        sites = more + number_of(len(self.total.sites), "site", "sites")
        name = f" under the {'name' if len(agents) == 1 else 'names'} {_listed(agents)}" if agents else ""
        return f"{who} requested pages of {sites}{in_runs} {self._when()}{name}."

    def _when(self) -> str:
        times = sorted(filter(None, (time for run in self.runs for time in (run.start.time, run.last_time))))
        if not times:
            return "at an unknown time"
        first, last = day_and_time(times[0]), day_and_time(times[-1])
        if first == last:
            return f"on {first[0]}, {first[1]} UTC,"
        if first[0] == last[0]:
            return f"on {first[0]}, {first[1]} to {last[1]} UTC,"
        return f"from {first[0]}, {first[1]}, to {last[0]}, {last[1]} UTC,"

    def _what(self) -> str:
        total = self.total
        at_least = "At least " if any(run.end is None for run in self.runs) else ""
        sentences = [f"{at_least}{number_of(total.sent, 'request was', 'requests were')} sent"]
        if against := total.counted(AGAINST):
            sentences.append(f"{against:,} of them went against robots.txt: {self._on_whose_word(AGAINST)}")
        else:
            sentences.append("None of them went against robots.txt")
        if unasked := total.counted(UNASKED):
            sentences.append(f"For {unasked:,} the rules were not checked: {self._on_whose_word(UNASKED)}")
        if held_back := total.counted(NOT_SENT):
            further = number_of(held_back, "further request was", "further requests were")
            sentences.append(f"{further} not sent, because robots.txt forbids that or could not be fetched")
        if slowed := total.tallies["backoffs"].total():
            times = number_of(slowed, "time", "times")
            sentences.append(f"{times} the crawl slowed down, because a site asked for that or failed repeatedly")
        if dropped := total.tallies["dropped"].total():
            dropped_ones = number_of(dropped, "link or item was", "links and items were")
            sentences.append(f"{dropped_ones} dropped, because robots.txt or a page says so")
        return ". ".join([*sentences, ""]).rstrip()

    def _on_whose_word(self, verdicts: Sequence[str]) -> str:
        words = [each for each in self.total.tallies["words"].facts() if each["verdict"] in verdicts][:_NAMED]
        named = [f"{each['count']:,} by {each['word']}" for each in words]
        if others := self.total.counted(verdicts) - sum(each["count"] for each in words):
            named.append(f"{others:,} for other reasons")
        return "; ".join(named)

    def _whether(self) -> str:
        lines = sum(log.lines for log in self.logs)
        if not self.is_intact:
            broken = [log for log in self.logs if not log.is_intact]
            return f"The log is NOT intact: {'; '.join(map(_first_problem, broken[:_NAMED]))}."
        what = "log is" if len(self.logs) == 1 else f"{len(self.logs):,} logs are"
        checked = [log.bodies.checked for log in self.logs if log.bodies]
        bodies = (
            f"the {number_of(sum(checked), 'robots.txt that it names is', 'robots.txt files that it names are')}"
            " there, unchanged" if checked else "the robots.txt files that it names were not checked"
        )  # fmt: skip
        return (
            f"The {what} intact as far as the chain of hashes shows: each of {lines:,} lines follows from the one"
            f" before it, and {bodies}."
        )


def _first_problem(log: Log) -> str:
    first, more = log.problems.first[0], log.problems.number - 1
    others = f", and {number_of(more, 'more problem', 'more problems')}" if more else ""
    return f"{shown(str(log.path))}, line {first.line:,}: {first.text}{others}"


def day_and_time(time: str) -> tuple[str, str]:
    """The day, such as ``22 November 2026``, and the time of day of an ISO 8601 *time*."""
    try:
        when = datetime.strptime(time, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
    except ValueError:  # the 31st of February
        return time[:10], time[11:16]
    return day_text(when), f"{when:%H:%M}"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    named = ", ".join(names[:_NAMED]) or "without a name"
    return f"{named} and {more:,} more" if more > 0 else named


def report(summary: Summary) -> str:
    """Return the page about the logs of *summary*. Raises ``ModuleNotFoundError`` without Jinja2."""
    from scrapy_rep.tools.page import Part, page_template  # noqa: PLC0415  # needs an extra, which sentences do not

    total, counts = summary.total, summary.total.counts
    used = total.tallies["exceptions_used"].facts()
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
        exceptions=used + [{**each, "count": 0} for each in summary.unused],
        verdict=summary.verdict(),
        accesses=[(words, total.robots[access]) for access, words in _ACCESSES.items() if total.robots[access]],
    )
