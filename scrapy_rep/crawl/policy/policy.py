"""Decisions about requests: the verdict of robots.txt under the modes and exceptions of the crawl's owner.

`decide` is pure. Only `Judge` applies the owner's settings to a verdict of `robots`: it adds the settings, the
clock, and the events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from scrapy_rep.clock import clock
from scrapy_rep.crawl.policy.exceptions import (
    ExceptionIndex,
    PolicyException,
    origin_in_settings,
    read_exceptions,
    read_exceptions_file,
)
from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.protocol import SCHEMES, Origin, Reason, Verdict
from scrapy_rep.protocol.display import StringEnum
from scrapy_rep.settings import RepSettings, asks_for_delays

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_rep.crawl.robots.origins import OriginState, SingleFlight
    from scrapy_rep.crawl.robots.registry import Registry
    from scrapy_rep.crawl.robots.robots import Robots
    from scrapy_rep.crawl.runtime.crawl import Crawl

DONT_OBEY: Final = "dont_obey_robotstxt"
"""Scrapy's meta key for a request that ignores robots.txt, and the reason in its stamp."""

FETCH: Final = "rep_fetch"
"""Meta key: fetch robots.txt even if the rules are not asked."""

_SPECIAL: Final = frozenset({DONT_OBEY, FETCH})
"""Meta keys that change what a request asks."""


class Mode(StringEnum):
    """How a crawl treats the rules of a robots.txt; members are strings."""

    OBEY = "obey"
    """Forbidden pages are not requested."""
    REPORT = "report"
    """The rules are read but stop nothing; forbidden requests are counted and stamped."""
    IGNORE = "ignore"
    """The rules are not asked."""
    OFF = "off"
    """``ROBOTSTXT_OBEY`` is False: robots.txt is not requested. Not a value of ``REP_MODES``."""


ASKS: Final = frozenset({Mode.OBEY, Mode.REPORT})
"""Modes that ask the rules."""

SENT_ANYWAY: Final = frozenset({Mode.REPORT, Mode.IGNORE})
"""Modes of ``REP_MODES`` in which robots.txt stops no request."""


NOT_ASKED: Final = Verdict(allowed=True, rule=None, reason=Reason.NO_RULE)
"""The verdict if the rules are not asked."""


def forbidden_for(reason: Reason) -> Verdict:
    """Return a verdict that forbids for a *reason* other than a rule."""
    return Verdict(allowed=False, rule=None, reason=reason)


_DELAYED: Final = forbidden_for(Reason.CRAWL_DELAY)


class Outcome(StringEnum):
    """The possible outcomes for a request; members are strings."""

    ALLOWED = "allowed"
    """robots.txt allows it."""
    EXCEPTED = "excepted"
    """robots.txt forbids it, and an exception lets it pass."""
    REPORTED = "reported"
    """robots.txt forbids it, and the mode of the site is *report*."""
    IGNORED = "ignored"
    """The rules were not asked: the mode of the site is *ignore*, or the request has ``dont_obey_robotstxt``."""
    OFF = "off"
    """The rules were not asked: ``ROBOTSTXT_OBEY`` is False."""
    FORBIDDEN = "forbidden"
    """It is not sent."""
    UNREACHABLE = "unreachable"
    """It is not sent now: it ends in an error that Scrapy retries (``REP_UNREACHABLE``)."""


_NOT_SENT: Final = {Outcome.FORBIDDEN, Outcome.UNREACHABLE}


