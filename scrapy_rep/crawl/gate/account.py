"""The account of a crawl: the gate tells it what happened, and it keeps stamps, stats, summary and audit log."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from scrapy_rep.crawl.gate.report import REFUSALS, ExceptionReport, Report
from scrapy_rep.crawl.policy.meta import BLANK, DONT_OBEY, META_KEY, is_exempt, is_stamp, stamp_of
from scrapy_rep.crawl.policy.policy import Mode, Outcome, forbidden_for
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.extras.audit.audit import Audit
from scrapy_rep.protocol import SCHEMES, Origin, Reason

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_rep.crawl.policy.policy import Decision, Policy
    from scrapy_rep.crawl.robots.fetch import FetchResult
    from scrapy_rep.crawl.robots.robots import Robots
    from scrapy_rep.crawl.sitemaps.site_files import AiSignals

logger = logging.getLogger(__name__)

_REASON: Final = "rep_reason"  # meta key: why a request has `DONT_OBEY`
_NO_RULE: Final = {Reason.AI_SIGNAL, Reason.CRAWL_DELAY}
_UNFLAGGED: Final = {Outcome.ALLOWED.value, Outcome.OFF.value}


class Account:
    """The account of one crawl: its ``report``, and ``audit``, its audit log; None without ``REP_AUDIT``."""

    def __init__(self, crawler: Crawler, policy: Policy, ai: AiSignals | None) -> None:
        """Raises `InvalidSettingError` if ``REP_AUDIT`` cannot be used."""
        self._ai = ai
        self._stats = crawler.stats
        self._policy = policy
        self._targets, self._product_tokens = Crawl.of(crawler).targets, Crawl.of(crawler).product_tokens
        self.report = Report(crawler, policy)
        self._exceptions = ExceptionReport(crawler, policy.exceptions)
        policy.lapsed = self._exceptions.lapsed
        self.audit = Audit.open(crawler, policy, self._exceptions)
        self._has_warned = False
        self._stamps_all = self.audit is not None or policy.has_modes

    @property
    def is_plain(self) -> bool:
        """Whether nothing is recorded of an allowed request but its stamp, and no mode or exception is asked."""
        policy = self._policy
        return not (self._stamps_all or self._ai or policy.has_exceptions) and policy.default is Mode.OBEY

    def decided(self, request: Request, robots: Robots, decision: Decision) -> None:
        """Record the *decision* on *request* by *robots*."""
        self.report.decided(request, robots.entry.origin, decision)
        self._record(request, decision, self._stamp_by(request, decision, robots))

    def answered(self, request: Request, final: Request, robots: Robots, decision: Decision) -> None:
        """Record the *decision* by *robots* on *final*, for the URL that the response to *request* came from.

        The stamp is that of the URL which answered, as after redirects that Scrapy follows.
        """
        stamp = self._stamp_by(final, decision, robots)
        if not decision.is_forbidden:
            request.meta[META_KEY] = stamp
        if self.audit is not None:
            self.audit.event("response", request, stamp, final=self._targets.url(final))

    def requested_by_browser(self, request: Request, robots: Robots, decision: Decision) -> None:
        """Record the *decision* by *robots* on *request*, which a browser makes for a page."""
        stamp = self._stamp_by(request, decision, robots)
        if decision.is_against_rules:
            self._stats.inc_value("rep/browser/forbidden_count")
        if self.audit is not None:
            self.audit.event("browser", request, stamp)

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

    def excepts_signals(self, request: Request) -> bool:
        """Whether an exception covers *request* although its page is reserved from a purpose of the crawl."""
        exception = self._policy.exception(self._targets.of(request), forbidden_for(Reason.AI_SIGNAL))
        if exception is not None and self.stamp(request).get("exception") is None:  # else the gate has counted it
            self._exceptions.count(exception)
        return exception is not None

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

    def _stamp_by(self, request: Request, decision: Decision, robots: Robots) -> dict[str, Any]:
        if decision.exception is not None:
            self._exceptions.count(decision.exception)
        agent = robots.addressed(self._product_tokens.of(request))
        stamp = stamp_of(decision, robots.stamp, agent)
        verdict = decision.verdict
        may_be_crawled = verdict.allowed or verdict.reason in _NO_RULE  # about other URLs a site says nothing
        if self._ai is not None and decision.is_asked and may_be_crawled:
            stamp["ai"] = self._ai.values(robots, agent, self._targets.of(request))
        return stamp

    def _unasked(self, mode: Mode, url: str) -> tuple[Decision, dict[str, Any]]:
        """The decision on a request for *url* that asks nothing under *mode*, and its stamp."""
        decision = self._policy.decide_unasked(mode)
        return decision, {**stamp_of(decision, BLANK), "origin": str(Origin.find(url) or "") or None}

    def _record(self, request: Request, decision: Decision, stamp: dict[str, Any]) -> None:
        self._put(request, None if decision.is_forbidden else stamp)
        if decision.outcome is Outcome.REPORTED:
            self._stats.inc_value("rep/reported_count")
        if self._policy.has_modes:
            self._stats.inc_value(f"rep/mode/{decision.mode.value}")
        if self.audit is not None:
            self.audit.decision(request, stamp)

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
            self._exceptions.met(robots.entry.origin)
        self.report.loaded(robots, result, known)
        if self.audit is not None:
            self.audit.robots(robots)

    def close(self) -> None:
        """Log the summary at the end of the crawl."""
        self.report.log_summary()
        self._exceptions.log_summary()
