"""Queues on disk whose requests are found again, whether or not the crawl was closed."""

from __future__ import annotations

import os
import pkgutil
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.core.scheduler import Scheduler
from scrapy.crawler import Crawler
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
    return found(start().journal)


def found(journal: Journal) -> list[int]:
    """Of the requests that wait."""
    return [number_of(journal.hand_out(begin)) for begins in journal.waiting.values() for begin in begins]


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


def test_a_torn_request_leaves_nothing_behind_those_that_follow(start: Start, tmp_path: Path) -> None:
    filled(start(), RecoverableLifoDiskQueue).push(
        Request("https://example.com/torn", body=b"\0\0\0\x0c" * 2_500)
    )  # looks like records
    file = tmp_path / "requests.journal"
    os.truncate(file, file.stat().st_size - 1)
    start().queue(RecoverableLifoDiskQueue).push(request(0))
    assert left(start) == [0, 1, 2, 3, 4, 0]
    start().queue(RecoverableLifoDiskQueue).push(request(1))
    assert left(start) == [0, 1, 2, 3, 4, 0, 1]


@pytest.mark.parametrize("octets", range(12))
def test_an_end_that_is_torn_ended_nothing(octets: int, start: Start, tmp_path: Path) -> None:
    process = start()
    filled(process, RecoverableLifoDiskQueue)
    size = (tmp_path / "requests.journal").stat().st_size
    process.queue(RecoverableLifoDiskQueue).pop()
    process.journal.close()
    os.truncate(tmp_path / "requests.journal", size + octets)
    assert left(start) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("ended", [0, 6])
def test_a_start_that_is_killed_loses_nothing(ended: int, start: Start, tmp_path: Path) -> None:
    process = start()
    end_some(process.journal, ended)
    filled(process, RecoverableLifoDiskQueue)
    for _ in range(3):
        assert left(start) == [0, 1, 2, 3, 4]


def end_some(journal: Journal, many: int) -> None:
    for _ in range(many):
        journal.end(journal.hand_out(journal.add(b"", request(2))))


