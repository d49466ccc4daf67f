"""What a crawl says about its exceptions: expired, lapsed, used and unused ones, in the log and in the stats."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING, Final

from scrapy_rep.clock import clock
from scrapy_rep.protocol.display import number_of, shown
from scrapy_rep.runtime.log import Line, OriginLog

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from scrapy_rep.policy.policy import Policy
    from scrapy_rep.policy.policy_exception import PolicyException
    from scrapy_rep.protocol import Origin, Verdict

logger = logging.getLogger(__name__)

_SOON: Final = 14  # days before an exception expires, from which on each crawl says so
_NAMED: Final = 10  # exceptions in the summary


class ExceptionReport:
    """The report of one crawl."""

    def __init__(self, crawler: Crawler, policy: Policy) -> None:
        self._stats = crawler.stats
        self._log = OriginLog.for_crawler(crawler)
        self._exceptions = policy.exceptions
        self._used: Counter[PolicyException] = Counter()
        self._at: dict[Origin, list[PolicyException]] = {}
        self._met: set[PolicyException] = set()  # those of sites that the crawl asks: only they are worth a line
        self._settled: set[PolicyException] = set()  # expired or lapsed: their lines say why they are not used
        policy.lapsed, policy.exceptions.expired = self._lapsed, self._expired
        policy.exceptions.refresh(clock.time())
        for exception in policy.exceptions:
            self._at.setdefault(exception.origin, []).append(exception)

    def met(self, origin: Origin) -> None:
        """Say which exceptions for *origin*, which the crawl asks, have expired or will soon."""
        now = clock.time()
        for exception in self._at.pop(origin, ()):
            self._met.add(exception)
            days = exception.days_left(now)
            if exception in self._settled:
                self._expired(exception)
            elif days <= _SOON:
                left = "ends today" if days <= 0 else f"ends in {number_of(days, 'day', 'days')}"
                self._log.add(Line.ENDING, "The exception for %s %s", shown(str(exception)), left)

    def _expired(self, exception: PolicyException) -> None:
        """Say that *exception* has expired, once its site was met."""
        self._settled.add(exception)
        if exception in self._met:
            self._stats.inc_value("rep/exception/expired_count")
            text = "The exception for %s has expired: robots.txt applies. Remove or renew it"
            self._log.add(Line.EXPIRED, text, shown(str(exception)))

    def _lapsed(self, exception: PolicyException, verdict: Verdict) -> None:
        """Say that *exception* does not apply: it names another rule than the one that decides in *verdict*."""
        if exception not in self._settled:
            self._settled.add(exception)
            self._stats.inc_value("rep/exception/lapsed_count")
            text = "The exception for %s does not apply: it is for %s, and line %d, %s decides now"
            by = verdict.line, verdict.rule
            self._log.add(Line.LAPSED, text, shown(str(exception)), exception.rule, *by)

    def count(self, exception: PolicyException) -> None:
        """Count a request that *exception* let pass."""
        self._used[exception] += 1
        self._stats.inc_value("rep/exception/used_count")

    def unused(self) -> list[PolicyException]:
        """Those that could have been used and were not."""
        return [one for one in self._exceptions if one not in self._used and one not in self._settled]

    def log_summary(self) -> None:
        """Log which exceptions were used, and which were not."""
        for exception, number in self._used.most_common(_NAMED):
            requests = number_of(number, "request was", "requests were")
            logger.info("%s sent by the exception for %s", requests, shown(str(exception)))
        unused = [shown(str(exception)) for exception in self.unused() if exception in self._met]
        if unused:
            more = f" and {len(unused) - _NAMED:,} more" if len(unused) > _NAMED else ""
            logger.info("Exceptions that no request needed: %s%s", "; ".join(unused[:_NAMED]), more)
