"""The audit log as a file: JSON Lines in which every change is visible.

A thread writes, because the event loop must not wait for the disk. Each line holds the SHA-256 of the line before
(``prev``); a killed process tears at most the last line.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from time import sleep
from typing import Any, BinaryIO, Final
from uuid import uuid4

if sys.platform != "win32":
    import fcntl

logger = logging.getLogger(__name__)

VERSION: Final = 1
"""The version of the format, raised when an existing event or field changes its meaning."""

NO_LINE: Final = "0" * 64
"""``prev`` of the first line of a file."""

_Item = dict[str, Any] | tuple[Path, bytes] | None
"""An event, a body with its path, or None for the end."""

_GATHER: Final = 0.2  # seconds for which events are collected before they are written
_CLOSE_TIMEOUT: Final = 10.0  # seconds that the end of a crawl waits for the disk
_MAX_WAITING: Final = 200_000  # events and bodies in memory while the disk is slow
_MAX_FILES: Final = 100  # logs that one process writes at the same time for one path
_TAIL: Final = 65_536  # bytes that are read first to find the last line of a file


class AuditLog:
    """Appends events to one file. After a failure it stops, logs that once, and keeps the ``error``."""

    def __init__(self, path: Path, bodies: Path | None = None) -> None:
        """Open *path*, or a file next to it if another crawl writes to *path*. Raises ``OSError``.

        *bodies* is the folder for `add_body`.
        """
        self.error: Exception | None = None
        self._bodies = bodies
        if bodies is not None:
            bodies.mkdir(parents=True, exist_ok=True)
        self.path, self._file = _open(path)
        self._prev = _hash_of_last_line(self._file)
        self._queue: SimpleQueue[_Item] = SimpleQueue()
        self._thread: Thread | None = None

    def add(self, event: str, **fields: Any) -> None:
        """Append an *event* with *fields*, which are JSON values; returns immediately."""
        self._put({"event": event, **fields})

    def add_body(self, sha256: str, body: bytes) -> None:
        """Store the *body* of a robots.txt as ``SHA256.txt``; returns immediately."""
        if self._bodies is not None:
            self._put((self._bodies / f"{sha256}.txt", body))

    def _put(self, item: _Item) -> None:
        if self.error is not None:  # the thread has ended
            return
        if self._queue.qsize() >= _MAX_WAITING:
            self._fail(OSError(f"{_MAX_WAITING:,} events wait for the disk"))
            return
        if self._thread is None:
            self._thread = Thread(target=self._write_all, name="scrapy_rep audit log", daemon=True)
            self._thread.start()
        self._queue.put(item)

    def close(self) -> None:
        """Write the remaining events and close the file; waits a few seconds at most."""
        if self._thread is None:
            self._file.close()
        else:
            self._queue.put(None)
            self._thread.join(_CLOSE_TIMEOUT)
            if self._thread.is_alive():
                logger.warning("The audit log %s is incomplete: the disk does not answer", self.path)

    def _write_all(self) -> None:
        try:
            with self._file:
                batch: list[_Item] = []
                while None not in batch:
                    sleep(_GATHER if batch else 0)
                    batch = [self._queue.get()]
                    batch += [self._queue.get() for _ in range(self._queue.qsize())]
                    self._write(batch)
        except Exception as error:  # noqa: BLE001  # any failure ends the log, and the crawl must know
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        if self.error is None:
            self.error = error
            logger.warning("The audit log %s cannot be written (%s): logging stopped", self.path, error)

    def _write(self, batch: list[_Item]) -> None:
        try:
            for item in batch:
                if isinstance(item, tuple):
                    _write_body(*item)
        finally:
            self._write_lines([item for item in batch if isinstance(item, dict)])

    def _write_lines(self, events: Sequence[dict[str, Any]]) -> None:
        lines = []
        for event in events:
            lines.append(_line({**event, "prev": self._prev}))
            self._prev = sha256(lines[-1]).hexdigest()
        if lines:
            if not os.fstat(self._file.fileno()).st_nlink:  # further lines would be lost with the file
                raise FileNotFoundError("it was deleted")
            self._file.write(b"".join(line + b"\n" for line in lines))
            self._file.flush()

    def __repr__(self) -> str:
        return f"<AuditLog {self.path}>"


def _line(event: Mapping[str, Any]) -> bytes:
    r"""*event* as a line of JSON; characters that break lines or control terminals are escaped: ``\u2028``."""
    line = json.dumps(event, ensure_ascii=False, separators=(",", ":"), default=str)
    if not line.isprintable():
        line = json.dumps(event, separators=(",", ":"), default=str)
    return line.encode()


def _write_body(path: Path, body: bytes) -> None:
    """Write *body* unless an earlier crawl did; another crawl may write the same body at the same time."""
    if not path.exists():
        part = path.with_suffix(f".{uuid4().hex}.part")
        part.write_bytes(body)
        part.replace(path)


def _open(path: Path) -> tuple[Path, BinaryIO]:
    path.parent.mkdir(parents=True, exist_ok=True)
    for candidate in _candidates(path):
        file = candidate.open("a+b")
        if _lock(file):
            if candidate != path:
                logger.warning("Another crawl writes to the audit log %s: this one writes to %s", path, candidate)
            return candidate, file
        file.close()
    raise OSError(f"{candidate} is locked by another process")


def _candidates(path: Path) -> Iterator[Path]:
    """*path*, then paths next to it: a process may run several crawls, and containers may share process ids."""
    yield path
    own = f"{path.stem}-{os.getpid()}"
    yield path.with_name(f"{own}{path.suffix}")
    for number in range(2, _MAX_FILES):
        yield path.with_name(f"{own}-{number}{path.suffix}")


def _lock(file: BinaryIO) -> bool:
    """Whether only this crawl writes to *file*; True on Windows and on file systems without locks."""
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True
    return True


def _hash_of_last_line(file: BinaryIO) -> str:
    """The ``prev`` of the next line; a torn last line is ended first."""
    size = file.seek(0, os.SEEK_END)
    if not size:
        return NO_LINE
    tail, length = b"", _TAIL
    while b"\n" not in tail[:-1] and len(tail) < size:
        file.seek(max(size - length, 0))
        tail, length = file.read(), 4 * length
    if not tail.endswith(b"\n"):
        file.write(b"\n")
        tail += b"\n"
    return sha256(tail[:-1].rpartition(b"\n")[2]).hexdigest()
