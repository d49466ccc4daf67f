"""What a crawl waits for: written when it hangs, before it is killed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def lines(crawler: Any) -> Iterator[str]:
    """The queues of the scheduler and the downloader as they show themselves, then what each task awaits."""
    engine = crawler.engine
    if engine is not None and engine._slot is not None:
        scheduler = engine._slot.scheduler
        for name in ("mqs", "dqs", "queue"):  # the last one is that of scrapy-redis
            queue = getattr(scheduler, name, None)
            yield f"{queue!r} {getattr(queue, '_tracker', '')!r}"
        yield from (f"active: {request} {request.meta}" for request in engine.downloader.active)
        slots = engine.downloader.slots.items()
        yield from (f"download slot {key}: {slot!r}" for key, slot in slots if slot.active or slot.queue)
    for task in asyncio.all_tasks():
        yield " > ".join(awaited(task.get_coro()))


def awaited(coroutine: Any) -> Iterator[str]:
    """The names of the coroutines that await each other, from the outermost to the innermost."""
    while coroutine is not None:
        yield getattr(coroutine, "__qualname__", repr(coroutine))
        coroutine = getattr(coroutine, "cr_await", None)


def write(crawler: Any, path: Path) -> None:
    path.write_text("\n".join([*lines(crawler), ""]), "utf-8")
