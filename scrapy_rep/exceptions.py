"""The exceptions that the package raises for its users."""

from __future__ import annotations

from scrapy.exceptions import IgnoreRequest

from .protocol import Origin, Reason, Rule, Verdict


class InvalidSettingError(ValueError):
    """A setting has a value that cannot be used, or an unknown ``REP_*`` name; the message says what to change."""


class FetchError(Exception):
    """Why a robots.txt is unreachable where nothing raised: an HTTP status, a truncated response."""


class RedisRequiredError(IgnoreRequest):
    """Redis does not answer, and ``REP_REDIS_REQUIRED`` is set: no request may start without it."""


class AuditRequiredError(IgnoreRequest):
    """The audit log cannot be written, and ``REP_AUDIT_REQUIRED`` is set: no request may start without it."""


class TargetUrlError(ValueError):
    """A request asks a rendering service or a scraping API for a URL that robots.txt cannot be asked about.

    `RepSettings.target_url` says where that URL is. The message shows neither it nor the URL of the service.
    """


class UnreachableError(OSError):
    """The robots.txt of an origin is unreachable, and ``REP_UNREACHABLE`` is ``"retry"`` or ``"raise"``.

    An ``OSError``, which Scrapy's retry middleware retries. ``origin`` is the origin, ``retry_after`` the seconds
    until it is asked again; ``__cause__`` is the failure.
    """

    def __init__(self, origin: Origin, retry_after: float) -> None:
        self.origin = origin
        self.retry_after = retry_after
        super().__init__(f"robots.txt of {origin} is unreachable")


class ForbiddenByRobots(IgnoreRequest):
    """A request that robots.txt forbids, whose robots.txt is unreachable, or whose site refuses its pages.

    ``origin`` is the origin whose robots.txt decided. ``reason`` is a `Reason`: a rule (``rule`` and its ``line``;
    None and 0 with a parser back-end other than `RepRobotParser`), an unreachable origin, a Crawl-delay that is
    too long, or refusals. ``retry_after`` is the number of seconds until an unreachable origin is fetched again;
    None otherwise. ``__cause__`` is the failure of an unreachable origin.
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
        who = "the site" if self.reason is Reason.REFUSED else "robots.txt"
        super().__init__(f"Forbidden by {who} ({where}{self.rule or self.reason.value})")
