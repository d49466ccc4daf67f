"""Queues on disk whose requests are found again, whether or not the crawl was closed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.core.scheduler import Scheduler
from scrapy.squeues import PickleFifoDiskQueue, PickleLifoDiskQueue
from scrapy.utils.spider import DefaultSpider

from scrapy_rep import InvalidSettingError, RecoverableFifoDiskQueue, RecoverableLifoDiskQueue, RepPriorityQueue
from scrapy_rep.crawl.pacing.disk_queue import Journal
from scrapy_rep.crawl.runtime.crawl import Crawl
from tests.support.in_process import crawler_at_rest

Kind = type[RecoverableLifoDiskQueue]

BOTH = pytest.mark.parametrize("kind", [RecoverableLifoDiskQueue, RecoverableFifoDiskQueue])
SIZES = [1, 30, 5_000, 70_000]  # octets


class Process:
    """The queues of a process that works in *folder*; its end is that of a kill."""

    def __init__(self, folder: Path) -> None:
        self.crawler = crawler_at_rest()
        self.journal = Journal(self.crawler, folder / "requests.journal")

    def kill(self) -> None:
        self.journal._file.close()

    def queue(self, kind: Kind) -> RecoverableLifoDiskQueue:
        return kind.from_crawler(self.crawler, "requests.queue/origin/0")


Start = Callable[[], Process]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a process, after a kill of the one before."""
    processes: list[Process] = []

    def next_process() -> Process:
        for process in processes:
            process.kill()
        processes.append(Process(tmp_path))
        return processes[-1]

    yield next_process
    for process in processes:
        process.kill()


def request(number: int) -> Request:
    return Request(f"https://example.com/{number}", body=b"x" * SIZES[number % len(SIZES)])


def number_of(found: Request) -> int:
    number = int(found.url.rpartition("/")[2])
    assert found.body == request(number).body
    return number


def numbers(queue: RecoverableLifoDiskQueue) -> list[int]:
    return [number_of(found) for found in iter(queue.pop, None)]


def left(start: Start) -> list[int]:
    """What the next process finds."""
    journal = start().journal
    return [number_of(journal.unpickle(record)) for record in journal.left()]


def filled(process: Process, kind: Kind) -> RecoverableLifoDiskQueue:
    """With the requests 0 to 4."""
    queue = process.queue(kind)
    for number in range(5):
        queue.push(request(number))
    return queue


@BOTH
def test_requests_come_in_the_order_of_the_queue(kind: Kind, start: Start) -> None:
    queue = filled(start(), kind)
    assert len(queue) == 5
    assert numbers(queue) == ([0, 1, 2, 3, 4] if kind is RecoverableFifoDiskQueue else [4, 3, 2, 1, 0])
    assert (len(queue), queue.pop()) == (0, None)


@BOTH
def test_a_queue_that_was_closed_to_open_another_is_as_it_was(kind: Kind, start: Start) -> None:
    process = start()
    filled(process, kind).close()
    assert len(process.queue(kind)) == 5


@BOTH
def test_after_a_kill_what_waited_is_there_and_what_was_in_flight_and_not_what_had_ended(
    kind: Kind, start: Start
) -> None:
    process = start()
    queue = filled(process, kind)
    in_flight, ended = queue.pop(), queue.pop()
    assert in_flight is not None
    assert ended is not None
    process.journal.end(ended)
    process.journal.end(request(7))  # of no queue
    assert left(start) == [number for number in range(5) if number != number_of(ended)]


@BOTH
def test_after_the_end_of_a_crawl_what_waited_is_there_and_nothing_else(kind: Kind, start: Start) -> None:
    process = start()
    queue = filled(process, kind)
    held = queue.pop()
    assert held is not None
    process.journal.close()
    assert left(start) == [number for number in range(5) if number != number_of(held)]


def test_a_crawl_that_leaves_nothing_leaves_no_file(start: Start, tmp_path: Path) -> None:
    process = start()
    queue = filled(process, RecoverableLifoDiskQueue)
    numbers(queue)
    queue.close()
    process.journal.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("octets", [1, 4, 20, 100])
def test_a_last_request_that_is_torn_is_dropped(octets: int, start: Start, tmp_path: Path) -> None:
    filled(start(), RecoverableLifoDiskQueue).push(request(5))
    file = tmp_path / "requests.journal"
    os.truncate(file, file.stat().st_size - octets)
    assert left(start) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("octets", range(12))
def test_an_end_that_is_torn_ended_nothing(octets: int, start: Start, tmp_path: Path) -> None:
    process = start()
    filled(process, RecoverableLifoDiskQueue)
    size = (tmp_path / "requests.journal").stat().st_size
    process.queue(RecoverableLifoDiskQueue).pop()
    process.journal.close()
    os.truncate(tmp_path / "requests.journal", size + octets)
    assert left(start) == [0, 1, 2, 3, 4]


def test_a_process_that_is_killed_while_it_reads_what_was_left_loses_nothing(start: Start) -> None:
    filled(start(), RecoverableLifoDiskQueue)
    second = start()
    records = second.journal.left()
    for _ in range(2):
        second.queue(RecoverableLifoDiskQueue).push(second.journal.unpickle(next(records)))
    assert left(start) == [0, 1, 2, 3, 4]
    assert left(start) == []  # which were read to the end, and not stored again here


