"""What the owner of the crawl decided about a URL: the mode of its site, and the exceptions that cover it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrapy_rep.policy.modes import ASKING, Mode
from scrapy_rep.policy.policy import Policy, forbidden_for
from scrapy_rep.protocol import Origin, Reason, Verdict
from scrapy_rep.protocol.display import shown
from scrapy_rep.settings import RepSettings

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from scrapy_rep.policy.policy_exception import PolicyException

_MEANINGS = {
    Mode.REPORT: "report: what robots.txt disallows is requested and reported",
    Mode.IGNORE: "ignore: the rules are not asked",
    Mode.OFF: "off: ROBOTSTXT_OBEY is False, so the rules are not asked",
}
_DELAYED = forbidden_for(Reason.CRAWL_DELAY)


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
        self._policy = Policy.from_settings(
            RepSettings.from_settings(settings),
            Mode.OFF if is_off else Mode.OBEY,
            lapsed=lambda exception, _: self._lapsed.append(exception),
        )

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
