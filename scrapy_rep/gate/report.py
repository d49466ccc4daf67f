"""What a crawl reports about its robots.txt files: stats, one log line per origin, and a summary at the end."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING, Final

from scrapy.exceptions import IgnoreRequest

from scrapy_rep.clock import clock
from scrapy_rep.policy.modes import SENT_ANYWAY
from scrapy_rep.policy.policy import Outcome
from scrapy_rep.protocol import Access, Origin, Reason
from scrapy_rep.protocol.display import number_of, shown
from scrapy_rep.protocol.html import is_html
from scrapy_rep.runtime.crawl import Crawl
from scrapy_rep.runtime.log import OriginLog, describe
from scrapy_rep.settings import NOT_SHARED, Unreachable

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_rep.gate.sitemap_lines import Sitemaps
    from scrapy_rep.policy.policy import Decision, Policy
    from scrapy_rep.robots.fetch import FetchResult
    from scrapy_rep.robots.robots import Robots

logger = logging.getLogger(__name__)

_NAMED: Final = 10  # origins in the summary
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
_IS_START: Final = "is_start_request"  # Scrapy's meta key


class _RuleCounts:
    """Counts requests by rule, origin and line."""

    def __init__(self) -> None:
        self.total = 0
        self._counts: Counter[tuple[str, Origin, str]] = Counter()

    def add(self, origin: Origin, decision: Decision) -> str:
        """Count a request to *origin* that *decision* forbids; return the rule and its line."""
        self.total += 1
        verdict = decision.verdict
        self._counts[str(verdict.rule or verdict.reason.value), origin, decision.why] += 1
        if len(self._counts) > _MAX_COUNTED:  # drop the rules that forbade the fewest
            self._counts = Counter(dict(self._counts.most_common(_MAX_COUNTED // 2)))
        return decision.why

    @property
    def origins(self) -> int:
        """The number of origins whose requests are still counted one by one."""
        return len({origin for _, origin, _ in self._counts})

    def most(self) -> str:
        """The rules that forbade most, with their counts; one that only one origin has, with that and its line."""
        totals, places = Counter[str](), dict[str, str]()
        for (rule, origin, why), count in self._counts.items():
            totals[rule] += count
            places[rule] = "" if rule in places else f"{origin} ({_cut(why)})"
        return ", ".join(
            f"{places[rule]} {count:,}" if places[rule] else f"{_cut(rule)} ({count:,})"
            for rule, count in totals.most_common(_NAMED_RULES)
        )


def _cut(rule: str) -> str:
    return rule if len(rule) <= _LONGEST_RULE else f"{rule[:_LONGEST_RULE]}…"


class Report:
    """The report of one crawl. ``allowed`` counts the requests that passed the gate."""

    def __init__(self, crawler: Crawler, policy: Policy) -> None:
        self._crawler = crawler
        self._policy = policy
        self._targets = Crawl.of(crawler).targets
        self._fetched = OriginLog(logger, logging.INFO, "%d more origins: robots.txt read or missing")
        self._unreachable = OriginLog(logger, logging.WARNING, "robots.txt of %d more origins is unreachable")
        self._unparsed = OriginLog(logger, logging.WARNING, "robots.txt of %d more origins cannot be parsed")
        self.allowed = 0
        self._first_forbidden = ""  # request that a rule, not an unreachable origin, forbade
        self._html_origins: list[Origin] = []  # the first ones
        self._forbidden, self._forbidden_starts = _RuleCounts(), _RuleCounts()
        self._reported, self._filtered = _RuleCounts(), _RuleCounts()
        self._totals: Counter[str] = Counter()

    def decided(self, request: Request, origin: Origin, decision: Decision) -> None:
        """Count the *decision* on *request* to *origin*."""
        if not decision.is_forbidden:
            self.passed(request)
            if decision.outcome is Outcome.REPORTED:
                self._reported.add(origin, decision)
        elif decision.verdict.reason is Reason.UNREACHABLE:
            self._totals["unreachable_pages"] += 1
            self.not_forbidden(request)
        else:
            by = self._forbidden.add(origin, decision)
            self._first_forbidden = self._first_forbidden or f"{self._targets.name(request)} ({by})"
            if request.meta.get(_IS_START):
                self._forbidden_starts.add(origin, decision)

    def passed(self, request: Request) -> None:
        """Count a *request* that passed the gate."""
        self.allowed += 1
        self.not_forbidden(request)

    def not_forbidden(self, request: Request) -> None:
        """Note that no rule forbade *request*, for the warning that rules forbade every start request."""
        if request.meta.get(_IS_START):
            self._totals["other_starts"] += 1

    def link_filtered(self, link: Request, decision: Decision) -> str:
        """Count a *link* that was dropped before the scheduler; return the rule that forbids it, and its line."""
        return self._filtered.add(Origin.from_url(self._targets.of(link)), decision)

    def refreshed(self, result: FetchResult | None, robots: Robots, known: Robots | None) -> None:
        """Count and log that *robots*, which *result* brought, replaces *known*."""
        if known is None:
            self._inc("rep/origin_count")
        if result is None:
            self._inc("rep/store_hit_count")
        else:
            self._count_fetch(result)
        if robots.is_stale:
            self._inc("rep/stale_count")
        if _is_html(robots) and not (known and _is_html(known)):
            self._totals["html"] += 1
            self._html_origins = [*self._html_origins, robots.entry.origin][:_NAMED]
        self._note_trial(robots.entry.origin)
        self._log(result, robots, is_first=known is None or not known.entry.failures)

    def sitemaps(self, origin: Origin, sitemaps: Sitemaps) -> None:
        """Count and log the *sitemaps* that *origin* names."""
        stats = self._crawler.stats
        if sitemaps.urls:
            stats.inc_value("rep/sitemap/named_count", len(sitemaps.urls))
        if sitemaps.unusable:
            stats.inc_value("rep/sitemap/unusable_count", len(sitemaps.unusable))
            logger.debug(
                "robots.txt of %s: %s, the first is %s",
                origin, number_of(len(sitemaps.unusable), "unusable Sitemap line", "unusable Sitemap lines"),
                shown(sitemaps.unusable[0]),
            )  # fmt: skip

    def _inc(self, stat: str) -> None:
        self._totals[stat] += 1
        self._crawler.stats.inc_value(stat)

    def _count_fetch(self, result: FetchResult) -> None:
        """Count a fetch in the stats of Scrapy's own middleware, with their meaning there, and in ours."""
        stats = self._crawler.stats
        stats.inc_value("robotstxt/request_count")
        if result.status is not None:
            stats.inc_value("robotstxt/response_count")
            stats.inc_value(f"robotstxt/response_status_count/{result.status}")
        elif not isinstance(result.error, IgnoreRequest):
            stats.inc_value(f"robotstxt/exception_count/{type(result.error)}")
        stats.inc_value(f"rep/access/{result.access.value}")
        stats.inc_value("rep/html_count", int(result.is_html))
        self._inc("rep/revalidated_count" if result.unchanged else "rep/fetched_count")
        if result.access is Access.UNREACHABLE:
            self._totals["unreachable"] += 1

    def _log(self, result: FetchResult | None, robots: Robots, *, is_first: bool) -> None:
        entry = robots.entry
        if robots.access is Access.UNREACHABLE and entry.access is not Access.UNREACHABLE and not entry.failures:
            self._unparsed.add(
                "ROBOTSTXT_PARSER cannot parse robots.txt of %s (%s): its pages are forbidden until it changes",
                entry.origin, describe(robots.error),
            )  # fmt: skip
        elif result is None:
            self._fetched.add(
                "robots.txt of %s: %s, from the store (%.0f s old)",
                entry.origin, _MEANING[robots.access], clock.time() - entry.fetched_at,
            )  # fmt: skip
        elif result.access is not Access.UNREACHABLE:
            self._fetched.add(
                "robots.txt of %s: %s (HTTP status %s, %s, %s)",
                entry.origin, _MEANING[entry.access], result.status,
                number_of(len(entry.body), "octet", "octets"), number_of(len(entry.hops), "redirect", "redirects"),
            )  # fmt: skip
        elif is_first:
            self._log_unreachable(robots, result)

    def _note_trial(self, origin: Origin) -> None:
        settings = Crawl.of(self._crawler).settings
        is_trial = origin.is_loopback and not settings.shares_loopback and settings.store != "memory"
        if is_trial and not self._totals["trial"]:
            self._totals["trial"] = 1
            logger.info(NOT_SHARED)

    def _log_unreachable(self, robots: Robots, result: FetchResult) -> None:
        # A component of the project that ignored the request has logged why: no reason to warn.
        log = self._fetched if isinstance(result.error, IgnoreRequest) else self._unreachable
        consequence = (
            f"the copy of {clock.time() - robots.entry.fetched_at:.0f} s ago is used"
            if robots.is_stale
            else f"its pages are {self._unreachable_pages(robots.entry.origin)}"
        )
        log.add(
            "robots.txt of %s is unreachable after %s (%s): %s until an attempt succeeds",
            robots.entry.origin, number_of(result.attempts, "attempt", "attempts"), describe(result.error),
            consequence,
        )  # fmt: skip

    def _unreachable_pages(self, origin: Origin) -> str:
        if self._policy.mode(f"{origin}/") in SENT_ANYWAY:
            return "requested all the same"
        return _UNREACHABLE_PAGES[Crawl.of(self._crawler).settings.unreachable]

    def close(self) -> None:
        """Log the summary at the end of the crawl."""
        self._fetched.close()
        self._unreachable.close()
        self._unparsed.close()
        if not self._totals["rep/origin_count"]:
            return
        self._log_summary()
        if self._html_origins:
            more = self._totals["html"] - len(self._html_origins)
            logger.warning(
                "%s an HTML page instead of a robots.txt; it forbids nothing unless it contains rules: %s%s",
                number_of(self._totals["html"], "origin serves", "origins serve"),
                ", ".join(map(str, self._html_origins)), f" and {more:,} more" if more else "",
            )  # fmt: skip
        if self._reported.total:
            logger.info(
                "%s sent although robots.txt forbids it (mode report), most by %s",
                number_of(self._reported.total, "request was", "requests were"), self._reported.most(),
            )  # fmt: skip
        if self._filtered.total:
            logger.info(
                "%s not followed because robots.txt forbids them, most by %s",
                number_of(self._filtered.total, "link was", "links were"), self._filtered.most(),
            )  # fmt: skip
        self._warn_if_all_forbidden()

    def _warn_if_all_forbidden(self) -> None:
        if self._first_forbidden and not self.allowed and not self._totals["unreachable_pages"]:
            logger.warning("robots.txt forbade every request of this crawl, first %s", self._first_forbidden)
        elif self._forbidden_starts.total and not self._totals["other_starts"]:
            logger.warning(
                "robots.txt forbade every start request of this crawl: %s", self._forbidden_starts.most()
            )

    def _log_summary(self) -> None:
        totals, unreachable = self._totals, self._totals["unreachable_pages"]
        most, origins = self._forbidden.most(), self._forbidden.origins
        logger.info(
            "robots.txt: %s; %d fetched, %d from the store, %d revalidated, %d unreachable, %s used;"
            " %s forbidden%s%s%s",
            number_of(totals["rep/origin_count"], "origin", "origins"),
            totals["rep/fetched_count"], totals["rep/store_hit_count"], totals["rep/revalidated_count"],
            totals["unreachable"],
            number_of(totals["rep/stale_count"], "stale copy", "stale copies"),
            number_of(self._forbidden.total, "request", "requests"),
            f" on {origins:,} origins" if origins > 1 else "",
            f", {unreachable:,} not sent because unreachable" if unreachable else "",
            f"{';' if origins > 1 else ','} most by {most}" if most else "",
        )  # fmt: skip


def _is_html(robots: Robots) -> bool:
    return robots.access is Access.SUCCESSFUL and is_html(robots.entry.body)
