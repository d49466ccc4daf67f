"""The account of a crawl: the gate tells it what happened, and it keeps stamps, stats and the summary."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from scrapy_rep.crawl.gate.report import REFUSALS, ExceptionReport, Report
from scrapy_rep.crawl.policy.meta import BLANK, DONT_OBEY, META_KEY, is_exempt, is_stamp, stamp_by, stamp_of
from scrapy_rep.crawl.policy.policy import Mode, Outcome, decide
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.protocol import SCHEMES, Origin

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_rep.crawl.policy.policy import Decision, Policy
    from scrapy_rep.crawl.robots.fetch import FetchResult
    from scrapy_rep.crawl.robots.robots import Robots

logger = logging.getLogger(__name__)

_REASON: Final = "rep_reason"  # meta key: why a request has `DONT_OBEY`
_UNFLAGGED: Final = {Outcome.ALLOWED.value, Outcome.OFF.value}


class Account:
    """The account of one crawl: its ``report``, and that of its ``exceptions``."""

    def __init__(self, crawler: Crawler, policy: Policy) -> None:
        crawl = Crawl.of(crawler)
        self._events = crawl.events
        self._stats = crawler.stats
        self._policy = policy
        self._targets, self._product_tokens = crawl.targets, crawl.product_tokens
        self.report = Report(crawler, policy)
        self.exceptions = ExceptionReport(crawler, policy.exceptions)
        self._has_warned = False
        self._stamps_all = bool(crawl.events.decided) or policy.has_modes

    @property
    def is_plain(self) -> bool:
        """Whether nothing is recorded of an allowed request but its stamp, and nothing but the rules is asked."""
        policy, events = self._policy, self._events
        others = events.needed, events.deciding, events.stamping
        return not (self._stamps_all or any(others) or policy.has_exceptions) and policy.default is Mode.OBEY

    def decided(self, request: Request, robots: Robots, decision: Decision) -> None:
        """Record the *decision* on *request* by *robots*."""
        self.report.decided(request, robots.entry.origin, decision)
        self._record(request, decision, self.stamp_by(request, decision, robots))

    def answered(self, request: Request, final: Request, robots: Robots, decision: Decision) -> None:
        """Record the *decision* by *robots* on *final*, for the URL that the response to *request* came from.

        The stamp is that of the URL which answered, as after redirects that Scrapy follows.
        """
        stamp = self.stamp_by(final, decision, robots)
        if not decision.is_forbidden:
            request.meta[META_KEY] = stamp
        self._events.judged.send("response", request, stamp, self._targets.url(final))

    def not_asked(self, request: Request) -> None:
        """Record that *request* passes without asking robots.txt."""
        self.report.not_forbidden(request)
        if is_exempt(request):
            self._not_obeyed(request)
            return
        self._put(request, None)
        target = self._targets.of(request) if self._stamps_all else ""
        if self._stamps_all and target.partition(":")[0] in SCHEMES:
            self._record(request, *self._unasked(self._policy.mode(target), target))

    def _not_obeyed(self, request: Request) -> None:
        self._put(request, None)
        if request.meta.get("is_robotstxt_request") or not (self._stamps_all or self._policy.is_asking):
            return
        decision, stamp = self._unasked(Mode.IGNORE, request.url)
        stamp["reason"], why = DONT_OBEY, request.meta.get(_REASON)
        if why is not None:
            stamp["exception"] = {"url": None, "reason": str(why), "until": None}
        self._stats.inc_value("rep/dont_obey_count")
        self._record(request, decision, stamp)

    def stamp(self, request: Request) -> dict[str, Any]:
        """The stamp of *request*; a new one, which says that nothing was asked, if it has none."""
        values = request.meta.get(META_KEY)
        if not is_stamp(values):
            _, values = self._unasked(Mode.OFF, self._targets.of(request))
            request.meta[META_KEY] = values
        return values

    def flag(self, request: Request, response: Response) -> None:
        """Flag *response* for Scrapy's log line if its stamp is out of the ordinary.

        A page of an origin that refuses its robots.txt is reported.
        """
        stamp = request.meta.get(META_KEY)
        if not is_stamp(stamp):  # another middleware may have put something else there
            return
        if stamp["verdict"] not in _UNFLAGGED:
            response.flags.append(f"robots:{stamp['verdict']}")
        if stamp.get("source") == "stale":
            response.flags.append("robots:stale")
        if stamp.get("status") in REFUSALS and response.status == HTTPStatus.OK:
            self.report.refused(stamp["origin"], stamp["status"])

    def stamp_by(self, request: Request, decision: Decision, robots: Robots) -> dict[str, Any]:
        """The stamp of *request* by *robots* with this *decision*; counts the exception that it needs."""
        if decision.exception is not None:
            self.exceptions.count(decision.exception)
        agent = robots.addressed(self._product_tokens.of(request))
        stamp = stamp_of(decision, stamp_by(robots), agent)
        self._events.stamping.send(stamp, request, robots, decision)
        return stamp

    def _unasked(self, mode: Mode, url: str) -> tuple[Decision, dict[str, Any]]:
        """The decision on a request for *url* that asks nothing under *mode*, and its stamp."""
        decision = decide(None, url, mode, self._policy, 0.0)
        return decision, {**stamp_of(decision, BLANK), "origin": str(Origin.find(url) or "") or None}

    def _record(self, request: Request, decision: Decision, stamp: dict[str, Any]) -> None:
        self._put(request, None if decision.is_forbidden else stamp)
        if decision.outcome is Outcome.REPORTED:
            self._stats.inc_value("rep/reported_count")
        if self._policy.has_modes:
            self._stats.inc_value(f"rep/mode/{decision.mode.value}")
        self._events.decided.send(request, stamp)

    def _put(self, request: Request, stamp: dict[str, Any] | None) -> None:
        """Put *stamp* in the place of what is there; say once that it is not a place for anything else."""
        before = request.meta.pop(META_KEY, None)
        if before is not None and not is_stamp(before) and not self._has_warned:
            self._has_warned = True
            logger.warning(
                "The meta key %r of %s is replaced by the stamp of robots.txt: use another key for your data",
                META_KEY, self._targets.name(request),
            )  # fmt: skip
        if stamp is not None:
            request.meta[META_KEY] = stamp

    def loaded(self, robots: Robots, result: FetchResult | None, known: Robots | None) -> None:
        """Record that *robots*, from a fetch with this *result* or from the store, replaces *known*."""
        if self._policy.has_exceptions and self._policy.mode(robots.entry.origin.robots_url) is not Mode.OFF:
            self.exceptions.met(robots.entry.origin)
        self.report.loaded(robots, result, known)

    def close(self) -> None:
        """Log the summary at the end of the crawl."""
        self.report.log_summary()
        self.exceptions.log_summary()
