"""The requests of one origin: by priority, few files open, nothing lost but what cannot be read."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.squeues import FifoMemoryQueue, LifoMemoryQueue, PickleFifoDiskQueue, PickleLifoDiskQueue
from scrapy.utils.misc import build_from_crawler

from scrapy_rep.crawl.pacing.origin_queue import HEAD, OpenQueues, OriginQueue, Rank, UnreadableError
from tests.support.in_process import crawler_at_rest

CRAWLER = crawler_at_rest()


def request(name: str, **kwargs: Any) -> Request:
    return Request(f"https://example.com/{name}", **kwargs)


def names(queue: OriginQueue) -> list[str]:
    popped = []
    while queue:
        popped.append(queue.pop().url.rpartition("/")[2])
    return popped


def in_memory() -> OriginQueue:
    return OriginQueue(lambda rank, _: FifoMemoryQueue() if rank.is_start else LifoMemoryQueue(), "")


def on_disk(path: Path, most_open: int = 10) -> OriginQueue:
    def make(rank: Rank, path: str) -> Any:
        return build_from_crawler(PickleFifoDiskQueue if rank.is_start else PickleLifoDiskQueue, CRAWLER, path)

    return OriginQueue(make, str(path), OpenQueues(most_open))


def fill(queue: OriginQueue) -> None:
    for name, rank in (
        ("low", Rank(1, False)), ("start-1", Rank(0, True)), ("start-2", Rank(0, True)),
        ("late", Rank(0, False)), ("later", Rank(0, False)), ("high", Rank(-9, False)),
    ):  # fmt: skip
        queue.push(rank, request(name))


IN_ORDER = ["high", "later", "late", "start-1", "start-2", "low"]


def test_priority_decides_and_start_requests_come_last_among_equals() -> None:
    queue = in_memory()
    fill(queue)
    assert len(queue) == 6
    assert names(queue) == IN_ORDER


def test_a_rank_that_comes_and_goes_leaves_nothing_behind() -> None:
    queue = in_memory()
    for _ in range(100):
        queue.push(Rank(0, False), request("page"))
        queue.pop()
    assert (len(queue), queue._order, bool(queue)) == (0, [], False)


def test_on_disk_the_order_is_the_same_with_one_file_open(tmp_path: Path) -> None:
    queue = on_disk(tmp_path / "origin", most_open=1)
    fill(queue)
    assert names(queue) == IN_ORDER


def test_what_is_empty_leaves_no_file_and_no_folder(tmp_path: Path) -> None:
    queue = on_disk(tmp_path / "origin")
    fill(queue)
    names(queue)
    assert list(tmp_path.iterdir()) == []


def test_a_later_crawl_goes_on_with_what_was_left(tmp_path: Path) -> None:
    first = on_disk(tmp_path / "origin")
    fill(first)
    priorities = first.close()
    second = on_disk(tmp_path / "origin")
    second.resume(Rank(priority, is_start) for priority in priorities for is_start in (False, True))
    assert len(second) == 6
    assert names(second) == IN_ORDER


def test_few_files_are_open_however_many_origins_there_are(tmp_path: Path) -> None:
    open_queues = OpenQueues(most=5)
    made: list[Any] = []

    def make(_: Rank, path: str) -> Any:
        made.append(build_from_crawler(PickleLifoDiskQueue, CRAWLER, path))
        return made[-1]

    queues = [OriginQueue(make, f"{tmp_path}/{number}", open_queues) for number in range(50)]
    for number, queue in enumerate(queues):
        queue.push(Rank(0, False), request(str(number)))
    assert sum(not queue.f.closed for queue in made) == 5
    assert [queue.pop().url[-2:].strip("/") for queue in queues] == [str(number) for number in range(50)]


def test_a_request_that_cannot_be_stored_changes_nothing(tmp_path: Path) -> None:
    queue = on_disk(tmp_path / "origin")
    with pytest.raises(ValueError, match="lambda"):
        queue.push(Rank(0, False), request("page", callback=lambda _: None))
    assert (len(queue), bool(queue)) == (0, False)


def test_a_request_that_cannot_be_read_is_gone_and_the_others_are_not(tmp_path: Path) -> None:
    queue = on_disk(tmp_path / "origin")
    for name in ("kept", "kept-too"):
        queue.push(Rank(0, False), request(name))
    stored = queue._queues[Rank(0, False)]
    opened = stored.open()
    renamed = {**request("lost").to_dict(spider=CRAWLER.spider), "callback": "no_such_method"}
    super(type(opened), opened).push(renamed)  # as if the callback had had that name
    queue.size += 1
    with pytest.raises(UnreadableError) as error:
        queue.pop()
    assert error.value.lost == 1
    assert names(queue) == ["kept-too", "kept"]


def test_a_file_that_is_cut_off_loses_what_was_in_it_and_ends(tmp_path: Path) -> None:
    queue = on_disk(tmp_path / "origin")
    fill(queue)
    priorities = queue.close()
    (tmp_path / "origin" / "0").write_bytes(b"nothing that anybody wrote")
    again = on_disk(tmp_path / "origin")
    again.resume(Rank(priority, is_start) for priority in priorities for is_start in (False, True))
    popped, lost = [], 0
    while again:
        try:
            popped.append(again.pop().url.rpartition("/")[2])
        except UnreadableError as error:  # noqa: PERF203
            lost += error.lost
    assert popped == ["high", "start-1", "start-2", "low"]
    assert lost > 0


class Files:
    """Makes queues on disk while it has files left."""

    def __init__(self, left: int) -> None:
        self.left = left
        self.made: list[Any] = []

    def make(self, _: Rank, path: str) -> Any:
        if sum(not queue.f.closed for queue in self.made) >= self.left:
            raise OSError(errno.EMFILE, "Too many open files")
        self.made.append(build_from_crawler(PickleLifoDiskQueue, CRAWLER, path))
        return self.made[-1]


def test_a_queue_that_finds_no_file_left_takes_those_of_the_others(tmp_path: Path) -> None:
    files, open_queues = Files(2), OpenQueues()
    queues = [OriginQueue(files.make, f"{tmp_path}/{number}", open_queues) for number in range(5)]
    for number, queue in enumerate(queues):
        queue.push(Rank(0, False), request(str(number)))
    assert [names(queue) for queue in queues] == [[str(number)] for number in range(5)]


def test_a_process_without_any_file_left_loses_no_request(tmp_path: Path) -> None:
    files = Files(1)
    queue = OriginQueue(files.make, str(tmp_path / "origin"), OpenQueues())
    queue.push(Rank(0, False), request("page"))
    queue._queues[Rank(0, False)].close()
    files.left = 0
    with pytest.raises(OSError, match="Too many open files"):
        queue.pop()
    assert len(queue) == 1
    files.left = 1
    assert names(queue) == ["page"]


def test_one_that_was_read_already_comes_first_when_a_later_crawl_goes_on(tmp_path: Path) -> None:
    first = on_disk(tmp_path / "origin")
    fill(first)
    first.push(Rank(0, HEAD), request("read"))
    priorities = first.close()
    second = on_disk(tmp_path / "origin")
    second.resume(Rank(priority, is_start) for priority in priorities for is_start in (HEAD, False, True))
    assert names(second) == ["high", "read", *IN_ORDER[1:]]
