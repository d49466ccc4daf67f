"""What a process remembers of origins: bounded in number and in octets, the least recently used leave."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

from scrapy_rep.protocol import Origin

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from scrapy_rep.protocol.freshness import Entry

T = TypeVar("T")


class Memory(Generic[T]):
    """Values by origin; those least recently used leave when there are too many or they are too large."""

    def __init__(self, most_entries: int, most_octets: int) -> None:
        self._most_entries = most_entries
        self._most_octets = most_octets
        self._values: OrderedDict[Origin, tuple[T, int]] = OrderedDict()
        self._octets = 0
        self.evicted = 0

    def get(self, origin: Origin) -> T | None:
        """The value of *origin*, now the most recently used; None when there is none."""
        held = self._values.get(origin)
        if held is None:
            return None
        self._values.move_to_end(origin)
        return held[0]

    def put(self, origin: Origin, value: T, octets: int) -> None:
        """Keep *value*, which takes *octets*; one larger than the bound is not kept at all."""
        _, replaced = self._values.pop(origin, (None, 0))
        self._octets -= replaced
        if octets > self._most_octets:
            self.evicted += 1
            return
        self._octets += octets
        self._values[origin] = (value, octets)
        while self._octets > self._most_octets or len(self._values) > self._most_entries:
            _, (_, freed) = self._values.popitem(last=False)
            self._octets -= freed
            self.evicted += 1

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return (
            f"<Memory {len(self)} of {self._most_entries} origins, {self._octets} of {self._most_octets} octets>"
        )


class MemoryStore:
    """A store for one process: what is in `Memory` is all there is, and nobody competes for a fetch."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:  # noqa: ARG003
        return cls()

    async def get(self, origin: Origin) -> Entry | None:  # noqa: ARG002
        return None

    async def put(self, entry: Entry) -> None:
        """Nothing: the crawl remembers it."""

    async def acquire_lease(self, origin: Origin, seconds: float) -> bool:  # noqa: ARG002
        return True

    async def release_lease(self, origin: Origin) -> None:
        """Nothing to release."""

    def close(self) -> None:
        """Nothing to close."""
