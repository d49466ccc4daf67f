"""What a verdict, a decision, a delay, a record and a signal say: once, as data for JSON and as text for people.

Commands, the web checker, contracts and assertions render answers with these functions. Data are flat dicts of
JSON values, texts are lines without colours, in which untrusted characters are escaped. Imports neither Scrapy nor
anything that asks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from math import ceil
from typing import Any, Final, TypeVar

from scrapy_rep.directives import PageDirectives
from scrapy_rep.directives.vocabulary import Purpose, Signal, Statement, answers
from scrapy_rep.protocol import Kind, Origin, Reason, Record, Rule, Verdict
from scrapy_rep.protocol.display import abridged, duration, iso_time, shown
from scrapy_rep.protocol.freshness import Entry
from scrapy_rep.protocol.robotstxt import request_rate

T = TypeVar("T")

MOST: Final = 50
"""Rules, statements and licenses that are shown of each."""

WORDS: Final[Mapping[bool | None, str]] = {True: "allowed", False: "disallowed", None: "unknown"}
"""How a verdict is spelt; None is one that is not known."""

_WITHOUT_RULE: Final = {
    (True, Reason.ROBOTS_TXT): "/robots.txt itself is always allowed (RFC 9309 section 2.2.2)",
    (True, Reason.UNAVAILABLE): "without a robots.txt everything is allowed (RFC 9309 section 2.3.1.3)",
    (True, Reason.UNREACHABLE): "until robots.txt can be fetched everything is allowed, as REP_UNREACHABLE says",
    (False, Reason.UNREACHABLE): (
        "until robots.txt can be fetched everything is disallowed (RFC 9309 section 2.3.1.4)"
    ),
}

_BARE: Final = frozenset({Signal.CONTENT_USAGE, Signal.CONTENT_SIGNAL, Signal.RSL})
"""Signals whose statements are written without the name of the signal."""


# A verdict: whether a URL may be crawled.


def url_problem(url: str) -> str:
    """Why the rules of a file say nothing about *url*: it is neither a URL nor a path. Empty where they do."""
    if url.startswith("/"):
        return ""
    if "://" not in url:
        return f"{shown(url)} is neither a URL nor a path: write https://{shown(url)} or /{shown(url)}"
    return "" if Origin.find(url) else f"{shown(url)}: not a URL with a robots.txt"


def rule_text(rule: Rule | None, longest: int = 0) -> str:
    """*rule* as it is written, or its first *longest* characters if that is not 0; empty for none."""
    text = str(rule or "")
    return abridged(text, longest) if longest else text


def verdict_facts(verdict: Verdict, longest: int = 0) -> dict[str, Any]:
    """``allowed``, ``line`` and ``rule``, which are None where no rule decided, and ``reason``."""
    return {
        "allowed": verdict.allowed,
        "line": verdict.line or None,
        "rule": rule_text(verdict.rule, longest) or None,
        "reason": verdict.reason.value,
    }


def why(verdict: Verdict) -> str:
    """What decided: ``line 3, Disallow: /x``, or the reason where no rule did."""
    return f"line {verdict.line}, {verdict.rule}" if verdict.rule else verdict.reason.value


def verdict_text(verdict: Verdict) -> str:
    """The verdict and what decided, such as ``disallowed by line 3, Disallow: /x`` or ``allowed: no rule``."""
    return f"{WORDS[verdict.allowed]}{' by ' if verdict.rule else ': '}{why(verdict)}"


def why_without_rule(verdict: Verdict) -> str:
    """A sentence that says why no rule of the file was asked; empty where the rules were."""
    return _WITHOUT_RULE.get((verdict.allowed, verdict.reason), "")


# A decision: what becomes of a request.


def decision_text(stamp: Mapping[str, Any] | None) -> str:
    """Why a request with this *stamp* passes or not: ``excepted, line 7, Disallow: /api/ (until …: …)``."""
    if not stamp or not stamp["reason"]:
        return "robots.txt is not checked"
    line = f"line {stamp['line']}, " if stamp["line"] else ""
    decided, exception = f"{line}{stamp['rule'] or stamp['reason']}", stamp["exception"]
    if stamp["verdict"] in WORDS.values() or stamp["verdict"] == "forbidden":
        return decided
    return f"{stamp['verdict']}, {decided}{f' ({until(exception)})' if exception else ''}"


def until(exception: Mapping[str, Any]) -> str:
    """The end of an *exception*, as its data name it, and its reason: ``until 2027-03-31: ticket 47``."""
    return f"until {exception['until']}: {shown(exception['reason'])}"


# Times, delays and other records.


def time_text(seconds: float) -> str:
    """POSIX *seconds* for people: ``2026-11-22 12:00 UTC``."""
    text = iso_time(seconds)
    return f"{text[:10]} {text[11:16]} UTC"


def time_fact(seconds: float | None) -> str | None:
    """POSIX *seconds* in ISO 8601, such as ``2026-11-22T12:00:00+00:00``; None stays."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="seconds")


