"""The records of pacing: sites, download slots, and how long the slots waited.

A site is one host name. It asks for pauses with a Crawl-delay in robots.txt or with answers such as 429. Download
slots ask for nothing and make a poor key: a project names them freely, two slots may fetch from one site, and
another process may use a third. Every reason to wait therefore lives with its `Site`, next to the time of the
last start, and processes share it under the site's name. Only `Site.start_in` answers when a request may start:

* the host queue and Scrapy's download slots ask early, when waiting costs nothing;
* the door asks last, and keeps the promise whatever happened before.

Requests that reach the door too early take turns. Only the first in line has a timer.

A `Slot` is a crawl's record of a download slot: the sites that are requested through it, and the requests that
wait for it. Scrapy's own ``Slot`` takes no attributes and is dropped after an idle minute. Requests are grouped by
origin: if two origins share a download slot (http and https, or two ports), a robots.txt that hangs on one origin
does not hold up the other. A download slot may start a request when all of its sites may.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from math import inf
from typing import TYPE_CHECKING, Any, Final

from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from scrapy_rep.clock import clock
from scrapy_rep.crawl.pacing.origin_queue import Turns
from scrapy_rep.protocol import Origin

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_rep.crawl.pacing.origin_queue import OriginQueue
    from scrapy_rep.crawl.robots.origins import OriginState
    from scrapy_rep.crawl.runtime.crawl import Crawl

DelaySource = tuple[Origin, tuple[str, ...]]
"""The origin whose robots.txt requires a delay, and the product tokens that it was read for."""

_LEAST: Final = 64  # download slots, and sites, to keep before the first clean-up

# Servers count arrivals, and event loops and networks add jitter to those.
_MARGIN: Final = 0.01  # seconds
_MARGIN_SHARE: Final = 0.02  # of the delay, at most


def with_margin(seconds: float) -> float:
    """Return the seconds between two starts that keep arrivals at least *seconds* apart."""
    return seconds + min(_MARGIN, _MARGIN_SHARE * seconds)


class Pause:
    """A reason to slow a site down, added by an extra; it may change at any time."""

    floor: float
    """Seconds between two starts; 0 for none."""
    until: float
    """The earliest time of the next start (monotonic seconds)."""
    pace: float
    """The floor in the long run; 0 if it does not fall."""


def _begin(turn: Deferred[None]) -> None:
    if not turn.called:  # else it was cancelled
        turn.callback(None)


class Site:
    """The site *name*. Times are monotonic seconds."""

    __slots__ = (
        "__weakref__",
        "_required",
        "_turn",
        "_turns",
        "backoff",
        "is_shared",
        "last_start",
        "name",
        "places",
        "requested",
    )  # fmt: skip

    def __init__(self, name: str) -> None:
        self.name = name
        # Whether other processes may request its pages. Once true, it stays true.
        self.is_shared = False
        # The download slots through which it is requested, while it has a floor.
        self.places: dict[Slot, None] = {}
        # Seconds between two starts that robots.txt files require: the largest of ``_required``.
        self.requested = 0.0
        self._required: dict[DelaySource, float] = {}
        # The pause that an extra asks for, beside robots.txt.
        self.backoff: Pause | None = None
        # When the door let the last request out, or when robots.txt arrived (monotonic seconds).
        self.last_start = -inf
        # The request whose turn it is at the door; None if no request waits.
        self._turn: object = None
        # The requests behind it, in order. A Deferred fires when its turn comes, or is cancelled.
        self._turns: deque[Deferred[None]] = deque()

    def require(self, source: DelaySource, seconds: float) -> None:
        """Require *seconds* between two starts for *source*; 0 removes the requirement."""
        before = self._required.pop(source, 0.0)
        if seconds:
            self._required[source] = seconds
        if seconds >= self.requested:
            self.requested = seconds
        elif before == self.requested:
            self.requested = max(self._required.values(), default=0.0)

    def requires(self, source: DelaySource) -> float:
        """The seconds that *source* requires."""
        return self._required.get(source, 0.0)

    @property
    def floor(self) -> float:
        """Minimum seconds between two starts now; 0 for none."""
        return max(self.requested, self.backoff.floor) if self.backoff is not None else self.requested

    @property
    def held_for(self) -> float:
        """Seconds for which a back-off stops all starts."""
        return max(self.backoff.until - clock.monotonic(), 0.0) if self.backoff is not None else 0.0

    def start_in(self, now: float) -> float:
        """Return the seconds until a request may start, as far as this process knows; 0 for now."""
        return max(self.last_start + self.floor - now, self.held_for, 0.0)

    def start(self, now: float) -> None:
        """Count the delay from *now*: a request starts, or robots.txt has arrived.

        The process may stall before the request has left. The time is therefore taken again in the next turn of
        the event loop, when the request is out.
        """
        self.last_start = now
        call_later(0, self._has_started)

    def _has_started(self) -> None:
        self.last_start = clock.monotonic()

    @property
    def due(self) -> float:
        """When a request may start, as far as this process knows; now if that time has passed."""
        now = clock.monotonic()
        return now + self.start_in(now)

    @property
    def since_last_start(self) -> float | None:
        """Seconds since the last start; None before the first."""
        return None if self.last_start == -inf else clock.monotonic() - self.last_start

    # Turns at the door.

    @property
    def is_waited_for(self) -> bool:
        """Whether a request waits at the door."""
        return self._turn is not None

    @property
    def has_more_waiting(self) -> bool:
        """Whether more requests wait behind the first at the door."""
        return bool(self._turns)

    async def enter(self, *, first: bool) -> None:
        """Wait for a request's turn, which `leave` ends; *first* puts the request at the head of the line."""
        turn: Deferred[None] = Deferred()
        if self._turn is None:
            self._turn = turn
            for slot in self.places:
                slot.at_door.add(self)
            return
        if first:
            self._turns.appendleft(turn)
        else:
            self._turns.append(turn)
        try:
            await maybe_deferred_to_future(turn)
        except BaseException:
            if self._turn is turn:  # cancelled between the start of its turn and its resumption
                self.leave()
            raise

    def leave(self) -> None:
        """End the current turn, and begin the next."""
        self._turn = None
        while self._turns and self._turn is None:
            turn = self._turns.popleft()
            if not turn.called:  # else it was cancelled
                self._turn = turn
                call_later(0, _begin, turn)  # not now: without asyncio, requests would resume nested in each other
        if self._turn is None:
            for slot in self.places:
                slot.at_door.discard(self)

    def __repr__(self) -> str:
        return f"<Site {self.name} floor={self.floor:g} waiting={len(self._turns) + self.is_waited_for}>"


