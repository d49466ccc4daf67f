"""The dialog of one crawl with the limiter: it asks for permits to start requests, and reports starts.

The next request of a site asks the limiter when it could start, and no earlier, because other processes can use
the time until then. It starts in the same turn of the event loop in which its permit becomes valid. The next
question reports its start; if another process waits, the report is sent immediately. While the limiter is away,
the crawl follows its own clock and multiplies the delay by the number of workers.

A permit may stay unused: the crawl closes, or the site asks to slow down meanwhile. Such a permit expires, which
costs other processes a quarter of a second, once.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from scrapy.exceptions import IgnoreRequest

from scrapy_rep.clock import clock
from scrapy_rep.crawl.pacing.slots import with_margin
from scrapy_rep.crawl.runtime.event_loop import sleep, start
from scrapy_rep.extras.fleet.limiter import LEAD, Permit, RateLimiterAwayError

if TYPE_CHECKING:
    from scrapy_rep.crawl.pacing.slots import Site
    from scrapy_rep.crawl.runtime.crawl import Crawl
    from scrapy_rep.extras.fleet.limiter import RateLimiter

_AWAY_CHECK: Final = 0.5  # seconds between two checks whether the limiter is back
_SPARE: Final = 60.0  # seconds for which the limiter remembers a start, beyond the longest delay


@dataclass(slots=True)
class _Talk:
    """The state of the dialog about one site.

    ``missed`` is the number of the last permit if it expired unused, and the limiter then serves this crawl next;
    otherwise it is -1. ``ask_at`` is the time to ask for the next permit (monotonic seconds).
    """

    missed: int = -1
    ask_at: float = 0.0


class Permits:
    """The permits of one crawl, granted by *limiter*; the next request of each site asks for one.

    While the limiter is away, starts are ``REP_WORKERS`` delays apart.
    """

    def __init__(self, crawl: Crawl, limiter: RateLimiter) -> None:
        self.limiter = limiter
        self._engine, self._stats = crawl.engine, crawl.stats
        self._workers, self._longest = crawl.settings.workers, crawl.settings.crawl_delay_max
        self._talks: WeakKeyDictionary[Site, _Talk] = WeakKeyDictionary()

    async def acquire(self, site: Site) -> Permit | None:
        """Wait until a permit is valid; None if the crawl closes. Raises the exceptions of the limiter."""
        talk = self._talks.setdefault(site, _Talk())
        while await self._pause_until(max(talk.ask_at, site.due - LEAD / 1e6)):
            try:
                permit = await self._ask(site, talk)
            except RateLimiterAwayError:
                permit = self._by_own_clock(site, talk)
            talk.ask_at = permit.ask_at
            if permit.starts_at == inf:
                continue
            if not await self._pause_until(permit.starts_at):
                break
            if permit.expires_at > clock.monotonic():
                return permit
            # The event loop was busy. The limiter already lets others start; a start here could be too close.
            talk.missed, talk.ask_at = permit.number, 0.0
            self._stats.inc_value("rep/rate_limiter/expired_count")
        return None

    def use(self, site: Site, permit: Permit) -> None:
        """Note that a request now starts with *permit*."""
        self._talks[site].missed = -1
        is_local = permit.number < 0
        stat = "rep/rate_limiter/local_permit_count" if is_local else "rep/rate_limiter/permit_count"
        self._stats.inc_value(stat)
        if permit.is_awaited:
            start(self._report(site, permit.number))

    async def restart_delay(self, site: Site) -> None:
        """Count the delay from now, because *site* has just answered a request for its robots.txt."""
        with suppress(RateLimiterAwayError, IgnoreRequest):
            await self.limiter.restart_delay(site.name, self._longest + _SPARE)

    async def _ask(self, site: Site, talk: _Talk) -> Permit:
        delay = with_margin(site.floor)
        return await self.limiter.acquire(
            site.name,
            delay * self._workers if self.limiter.is_settling else delay,
            since=site.since_last_start,
            missed=talk.missed,
            more=site.has_more_waiting,
        )

    def _by_own_clock(self, site: Site, talk: _Talk) -> Permit:
        """A permit by this crawl's own clock if the delay has passed; otherwise ask the limiter again soon."""
        talk.missed = -1
        now = clock.monotonic()
        due = max(site.last_start + site.floor * self._workers, now)
        return Permit(due if due <= now else inf, min(due, now + _AWAY_CHECK), -1, inf)

    async def _pause_until(self, due: float) -> bool:
        return await self._engine.pause(due - clock.monotonic())

    async def _report(self, site: Site, number: int) -> None:
        await sleep(0)  # the request goes first
        with suppress(RateLimiterAwayError, IgnoreRequest):
            await self.limiter.close(site.name, number, site.since_last_start)

    def __repr__(self) -> str:
        return f"<Permits {self.limiter!r}>"
