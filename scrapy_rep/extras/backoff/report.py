"""What a crawl says of its back-offs: stats, a line for each host, a summary."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING, Final

from scrapy import signals

from scrapy_rep.extras.topics import ExtraTopic
from scrapy_rep.protocol.display import duration, number_of

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_rep.crawl.pacing.slots import Site
    from scrapy_rep.crawl.runtime.crawl import Crawl
    from scrapy_rep.extras.backoff.site_backoff import Plea, SiteBackoff

logger = logging.getLogger(__name__)

_NAMED: Final = 5  # hosts in the summary


class BackoffReport:
    """Logs each host that asks to slow down once, and those that asked most at the end."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl, self._stats = crawl, crawl.stats
        # How often each host asked to slow down.
        self._slowed: Counter[str] = Counter()
        # The sites of which another process told, and which were reported.
        self._held: set[str] = set()
        crawl.crawler.signals.connect(self._close, signal=signals.spider_closed)

    def asked(self, request: Request, plea: Plea, backoff: SiteBackoff) -> None:
        """Report that the download slot of *request* slows down for *plea*."""
        host = self._crawl.download_slots.key(request)
        if not self._slowed[host]:
            self._stats.inc_value("rep/backoff/slot_count")
            self._crawl.log.add(
                ExtraTopic.BACKOFF, "%s %s (%s): it gets no request for %.1f s, and then fewer", host,
                "asks to slow down" if plea.counts_alone else "fails repeatedly", plea.why, backoff.seconds_left(),
            )  # fmt: skip
        self._slowed[host] += 1
        self._stats.inc_value("rep/backoff/event_count")
        self._stats.inc_value(f"rep/backoff/reason_count/{plea.reason}")
        if len(self._slowed) > self._crawl.settings.memory_entries:
            self._slowed = Counter(dict(self._slowed.most_common(_NAMED)))

    def told(self, site: Site) -> None:
        """Report that *site* gets no request for a while: it asked an earlier run, or another process."""
        self._stats.inc_value("rep/backoff/shared_count")
        if site.name in self._held:
            return
        if len(self._held) >= self._crawl.settings.memory_entries:
            self._held.clear()
        self._held.add(site.name)
        self._crawl.log.add(
            ExtraTopic.HELD, "%s asked an earlier run, or another process, to slow down: it gets no request for %s"
            " more, and then fewer", site.name, duration(site.held_for),
        )  # fmt: skip

    def _close(self) -> None:
        most = self._slowed.most_common(_NAMED)
        if named := ", ".join(f"{host} {number_of(count, 'time', 'times')}" for host, count in most):
            hosts = number_of(len(self._slowed), "host", "hosts")
            logger.info("%s asked to slow down, or failed repeatedly; most often %s.", hosts, named)
