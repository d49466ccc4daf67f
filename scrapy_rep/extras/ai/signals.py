"""`AiSignals`: AI signals in the files of a site, for decisions on requests and for stamps.

The files are robots.txt, tdmrep.json, ai.txt and licenses. `AiSignalsMiddleware` later reads the page's signals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from scrapy.http.request import NO_CALLBACK

from scrapy_rep.clock import clock
from scrapy_rep.crawl.pacing.priority_queue import SlotTracker
from scrapy_rep.crawl.policy.policy import Judge, forbidden_for
from scrapy_rep.crawl.robots.registry import Registry
from scrapy_rep.crawl.robots.robots import OCTETS_BESIDE_BODY
from scrapy_rep.crawl.runtime.scrapy_internals import is_for_sitemap
from scrapy_rep.directives.ai import AI_TXT, TDMREP
from scrapy_rep.directives.robots_signals import NO_SIGNALS, RobotsSignals
from scrapy_rep.directives.rsl import said_by_licenses
from scrapy_rep.directives.vocabulary import Purpose, Signal, Statement, as_values, shortened
from scrapy_rep.extras.ai.files import SiteFiles
from scrapy_rep.protocol import Access, Reason, RobotsTxt, Verdict

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.robotstxt import RobotParser

    from scrapy_rep.crawl.policy.policy import Decision, Mode
    from scrapy_rep.crawl.robots.robots import Robots
    from scrapy_rep.crawl.runtime.crawl import Crawl
    from scrapy_rep.extras.ai.files import KeptFile

RESERVED: Final = forbidden_for(Reason.AI_SIGNAL)
"""The verdict on a page that its site reserves from a purpose of the crawl."""

_NO_RULE: Final = {Reason.AI_SIGNAL, Reason.CRAWL_DELAY, Reason.REFUSED}
_MAX_TOKENS: Final = 16  # product tokens per robots.txt whose signals are cached
_COPIES_OF_FILE: Final = 32  # measured with tracemalloc on CPython 3.11


@dataclass(slots=True)
class Said:
    """The signals in the files of one site, valid while its robots.txt stays the same.

    ``signals`` are the signals of robots.txt by product token. ``files`` are the other files: those of the origin
    by path, licenses by URL. They suffice for the purposes of the crawl until ``until`` (POSIX seconds), for a
    robots.txt that is valid until ``valid_until``.
    """

    signals: dict[str, RobotsSignals] = field(default_factory=dict)
    files: Mapping[str, KeptFile] = field(default_factory=dict)
    until: float = 0.0
    valid_until: float = 0.0

    @property
    def octets(self) -> int:
        files = self.files.values()
        of_files = sum(_COPIES_OF_FILE * len(one.entry.body) + OCTETS_BESIDE_BODY for one in files)
        return of_files + sum(one.octets for one in self.signals.values())


class AiSignals:
    """The signals of sites for the declared purposes of one crawl (``REP_PURPOSES``)."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self._purposes = crawl.settings.purposes
        self._choice = crawl.settings.ai_signals
        self._said: WeakKeyDictionary[RobotParser, Said] = WeakKeyDictionary()
        crawl.events.needed.subscribe(self._load_files)
        crawl.events.deciding.subscribe(self._decide)
        crawl.events.stamping.subscribe(self._stamp)

    async def _load_files(self, robots: Robots, request: Request) -> None:
        """Load all files that the purposes of the crawl need, before the decision on *request*."""
        said = self._of(robots)
        if clock.time() < said.until and said.valid_until == robots.until:
            return
        licenses = self._signals(robots, self._agent(robots, request)).licenses
        # While it waits, the request must not take the place of a request for another host.
        count = 0 if self._crawl.find(SlotTracker) is None else 1
        self._crawl.downloader.lend_places(count)
        self._crawl.engine.wake()
        try:
            files = await self._crawl.part(SiteFiles).load(robots, request, licenses)
        finally:
            self._crawl.downloader.lend_places(-count)
        if files is not None:
            said.files, said.valid_until = files, robots.until
            said.until = min([robots.until, *(one.until for one in files.values() if one.is_read)])
            self._resize(robots, said)

    def _signals(self, robots: Robots, token: str) -> RobotsSignals:
        """The AI signals of the file for *token*, cached for the next request."""
        said = self._of(robots)
        found = said.signals.get(token)
        if found is None:
            if len(said.signals) >= _MAX_TOKENS:
                said.signals.clear()
            found = said.signals[token] = signals_of(robots, token)
            self._resize(robots, said)
        return found

    def _of(self, robots: Robots) -> Said:
        said = self._said.get(robots.parser)
        if said is None:
            said = self._said[robots.parser] = Said()
        return said

    def _resize(self, robots: Robots, said: Said) -> None:
        registry = self._crawl.find(Registry)
        if registry is not None:
            registry.origins.resize(robots, said.octets)

    def _agent(self, robots: Robots, request: Request) -> str:
        return robots.addressed(self._crawl.product_tokens.of(request))

    def _decide(self, decision: Decision, request: Request, robots: Robots, url: str) -> Decision:
        """*decision* on *request*, or its replacement if *robots* reserves the page at *url*."""
        judge = self._crawl.find(Judge)
        if judge is None or not self._refuses(request) or not decision.is_asked or not decision.verdict.allowed:
            return decision
        signals = self._signals(robots, self._agent(robots, request))
        return as_reserved(decision, url, signals, self._purposes, judge.decide_by)

    def _refuses(self, request: Request) -> bool:
        """Whether to drop *request* if robots.txt reserves its URL.

        The signals are about the use of pages, not about requests (draft-ietf-aipref-attach-05, section 3.1). With
        ``obey``, a request with a callback therefore passes, and the spider middleware drops the items. It does
        not see files that pipelines download without a callback. A sitemap is not a page.
        """
        if self._choice == "refuse":
            return not is_for_sitemap(request, self._crawl.crawler.spider)
        return self._choice == "obey" and request.callback is NO_CALLBACK

    def _stamp(self, stamp: dict[str, Any], request: Request, robots: Robots, decision: Decision) -> None:
        """Add the site's statements about *request* to *stamp*; a disallowed URL has no preferences."""
        verdict = decision.verdict
        if not decision.is_asked or not (verdict.allowed or verdict.reason in _NO_RULE):
            return
        agent, url = self._agent(robots, request), self._crawl.targets.of(request)
        signals = self._signals(robots, agent)
        files = self._of(robots).files
        said = [*signals.statements(url), *said_by_files(files, agent, url, signals.licenses)]
        stamp["ai"] = as_values(said, signals.licenses)

    def __repr__(self) -> str:
        return f"<AiSignals {', '.join(self._purposes)}>"


