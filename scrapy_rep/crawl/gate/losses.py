"""The closing line of a crawl: what it left out, how much, and which setting changes that.

Many components drop requests, links or items: the gate, the spider middlewares, the queue when the crawl closes.
They count these in the stats, for a monitor. A person asks one question at the end, "why did I get less than I
expected?", and should find the answer in one line. This module reads the stats; components do not report to it.

The line is a WARNING if everything of a kind is lost: no page arrived, no item was kept, no link was followed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from scrapy import signals
from scrapy.utils.asyncio import call_later

from scrapy_rep.crawl.pacing.delay_report import LeftRequests
from scrapy_rep.crawl.robots.request import is_robots_txt
from scrapy_rep.protocol.display import number_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from scrapy_rep.crawl.gate.report import Account
    from scrapy_rep.crawl.runtime.crawl import Crawl

logger = logging.getLogger(__name__)


class Loss(NamedTuple):
    """The losses that ``stat`` counts: ``one`` or ``many`` things, the reason, and the settings that change it.

    ``{}`` in ``why`` stands for the purposes of the crawl. ``others`` is a stat that counts a part separately.
    """

    stat: str
    one: str
    many: str
    why: str
    settings: str
    others: str = ""


_REQUEST, _LINK, _ITEM = ("request", "requests"), ("link", "links"), ("item", "items")
_RULES: Final = "REP_EXCEPTIONS, REP_MODES"
_SIGNALS: Final = "REP_AI_SIGNALS; scrapy robots explain --page shows who says so"
_LOSSES: Final = (
    Loss("robotstxt/forbidden", *_REQUEST, "that robots.txt forbids", _RULES, "rep/ai/refused_count"),
    Loss("rep/ai/refused_count", *_REQUEST, "for pages that robots.txt reserves from {}", _SIGNALS),
    Loss("rep/forbidden_unreachable_count", *_REQUEST, "whose robots.txt is unreachable", "REP_UNREACHABLE"),
    Loss("rep/unreachable_error_count", "attempt", "attempts", "at pages whose robots.txt is unreachable",
         "REP_UNREACHABLE"),
    Loss("rep/crawl_delay/skipped_count", *_REQUEST, "whose Crawl-delay is too long",
         "REP_CRAWL_DELAY_MAX, REP_CRAWL_DELAY_OVER_MAX"),
    Loss("rep/refused/skipped_count", *_REQUEST, "of sites that refuse them", "REP_REFUSED"),
    Loss("rep/sitemap/cross_submit_count", *_REQUEST, "for pages that only a sitemap of another site lists",
         "REP_OFFSITE_SITEMAPS"),
    Loss("rep/links/filtered_count", *_LINK, "that robots.txt forbids", _RULES),
    Loss("rep/page/link_dropped_count", *_LINK, "that nofollow applies to",
         "REP_PAGE_DIRECTIVES, REP_REL_NOFOLLOW"),
    Loss("rep/page/item_dropped_count", *_ITEM, "of pages that say noindex", "REP_NOINDEX"),
    Loss("rep/ai/item_dropped_count", *_ITEM, "of pages that are reserved from {}", _SIGNALS),
)  # fmt: skip


class Losses:
    """The losses of a crawl; *account* knows whether the gate let a link pass."""

    def __init__(self, crawl: Crawl, account: Account) -> None:
        self._account = account
        self._stats, self._signals = crawl.stats, crawl.crawler.signals
        self._left = LeftRequests(crawl)
        self._purposes = " or ".join(crawl.settings.purposes)
        self._has_page = False
        self._signals.connect(self._spider_opened, signal=signals.spider_opened)

    def _spider_opened(self) -> None:
        self._left.begin()
        self._signals.connect(self._response_received, signal=signals.response_received)
        self._signals.connect(self._close, signal=signals.spider_closed)  # after the listeners of other components

    def _response_received(self, response: Response, request: Request) -> None:
        """Note the first page, and stop listening: other pages must cost nothing."""
        if not self._has_page and response.status < 400 and not is_robots_txt(request):
            self._has_page = True
            # Not now: a listener that leaves while a signal is sent hides the next listener.
            call_later(0, self._signals.disconnect, self._response_received, signals.response_received)

    def _close(self, reason: str) -> None:
        counts = {loss: count for loss in _LOSSES if (count := self._count(loss))}
        parts = [
            f"{number_of(count, loss.one, loss.many)} {loss.why.format(self._purposes)} ({loss.settings})"
            for loss, count in counts.items()
        ]
        left = self._left.count()
        if left:
            self._stats.set_value("rep/queue/left_count", left)
            parts.append(self._left.describe(left, reason))
        if parts:
            gone = list(self._gone({loss.many for loss in counts}, left))
            text = " ".join([*gone, f"Left out, with the settings that change it: {'; '.join(parts)}."])
            logger.log(logging.WARNING if gone else logging.INFO, "%s", text)

    def _count(self, loss: Loss) -> int:
        others = self._stats.get_value(loss.others, 0) if loss.others else 0
        return int(self._stats.get_value(loss.stat, 0) - others)

    def _gone(self, lost: set[str], left: int) -> Iterator[str]:
        """Yield a sentence for each kind of which everything was *lost* or *left* in the queue."""
        if not self._has_page and (left or not lost.isdisjoint({"requests", "attempts"})):
            yield "No page arrived."
        if "items" in lost and not self._stats.get_value("item_scraped_count"):
            yield "No item was kept."
        if "links" in lost and not left and not self._account.has_link:
            yield "No link was followed."
