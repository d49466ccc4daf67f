"""Writes a fixed file, where it can in one step: a reader, or a crash, finds the old one or the new one."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp
from typing import Final

from scrapy_rep.tools.files import read_file

_WRITABLE: Final = 0o222


def replace_file(name: str, given: bytes, body: bytes) -> None:
    """Write *body* to the file *name*, which holds *given*: in place where that alone keeps names and owner.

    Raises ``OSError``, also when the file is read-only, or holds something else by now.
    """
    path = Path(name).resolve()
    status = path.stat()
    if not (
        status.st_mode & _WRITABLE and os.access(path, os.W_OK)
    ):  # to root no file is read-only but by its mode
        raise OSError("is read-only, so nothing was written")
    descriptor, temporary = mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
            new = os.fstat(file.fileno())
        shutil.copymode(path, temporary)
        if read_file(path) != given:
            raise OSError("was changed while it was linted, so nothing was written")
        if status.st_nlink == 1 and (new.st_uid, new.st_gid) == (status.st_uid, status.st_gid):
            Path(temporary).replace(path)
        else:
            path.write_bytes(body)
    finally:
        with suppress(OSError):
            Path(temporary).unlink()
