"""The permits of this crawl for download slots whose delay it shares with other processes.

A permit is acquired when a request could start at once; before that, other processes can use the time. The
queue of hosts uses it, or a request from elsewhere that waits in `RateLimiterMiddleware`. While the limiter is
away, the crawl goes by its own clock and multiplies the delay by the number of workers.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scrapy.exceptions import IgnoreRequest
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from scrapy_rep.clock import clock
from scrapy_rep.pacing.rate_limiter import RateLimiter, RateLimiterAwayError
from scrapy_rep.runtime.event_loop import CLOSING_CHECK, sleep, start
from scrapy_rep.runtime.scrapy_internals import Downloader, Engine

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

_LEAD: Final = 0.02  # seconds before a request could start at which its permit is acquired
_FULL_CHECK: Final = 0.01  # seconds between two checks of a full download slot
_AWAY_CHECK: Final = 0.5  # seconds between two checks whether the limiter is back
_SPARE: Final = 60.0  # seconds that the limiter remembers a start beyond the longest delay


@dataclass(frozen=True, slots=True)
class LimiterSetup:
    """The rate limiter of one crawl, and what is needed to use it.

    ``delay_of`` gives the delay of a download slot in seconds. ``permit_changed`` is called with a download
    slot that has got its permit, or has to ask for one again. While the limiter is away, starts are ``workers``
    delays apart. ``longest`` is the longest delay in seconds.
    """

    limiter: RateLimiter
    engine: Engine
    downloader: Downloader
    stats: StatsCollector
    delay_of: Callable[[str], float]
    permit_changed: Callable[[str], None]
    workers: int
    longest: float


class _ClosingError(Exception):
    """The crawl is closing."""


@dataclass(frozen=True, slots=True)
class _HeldPermit:
    """An unused permit, valid between two times (monotonic).

    One by this crawl's own clock has no number and never expires.
    """

    number: int | None
    starts_at: float
    expires_at: float


class SlotPermits:
    """The permits of download slot *key*: at most one is held, at most one question is under way."""

    def __init__(self, key: str, setup: LimiterSetup) -> None:
        self._key = key
        self._setup = setup
        self._held: _HeldPermit | None = None
        self._missed: int | None = None  # the number of the last permit, if it expired unused
        self._waiters: deque[Deferred[_HeldPermit | None]] = deque()
        self._queue_waits = False
        self._acquiring: Deferred[None] | None = None
        self._ask_at = 0.0
        self.last_start: float | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no permit is held or being acquired."""
        return self._acquiring is None and self._held is None

    @property
    def is_held(self) -> bool:
        """Whether a permit is held."""
        return self._held is not None

    def seconds_to_start(self) -> float | None:
        """Seconds until the held permit may be used; None until one is held: ``permit_changed`` is called then."""
        self._drop_expired()
        if self._held is None:
            self._queue_waits = True
            self._acquire_in_background()  # may end before it returns, where a coroutine runs at once
        return None if self._held is None else max(self._held.starts_at - clock.monotonic(), 0.0)

    def use(self) -> bool:
        """Use the held permit for a request that starts now; False when there is none that may be used now."""
        self._drop_expired()
        held = self._held
        if held is None or held.starts_at > clock.monotonic():
            return False
        self._held = None
        self._start(held)
        return True

    def _start(self, held: _HeldPermit) -> None:
        self.last_start = clock.monotonic()
        self._setup.downloader.cancel_delay_timer(self._key)
        if held.number is None:
            self._setup.stats.inc_value("rep/rate_limiter/local_permit_count")
        else:
            self._setup.stats.inc_value("rep/rate_limiter/permit_count")
            start(self._report_start(held.number))

    async def wait(self, *, first: bool) -> bool:
        """Wait for a permit and use it; *first* for requests of robots.txt, which other requests wait for.

        Return False, and soon, when the crawl is closing.
        """
        waiter: Deferred[_HeldPermit | None] = Deferred()
        if first:
            self._waiters.appendleft(waiter)
        else:
            self._waiters.append(waiter)
        self._acquire_in_background()
        held = await maybe_deferred_to_future(waiter)
        if held is not None:
            self._start(held)
        return held is not None

    def release(self) -> None:
        """Give the held permit back: the queue has no request left for it."""
        self._queue_waits = False
        held, self._held = self._held, None
        if held is not None and held.number is not None:
            start(self._release(held.number))

    async def restart_delay(self) -> None:
        """Count the delay from now: the site has just answered a request for its robots.txt."""
        self.last_start = clock.monotonic()
        with suppress(RateLimiterAwayError, IgnoreRequest):
            await self._setup.limiter.restart_delay(self._key, self._setup.longest + _SPARE)

    def _drop_expired(self) -> None:
        # The limiter lets others start once a permit has expired: a start after that could break their delay.
        if self._held is not None and self._held.expires_at <= clock.monotonic():
            self._missed, self._held, self._ask_at = self._held.number, None, 0.0
            self._setup.stats.inc_value("rep/rate_limiter/expired_count")

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
                await self._acquire()
                if not self._waiters:
                    break
                await self._sleep_until(self._held.starts_at if self._held else 0.0)
                self._hand_over()
        except _ClosingError:
            self._dismiss_waiters()
        except Exception as failure:  # noqa: BLE001  # the waiters handle it
            error, self._ask_at = failure, clock.monotonic() + _AWAY_CHECK
        finally:  # also when a forced stop of the process cancels this
            self._acquiring, self._queue_waits = None, False
            waiters, self._waiters = self._waiters, deque()
            for waiter in waiters:
                if not waiter.called:
                    waiter.errback(Failure(error))  # type: ignore[no-untyped-call]
            if not self._setup.engine.is_closing:
                self._setup.permit_changed(self._key)

    async def _acquire(self) -> None:
        """Hold a permit; wait for it if necessary."""
        self._drop_expired()
        while self._held is None:
            if self._waiters:
                await self._until_slot_could_start()
            await self._sleep_until(self._ask_at)
            setup = self._setup
            delay = setup.delay_of(self._key)
            delay_alone = delay * setup.workers
            try:
                permit = await setup.limiter.acquire(
                    self._key,
                    delay_alone if setup.limiter.is_settling else delay,
                    since=self._since_last_start(),
                    missed=self._missed,
                    more=len(self._waiters) > 1 or self._queue_waits,
                )
            except RateLimiterAwayError:
                self._grant_locally(delay_alone)
                continue
            now = clock.monotonic()
            self._ask_at = now + permit.retry_in
            if permit.starts_in is not None:
                self._missed = None
                self._held = _HeldPermit(permit.number, now + permit.starts_in, now + permit.expires_in)

    def _grant_locally(self, delay: float) -> None:
        """Hold a permit by this crawl's own clock, if *delay* has passed; otherwise ask the limiter again soon."""
        self._missed = None
        due = clock.monotonic() if self.last_start is None else self.last_start + delay
        if due <= clock.monotonic():
            self._held = _HeldPermit(None, due, float("inf"))
        else:
            self._ask_at = min(due, clock.monotonic() + _AWAY_CHECK)

    async def _until_slot_could_start(self) -> None:
        """Wait for the download slot, for a request from elsewhere; the queue only asks when that could start."""
        while (seconds := self._setup.downloader.seconds_to_start(self._key, ())) != 0:
            await self._sleep_until(clock.monotonic() + (seconds or _FULL_CHECK))

    async def _sleep_until(self, due: float) -> None:
        """Raises `_ClosingError` when the crawl is closing."""
        while True:
            if self._setup.engine.is_closing:
                raise _ClosingError
            left = due - clock.monotonic()
            if left <= 0:
                return
            await sleep(min(left, CLOSING_CHECK))

    def _hand_over(self) -> None:
        """Hand the permit to the first waiter, which reports the start when its coroutine resumes."""
        self._drop_expired()
        while self._waiters and self._held is not None:
            waiter = self._waiters.popleft()
            if not waiter.called:  # else it was cancelled
                held, self._held, self.last_start = self._held, None, clock.monotonic()
                waiter.callback(held)

    def _dismiss_waiters(self) -> None:
        for waiter in self._waiters:
            if not waiter.called:
                waiter.callback(None)
        self._waiters.clear()

    async def _report_start(self, number: int) -> None:
        await sleep(0)  # in this turn of the event loop the downloader starts the request
        with suppress(RateLimiterAwayError, IgnoreRequest):
            await self._setup.limiter.report_start(self._key, number, self._since_last_start() or 0.0)

    def _since_last_start(self) -> float | None:
        """Seconds since the last start, None before the first.

        The downloader starts a request after its permit was used. On a busy machine another process may run in
        between, for longer than the margin of a short delay.
        """
        if self.last_start is None:
            return None
        self.last_start = max(self.last_start, self._setup.downloader.last_start(self._key))
        return clock.monotonic() - self.last_start

    async def _release(self, number: int) -> None:
        with suppress(RateLimiterAwayError, IgnoreRequest):
            await self._setup.limiter.release(self._key, number)

    def __repr__(self) -> str:
        return f"<SlotPermits {self._key} waiting={len(self._waiters)} held={self._held is not None}>"


