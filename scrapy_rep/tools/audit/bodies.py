"""The folder of robots.txt bodies: whether each that a log names is there, and is what it was."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from typing import Final

_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_MOST_KNOWN: Final = 200_000
_CHUNK: Final = 1_048_576  # octets


class Bodies:
    """Checks bodies, each once; ``checked`` is the number of those that are there and unchanged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.checked = 0
        self._known: set[bytes] = set()

    def check(self, digest: str) -> str:
        """What is wrong with the body whose SHA-256 is *digest*; empty if nothing is, or *digest* is empty."""
        if not digest:
            return ""
        if not _SHA256.fullmatch(digest):
            return f"{digest} is not a SHA-256: the line was changed"
        key = bytes.fromhex(digest)
        if key in self._known:
            return ""
        if len(self._known) < _MOST_KNOWN:
            self._known.add(key)
        problem = self._problem(digest)
        self.checked += not problem
        return problem

    def _problem(self, digest: str) -> str:
        path = self.folder / f"{digest}.txt"
        try:
            if not path.is_file():
                return f"the robots.txt {path} is missing"
            found = _hash_of(path)
        except OSError as error:
            return f"the robots.txt {path} cannot be read: {error.strerror}"
        return "" if found == digest else f"the robots.txt {path} was changed: its SHA-256 is {found}"


def _hash_of(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
