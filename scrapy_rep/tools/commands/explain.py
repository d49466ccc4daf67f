"""Show whether a crawler may request a URL, and why.

URLs come from the command line, or one per line from standard input. A single URL is explained in full, several
get a line each; --full explains all in full. Several --agent options answer each URL for each agent. Without
--file, each robots.txt is fetched or taken from the store, as in a crawl of the project.

--page requests each allowed URL once, at the pace of the crawl, and shows what the page says: directives such as
noindex, and AI signals. A full answer includes the licenses (RSL) that robots.txt names; without --file they are
fetched. It also shows the mode of the site and the exception that would apply, which do not change the verdict.
--spider shows first whether the crawl of that spider requests the URL, and why.

Exits with 0 if all URLs are allowed (with --spider: requested), 1 if one is not, 2 if a verdict is unknown.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Any, Final

from scrapy_rep.clock import clock
from scrapy_rep.protocol import DIALECTS, GOOGLE, Origin, Reason, Verdict, parse
from scrapy_rep.protocol.body_kind import BodyKind, body_kind
from scrapy_rep.protocol.dialect import Star
from scrapy_rep.protocol.display import duration, number_of, shown
from scrapy_rep.tools.answers import (
    WORDS,
    delay_text,
    entry_facts,
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

from . import FAILED, FOUND, OK, default_settings, dialect_and_limit, main_of
from .inputs import (
    InputError,
    crawlers_of,
    decidable,
    origin_of,
    read_file,
    read_lines,
    require_piped,
    with_scheme,
)
from .parser import add_shared
from .sites import NOTHING, CrawlerRules, UrlStatements, said_about
from .terminal import Progress, labelled, paint, print_error

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from scrapy_rep.settings import RepSettings
    from scrapy_rep.tools.profiles import Reading

    from .crawl_policy import Applied, CrawlPolicy, Judgment
    from .fetching import CrawlFetcher, FetchedRobots

main = main_of("explain")

_BATCH: Final = 5_000  # URLs in memory while their origins are fetched
_PROGRESS_EVERY: Final = 100  # URLs


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    parser.add_argument("urls", nargs="*", metavar="URL", help="- or nothing: one per line from standard input")
    add_shared(parser, "--agent", "--dialect", "--json", spider="say what the crawl of this spider does")
    parser.add_argument("--file", metavar="FILE", help="use this robots.txt for every URL; - is standard input")
    parser.add_argument("--page", action="store_true", help="request the page too, and show what it says")
    parser.add_argument("--full", action="store_true", help="explain each of several URLs in full")


def run(arguments: Namespace, settings: BaseSettings | None, out: IO[str]) -> int:
    """Run the command; return the exit code. Without *settings* no crawl applies to a file."""
    if arguments.spider and (arguments.agent or arguments.file):
        raise InputError("--spider uses the agents and the robots.txt of its crawl: omit --agent and --file")
    if arguments.page and arguments.file:
        raise InputError("--page uses the robots.txt of the site: omit --file")
    if settings is None and arguments.file:
        return _Explanations(arguments, None, None, out).by_file()
    settings = settings or default_settings()
    from scrapy_rep.settings import RepSettings  # noqa: PLC0415  # loads Scrapy, as the next do

    from .crawl_policy import CrawlPolicy  # noqa: PLC0415
    from .crawl_runner import with_spider  # noqa: PLC0415

    if arguments.dialect:
        settings = settings.copy()
        settings.set("REP_DIALECT", arguments.dialect, priority="cmdline")
    settings = with_spider(settings, arguments.spider)
    explanations = _Explanations(arguments, settings, CrawlPolicy(settings), out)
    if arguments.file:
        return explanations.by_file()
    return explanations.by_origin(settings, RepSettings.from_settings(settings) if arguments.page else None)


def _urls(given: Sequence[str]) -> Iterator[str]:
    if not given:
        require_piped("name one")
    for url in given or ("-",):
        if url == "-":
            yield from read_lines("-")
        else:
            yield url


class _Explanations:
    """Explains URLs to each of the crawlers that *arguments* or *settings* name; *policy* is that of a crawl."""

    def __init__(
        self, arguments: Namespace, settings: BaseSettings | None, policy: CrawlPolicy | None, out: IO[str]
    ) -> None:
        self._arguments, self._settings, self._policy, self._out = arguments, settings, policy, out
        self._crawlers = crawlers_of(arguments.agent, settings)
        self._by_profile = arguments.agent is not None  # not for those of a project, who do what the engine says
        has_one_url = len(arguments.urls) == 1 and arguments.urls[0] != "-"
        self._is_full = arguments.full or arguments.page or (has_one_url and len(self._crawlers) == 1)
        self._is_terminal = out.isatty()  # where the answers themselves show the progress
        self._allowed = self._disallowed = 0
        self._progress = Progress(sys.stderr)
        self._exit_code = OK

    def by_file(self) -> int:
        """Answer by the rules of one file; return the exit code. Raises `InputError`."""
        name, urls, chosen = self._arguments.file, self._arguments.urls, self._arguments.dialect
        if name == "-" and ("-" in urls or not urls):
            raise InputError("standard input cannot provide both the robots.txt and the URLs")
        body = read_file(name)
        dialect, limit = dialect_and_limit(self._settings)
        robotstxt = parse(body, DIALECTS[chosen] if chosen else dialect, limit=limit)
        rules = [
            CrawlerRules(robotstxt, tokens, by_profile=self._by_profile, file=name) for tokens in self._crawlers
        ]
        for url in decidable(_urls(urls), self._print_problem):
            self._print_all(url, rules, [each.said_by_site(url) for each in rules] if self._is_full else None)
        self._progress.clear()
        return self._exit_code

    def by_origin(self, settings: BaseSettings, of_pages: RepSettings | None) -> int:
        """Answer by the rules of the origins, and what pages say where *of_pages* are settings for that.

        Returns the exit code.
        """
        from .fetching import crawl, with_gate  # noqa: PLC0415  # loads a whole crawl, which files do not need

        batches = self._batches()
        if first := next(batches, None):  # what cannot be asked, and input that cannot be read, is said before
            settings = with_gate(settings) if of_pages else settings
            crawl(settings, lambda fetcher: self._explain(chain([first], batches), fetcher, of_pages))
        self._progress.clear()
        return self._exit_code

    def _batches(self) -> Iterator[list[tuple[str, Origin]]]:
        """The URLs with their origins; what has none is printed."""
        urls = _urls(self._arguments.urls)
        while batch := list(islice(urls, _BATCH)):
            found = []
            for url in batch:
                try:
                    found.append((with_scheme(url), origin_of(url)))
                except InputError as error:  # noqa: PERF203
                    self._print_problem(error)
            if found:
                yield found

    async def _explain(
        self, batches: Iterable[list[tuple[str, Origin]]], fetcher: CrawlFetcher, of_pages: RepSettings | None
    ) -> None:
        """Answer in the order of the URLs, batch by batch: a batch waits for all its origins."""
        from .crawl_policy import SettingsJudge  # noqa: PLC0415  # loads Scrapy

        judge = SettingsJudge(fetcher.crawler) if self._arguments.spider is not None else None
        if self._is_full:
            await fetcher.learn_holds()
        for batch in batches:
            known = await self._rules_of(dict.fromkeys(origin for _, origin in batch), fetcher)
            for url, origin in batch:
                rules = known.get(origin, [])  # empty when Ctrl-C came first
                plan = await judge.judge(url) if judge else None
                if of_pages and fetcher.is_closing:
                    continue
                if of_pages:
                    self._progress.show(shown(f"requesting {url} …"), at_once=True)
                said = await said_about(url, rules, fetcher, of_pages) if self._is_full else None
                self._print_all(url, rules, said, plan)

    async def _rules_of(
        self, origins: Collection[Origin], fetcher: CrawlFetcher
    ) -> dict[Origin, list[CrawlerRules]]:
        rules: dict[Origin, list[CrawlerRules]] = {}

        def keep(fetched: FetchedRobots) -> None:
            fetched.held = fetcher.seconds_held(fetched.origin)
            rules[fetched.origin] = by_crawler = [
                CrawlerRules(fetched.robotstxt, tokens, by_profile=self._by_profile, fetched=fetched)
                for tokens in self._crawlers
            ]
            is_told = self._is_full and not self._arguments.json  # by the explanation
            if (problem := by_crawler[0].problem) and not is_told:
                self._print_problem(problem, OK)  # the answers decide

        number = number_of(len(origins), "robots.txt file", "robots.txt files")
        self._progress.show(f"fetching {number} …", at_once=True)
        await fetcher.fetch_each(origins, keep)
        return rules

    def _print_all(
        self,
        url: str,
        rules: Sequence[CrawlerRules],
        said: Sequence[UrlStatements] | None = None,
        plan: Judgment | None = None,
    ) -> None:
        """Print the answer about *url* for each crawler, what else is *said*, and first the *plan* of a crawl."""
        for each, statements in zip(rules, said or [NOTHING] * len(rules), strict=True):
            passes = plan.passes if plan else each.verdict(url).allowed
            if self._is_terminal:
                self._progress.clear()
            self._out.write(self._answer(url, each, statements, plan) + "\n")
            if passes:
                self._allowed += 1
            else:
                self._disallowed += 1
            is_unknown = each.problem and not (plan and passes)
            self._exit_code = max(self._exit_code, FAILED if is_unknown else OK if passes else FOUND)
            if not self._is_terminal and not (self._allowed + self._disallowed) % _PROGRESS_EVERY:
                self._progress.show(f"{self._allowed:,} URLs allowed, {self._disallowed:,} disallowed")

    def _answer(self, url: str, rules: CrawlerRules, said: UrlStatements, plan: Judgment | None) -> str:
        if self._arguments.json:
            facts = _explanation_facts(url, rules, self._policy, said, full=self._is_full)
            return json.dumps(facts | ({"requested": plan.passes, "why": plan.why} if plan else {}))
        planned = ""
        if plan:
            text, style = ("requested", "good") if plan.passes else ("not requested", "bad")
            planned = f"{paint(f'{text:<13}', style, self._out)}  {shown(url)}: {shown(plan.why)}"
        if self._is_full:
            gap = "\n" * bool(self._allowed or self._disallowed)
            text = _as_text(url, rules, self._policy, self._out, said)
            return gap + (f"{planned}\n{text}" if plan else text)
        crawler = f"  ({shown(rules.agent)})" if len(self._crawlers) > 1 else ""
        verdict = rules.verdict(url)
        applied = self._policy.apply(url, verdict) if self._policy else None
        return planned or _as_line(url, verdict, applied, self._out) + crawler

    def _print_problem(self, problem: object, exit_code: int = FAILED) -> None:
        """Print why something is unknown."""
        self._progress.clear()
        self._out.flush()
        print_error("explain", problem)
        self._exit_code = max(self._exit_code, exit_code)


# An explanation: as a line, as text of several lines, or as data for JSON.

_SITEMAPS_SHOWN: Final = 5
_STARS: Final = {
    Star.NOT_NAMED: "do not count",
    Star.NO_MATCH: "count only where none of its rules matches",
    Star.ALWAYS: "count, too",
}
_INSTEAD: Final = "instead of a robots.txt: it disallows nothing unless it contains rules"


_NOT_APPLIED: Final = dict.fromkeys(("mode", "exception", "lapsed_exception", "delay_exception"))


def _as_line(url: str, verdict: Verdict, applied: Applied | None, out: IO[str]) -> str:
    """Return one line: the verdict, the line that decided or the reason, the URL, the rule, what else applies."""
    reason = f"line {verdict.line}" if verdict.rule else verdict.reason.value
    rule = f"  {verdict.rule!s}" if verdict.rule else ""
    return f"{_painted(verdict, out, 10)}  {reason:<11}  {shown(url)}{rule}{applied.as_note() if applied else ''}"


def _as_text(url: str, rules: CrawlerRules, policy: CrawlPolicy | None, out: IO[str], said: UrlStatements) -> str:
    """Return the whole explanation, on several lines; *policy* is that of a crawl, if one applies."""
    explanation = rules.explain(url)
    applied = policy.apply(url, explanation.verdict) if policy else None
    refusal = said.page.refusal if said.page else None
    refused = paint(f", refused by the site ({refusal})", "bad", out) if refusal else ""
    lines = [f"{_painted(explanation.verdict, out)}{refused}  {paint(shown(url), 'strong', out)}", ""]
    purposes = policy.purposes if policy and explanation.verdict.allowed else ()
    held = rules.fetched.held if rules.fetched else 0.0
    requested = _requested_as(url, rules)
    sections = [
        *_sections(rules, explanation, applied, out),
        ("back-off", [hold_text(held)] if held else []),
        *said.as_sections(purposes),
        ("requested as", [shown(requested)] if requested != url else []),
    ]
    return "\n".join([*lines, *labelled(sections, out)])


def _requested_as(url: str, rules: CrawlerRules) -> str:
    """How the site writes *url*, in a dialect that reads Clean-param or Host."""
    return rules.robotstxt.at_host(rules.robotstxt.clean_param(url)) if rules.has_rules else url


def _painted(verdict: Verdict, out: IO[str], width: int = 0) -> str:
    return paint(f"{WORDS[verdict.allowed]:<{width}}", "good" if verdict.allowed else "bad", out)


def _sections(
    rules: CrawlerRules, explanation: Explanation, applied: Applied | None, out: IO[str]
) -> Iterator[tuple[str, list[str]]]:
    known = crawler_of(rules.agent)
    about = f"  ({known.about})" if known else ""
    name, note = shown(rules.agent) or "any crawler without a name", rules.reading.note
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
    if fetched.refusal:
        lines.append(f"refused by the site ({fetched.refusal}), which RFC 9309 takes for no robots.txt")
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
    if rules.reading.ignores_star:
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


def _explanation_facts(
    url: str, rules: CrawlerRules, policy: CrawlPolicy | None, said: UrlStatements, *, full: bool
) -> dict[str, Any]:
    """Return the explanation as data for JSON; the verdict alone, with what else applies, when not *full*."""
    explanation = rules.explain(url) if full else Explanation(rules.verdict(url), ())
    verdict, origin = explanation.verdict, str(rules.fetched.origin) if rules.fetched else None
    facts = {"url": url, "agent": rules.agent, **verdict_facts(verdict), "origin": origin}
    facts |= policy.apply(url, verdict).as_facts() if policy else _NOT_APPLIED
    if not full:
        return facts
    facts |= said.as_facts()
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


def _profile_facts(as_read: Reading) -> dict[str, Any] | None:
    if as_read.crawler is None:
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
        **entry_facts(entry),
        "access": fetched.robots.access.value,
        **_kind_facts(entry.body),
        "from_store": not fetched.is_fresh,
        "until": time_fact(fetched.robots.until),
        "problem": fetched.problem or None,
        "refused": asdict(fetched.refusal) if fetched.refusal else None,
    }
