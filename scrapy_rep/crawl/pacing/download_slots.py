"""The download slots of a crawl, the sites that it requests through them, and the delay that each must keep.

Several sites can share a download slot: the largest pause wins. Download slots that fetch from one site become
one with several keys, because apart they could not keep its delay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from scrapy_rep.clock import clock
from scrapy_rep.crawl.pacing.slots import Site, SlotState, with_margin

if TYPE_CHECKING:
    from scrapy_rep.crawl.pacing.slots import DelaySource
    from scrapy_rep.crawl.runtime.crawl import Crawl

_LEAST: Final = 64  # download slots that are remembered in any case


class Waits:
    """How long download slots had requests that only waited for a delay or a back-off.

    Requests wait in three places: the queue of hosts, Scrapy's download slot, and the door. A download slot that
    waits in several of them at once counts once.
    """

    def __init__(self) -> None:
        self._ended = 0.0
        self.now: dict[SlotState, tuple[float, set[object]]] = {}
        """The download slots that wait now: since when (monotonic seconds), and what waits. Often none do."""

    def begin(self, state: SlotState, what: object) -> None:
        """Count the time from now on, if it is not counted yet: *what* waits, a request or a queue."""
        found = self.now.get(state)
        if found is None:
            found = self.now[state] = clock.monotonic(), set()
        found[1].add(what)

    def end(self, state: SlotState, what: object) -> None:
        """*what* waits no longer. A wait for the project's own ``DOWNLOAD_DELAY`` alone does not count."""
        since, waiting = self.now.get(state, (0.0, None))
        if waiting is None:
            return
        waiting.discard(what)
        if not waiting:
            del self.now[state]
            self._ended += clock.monotonic() - since if state.floor else 0.0

    def join(self, state: SlotState, other: SlotState) -> None:
        """*other* has become one with *state*."""
        if other in self.now:
            since, waiting = self.now.pop(other)
            known = self.now.get(state, (since, set()))
            self.now[state] = min(since, known[0]), waiting | known[1]

    @property
    def seconds(self) -> float:
        """Seconds of all download slots together, those of waits that have not ended included."""
        now = clock.monotonic()
        return self._ended + sum(now - since for state, (since, _) in self.now.items() if state.floor)

    def __repr__(self) -> str:
        return f"<Waits {self.seconds:.3f} s, {len(self.now)} wait now>"