def queue_in(folder: Path, left: object = (), kind: Any = RecoverableLifoDiskQueue) -> RepPriorityQueue:
    """The queue of a crawl with the ``JOBDIR`` *folder*, of which the crawl before has noted what is *left*."""
    is_ours = kind is RecoverableLifoDiskQueue
    start: Any = RecoverableFifoDiskQueue if is_ours else PickleFifoDiskQueue
    crawler = crawler_at_rest({"JOBDIR": str(folder)})
    return RepPriorityQueue.from_crawler(
        crawler, kind, str(folder / "requests.queue"), left, start_queue_cls=start
    )


NOTED = [["example.com", "https://example.com", [0]]]


def filled_job(folder: Path) -> None:
    queue = queue_in(folder)
    for number in range(3):
        queue.push(request(number))
    queue.close()


def found_in(folder: Path, left: object) -> list[int]:
    queue = queue_in(folder, left)
    journal = Crawl.of(queue._crawler).find(Journal)
    assert journal is not None
    found = [number_of(journal.hand_out(begin)) for begins in journal.waiting.values() for begin in begins]
    queue.close()
    return sorted(found)


class Killed(BaseException):
    """Stands for ``kill -9``: nothing of ours runs behind it."""


@pytest.mark.parametrize("left", [NOTED, []], ids=["noted", "killed"])
@pytest.mark.parametrize("error", [Killed(), OSError(24, "Too many open files"), OSError(28, "No space left")])
@pytest.mark.parametrize("at", ["pathlib.Path.replace", "pathlib.Path.open", "mmap", "pathlib.Path.unlink"])
def test_a_job_goes_on_after_starts_that_ended_at_any_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, at: str, error: BaseException, left: object
) -> None:
    filled_job(tmp_path)

    def fail(*_: object, **__: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(f"scrapy_rep.crawl.pacing.disk_queue.{at}" if at == "mmap" else at, fail)
        for _ in range(2):
            with pytest.raises(type(error)):
                queue_in(tmp_path, left)
    assert found_in(tmp_path, left) == [0, 1, 2]
    assert found_in(tmp_path, []) == []


@pytest.mark.parametrize("octets", range(4))
def test_a_journal_whose_first_octets_are_torn_is_empty(octets: int, tmp_path: Path) -> None:
    (tmp_path / "requests.journal").write_bytes(b"REP1"[:octets])
    assert found_in(tmp_path, []) == []


@pytest.mark.parametrize("name", ["requests.journal", "requests.before"])
def test_a_job_with_a_journal_is_refused_without_recoverable_queues(name: str, tmp_path: Path) -> None:
    filled_job(tmp_path)
    (tmp_path / "requests.journal").rename(tmp_path / name)
    for left in (NOTED, []):
        with pytest.raises(ValueError, match="stored by another SCHEDULER_DISK_QUEUE"):
            queue_in(tmp_path, left, PickleLifoDiskQueue)
    assert found_in(tmp_path, NOTED) == [0, 1, 2]


def test_a_job_without_a_journal_is_refused_with_recoverable_queues(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="stored by another SCHEDULER_DISK_QUEUE"):
        queue_in(tmp_path, NOTED)


@BOTH
def test_a_request_that_cannot_be_stored_or_read_changes_nothing_else(
    kind: Kind, monkeypatch: pytest.MonkeyPatch, start: Start
) -> None:
    process = start()
    queue = filled(process, kind)
    with pytest.raises(ValueError, match="lambda"):
        queue.push(request(8).replace(callback=lambda _: None))
    assert len(queue) == 5
    with monkeypatch.context() as patch:
        patch.setattr("scrapy_rep.crawl.pacing.disk_queue.request_from_dict", lambda *_, **__: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            queue.pop()
    assert len(numbers(queue)) == 4


def test_a_full_disk_stores_no_half_of_a_request(monkeypatch: pytest.MonkeyPatch, start: Start) -> None:
    process = start()
    queue, write = filled(process, RecoverableLifoDiskQueue), os.pwrite
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", lambda file, octets, at: write(file, octets[:5], at))
        with pytest.raises(OSError, match="No space left"):
            queue.push(request(6))
        queue.pop()
        process.journal.close()
    assert left(start) == [0, 1, 2, 3, 4]


def test_a_queue_that_cannot_find_its_requests_again_is_refused_beside_it(tmp_path: Path) -> None:
    crawler, kind = crawler_at_rest({"JOBDIR": str(tmp_path)}), RecoverableLifoDiskQueue
    with pytest.raises(InvalidSettingError, match="SCHEDULER_START_DISK_QUEUE = "):
        RepPriorityQueue.from_crawler(crawler, kind, str(tmp_path), start_queue_cls=PickleFifoDiskQueue)


@pytest.mark.parametrize("kind", ["DownloaderAwarePriorityQueue", "ScrapyPriorityQueue"])
def test_another_priority_queue_is_an_error_and_no_reason_to_keep_requests_in_memory(
    kind: str, tmp_path: Path
) -> None:
    settings = {
        "JOBDIR": str(tmp_path),
        "SCHEDULER_DISK_QUEUE": RecoverableLifoDiskQueue,
        "SCHEDULER_PRIORITY_QUEUE": f"scrapy.pqueues.{kind}",
    }
    scheduler = Scheduler.from_crawler(crawler_at_rest(settings))
    scheduler.open(DefaultSpider())
    with pytest.raises(RuntimeError, match="need SCHEDULER_PRIORITY_QUEUE = "):
        scheduler.enqueue_request(request(0))
    scheduler.close("finished")