def day_text(when: datetime) -> str:
    """The day of *when*: ``22 November 2026``."""
    return f"{when.day} {when:%B %Y}"


def on_line(line: int) -> str:
    """`` on line 4``; empty for a line that is not known."""
    return f" on line {line}" if line else ""


def delay_text(seconds: float | str) -> str:
    """What a delay of so many *seconds*, or of a number as it is written, means."""
    written = shown(seconds) if isinstance(seconds, str) else f"{seconds:g}"
    return f"{written} s between two requests"


def hold_text(seconds: float) -> str:
    """What a back-off says that goes on for so many *seconds*."""
    return f"no request for {duration(ceil(seconds))} more, because the site asked for that or failed repeatedly"


def record_text(record: Record) -> str:
    """The line of *record*, its key and its value; of a Request-rate its meaning, too."""
    rate = request_rate(record.value) if record.kind is Kind.REQUEST_RATE else None
    key = shown(record.key.decode("utf-8", "surrogateescape"))
    meaning = f"  {delay_text(rate.seconds / rate.requests)}" if rate else ""
    return f"line {record.line:<6}{key}: {shown(record.text)}{meaning}"


def record_facts(record: Record) -> dict[str, Any]:
    """``line``, ``key`` and ``value`` of *record*."""
    key = record.key.decode("utf-8", "backslashreplace")
    return {"line": record.line, "key": key, "value": shown(record.text)}


def entry_facts(entry: Entry) -> dict[str, Any]:
    """What was fetched, and when: what a store keeps of the robots.txt of an origin, but for its body."""
    return {
        "access": entry.access.value,
        "status": entry.status,
        "url": entry.url,
        "hops": list(entry.hops),
        "octets": len(entry.body),
        "sha256": entry.sha256,
        "fetched_at": time_fact(entry.fetched_at),
    }


# Signals about the use by AI.


def uses(statements: Iterable[Statement]) -> dict[str, str]:
    """The answer for each use: ``yes``, ``no`` or ``unknown`` by category."""
    return {category.value: answer.value for category, answer in answers(statements).items()}


def signal_lines(
    statements: Sequence[Statement], licenses: Sequence[str], purposes: Collection[Purpose]
) -> Iterator[str]:
    """Each use with its answer and its *statements*, then what maps to no use, then *licenses*.

    *purposes* are answered even where nothing speaks of them.
    """
    if not (statements or licenses):
        yield from ["no signals"] if purposes else []
        return
    for category, answer in answers(statements).items():
        found = [one for one in statements if one.category is category]
        if found or category in purposes:
            lead = f"{category:<10}{answer:<9}"
            for one in most(sorted(found, key=lambda one: one.allows is not False)):
                yield f"{lead}{_statement(one)}"
                lead = " " * len(lead)
            if not found:
                yield lead.rstrip()
    for one in most([one for one in statements if one.category is None]):
        yield f"{'recorded':<19}{_statement(one)}"
    for url in most(licenses):
        yield f"{'license':<19}{shown(url)}"


def _statement(one: Statement) -> str:
    where = f"line {one.line}" if one.line else one.source.rpartition("/")[2]
    text = f"{one.signal}: {one.text}" if one.signal in _BARE else one.text
    return f"{where:<14}{shown(text)}{'  irregular' if one.irregular else ''}"


# What a page says about itself.


def page_lines(said: PageDirectives) -> Iterator[str]:
    """What holds for the crawler, then each rule as it is written, with its source and whom it addresses."""
    yield f"{said}: holds for this crawler" if said.words else "none holds for this crawler"
    width = min(max((len(one.text) for one in said.statements), default=0), 40)
    for one in most(said.statements):
        addressed = f"for {shown(one.agent)}" if one.agent else "for every crawler"
        yield f"{one.source:<14}{shown(one.text):<{width}}  {addressed}{'' if one.is_read else '  unread'}"


def page_facts(said: PageDirectives) -> dict[str, Any]:
    """``directives``, the words that hold, ``rules`` as they are written, and ``unread`` ones."""
    return {
        "directives": said.words,
        "rules": [{**asdict(one), "source": one.source.value} for one in most(said.statements)],
        "unread": list(most(said.unread)),
    }


# Lists in sentences.


def some(names: Sequence[str], number: int, noun: str = "") -> list[str]:
    """*names*; of more than *number* of them the first ones, and how many more there are."""
    more = len(names) - number
    return [*names] if more <= 1 else [*names[:number], f"{more:,} more{f' {noun}s' if noun else ''}"]


def listed(names: Sequence[str]) -> str:
    """*names* with an "and" before the last."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def most(things: Sequence[T]) -> Sequence[T]:
    """The first `MOST` of *things*."""
    return things[:MOST]
