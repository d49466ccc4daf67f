"""What every crawl of these tests may rely on."""

from __future__ import annotations

from collections.abc import Iterator
from time import time

import pytest

from scrapy_rep.politeness import crawl_delay

from .spiders import CLOCKS


@pytest.fixture(autouse=True)
def _real_clock() -> Iterator[None]:
    """Undo what a spider that moves the clock of this process leaves behind when its crawl is cut off."""
    yield
    for module in (crawl_delay, *CLOCKS):
        vars(module)["time"] = time
