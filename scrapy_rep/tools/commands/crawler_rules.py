"""One robots.txt as one crawler sees it: verdicts, and explanations as a line, as text, or as data for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from functools import cached_property
from itertools import chain
from typing import IO, TYPE_CHECKING, Any, Final

from scrapy_rep.clock import clock
from scrapy_rep.directives.robots_signals import NO_SIGNALS, RobotsSignals
from scrapy_rep.protocol import GOOGLE, Access, Kind, Reason, Record, RobotsTxt, Verdict
from scrapy_rep.protocol.access import is_html
from scrapy_rep.protocol.dialect import Star
from scrapy_rep.protocol.display import number_of, shown
from scrapy_rep.protocol.other_records import request_rate
from scrapy_rep.tools.crawlers import crawler_of
from scrapy_rep.tools.explanation import Explainer, Explanation, Match

from .said import NOTHING, Said
from .terminal import paint

if TYPE_CHECKING:
    from .crawl_policy import Applied, CrawlPolicy
    from .fetching import Fetched

_SITEMAPS_SHOWN: Final = 5
_LABEL_WIDTH: Final = 13
_STARS: Final = {
    Star.NOT_NAMED: "do not count",
    Star.NO_MATCH: "count only where none of its rules matches",
    Star.ALWAYS: "count, too",
}
_HTML: Final = "an HTML page instead of a robots.txt: it disallows nothing unless it contains rules"
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"))


class CrawlerRules:
    """What ``robotstxt`` says to the crawler with ``token``.

    The robots.txt comes from ``fetched``, or from the file called ``file``, which ``is_html`` when it is a page.
    """

    def __init__(
        self,
        robotstxt: RobotsTxt,
        tokens: Sequence[str],
        *,
        file: str = "",
        is_html: bool = False,
        fetched: Fetched | None = None,
    ) -> None:
        """Use the first of *tokens* that has a group, or else the last."""
        self.robotstxt = robotstxt
        self.tokens = tokens
        self.token = next(filter(robotstxt.has_group, tokens), tokens[-1])
        self.file = file
        self.is_html = is_html
        self.fetched = fetched

    @property
    def has_rules(self) -> bool:
        """Whether a body was read; without one, a missing or unreachable robots.txt allows or disallows all."""
        return self.fetched is None or self.fetched.robots.access is Access.SUCCESSFUL

    @property
    def problem(self) -> str:
        """Why the rules are unknown; empty when they are known."""
        fetched = self.fetched
        if fetched is None or fetched.robots.access is not Access.UNREACHABLE:
            return ""
        return f"{fetched.origin} is unreachable: {fetched.problem}"

    @cached_property
    def explainer(self) -> Explainer:
        """The groups, rules and other records for the crawler."""
        return Explainer(self.robotstxt, self.token)

    @cached_property
    def signals(self) -> RobotsSignals:
        """What robots.txt says to the crawler about the use by AI."""
        return RobotsSignals.of(self.robotstxt, self.token) if self.has_rules else NO_SIGNALS

    def verdict(self, url: str) -> Verdict:
        """Return whether the crawler may request *url*."""
        if self.fetched is None:
            return self.robotstxt.verdict(self.token, url)
        return self.fetched.robots.verdict((self.token,), url)

    def explain(self, url: str) -> Explanation:
        """Return the verdict on *url*, and every rule that matches it."""
        if self.has_rules:
            return self.explainer.explain(url)
        return Explanation(self.verdict(url), ())


def as_line(url: str, verdict: Verdict, applied: Applied, out: IO[str]) -> str:
    """Return one line: the verdict, the line that decided or the reason, the URL, the rule, what else applies."""
    reason = f"line {verdict.line}" if verdict.rule else verdict.reason.value
    rule = f"  {verdict.rule!s}" if verdict.rule else ""
    return f"{_painted(verdict, out, 10)}  {reason:<11}  {shown(url)}{rule}{applied.as_note()}"


def as_text(url: str, rules: CrawlerRules, policy: CrawlPolicy, out: IO[str], said: Said = NOTHING) -> str:
    """Return the whole explanation, on several lines."""
    explanation = rules.explain(url)
    applied = policy.apply(url, explanation.verdict)
    lines = [f"{_painted(explanation.verdict, out)}  {paint(shown(url), 'strong', out)}", ""]
    purposes = policy.purposes if explanation.verdict.allowed else ()
    sections = chain(_sections(rules, explanation, applied, out), said.as_sections(purposes))
    for label, texts in (*sections, *_address(url, rules), ("in a crawl", policy.consequences(url, said))):
        for text in texts:
            lines.append(f"{paint(f'{label:<{_LABEL_WIDTH}}', 'faint', out)}{text}")
            label = ""  # noqa: PLW2901
    return "\n".join(lines)


def _address(url: str, rules: CrawlerRules) -> Iterator[tuple[str, list[str]]]:
    """How the site writes *url*, in a dialect that reads Clean-param or Host."""
    if (requested := _requested_as(url, rules)) != url:
        yield "requested as", [shown(requested)]


def _requested_as(url: str, rules: CrawlerRules) -> str:
    return rules.robotstxt.at_host(rules.robotstxt.clean_param(url)) if rules.has_rules else url


def _painted(verdict: Verdict, out: IO[str], width: int = 0) -> str:
    text, style = ("allowed", "good") if verdict.allowed else ("disallowed", "bad")
    return paint(f"{text:<{width}}", style, out)


def _sections(
    rules: CrawlerRules, explanation: Explanation, applied: Applied, out: IO[str]
) -> Iterator[tuple[str, list[str]]]:
    known = crawler_of(rules.token)
    about = f"  ({known.about})" if known else ""
    yield "crawler", [f"{shown(rules.token) or 'any crawler without a name'}{about}"]
    if rules.robotstxt.dialect != GOOGLE:
        yield "dialect", [rules.robotstxt.dialect.name]
    if rules.fetched:
        yield "origin", [str(rules.fetched.origin)]
        yield "robots.txt", _source(rules.fetched)
    else:
        name = "standard input" if rules.file == "-" else shown(rules.file)
        yield "robots.txt", [name, _HTML] if rules.is_html else [name]
    if not rules.has_rules or explanation.verdict.reason is Reason.ROBOTS_TXT:
        yield "why", [_why_without_rule(explanation.verdict)]
    if not rules.has_rules:
        yield from applied.as_sections(has_delay=False)
        return
    explainer = rules.explainer
    yield "group", [*map(_record, explainer.agents), _why_group(rules)]
    yield "rules", _matches(explanation, out) or ["none matches, so it is allowed"]
    yield from applied.as_sections(has_delay=explainer.delay is not None)
    if explainer.delay:
        yield "delay", [f"line {explainer.delay.line:<6}{shown(explainer.delay.text)} s between two requests"]
    yield "extensions", [*map(_extension, explainer.extensions)]
    sitemaps = rules.robotstxt.sitemaps
    more = len(sitemaps) - _SITEMAPS_SHOWN
    yield "sitemaps", [*map(shown, sitemaps[:_SITEMAPS_SHOWN]), *([f"and {more:,} more"] if more > 0 else [])]


def _source(fetched: Fetched) -> list[str]:
    """Where the robots.txt comes from, and how long it is valid."""
    entry, robots = fetched.entry, fetched.robots
    age = _duration(clock.time() - entry.fetched_at)
    lines = [shown(entry.url), *(f"redirected to {shown(hop)}" for hop in entry.hops)]
    if fetched.problem:
        return [*lines, f"unreachable: {shown(fetched.problem)}", f"next attempt after {_date(robots.until)}"]
    if robots.is_stale:
        attempts = number_of(entry.failures, "attempt", "attempts")
        lines.append(f"unreachable after {attempts}: using the copy fetched {age} ago")
    is_new = fetched.is_fresh and not robots.is_stale
    origin = "fetched just now" if is_new else f"from the store, fetched {age} ago"
    lines.append(f"HTTP status {entry.status}, {entry.access.value}, {len(entry.body):,} octets, {origin}")
    if is_html(entry.body):
        lines.append(_HTML)
    return [*lines, f"valid until {_date(robots.until)}"]


def _why_without_rule(verdict: Verdict) -> str:
    if verdict.reason is Reason.ROBOTS_TXT:
        return "/robots.txt itself is always allowed (RFC 9309 section 2.2.2)"
    if verdict.reason is Reason.UNAVAILABLE:
        return "without a robots.txt everything is allowed (RFC 9309 section 2.3.1.3)"
    if verdict.allowed:
        return "until robots.txt can be fetched everything is allowed, as REP_UNREACHABLE says"
    return "until robots.txt can be fetched everything is disallowed (RFC 9309 section 2.3.1.4)"


def _why_group(rules: CrawlerRules) -> str:
    explainer, name = rules.explainer, shown(rules.token) or "the crawler"
    number = number_of(len(explainer.rules), "rule", "rules")
    if explainer.by_name:
        return f"{name} is named, so groups of * {_STARS[rules.robotstxt.dialect.star]}; {number}"
    if explainer.agents:
        return f"{name} is not named, so groups of * count; {number}"
    return f"{name} is not named, and there is no group of *"


def _record(record: Record) -> str:
    return f"line {record.line:<6}{shown(record.key.decode('utf-8', 'surrogateescape'))}: {shown(record.text)}"


def _matches(explanation: Explanation, out: IO[str]) -> list[str]:
    width = min(max((len(str(match.rule)) for match in explanation.matches), default=0), 60)
    lines = []
    for match in explanation.matches:
        text = f"line {match.rule.line:<6}{match.rule!s:<{width}}  length {match.length}"
        decides = match.rule == explanation.verdict.rule
        lines.append(paint(f"{text}  decides", "strong", out) if decides else text)
    return lines


def _extension(record: Record) -> str:
    rate = request_rate(record.value) if record.kind is Kind.REQUEST_RATE else None
    meaning = f"  {rate.seconds / rate.requests:g} s between two requests" if rate else ""
    return _record(record) + meaning


def as_facts(
    url: str, rules: CrawlerRules, policy: CrawlPolicy, said: Said = NOTHING, *, full: bool
) -> dict[str, Any]:
    """Return the explanation as data for JSON; the verdict alone, with what else applies, when not *full*."""
    if not full:
        verdict = rules.verdict(url)
        return {**_verdict_facts(url, rules, verdict), **policy.apply(url, verdict).as_facts()}
    explanation = rules.explain(url)
    facts = _verdict_facts(url, rules, explanation.verdict)
    facts |= policy.apply(url, explanation.verdict).as_facts()
    facts |= {**said.as_facts(), "consequences": policy.consequences(url, said)}
    facts["robots_txt"] = _source_facts(rules)
    if not rules.has_rules:
        return facts
    explainer = rules.explainer
    agents = [*map(_record_facts, explainer.agents)]
    return {
        **facts,
        "dialect": rules.robotstxt.dialect.name,
        "requested_as": _requested_as(url, rules),
        "group": {"by_name": explainer.by_name, "agents": agents, "rules": len(explainer.rules)},
        "matches": [_match_facts(match) for match in explanation.matches],
        "crawl_delay": rules.robotstxt.crawl_delay(rules.token),
        "extensions": [*map(_record_facts, (*filter(None, [explainer.delay]), *explainer.extensions))],
        "sitemaps": list(rules.robotstxt.sitemaps),
    }


def _verdict_facts(url: str, rules: CrawlerRules, verdict: Verdict) -> dict[str, Any]:
    return {
        "url": url,
        "agent": rules.token,
        "allowed": verdict.allowed,
        "reason": verdict.reason.value,
        "line": verdict.line or None,
        "rule": str(verdict.rule) if verdict.rule else None,
        "origin": str(rules.fetched.origin) if rules.fetched else None,
    }


def _source_facts(rules: CrawlerRules) -> dict[str, Any]:
    fetched = rules.fetched
    if fetched is None:
        return {"file": rules.file, "is_html": rules.is_html}
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
        "fetched_at": _iso_date(entry.fetched_at),
        "until": _iso_date(fetched.robots.until),
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


def _duration(seconds: float) -> str:
    for length, unit in _UNITS:
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 0.0):.0f} s"


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def _iso_date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="seconds")
