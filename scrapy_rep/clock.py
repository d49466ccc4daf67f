"""Private: the clock that every module goes by, so that a test moves all of them at once.

`protocol` and `directives` know no clock: time comes in as ``now``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final


class Clock:
    """``time()`` are POSIX seconds, which people set; ``monotonic()`` are seconds that nobody does.

    ``process_time()`` are the seconds for which this process has computed.
    """

    __slots__ = ("monotonic", "process_time", "time")

    def __init__(self) -> None:
        self.time: Callable[[], float] = time.time
        self.monotonic: Callable[[], float] = time.monotonic
        self.process_time: Callable[[], float] = time.process_time


clock: Final = Clock()
