"""An explanation as text for a person, or as plain data for a program."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from time import time
from typing import IO, TYPE_CHECKING, Any, Final

from scrapy_rep.protocol import Explanation, Kind, Match, Reason, Record, Verdict
from scrapy_rep.protocol.display import shown
from scrapy_rep.protocol.html import is_html
from scrapy_rep.protocol.other_records import request_rate

from .subject import Subject
from .terminal import paint

if TYPE_CHECKING:
    from .fetching import Fetched

_SITEMAPS: Final = 5  # that are shown to a person
_LABEL: Final = 13
_HTML: Final = "an HTML page in place of a robots.txt: it forbids nothing unless it holds rules"
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"))


def line_about(url: str, verdict: Verdict, out: IO[str]) -> str:
    """One line: the verdict, the line that decided or the reason, the URL, the rule."""
    why = f"line {verdict.line}" if verdict.rule else verdict.reason.value
    rule = f"  {verdict.rule!s}" if verdict.rule else ""
    return f"{_verdict(verdict, out, 10)}  {why:<11}  {shown(url)}{rule}"


def text_about(url: str, subject: Subject, out: IO[str]) -> str:
    """The whole explanation, on several lines."""
    explanation = subject.explain(url)
    lines = [f"{_verdict(explanation.verdict, out)}  {paint(shown(url), 'strong', out)}", ""]
    for label, texts in _parts(subject, explanation, out):
        for text in texts:
            lines.append(f"{paint(f'{label:<{_LABEL}}', 'faint', out)}{text}")
            label = ""  # noqa: PLW2901
    return "\n".join(lines)


def _verdict(verdict: Verdict, out: IO[str], width: int = 0) -> str:
    text, how = ("allowed", "good") if verdict.allowed else ("disallowed", "bad")
    return paint(f"{text:<{width}}", how, out)


def _parts(subject: Subject, explanation: Explanation, out: IO[str]) -> Iterator[tuple[str, list[str]]]:
    yield "crawler", [shown(subject.token) or "any, by no name"]
    if subject.fetched:
        yield "origin", [str(subject.fetched.origin)]
        yield "robots.txt", _how_obtained(subject.fetched)
    else:
        name = "standard input" if subject.file == "-" else shown(subject.file)
        yield "robots.txt", [name, _HTML] if subject.is_html else [name]
    if not subject.has_rules or explanation.verdict.reason is Reason.ROBOTS_TXT:
        yield "why", [_why_no_rule(explanation.verdict)]
    if not subject.has_rules:
        return
    explainer = subject.explainer
    yield "group", [*map(_record, explainer.agents), _why_group(subject)]
    yield "rules", _rules(explanation, out) or ["none matches, so it is allowed"]
    if explainer.delay:
        yield "delay", [f"line {explainer.delay.line:<6}{shown(explainer.delay.text)} s between two requests"]
    yield "extensions", [*map(_extension, explainer.extensions)]
    sitemaps = subject.robotstxt.sitemaps
    more = len(sitemaps) - _SITEMAPS
    yield "sitemaps", [*map(shown, sitemaps[:_SITEMAPS]), *([f"and {more:,} more"] if more > 0 else [])]


def _how_obtained(fetched: Fetched) -> list[str]:
    entry, robots = fetched.entry, fetched.robots
    age = _span(time() - entry.fetched_at)
    lines = [shown(entry.url), *(f"redirected to {shown(hop)}" for hop in entry.hops)]
    if fetched.problem:
        lines.append(f"unreachable: {shown(fetched.problem)}")
        return [*lines, f"asked again from {_date(robots.until)} on"]
    if robots.is_stale:
        lines.append(f"unreachable in {entry.failures} attempts: what was known {age} ago stands in")
    came = "fetched just now" if fetched.is_fresh and not robots.is_stale else f"from the store, fetched {age} ago"
    lines.append(f"HTTP status {entry.status}, {entry.access.value}, {len(entry.body):,} octets, {came}")
    if is_html(entry.body):
        lines.append(_HTML)
    return [*lines, f"holds until {_date(robots.until)}"]


def _why_no_rule(verdict: Verdict) -> str:
    if verdict.reason is Reason.ROBOTS_TXT:
        return "/robots.txt itself is always allowed (RFC 9309 section 2.2.2)"
    if verdict.reason is Reason.UNAVAILABLE:
        return "without a robots.txt everything is allowed (RFC 9309 section 2.3.1.3)"
    fate = "allowed, as REP_UNREACHABLE says" if verdict.allowed else "disallowed (RFC 9309 section 2.3.1.4)"
    return f"until robots.txt is reached nobody knows its rules, and everything is {fate}"


def _why_group(subject: Subject) -> str:
    explainer, name = subject.explainer, shown(subject.token) or "it"
    number = f"{len(explainer.rules):,} {'rule' if len(explainer.rules) == 1 else 'rules'}"
    if explainer.by_name:
        return f"{name} is named, so groups of * do not count; {number}"
    if explainer.agents:
        return f"{name} is not named, so groups of * count; {number}"
    return f"{name} is not named, and there is no group of *"


def _record(record: Record) -> str:
    return f"line {record.line:<6}{shown(record.key.decode('utf-8', 'surrogateescape'))}: {shown(record.text)}"


def _rules(explanation: Explanation, out: IO[str]) -> list[str]:
    width = min(max((len(str(match.rule)) for match in explanation.matches), default=0), 60)
    lines = []
    for match in explanation.matches:
        decides = match.rule == explanation.verdict.rule
        text = f"line {match.rule.line:<6}{match.rule!s:<{width}}  length {match.length}"
        lines.append(paint(f"{text}  decides", "strong", out) if decides else text)
    return lines


def _extension(record: Record) -> str:
    rate = request_rate(record.value) if record.kind is Kind.REQUEST_RATE else None
    meaning = f"  {rate.seconds / rate.requests:g} s between two requests" if rate else ""
    return _record(record) + meaning


def facts_about(url: str, subject: Subject, *, full: bool) -> dict[str, Any]:
    """The explanation as data that JSON can hold; not *full*, the verdict alone."""
    if not full:
        return _verdict_facts(url, subject, subject.verdict(url))
    explanation = subject.explain(url)
    facts = _verdict_facts(url, subject, explanation.verdict)
    facts["robots_txt"] = _source_facts(subject.fetched) if subject.fetched else _file_facts(subject)
    if not subject.has_rules:
        return facts
    explainer = subject.explainer
    return {
        **facts,
        "group": {"by_name": explainer.by_name, "agents": [*map(_record_facts, explainer.agents)],
                  "rules": len(explainer.rules)},
        "matches": [_match_facts(match) for match in explanation.matches],
        "crawl_delay": subject.robotstxt.crawl_delay(subject.token),
        "extensions": [*map(_record_facts, (*filter(None, [explainer.delay]), *explainer.extensions))],
        "sitemaps": list(subject.robotstxt.sitemaps),
    }  # fmt: skip


def _verdict_facts(url: str, subject: Subject, verdict: Verdict) -> dict[str, Any]:
    return {
        "url": url,
        "agent": subject.token,
        "allowed": verdict.allowed,
        "reason": verdict.reason.value,
        "line": verdict.line or None,
        "rule": str(verdict.rule) if verdict.rule else None,
        "origin": str(subject.fetched.origin) if subject.fetched else None,
    }


def _file_facts(subject: Subject) -> dict[str, Any]:
    return {"file": subject.file, "is_html": subject.is_html}


def _source_facts(fetched: Fetched) -> dict[str, Any]:
    entry = fetched.entry
    return {
        "url": entry.url,
        "status": entry.status,
        "access": fetched.robots.access.value,
        "hops": list(entry.hops),
        "octets": len(entry.body),
        "is_html": is_html(entry.body),
        "sha256": entry.sha256,
        "from_store": not fetched.is_fresh,
        "fetched_at": _iso(entry.fetched_at),
        "until": _iso(fetched.robots.until),
        "problem": fetched.problem or None,
    }


def _record_facts(record: Record) -> dict[str, Any]:
    return {
        "line": record.line,
        "key": record.key.decode("utf-8", "backslashreplace"),
        "value": shown(record.text),
    }


def _match_facts(match: Match) -> dict[str, Any]:
    return {"line": match.rule.line, "rule": str(match.rule), "length": match.length}


def _span(seconds: float) -> str:
    for length, unit in _UNITS:
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 0.0):.0f} s"


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="seconds")