class Decision(NamedTuple):
    """The outcome for a request, and the reason. ``verdict`` counts only if the rules were asked.

    ``line`` is the line of the rule or delay that decided; 0 for none.
    """

    mode: Mode
    outcome: Outcome
    verdict: Verdict = NOT_ASKED
    exception: PolicyException | None = None
    line: int = 0
    lapsed: PolicyException | None = None
    """An exception that would cover the URL if its rule still decided."""

    @classmethod
    def forbidden(cls, mode: Mode, reason: Reason, line: int = 0) -> Decision:
        """Build a decision that forbids for a *reason* other than a rule."""
        return cls(mode, Outcome.FORBIDDEN, forbidden_for(reason), None, line)

    @property
    def why(self) -> str:
        """The line and the rule that decided, or another reason."""
        where = f"line {self.line}, " if self.line else ""
        return f"{where}{self.verdict.rule or self.verdict.reason.value}"

    @property
    def is_forbidden(self) -> bool:
        return self.outcome in _NOT_SENT

    @property
    def is_against_rules(self) -> bool:
        """Whether robots.txt forbids the request and no exception covers it."""
        return self.outcome in {Outcome.FORBIDDEN, Outcome.REPORTED}

    @property
    def is_asked(self) -> bool:
        return self.verdict is not NOT_ASKED


class Modes:
    """The mode of each site. An origin beats a host, a host beats ``*.domain``, the longest domain wins.

    ``*.domain`` covers the hosts below a domain, not the domain itself; ``*`` covers every host.
    """

    def __init__(self, sites: Mapping[str, str]) -> None:
        """Read modes by site. Raises ``ValueError`` for an invalid site or mode."""
        self._modes: dict[Origin | str, Mode] = {}
        for site, mode in sites.items():
            if mode not in {Mode.OBEY, Mode.REPORT, Mode.IGNORE}:
                raise ValueError(f"the mode of {site!r} is {mode!r}: write obey, report or ignore")
            if self._modes.setdefault(_key(site), Mode(mode)) is not Mode(mode):
                raise ValueError(f"{site!r} has two different modes: name it once")

    def of(self, origin: Origin) -> Mode | None:
        """Return the mode of *origin*; None if no site covers it."""
        if origin.host.endswith("."):  # the DNS root: the same host
            origin = replace(origin, host=origin.host.rstrip("."))
        mode, domain = self._modes.get(origin) or self._modes.get(origin.host), origin.host
        while domain and mode is None:
            domain = domain.partition(".")[2]
            mode = self._modes.get(f"*.{domain}")
        return mode

    def __len__(self) -> int:
        return len(self._modes)


def _key(site: str) -> Origin | str:
    """Parse *site* as an origin, a host, or ``*.`` and a domain, which is empty for ``*``."""
    if site == "*":
        return "*."
    if site.startswith("*."):
        return f"*.{_host(site[2:], site)}"
    if "://" not in site:
        return _host(site, site)
    origin = origin_in_settings(site)
    if re.search(r"[/?#]", site.partition("://")[2].rstrip("/")):
        raise ValueError(f"{site!r} has a path: a mode applies to a whole origin")
    return replace(origin, host=origin.host.rstrip("."))


def _host(name: str, site: str) -> str:
    """Spell *name* as `Origin` spells hosts. Raises ``ValueError`` if *site* is not a host."""
    is_bare_ipv6 = name.count(":") > 1 and "[" not in name
    try:
        origin = origin_in_settings(f"https://[{name}]" if is_bare_ipv6 else f"https://{name}")
    except ValueError:
        origin = None
    has_port = ":" in name and not name.endswith("]") and not is_bare_ipv6
    if origin is None or has_port or any(sign in name for sign in "/?#@"):
        raise ValueError(
            f"{site!r} is not a site: write a host, *.DOMAIN, *, or an origin such as https://example.com:8443"
        )
    return origin.host.rstrip(".")