class SlotStates:
    """The download slots of a crawl by key, its sites by name; ``delayed`` are the download slots with a floor."""

    def __init__(self, crawl: Crawl) -> None:
        self.delayed: dict[SlotState, None] = {}
        self.listeners: list[Callable[[SlotState], None]] = []
        """Called with a download slot that may start earlier or later, or has become one with another."""
        self.lead = 0.0
        """Seconds that a request may come to the door early where processes share its site: to ask the limiter."""
        self.waits = Waits()
        self.has_queue = False
        """Whether requests wait for them in the queue of hosts."""
        self.kept: Callable[[SlotState], None] = lambda _: None
        """Called with a download slot whose floor was set."""
        self._download_slots = crawl.download_slots
        self._most_delayed = crawl.settings.memory_entries
        """Beyond so many, those that Scrapy has dropped are forgotten: their delay is required again."""
        self._most = self._most_sites = _LEAST
        self.by_key: dict[str, SlotState] = {}
        self.sites: dict[str, Site] = {}

    def of(self, key: str) -> SlotState:
        """The state of download slot *key*, created if necessary."""
        state = self.by_key.get(key)
        if state is None:
            if len(self.by_key) >= self._most:
                self._forget()
            state = self.by_key[key] = SlotState(key)
        return state

    def site(self, name: str) -> Site:
        """The site *name*, created if necessary."""
        site = self.sites.get(name)
        if site is None:
            if len(self.sites) >= self._most_sites:  # a crawl through one proxy never forgets a download slot
                self._forget_sites()
            site = self.sites[name] = Site(name)
        return site

    def delayed_at(self, key: str) -> SlotState | None:
        """The state of download slot *key* if that has a floor."""
        state = self.by_key.get(key)
        return state if state in self.delayed else None

    def changed(self, state: SlotState) -> None:
        """Tell the listeners of *state*."""
        for listener in self.listeners:
            listener(state)

    def require(self, key: str, source: DelaySource, seconds: float, *, is_shared: bool = False) -> bool:
        """Require *seconds* between two requests to the site of *source*, which uses download slot *key*.

        0 is for none. It *is_shared* when other processes may request its pages. Returns whether the download slot
        had no floor before.
        """
        site = self.sites.get(source[0].host)
        before = site.requires(source) if site is not None else 0.0
        if seconds == before and not (site is not None and seconds and site.slot is not self.by_key.get(key)):
            return False  # as nearly every request finds it
        site = self.site(source[0].host)
        site.require(source, seconds)
        site.is_shared = site.is_shared or is_shared
        return self._keep(key, site)

    def back_off(self, site: Site, key: str, *, is_shared: bool = False) -> None:
        """Keep the back-off of *site*, which has changed and uses download slot *key*."""
        site.is_shared = site.is_shared or is_shared
        self._keep(key, site)
        if (state := self.by_key.get(key)) is not None:
            self.changed(state)

    def place(self, key: str, name: str) -> SlotState | None:
        """The download slot *key*, which a request uses to fetch from the site *name*; None if nothing delays it.

        A project may use another download slot for that site than before: then the two become one.
        """
        site = self.sites.get(name)
        if site is not None and self.by_key.get(key) is not site.slot:
            self._keep(key, site)
        return self.delayed_at(key)

    def _keep(self, key: str, site: Site) -> bool:
        """Keep what *site* asks for in download slot *key*; return whether that had no floor before."""
        state = site.slot
        if site.floor and (state is None or self.by_key.get(key) is not state):
            state = self._put(self.of(key), site)
        if state is None:
            return False
        was_delayed = state in self.delayed
        state.weigh(site)
        if not site.floor:
            site.slot = None
        if state.floor or was_delayed:
            self.delayed[state] = None
            self.apply(state.key)
        if not state.floor:
            self.delayed.pop(state, None)
            state.applied = None
        self.kept(state)
        return state.floor > 0 and not was_delayed

    def _put(self, state: SlotState, site: Site) -> SlotState:
        """Make *state* the download slot of *site*, or one with the download slot that it has."""
        other = site.slot
        if other is None:
            site.slot = state
            return state
        self.delayed.pop(state, None)
        keys = [other.key, *state.keys]
        other.join(state)
        self.waits.join(other, state)
        self.by_key.update(dict.fromkeys(keys, other))
        self._download_slots.join(keys)
        self.changed(other)
        return other

    def own_delay(self, site: Site, key: str) -> float:
        """The seconds that *site* gets between two requests without its back-off, through download slot *key*."""
        state = self.of(key)
        delay, _ = self._download_slots.delay(state.key) or (0.0, 0.0)
        return max(site.requested, delay if state.applied is None else state.own_delay)

    def in_force(self) -> Iterator[tuple[SlotState, float, float]]:
        """Each download slot with a floor, the seconds that it will leave between two requests, and those before.

        A back-off is taken at its pace: its delay soon falls to that.
        """
        for state in self.delayed:
            backoffs = [site.backoff for site in state.sites if site.backoff is not None]
            paces = [backoff.pace or backoff.floor for backoff in backoffs]
            yield state, max(state.own_delay, *(site.requested for site in state.sites), *paces), state.held_for

    def apply(self, key: str) -> None:
        """Set the delay again: Scrapy may have rebuilt the download slot, AutoThrottle may have lowered the delay.

        Jitter is removed where it would shorten the floor. It is removed from a shared delay in any case: other
        processes count from the start that the rate limiter expects.
        """
        state = self.delayed_at(key)
        if state is None:
            return
        is_new = self._download_slots.delay(key) is None
        self._download_slots.join([key, state.key])  # there may be thousands: each joins when it is used next
        own = self._download_slots.delay(key)
        if own is None:
            return
        delay, jitter = own
        if state.applied is None or is_new:
            state.own_delay, state.own_jitter = delay, jitter
        elif delay != state.applied:
            state.own_delay = delay
        floor, is_shared = with_margin(state.floor), state.is_shared
        is_above = not is_shared and state.own_delay * (1 - state.own_jitter) >= floor
        if is_shared and floor > 2 * self.lead:
            floor -= self.lead
        state.applied = state.own_delay if is_above else max(state.own_delay, floor)
        self._download_slots.set_delay(key, state.applied, state.own_jitter if is_above else 0.0)
        if (left := state.held_for) > 0:
            self._download_slots.hold(key, left)

    def seconds_to_start(self, state: SlotState) -> float | None:
        """Seconds until it could start one more request; 0 for now, None until something changes."""
        if self.delayed:
            self.apply(state.key)
        seconds = self._download_slots.seconds_to_start(state.key, state.handed_out)
        return None if seconds is None or state.at_door else max(seconds, state.held_for)

    def _forget(self) -> None:
        """Forget what has nothing to say any more, all at once and so seldom that it costs a new one nothing."""
        has_many = len(self.delayed) >= self._most_delayed
        for key, state in [*self.by_key.items()]:
            is_dropped = has_many and not any(map(self._download_slots.delay, state.keys))
            if state.is_resting and (is_dropped or state not in self.delayed):
                del self.by_key[key]
                self.delayed.pop(state, None)
        self._forget_sites()
        self._most = max(_LEAST, 2 * len(self.by_key))

    def _forget_sites(self) -> None:
        self.sites = {
            name: site for name, site in self.sites.items() if site.slot in self.delayed or site.is_waited_for
        }
        self._most_sites = max(_LEAST, 2 * len(self.sites))

    def __len__(self) -> int:
        return len(self.by_key)

    def __repr__(self) -> str:
        longest = max((state.floor for state in self.delayed), default=0.0)
        return f"<SlotStates slots={len(self)} delayed={len(self.delayed)} longest={longest:g}>"
