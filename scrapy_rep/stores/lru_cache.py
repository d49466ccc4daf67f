"""`LruCache`: values by origin in the memory of one process, bounded in number and in octets."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

from scrapy_rep.protocol import Origin

T = TypeVar("T")


class LruCache(Generic[T]):
    """Values by origin. The least recently used ones are evicted when a bound is exceeded."""

    def __init__(self, max_entries: int, max_octets: int) -> None:
        self._max_entries = max_entries
        self._max_octets = max_octets
        self._values: OrderedDict[Origin, tuple[T, int]] = OrderedDict()
        self._octets = 0
        self.evicted: int = 0
        """Number of values evicted so far."""

    def get(self, origin: Origin) -> T | None:
        """Return the value of *origin* and make it the most recently used, or None if there is none."""
        cached = self._values.get(origin)
        if cached is None:
            return None
        self._values.move_to_end(origin)
        return cached[0]

    def put(self, origin: Origin, value: T, octets: int) -> None:
        """Cache *value*, which takes *octets*. A value larger than the whole cache is evicted at once."""
        _, replaced = self._values.pop(origin, (None, 0))
        self._octets -= replaced
        if octets > self._max_octets:
            self.evicted += 1
            return
        self._octets += octets
        self._values[origin] = (value, octets)
        while self._octets > self._max_octets or len(self._values) > self._max_entries:
            _, (_, freed) = self._values.popitem(last=False)
            self._octets -= freed
            self.evicted += 1

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return (
            f"<LruCache {len(self)} of {self._max_entries} origins, {self._octets} of {self._max_octets} octets>"
        )
