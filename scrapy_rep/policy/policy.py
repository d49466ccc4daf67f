"""What becomes of a request: the verdict of robots.txt under the modes and exceptions of the crawl's owner."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from scrapy_rep.clock import clock
from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.policy.exception_index import ExceptionIndex
from scrapy_rep.policy.modes import Mode, Modes
from scrapy_rep.policy.policy_exception import PolicyException, read_exceptions, read_exceptions_file
from scrapy_rep.protocol import Origin, Reason, Verdict
from scrapy_rep.runtime.crawl import Crawl
from scrapy_rep.settings import RepSettings, logging_invalid_settings

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


NOT_ASKED: Final = Verdict(allowed=True, rule=None, reason=Reason.NO_RULE)
"""Stands for the verdict where the rules are not asked."""


def forbidden_for(reason: Reason) -> Verdict:
    """The verdict that forbids for another *reason* than a rule."""
    return Verdict(allowed=False, rule=None, reason=reason)


_DELAYED: Final = (forbidden_for(Reason.CRAWL_DELAY), forbidden_for(Reason.VISIT_TIME))
_NO_EXCEPTIONS: Final[Mapping[Reason, PolicyException]] = {}


class Outcome(str, Enum):
    """What becomes of a request; each is a string."""

    __str__ = str.__str__

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
    """It is not sent for now: it ends in an error that Scrapy retries (``REP_UNREACHABLE``)."""


_NOT_SENT: Final = {Outcome.FORBIDDEN, Outcome.UNREACHABLE}


class Decision(NamedTuple):
    """What becomes of a request and why. ``verdict`` counts only where the rules were asked.

    ``line`` is that of the rule, or of the delay, that decided; 0 for none.
    """

    mode: Mode
    outcome: Outcome
    verdict: Verdict = NOT_ASKED
    exception: PolicyException | None = None
    line: int = 0

    @classmethod
    def by(
        cls, mode: Mode, outcome: Outcome, verdict: Verdict, exception: PolicyException | None = None
    ) -> Decision:
        """The decision that follows from *verdict*."""
        return cls(mode, outcome, verdict, exception, verdict.line)

    @classmethod
    def forbidden(cls, mode: Mode, reason: Reason, line: int = 0) -> Decision:
        """Forbidden for another *reason* than a rule."""
        return cls(mode, Outcome.FORBIDDEN, forbidden_for(reason), None, line)

    def retried(self) -> Decision:
        """The decision on a request that ends in an error, which Scrapy retries."""
        return self._replace(outcome=Outcome.UNREACHABLE)

    def excepted(self, reason: Reason, exception: PolicyException) -> Decision:
        """Passed by *exception* although robots.txt delays it for *reason*; by another exception already if so."""
        if self.exception is not None:
            return self
        return Decision(self.mode, Outcome.EXCEPTED, forbidden_for(reason), exception)

    def tolerated(self) -> Decision:
        """What is left of it for a response that was received and is kept: a report."""
        return self._replace(outcome=Outcome.REPORTED) if self.is_forbidden else self

    @property
    def why(self) -> str:
        """The line and the rule that decided, or another reason."""
        where = f"line {self.line}, " if self.line else ""
        return f"{where}{self.verdict.rule or self.verdict.reason.value}"

    @property
    def is_forbidden(self) -> bool:
        """Whether the request must not be sent."""
        return self.outcome in _NOT_SENT

    @property
    def is_against_rules(self) -> bool:
        """Whether robots.txt forbids the request and no exception covers it."""
        return self.outcome in {Outcome.FORBIDDEN, Outcome.REPORTED}

    @property
    def is_asked(self) -> bool:
        """Whether the rules were asked."""
        return self.verdict is not NOT_ASKED


class Policy:
    """The modes and exceptions of one crawl."""

    def __init__(self, modes: Modes, exceptions: ExceptionIndex, default: Mode = Mode.OBEY) -> None:
        self.modes = modes
        self.exceptions = exceptions
        self.default = default
        self.has_modes, self.has_exceptions = bool(modes), bool(exceptions)
        self.lapsed: Callable[[PolicyException, Verdict], None] = lambda *_: None
        """Called with an exception that does not apply because another rule decides now."""

    @classmethod
    def from_settings(cls, settings: RepSettings, default: Mode) -> Policy:
        """Read ``REP_MODES``, ``REP_EXCEPTIONS`` and ``REP_EXCEPTIONS_FILE``. Raises `InvalidSettingError`.

        *default* is the mode of other sites.
        """
        with _naming("REP_MODES"):
            modes = Modes(settings.modes)
        return cls(modes, ExceptionIndex(exceptions_of(settings)), default)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Policy:
        """Read the settings of *crawler*. Logs and raises `InvalidSettingError`."""
        settings = Crawl.of(crawler).settings
        default = Mode.OBEY if crawler.settings.getbool("ROBOTSTXT_OBEY") else Mode.OFF
        with logging_invalid_settings(logger):
            return cls.from_settings(settings, default)

    def mode(self, url: str) -> Mode:
        """The mode of the site of *url*. Raises ``ValueError`` for a URL that has no robots.txt."""
        return self.modes.of(Origin.from_url(url)) or self.default if self.has_modes else self.default

    def decide(self, url: str, mode: Mode, verdict: Verdict) -> Decision:
        """What becomes of a request for *url*, whose *mode* asks robots.txt, with this *verdict*."""
        if verdict.allowed:
            return Decision.by(mode, Outcome.ALLOWED, verdict)
        exception = self.exception(url, verdict)
        if exception is not None:
            return Decision.by(mode, Outcome.EXCEPTED, verdict, exception)
        return Decision.by(mode, Outcome.REPORTED if mode is Mode.REPORT else Outcome.FORBIDDEN, verdict)

    def decide_unasked(self, mode: Mode) -> Decision:
        """What becomes of a request under a *mode* that asks for no verdict."""
        return Decision(mode, Outcome.OFF if mode is Mode.OFF else Outcome.IGNORED)

    @property
    def is_asking(self) -> bool:
        """Whether the rules of any site are asked."""
        return self.default is not Mode.OFF or self.has_modes

    def exception(self, url: str, verdict: Verdict) -> PolicyException | None:
        """The exception that lets *url* pass although *verdict* forbids it, or None."""
        if not self.has_exceptions:
            return None
        rule, now = str(verdict.rule) if verdict.rule else None, clock.time()
        exception = self.exceptions.find(url, verdict.reason, rule, now)
        if exception is None and verdict.reason is Reason.RULE:
            lapsed = self.exceptions.find_lapsed(url, Reason.RULE, now)
            if lapsed is not None:
                self.lapsed(lapsed, verdict)
        return exception

    def delay_exceptions(self, url: str) -> Mapping[Reason, PolicyException]:
        """The exceptions that cover *url*, by what they are for: ``crawl-delay`` and ``visit-time``."""
        if not self.has_exceptions:
            return _NO_EXCEPTIONS
        found = {verdict.reason: self.exception(url, verdict) for verdict in _DELAYED}
        return {reason: exception for reason, exception in found.items() if exception is not None}

    def __repr__(self) -> str:
        return f"<Policy default={self.default} {self.modes!r} {self.exceptions!r}>"


def exceptions_of(settings: RepSettings) -> list[PolicyException]:
    """The exceptions in *settings* and in the file that they name. Raises `InvalidSettingError`."""
    max_days, now = settings.exception_max_days, clock.time()
    with _naming("REP_EXCEPTIONS"):
        found = read_exceptions(settings.exceptions, max_days=max_days, now=now)
    if settings.exceptions_file:
        with _naming(f"REP_EXCEPTIONS_FILE = {settings.exceptions_file!r}"):
            found += read_exceptions(read_exceptions_file(settings.exceptions_file), max_days=max_days, now=now)
    return found


@contextmanager
def _naming(setting: str) -> Iterator[None]:
    """Turn a ``ValueError`` of the ``with`` block into an `InvalidSettingError` that names *setting*."""
    try:
        yield
    except ValueError as error:
        raise InvalidSettingError(f"{setting}: {error}") from None
