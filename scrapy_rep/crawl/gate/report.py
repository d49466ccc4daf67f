"""The account of a crawl: stamps, stats, lines about each origin and exception, and the summary at the end."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator
from http import HTTPStatus
from logging import INFO, WARNING
from typing import TYPE_CHECKING, Any, Final

from scrapy.exceptions import IgnoreRequest

from scrapy_rep.clock import clock
from scrapy_rep.crawl.policy.meta import BLANK, META_KEY, is_stamp, stamp_by, stamp_of
from scrapy_rep.crawl.policy.policy import DONT_OBEY, SENT_ANYWAY, Mode, Outcome, decide, is_exempt
from scrapy_rep.crawl.robots.robots import REFUSALS
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.crawl.runtime.log import Topic, describe
from scrapy_rep.protocol import SCHEMES, Access, Origin, Reason
from scrapy_rep.protocol.body_kind import BodyKind, body_kind
from scrapy_rep.protocol.display import abridged, number_of, shown
from scrapy_rep.settings import NOT_SHARED, Unreachable

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from scrapy_rep.crawl.policy.exceptions import ExceptionIndex, PolicyException
    from scrapy_rep.crawl.policy.policy import Decision, Policy
    from scrapy_rep.crawl.robots.fetch import FetchResult
    from scrapy_rep.crawl.robots.robots import Robots
    from scrapy_rep.crawl.sitemaps.requests import Sitemaps
    from scrapy_rep.protocol import Verdict

logger = logging.getLogger(__name__)

IS_START: Final = "is_start_request"  # Scrapy's meta key
_REASON: Final = "rep_reason"  # meta key: why a request has `DONT_OBEY`
_UNFLAGGED: Final = {Outcome.ALLOWED.value, Outcome.OFF.value}

# The start of nearly every robots.txt: comments, blank lines, a User-agent line. No other kind of file has it.
_USUAL: Final = re.compile(rb"(?:[ \t]*(?:#[^\r\n]*)?[\r\n])*[ \t]*user-agent[ \t]*:", re.IGNORECASE)
_NAMED: Final = 10  # origins, and exceptions, in the summary
_SOON: Final = 14  # days before an exception expires in which every crawl says so
_NAMED_RULES: Final = 5
_LONGEST_RULE: Final = 100  # characters
_MAX_COUNTED: Final = 10_000  # rules whose requests are counted one by one
_MEANING: Final = {
    Access.SUCCESSFUL: "successful",
    Access.UNAVAILABLE: "unavailable, so everything is allowed",
    Access.UNREACHABLE: "unreachable",
}
_UNREACHABLE_PAGES: Final = {
    Unreachable.DISALLOW: "forbidden",
    Unreachable.ALLOW: "allowed",
    Unreachable.RETRY: "retried",
    Unreachable.RAISE: "retried",
}
_REMEDY: Final = '. Start again later, or set REP_UNREACHABLE = "allow" to request them anyway'


class RuleCounts:
    """Counts requests by rule, origin and line."""

    def __init__(self) -> None:
        self.total = 0
        self._counts: Counter[tuple[str, Origin, str]] = Counter()

    def add(self, origin: Origin, decision: Decision) -> None:
        self.total += 1
        verdict = decision.verdict
        self._counts[str(verdict.rule or verdict.reason.value), origin, decision.why] += 1
        if len(self._counts) > _MAX_COUNTED:  # drop the rules that forbade the fewest requests
            self._counts = Counter(dict(self._counts.most_common(_MAX_COUNTED // 2)))

    @property
    def origins(self) -> int:
        return len({origin for _, origin, _ in self._counts})

    def most(self) -> str:
        """Return the rules that forbade most, with counts; a rule of a single origin, with the origin and line."""
        totals, places = Counter[str](), dict[str, str]()
        for (rule, origin, why), count in self._counts.items():
            totals[rule] += count
            places[rule] = "" if rule in places else f"{origin} ({abridged(why, _LONGEST_RULE)})"
        return ", ".join(
            f"{places[rule]} {count:,}" if places[rule] else f"{abridged(rule, _LONGEST_RULE)} ({count:,})"
            for rule, count in totals.most_common(_NAMED_RULES)
        )


class Account:
    """The account of a crawl.

    ``exceptions`` reports on its exceptions; ``filtered`` counts links that were dropped before the scheduler.
    """

    def __init__(self, crawl: Crawl, policy: Policy) -> None:
        self._settings, self._log, self._events = crawl.settings, crawl.log, crawl.events
        self._targets, self._product_tokens = crawl.targets, crawl.product_tokens
        self._inc_value = crawl.stats.inc_value  # a look-up there costs more than the count
        self._policy = policy
        self.exceptions = ExceptionReport(crawl, policy.exceptions)
        self._stamps_all = bool(crawl.events.decided) or policy.has_modes
        self._has_warned = False  # that the stamp's meta key held another value
        self._has_passed = False
        self._has_other_start = False  # a start request that no rule forbade
        # Whether the gate let a request pass that is no start request; True if the gate may not have been asked.
        self.has_link = policy.default is Mode.OFF
        self._unreachable_pages = 0
        self._first_forbidden = ""  # request that a rule, not an unreachable origin, forbade
        self._forbidden, self._forbidden_starts = RuleCounts(), RuleCounts()
        self._reported, self.filtered = RuleCounts(), RuleCounts()
        self._instead: dict[BodyKind, list[Origin]] = {}  # the first origins that send another file
        # Origins reported to refuse their robots.txt and serve their pages.
        self._refusing: set[str] = set()
        self._totals: Counter[str] = Counter()

    @property
    def is_plain(self) -> bool:
        """Whether allowed requests need only a stamp, and only the rules are asked."""
        policy, events = self._policy, self._events
        others = events.needed, events.deciding, events.stamping
        return not (self._stamps_all or any(others) or policy.has_exceptions) and policy.default is Mode.OBEY

    def passed(self, request: Request) -> None:
        self._has_passed = True
        self.not_forbidden(request)

    def not_forbidden(self, request: Request) -> None:
        """Note that no rule forbade *request*, whether it passed or not."""
        if request.meta.get(IS_START):
            self._has_other_start = True
        elif not request.meta.get("is_robotstxt_request"):
            self.has_link = True

    def decided(self, request: Request, robots: Robots, decision: Decision) -> None:
        """Record the *decision* on *request* by *robots*."""
        origin = robots.entry.origin
        if not decision.is_forbidden:
            self.passed(request)
            if decision.outcome is Outcome.REPORTED:
                self._reported.add(origin, decision)
        elif decision.verdict.reason in {Reason.UNREACHABLE, Reason.REFUSED}:
            self._unreachable_pages += decision.verdict.reason is Reason.UNREACHABLE
            self.not_forbidden(request)
        else:
            self._forbidden.add(origin, decision)
            self._first_forbidden = self._first_forbidden or f"{self._targets.name(request)} ({decision.why})"
            if request.meta.get(IS_START):
                self._forbidden_starts.add(origin, decision)
        self._record(request, decision, self.stamp_by(request, decision, robots))

    def answered(self, request: Request, final: Request, robots: Robots, decision: Decision) -> None:
        """Record the *decision* by *robots* on *final*, for the URL that the response to *request* came from.

        The stamp describes the URL that answered, as after redirects that Scrapy follows.
        """
        stamp = self.stamp_by(final, decision, robots)
        if not decision.is_forbidden:
            request.meta[META_KEY] = stamp
        self._events.judged.send("response", request, stamp, self._targets.url(final))

    def not_asked(self, request: Request) -> None:
        """Record that *request* passes without asking robots.txt."""
        self.not_forbidden(request)
        self._put(request, None)
        if not is_exempt(request):
            target = self._targets.of(request) if self._stamps_all else ""
            if target.partition(":")[0] in SCHEMES:
                self._record(request, *self._unasked(self._policy.mode(target), target))
        elif not request.meta.get("is_robotstxt_request") and (self._stamps_all or self._policy.is_asking):
            decision, stamp = self._unasked(Mode.IGNORE, request.url)
            stamp["reason"], why = DONT_OBEY, request.meta.get(_REASON)
            if why is not None:
                stamp["exception"] = {"url": None, "reason": str(why), "until": None}
            self._inc_value("rep/dont_obey_count")
            self._record(request, decision, stamp)

    def stamp(self, request: Request) -> dict[str, Any]:
        """Return the stamp of *request*, or a new stamp that says nothing was asked."""
        values = request.meta.get(META_KEY)
        if not is_stamp(values):
            _, values = self._unasked(Mode.OFF, self._targets.of(request))
            request.meta[META_KEY] = values
        return values

    def flag(self, request: Request, response: Response) -> None:
        """Flag *response* for Scrapy's log line if its stamp is unusual.

        Warn of an origin that serves its pages and refuses its robots.txt: its server may refuse all unknown file
        types, or the site may want no crawlers.
        """
        stamp = request.meta.get(META_KEY)
        if not is_stamp(stamp):  # another middleware may have put another value there
            return
        if stamp["verdict"] not in _UNFLAGGED:
            response.flags.append(f"robots:{stamp['verdict']}")
        if stamp.get("source") == "stale":
            response.flags.append("robots:stale")
        status = stamp.get("status")
        if status not in REFUSALS or response.status != HTTPStatus.OK or status in self._settings.status_access:
            return
        if (origin := stamp["origin"]) in self._refusing:
            return
        if len(self._refusing) >= self._settings.memory_entries:
            self._refusing.clear()
        self._refusing.add(origin)
        self._log.add(
            Topic.REFUSED, "%s refuses its robots.txt (HTTP status %d) and serves its pages: no rules are known,"
            " so everything is requested. If its pages carry a cookie, a header or a client that robots.txt lacks,"
            ' set REP_CLIENT_META or REP_REQUEST_HOOK. REP_STATUS_ACCESS = {%d: "disallow"} skips its pages, and'
            ' "allow" ends this warning', origin, status, status,
        )  # fmt: skip

    def stamp_by(self, request: Request, decision: Decision, robots: Robots) -> dict[str, Any]:
        """Return the stamp of *request* by *robots* and *decision*; count the exception that it needs."""
        if decision.exception is not None:
            self.exceptions.count(decision.exception)
        agent = robots.addressed(self._product_tokens.of(request))
        stamp = stamp_of(decision, stamp_by(robots), agent)
        self._events.stamping.send(stamp, request, robots, decision)
        return stamp

    def _unasked(self, mode: Mode, url: str) -> tuple[Decision, dict[str, Any]]:
        """Return the decision, and the stamp, for a request for *url* that asks nothing under *mode*."""
        decision = decide(None, url, mode, self._policy, 0.0)
        return decision, {**stamp_of(decision, BLANK), "origin": str(Origin.find(url) or "") or None}

    def _record(self, request: Request, decision: Decision, stamp: dict[str, Any]) -> None:
        self._put(request, None if decision.is_forbidden else stamp)
        if decision.outcome is Outcome.REPORTED:
            self._inc_value("rep/reported_count")
        if self._policy.has_modes:
            self._inc_value(f"rep/mode/{decision.mode.value}")
        self._events.decided.send(request, stamp)

    def _put(self, request: Request, stamp: dict[str, Any] | None) -> None:
        """Set *stamp* as the stamp of *request*; warn once if the meta key held another value."""
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
        """Count and log that *robots*, from a fetch with this *result* or from the store, replaces *known*."""
        origin = robots.entry.origin
        if self._policy.has_exceptions and self._policy.mode(origin.robots_url) is not Mode.OFF:
            self.exceptions.met(origin)
        if known is None:
            self._inc("rep/origin_count")
        if result is None:
            self._inc("rep/store_hit_count")
        else:
            self._count_fetch(result)
        if robots.is_stale:
            self._inc("rep/stale_count")
        if (kind := _instead(robots)) and not (known and _instead(known)):
            self._totals[kind] += 1
            self._instead[kind] = [*self._instead.get(kind, ()), origin][:_NAMED]
        if robots.entry.status in REFUSALS and not (known and known.entry.status in REFUSALS):
            self._inc("rep/refused_count")
        self._log_loaded(robots, result, known)

    def _log_loaded(self, robots: Robots, result: FetchResult | None, known: Robots | None) -> None:
        origin = robots.entry.origin
        if result is not None and result.warning and (known is None or known.entry.body != robots.entry.body):
            self._log.add(Topic.ODD, "robots.txt of %s: %s", origin, result.warning)
        if not self._totals["trial"] and self._settings.store != "memory" and not self._settings.shares(origin):
            self._totals["trial"] = 1
            logger.info(NOT_SHARED)
        if robots.access is Access.UNREACHABLE is not robots.entry.access and not robots.entry.failures:
            self._log.add(
                Topic.UNPARSED,
                "ROBOTSTXT_PARSER cannot parse robots.txt of %s (%s): its pages are forbidden until it changes",
                origin, describe(robots.error),
            )  # fmt: skip
        elif result is None or result.access is not Access.UNREACHABLE:
            how = _told(robots, result) if self._log.shows(Topic.READ) else ""
            self._log.add(Topic.READ, "robots.txt of %s: %s", origin, how)
        elif known is None or not known.entry.failures:
            self._log_unreachable(robots, result)

    def _inc(self, stat: str) -> None:
        self._totals[stat] += 1
        self._inc_value(stat)

    def _count_fetch(self, result: FetchResult) -> None:
        """Count a fetch in the stats of Scrapy's own middleware, with their meaning there, and in ours."""
        inc = self._inc_value
        inc("robotstxt/request_count")
        if result.status is not None:
            inc("robotstxt/response_count")
            inc(f"robotstxt/response_status_count/{result.status}")
        elif not isinstance(result.error, IgnoreRequest):
            inc(f"robotstxt/exception_count/{type(result.error)}")
        is_html = not _USUAL.match(result.body) and body_kind(result.body) is BodyKind.HTML
        if is_html or not self._totals["rep/fetched_count"]:  # the first fetch creates the stat
            inc("rep/html_count", int(is_html))
        self._inc(f"rep/access/{result.access.value}")
        self._inc("rep/revalidated_count" if result.unchanged else "rep/fetched_count")

    def _log_unreachable(self, robots: Robots, result: FetchResult) -> None:
        # A component of the project that dropped the request has logged why: do not warn.
        topic = Topic.READ if isinstance(result.error, IgnoreRequest) else Topic.UNREACHABLE
        origin, remedy = robots.entry.origin, ""
        if robots.is_stale:
            consequence = f"the copy of {clock.time() - robots.entry.fetched_at:.0f} s ago is used"
        elif self._policy.mode(f"{origin}/") in SENT_ANYWAY:
            consequence = "its pages are requested anyway"
        else:
            consequence = f"its pages are {_UNREACHABLE_PAGES[self._settings.unreachable]}"
            is_lost = topic is Topic.UNREACHABLE and self._settings.unreachable is not Unreachable.ALLOW
            remedy = _REMEDY if is_lost else ""
        self._log.add(
            topic, "robots.txt of %s is unreachable after %s (%s): %s until an attempt succeeds%s",
            origin, number_of(result.attempts, "attempt", "attempts"), describe(result.error), consequence, remedy,
        )  # fmt: skip

    def sitemaps(self, origin: Origin, sitemaps: Sitemaps) -> None:
        if sitemaps.urls:
            self._inc_value("rep/sitemap/named_count", len(sitemaps.urls))
        if sitemaps.unusable:
            self._inc_value("rep/sitemap/unusable_count", len(sitemaps.unusable))
            logger.debug(
                "robots.txt of %s: %s, the first is %s",
                origin, number_of(len(sitemaps.unusable), "unusable Sitemap line", "unusable Sitemap lines"),
                shown(sitemaps.unusable[0]),
            )  # fmt: skip

    def close(self) -> None:
        """Log the summary at the end of the crawl."""
        for level, text in self._summary() if self._totals["rep/origin_count"] else ():
            logger.log(level, text)
        self.exceptions.log_summary()

    def _summary(self) -> Iterator[tuple[int, str]]:
        yield INFO, self._first_line()
        for kind, origins in self._instead.items():
            number, named = self._totals[kind], map(str, origins)
            serve = number_of(number, "origin serves", "origins serve")
            more = f" and {number - _NAMED:,} more" if number > _NAMED else ""
            why = "instead of a robots.txt; it forbids nothing unless it contains rules"
            yield WARNING, f"{serve} {kind.instead} {why}: {', '.join(named)}{more}"
        for counts, one, many, why in (
            (self._reported, "request was", "requests were", "sent although robots.txt forbids it (mode report)"),
            (self.filtered, "link was", "links were", "not followed because robots.txt forbids them"),
        ):
            if counts.total:
                yield INFO, f"{number_of(counts.total, one, many)} {why}, most by {counts.most()}"
        forbade = "robots.txt forbade every"
        if self._first_forbidden and not self._has_passed and not self._unreachable_pages:
            yield WARNING, f"{forbade} request of this crawl, first {self._first_forbidden}"
        elif self._forbidden_starts.total and not self._has_other_start:
            yield WARNING, f"{forbade} start request of this crawl: {self._forbidden_starts.most()}"

    def _first_line(self) -> str:
        totals, unreachable = self._totals, self._unreachable_pages
        most, origins = self._forbidden.most(), self._forbidden.origins
        return (
            f"robots.txt: {number_of(totals['rep/origin_count'], 'origin', 'origins')};"
            f" {totals['rep/fetched_count']} fetched, {totals['rep/store_hit_count']} from the store,"
            f" {totals['rep/revalidated_count']} revalidated, {totals['rep/access/unreachable']} unreachable,"
            f" {number_of(totals['rep/stale_count'], 'stale copy', 'stale copies')} used"
            + (f", {totals['rep/refused_count']} refused" if totals["rep/refused_count"] else "")
            + f"; {number_of(self._forbidden.total, 'request', 'requests')} forbidden"
            + (f" on {origins:,} origins" if origins > 1 else "")
            + (f", {unreachable:,} not sent because unreachable" if unreachable else "")
            + (f"{';' if origins > 1 else ','} most by {most}" if most else "")
        )


