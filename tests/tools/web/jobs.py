"""What a worker process does instead of its work: in a module of its own, which it imports at once."""

from __future__ import annotations

import os
import signal


def rest(*_: object) -> str:
    """Work until it is ended."""
    signal.pause()
    return ""


def die(_: object) -> None:
    """End, as by the system for its memory."""
    os._exit(1)