class Slot:
    """One download slot, called *key*: its sites, and its requests in all queues of the scheduler."""

    __slots__ = (
        "_largest", "applied", "at_door", "floor", "handed_out", "held_until", "key", "origins", "own_delay",
        "own_jitter", "sites", "size", "turns", "unsorted", "update_at",
    )  # fmt: skip

    def __init__(self, key: str) -> None:
        self.key = key
        # The sites that ask for a pause and are requested through this download slot.
        self.sites: dict[Site, None] = {}
        # The largest floor of its sites: the floor of ``_largest``.
        self.floor = 0.0
        self._largest: Site | None = None
        # When the last hold of its sites ends (monotonic seconds); a hold is never shortened.
        self.held_until = -inf
        # Sites whose requests wait at the door; while there are any, no other request is handed out.
        self.at_door: set[Site] = set()
        # The delay that we set last; another component, such as AutoThrottle, set any other value.
        self.applied: float | None = None
        self.own_delay = self.own_jitter = 0.0
        # Its requests, by scheduler queue and origin.
        self.origins: dict[tuple[Any, OriginState | None], OriginQueue] = {}
        # The members of ``origins`` whose requests may go, by scheduler queue.
        self.turns: dict[Any, Turns[OriginQueue]] = {}
        # Requests that Scrapy's own queue left on disk; they are sorted by origin as they come up.
        self.unsorted: dict[Any, OriginQueue] = {}
        # The number of its requests in all queues.
        self.size = 0
        # Requests that the scheduler has handed out and that have not left the download slot.
        self.handed_out: set[Request] = set()
        # When the timer updates this slot (monotonic seconds).
        self.update_at: float | None = None

    def weigh(self, site: Site) -> None:
        """Update the floor after that of *site* may have changed; drop a site that no longer has a floor."""
        floor = site.floor
        if floor:
            self.sites[site] = None
        else:
            self.sites.pop(site, None)
            self.at_door.discard(site)
        if floor >= self.floor or self._largest is None:
            self._largest, self.floor = site, floor
        elif self._largest is site:  # else nothing changes, which spares a scan of thousands of sites
            self._largest = max(self.sites, key=lambda each: each.floor, default=None)
            self.floor = self._largest.floor if self._largest is not None else 0.0
        if site.backoff is not None:
            self.held_until = max(self.held_until, site.backoff.until)

    @property
    def is_shared(self) -> bool:
        """Whether other processes may request pages of the site with the largest floor."""
        return self._largest is not None and self._largest.is_shared and self.floor > 0

    @property
    def held_for(self) -> float:
        """Seconds for which a back-off stops all starts."""
        return max(self.held_until - clock.monotonic(), 0.0)

    @property
    def is_resting(self) -> bool:
        """Whether it has no requests and holds none back."""
        return not (self.size or self.handed_out or self.at_door or any(site.backoff for site in self.sites))

    def __repr__(self) -> str:
        return f"<Slot {self.key} floor={self.floor:g} size={self.size} handed_out={len(self.handed_out)}>"


