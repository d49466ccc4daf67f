"""The name of a lease holder, which shows others on the same machine whether the holder has died.

A process number is not enough: it is reused after a restart, and in a container it is always the same. So the name
consists of the machine and its boot, the process and its start, and a random number. Where the system does not
show when the machine or the process started, the rest of the name has to do.
"""

from __future__ import annotations

import os
from pathlib import Path
from platform import node
from typing import Final, NamedTuple
from uuid import uuid4

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
_living: set[str] = set()  # uuids of the holders in this process


class LeaseHolder(NamedTuple):
    """One crawl in one process; ``boot`` and ``start`` are empty where the system does not show them."""

    host: str
    boot: str
    pid: int
    start: str
    uuid: str

    @classmethod
    def new(cls) -> LeaseHolder:
        """Return a holder in this process, which lives until `retire`."""
        holder = cls(node().replace("/", "-"), _boot_id(), os.getpid(), _start_of(os.getpid()) or "", uuid4().hex)
        _living.add(holder.uuid)
        return holder

    def retire(self) -> None:
        """Declare this holder dead, with whatever leases it still has."""
        _living.discard(self.uuid)

    def __str__(self) -> str:
        return "/".join(map(str, self))


def has_died(text: str) -> bool:
    """Whether the holder that *text* names is certainly dead; never True for one on another machine."""
    try:
        host, boot, pid, start, uuid = text.split("/")
        other = LeaseHolder(host, boot, int(pid), start, uuid)
    except ValueError:
        return False
    if other.host != node().replace("/", "-"):
        return False
    if other.boot != _boot_id():
        return bool(other.boot and _boot_id())
    if other.pid == os.getpid() and other.start == (_start_of(other.pid) or ""):
        return other.uuid not in _living
    return _has_ended(other)


def _has_ended(other: LeaseHolder) -> bool:
    """Whether another process of this machine has ended."""
    start = _start_of(other.pid)
    if start is not None:
        return start != other.start
    if os.name != "posix":  # on Windows, os.kill() would end the process
        return False
    try:
        os.kill(other.pid, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        pass  # it runs as another user
    return False


def _boot_id() -> str:
    """Return a random text that Linux draws at each boot, or an empty one elsewhere."""
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""


def _start_of(pid: int) -> str | None:
    """Return when process *pid* started, in clock ticks since the boot, or "dead" for a zombie.

    None if there is no such process, or no ``/proc``.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    state, *rest = stat.rpartition(")")[2].split()  # the process name before it may contain anything
    return "dead" if state in {"Z", "X"} else rest[18]
