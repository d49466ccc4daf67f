"""What the owner of the crawl decided about a URL: the mode of its site, exceptions, what signals lead to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrapy_rep.directives.vocabulary import Answer, first_refusal, reserved_from
from scrapy_rep.policy.policy import ASKING, Mode, Policy, forbidden_for
from scrapy_rep.protocol import Origin, Reason, Verdict
from scrapy_rep.protocol.display import shown
from scrapy_rep.settings import RepSettings

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from scrapy_rep.directives.vocabulary import Category, Statement
    from scrapy_rep.policy.exceptions import PolicyException

    from .said import Said

_MEANINGS = {
    Mode.REPORT: "report: what robots.txt disallows is requested and reported",
    Mode.IGNORE: "ignore: the rules are not asked",
    Mode.OFF: "off: ROBOTSTXT_OBEY is False, so the rules are not asked",
}
_DELAYED = forbidden_for(Reason.CRAWL_DELAY)
_RESERVED = forbidden_for(Reason.AI_SIGNAL)


@dataclass(frozen=True, slots=True)
class Applied:
    """What applies to one URL besides robots.txt.

    ``mode`` is that of its site, None for a URL that has no site. ``exception`` lifts the verdict, ``delay`` lifts
    the Crawl-delay, ``lapsed`` would lift the verdict if the rule that it names still decided.
    """

    mode: Mode | None = None
    exception: PolicyException | None = None
    lapsed: PolicyException | None = None
    delay: PolicyException | None = None

    def as_note(self) -> str:
        """What goes behind the line of one URL; empty if nothing does."""
        if self.exception:
            return f"  (excepted {_until(self.exception)})"
        return f"  (mode {self.mode})" if self.mode in _MEANINGS else ""

    def as_sections(self, *, has_delay: bool) -> Iterator[tuple[str, list[str]]]:
        """The labels and lines of the whole explanation; *has_delay* is whether there is a Crawl-delay to lift."""
        if self.mode in _MEANINGS:
            yield "mode", [_MEANINGS[self.mode]]
        if self.exception:
            yield "exception", [f"excepted {_until(self.exception)}", shown(self.exception.url)]
        if self.lapsed:
            why = f"does not apply: it is for {shown(str(self.lapsed.rule))}, and another rule decides"
            yield "exception", [why, _until(self.lapsed), shown(self.lapsed.url)]
        if self.delay and has_delay:
            yield "no delay", [f"excepted {_until(self.delay)}", shown(self.delay.url)]

    def as_facts(self) -> dict[str, Any]:
        """The same as data for JSON."""
        found = {"exception": self.exception, "lapsed_exception": self.lapsed, "delay_exception": self.delay}
        facts = {name: exception.as_dict() if exception else None for name, exception in found.items()}
        return {"mode": self.mode.value if self.mode else None, **facts}


def _until(exception: PolicyException) -> str:
    return f"until {exception.until}: {shown(exception.reason)}"


class CrawlPolicy:
    """The modes and exceptions in the settings of a crawl."""

    def __init__(self, settings: BaseSettings) -> None:
        """Raises `InvalidSettingError`."""
        # Scrapy's own default is False: outside a project it says nothing about any crawl.
        is_off = settings.getpriority("ROBOTSTXT_OBEY") and not settings.getbool("ROBOTSTXT_OBEY")
        self._lapsed: list[PolicyException] = []
        self._settings = RepSettings.from_settings(settings)
        self._policy = Policy.from_settings(self._settings, Mode.OFF if is_off else Mode.OBEY)
        self._policy.lapsed = lambda exception, _: self._lapsed.append(exception)

    def apply(self, url: str, verdict: Verdict) -> Applied:
        """What applies to *url*, about which robots.txt says *verdict*."""
        policy = self._policy
        if not (policy.has_modes or policy.has_exceptions):
            return Applied(policy.default)
        try:
            mode = policy.modes.of(Origin.from_url(url)) or policy.default
        except ValueError:  # a path alone
            return Applied()
        if mode not in ASKING:
            return Applied(mode)
        self._lapsed.clear()
        exception = None if verdict.allowed else policy.exception(url, verdict)
        return Applied(mode, exception, next(iter(self._lapsed), None), policy.exception(url, _DELAYED))

    @property
    def purposes(self) -> Sequence[Category]:
        """What the crawl fetches pages for (``REP_PURPOSES``)."""
        return self._settings.purposes

    def consequences(self, url: str, said: Said) -> list[str]:
        """What a crawl does because of what is *said* about *url*, which robots.txt allows; empty for nothing."""
        return [*self._by_signals(url, said), *self._by_directives(said)]

    def _by_signals(self, url: str, said: Said) -> Iterator[str]:
        settings = self._settings
        is_known = said.page is not None and said.page.is_successful
        silence = settings.ai_unknown if is_known else Answer.UNKNOWN  # the page may still break it
        reserved = reserved_from(settings.purposes, said.answers, silence=silence)
        if not reserved:
            return
        uses = ", ".join(reserved)
        is_mode = self.apply(url, _RESERVED).mode is Mode.REPORT
        if is_mode or settings.ai_signals == "report":
            why = "the mode of the site" if is_mode else "REP_AI_SIGNALS"
            yield f'requested and counted as reserved from {uses}: {why} is "report"'
        elif exception := self._policy.exception(url, _RESERVED):
            yield f"requested although it is reserved from {uses}: excepted {_until(exception)}"
        elif refusal := self._refusal(url, said):
            yield f"not requested: line {refusal.line} reserves it from {refusal.category} (REP_AI_SIGNALS)"
        elif is_known:
            yield f"its items are dropped: it is reserved from {uses} (REP_AI_SIGNALS)"

    def _refusal(self, url: str, said: Said) -> Statement | None:
        """The statement of robots.txt because of which *url* is not requested."""
        if not self._policy.is_asking or self.apply(url, _RESERVED).mode is not Mode.OBEY:
            return None
        return first_refusal((one for one in said.statements if one.source == "robots.txt"), self.purposes)

    def _by_directives(self, said: Said) -> Iterator[str]:
        page, settings = said.page, self._settings
        if page is None or not page.is_successful:
            return
        names = [name for name in ("noindex", "nofollow") if getattr(page.directives, name)]
        if names and settings.page_directives != "obey":
            yield f'{" and ".join(names)}: no effect, REP_PAGE_DIRECTIVES is "{settings.page_directives}"'
            return
        if page.directives.noindex:
            yield f"noindex: its items are {'dropped' if settings.noindex == 'drop' else 'marked'} (REP_NOINDEX)"
        if page.directives.nofollow:
            what = "requests for its links" if settings.nofollow == "links" else "all requests of its callback"
            yield f"nofollow: {what} are dropped (REP_NOFOLLOW)"