class Waits:
    """The time that download slots spent with requests held only by a delay or a back-off.

    Requests wait in three places: the host queue, Scrapy's download slot, and the door. A download slot that waits
    in several places at a time counts once.
    """

    def __init__(self) -> None:
        self._ended = 0.0
        # Download slots that wait now: since when (monotonic seconds), and what waits. Often empty.
        self.now: dict[Slot, tuple[float, set[object]]] = {}

    def begin(self, slot: Slot, what: object) -> None:
        """Start the clock unless it runs: *what*, a request or a queue, waits."""
        found = self.now.get(slot)
        if found is None:
            found = self.now[slot] = clock.monotonic(), set()
        found[1].add(what)

    def end(self, slot: Slot, what: object) -> None:
        """Stop waiting for *what*. A wait for the project's own ``DOWNLOAD_DELAY`` alone does not count."""
        since, waiting = self.now.get(slot, (0.0, None))
        if waiting is None:
            return
        waiting.discard(what)
        if not waiting:
            del self.now[slot]
            self._ended += clock.monotonic() - since if slot.floor else 0.0

    @property
    def seconds(self) -> float:
        """Total seconds of all download slots, including waits that have not ended."""
        now = clock.monotonic()
        return self._ended + sum(now - since for slot, (since, _) in self.now.items() if slot.floor)

    def __repr__(self) -> str:
        return f"<Waits {self.seconds:.3f} s, {len(self.now)} wait now>"