class ExceptionReport:
    """Reports on the exceptions of a crawl, in the log and in the stats."""

    def __init__(self, crawl: Crawl, exceptions: ExceptionIndex) -> None:
        self._stats, self._log = crawl.stats, crawl.log
        self._exceptions = exceptions
        self._used: Counter[PolicyException] = Counter()
        # Exceptions of sites that the crawl has not met. Only the others are worth a log line.
        self._unmet: dict[Origin, list[PolicyException]] = {}
        self._settled: set[PolicyException] = set()  # expired or lapsed: their log lines say why they are unused
        crawl.events.lapsed.subscribe(self._lapsed)
        crawl.events.expired.subscribe(self._expired)
        exceptions.refresh(clock.time())
        self._settled.update(exceptions.expired)
        exceptions.expired.clear()
        for exception in exceptions.all:
            self._unmet.setdefault(exception.origin, []).append(exception)

    def met(self, origin: Origin) -> None:
        """Log which exceptions for *origin*, which the crawl now meets, have expired or will soon."""
        now = clock.time()
        for exception in self._unmet.pop(origin, ()):
            days = exception.days_left(now)
            if exception in self._settled:
                self._expired(exception)
            elif days <= _SOON:
                left = "today" if days <= 0 else f"in {number_of(days, 'day', 'days')}"
                self._say(Topic.ENDING, exception, "ends %s", left)

    def _expired(self, exception: PolicyException) -> None:
        """Log that *exception* has expired, if the crawl has met its site."""
        self._settled.add(exception)
        if exception.origin not in self._unmet:
            self._stats.inc_value("rep/exception/expired_count")
            self._say(Topic.EXPIRED, exception, "has expired: robots.txt applies. Remove or renew it")

    def _lapsed(self, exception: PolicyException, verdict: Verdict) -> None:
        """Log that *exception* does not apply, because it names a rule other than the rule of *verdict*."""
        if exception not in self._settled:
            self._settled.add(exception)
            self._stats.inc_value("rep/exception/lapsed_count")
            text = "does not apply: it is for %s, and line %d, %s decides now"
            self._say(Topic.LAPSED, exception, text, exception.rule, verdict.line, verdict.rule)

    def _say(self, topic: Topic, exception: PolicyException, text: str, *args: object) -> None:
        self._log.add(topic, f"The exception for %s {text}", shown(str(exception)), *args)

    def count(self, exception: PolicyException) -> None:
        self._used[exception] += 1
        self._stats.inc_value("rep/exception/used_count")

    def unused(self) -> list[PolicyException]:
        """Return exceptions for sites that the crawl met, which could have been used and were not."""
        spoken_of = self._settled | self._used.keys()
        return [one for one in self._exceptions.all if one.origin not in self._unmet and one not in spoken_of]

    def log_summary(self) -> None:
        for exception, number in self._used.most_common(_NAMED):
            requests = number_of(number, "request was", "requests were")
            logger.info("%s sent by the exception for %s", requests, shown(str(exception)))
        if unused := [shown(str(exception)) for exception in self.unused()]:
            more = f" and {len(unused) - _NAMED:,} more" if len(unused) > _NAMED else ""
            logger.info("Exceptions that no request needed: %s%s", "; ".join(unused[:_NAMED]), more)


def _told(robots: Robots, result: FetchResult | None) -> str:
    """Describe the meaning of a robots.txt, and its source."""
    entry = robots.entry
    if result is None:
        return f"{_MEANING[robots.access]}, from the store ({clock.time() - entry.fetched_at:.0f} s old)"
    octets = number_of(len(entry.body), "octet", "octets")
    redirects = number_of(len(entry.hops), "redirect", "redirects")
    return f"{_MEANING[robots.access]} (HTTP status {result.status}, {octets}, {redirects})"


def _instead(robots: Robots) -> BodyKind | None:
    """Return the kind of file that *robots* has instead of a robots.txt."""
    if robots.access is not Access.SUCCESSFUL or _USUAL.match(robots.entry.body):
        return None
    kind = body_kind(robots.entry.body)
    return None if kind.is_robots_txt else kind
