"""The requests that are in the queue when a crawl closes: how many, for which hosts, and what they wait for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from scrapy_rep.crawl.pacing.priority_queue import SlotTracker
from scrapy_rep.crawl.pacing.slots import Slots
from scrapy_rep.protocol.display import duration, number_of

if TYPE_CHECKING:
    from scrapy_rep.crawl.pacing.slots import Slot
    from scrapy_rep.crawl.runtime.crawl import Crawl

_NAMED: Final = 5  # hosts
_OF_HOLDS: Final = "REP_BACKOFF = False does not wait for sites that asked for a pause"
_OF_DELAYS: Final = "REP_CRAWL_DELAY_MAX bounds delays"
_OF_FILES: Final = "REP_TIMEOUT and REP_UNREACHABLE_WAIT bound the wait for robots.txt"


class LeftRequests:
    """The requests that one crawl leaves in its queue.

    The queue of hosts knows them by host. Any other queue of Scrapy's scheduler is counted by the stats of Scrapy.
    A scheduler of another kind tells nothing: its queue may not be this crawl's alone.
    """

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self._slots = crawl.part(Slots)
        self._from_before = 0
        """Requests that the scheduler had from an earlier run. `begin` sets it."""

    def begin(self) -> None:
        """Count what an earlier run has left; the scheduler is open, and has got no request yet."""
        self._from_before = self._crawl.engine.scheduled

    def count(self) -> int:
        """How many there are, once the scheduler is closed."""
        tracker = self._crawl.find(SlotTracker)
        if tracker is not None and self._slots.has_queue:
            return tracker.waiting
        put, taken = (self._crawl.stats.get_value(f"scheduler/{way}", 0) for way in ("enqueued", "dequeued"))
        return max(self._from_before + int(put) - int(taken), 0)

    def describe(self, count: int, reason: str) -> str:
        """These *count* requests in words: why the crawl closed, which hosts they wait for, and what to do."""
        hosts = sorted(self._hosts(), key=lambda slot: slot.size, reverse=True)
        named: list[str] = []
        remedies: dict[str, None] = {}
        for slot in hosts:
            why, remedy = self._why(slot)
            remedies[remedy] = None
            size = f"{slot.size:,} for " if slot.size else ""
            named.append(f"{size}{slot.key}{f' ({why})' if why else ''}")
        more = len(named) - _NAMED
        named = [*named[:_NAMED], *([number_of(more, "more host", "more hosts")] if more > 0 else [])]
        has_folder = self._crawl.crawler.settings.get("JOBDIR")
        kept = "the next run finds those in the JOBDIR" if has_folder else "JOBDIR keeps them for the next run"
        where = f": {', '.join(named)}" if named else ""
        requests = number_of(count, "request", "requests")
        to_do = ", ".join([kept, *filter(None, remedies)])
        return f"{requests} still in the queue when the crawl closed ({reason}){where}; {to_do}"

    def _hosts(self) -> Iterator[Slot]:
        """The download slots with such requests. With another queue, those that let requests wait."""
        slots = {*self._slots.by_key.values()} if self._slots.has_queue else self._slots.delayed
        return (slot for slot in slots if slot.size or not self._slots.has_queue)

    def _why(self, slot: Slot) -> tuple[str, str]:
        """Why its requests wait, and what changes that; empty where they only had no turn yet."""
        if slot.held_for:
            return f"it asked for a pause, {duration(slot.held_for)} left", _OF_HOLDS
        if slot.floor:
            in_all = f", {duration(slot.size * slot.floor)} in all" if slot.size else ""
            return f"one every {slot.floor:g} s{in_all}", _OF_DELAYS
        if any(origin is not None and not origin.is_known for _, origin in slot.origins):
            return "its robots.txt has not come", _OF_FILES
        return "", ""
