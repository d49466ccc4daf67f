"""What the tests of several commands need."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest


@pytest.fixture
def given_here(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Puts octets on the standard input of this process."""
    return lambda octets: monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(octets)))


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Path]:
    """A named pipe, whose writer writes nothing: who opens it reads an empty file."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = Thread(target=lambda: path.open("wb").close(), daemon=True)
    writer.start()
    yield path
    while writer.is_alive():
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        writer.join(0.01)
