"""What every crawl of these tests may rely on, and a clock for what needs no crawl."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic, time

import pytest

from scrapy_rep.clock import clock as real
from tests.support.simulation import Simulation


@pytest.fixture(autouse=True)
def _real_clock() -> Iterator[None]:
    """Undo what a spider does that moves the clock of this process."""
    yield
    real.time, real.monotonic = time, monotonic


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Simulation:
    """In the place of the clock of scrapy_rep, and of the one that Scrapy's downloader goes by."""
    clock = Simulation()
    for name in ("time", "monotonic"):
        for place in (
            "scrapy.core.downloader",
            "scrapy_rep.crawl.runtime.scrapy_internals",
            "scrapy_rep.clock.clock",
        ):
            monkeypatch.setattr(f"{place}.{name}", clock.monotonic, raising=False)
    for place in ("scrapy.core.downloader", "scrapy_rep.crawl.runtime.event_loop"):
        monkeypatch.setattr(f"{place}.call_later", clock.call_later)
    return clock
