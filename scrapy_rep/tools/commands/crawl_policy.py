"""What a crawl makes of a URL, asked of its gate and its policy: whether it is requested, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import Request

from scrapy_rep.clock import clock
from scrapy_rep.crawl.gate.middleware import RepMiddleware
from scrapy_rep.crawl.policy.meta import META_KEY
from scrapy_rep.crawl.policy.policy import ASKS, Decision, Mode, Policy, decide
from scrapy_rep.crawl.runtime.log import describe
from scrapy_rep.exceptions import ForbiddenByRobots, InvalidSettingError
from scrapy_rep.extras.ai.signals import as_reserved, signals_of
from scrapy_rep.protocol import Verdict
from scrapy_rep.protocol.display import shown
from scrapy_rep.settings import RepSettings
from scrapy_rep.tools.answers import WORDS, decision_text, until

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from scrapy_rep.crawl.policy.exceptions import PolicyException
    from scrapy_rep.crawl.robots.robots import Robots
    from scrapy_rep.directives.vocabulary import Purpose

_MEANINGS = {
    Mode.REPORT: "report: what robots.txt disallows is requested and reported",
    Mode.IGNORE: "ignore: the rules are not checked",
    Mode.OFF: "off: ROBOTSTXT_OBEY is False, so the rules are not checked",
}


class Judgment(NamedTuple):
    """Whether a request for ``url`` ``passes`` the gate, and ``why``."""

    url: str
    passes: bool
    why: str

    def __str__(self) -> str:
        """The judgment as a sentence."""
        return f"{self.url} is {WORDS[self.passes]}: {self.why}"


class SettingsJudge:
    """Asks the gate of the running crawl of *crawler*, as the crawl itself does, and sends no page's request."""

    def __init__(self, crawler: Crawler) -> None:
        """Raises `InvalidSettingError` when robots.txt is obeyed, but not by our gate."""
        self._gate = crawler.get_downloader_middleware(RepMiddleware)
        if self._gate is None and crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise InvalidSettingError(
                'the settings enable no scrapy_rep.RepMiddleware: set ADDONS = {"scrapy_rep.Addon": 300}'
            )

    async def judge(self, url: str) -> Judgment:
        """The judgment on a request for *url*; waits for its robots.txt."""
        request = Request(url)
        try:
            judging = self._gate.process_request(request) if self._gate is not None else None
            if judging is not None:
                await judging
        except ForbiddenByRobots as error:
            cause = f" ({error.__cause__})" if error.__cause__ else ""
            return Judgment(url, False, f"{error}{cause}")
        except Exception as error:  # noqa: BLE001  # the request would fail with it, as REP_UNREACHABLE may ask for
            return Judgment(url, False, describe(error))
        return Judgment(url, True, decision_text(request.meta.get(META_KEY)))


@dataclass(frozen=True, slots=True)
class Applied:
    """What applies to one URL besides robots.txt.

    ``decision`` is what becomes of a request for it, None for a URL that has no site. ``delay`` lifts the
    Crawl-delay, ``lapsed`` would lift the verdict if the rule that it names still decided.
    """

    decision: Decision | None = None
    lapsed: PolicyException | None = None
    delay: PolicyException | None = None

    @property
    def mode(self) -> Mode | None:
        """The mode of the site."""
        return self.decision.mode if self.decision else None

    @property
    def exception(self) -> PolicyException | None:
        """What lifts the verdict."""
        return self.decision.exception if self.decision else None

    def as_note(self) -> str:
        """What goes behind the line of one URL; empty if nothing does."""
        if self.exception:
            return f"  (excepted {until(self.exception.as_dict())})"
        return f"  (mode {self.mode})" if self.mode in _MEANINGS else ""

    def as_sections(self, *, has_delay: bool) -> Iterator[tuple[str, list[str]]]:
        """The labels and lines of the whole explanation; *has_delay* is whether there is a Crawl-delay to lift."""
        if self.mode in _MEANINGS:
            yield "mode", [_MEANINGS[self.mode]]
        if self.exception:
            yield "exception", _excepted(self.exception)
        if self.lapsed:
            why = f"does not apply: it is for {shown(str(self.lapsed.rule))}, and another rule decides"
            yield "exception", [why, until(self.lapsed.as_dict()), shown(self.lapsed.url)]
        if self.delay and has_delay:
            yield "no delay", _excepted(self.delay)

    def as_facts(self) -> dict[str, Any]:
        """The same as data for JSON."""
        found = {"exception": self.exception, "lapsed_exception": self.lapsed, "delay_exception": self.delay}
        facts = {name: exception.as_dict() if exception else None for name, exception in found.items()}
        return {"mode": self.mode.value if self.mode else None, **facts}


def _excepted(exception: PolicyException) -> list[str]:
    return [f"excepted {until(exception.as_dict())}", shown(exception.url)]


class CrawlPolicy:
    """The modes and exceptions in the settings of a crawl, without that crawl."""

    def __init__(self, settings: BaseSettings) -> None:
        """Raises `InvalidSettingError`."""
        # Scrapy's own default is False: outside a project it says nothing about any crawl.
        is_off = settings.getpriority("ROBOTSTXT_OBEY") and not settings.getbool("ROBOTSTXT_OBEY")
        self._settings = RepSettings.from_settings(settings)
        self._policy = Policy.from_settings(self._settings, Mode.OFF if is_off else Mode.OBEY)
        self._refuses_pages = self._settings.ai_signals == "refuse"

    def decide(self, url: str, verdict: Verdict) -> Decision:
        """What becomes of a request for *url*, about which robots.txt says *verdict*.

        Raises ``ValueError`` for a URL that has no robots.txt.
        """
        mode = self._policy.mode(url)
        return self._decide(verdict if mode in ASKS else None, url, mode)

    def decide_by(self, robots: Robots, tokens: Sequence[str], url: str, *, is_sitemap: bool = False) -> Decision:
        """As `decide`, by what *robots* says to the crawler with these *tokens*; signals to AI count, too."""
        decision = self.decide(url, robots.verdict(tokens, url))
        if is_sitemap or not self._refuses_pages or not decision.is_asked or not decision.verdict.allowed:
            return decision
        signals = signals_of(robots, robots.addressed(tokens))
        return as_reserved(decision, url, signals, self.purposes, self._decide)

    def _decide(self, verdict: Verdict | None, url: str, mode: Mode) -> Decision:
        return decide(verdict, url, mode, self._policy, clock.time())

    def apply(self, url: str, verdict: Verdict) -> Applied:
        """What applies to *url*, about which robots.txt says *verdict*."""
        try:
            decision = self.decide(url, verdict)
            delay = self._policy.delay_exception(url, clock.time()) if decision.is_asked else None
        except ValueError:  # a path alone
            return Applied()
        return Applied(decision, decision.lapsed, delay)

    @property
    def purposes(self) -> Sequence[Purpose]:
        """What the crawl fetches pages for (``REP_PURPOSES``)."""
        return self._settings.purposes
