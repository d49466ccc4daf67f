"""What a crawl knows of each download slot: the delay that robots.txt files require, its requests, its permits.

Several origins can share a download slot: the largest delay wins. Download slots that fetch from one origin are
one, with several keys: they could not keep its delay apart. All this is kept here: Scrapy's ``Slot`` takes no
attributes, and Scrapy drops a download slot that is idle for a minute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from scrapy_rep.protocol import Origin

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_rep.runtime.scrapy_internals import Downloader

    from .limiter import SlotPermits
    from .slots import SlotRequests

DelaySource = tuple[Origin, tuple[str, ...]]
"""The origin whose robots.txt requires a delay, and the product tokens that it was read for."""

_LEAST: Final = 64  # download slots that are remembered in any case


class SlotState:
    """One download slot: its delays, its requests in each queue, and those handed out that have not left it."""

    __slots__ = (
        "_required", "applied", "floor", "handed_out", "is_shared", "key", "keys", "own_delay", "own_jitter",
        "permits", "queued", "size", "update_at", "waiting_since",
    )  # fmt: skip

    def __init__(self, key: str) -> None:
        self.key = key
        """The first of its ``keys``, under which processes share it."""
        self.keys = [key]
        self.floor = 0.0
        """Seconds that robots.txt requires between two requests; 0 for none."""
        self.is_shared = False
        """Whether other processes may request pages of the same site."""
        self.applied: float | None = None
        """The delay that we set last; any other value was set by another component, such as AutoThrottle."""
        self.own_delay = self.own_jitter = 0.0
        self._required: dict[DelaySource, float] = {}
        self.permits: SlotPermits | None = None
        self.queued: list[SlotRequests] = []
        self.size = 0
        """The number of requests in all queues."""
        self.handed_out: set[Request] = set()
        self.update_at: float | None = None
        """When the timer updates it."""
        self.waiting_since: float | None = None
        """Since when it has requests that only wait for the delay."""

    def require(self, source: DelaySource, seconds: float) -> None:
        """Require *seconds* for *source*, 0 for none."""
        before = self._required.pop(source, 0.0)
        if seconds:
            self._required[source] = seconds
        if seconds >= self.floor:
            self.floor = seconds
        elif before == self.floor:
            self.floor = max(self._required.values(), default=0.0)

    def join(self, other: SlotState) -> Iterator[Origin]:
        """Become one with *other*; return the origins that this one brings along."""
        self.keys = sorted({*self.keys, *other.keys})
        self.is_shared = self.is_shared or other.is_shared
        for queue in other.queued:
            queue.state = self
        self.queued, other.queued = [*self.queued, *other.queued], []
        self.size, other.size = self.size + other.size, 0
        self.handed_out |= other.handed_out
        self.waiting_since = self.waiting_since or other.waiting_since
        other.update_at = None
        other.release()
        if self.key != self.keys[0]:
            self.release()
            self.key, self.permits = self.keys[0], None
        for source, seconds in other._required.items():
            self.require(source, seconds)
            yield source[0]

    @property
    def is_resting(self) -> bool:
        """Whether it has neither requests nor a permit."""
        return not (self.queued or self.handed_out) and (self.permits is None or self.permits.is_idle)

    def release(self) -> None:
        """Let other processes have the permit: no request here is left to use it."""
        if self.permits is not None:
            self.permits.release()

    def __repr__(self) -> str:
        return f"<SlotState {self.key} floor={self.floor:g} handed_out={len(self.handed_out)}>"


class SlotStates:
    """The download slots of a crawl, by key; ``delayed`` are those with a delay that robots.txt requires."""

    def __init__(self, downloader: Downloader, most_delayed: int) -> None:
        """Beyond *most_delayed*, those that Scrapy has dropped are forgotten: their delay is required again."""
        self.delayed: dict[SlotState, None] = {}
        self.listeners: list[Callable[[SlotState], None]] = []
        """Called with a download slot whose permit came or went, or which has become one with another."""
        self._downloader = downloader
        self._most_delayed = most_delayed
        self._most = _LEAST
        self._by_key: dict[str, SlotState] = {}
        self._of_origin: dict[Origin, SlotState] = {}

    def of(self, key: str) -> SlotState:
        """The state of download slot *key*, created if necessary."""
        state = self._by_key.get(key)
        if state is None:
            if len(self._by_key) >= self._most:
                self._forget()
            state = self._by_key[key] = SlotState(key)
        return state

    def get(self, key: str) -> SlotState | None:
        """The state of download slot *key*, if there is one."""
        return self._by_key.get(key)

    def delayed_at(self, key: str) -> SlotState | None:
        """The state of download slot *key* if robots.txt requires a delay of it."""
        state = self._by_key.get(key)
        return state if state in self.delayed else None

    def changed(self, state: SlotState) -> None:
        """Tell the listeners of *state*."""
        for listener in self.listeners:
            listener(state)

    def require(self, key: str, source: DelaySource, seconds: float, *, is_shared: bool = False) -> bool:
        """Require *seconds* of download slot *key* for *source*, 0 for none; return whether it had none before.

        It *is_shared* when other processes may request pages of the same site.
        """
        state = self.of(key) if seconds else self.delayed_at(key)
        if state is None:
            return False
        is_new = state not in self.delayed
        if seconds and self._of_origin.setdefault(source[0], state) is not state:
            state = self._join(key, state, self._of_origin[source[0]])
        state.require(source, seconds)
        state.is_shared = state.is_shared or is_shared
        self.delayed[state] = None
        self.apply(key)
        if not state.floor:
            del self.delayed[state]
            state.applied, state.is_shared = None, False
        return is_new

    def _join(self, key: str, state: SlotState, other: SlotState) -> SlotState:
        """Make the *state* of *key* one with *other*, which fetches from the same origin."""
        self.delayed.pop(state, None)
        self._of_origin.update(dict.fromkeys(other.join(state), other))
        self._by_key.update(dict.fromkeys(other.keys, other))
        self._downloader.join_slots([key, *other.keys])
        self.changed(other)
        return other

    def in_force(self) -> Iterator[tuple[SlotState, float]]:
        """Each download slot with a delay, and the seconds that it leaves between two requests now."""
        for state in self.delayed:
            own = self._downloader.slot_delay(state.key)[0] if self._downloader.has_slot(state.key) else 0.0
            yield state, max(state.floor, own)

    def apply(self, key: str) -> None:
        """Set the delay again: Scrapy may have rebuilt the download slot, AutoThrottle may have lowered the delay.

        Jitter is removed where it would shorten the floor. It is removed from a shared delay in any case: other
        processes count from the start that the rate limiter expects.
        """
        state = self.delayed_at(key)
        if state is None:
            return
        is_new = not self._downloader.has_slot(key)
        self._downloader.create_slot(key)
        if len(state.keys) > 1:
            self._downloader.join_slots([key, *state.keys])
        if not self._downloader.has_slot(key):
            return
        delay, jitter = self._downloader.slot_delay(key)
        if state.applied is None or is_new:
            state.own_delay, state.own_jitter = delay, jitter
        elif delay != state.applied:
            state.own_delay = delay
        is_above = not state.is_shared and state.own_delay * (1 - state.own_jitter) >= state.floor
        state.applied = state.own_delay if is_above else max(state.own_delay, state.floor)
        self._downloader.set_slot_delay(key, state.applied, state.own_jitter if is_above else 0.0)

    def _forget(self) -> None:
        """Forget what has nothing to say any more, all at once and so seldom that it costs a new one nothing."""
        has_many = len(self.delayed) >= self._most_delayed
        for key, state in [*self._by_key.items()]:
            is_dropped = has_many and not any(map(self._downloader.has_slot, state.keys))
            if state.is_resting and (is_dropped or state not in self.delayed):
                del self._by_key[key]
                self.delayed.pop(state, None)
        self._of_origin = {origin: state for origin, state in self._of_origin.items() if state in self.delayed}
        self._most = max(_LEAST, 2 * len(self._by_key))

    def __len__(self) -> int:
        return len(self._by_key)

    def __repr__(self) -> str:
        longest = max((state.floor for state in self.delayed), default=0.0)
        return f"<SlotStates slots={len(self)} delayed={len(self.delayed)} longest={longest:g}>"
