"""A small disk in memory that can be filled: a tmpfs in a user namespace of its own, which needs no root."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from pathlib import Path

from typing_extensions import Self

_MOUNT = 'mount -t tmpfs -o size="$2" none "$1" && echo mounted && exec sleep infinity'


class SmallDiskError(Exception):
    """The system allows no user namespaces."""


class SmallDisk:
    """A context manager: processes started with `prefix` find a disk of *size* octets at *folder*."""

    def __init__(self, folder: Path, size: int) -> None:
        """Raises `SmallDiskError`."""
        command = ["unshare", "-rm", "sh", "-c", _MOUNT, "sh", str(folder), str(size)]
        try:
            self._holder = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # noqa: S603
        except OSError as error:
            raise SmallDiskError("no unshare: install util-linux") from error
        if self._holder.stdout is None or self._holder.stdout.readline() != "mounted\n":
            self._holder.kill()
            self._holder.wait()
            raise SmallDiskError("unshare may not create user namespaces here")
        self._folder = folder

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._holder.kill()
        self._holder.communicate()

    @property
    def prefix(self) -> list[str]:
        """What comes before a command that is to see the disk."""
        return ["nsenter", "-t", str(self._holder.pid), "-U", "-m", "--preserve-credentials", f"--wd={Path.cwd()}"]

    @property
    def seen_from_here(self) -> Path:
        return Path(f"/proc/{self._holder.pid}/root{self._folder.resolve()}")

    def fill(self) -> None:
        """Leave no octet free."""
        with (self.seen_from_here / "filler").open("wb", buffering=0) as filler:
            for size in (1 << 16, 1 << 8, 1):
                with suppress(OSError):
                    while filler.write(bytes(size)):
                        pass

    def free(self) -> None:
        (self.seen_from_here / "filler").unlink()
