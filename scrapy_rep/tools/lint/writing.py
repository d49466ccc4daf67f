"""Writes a fixed file in one step, so that whoever reads it, or a crash, finds the old one or the new one."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp


def replace_file(name: str, given: bytes, body: bytes) -> None:
    """Write *body* to the file *name*, which holds *given*; a link stays, and so do the permissions.

    Raises ``OSError``, also when the file holds something else by now.
    """
    path = Path(name).resolve()
    descriptor, temporary = mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(path, temporary)
        if path.read_bytes() != given:
            raise OSError("was changed while it was linted, so nothing was written")
        Path(temporary).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise
