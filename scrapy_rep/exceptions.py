"""The exceptions that users meet."""

from __future__ import annotations

from scrapy.exceptions import IgnoreRequest

from .protocol import Origin, Reason, Rule, Verdict


class InvalidSettingError(ValueError):
    """A setting with a value that cannot be used, or an unknown ``REP_*`` name; the message says what to write."""


class FetchError(Exception):
    """Why a robots.txt is unreachable where nothing raised: an HTTP status, a truncated response."""


class RedisRequiredError(IgnoreRequest):
    """Redis is away, and ``REP_REDIS_REQUIRED`` is set: no request may start without it."""


class ForbiddenByRobots(IgnoreRequest):
    """A request that robots.txt does not allow, or that nobody can say it allows.

    ``origin`` is whose robots.txt decided; ``reason`` says why: a rule (``rule`` and its ``line``, None
    and 0 from a parser back-end other than ours), an origin that is unreachable, a Crawl-delay that is
    too long, or a Visit-time that is not now. ``retry_after`` are the seconds until the next attempt on an
    unreachable origin, whose failure is ``__cause__``, or until the Visit-time; None otherwise.
    """

    def __init__(
        self, origin: Origin, verdict: Verdict, retry_after: float | None = None, line: int | None = None
    ) -> None:
        self.origin = origin
        self.rule: Rule | None = verdict.rule
        self.line: int = verdict.line if line is None else line
        self.reason: Reason = verdict.reason
        self.retry_after = retry_after
        where = f"line {self.line}, " if self.line else ""
        super().__init__(f"Forbidden by robots.txt ({where}{self.rule or self.reason.value})")
