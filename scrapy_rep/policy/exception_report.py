"""What a crawl says about its exceptions: expired, lapsed, used and unused ones, in the log and in the stats."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING, Final

from scrapy_rep.clock import clock
from scrapy_rep.protocol.display import number_of, shown
from scrapy_rep.runtime.log import OriginLog

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from scrapy_rep.policy.exception_index import ExceptionIndex
    from scrapy_rep.policy.policy_exception import PolicyException
    from scrapy_rep.protocol import Origin, Verdict

logger = logging.getLogger(__name__)

_SOON: Final = 14  # days before an exception expires, from which on each crawl says so
_NAMED: Final = 10  # exceptions in the summary


class ExceptionReport:
    """The report of one crawl; ``used`` counts the requests that each exception let pass."""

    def __init__(self, crawler: Crawler) -> None:
        self.used: Counter[PolicyException] = Counter()
        self._stats = crawler.stats
        self._at: dict[Origin, list[PolicyException]] = {}
        self._met: set[PolicyException] = set()  # those of sites that the crawl asks: only they are worth a line
        self._settled: set[PolicyException] = set()  # expired or lapsed: their lines say why they are not used
        self._lapsed = OriginLog(logger, logging.WARNING, "%d more exceptions do not apply: other rules decide")
        self._expired = OriginLog(logger, logging.WARNING, "%d more exceptions have expired")
        self._ending = OriginLog(logger, logging.INFO, "%d more exceptions expire soon")

    def opened(self, exceptions: ExceptionIndex) -> None:
        """Find out which *exceptions* have expired, and whose sites they are for."""
        exceptions.refresh(clock.time())
        for exception in exceptions:
            self._at.setdefault(exception.origin, []).append(exception)

    def met(self, origin: Origin) -> None:
        """Say which exceptions for *origin*, which the crawl asks, have expired or will soon."""
        now = clock.time()
        for exception in self._at.pop(origin, ()):
            self._met.add(exception)
            days = exception.days_left(now)
            if exception in self._settled:
                self.expired(exception)
            elif days <= _SOON:
                left = "ends today" if days <= 0 else f"ends in {number_of(days, 'day', 'days')}"
                self._ending.add("The exception for %s %s", shown(str(exception)), left)

    def expired(self, exception: PolicyException) -> None:
        """Say that *exception* has expired, once its site was met."""
        self._settled.add(exception)
        if exception not in self._met:
            return
        self._stats.inc_value("rep/exception/expired_count")
        self._expired.add(
            "The exception for %s has expired: robots.txt applies. Remove or renew it", shown(str(exception))
        )

    def lapsed(self, exception: PolicyException, verdict: Verdict) -> None:
        """Say that *exception* does not apply: it names another rule than the one that decides in *verdict*."""
        if exception in self._settled:
            return
        self._settled.add(exception)
        self._stats.inc_value("rep/exception/lapsed_count")
        self._lapsed.add(
            "The exception for %s does not apply: it is for %s, and line %d, %s decides now",
            shown(str(exception)), exception.rule, verdict.line, verdict.rule,
        )  # fmt: skip

    def count(self, exception: PolicyException) -> None:
        """Count a request that *exception* let pass."""
        self.used[exception] += 1
        self._stats.inc_value("rep/exception/used_count")

    def unused(self, exceptions: ExceptionIndex) -> list[PolicyException]:
        """Those that could have been used and were not."""
        return [one for one in exceptions if one not in self.used and one not in self._settled]

    def close(self, exceptions: ExceptionIndex) -> None:
        """Log which exceptions were used, and which were not."""
        for log in (self._lapsed, self._expired, self._ending):
            log.close()
        for exception, number in self.used.most_common(_NAMED):
            requests = number_of(number, "request was", "requests were")
            logger.info("%s sent by the exception for %s", requests, shown(str(exception)))
        unused = [exception for exception in self.unused(exceptions) if exception in self._met]
        if unused:
            more = f" and {len(unused) - _NAMED:,} more" if len(unused) > _NAMED else ""
            named = "; ".join(shown(str(exception)) for exception in unused[:_NAMED])
            logger.info("Exceptions that no request needed: %s%s", named, more)