class Policy:
    """The modes and exceptions of one crawl."""

    def __init__(self, modes: Modes, exceptions: ExceptionIndex, default: Mode = Mode.OBEY) -> None:
        self.modes = modes
        self.exceptions = exceptions
        self.default = default
        self.has_modes, self.has_exceptions = bool(modes), bool(exceptions.all)

    @classmethod
    def from_settings(cls, settings: RepSettings, default: Mode) -> Policy:
        """Read ``REP_MODES``, ``REP_EXCEPTIONS`` and ``REP_EXCEPTIONS_FILE``. Raises `InvalidSettingError`.

        *default* is the mode of all other sites.
        """
        with _naming("REP_MODES"):
            modes = Modes(settings.modes)
        return cls(modes, ExceptionIndex(exceptions_of(settings)), default)

    def mode(self, url: str) -> Mode:
        """Return the mode of the site of *url*. Raises ``ValueError`` for a URL that has no robots.txt."""
        return self.modes.of(Origin.from_url(url)) or self.default if self.has_modes else self.default

    @property
    def is_asking(self) -> bool:
        """Whether the rules of any site are asked."""
        return self.default is not Mode.OFF or self.has_modes

    def exception(self, url: str, verdict: Verdict, now: float) -> PolicyException | None:
        """Return the exception that lets *url* pass at *now* (POSIX seconds) despite *verdict*, or None."""
        if not self.has_exceptions:
            return None
        rule = str(verdict.rule) if verdict.rule else None
        return self.exceptions.find(url, verdict.reason, rule, now)

    def delay_exception(self, url: str, now: float) -> PolicyException | None:
        """Return the exception that lifts the Crawl-delay for *url*, or None."""
        return self.exception(url, _DELAYED, now)

    def __repr__(self) -> str:
        return f"<Policy default={self.default} sites={len(self.modes)} exceptions={len(self.exceptions.all)}>"


def decide(verdict: Verdict | None, url: str, mode: Mode, policy: Policy, now: float) -> Decision:
    """Decide a request for *url* at *now* (POSIX seconds) under the *mode* of its site.

    *verdict* is that of robots.txt, None if the rules are not asked. The gate, the queue, the door, commands and
    contracts all call this, and get the same decision for the same request.
    """
    if verdict is None:
        return Decision(mode, Outcome.OFF if mode is Mode.OFF else Outcome.IGNORED)
    if verdict.allowed:
        return Decision(mode, Outcome.ALLOWED, verdict, None, verdict.line)
    exception = policy.exception(url, verdict, now)
    if exception is not None:
        return Decision(mode, Outcome.EXCEPTED, verdict, exception, verdict.line)
    has_lapsed = policy.has_exceptions and verdict.reason is Reason.RULE
    lapsed = policy.exceptions.find_lapsed(url, now) if has_lapsed else None
    outcome = Outcome.REPORTED if mode is Mode.REPORT else Outcome.FORBIDDEN
    return Decision(mode, outcome, verdict, None, verdict.line, lapsed)


def is_exempt(request: Request) -> bool:
    """Whether *request* has ``dont_obey_robotstxt``."""
    return bool(request.meta.get(DONT_OBEY))


