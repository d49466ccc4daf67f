"""The download slots of a crawl, and the delay that each must keep: by robots.txt files, or because of a back-off.

Several origins can share a download slot: the largest delay wins. Download slots that fetch from one origin are
one, with several keys: they could not keep its delay apart.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from .permit_queue import LEAD
from .slots import SlotState

if TYPE_CHECKING:
    from scrapy_rep.protocol import Origin
    from scrapy_rep.runtime.scrapy_internals import DownloadSlots

    from .permits import Permits
    from .slots import DelaySource

_LEAST: Final = 64  # download slots that are remembered in any case


class SlotStates:
    """The download slots of a crawl, by key; ``delayed`` are those with a floor below their delay."""

    def __init__(self, download_slots: DownloadSlots, most_delayed: int) -> None:
        """Beyond *most_delayed*, those that Scrapy has dropped are forgotten: their delay is required again."""
        self.delayed: dict[SlotState, None] = {}
        self.listeners: list[Callable[[SlotState], None]] = []
        """Called with a download slot whose permit came or went, or which has become one with another."""
        self.permits: Permits | None = None
        """Of this crawl, if processes share delays."""
        self.without_permit: OrderedDict[SlotState, None] = OrderedDict()
        """Those that acquired no permit because the whole downloader was full."""
        self.has_queue = False
        """Whether requests wait for them in the queue of hosts."""
        self.kept: Callable[[], None] = lambda: None
        """Called when a floor was set."""
        self._download_slots = download_slots
        self._most_delayed = most_delayed
        self._most = _LEAST
        self.by_key: dict[str, SlotState] = {}
        self._of_origin: dict[Origin, SlotState] = {}

    def of(self, key: str) -> SlotState:
        """The state of download slot *key*, created if necessary."""
        state = self.by_key.get(key)
        if state is None:
            if len(self.by_key) >= self._most:
                self._forget()
            state = self.by_key[key] = SlotState(key)
        return state

    def delayed_at(self, key: str) -> SlotState | None:
        """The state of download slot *key* if that has a floor."""
        state = self.by_key.get(key)
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
        self._keep_floor(state, key)
        return is_new

    def back_off(self, state: SlotState, *, is_shared: bool = False) -> None:
        """Keep the back-off of *state*, which has changed; it *is_shared* as in `require`."""
        state.is_shared = state.is_shared or is_shared
        state.set_floor()
        if state.floor or state in self.delayed:
            self._keep_floor(state, state.key)
            self.changed(state)

    def _keep_floor(self, state: SlotState, key: str) -> None:
        self.delayed[state] = None
        state.is_shared = state.is_shared and state.floor > 0
        self.apply(key)
        if not state.floor:
            del self.delayed[state]
            state.applied = None
        self.kept()

    def _join(self, key: str, state: SlotState, other: SlotState) -> SlotState:
        """Make the *state* of *key* one with *other*, which fetches from the same origin."""
        self.delayed.pop(state, None)
        self._of_origin.update(dict.fromkeys(other.join(state), other))
        self.by_key.update(dict.fromkeys(other.keys, other))
        self._download_slots.join([key, *other.keys])
        self.changed(other)
        return other

    def own_delay(self, state: SlotState) -> float:
        """The seconds that *state* leaves between two requests without a back-off."""
        delay, _ = self._download_slots.delay(state.key) or (0.0, 0.0)
        return max(state.requested, delay if state.applied is None else state.own_delay)

    def in_force(self) -> Iterator[tuple[SlotState, float, float]]:
        """Each download slot with a floor, the seconds that it will leave between two requests, and those before.

        A back-off is taken at its pace: its delay soon falls to that.
        """
        for state in self.delayed:
            backoff, own = state.backoff, self.own_delay(state)
            if backoff is None:
                yield state, own, 0.0
            else:
                yield state, max(own, backoff.pace or backoff.delay), backoff.seconds_left()

    def apply(self, key: str) -> None:
        """Set the delay again: Scrapy may have rebuilt the download slot, AutoThrottle may have lowered the delay.

        Jitter is removed where it would shorten the floor. It is removed from a shared delay in any case: other
        processes count from the start that the rate limiter expects.
        """
        state = self.delayed_at(key)
        if state is None:
            return
        is_new = self._download_slots.delay(key) is None
        self._download_slots.join([key, *state.keys])
        own = self._download_slots.delay(key)
        if own is None:
            return
        delay, jitter = own
        if state.applied is None or is_new:
            state.own_delay, state.own_jitter = delay, jitter
        elif delay != state.applied:
            state.own_delay = delay
        is_above = not state.is_shared and state.own_delay * (1 - state.own_jitter) >= state.floor
        state.applied = state.own_delay if is_above else max(state.own_delay, state.floor)
        self._download_slots.set_delay(key, state.applied, state.own_jitter if is_above else 0.0)
        if state.backoff is not None and (left := state.backoff.seconds_left()) > 0:
            self._download_slots.hold(key, left)

    def seconds_to_start(self, state: SlotState) -> float | None:
        """Seconds until it could start one more request; 0 for now, None until something changes.

        A delay that processes share needs a permit as well, which is acquired shortly before.
        """
        if self.delayed:
            self.apply(state.key)
        seconds = self._download_slots.seconds_to_start(state.key, state.handed_out)
        if seconds is None or self.permits is None or not state.is_shared:
            return seconds
        if seconds > LEAD / 1e6:
            return seconds - LEAD / 1e6
        if self._download_slots.are_full:
            self.without_permit[state] = None
            return None
        to_permit = self.permits.of(state).seconds_to_start()
        return None if to_permit is None else max(seconds, to_permit)

    def _forget(self) -> None:
        """Forget what has nothing to say any more, all at once and so seldom that it costs a new one nothing."""
        has_many = len(self.delayed) >= self._most_delayed
        for key, state in [*self.by_key.items()]:
            is_dropped = has_many and not any(map(self._download_slots.delay, state.keys))
            if state.is_resting and (is_dropped or state not in self.delayed):
                del self.by_key[key]
                self.delayed.pop(state, None)
        self._of_origin = {origin: state for origin, state in self._of_origin.items() if state in self.delayed}
        self._most = max(_LEAST, 2 * len(self.by_key))

    def __len__(self) -> int:
        return len(self.by_key)

    def __repr__(self) -> str:
        longest = max((state.floor for state in self.delayed), default=0.0)
        return f"<SlotStates slots={len(self)} delayed={len(self.delayed)} longest={longest:g}>"