class Permits:
    """The permits of one crawl, by download slot.

    ``slots_waiting`` are the keys of those that acquired none because the whole downloader was full.
    """

    def __init__(self, setup: LimiterSetup, most: int) -> None:
        """Beyond *most* download slots, idle ones are forgotten: the limiter remembers what they know."""
        self._setup = setup
        self._most = most
        self._slots: dict[str, SlotPermits] = {}
        self.slots_waiting: OrderedDict[str, None] = OrderedDict()

    def slot(self, key: str) -> SlotPermits:
        """The permits of download slot *key*."""
        slot = self._slots.get(key)
        if slot is None:
            if len(self._slots) >= self._most:
                self._slots = {key: slot for key, slot in self._slots.items() if not slot.is_idle}
                self._most = max(self._most, 2 * len(self._slots))
            slot = self._slots[key] = SlotPermits(key, self._setup)
        return slot

    def seconds_to_start(self, key: str, seconds: float) -> float | None:
        """Seconds until download slot *key*, which could start a request in *seconds*, also has a permit.

        None until something changes: `LimiterSetup.permit_changed` is called, or a request ends.
        """
        if seconds > _LEAD:
            return seconds - _LEAD
        if self._setup.downloader.is_full:
            self.slots_waiting[key] = None
            return None
        to_permit = self.slot(key).seconds_to_start()
        return None if to_permit is None else max(seconds, to_permit)

    def holds(self, key: str) -> bool:
        """Whether a permit of download slot *key* is held."""
        slot = self._slots.get(key)
        return slot is not None and slot.is_held

    def release(self, key: str) -> None:
        """Give the permit of download slot *key* back: no request is left for it."""
        slot = self._slots.get(key)
        if slot is not None:
            slot.release()

    def __repr__(self) -> str:
        return f"<Permits slots={len(self._slots)}>"