def test_a_journal_is_written_anew_once_more_has_ended_than_waits(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "requests.journal"
    process = start()
    filled(process, RecoverableLifoDiskQueue)
    sizes = [file.stat().st_size]
    for ended in (5, 1):
        end_some(process.journal, ended)
        grown = file.stat().st_size
        process = start()
        sizes += [grown, file.stat().st_size]
    small, grown, kept, larger, copied = sizes
    assert small < grown == kept < larger
    assert copied == small
    assert left(start) == [0, 1, 2, 3, 4]


def queue_in(
    folder: Path, left: object = (), kind: Any = RecoverableLifoDiskQueue, *, has_start_queue: bool = True
) -> RepPriorityQueue:
    """The queue of a crawl with the ``JOBDIR`` *folder*, of which the crawl before has noted what is *left*."""
    is_ours = kind is RecoverableLifoDiskQueue
    start: Any = RecoverableFifoDiskQueue if is_ours else PickleFifoDiskQueue
    start = start if has_start_queue else None
    crawler = crawler_at_rest({"JOBDIR": str(folder), "ROBOTSTXT_OBEY": False})
    try:
        return RepPriorityQueue.from_crawler(
            crawler, kind, str(folder / "requests.queue"), left, start_queue_cls=start
        )
    except BaseException:
        kill(crawler)
        raise


def kill(crawler: Crawler) -> None:
    """Close the file as the end of the process does."""
    file = getattr(Crawl.of(crawler).find(Journal), "_file", None)
    if file is not None:
        file.close()


NOTED = [["example.com", "https://example.com", [0]]]


def journal_of(queue: RepPriorityQueue) -> Journal:
    journal = Crawl.of(queue._crawler).find(Journal)
    assert journal is not None
    return journal


def filled_job(folder: Path, *, ended: int = 0) -> None:
    queue = queue_in(folder)
    for number in range(3):
        queue.push(request(number))
    end_some(journal_of(queue), ended)
    queue.close()


def found_in(folder: Path, left: object) -> list[int]:
    queue = queue_in(folder, left)
    numbers = found(journal_of(queue))
    queue.close()
    return sorted(numbers)


class Killed(BaseException):
    """Stands for ``kill -9``: nothing of ours runs behind it."""


@pytest.mark.parametrize("left", [NOTED, []], ids=["noted", "killed"])
@pytest.mark.parametrize("error", [Killed(), OSError(24, "Too many open files"), OSError(28, "No space left")])
@pytest.mark.parametrize(
    ("at", "calls", "ended"),
    [
        ("pathlib.Path.open", 0, 0),  # of the file, to read
        ("pathlib.Path.open", 1, 0),  # to go on with it
        ("pathlib.Path.open", 1, 4),  # of the new one
        ("pathlib.Path.open", 2, 4),
        ("scrapy_rep.crawl.pacing.disk_queue.mmap", 0, 0),
        ("pathlib.Path.replace", 0, 4),
        ("pathlib.Path.unlink", 0, 0),
        ("pathlib.Path.unlink", 0, 4),
    ],
)
def test_a_job_goes_on_after_starts_that_ended_at_any_step(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    at: str,
    calls: int,
    ended: int,
    error: BaseException,
    left: object,
) -> None:
    filled_job(tmp_path, ended=ended)
    module, _, name = at.rpartition(".")
    original = getattr(pkgutil.resolve_name(module), name)
    remaining = calls

    def fail(*arguments: Any, **named: Any) -> Any:
        nonlocal remaining
        remaining -= 1
        if remaining < 0:
            raise error
        return original(*arguments, **named)

    for expected in (pytest.raises(type(error)), suppress(type(error))):  # the second may find a new file
        remaining = calls
        with monkeypatch.context() as patch, expected:
            patch.setattr(at, fail)
            kill(queue_in(tmp_path, left)._crawler)
    assert found_in(tmp_path, left) == [0, 1, 2]
    assert found_in(tmp_path, []) == []


def test_a_start_reads_no_request(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    filled_job(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("scrapy_rep.crawl.pacing.disk_queue.request_from_dict", lambda *_, **__: 1 // 0)
        queue = queue_in(tmp_path)
    assert len(queue) == 3
    assert popped(queue) == [2, 1, 0]
    queue.close()


def popped(queue: RepPriorityQueue) -> list[int]:
    """What *queue* hands out, of which each ends at once."""
    numbers = []
    while (request := queue.pop()) is not None:
        numbers.append(number_of(request))
        queue._tracker._request_ended(request)
        journal_of(queue).end(request)
    return numbers


def test_a_job_goes_on_in_its_order_from_another_folder(tmp_path: Path) -> None:
    """By priority, and start requests last; with names of download slots as a project may choose them."""
    queue = queue_in(tmp_path / "first")
    is_start = {"is_start_request": True}
    for number, priority, meta in [
        (0, 0, is_start), (1, 0, is_start), (2, 0, {}), (3, 0, {}), (4, 7, {}), (5, -7, {}), (6, -7, {}),
    ]:  # fmt: skip
        queue.push(request(number).replace(priority=priority, meta={**meta, "download_slot": "a b/c \n ü"}))
    kill(queue._crawler)
    (tmp_path / "first").rename(tmp_path / "second")
    queue = queue_in(tmp_path / "second")
    assert list(queue._slots.by_key) == ["a b/c \n ü"]
    assert popped(queue) == [4, 3, 2, 0, 1, 6, 5]
    queue.close()
    assert [*(tmp_path / "second").iterdir()] == []


def test_start_requests_go_on_without_a_queue_of_their_own(tmp_path: Path) -> None:
    queue = queue_in(tmp_path)
    for number in range(2):
        queue.push(request(number).replace(meta={"is_start_request": True}))
    queue.push(request(2))
    queue.close()
    queue = queue_in(tmp_path, has_start_queue=False)
    assert len(queue) == 3
    assert sorted(popped(queue)) == [0, 1, 2]
    queue.close()


def test_a_job_goes_on_that_an_earlier_version_refused(tmp_path: Path) -> None:
    """It renamed the journal first, and began one of its own."""
    filled_job(tmp_path)
    (tmp_path / "requests.journal").rename(tmp_path / "requests.before")
    (tmp_path / "requests.journal").write_bytes(b"REP1")
    assert found_in(tmp_path, NOTED) == [0, 1, 2]


FIRST_FORM = Path(__file__).parents[1] / "formats" / "requests.journal"


@pytest.mark.parametrize("name", ["requests.journal", "requests.before"])
def test_a_journal_of_the_first_form_goes_on_after_kills_at_any_request(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shutil.copy(FIRST_FORM, tmp_path / name)
    push = RepPriorityQueue.push

    def push_and_die(queue: RepPriorityQueue, request: Request) -> None:
        push(queue, request)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(RepPriorityQueue, "push", push_and_die)
        for _ in range(2):
            with pytest.raises(Killed):
                queue_in(tmp_path)
    queue = queue_in(tmp_path)
    assert {request.url[-1] for request in iter(queue.pop, None)} == {"2", "3"}
    queue.close()
    assert [*tmp_path.iterdir()] == []


def test_a_journal_of_the_first_form_goes_on_as_one_of_the_second(tmp_path: Path) -> None:
    shutil.copy(FIRST_FORM, tmp_path)
    for _ in range(2):
        queue = queue_in(tmp_path)
        assert len(queue) == 2
        kill(queue._crawler)


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


def test_a_request_that_cannot_be_read_is_dropped_once(monkeypatch: pytest.MonkeyPatch, start: Start) -> None:
    queue = filled(start(), RecoverableLifoDiskQueue)
    with monkeypatch.context() as patch:
        patch.setattr("scrapy_rep.crawl.pacing.disk_queue.request_from_dict", lambda *_, **__: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            queue.pop()
    assert left(start) == [0, 1, 2, 3]


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
