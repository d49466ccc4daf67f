"""Whether who holds a lease is alive, as far as anybody can tell."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scrapy_rep.stores.lease import LeaseHolder, has_died

HAS_PROC = Path("/proc/self/stat").exists()
needs_proc = pytest.mark.skipif(not HAS_PROC, reason="the system does not tell when a process has started")


@pytest.fixture(params=[pytest.param("known", marks=needs_proc), "unknown"])
def _system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that tells when it and its processes were started, and one that does not."""
    if request.param == "unknown":
        monkeypatch.setattr("scrapy_rep.stores.lease._boot_id", lambda: "")
        monkeypatch.setattr("scrapy_rep.stores.lease._start_of", lambda _: None)


@pytest.fixture
def other() -> Iterator[LeaseHolder]:
    """In another process, which is alive."""
    code = "from scrapy_rep.stores.lease import LeaseHolder; print(LeaseHolder.new(), flush=True); input()"
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
def test_one_of_an_earlier_process_of_our_number_has_died() -> None:
    assert has_died(str(LeaseHolder.new()._replace(uuid="of an earlier life")))


@needs_proc
def test_one_of_an_earlier_life_of_the_machine_has_died() -> None:
    assert has_died(str(LeaseHolder.new()._replace(boot="before", uuid="x")))


@needs_proc
def test_one_whose_process_number_another_process_has_now_has_died(other: LeaseHolder) -> None:
    assert not has_died(str(other))
    assert has_died(str(other._replace(start="1")))


def test_one_in_another_process_lives_while_that_does(other: LeaseHolder) -> None:
    assert not has_died(str(other))


@pytest.mark.skipif(os.name != "posix", reason="only there one can ask")
def test_one_whose_process_has_ended_has_died_also_where_its_start_is_not_known() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for start in ("1", ""):
        assert has_died(str(LeaseHolder.new()._replace(pid=ended.pid, start=start)))


@needs_proc
def test_one_that_has_ended_while_nobody_waited_for_it_has_died() -> None:
    with subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE) as ended:
        assert ended.stdout
        ended.stdout.read()
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        assert has_died(str(LeaseHolder.new()._replace(pid=ended.pid)))


@pytest.mark.parametrize("text", ["", "4711@host-uuid", "a/b/c/d/e", "a/b/1/d/e/f"])
def test_of_a_holder_that_cannot_be_read_nobody_knows(text: str) -> None:
    assert not has_died(text)


def test_of_another_machine_nobody_knows() -> None:
    assert not has_died(str(LeaseHolder.new()._replace(host="elsewhere", boot="x", pid=1)))
