"""Queues on disk that find their requests again, whether or not they were closed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.squeues import PickleFifoDiskQueue, PickleLifoDiskQueue

from scrapy_rep import RecoverableFifoDiskQueue, RecoverableLifoDiskQueue
from scrapy_rep.pacing import in_flight
from scrapy_rep.pacing.disk_queue import RecoverableDiskQueue, put_back
from scrapy_rep.pacing.in_flight import left_in_flight
from tests.support.in_process import crawler_at_rest

BOTH = pytest.mark.parametrize("kind", [RecoverableLifoDiskQueue, RecoverableFifoDiskQueue])
SIZES = [1, 30, 5_000, 70_000]  # octets, within what is read at once and beyond


def opened(kind: type[RecoverableDiskQueue], folder: Path, crawler: Any = None) -> RecoverableDiskQueue:
    """As the next process would open it."""
    return kind.from_crawler(crawler or crawler_at_rest(), str(folder / "origin" / "0"))


def request(number: int) -> Request:
    return Request(f"https://example.com/{number}", body=b"x" * SIZES[number % len(SIZES)])


def numbers(queue: RecoverableDiskQueue) -> list[int]:
    popped = []
    while (found := queue.pop()) is not None:
        number = int(found.url.rpartition("/")[2])
        assert found.body == request(number).body
        popped.append(number)
    return popped


def filled(kind: type[RecoverableDiskQueue], folder: Path) -> RecoverableDiskQueue:
    """With requests 0 to 4, after others that have gone."""
    queue = opened(kind, folder)
    for number in (7, 5, 6, 3):
        queue.push(request(number))
    numbers(queue)
    for number in range(5):
        queue.push(request(number))
    return queue


def in_order(kind: type[RecoverableDiskQueue]) -> list[int]:
    return [0, 1, 2, 3, 4] if kind is RecoverableFifoDiskQueue else [4, 3, 2, 1, 0]


@BOTH
def test_requests_come_in_the_order_of_the_queue(kind: type[RecoverableDiskQueue], tmp_path: Path) -> None:
    queue = filled(kind, tmp_path)
    first = queue.peek()
    assert first is not None
    assert first.url.endswith(f"/{in_order(kind)[0]}")
    assert len(queue) == 5
    assert numbers(queue) == in_order(kind)
    assert (len(queue), queue.peek()) == (0, None)


@BOTH
@pytest.mark.parametrize("is_closed", [True, False])
@pytest.mark.parametrize("popped", [0, 2, 5])
def test_what_waited_is_found_again_and_what_was_popped_is_not(
    kind: type[RecoverableDiskQueue], is_closed: bool, popped: int, tmp_path: Path
) -> None:
    queue = filled(kind, tmp_path)
    for _ in range(popped):
        queue.pop()
    if is_closed:
        queue.close()
    again = opened(kind, tmp_path)
    assert len(again) == 5 - popped
    assert numbers(again) == in_order(kind)[popped:]


@BOTH
def test_what_is_pushed_after_a_pop_ends_where_the_file_ends(
    kind: type[RecoverableDiskQueue], tmp_path: Path
) -> None:
    queue = filled(kind, tmp_path)
    assert kind is RecoverableFifoDiskQueue or [queue.pop() for _ in range(3)]
    queue.push(request(8))
    left = numbers(opened(kind, tmp_path))
    assert left == ([0, 1, 2, 3, 4, 8] if kind is RecoverableFifoDiskQueue else [8, 1, 0])


@BOTH
@pytest.mark.parametrize("octets", [1, 4, 20, 100])
def test_a_last_request_that_is_torn_is_dropped(
    kind: type[RecoverableDiskQueue], octets: int, tmp_path: Path
) -> None:
    queue = filled(kind, tmp_path)
    os.truncate(tmp_path / "origin" / "0", queue._end - octets)
    again = opened(kind, tmp_path)
    assert len(again) == 4
    again.push(request(9))
    assert sorted(numbers(again)) == [0, 1, 2, 3, 9]


@BOTH
def test_a_request_that_is_torn_amid_others_that_have_gone_is_dropped(
    kind: type[RecoverableDiskQueue], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue, write = filled(kind, tmp_path), os.pwrite
    if kind is RecoverableLifoDiskQueue:
        assert [queue.pop() for _ in range(3)]
    left = len(queue)
    monkeypatch.setattr(os, "pwrite", lambda file, octets, at: write(file, octets[:50], at) + len(octets) - 50)
    queue.push(request(9))
    monkeypatch.undo()
    assert len(opened(kind, tmp_path)) == left


@BOTH
def test_a_queue_that_is_empty_removes_its_file(kind: type[RecoverableDiskQueue], tmp_path: Path) -> None:
    queue = filled(kind, tmp_path)
    numbers(queue)
    queue.close()
    assert list((tmp_path / "origin").iterdir()) == []
    (tmp_path / "origin" / "0").touch()  # of a process that was killed before it wrote anything
    assert len(opened(kind, tmp_path)) == 0


def test_a_first_in_first_out_file_shrinks_when_it_is_empty(tmp_path: Path) -> None:
    queue = opened(RecoverableFifoDiskQueue, tmp_path)
    for _ in range(2):
        for number in range(60):
            queue.push(request(number))
        assert len(numbers(queue)) == 60
    assert (tmp_path / "origin" / "0").stat().st_size < 100
    queue.push(request(1))
    assert numbers(opened(RecoverableFifoDiskQueue, tmp_path)) == [1]


@BOTH
@pytest.mark.parametrize("scrapys", [PickleLifoDiskQueue, PickleFifoDiskQueue])
def test_what_scrapys_own_queue_stored_is_refused(
    kind: type[RecoverableDiskQueue], scrapys: Any, tmp_path: Path
) -> None:
    theirs = scrapys.from_crawler(crawler_at_rest(), str(tmp_path / "origin" / "0"))
    theirs.push(request(0))
    theirs.close()
    before = len(os.listdir("/dev/fd"))
    with pytest.raises(ValueError, match=rf"origin/0 was stored by a queue other than {kind.__name__}: set the"):
        opened(kind, tmp_path)
    assert len(os.listdir("/dev/fd")) == before


@BOTH
def test_a_request_that_cannot_be_stored_or_read_changes_nothing_else(
    kind: type[RecoverableDiskQueue], tmp_path: Path
) -> None:
    queue = filled(kind, tmp_path)
    with pytest.raises(ValueError, match="lambda"):
        queue.push(request(8).replace(callback=lambda _: None))
    assert len(queue) == 5
    queue.append(b"nothing that was pickled")
    popped = []
    while queue:
        try:
            popped.append(queue.pop())
        except Exception:  # noqa: BLE001, PERF203
            popped.append(None)
    assert popped.count(None) == 1
    assert len(popped) == 6


@BOTH
def test_a_full_disk_stores_no_half_of_a_request(
    kind: type[RecoverableDiskQueue], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue, write = filled(kind, tmp_path), os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda file, octets, at: write(file, octets[:50], at))
    with pytest.raises(OSError, match="No space left"):
        queue.push(request(6))
    monkeypatch.undo()
    assert numbers(opened(kind, tmp_path)) == in_order(kind)


@BOTH
@pytest.mark.parametrize("is_handled", [True, False])
def test_what_was_in_flight_is_put_back_and_what_was_handled_or_dropped_is_not(
    kind: type[RecoverableDiskQueue], *, is_handled: bool, tmp_path: Path
) -> None:
    queue = filled(kind, tmp_path)
    first, second = in_order(kind)[:2]
    held: list[Any] = [queue.pop(), queue.pop()]
    assert [name for name, _ in left_in_flight(tmp_path)] == ["origin/0"] * 2
    if is_handled:
        queue._in_flight.end(held[0])
    else:
        del held[0]
    next_crawler = crawler_at_rest()
    put_back(next_crawler, tmp_path)
    left = numbers(opened(kind, tmp_path, next_crawler))
    assert sorted(left) == sorted({*range(5)} - {first})
    assert left[0 if kind is RecoverableLifoDiskQueue else -1] == second
    assert held


def test_the_file_of_what_is_in_flight_is_written_anew_when_it_is_large_or_torn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_flight, "_ROOM", 10_000)
    queue = opened(RecoverableLifoDiskQueue, tmp_path)
    largest, write = 0, os.write
    for number in range(400):
        queue.push(request(4 * number))
        held = queue.pop()
        largest = max(largest, (tmp_path / "in-flight").stat().st_size)
    assert largest < 12_000
    monkeypatch.setattr(os, "write", lambda file, octets: write(file, octets[:5]))
    queue.push(request(4))
    torn = queue.pop()
    monkeypatch.undo()
    queue.push(request(8))
    last = queue.pop()
    assert [held, torn, last]
    assert len(list(left_in_flight(tmp_path))) == 3
