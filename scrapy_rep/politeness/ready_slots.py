"""The download slots that could start a request: the least busy first, and among equals in turn."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

T = TypeVar("T")


class ReadySlots(Generic[T]):
    """The order is that of Scrapy's own queue, which looks at every download slot for each request."""

    def __init__(self) -> None:
        self._by_load: dict[int, OrderedDict[T, None]] = {}
        self._loads: dict[T, int] = {}

    def add(self, slot: T, load: int) -> None:
        """*slot* has *load* requests under way; it goes behind the others that have as many."""
        if self._loads.get(slot) == load:
            return
        self.discard(slot)
        self._loads[slot] = load
        self._by_load.setdefault(load, OrderedDict())[slot] = None

    def discard(self, slot: T) -> None:
        """*slot* is not ready any more."""
        load = self._loads.pop(slot, None)
        if load is not None:
            same = self._by_load[load]
            del same[slot]
            if not same:
                del self._by_load[load]

    def first(self) -> T | None:
        """Whose turn it is; loads are few, as many as a download slot may have."""
        return next(iter(self._by_load[min(self._by_load)])) if self._by_load else None

    def __contains__(self, slot: object) -> bool:
        return slot in self._loads

    def __len__(self) -> int:
        return len(self._loads)

    def __repr__(self) -> str:
        return f"<ReadySlots {len(self)}>"