def signals_of(robots: Robots, token: str) -> RobotsSignals:
    """The AI signals of *robots* for *token*."""
    is_read = robots.access is Access.SUCCESSFUL
    return RobotsSignals.of(robots.robotstxt, token) if is_read else NO_SIGNALS


def as_reserved(
    decision: Decision,
    url: str,
    signals: RobotsSignals,
    purposes: Sequence[Purpose],
    decide_by: Callable[[Verdict, str, Mode], Decision],
) -> Decision:
    """*decision*, or the result of *decide_by* if *signals* reserve *url* from one of *purposes*."""
    said = signals.statements(url)
    refusal = next((one for one in said if one.allows is False and one.category in purposes), None)
    return decision if refusal is None else decide_by(RESERVED, url, decision.mode)._replace(line=refusal.line)


def said_by_files(files: Mapping[str, KeptFile], token: str, url: str, licenses: Iterable[str]) -> list[Statement]:
    """The statements for *token* about *url* in *files*, including the *licenses* that robots.txt names."""
    read = {name: kept.said for name, kept in files.items() if kept.is_read}
    reservations, ai_txt = read.get(TDMREP), read.get(AI_TXT)
    said: list[Statement] = reservations.about(url).statements() if reservations is not None else []
    said += read_ai_txt(ai_txt, token, url) if ai_txt is not None else []
    if licenses:
        said += said_by_licenses(licenses, {each: read[each] for each in licenses if each in read}, url)
    return said


def read_ai_txt(file: RobotsTxt, token: str, url: str) -> list[Statement]:
    """Return the statements of Spawning's ``/ai.txt`` about training on *url*, for the crawler *token*.

    https://spawning.ai/ai-txt (2023): a pattern for each media type in robots.txt syntax (``Disallow: *.jpg``,
    without a leading slash), and ``/`` for the rest. Without a matching rule there is no statement.
    """
    verdict = file.verdict(token, url)
    if not verdict.rule or not verdict.rule.value:
        return []
    text = shortened(str(verdict.rule))
    return [Statement(Signal.AI_TXT, Purpose.AI_TRAIN, verdict.allowed, AI_TXT, text, verdict.line)]
