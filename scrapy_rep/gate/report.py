"""What a crawl says of its robots.txt files: stats, a line of news per origin, and a sum at the end."""

from __future__ import annotations

import logging
from collections import Counter
from time import time
from typing import TYPE_CHECKING, Final

from scrapy.exceptions import IgnoreRequest

from scrapy_rep.crawl.origin_log import OriginLog, describe
from scrapy_rep.protocol import Access, Reason
from scrapy_rep.protocol.display import number_of, shown
from scrapy_rep.protocol.html import is_html

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_rep.protocol import Origin, Verdict

    from .fetch import FetchResult
    from .refresh import Refreshed
    from .robots import Robots
    from .sitemap_lines import Sitemaps

logger = logging.getLogger(__name__)

_NAMED: Final = 10  # origins in the sum at the end
_COUNTED: Final = 10_000  # origins that forbade, of which so many are counted one by one
_MEANING: Final = {
    Access.SUCCESSFUL: "successful",
    Access.UNAVAILABLE: "unavailable, so everything is allowed",
    Access.UNREACHABLE: "unreachable",
}
_FATE: Final = {Access.UNAVAILABLE: "allowed", Access.UNREACHABLE: "forbidden"}


class Report:
    """The news of one crawl."""

    def __init__(self, crawler: Crawler, unreachable: Access) -> None:
        self._crawler = crawler
        self._fate = _FATE[unreachable]
        self._news = OriginLog(logger, logging.INFO, "robots.txt of %d more origins is known")
        self._unreachable = OriginLog(logger, logging.WARNING, "robots.txt of %d more origins is unreachable")
        self._unread = OriginLog(logger, logging.WARNING, "robots.txt of %d more origins cannot be read")
        self._allowed = 0
        self._first = ""  # request that is forbidden by what a robots.txt says
        self._pages: list[Origin] = []  # the first origins with a page in place of a robots.txt
        self._forbidden: Counter[Origin] = Counter()
        self._totals: Counter[str] = Counter()

    def allow(self) -> None:
        """A request may go on."""
        self._allowed += 1

    def forbid(self, request: Request, origin: Origin, verdict: Verdict) -> None:
        """*request*, of *origin*, may not, as *verdict* says."""
        self._totals["forbidden"] += 1
        if verdict.reason is Reason.UNREACHABLE:
            self._totals["forbidden_unreachable"] += 1
        elif not self._first:
            where = f"line {verdict.line}, " if verdict.line else ""
            self._first = f"{request} ({where}{verdict.rule or verdict.reason.value})"
        self._forbidden[origin] += 1
        if len(self._forbidden) > _COUNTED:  # those that forbade least make room
            self._forbidden = Counter(dict(self._forbidden.most_common(_COUNTED // 2)))

    def renewed(self, renewal: Refreshed, robots: Robots, known: Robots | None) -> None:
        """*robots* has come of *renewal*, in place of *known*."""
        if known is None:
            self._inc("rep/origin_count")
        if renewal.result is None:
            self._inc("rep/store_hit_count")
        else:
            self._count_fetch(renewal.result)
        if robots.is_stale:
            self._inc("rep/stale_count")
        if _is_page(robots) and not (known and _is_page(known)):
            self._totals["pages"] += 1
            self._pages = [*self._pages, robots.entry.origin][:_NAMED]
        self._tell(renewal, robots, first=known is None or not known.entry.failures)

    def sitemaps(self, origin: Origin, sitemaps: Sitemaps) -> None:
        """*origin* names *sitemaps*."""
        stats = self._crawler.stats
        if sitemaps.urls:
            stats.inc_value("rep/sitemap/named_count", len(sitemaps.urls))
        if sitemaps.unusable:
            stats.inc_value("rep/sitemap/unusable_count", len(sitemaps.unusable))
            logger.debug(
                "robots.txt of %s: %s nowhere, first %s",
                origin, number_of(len(sitemaps.unusable), "Sitemap line leads", "Sitemap lines lead"),
                shown(sitemaps.unusable[0]),
            )  # fmt: skip

    def _inc(self, stat: str) -> None:
        self._totals[stat] += 1
        self._crawler.stats.inc_value(stat)

    def _count_fetch(self, result: FetchResult) -> None:
        """Count a fetch: the stats of Scrapy's middleware with their meaning there, and ours."""
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

    def _tell(self, renewal: Refreshed, robots: Robots, *, first: bool) -> None:
        entry, result = robots.entry, renewal.result
        if robots.access is Access.UNREACHABLE and entry.access is not Access.UNREACHABLE and not entry.failures:
            self._unread.add(
                "ROBOTSTXT_PARSER cannot read robots.txt of %s (%s): its pages are forbidden until it changes",
                entry.origin, describe(robots.error),
            )  # fmt: skip
        elif result is None:
            self._news.add(
                "robots.txt of %s: %s, from the store (%.0f s old)",
                entry.origin, _MEANING[robots.access], time() - entry.fetched_at,
            )  # fmt: skip
        elif result.access is not Access.UNREACHABLE:
            self._news.add(
                "robots.txt of %s: %s (HTTP status %s, %s, %s)",
                entry.origin, _MEANING[entry.access], result.status,
                number_of(len(entry.body), "octet", "octets"), number_of(len(entry.hops), "hop", "hops"),
            )  # fmt: skip
        elif first:
            self._tell_unreachable(robots, result)

    def _tell_unreachable(self, robots: Robots, result: FetchResult) -> None:
        # A component of the project that ignored the request has said why; it is no news.
        log = self._news if isinstance(result.error, IgnoreRequest) else self._unreachable
        fate = (
            f"the rules of {time() - robots.entry.fetched_at:.0f} s ago hold"
            if robots.is_stale
            else f"its pages are {self._fate}"
        )
        log.add(
            "robots.txt of %s is unreachable in %s (%s): %s until an attempt succeeds",
            robots.entry.origin, number_of(result.attempts, "attempt", "attempts"), describe(result.error), fate,
        )  # fmt: skip

    def close(self) -> None:
        """The crawl is over."""
        self._news.close()
        self._unreachable.close()
        self._unread.close()
        if not self._totals["rep/origin_count"]:
            return
        self._tell_sum()
        if self._pages:
            more = self._totals["pages"] - len(self._pages)
            logger.warning(
                "In place of a robots.txt %s an HTML page, which forbids nothing unless it holds rules: %s%s",
                number_of(self._totals["pages"], "origin serves", "origins serve"),
                ", ".join(map(str, self._pages)), f" and {more:,} more" if more else "",
            )  # fmt: skip
        if self._first and not self._allowed and not self._totals["forbidden_unreachable"]:
            logger.warning("robots.txt allowed no request of this crawl; the first one was %s", self._first)

    def _tell_sum(self) -> None:
        totals = self._totals
        logger.info(
            "robots.txt: %s; %d fetched, %d from the store, %d revalidated, %d unreachable, %s used;"
            " %s forbidden%s",
            number_of(totals["rep/origin_count"], "origin", "origins"),
            totals["rep/fetched_count"], totals["rep/store_hit_count"], totals["rep/revalidated_count"],
            totals["unreachable"],
            number_of(totals["rep/stale_count"], "stale copy", "stale copies"),
            number_of(totals["forbidden"], "request", "requests"),
            self._most_forbidding(),
        )  # fmt: skip

    def _most_forbidding(self) -> str:
        most = ", ".join(f"{origin} {number}" for origin, number in self._forbidden.most_common(_NAMED))
        return f", most by {most}" if most else ""


def _is_page(robots: Robots) -> bool:
    return robots.access is Access.SUCCESSFUL and is_html(robots.entry.body)
