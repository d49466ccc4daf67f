"""The turns of this crawl at download slots whose delay it shares with other processes.

A turn is asked for when a request could start at once: otherwise it is the others'. The queue of hosts uses
it, or a request from elsewhere that waits at `RateLimiterMiddleware`. While the limiter is away the crawl
keeps to its own clock, and to as many times the delay as there are workers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Final

from scrapy.exceptions import IgnoreRequest
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from scrapy_rep.crawl.event_loop import CLOSING_CHECK, sleep, start
from scrapy_rep.crawl.scrapy_internals import Downloader, Engine

from .rate_limiter import RateLimiter, RateLimiterAwayError, Turn

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

_FULL_CHECK: Final = 0.01  # seconds: how soon room in a download slot is noticed
_AWAY_CHECK: Final = 0.5  # seconds: how soon the limiter is noticed to be back
_SPARE: Final = 60.0  # seconds that a start is remembered beyond the longest delay


@dataclass(frozen=True, slots=True)
class Sharing:
    """What the download slots of one crawl share: *floor* tells the delay of one, in seconds.

    *ready* is told which of them has a turn that the queue may use. *workers* times the delay passes between
    two starts while the limiter is away; *longest* is the longest delay.
    """

    limiter: RateLimiter
    engine: Engine
    downloader: Downloader
    stats: StatsCollector
    floor: Callable[[str], float]
    ready: Callable[[str], None]
    workers: int
    longest: float


class _ClosingError(Exception):
    """The crawl is closing."""


@dataclass(frozen=True, slots=True)
class _Held:
    """A turn in hand, to be used within its time (monotonic); without a number it is by our own clock."""

    number: int | None
    starts_at: float
    lapses_at: float


class SlotTurns:
    """The turns at download slot *key*: at most one is in hand, at most one question is under way."""

    def __init__(self, key: str, sharing: Sharing) -> None:
        self._key = key
        self._sharing = sharing
        self._held: _Held | None = None
        self._missed: int | None = None
        self._waiters: deque[Deferred[_Held | None]] = deque()
        self._queue_wants = False
        self._asking: Deferred[None] | None = None
        self._ask_at = 0.0
        self.last_start: float | None = None

    @property
    def is_idle(self) -> bool:
        """Whether nobody wants a turn, and none is in hand."""
        return self._asking is None and self._held is None

    def seconds_to_start(self) -> float | None:
        """Until the turn in hand may be used; None when there is none yet: `Sharing.ready` tells when."""
        self._drop_lapsed()
        if self._held is None:
            self._queue_wants = True
            self._ask()  # may be answered before it returns, where a coroutine runs at once
        return None if self._held is None else max(self._held.starts_at - monotonic(), 0.0)

    def use(self) -> bool:
        """Start a request in the turn in hand; False when there is none that may be used now."""
        self._drop_lapsed()
        held = self._held
        if held is None or held.starts_at > monotonic():
            return False
        self._held = None
        self._start(held)
        return True

    def _start(self, held: _Held) -> None:
        """A request starts now, in the turn *held*."""
        self.last_start = monotonic()
        self._sharing.downloader.end_pause(self._key)
        if held.number is None:
            self._sharing.stats.inc_value("rep/rate_limiter/own_turn_count")
        else:
            self._sharing.stats.inc_value("rep/rate_limiter/turn_count")
            start(self._report(held.number, self.last_start))

    async def wait(self, *, first: bool) -> bool:
        """Wait for a turn, and use it; *first* come requests for robots.txt, on which others depend.

        False, and soon, when the crawl is closing.
        """
        waiter: Deferred[_Held | None] = Deferred()
        if first:
            self._waiters.appendleft(waiter)
        else:
            self._waiters.append(waiter)
        self._ask()
        held = await maybe_deferred_to_future(waiter)
        if held is not None:
            self._start(held)
        return held is not None

    def give_back(self) -> None:
        """No request is left for the turn in hand."""
        self._queue_wants = False
        held, self._held = self._held, None
        if held is not None and held.number is not None:
            start(self._return(held.number))

    async def mark(self) -> None:
        """The site has just been asked for its robots.txt: the delay runs from now."""
        self.last_start = monotonic()
        with suppress(RateLimiterAwayError, IgnoreRequest):
            await self._sharing.limiter.mark(self._key, self._sharing.longest + _SPARE)

    def _drop_lapsed(self) -> None:
        if self._held is not None and self._held.lapses_at <= monotonic():
            self._missed, self._held, self._ask_at = self._held.number, None, 0.0
            self._sharing.stats.inc_value("rep/rate_limiter/lapsed_count")

    def _ask(self) -> None:
        if self._asking is None:
            asking = start(self._serve())
            if not asking.called:  # else it may have led to the next question
                self._asking = asking

    async def _serve(self) -> None:
        error: Exception = RuntimeError("the wait for a turn was cut off")
        try:
            while self._waiters or self._queue_wants:
                await self._take()
                if not self._waiters:
                    break
                await self._rest_until(self._held.starts_at if self._held else 0.0)
                self._let_one_go()
        except _ClosingError:
            self._dismiss()
        except Exception as failure:  # noqa: BLE001  # it is the waiters' to handle
            error, self._ask_at = failure, monotonic() + _AWAY_CHECK
        finally:  # however it ends, a forced stop included
            self._asking, self._queue_wants = None, False
            waiters, self._waiters = self._waiters, deque()
            for waiter in waiters:
                if not waiter.called:
                    waiter.errback(Failure(error))  # type: ignore[no-untyped-call]
            if not self._sharing.engine.is_closing:
                self._sharing.ready(self._key)

    async def _take(self) -> None:
        """Take a turn in hand, if there is not one."""
        self._drop_lapsed()
        while self._held is None:
            if self._waiters:
                await self._until_it_could_start()
            await self._rest_until(self._ask_at)
            sharing = self._sharing
            delay = sharing.floor(self._key)
            alone = delay * sharing.workers
            asked_at = monotonic()
            try:
                turn = await sharing.limiter.acquire(
                    self._key,
                    alone if sharing.limiter.is_settling else delay,
                    since=None if self.last_start is None else asked_at - self.last_start,
                    missed=self._missed,
                    more=len(self._waiters) > 1 or self._queue_wants,
                )
            except RateLimiterAwayError:
                await self._take_own_turn(alone)
            else:
                self._hold(turn)

    def _hold(self, turn: Turn) -> None:
        now = monotonic()
        self._ask_at = now + turn.wait
        if turn.starts_in is not None:
            self._missed = None
            self._held = _Held(turn.number, now + turn.starts_in, now + turn.lapses_in)

    async def _take_own_turn(self, delay: float) -> None:
        """A turn by this crawl's clock, or a while to wait until the limiter is asked again."""
        self._missed = None
        due = monotonic() if self.last_start is None else self.last_start + delay
        if due <= monotonic():
            self._held = _Held(None, due, float("inf"))
        else:
            self._ask_at = min(due, monotonic() + _AWAY_CHECK)

    async def _until_it_could_start(self) -> None:
        """For a request from elsewhere; the queue asks when it could."""
        while (seconds := self._sharing.downloader.seconds_to_start(self._key, ())) != 0:
            await self._rest_until(monotonic() + (seconds or _FULL_CHECK))

    async def _rest_until(self, due: float) -> None:
        """Raises `_ClosingError` when the crawl is closing."""
        while True:
            if self._sharing.engine.is_closing:
                raise _ClosingError
            left = due - monotonic()
            if left <= 0:
                return
            await sleep(min(left, CLOSING_CHECK))

    def _let_one_go(self) -> None:
        """Hand the turn over; the request starts when its coroutine goes on, which is when it is reported."""
        self._drop_lapsed()
        while self._waiters and self._held is not None:
            waiter = self._waiters.popleft()
            if not waiter.called:  # else it was cancelled
                held, self._held, self.last_start = self._held, None, monotonic()
                waiter.callback(held)

    def _dismiss(self) -> None:
        for waiter in self._waiters:
            if not waiter.called:
                waiter.callback(None)
        self._waiters.clear()

    async def _report(self, number: int, at: float) -> None:
        with suppress(RateLimiterAwayError, IgnoreRequest):
            await self._sharing.limiter.started(self._key, number, monotonic() - at)

    async def _return(self, number: int) -> None:
        with suppress(RateLimiterAwayError, IgnoreRequest):
            await self._sharing.limiter.give_back(self._key, number)

    def __repr__(self) -> str:
        return f"<SlotTurns {self._key} waiting={len(self._waiters)} held={self._held is not None}>"


class Turns:
    """The turns of one crawl, by download slot."""

    def __init__(self, sharing: Sharing, most: int) -> None:
        """Beyond *most* download slots idle ones are forgotten: the limiter remembers what they know."""
        self._sharing = sharing
        self._most = most
        self._slots: dict[str, SlotTurns] = {}

    def of(self, key: str) -> SlotTurns:
        """Those at download slot *key*."""
        slot = self._slots.get(key)
        if slot is None:
            if len(self._slots) >= self._most:
                self._slots = {key: slot for key, slot in self._slots.items() if not slot.is_idle}
                self._most = max(self._most, 2 * len(self._slots))
            slot = self._slots[key] = SlotTurns(key, self._sharing)
        return slot

    def give_back(self, key: str) -> None:
        """No request is left for download slot *key*."""
        slot = self._slots.get(key)
        if slot is not None:
            slot.give_back()

    def __repr__(self) -> str:
        return f"<Turns slots={len(self._slots)}>"
