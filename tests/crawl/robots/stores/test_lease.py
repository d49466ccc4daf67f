"""A lease holder counts as dead only if it certainly is."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scrapy_rep.robots.stores.lease import LeaseHolder, has_died

HAS_PROC = Path("/proc/self/stat").exists()
needs_proc = pytest.mark.skipif(not HAS_PROC, reason="the system does not tell when a process has started")


@pytest.fixture(params=[pytest.param("known", marks=needs_proc), "unknown"])
def _system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that shows when it and its processes were started, and one that does not."""
    if request.param == "unknown":
        monkeypatch.setattr("scrapy_rep.robots.stores.lease._boot_id", lambda: "")
        monkeypatch.setattr("scrapy_rep.robots.stores.lease._start_of", lambda _: None)


@pytest.fixture
def other() -> Iterator[LeaseHolder]:
    """A holder in another process, which is running."""
    code = "from scrapy_rep.robots.stores.lease import LeaseHolder; print(LeaseHolder.new(), flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        host, boot, pid, start, uuid = process.stdout.readline().strip().split("/")
        yield LeaseHolder(host, boot, int(pid), start, uuid)
        process.stdin.close()


@pytest.mark.usefixtures("_system")
def test_a_holder_in_this_process_lives_until_it_retires() -> None:
    holder = LeaseHolder.new()
    assert not has_died(str(holder))
    holder.retire()
    assert has_died(str(holder))


@pytest.mark.usefixtures("_system")
def test_a_holder_in_an_earlier_process_with_our_number_has_died() -> None:
    assert has_died(str(LeaseHolder.new()._replace(uuid="of an earlier life")))


@needs_proc
def test_a_holder_from_before_the_last_boot_has_died() -> None:
    assert has_died(str(LeaseHolder.new()._replace(boot="before", uuid="x")))


@needs_proc
def test_a_holder_whose_process_number_was_reused_has_died(other: LeaseHolder) -> None:
    assert not has_died(str(other))
    assert has_died(str(other._replace(start="1")))


def test_a_holder_in_another_process_lives_as_long_as_the_process(other: LeaseHolder) -> None:
    assert not has_died(str(other))


@pytest.mark.skipif(os.name != "posix", reason="only there one can ask")
def test_a_holder_whose_process_has_ended_has_died_even_if_its_start_is_unknown() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for start in ("1", ""):
        assert has_died(str(LeaseHolder.new()._replace(pid=ended.pid, start=start)))


@needs_proc
def test_a_holder_in_a_zombie_process_has_died() -> None:
    with subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE) as ended:
        assert ended.stdout
        ended.stdout.read()
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        assert has_died(str(LeaseHolder.new()._replace(pid=ended.pid)))


@pytest.mark.parametrize("text", ["", "4711@host-uuid", "a/b/c/d/e", "a/b/1/d/e/f"])
def test_a_holder_with_an_unreadable_name_counts_as_living(text: str) -> None:
    assert not has_died(text)


def test_a_holder_on_another_machine_counts_as_living() -> None:
    assert not has_died(str(LeaseHolder.new()._replace(host="elsewhere", boot="x", pid=1)))
