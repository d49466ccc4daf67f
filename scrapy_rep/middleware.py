"""The gate: a downloader middleware that lets a request pass, or not, as robots.txt says."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest, NotConfigured

from .extension import RepExtension
from .protocol import Origin, Reason, Rule, Verdict
from .report import describe
from .settings import InvalidSettingError

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from .robots import Robots

logger = logging.getLogger(__name__)


class ForbiddenByRobots(IgnoreRequest):
    """A request that robots.txt does not allow, or that nobody can say it allows.

    ``origin`` is whose robots.txt decided; ``reason`` says why: a rule (``rule`` and its ``line``, None
    and 0 from a parser back-end other than ours) or an origin that is unreachable. Then ``retry_after``
    are the seconds until the next attempt, None otherwise, and ``__cause__`` is the failure.
    """

    def __init__(self, origin: Origin, verdict: Verdict, retry_after: float | None = None) -> None:
        super().__init__("Forbidden by robots.txt")
        self.origin = origin
        self.rule: Rule | None = verdict.rule
        self.line: int = verdict.line
        self.reason: Reason = verdict.reason
        self.retry_after = retry_after


class RepMiddleware:
    """Asks `RepExtension` about every request and raises `ForbiddenByRobots` for those it may not let pass."""

    def __init__(self, crawler: Crawler) -> None:
        """Raises ``NotConfigured`` with ``ROBOTSTXT_OBEY`` off, `InvalidSettingError` without the extension."""
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        extension = crawler.get_extension(RepExtension)
        if extension is None:
            raise InvalidSettingError(
                "EXTENSIONS lacks scrapy_rep.RepExtension, which RepMiddleware asks:"
                ' add it, or set ADDONS = {"scrapy_rep.Addon": 300} instead of both'
            )
        self._crawler = crawler
        self._extension = extension

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Let *request* pass; raises `ForbiddenByRobots`, ``ValueError`` for a URL without a usable host."""
        if not self._extension.obeys(request):
            return
        robots = self._extension.in_hand(request.url)
        waits = robots is None
        if robots is None:
            robots = await self._wait(request)
        verdict = self._extension.verdict(robots, request)
        if not verdict.allowed:
            self._forbid(request, robots, verdict)
        self._extension.report.allow()
        if waits:
            await self._extension.waiting_room.leave()

    async def _wait(self, request: Request) -> Robots:
        self._crawler.stats.inc_value("rep/waited_count")
        with self._extension.waiting_room.seat():
            return await self._extension.robots(request)

    def _forbid(self, request: Request, robots: Robots, verdict: Verdict) -> None:
        origin = robots.entry.origin
        self._extension.report.forbid(origin)
        if verdict.reason is Reason.UNREACHABLE:
            self._crawler.stats.inc_value("rep/forbidden_unreachable_count")
            self._log(request, f"unreachable, {describe(robots.error)}")
            retry_after = self._extension.retry_after(robots)
            raise ForbiddenByRobots(origin, verdict, retry_after) from robots.error
        self._crawler.stats.inc_value("robotstxt/forbidden")
        self._log(request, f"line {verdict.line}, {verdict.rule}" if verdict.rule else verdict.reason.value)
        raise ForbiddenByRobots(origin, verdict)

    def _log(self, request: Request, why: str) -> None:
        logger.debug(
            "Forbidden by robots.txt: %(request)s (%(why)s)",
            {"request": request, "why": why},
            extra={"spider": self._crawler.spider},
        )
