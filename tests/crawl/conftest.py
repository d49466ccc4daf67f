"""What every crawl of these tests may rely on."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic, time

import pytest

from scrapy_rep.clock import clock as real


@pytest.fixture(autouse=True)
def _real_clock() -> Iterator[None]:
    """Undo what a spider does that moves the clock of this process."""
    yield
    real.time, real.monotonic = time, monotonic
