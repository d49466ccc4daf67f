"""Work that runs on its own, on every loop that Scrapy runs on."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import CancelledError, Deferred
from twisted.python.failure import Failure


def start(work: Coroutine[Any, Any, None]) -> Deferred[None]:
    """Start *work*, which may end before this returns, and tells those who wait for it how it has ended.

    A forced stop of the process cancels it, which is nobody's error.
    """
    running: Deferred[None] = deferred_from_coro(work)
    running.addErrback(_cut_off)
    return running


def _cut_off(failure: Failure) -> None:
    failure.trap(asyncio.CancelledError, CancelledError)  # type: ignore[no-untyped-call]
