"""The delays that robots.txt files ask for, as floors under those of Scrapy's download slots.

Several origins can share a download slot: the largest delay counts. Figures of ours are kept here: a
download slot takes no attributes, and Scrapy drops it when it is idle for a minute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_rep.protocol import Origin

if TYPE_CHECKING:
    from scrapy_rep.crawl.scrapy_internals import Downloader

Asker = tuple[Origin, tuple[str, ...]]
"""Whose robots.txt asks, and under which product tokens it was read."""


class _SlotDelay:
    """What is asked of one download slot; ``floor`` is the largest delay, in seconds."""

    __slots__ = ("_asked", "floor", "given", "is_shared", "own_delay", "own_jitter")

    def __init__(self) -> None:
        self.floor = 0.0
        self.given: float | None = None
        """The delay that we gave the download slot; another one is from somebody else."""
        self.is_shared = False
        """Whether other processes may keep to it too."""
        self.own_delay = 0.0
        self.own_jitter = 0.0
        self._asked: dict[Asker, float] = {}

    def ask(self, asker: Asker, seconds: float) -> None:
        before = self._asked.pop(asker, 0.0)
        if seconds:
            self._asked[asker] = seconds
        if seconds >= self.floor:
            self.floor = seconds
        elif before == self.floor:
            self.floor = max(self._asked.values(), default=0.0)


class SlotDelays:
    """Floors under the delays of download slots, by their keys."""

    def __init__(self, downloader: Downloader, most: int) -> None:
        """Of *most* download slots; beyond, those that Scrapy has dropped make room."""
        self._downloader = downloader
        self._most = most
        self._slots: dict[str, _SlotDelay] = {}

    def ask(self, key: str, asker: Asker, seconds: float, *, is_shared: bool = False) -> bool:
        """*asker* asks download slot *key* for *seconds*, 0 for nothing; whether that slot is new here.

        It *is_shared* where other processes ask the same site.
        """
        slot = self._slots.get(key)
        is_new = slot is None and seconds > 0
        if is_new:
            self._make_room()
            slot = self._slots[key] = _SlotDelay()
        if slot is not None:
            slot.ask(asker, seconds)
            slot.is_shared = slot.is_shared or is_shared
            self.hold(key)
        return is_new

    def floor(self, key: str) -> float:
        """The seconds that robots.txt files ask for between two requests of a download slot; 0 for nothing."""
        slot = self._slots.get(key)
        return slot.floor if slot is not None else 0.0

    def is_shared(self, key: str) -> bool:
        """Whether other processes may keep to the delay of a download slot, too."""
        slot = self._slots.get(key)
        return slot is not None and slot.is_shared

    def hold(self, key: str) -> None:
        """Set the delay: the download slot may be new, and others, such as AutoThrottle, may have changed it.

        Jitter goes where it would shorten the floor, or put a start off that other processes count from.
        """
        slot = self._slots.get(key)
        if slot is None:
            return
        is_new = not self._downloader.is_open(key)
        self._downloader.open(key)
        if not self._downloader.is_open(key):
            return
        delay, jitter = self._downloader.pacing(key)
        if slot.given is None or is_new:
            slot.own_delay, slot.own_jitter = delay, jitter
        elif delay != slot.given:
            slot.own_delay = delay
        is_above = not slot.is_shared and slot.own_delay * (1 - slot.own_jitter) >= slot.floor
        slot.given = slot.own_delay if is_above else max(slot.own_delay, slot.floor)
        self._downloader.set_pacing(key, slot.given, slot.own_jitter if is_above else 0.0)
        if not slot.floor:
            del self._slots[key]

    def _make_room(self) -> None:
        """What is known of download slots that are gone is told again when they return."""
        if len(self._slots) >= self._most:
            self._slots = {key: slot for key, slot in self._slots.items() if self._downloader.is_open(key)}
            self._most = max(self._most, 2 * len(self._slots))

    def __contains__(self, key: object) -> bool:
        return key in self._slots

    def __len__(self) -> int:
        return len(self._slots)

    def __repr__(self) -> str:
        longest = max((slot.floor for slot in self._slots.values()), default=0.0)
        return f"<SlotDelays slots={len(self)} longest={longest:g}>"
