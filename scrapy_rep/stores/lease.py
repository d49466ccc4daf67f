"""Who holds a lease, told so that what was left behind by an earlier life of a machine or process is dead at once.

In a container the process number is always the same, so a holder is named by the machine and when that was
started, the process and when that was started, and a number of its own. Where the system does not tell of
those times the rest has to do.
"""

from __future__ import annotations

import os
from pathlib import Path
from platform import node
from typing import Final, NamedTuple
from uuid import uuid4

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
_living: set[str] = set()  # the numbers of the holders in this process


class LeaseHolder(NamedTuple):
    """One crawl of one process; ``boot`` and ``start`` are empty where they cannot be known."""

    host: str
    boot: str
    pid: int
    start: str
    uuid: str

    @classmethod
    def new(cls) -> LeaseHolder:
        """A holder in this process, alive until `retire`."""
        holder = cls(node().replace("/", "-"), _boot(), os.getpid(), _start_of(os.getpid()) or "", uuid4().hex)
        _living.add(holder.uuid)
        return holder

    def retire(self) -> None:
        """Count what this still holds as left behind."""
        _living.discard(self.uuid)

    def __str__(self) -> str:
        return "/".join(map(str, self))


def has_died(text: str) -> bool:
    """Whether the holder that *text* names is certainly no more; of other machines nobody can say."""
    try:
        host, boot, pid, start, uuid = text.split("/")
        other = LeaseHolder(host, boot, int(pid), start, uuid)
    except ValueError:
        return False
    if other.host != node().replace("/", "-"):
        return False
    if other.boot != _boot():
        return bool(other.boot and _boot())
    if other.pid == os.getpid() and other.start == (_start_of(other.pid) or ""):
        return other.uuid not in _living
    return _has_ended(other)


def _has_ended(other: LeaseHolder) -> bool:
    """Whether a process of this machine, not this one, has ended."""
    start = _start_of(other.pid)
    if start is not None:
        return start != other.start
    if os.name != "posix":  # elsewhere this would end it
        return False
    try:
        os.kill(other.pid, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        pass  # it lives, and is somebody else's
    return False


def _boot() -> str:
    """Tells this life of the machine from others, on Linux."""
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""


def _start_of(pid: int) -> str | None:
    """When process *pid* started, in ticks since the machine did; "dead" for one that nobody has waited for.

    None where there is none, or where it cannot be seen.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    state, *rest = stat.rpartition(")")[2].split()  # the name before it may hold anything
    return "dead" if state in {"Z", "X"} else rest[18]
