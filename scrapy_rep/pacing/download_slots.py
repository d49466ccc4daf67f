"""Which download slot a request uses, and the delay that robots.txt requires of each download slot.

Several origins can share a download slot: the largest delay wins. Our figures are kept here: Scrapy's ``Slot``
takes no attributes, and Scrapy drops a download slot that is idle for a minute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from scrapy import Request

from scrapy_rep.policy.stamp import META_KEY, is_stamp
from scrapy_rep.protocol import Origin

if TYPE_CHECKING:
    from scrapy_rep.runtime.scrapy_internals import DownloadSlots
    from scrapy_rep.runtime.targets import Targets

SLOT: Final = "download_slot"
"""Scrapy's meta key; Scrapy writes it into every request that it downloads."""

_PINNED: Final = "rep_paced"  # meta key: the number of redirects when the download slot was pinned


def pin_slot(request: Request, key: str) -> None:
    """Make the requests that a middleware derives from *request* use the download slot *key* too.

    A rendering service or a scraping API fetches from the same site; ``Request.replace`` copies the meta.
    """
    request.meta[SLOT] = key
    request.meta[_PINNED] = len(request.meta.get("redirect_urls", ()))


def unpin_slot(request: Request) -> None:
    """Undo `pin_slot`: a request that a spider makes with the meta of the response is one of its own."""
    request.meta.pop(_PINNED, None)


def choose_slot(request: Request, slots: DownloadSlots, targets: Targets) -> None:
    """Put *request* into the download slot of the site that it fetches from, unless it is in one already.

    A request for a service goes to another host than its target; every other request is left alone.
    """
    drop_stale_slot(request, slots, targets)
    try:
        if SLOT not in request.meta and targets.of(request) is not request.url:
            request.meta[SLOT] = slots.key(Request(targets.of(request)))
    except ValueError:
        return  # the gate ends the request


def drop_stale_slot(request: Request, slots: DownloadSlots, targets: Targets) -> None:
    """Remove the download slot of another host, which redirects and spiders copy with the rest of the meta.

    One that the project chose stays, and so does one that was pinned after the last redirect.
    """
    meta = request.meta
    urls = meta.get("redirect_urls", ())
    if SLOT not in meta or meta.get(_PINNED) == len(urls):
        return
    origin = stamp["origin"] if is_stamp(stamp := meta.get(META_KEY)) else None
    before = [_target(url, targets) for url in (*urls[-1:], origin) if url]
    if meta[SLOT] in {"", *(slots.key(Request(url)) for url in before)}:  # "" is that of a data: URL
        del meta[SLOT]
        unpin_slot(request)


def _target(url: str, targets: Targets) -> str:
    try:
        return targets.of(Request(url))
    except ValueError:
        return url


DelaySource = tuple[Origin, tuple[str, ...]]
"""The origin whose robots.txt requires a delay, and the product tokens that it was read for."""


class _SlotDelay:
    """The delays required of one download slot; ``floor`` is the largest, in seconds.

    Download slots that fetch from one origin are one, with several ``keys``: they could not keep its delay apart.
    """

    __slots__ = ("_required", "applied", "floor", "is_shared", "keys", "own_delay", "own_jitter")

    def __init__(self, key: str) -> None:
        self.keys = [key]
        self.floor = 0.0
        self.applied: float | None = None
        """The delay that we set last; any other value was set by another component, such as AutoThrottle."""
        self.is_shared = False
        """Whether other processes may request pages of the same site."""
        self.own_delay = 0.0
        self.own_jitter = 0.0
        self._required: dict[DelaySource, float] = {}

    def require(self, source: DelaySource, seconds: float) -> None:
        before = self._required.pop(source, 0.0)
        if seconds:
            self._required[source] = seconds
        if seconds >= self.floor:
            self.floor = seconds
        elif before == self.floor:
            self.floor = max(self._required.values(), default=0.0)

    def join(self, other: _SlotDelay) -> Iterator[Origin]:
        """Become one with *other*; return the origins that this one brings along."""
        self.keys = sorted({*self.keys, *other.keys})
        self.is_shared = self.is_shared or other.is_shared
        for source, seconds in other._required.items():
            self.require(source, seconds)
            yield source[0]


