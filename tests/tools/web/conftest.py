"""One event loop for all servers, and one server for the tests that change nothing about it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .checker import Checker, Shared, checker, event_loop


@pytest.fixture(scope="session", autouse=True)
def _loop() -> Iterator[None]:
    with event_loop() as Shared.loop:
        yield


@pytest.fixture(scope="module")
def local(_loop: None) -> Iterator[Checker]:
    """A checker with the limits of one machine."""
    with checker() as running:
        yield running
