"""One server for the tests that change nothing about it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .checker import Checker, checker


@pytest.fixture(scope="module")
def local() -> Iterator[Checker]:
    """A checker with the limits of one machine."""
    with checker() as running:
        yield running
