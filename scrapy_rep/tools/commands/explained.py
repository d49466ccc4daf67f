"""The explanation of a verdict: as a line, as text of several lines, or as data for JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain
from typing import IO, TYPE_CHECKING, Any, Final

from scrapy_rep.clock import clock
from scrapy_rep.protocol import GOOGLE, Reason, Verdict
from scrapy_rep.protocol.body_kind import BodyKind, body_kind
from scrapy_rep.protocol.dialect import Star
from scrapy_rep.protocol.display import duration, number_of, shown
from scrapy_rep.tools.answers import (
    WORDS,
    delay_text,
    hold_text,
    record_facts,
    record_text,
    time_fact,
    time_text,
    verdict_facts,
    why_without_rule,
)
from scrapy_rep.tools.crawlers import crawler_of
from scrapy_rep.tools.explanation import Explanation

from .sites import NOTHING, CrawlerRules, UrlStatements
from .terminal import paint

if TYPE_CHECKING:
    from scrapy_rep.tools.profiles import Reading

    from .crawl_policy import Applied, CrawlPolicy
    from .fetching import FetchedRobots

_SITEMAPS_SHOWN: Final = 5
_LABEL_WIDTH: Final = 13
_STARS: Final = {
    Star.NOT_NAMED: "do not count",
    Star.NO_MATCH: "count only where none of its rules matches",
    Star.ALWAYS: "count, too",
}
_INSTEAD: Final = "instead of a robots.txt: it disallows nothing unless it contains rules"


_NOT_APPLIED: Final = dict.fromkeys(("mode", "exception", "lapsed_exception", "delay_exception"))


def as_line(url: str, verdict: Verdict, applied: Applied | None, out: IO[str]) -> str:
    """Return one line: the verdict, the line that decided or the reason, the URL, the rule, what else applies."""
    reason = f"line {verdict.line}" if verdict.rule else verdict.reason.value
    rule = f"  {verdict.rule!s}" if verdict.rule else ""
    return f"{_painted(verdict, out, 10)}  {reason:<11}  {shown(url)}{rule}{applied.as_note() if applied else ''}"


def as_text(
    url: str, rules: CrawlerRules, policy: CrawlPolicy | None, out: IO[str], said: UrlStatements = NOTHING
) -> str:
    """Return the whole explanation, on several lines; *policy* is that of a crawl, if one applies."""
    explanation = rules.explain(url)
    applied = policy.apply(url, explanation.verdict) if policy else None
    lines = [f"{_painted(explanation.verdict, out)}  {paint(shown(url), 'strong', out)}", ""]
    purposes = policy.purposes if policy and explanation.verdict.allowed else ()
    consequences = policy.consequences(url, said) if policy else []
    sections = chain(_sections(rules, explanation, applied, out), _hold(rules), said.as_sections(purposes))
    for label, texts in (*sections, *_address(url, rules), ("in a crawl", consequences)):
        for text in texts:
            lines.append(f"{paint(f'{label:<{_LABEL_WIDTH}}', 'faint', out)}{text}")
            label = ""  # noqa: PLW2901
    return "\n".join(lines)


def _hold(rules: CrawlerRules) -> Iterator[tuple[str, list[str]]]:
    """The back-off that a crawl keeps to."""
    if rules.fetched is not None and rules.fetched.held:
        yield "back-off", [hold_text(rules.fetched.held)]


def _address(url: str, rules: CrawlerRules) -> Iterator[tuple[str, list[str]]]:
    """How the site writes *url*, in a dialect that reads Clean-param or Host."""
    if (requested := _requested_as(url, rules)) != url:
        yield "requested as", [shown(requested)]


def _requested_as(url: str, rules: CrawlerRules) -> str:
    return rules.robotstxt.at_host(rules.robotstxt.clean_param(url)) if rules.has_rules else url


def _painted(verdict: Verdict, out: IO[str], width: int = 0) -> str:
    return paint(f"{WORDS[verdict.allowed]:<{width}}", "good" if verdict.allowed else "bad", out)


def _sections(
    rules: CrawlerRules, explanation: Explanation, applied: Applied | None, out: IO[str]
) -> Iterator[tuple[str, list[str]]]:
    known = crawler_of(rules.agent)
    about = f"  ({known.about})" if known else ""
    name, note = shown(rules.agent) or "any crawler without a name", rules.reading.note if rules.reading else ""
    yield "crawler", [f"{name}{about}", *filter(None, [note])]
    if rules.robotstxt.dialect != GOOGLE:
        yield "dialect", [rules.robotstxt.dialect.name]
    if rules.fetched:
        yield "origin", [str(rules.fetched.origin)]
        yield "robots.txt", _source(rules.fetched)
    else:
        name = "standard input" if rules.file == "-" else shown(rules.file)
        yield "robots.txt", [name, *_instead(rules.robotstxt.body)]
    if not rules.has_rules or explanation.verdict.reason is Reason.ROBOTS_TXT:
        yield "why", [why_without_rule(explanation.verdict)]
    if not rules.has_rules:
        yield from applied.as_sections(has_delay=False) if applied else ()
        return
    explainer = rules.explainer
    yield "group", [*map(record_text, explainer.agents), _why_group(rules)]
    yield "rules", _matches(explanation, out) or ["none matches, so it is allowed"]
    yield from applied.as_sections(has_delay=explainer.delay is not None) if applied else ()
    if explainer.delay:
        unread = f", which {shown(rules.agent)} does not read" if rules.crawl_delay is None else ""
        yield "delay", [f"line {explainer.delay.line:<6}{delay_text(explainer.delay.text)}{unread}"]
    yield "extensions", [*map(record_text, explainer.extensions)]
    sitemaps = rules.robotstxt.sitemaps
    more = len(sitemaps) - _SITEMAPS_SHOWN
    yield "sitemaps", [*map(shown, sitemaps[:_SITEMAPS_SHOWN]), *([f"and {more:,} more"] if more > 0 else [])]


def _source(fetched: FetchedRobots) -> list[str]:
    """Where the robots.txt comes from, and how long it is valid."""
    entry, robots = fetched.entry, fetched.robots
    age = duration(round(clock.time() - entry.fetched_at))
    lines = [shown(entry.url), *(f"redirected to {shown(hop)}" for hop in entry.hops)]
    if fetched.problem:
        return [*lines, f"unreachable: {shown(fetched.problem)}", f"next attempt after {time_text(robots.until)}"]
    if robots.is_stale:
        attempts = number_of(entry.failures, "attempt", "attempts")
        lines.append(f"unreachable after {attempts}: using the copy fetched {age} ago")
    is_new = fetched.is_fresh and not robots.is_stale
    origin = "fetched just now" if is_new else f"from the store, fetched {age} ago"
    lines.append(f"HTTP status {entry.status}, {entry.access.value}, {len(entry.body):,} octets, {origin}")
    return [*lines, *_instead(entry.body), f"valid until {time_text(robots.until)}"]


def _instead(body: bytes) -> list[str]:
    kind = body_kind(body)
    return [f"{kind.instead} {_INSTEAD}"] if kind.instead else []


def _why_group(rules: CrawlerRules) -> str:
    explainer, name = rules.explainer, shown(rules.token) or "the crawler"  # in whose group the rules are
    number = number_of(len(explainer.rules), "rule", "rules")
    if explainer.by_name:
        return f"{name} is named, so groups of * {_STARS[rules.robotstxt.dialect.star]}; {number}"
    if explainer.agents:
        return f"{name} is not named, so groups of * count; {number}"
    if rules.reading and rules.reading.ignores_star:
        return f"{name} is not named, so no group counts"
    return f"{name} is not named, and there is no group of *"


def _matches(explanation: Explanation, out: IO[str]) -> list[str]:
    width = min(max((len(str(match.rule)) for match in explanation.matches), default=0), 60)
    lines = []
    for match in explanation.matches:
        text = f"line {match.rule.line:<6}{match.rule!s:<{width}}  length {match.length}"
        decides = match.rule == explanation.verdict.rule
        lines.append(paint(f"{text}  decides", "strong", out) if decides else text)
    return lines


def as_facts(
    url: str, rules: CrawlerRules, policy: CrawlPolicy | None, said: UrlStatements = NOTHING, *, full: bool
) -> dict[str, Any]:
    """Return the explanation as data for JSON; the verdict alone, with what else applies, when not *full*."""
    explanation = rules.explain(url) if full else Explanation(rules.verdict(url), ())
    verdict, origin = explanation.verdict, str(rules.fetched.origin) if rules.fetched else None
    facts = {"url": url, "agent": rules.agent, **verdict_facts(verdict), "origin": origin}
    facts |= policy.apply(url, verdict).as_facts() if policy else _NOT_APPLIED
    if not full:
        return facts
    facts |= {**said.as_facts(), "consequences": policy.consequences(url, said) if policy else []}
    facts["backoff"] = round(rules.fetched.held, 3) or None if rules.fetched else None
    facts["robots_txt"] = _source_facts(rules)
    return facts | _rules_facts(url, rules, explanation) if rules.has_rules else facts


def _rules_facts(url: str, rules: CrawlerRules, explanation: Explanation) -> dict[str, Any]:
    explainer = rules.explainer
    agents = [*map(record_facts, explainer.agents)]
    return {
        "dialect": rules.robotstxt.dialect.name,
        "requested_as": _requested_as(url, rules),
        "group": {"by_name": explainer.by_name, "agents": agents, "rules": len(explainer.rules)},
        "matches": [
            {"line": match.rule.line, "rule": str(match.rule), "length": match.length}
            for match in explanation.matches
        ],
        "profile": _profile_facts(rules.reading),
        "crawl_delay": rules.crawl_delay,
        "extensions": [*map(record_facts, (*filter(None, [explainer.delay]), *explainer.extensions))],
        "sitemaps": list(rules.robotstxt.sitemaps),
    }


def _profile_facts(as_read: Reading | None) -> dict[str, Any] | None:
    if as_read is None or as_read.crawler is None:
        return None
    crawler = as_read.crawler
    return {
        "token": as_read.token,
        "group": as_read.group,
        "line": as_read.line or None,
        "sentence": as_read.sentence or None,
        "tokens": [crawler.token, *crawler.fallbacks],
        "category": crawler.category,
        "follows": crawler.follows,
        "reads_crawl_delay": crawler.reads_crawl_delay,
        "retired": crawler.until or None,
        "replaced_by": crawler.instead or None,
        "documents": [asdict(document) for document in crawler.documents],
    }


def _kind_facts(body: bytes) -> dict[str, Any]:
    kind = body_kind(body)
    return {"is_html": kind is BodyKind.HTML, "instead": None if kind.is_robots_txt else str(kind)}


def _source_facts(rules: CrawlerRules) -> dict[str, Any]:
    fetched = rules.fetched
    if fetched is None:
        return {"file": rules.file, **_kind_facts(rules.robotstxt.body)}
    entry = fetched.entry
    return {
        "url": entry.url,
        "status": entry.status,
        "access": fetched.robots.access.value,
        "hops": list(entry.hops),
        "octets": len(entry.body),
        **_kind_facts(entry.body),
        "sha256": entry.sha256,
        "from_store": not fetched.is_fresh,
        "fetched_at": time_fact(entry.fetched_at),
        "until": time_fact(fetched.robots.until),
        "problem": fetched.problem or None,
    }
