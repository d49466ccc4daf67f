"""Private: the clock that every module goes by, so that a test moves all of them at once.

`protocol` and `directives` know no clock: time comes in as ``now``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final


class Clock:
    """``time()`` are POSIX seconds, which people set; ``monotonic()`` are seconds that nobody does."""

    __slots__ = ("monotonic", "time")

    def __init__(self) -> None:
        self.time: Callable[[], float] = time.time
        self.monotonic: Callable[[], float] = time.monotonic


clock: Final = Clock()