class SlotDelays:
    """The delay floors of download slots, by slot key."""

    def __init__(self, download_slots: DownloadSlots, most: int, joined: Callable[[Sequence[str]], None]) -> None:
        """Beyond *most* download slots, those that Scrapy has dropped are forgotten.

        *joined* is called with the keys of download slots that have become one.
        """
        self._download_slots = download_slots
        self._most = most
        self._joined = joined
        self._slots: dict[str, _SlotDelay] = {}
        self._of_origin: dict[Origin, _SlotDelay] = {}

    def require(self, key: str, source: DelaySource, seconds: float, *, is_shared: bool = False) -> bool:
        """Require *seconds* of download slot *key* for *source*, 0 for none; return whether the slot is new here.

        It *is_shared* when other processes may request pages of the same site.
        """
        slot = self._slots.get(key)
        is_new = slot is None and seconds > 0
        if is_new:
            self._forget_dropped()
            slot = self._slots[key] = _SlotDelay(key)
        if slot is not None:
            if seconds and self._of_origin.setdefault(source[0], slot) is not slot:
                slot = self._join(key, slot, self._of_origin[source[0]])
            slot.require(source, seconds)
            slot.is_shared = slot.is_shared or is_shared
            self.apply(key)
        return is_new

    def _join(self, key: str, slot: _SlotDelay, other: _SlotDelay) -> _SlotDelay:
        """Make the *slot* of *key* one with *other*, which fetches from the same origin."""
        self._of_origin.update(dict.fromkeys(other.join(slot), other))
        self._slots.update(dict.fromkeys(other.keys, other))
        self._download_slots.join([key, *other.keys])
        self._joined(other.keys)
        return other

    def name(self, key: str) -> str:
        """The one key that stands for download slot *key* and those that are one with it."""
        slot = self._slots.get(key)
        return slot.keys[0] if slot is not None else key

    def floor(self, key: str) -> float:
        """Seconds that robots.txt requires between two requests of download slot *key*; 0 for none."""
        slot = self._slots.get(key)
        return slot.floor if slot is not None else 0.0

    def in_force(self) -> Iterator[tuple[str, float]]:
        """Each of these download slots, and the seconds that it leaves between two requests now."""
        for key, slot in self._slots.items():
            own = self._download_slots.delay(key) or (0.0, 0.0)
            if slot.floor and key == slot.keys[0]:
                yield key, max(slot.floor, own[0])

    def is_shared(self, key: str) -> bool:
        """Whether download slot *key* has a delay that other processes may have to keep too."""
        slot = self._slots.get(key)
        return slot is not None and slot.is_shared

    def apply(self, key: str) -> None:
        """Set the delay again: Scrapy may have rebuilt the download slot, AutoThrottle may have lowered the delay.

        Jitter is removed where it would shorten the floor. It is removed from a shared delay in any case: other
        processes count from the start that the rate limiter expects.
        """
        slot = self._slots.get(key)
        if slot is None:
            return
        is_new = self._download_slots.delay(key) is None
        self._download_slots.join([key, *slot.keys])
        own = self._download_slots.delay(key)
        if own is None:
            return
        delay, jitter = own
        if slot.applied is None or is_new:
            slot.own_delay, slot.own_jitter = delay, jitter
        elif delay != slot.applied:
            slot.own_delay = delay
        is_above = not slot.is_shared and slot.own_delay * (1 - slot.own_jitter) >= slot.floor
        slot.applied = slot.own_delay if is_above else max(slot.own_delay, slot.floor)
        self._download_slots.set_delay(key, slot.applied, slot.own_jitter if is_above else 0.0)
        if not slot.floor:
            for one in slot.keys:
                self._slots.pop(one, None)

    def _forget_dropped(self) -> None:
        """Forget download slots that Scrapy has dropped: their delay is required again when they return."""
        if len(self._slots) >= self._most:
            self._slots = {key: slot for key, slot in self._slots.items() if self._download_slots.delay(key)}
            kept = set(self._slots.values())
            self._of_origin = {origin: slot for origin, slot in self._of_origin.items() if slot in kept}
            self._most = max(self._most, 2 * len(self._slots))

    def __contains__(self, key: object) -> bool:
        return key in self._slots

    def __len__(self) -> int:
        return len(self._slots)

    def __repr__(self) -> str:
        longest = max((slot.floor for slot in self._slots.values()), default=0.0)
        return f"<SlotDelays slots={len(self)} longest={longest:g}>"
