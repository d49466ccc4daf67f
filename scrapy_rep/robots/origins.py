"""The origins that a crawl knows, one `OriginState` each, bounded in number and memory."""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

from scrapy_rep.clock import clock
from scrapy_rep.protocol import Origin

if TYPE_CHECKING:
    from .robots import Robots
    from .single_flight import SingleFlight

# How nearly every URL starts. Of URLs with equal starts the origins are equal.
_START: Final = re.compile(r"https?://[a-z0-9.-]+(?::[0-9]+)?(?=[/?#]|\Z)")


class OriginState:
    """What a crawl knows of one origin: its ``robots``, current or not, and the ``flight`` that fetches them.

    Whoever waits for the origin holds its state: another one would not hear of the end of the flight.
    """

    __slots__ = ("__weakref__", "flight", "origin", "robots")

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.robots: Robots | None = None
        self.flight: SingleFlight[Robots] | None = None

    @property
    def is_known(self) -> bool:
        """Whether the robots.txt is in memory and has not expired."""
        return self.robots is not None and clock.time() < self.robots.until

    def __repr__(self) -> str:
        return f"<OriginState {self.origin} robots={self.robots is not None} flight={self.flight!r}>"


class Origins:
    """The states of origins. Of too many robots.txt files, the least recently used are evicted."""

    def __init__(self, max_origins: int, max_octets: int) -> None:
        self._max_origins = max_origins
        self._max_octets = max_octets
        self._states: WeakValueDictionary[Origin, OriginState] = WeakValueDictionary()
        self._by_start: dict[str, OriginState] = {}  # saves nearly every URL its way to an `Origin`
        self._kept: OrderedDict[OriginState, int] = OrderedDict()  # those with robots, and the octets these take
        self._octets = 0
        self.evicted = 0

    def at(self, url: str) -> OriginState:
        """The state of the origin of *url*. Raises ``ValueError`` for a URL that has no robots.txt."""
        start = _START.match(url)
        if start is None:
            return self.of(Origin.from_url(url))
        state = self._by_start.get(start[0])
        if state is None:
            state = self.of(Origin.from_url(url))
            if len(self._by_start) >= 2 * self._max_origins:
                self._by_start.clear()
            self._by_start[start[0]] = state
        return state

    def of(self, origin: Origin) -> OriginState:
        """The state of *origin*."""
        state = self._states.get(origin)
        if state is None:
            state = self._states[origin] = OriginState(origin)
        return state

    def current(self, state: OriginState) -> Robots | None:
        """The robots.txt of *state* if it applies now; that origin is then the most recently used one."""
        robots = state.robots
        if robots is None or not robots.is_current(clock.time()):
            return None
        self._kept.move_to_end(state)
        return robots

    def put(self, robots: Robots, octets: int) -> None:
        """Keep *robots*, which take *octets* of memory; without room for them alone they are not kept."""
        state = self.of(robots.entry.origin)
        self._octets -= self._kept.pop(state, 0)
        if octets > self._max_octets:
            state.robots = None
            self.evicted += 1
            return
        state.robots = robots
        self._octets += octets
        self._kept[state] = octets
        while self._octets > self._max_octets or len(self._kept) > self._max_origins:
            evicted, freed = self._kept.popitem(last=False)
            evicted.robots = None
            self._octets -= freed
            self.evicted += 1

    def __len__(self) -> int:
        return len(self._kept)

    def __repr__(self) -> str:
        octets = f"{self._octets} of {self._max_octets} octets"
        return f"<Origins {len(self)} of {self._max_origins} in memory, {octets}>"