class Slots:
    """A crawl's download slots by key and its sites by name; ``delayed`` holds the download slots with a floor."""

    def __init__(self, crawl: Crawl) -> None:
        self.delayed: dict[Slot, None] = {}
        # How many seconds early a request of a shared site may reach the door, to ask for its turn.
        self.lead = 0.0
        self.waits = Waits()
        # Whether requests wait for them in the host queue, which sets this.
        self.has_queue = False
        # Updates a download slot that may start earlier or later. The host queue sets it.
        self.update: Callable[[Slot], None] = lambda _: None
        # Called with a download slot whose floor was set. `CrawlDelay` sets it.
        self.kept: Callable[[Slot], None] = lambda _: None
        self._download_slots = crawl.download_slots
        # Above this number, slots that Scrapy has dropped are forgotten; their delay is required again later.
        self._most_delayed = crawl.settings.memory_entries
        self._most = self._most_sites = _LEAST
        self.by_key: dict[str, Slot] = {}
        self.sites: dict[str, Site] = {}

    def of(self, key: str) -> Slot:
        """The download slot *key*, created if necessary."""
        slot = self.by_key.get(key)
        if slot is None:
            if len(self.by_key) >= self._most:
                self._forget()
            slot = self.by_key[key] = Slot(key)
        return slot

    def site(self, name: str) -> Site:
        """The site *name*, created if necessary."""
        site = self.sites.get(name)
        if site is None:
            if len(self.sites) >= self._most_sites:  # a crawl through a proxy never forgets its one download slot
                self._forget_sites()
            site = self.sites[name] = Site(name)
        return site

    def delayed_at(self, key: str) -> Slot | None:
        """The download slot *key* if it has a floor."""
        slot = self.by_key.get(key)
        return slot if slot in self.delayed else None

    def changed(self, site: Site) -> None:
        """Update the download slots of *site*, which may start earlier or later."""
        for slot in [*site.places]:
            self.update(slot)

    def require(self, key: str, source: DelaySource, seconds: float, *, is_shared: bool = False) -> bool:
        """Require *seconds* between two requests to the site of *source*, which uses download slot *key*.

        0 removes the requirement. *is_shared* says that other processes may request the site's pages. Returns
        whether the download slot had no floor before.
        """
        site = self.sites.get(source[0].host)
        before = site.requires(source) if site is not None else 0.0
        if seconds == before and not (site is not None and seconds and self.by_key.get(key) not in site.places):
            return False  # true of nearly every request
        site = self.site(source[0].host)
        site.require(source, seconds)
        site.is_shared = site.is_shared or is_shared
        return self._keep(key, site)

    def back_off(self, site: Site, key: str, *, is_shared: bool = False) -> None:
        """Apply the changed back-off of *site*, which uses download slot *key*."""
        site.is_shared = site.is_shared or is_shared
        self._keep(key, site)

    def place(self, key: str, name: str) -> Slot | None:
        """Return the download slot *key* for a request to the site *name*; None if the slot has no floor."""
        site = self.sites.get(name)
        if site is not None and site.floor and self.by_key.get(key) not in site.places:
            self._keep(key, site)
        return self.delayed_at(key)

    def _keep(self, key: str, site: Site) -> bool:
        """Apply the pauses of *site* to its download slots, including *key*; return whether *key* had no floor."""
        if site.floor:
            site.places[self.of(key)] = None
        is_new = False
        for slot in [*site.places]:
            was_delayed = slot in self.delayed
            slot.weigh(site)
            if slot.floor or was_delayed:
                self.delayed[slot] = None
                self.apply(slot)
            if not slot.floor:
                self.delayed.pop(slot, None)
                slot.applied = None
            self.kept(slot)
            self.update(slot)  # the reason for its wait may be gone, and nothing else would update it
            is_new = is_new or (slot.key == key and slot.floor > 0 and not was_delayed)
        if not site.floor:
            site.places.clear()
        return is_new

    def own_delay(self, site: Site, key: str) -> float:
        """Return the seconds between two requests to *site* through download slot *key*, without its back-off."""
        slot = self.of(key)
        delay, _ = self._download_slots.delay(key) or (0.0, 0.0)
        return max(site.requested, delay if slot.applied is None else slot.own_delay)

    def in_force(self) -> Iterator[tuple[Slot, float, float]]:
        """Yield each download slot with a floor, its seconds between two requests, and the seconds it holds first.

        A back-off counts at its pace, because its delay soon falls to that.
        """
        for slot in self.delayed:
            backoffs = [site.backoff for site in slot.sites if site.backoff is not None]
            paces = [backoff.pace or backoff.floor for backoff in backoffs]
            yield slot, max(slot.own_delay, *(site.requested for site in slot.sites), *paces), slot.held_for

    def keep_applied(self, slot: Slot) -> None:
        """Restore the delay of *slot* if it has changed.

        Scrapy drops a download slot after an idle minute, and AutoThrottle lowers its delay after every response.
        """
        delay, _ = self._download_slots.delay(slot.key) or (None, None)
        is_held = slot.held_until > -inf and slot.held_until > clock.monotonic()
        if slot.floor and (is_held or delay is None or delay != slot.applied):
            self.apply(slot)

    def apply(self, slot: Slot) -> None:
        """Set the delay of *slot*, which has a floor.

        Jitter is removed if it would shorten the floor. A shared delay never has jitter: other processes count
        from the start that the rate limiter expects.
        """
        is_new = self._download_slots.delay(slot.key) is None
        if is_new:
            self._download_slots.create(slot.key)
        if (own := self._download_slots.delay(slot.key)) is None:
            return
        delay, jitter = own
        if slot.applied is None or is_new:
            slot.own_delay, slot.own_jitter = delay, jitter
        elif delay != slot.applied:
            slot.own_delay = delay
        floor, is_shared = with_margin(slot.floor), slot.is_shared
        is_above = not is_shared and slot.own_delay * (1 - slot.own_jitter) >= floor
        if is_shared and floor > 2 * self.lead:
            floor -= self.lead
        slot.applied = slot.own_delay if is_above else max(slot.own_delay, floor)
        self._download_slots.set_delay(slot.key, slot.applied, slot.own_jitter if is_above else 0.0)
        if (left := slot.held_for) > 0:
            self._download_slots.hold(slot.key, left)

    def seconds_to_start(self, slot: Slot) -> float | None:
        """Return the seconds until *slot* could start a request; 0 for now, None until something changes."""
        if not slot.floor and not slot.at_door and slot.held_until == -inf:
            return self._download_slots.seconds_to_start(slot.key, slot.handed_out)
        self.keep_applied(slot)
        seconds = self._download_slots.seconds_to_start(slot.key, slot.handed_out)
        return None if seconds is None or slot.at_door else max(seconds, slot.held_until - clock.monotonic())

    def _forget(self) -> None:
        """Forget records that no longer matter, in bulk and too rarely to slow down new ones."""
        has_many = len(self.delayed) >= self._most_delayed
        for key, slot in [*self.by_key.items()]:
            is_dropped = slot not in self.delayed or (has_many and self._download_slots.delay(key) is None)
            if slot.is_resting and is_dropped:
                del self.by_key[key]
                self.delayed.pop(slot, None)
                for site in slot.sites:
                    site.places.pop(slot, None)
        self._forget_sites()
        self._most = max(_LEAST, 2 * len(self.by_key))

    def _forget_sites(self) -> None:
        self.sites = {name: site for name, site in self.sites.items() if site.places or site.is_waited_for}
        self._most_sites = max(_LEAST, 2 * len(self.sites))

    def __len__(self) -> int:
        return len(self.by_key)

    def __repr__(self) -> str:
        longest = max((slot.floor for slot in self.delayed), default=0.0)
        return f"<Slots {len(self)} delayed={len(self.delayed)} longest={longest:g}>"
