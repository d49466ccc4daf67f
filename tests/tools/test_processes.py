"""Work for several processes: in order, no faster than it is worked off, and never silent about a death."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from time import sleep

import pytest

from scrapy_rep.tools.processes import in_processes, map_in_processes


def square(number: int) -> int:
    if number < 0:
        raise ValueError(f"{number} is negative")
    return number * number


def die(_: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def process_of(_: int) -> int:
    sleep(0.01)
    return os.getpid()


class Counting:
    """What counts its own calls."""

    calls = 0

    def __call__(self, _: int) -> tuple[int, int]:
        self.calls += 1
        return os.getpid(), self.calls


def test_results_come_in_the_order_of_the_items() -> None:
    found = [*map_in_processes(square, range(200), worth_it=2, processes=2)]
    assert found == [number * number for number in range(200)]


@pytest.mark.parametrize(("items", "processes"), [(3, 2), (10, 1)])
def test_little_work_and_one_core_need_no_other_process(items: int, processes: int) -> None:
    found = [*map_in_processes(Counting(), range(items), worth_it=4, processes=processes)]
    assert found == [(os.getpid(), number) for number in range(1, items + 1)]


def test_a_process_keeps_its_state_for_all_its_items() -> None:
    found = [*map_in_processes(Counting(), range(100), worth_it=2, processes=2, batch=5)]
    assert os.getpid() not in dict(found)
    assert sum(dict(found).values()) == 100


def test_items_are_read_only_as_fast_as_they_are_worked_off() -> None:
    read = 0

    def items() -> Iterator[int]:
        nonlocal read
        while True:
            read += 1
            yield read

    results = map_in_processes(square, items(), worth_it=2, processes=2, batch=1)
    assert [next(results) for _ in range(50)][-1] == 2_500
    assert read < 70
    results.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("processes", [1, 2])
def test_what_a_function_raises_reaches_the_caller(processes: int) -> None:
    with pytest.raises(ValueError, match="-1 is negative"):
        [*map_in_processes(square, range(50, -50, -1), worth_it=2, processes=processes)]


def test_a_process_that_is_killed_ends_the_work_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ChildProcessError, match="was killed, or ran out of memory"):
        [*map_in_processes(die, range(100), worth_it=2, processes=2)]


def test_all_cores_are_used_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scrapy_rep.tools.processes.cores", lambda: 1)
    assert [*map_in_processes(lambda number: number + 1, range(5), worth_it=2)] == [1, 2, 3, 4, 5]


INTERRUPTED = """
import os, signal
from threading import Event, Thread
from scrapy_rep.tools.processes import map_in_processes

def press():
    while not is_done.wait(0.001):
        os.killpg(0, signal.SIGINT)

signal.signal(signal.SIGINT, lambda *_: None)
is_done = Event()
presses = Thread(target=press)
presses.start()
print(*map_in_processes(abs, [-1, -2], worth_it=2, processes=2))
is_done.set()
presses.join()
"""


def test_ctrl_c_at_a_terminal_while_a_process_starts_is_not_for_that_one() -> None:
    called = [sys.executable, "-c", INTERRUPTED]
    done = subprocess.run(called, capture_output=True, text=True, timeout=60, check=False, start_new_session=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 2\n", "")


def test_the_same_processes_work_off_several_series() -> None:
    with in_processes(process_of, worth_it=2, processes=2, batch=1) as run:
        series = [{*run(range(20))} for _ in range(3)]
    assert len(set[int]().union(*series)) <= 2
    assert os.getpid() not in series[0]


def test_few_items_start_no_process() -> None:
    with in_processes(process_of, worth_it=5, processes=2) as run:
        assert [*run(range(4))] == [os.getpid()] * 4
