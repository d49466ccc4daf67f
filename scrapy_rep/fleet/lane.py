"""The requests of this worker that wait for their turns at one download slot.

They go one by one, in the order in which they came, robots.txt first. A turn is asked for only when its
request could start at once: while the download slot is full, or the user's own delay runs, the turns are
the others'. While Redis is away the worker keeps to its own clock. When the crawl closes those who need
not stay leave: in a fleet their turns may be far away.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Final

from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from scrapy_rep.background import start
from scrapy_rep.downloader.engine import CLOSING_CHECK, is_closing, sleep
from scrapy_rep.stores.redis_client import RedisAwayError

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from scrapy_rep.downloader.download_slots import DownloadSlots

    from .turns import Turns

_FULL_CHECK: Final = 0.005  # seconds: how soon a free place in a download slot is noticed
_AWAY_CHECK: Final = 0.5  # seconds: how soon Redis is noticed to be back
_LATE: Final = 0.003  # seconds after a turn at which the one behind it would be disturbed


@dataclass(frozen=True, slots=True)
class Pacing:
    """What the lanes of one crawl share: *floor* tells the delay of a download slot, in seconds.

    *workers* times that passes between two requests while Redis is away.
    """

    crawler: Crawler
    turns: Turns
    slots: DownloadSlots
    floor: Callable[[str], float]
    workers: int


class _DesertedError(Exception):
    """Nobody waits any more."""


@dataclass(frozen=True, slots=True)
class _Waiter:
    """``turn`` comes to True, or to False for one that need not stay when the crawl closes."""

    turn: Deferred[bool]
    stays: bool


class Lane:
    """Those who wait at download slot *key*."""

    def __init__(self, key: str, pacing: Pacing) -> None:
        self._key = key
        self._pacing = pacing
        self._waiting: deque[_Waiter] = deque()
        self._serving: Deferred[None] | None = None
        self._ask_at = 0.0  # monotonic: when the next turn may be near
        self.last_start: float | None = None  # monotonic

    @property
    def is_idle(self) -> bool:
        """Whether nobody waits."""
        return self._serving is None

    async def wait(self, *, first: bool, stays: bool) -> bool:
        """Wait for a turn; *first* come those for robots.txt, on which others depend.

        False, and soon, when the crawl closes and the request need not be made; one that *stays* waits on.
        """
        waiter = _Waiter(Deferred(), stays)
        if first:
            self._waiting.appendleft(waiter)
        else:
            self._waiting.append(waiter)
        if self._serving is None:
            serving = start(self._serve())
            self._serving = None if serving.called else serving
        return await maybe_deferred_to_future(waiter.turn)

    async def _serve(self) -> None:
        error: Exception = RuntimeError("the wait for a turn was cut off")
        try:
            while self._waiting:
                await self._until_it_could_start()
                await self._take_turn()
                self._let_one_go()
                await sleep(0)
        except _DesertedError:
            pass
        except Exception as failure:  # noqa: BLE001  # it is the waiters' to handle
            error = failure
        finally:  # however it ends, a forced stop included
            self._serving = None
            for waiter in self._waiting:
                if not waiter.turn.called:
                    waiter.turn.errback(Failure(error))  # type: ignore[no-untyped-call]
            self._waiting.clear()

    def _let_one_go(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft().turn
            if not turn.called:  # one that was cancelled wastes no turn while others wait
                self.last_start = monotonic()
                turn.callback(True)
                return

    async def _until_it_could_start(self) -> None:
        slots = self._pacing.slots
        if self.last_start is not None:
            await self._rest(self.last_start + slots.own_delay(self._key) - monotonic())
        while slots.is_full(self._key):
            await self._rest(_FULL_CHECK)

    async def _rest(self, seconds: float) -> None:
        """Wait *seconds*. Raises `_DesertedError` when nobody waits any more, because the crawl closes."""
        until = monotonic() + seconds
        while True:
            if is_closing(self._pacing.crawler):
                self._send_home()
            left = until - monotonic()
            if left <= 0:
                return
            await sleep(min(left, CLOSING_CHECK))

    def _send_home(self) -> None:
        leaving = [waiter for waiter in self._waiting if not waiter.stays]
        self._waiting = deque(waiter for waiter in self._waiting if waiter.stays)
        for waiter in leaving:
            if not waiter.turn.called:
                waiter.turn.callback(False)
        if not self._waiting:
            raise _DesertedError

    async def _take_turn(self) -> None:
        """Wait for a turn of the fleet; one that was missed, because the machine stalled, is asked for anew."""
        missed: int | None = None
        turns = self._pacing.turns
        while delay := self._pacing.floor(self._key):
            await self._rest(self._ask_at - monotonic())
            alone = delay * self._pacing.workers
            apart = alone if turns.is_settling else delay
            more = len(self._waiting) > 1
            try:
                turn = await turns.take(self._key, apart, since=self._since(), missed=missed, more=more)
            except RedisAwayError:
                missed = None
                if await self._take_own_turn(alone):
                    return
                continue
            self._ask_at = monotonic() + turn.wait
            if turn.starts_in is None:
                continue
            due = monotonic() + turn.starts_in
            await sleep(turn.starts_in)
            if missed is not None or monotonic() - due <= _LATE:
                self._count("rep/redis/turn_count")
                return
            missed, self._ask_at = turn.number, 0.0
            self._count("rep/redis/late_count")

    async def _take_own_turn(self, delay: float) -> bool:
        """Wait for a turn by this worker's clock, a while at the most; whether it has come."""
        since = self._since()
        left = 0.0 if since is None else delay - since
        if left > 0:
            await self._rest(min(left, _AWAY_CHECK))
            return False
        self._count("rep/redis/own_turn_count")
        return True

    def _since(self) -> float | None:
        return None if self.last_start is None else monotonic() - self.last_start

    def _count(self, stat: str) -> None:
        self._pacing.crawler.stats.inc_value(stat)

    def __repr__(self) -> str:
        return f"<Lane {self._key} waiting={len(self._waiting)}>"
