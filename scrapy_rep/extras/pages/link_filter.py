"""`LinkFilter`: drops disallowed links before the scheduler stores them (``REP_FILTER_LINKS``)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from scrapy_rep.crawl.gate.extension import RepExtension
from scrapy_rep.crawl.policy.policy import Outcome
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.crawl.runtime.log import describe
from scrapy_rep.crawl.runtime.scrapy_internals import has_errback
from scrapy_rep.protocol import Origin, Reason
from scrapy_rep.signals import link_filtered

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_rep.crawl.policy.policy import Decision

logger = logging.getLogger(__name__)


class LinkFilter(BaseSpiderMiddleware):
    """Spider middleware that drops links disallowed by robots.txt; the add-on enables it.

    It judges links to origins whose robots.txt is in memory. Only a rule drops a link: an unreachable origin may
    be back when the request starts. The gate judges all others: start requests, requests with an errback,
    ``dont_filter`` or ``dont_obey_robotstxt``, and sites in modes other than *obey*.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Raises ``NotConfigured`` if ``REP_FILTER_LINKS`` is off or nothing obeys robots.txt."""
        super().__init__(crawler)
        extension = crawler.get_extension(RepExtension)
        if Crawl.of(crawler).settings.filter_links == "off" or extension is None or not extension.policy.is_asking:
            raise NotConfigured
        self._extension = extension
        self._has_failed = False

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        """Return *request*, or None to drop it."""
        is_judged = response is not None and self._judges(request)
        return request if not is_judged or self._passes(request, response) else None

    def _judges(self, link: Request) -> bool:
        """Whether the filter judges *link*; the gate judges all other links."""
        if link.dont_filter or link.meta.get("is_start_request") or has_errback(link, self.crawler.spider):
            return False
        extension = self._extension
        return extension.judge.state_to_ask(link) is not None and extension.judge.asks_rules(link)

    def _passes(self, link: Request, response: Response | None) -> bool:
        """Whether *link* passes to the scheduler, as with an unknown robots.txt; report a dropped link."""
        try:
            robots = self._extension.registry.current(self._extension.targets.of(link))
            decision = self._extension.judge.decide(robots, link) if robots is not None else None
        except Exception as error:  # noqa: BLE001  # the gate fails closed
            self._log_failure(link, error)
            return True
        if decision is None or decision.verdict.reason is not Reason.RULE:
            return True
        if decision.outcome is Outcome.REPORTED:
            self.crawler.stats.inc_value("rep/links/reported_count")
        if decision.is_forbidden:
            self._drop(link, decision, response)
        return not decision.is_forbidden

    def _drop(self, link: Request, decision: Decision, response: Response | None) -> None:
        origin = Origin.from_url(self._extension.targets.of(link))
        self._extension.account.filtered.add(origin, decision)
        Crawl.of(self.crawler).events.dropped.send("link", str(origin), str(decision.verdict.rule))
        self.crawler.stats.inc_value("rep/links/filtered_count")
        logger.debug(
            "Link not followed, forbidden by robots.txt: %(request)s (%(why)s)",
            {"request": self._extension.targets.name(link), "why": decision.why},
            extra={"spider": self.crawler.spider},
        )
        self.crawler.signals.send_catch_log(
            signal=link_filtered, request=link, verdict=decision.verdict, response=response
        )

    def _log_failure(self, link: Request, error: Exception) -> None:
        if not self._has_failed:
            self._has_failed = True
            logger.error(
                "REP_FILTER_LINKS cannot check %s (%s). Links that fail this way pass, and are checked before they"
                " start", self._extension.targets.name(link), describe(error),
                exc_info=error, extra={"spider": self.crawler.spider},
            )  # fmt: skip
