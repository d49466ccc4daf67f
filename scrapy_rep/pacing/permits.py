"""The permits of a crawl: one for each request that starts in a download slot whose delay processes share.

A permit is acquired when a request could start at once; before that, other processes can use the time. The queue
of hosts uses it, or a request from elsewhere that waits in `RateLimiterMiddleware`. While the limiter is away, the
crawl goes by its own clock and multiplies the delay by the number of workers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, Any, Final

from scrapy.exceptions import IgnoreRequest
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from scrapy_rep.clock import clock
from scrapy_rep.runtime.event_loop import pause, sleep, start

from .limiter import Permit, RateLimiter, RateLimiterAwayError

if TYPE_CHECKING:
    from scrapy_rep.runtime.crawl import Crawl

_FULL_CHECK: Final = 0.01  # seconds between two checks of a full download slot
_AWAY_CHECK: Final = 0.5  # seconds between two checks whether the limiter is back
_SPARE: Final = 60.0  # seconds that the limiter remembers a start beyond the longest delay


class _ClosingError(Exception):
    """The crawl is closing."""


class SharedSlot:
    """A download slot as the limiter knows it: the ``key`` that processes share, and its ``permits``, if any.

    ``floor`` is the seconds that robots.txt or a back-off require between two requests, 0 for none.
    """

    __slots__ = ("floor", "key", "permits")

    def __init__(self, key: str) -> None:
        self.key = key
        self.floor = 0.0
        self.permits: SlotPermits | None = None


class SlotPermits:
    """The permits of download slot *slot*: at most one is held, at most one question is under way."""

    def __init__(self, slot: SharedSlot, permits: Permits) -> None:
        self._slot = slot
        self._key = slot.key
        self._permits = permits
        self.held: Permit | None = None
        self._missed = -1  # the number of the last permit, if it expired unused
        self._unreported: Permit | None = None  # the last permit, if the next question reports its start
        self._waiters: deque[Deferred[Permit]] = deque()
        self._queue_waits = False
        self._acquiring: Deferred[None] | None = None
        self._ask_at = 0.0
        self.last_start: float | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no permit is held or being acquired, and the limiter counts the last one as used."""
        used = self._unreported
        is_over = used is None or used.expires_at + _SPARE < clock.monotonic()
        return is_over and self._acquiring is None and self.held is None

    def seconds_to_start(self) -> float | None:
        """Seconds until the held permit may be used; None until one is held."""
        self._drop_expired()
        if self.held is None:
            self._queue_waits = True
            self._acquire_in_background()  # may end before it returns, where a coroutine runs at once
        return None if self.held is None else max(self.held.starts_at - clock.monotonic(), 0.0)

    def use(self) -> bool:
        """Use the held permit for a request that starts now; False when there is none that may be used now."""
        self._drop_expired()
        held = self.held
        if held is None or held.starts_at > clock.monotonic():
            return False
        self.held = None
        self._start(held)
        return True

    def _start(self, held: Permit) -> None:
        self.last_start = clock.monotonic()
        self._permits.download_slots.end_delay(self._key)
        is_local = held.number < 0
        stat = "rep/rate_limiter/local_permit_count" if is_local else "rep/rate_limiter/permit_count"
        self._permits.stats.inc_value(stat)
        self._unreported = None if is_local else held
        if held.is_awaited:
            self._report_start()

    def _report_start(self) -> None:
        used, self._unreported = self._unreported, None
        if used is not None:
            start(self._close(used.number, is_used=True))

    async def wait(self, *, first: bool) -> bool:
        """Wait for a permit and use it; *first* for requests of robots.txt, which other requests wait for.

        Return False, and soon, when the crawl is closing.
        """
        try:
            while not self.use():
                waiter: Deferred[Permit] = Deferred()
                if first:
                    self._waiters.appendleft(waiter)
                else:
                    self._waiters.append(waiter)
                self._acquire_in_background()
                self.held = await maybe_deferred_to_future(waiter)
                first = True  # if a busy event loop resumes this after the permit has expired
        except _ClosingError:
            return False
        return True

    def release(self) -> None:
        """Give the held permit back, and report the last start: the queue has no request left."""
        self._queue_waits = False
        self._report_start()
        held, self.held = self.held, None
        if held is not None and held.number >= 0:
            start(self._close(held.number, is_used=False))

    async def restart_delay(self) -> None:
        """Count the delay from now: the site has just answered a request for its robots.txt."""
        self.last_start = clock.monotonic()
        with suppress(RateLimiterAwayError, IgnoreRequest):
            await self._permits.limiter.restart_delay(self._key, self._permits.longest + _SPARE)

    def _drop_expired(self) -> None:
        # The limiter lets others start once a permit has expired: a start after that could break their delay.
        if self.held is not None and self.held.expires_at <= clock.monotonic():
            self._missed, self.held, self._ask_at = self.held.number, None, 0.0
            self._permits.stats.inc_value("rep/rate_limiter/expired_count")

    def _acquire_in_background(self) -> None:
        if self._acquiring is None:
            acquiring = start(self._serve())
            if not acquiring.called:  # else it may have led to the next question
                self._acquiring = acquiring

    async def _serve(self) -> None:
        """Acquire permits until no request waits; one for the queue stays held until the queue uses it."""
        error: Exception = RuntimeError("the wait for a permit was interrupted")
        try:
            while self._waiters or self._queue_waits:
                held = await self._acquire()
                if not self._waiters:
                    break
                await self._sleep_until(held.starts_at)
                self._hand_over()
                await sleep(0)  # in this turn of the event loop the waiter uses it, and its request starts
        except Exception as failure:  # noqa: BLE001  # the waiters handle it
            error, self._ask_at = failure, clock.monotonic() + _AWAY_CHECK
        finally:  # also when a forced stop of the process cancels this
            self._acquiring, self._queue_waits = None, False
            waiters, self._waiters = self._waiters, deque()
            for waiter in waiters:
                if not waiter.called:
                    waiter.errback(Failure(error))  # type: ignore[no-untyped-call]
            if not self._permits.engine.is_closing:
                self._permits.changed(self._slot)

    async def _acquire(self) -> Permit:
        """Hold a permit; wait for it if necessary."""
        self._drop_expired()
        while self.held is None:
            if self._waiters:
                await self._until_slot_could_start()
            await self._sleep_until(self._ask_at)
            try:
                permit = await self._ask()
            except RateLimiterAwayError:
                permit = self._ask_own_clock()
            self._ask_at = permit.ask_at
            if permit.starts_at < inf:
                self._missed, self.held = -1, permit
        return self.held

    async def _ask(self) -> Permit:
        limiter, delay = self._permits.limiter, self._slot.floor
        self._unreported = None
        return await limiter.acquire(
            self._key,
            delay * self._permits.workers if limiter.is_settling else delay,
            since=self._since_last_start(),
            missed=self._missed,
            more=len(self._waiters) > 1 or self._queue_waits,
        )

    def _ask_own_clock(self) -> Permit:
        """A permit by this crawl's own clock, if the delay has passed; else the limiter is asked again soon."""
        self._missed = -1
        now = clock.monotonic()
        delay = self._slot.floor * self._permits.workers
        due = now if self.last_start is None else self.last_start + delay
        return Permit(due if due <= now else inf, min(due, now + _AWAY_CHECK), -1, inf)

    async def _until_slot_could_start(self) -> None:
        """Wait for the download slot, for a request from elsewhere; the queue only asks when that could start."""
        while (seconds := self._permits.download_slots.seconds_to_start(self._key, ())) != 0:
            await self._sleep_until(clock.monotonic() + (seconds or _FULL_CHECK))

    async def _sleep_until(self, due: float) -> None:
        """Raises `_ClosingError` when the crawl is closing."""
        if not await pause(self._permits.engine, due - clock.monotonic()):
            raise _ClosingError

    def _hand_over(self) -> None:
        """Hand the permit to the first waiter, which uses it when its coroutine resumes."""
        self._drop_expired()
        while self._waiters and self.held is not None:
            waiter = self._waiters.popleft()
            if not waiter.called:  # else it was cancelled
                held, self.held = self.held, None
                waiter.callback(held)

    def _since_last_start(self) -> float | None:
        """Seconds since the last start, None before the first.

        The downloader starts a request after its permit was used. On a busy machine another process may run in
        between, for longer than the margin of a short delay.
        """
        if self.last_start is None:
            return None
        self.last_start = max(self.last_start, self._permits.download_slots.last_start(self._key))
        return clock.monotonic() - self.last_start

    async def _close(self, number: int, *, is_used: bool) -> None:
        await sleep(0)  # in this turn of the event loop the downloader starts the request
        with suppress(RateLimiterAwayError, IgnoreRequest):
            ago = self._since_last_start() if is_used else None
            await self._permits.limiter.close(self._key, number, ago)

    def __repr__(self) -> str:
        return f"<SlotPermits {self._key} waiting={len(self._waiters)} held={self.held is not None}>"


class Permits:
    """What the permits of one crawl, which *limiter* grants, have in common.

    *changed* is called with a download slot that has got its permit, or has to ask for one again. While the
    limiter is away, starts are ``workers`` delays apart. ``longest`` is the longest delay in seconds.
    """

    def __init__(self, crawl: Crawl, limiter: RateLimiter, changed: Callable[[Any], None]) -> None:
        self.limiter = limiter
        self.changed = changed
        self.engine, self.download_slots, self.stats = crawl.engine, crawl.download_slots, crawl.stats
        self.workers, self.longest = crawl.settings.workers, crawl.settings.crawl_delay_max

    def of(self, slot: SharedSlot) -> SlotPermits:
        """The permits of download slot *slot*."""
        if slot.permits is None:
            slot.permits = SlotPermits(slot, self)
        return slot.permits

    def __repr__(self) -> str:
        return f"<Permits {self.limiter!r}>"