class Judge:
    """Decides the requests of a crawl by its *policy* and the robots.txt files in *registry*."""

    def __init__(self, crawl: Crawl, registry: Registry, policy: Policy) -> None:
        self.registry, self.policy = registry, policy
        self._crawl, self._targets, self._events = crawl, crawl.targets, crawl.events
        self._asks_for_delays = asks_for_delays(crawl.crawler.settings)
        self._is_plain = crawl.targets.is_plain and policy.default is Mode.OBEY and not policy.has_modes

    # Which requests ask.

    def mode(self, request: Request) -> Mode | None:
        """Return the mode of the site of *request*; None for a URL scheme that has no robots.txt.

        Raises ``ValueError`` for a URL without a usable host.
        """
        return self.mode_of(self._targets.of(request))

    def mode_of(self, url: str) -> Mode | None:
        """As `mode`, for *url*."""
        return self.policy.mode(url) if url.partition(":")[0].lower() in SCHEMES else None

    def asks(self, request: Request) -> bool:
        """Whether *request* needs a robots.txt: for a verdict, for delays, or for its meta key ``rep_fetch``."""
        must_fetch = request.meta.get(FETCH)
        if is_exempt(request) and not must_fetch:
            return False
        mode = self.mode(request)
        if mode is None or must_fetch:
            return mode is not None
        return mode in ASKS or (self._asks_for_delays if mode is Mode.OFF else self._crawl.keeps_delays)

    def asks_rules(self, request: Request) -> bool:
        """Whether the rules of robots.txt are asked about *request*, whatever their effect."""
        return not is_exempt(request) and self.mode(request) in ASKS

    def state_to_ask(self, request: Request) -> OriginState | None:
        """Return the state of the origin whose robots.txt *request* needs before it starts, or None.

        None also stands for a URL without a usable host, which the gate rejects.
        """
        try:
            if not (self._is_plain and _SPECIAL.isdisjoint(request.meta)) and not self.asks(request):
                return None
            return self.registry.origins.at(self._targets.of(request)) if self._crawl.has_gate else None
        except ValueError:
            return None

    def _waits(self, request: Request) -> bool:
        """Whether *request* waits for retries of its robots.txt: not if it is sent anyway."""
        return self._is_plain or self.policy.mode(self._targets.of(request)) not in SENT_ANYWAY

    async def wait_for(self, request: Request) -> Robots:
        """As `Registry.wait_for`."""
        return await self.registry.wait_for(request, waits=self._waits(request))

    def flight(self, state: OriginState, cause: Request) -> SingleFlight[Robots]:
        """As `Registry.flight`."""
        return self.registry.flight(state, cause, waits=self._waits(cause))

    # Decisions.

    def decide(self, robots: Robots, request: Request, url: str | None = None) -> Decision:
        """Decide *request* by the rules of *robots*, under the modes and exceptions of this crawl.

        *url* replaces the request's own URL if it may be sent under another.
        """
        url = url or self._targets.of(request)
        mode = Mode.IGNORE if is_exempt(request) else self.policy.mode(url)
        if mode in ASKS:
            decision = self.decide_by(robots.verdict(self._crawl.product_tokens.of(request), url), url, mode)
        else:
            decision = decide(None, url, mode, self.policy, 0.0)
        return cast("Decision", self._events.deciding.change(decision, request, robots, url))

    def decide_by(self, verdict: Verdict, url: str, mode: Mode) -> Decision:
        """Decide a request for *url*, whose site has this *mode*, by *verdict*."""
        decision = decide(verdict, url, mode, self.policy, clock.time())
        if self.policy.has_exceptions:
            if decision.lapsed is not None:
                self._events.lapsed.send(decision.lapsed, verdict)
            self._report_expired()
        return decision

    def delay_exception(self, request: Request) -> PolicyException | None:
        """Return the exception that lifts the Crawl-delay for *request*, or None."""
        if not self.policy.has_exceptions:
            return None
        found = self.policy.delay_exception(self._targets.of(request), clock.time())
        self._report_expired()
        return found

    def has_no_delay(self, request: Request) -> bool:
        """Whether *request* is free of delays: it does not obey robots.txt, or an exception covers it."""
        return is_exempt(request) or self.delay_exception(request) is not None

    def _report_expired(self) -> None:
        expired = self.policy.exceptions.expired
        while expired:
            self._events.expired.send(expired.pop(0))


def exceptions_of(settings: RepSettings) -> list[PolicyException]:
    """Read the exceptions in *settings* and in the file that they name. Raises `InvalidSettingError`."""
    now = clock.time()
    with _naming("REP_EXCEPTIONS"):
        found = read_exceptions(settings.exceptions, now=now)
    if settings.exceptions_file:
        with _naming(f"REP_EXCEPTIONS_FILE = {settings.exceptions_file!r}"):
            found += read_exceptions(read_exceptions_file(settings.exceptions_file), now=now)
    return found


@contextmanager
def _naming(setting: str) -> Iterator[None]:
    """Turn a ``ValueError`` of the ``with`` block into an `InvalidSettingError` that names *setting*."""
    try:
        yield
    except ValueError as error:
        raise InvalidSettingError(f"{setting}: {error}") from None
