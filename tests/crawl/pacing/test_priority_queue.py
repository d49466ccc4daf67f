"""The queue of hosts hands out what could start at once, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.pqueues import DownloaderAwarePriorityQueue
from scrapy.settings import default_settings
from scrapy.squeues import FifoMemoryQueue, LifoMemoryQueue, PickleFifoDiskQueue, PickleLifoDiskQueue

from scrapy_rep import RepExtension
from scrapy_rep.crawl.pacing.priority_queue import RepPriorityQueue, _folder
from scrapy_rep.crawl.runtime import scrapy_internals
from scrapy_rep.protocol import Origin
from tests.support.in_process import crawler_at_rest, in_the_loop
from tests.support.simulation import Simulation

NO_ROBOTS = {"ROBOTSTXT_OBEY": False}
SOURCE = (Origin.from_url("http://a.example"), ())
NO_JITTER: dict[str, Any] = (
    {"DOWNLOAD_DELAY_JITTER": 0}
    if hasattr(default_settings, "DOWNLOAD_DELAY_JITTER")
    else {"RANDOMIZE_DOWNLOAD_DELAY": False}
)


class Bench:
    """A queue of a crawl that does not run, and a downloader that does as it is told."""

    def __init__(
        self, clock: Simulation, settings: dict[str, Any] | None = None, path: str = "", left: Any = ()
    ) -> None:
        self.clock = clock
        self.crawler = crawler_at_rest({**NO_ROBOTS, **(settings or {})})
        self.downloader: Any = self.crawler.engine.downloader
        self.queue = queue_of(self.crawler, path, left)

    def push(self, *names: str, **kwargs: Any) -> None:
        for name in names:
            self.queue.push(request(name, **kwargs))

    def pop(self) -> str | None:
        """What the engine would take now; it is with the downloader from then on."""
        popped = self.queue.pop()
        if popped is None:
            return None
        self.downloader.active.add(popped)
        return name_of(popped)

    def pop_all(self) -> list[str]:
        popped = []
        while (name := self.pop()) is not None:
            popped.append(name)
        return popped

    def with_downloader(self, name: str) -> Request:
        return next(request for request in self.downloader.active if name_of(request) == name)

    def start(self, name: str) -> None:
        """The download slot starts to transfer it."""
        started = self.with_downloader(name)
        _, slot = self.downloader._get_slot(started)
        slot.active.add(started)
        slot.transferring.add(started)
        slot.lastseen = self.clock.now

    def end(self, name: str) -> None:
        """It has been downloaded, dropped, or answered by somebody else."""
        ended = self.with_downloader(name)
        slot = self.downloader.slots.get(self.downloader.get_slot_key(ended))
        if slot is not None:
            slot.active.discard(ended)
            slot.transferring.discard(ended)
        self.downloader.active.remove(ended)


def queue_of(crawler: Crawler, path: str = "", left: Any = (), queue: Any = RepPriorityQueue) -> Any:
    if path:
        return queue.from_crawler(crawler, PickleLifoDiskQueue, path, left, start_queue_cls=PickleFifoDiskQueue)
    return queue.from_crawler(crawler, LifoMemoryQueue, "", start_queue_cls=FifoMemoryQueue)


def request(name: str, **kwargs: Any) -> Request:
    """``a/1`` is a page of the host ``a``."""
    host, _, path = name.partition("/")
    return Request(f"http://{host}.example/{path}", **kwargs)


def name_of(request: Request) -> str:
    return request.url.removeprefix("http://").replace(".example", "")


@pytest.fixture
def bench(clock: Simulation) -> Bench:
    return Bench(clock)


def test_hosts_take_turns(bench: Bench) -> None:
    bench.push("a/1", "a/2", "b/1", "b/2", "c/1")
    assert bench.pop_all() == ["a/2", "b/2", "c/1", "a/1", "b/1"]


def test_the_least_busy_host_comes_first(bench: Bench) -> None:
    bench.push("a/1", "a/2", "a/3")
    assert [bench.pop(), bench.pop()] == ["a/3", "a/2"]
    bench.push("b/1")
    assert bench.pop() == "b/1"


def test_priorities_decide_within_a_host_and_start_requests_come_last(bench: Bench) -> None:
    bench.push("a/start-1", "a/start-2", meta={"is_start_request": True})
    bench.push("a/page")
    bench.push("a/urgent", priority=5)
    bench.push("a/later", priority=-5)
    assert bench.pop_all() == ["a/urgent", "a/page", "a/start-1", "a/start-2", "a/later"]


def test_a_host_gets_as_many_as_it_may_transfer_at_once(clock: Simulation) -> None:
    bench = Bench(clock, {"CONCURRENT_REQUESTS_PER_DOMAIN": 2})
    bench.push("a/1", "a/2", "a/3", "a/4")
    assert bench.pop_all() == ["a/4", "a/3"]
    bench.end("a/4")
    assert bench.pop_all() == ["a/2"]


def test_a_request_that_a_middleware_drops_gives_its_place_back_once(clock: Simulation) -> None:
    bench = Bench(clock, {"CONCURRENT_REQUESTS_PER_DOMAIN": 1})
    bench.push("a/1", "a/2", "a/3")
    assert bench.pop_all() == ["a/3"]
    bench.end("a/3")  # before it reached its download slot
    assert bench.pop_all() == ["a/2"]
    bench.start("a/2")
    bench.end("a/2")
    assert bench.pop_all() == ["a/1"]


def test_a_request_that_a_scheduler_drops_takes_no_place(clock: Simulation) -> None:
    bench = Bench(clock, {"CONCURRENT_REQUESTS_PER_DOMAIN": 1})
    bench.push("a/1", "a/2")
    dropped = bench.queue.pop()  # and the engine never hears of it
    assert name_of(dropped) == "a/2"
    assert bench.pop() == "a/1"


def test_requests_from_elsewhere_count_in_their_download_slot(clock: Simulation) -> None:
    bench = Bench(clock, {"CONCURRENT_REQUESTS_PER_DOMAIN": 1})
    image = request("a/image")  # of a media pipeline
    bench.downloader.active.add(image)
    bench.downloader._get_slot(image)[1].active.add(image)
    bench.push("a/1")
    assert bench.pop() is None
    bench.downloader.slots["a.example"].active.remove(image)
    bench.downloader.active.remove(image)
    assert bench.pop() == "a/1"


def test_a_delay_lets_one_go_at_a_time(clock: Simulation) -> None:
    bench = Bench(clock, {"DOWNLOAD_DELAY": 10, **NO_JITTER})
    bench.push("a/1", "a/2", "a/3")
    assert bench.pop_all() == ["a/3"]
    bench.start("a/3")
    bench.end("a/3")
    clock.advance(9.9)
    assert bench.pop() is None
    clock.advance(0.1)
    assert bench.pop_all() == ["a/2"]


def test_a_delay_is_consumed_only_by_a_download_that_starts(clock: Simulation) -> None:
    bench = Bench(clock, {"DOWNLOAD_DELAY": 10, **NO_JITTER})
    bench.push(*(f"a/{number}" for number in range(1_000)))
    bench.start(bench.pop() or "")
    clock.advance(10)
    for _ in range(999):  # forbidden, each of them, or answered by a cache
        forbidden = bench.pop()
        assert forbidden is not None
        bench.end(forbidden)
    assert (bench.pop(), len(bench.queue)) == (None, 0)


def test_one_request_of_a_delayed_host_is_on_its_way_at_a_time(clock: Simulation) -> None:
    bench = Bench(clock, {"DOWNLOAD_DELAY": 1, **NO_JITTER})
    bench.push("a/1", "a/2")
    assert bench.pop() == "a/2"
    clock.advance(60)  # a middleware holds it
    assert bench.pop() is None
    bench.start("a/2")
    clock.advance(1)
    assert bench.pop() == "a/1"


def test_a_request_that_a_middleware_puts_into_another_download_slot_does_not_count_in_the_first(
    clock: Simulation,
) -> None:
    bench = Bench(clock, {"DOWNLOAD_DELAY": 1, **NO_JITTER})
    bench.push("a/1", "a/2")
    assert bench.pop() == "a/2"
    bench.with_downloader("a/2").meta["download_slot"] = "proxy"
    bench.start("a/2")
    clock.advance(0.1)
    assert bench.pop() == "a/1"


def test_an_answer_that_middlewares_hold_up_does_not_hold_up_the_next_request_of_a_delayed_host(
    clock: Simulation,
) -> None:
    bench = Bench(clock, {"DOWNLOAD_DELAY": 1, **NO_JITTER})
    bench.push("a/1", "a/2")
    bench.start(bench.pop() or "")
    answered = bench.with_downloader("a/2")
    for where in ("active", "transferring"):
        getattr(bench.downloader.slots["a.example"], where).remove(answered)
    bench.crawler.signals.send_catch_log(signals.request_left_downloader, request=answered)
    clock.advance(1)
    assert bench.pop() == "a/1"


def test_answers_that_middlewares_have_held_up_since_all_requests_could_start_hold_up_no_others(
    clock: Simulation,
) -> None:
    bench = Bench(clock, {"CONCURRENT_REQUESTS_PER_DOMAIN": 2})
    bench.push("a/1", "a/2")
    for name in bench.pop_all():
        bench.start(name)
        bench.with_downloader(name).meta["download_latency"] = 0.1  # as download handlers write
        bench.downloader.slots["a.example"].active.remove(bench.with_downloader(name))
    bench.push("a/3", "a/4", "a/5")
    assert bench.pop_all() == ["a/5", "a/4"]


def test_a_host_that_waits_does_not_keep_another_from_going(clock: Simulation) -> None:
    bench = Bench(clock, {"DOWNLOAD_SLOTS": {"a.example": {"delay": 100}}, **NO_JITTER})
    bench.push("a/1", "a/2", "b/1", "b/2")
    first = bench.pop_all()
    assert sorted(first) == ["a/2", "b/1", "b/2"]


def test_the_engine_is_woken_when_something_becomes_ready_and_only_then(
    clock: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken, began = list[float](), clock.now
    monkeypatch.setattr(scrapy_internals.Engine, "wake", lambda _: woken.append(clock.now))
    bench = Bench(clock, {"DOWNLOAD_DELAY": 10, **NO_JITTER})
    bench.push("a/1", "a/2")
    assert woken == [began]
    bench.start(bench.pop() or "")
    bench.end("a/2")
    clock.advance(9)
    assert woken == [began]
    clock.advance(2)
    assert woken == [began, began + 10]


def test_one_timer_serves_all_hosts_and_goes_with_the_crawl(clock: Simulation) -> None:
    bench = Bench(clock, {"DOWNLOAD_DELAY": 10, "CONCURRENT_REQUESTS": 500})
    for host in range(300):
        bench.push(f"h{host}/1", f"h{host}/2")
    for name in bench.pop_all():
        bench.start(name)
    clock.advance(0.1)
    assert clock.timers == 1
    bench.queue._tracker.timer.stop()
    assert clock.timers == 0


def test_the_length_counts_what_is_stored(bench: Bench) -> None:
    bench.push("a/1", "b/1", "b/2")
    assert len(bench.queue) == 3
    bench.pop()
    assert len(bench.queue) == 2
    bench.pop_all()
    assert len(bench.queue) == 0


@pytest.mark.parametrize("hosts", [100, 1_000])
def test_what_is_gone_is_forgotten_all_but_a_few(bench: Bench, hosts: int) -> None:
    for number in range(hosts):
        bench.push(f"h{number}/1")
        bench.end(bench.pop() or "")
    assert len(bench.queue._slots) <= 64


def test_an_alarm_of_a_download_slot_that_was_forgotten_leaves_the_next_one_of_that_name_alone(
    clock: Simulation,
) -> None:
    bench = Bench(clock, {"CONCURRENT_REQUESTS_PER_DOMAIN": 1})
    bench.push("a/1")
    bench.push("a/2")
    bench.end(bench.pop() or "")  # while it was on its way, the timer was set to look again
    bench.end(bench.pop() or "")
    bench.push("a/3")
    slot = bench.queue._slots.by_key["a.example"]
    clock.advance(1)
    assert bench.queue._slots.of("a.example") is slot


def test_two_queues_of_a_crawl_share_the_room_of_a_download_slot(clock: Simulation, tmp_path: Path) -> None:
    bench = Bench(clock, {"CONCURRENT_REQUESTS_PER_DOMAIN": 1})
    on_disk = queue_of(bench.crawler, str(tmp_path))
    on_disk.push(request("a/1"))
    bench.push("a/2")
    assert bench.pop() == "a/2"
    assert on_disk.pop() is None
    bench.end("a/2")
    assert name_of(on_disk.pop()) == "a/1"


def test_a_stale_download_slot_of_a_redirect_is_removed_and_one_of_the_user_stays(bench: Bench) -> None:
    bench.queue.push(request("b/1", meta={"download_slot": "a.example", "redirect_urls": ["http://a.example/"]}))
    bench.queue.push(request("b/2", meta={"download_slot": "chosen", "redirect_urls": ["http://a.example/"]}))
    assert sorted(bench.queue._slots.by_key) == ["b.example", "chosen"]


def test_the_same_order_as_scrapys_queue_where_nothing_waits(clock: Simulation) -> None:
    bench = Bench(clock, {"CONCURRENT_REQUESTS_PER_DOMAIN": 100})
    scrapys = queue_of(crawler_at_rest(NO_ROBOTS), queue=DownloaderAwarePriorityQueue)
    for number in range(60):
        name, priority = f"a/{number}", number * 7 % 5
        meta = {"is_start_request": True} if number % 3 else {}
        bench.push(name, priority=priority, meta=dict(meta))
        scrapys.push(request(name, priority=priority, meta=dict(meta)))
    assert bench.pop_all() == [name_of(scrapys.pop()) for _ in range(60)]


PAGES = ["a/1", "a/2", "b/1", "b/2", "c/1"]


def left_by(bench: Bench) -> Any:
    """What the scheduler would write and read."""
    return json.loads(json.dumps(bench.queue.close()))


def test_a_crawl_goes_on_with_what_another_has_left(clock: Simulation, tmp_path: Path) -> None:
    first = Bench(clock, path=str(tmp_path))
    first.push(*PAGES)
    second = Bench(clock, path=str(tmp_path), left=left_by(first))
    assert len(second.queue) == 5
    assert sorted(second.pop_all()) == PAGES
    assert second.queue.close() == []
    assert list(tmp_path.iterdir()) == []


def test_a_crawl_that_scrapys_queue_began_goes_on(clock: Simulation, tmp_path: Path) -> None:
    scrapys = queue_of(crawler_at_rest(NO_ROBOTS), str(tmp_path), queue=DownloaderAwarePriorityQueue)
    for name in PAGES:
        scrapys.push(request(name))
    scrapys.push(request("a/start", meta={"is_start_request": True}))
    left = json.loads(json.dumps(scrapys.close()))
    bench = Bench(clock, path=str(tmp_path), left=left)
    assert len(bench.queue) == 6
    bench.push("d/new")
    again = Bench(clock, path=str(tmp_path), left=left_by(bench))
    assert len(again.queue) == 7
    popped = again.pop_all()
    assert sorted(popped) == ["a/1", "a/2", "a/start", "b/1", "b/2", "c/1", "d/new"]
    assert popped.index("a/2") < popped.index("a/1") < popped.index("a/start")
    assert list(tmp_path.iterdir()) == []


def test_scrapys_queue_refuses_what_ours_has_left(clock: Simulation, tmp_path: Path) -> None:
    bench = Bench(clock, path=str(tmp_path))
    bench.push("a/1")
    with pytest.raises(ValueError, match="same priority"):
        queue_of(crawler_at_rest(NO_ROBOTS), str(tmp_path), left_by(bench), queue=DownloaderAwarePriorityQueue)


@pytest.mark.parametrize("left", [[1, 2], [["a", "b"]], [["a", "http://a.example", "x"]]])
def test_what_another_queue_has_left_is_refused(clock: Simulation, tmp_path: Path, left: Any) -> None:
    with pytest.raises(ValueError, match="stored by a SCHEDULER_PRIORITY_QUEUE other than"):
        Bench(clock, path=str(tmp_path), left=left)


def test_requests_that_cannot_be_read_are_dropped_logged_and_counted(
    clock: Simulation, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = Bench(clock, path=str(tmp_path))
    first.push("a/1", "a/2", "b/1")
    left = left_by(first)
    for file in tmp_path.glob("a.example*/0"):
        file.write_bytes(file.read_bytes().replace(b"a.example/2", b"a.exampl\xff/2"))
    second = Bench(clock, path=str(tmp_path), left=left)
    assert sorted(second.pop_all()) == ["a/1", "b/1"]
    assert len(second.queue) == 0
    assert second.crawler.stats.get_value("rep/queue/unreadable_count") == 1
    assert "Dropped 1 stored request" in caplog.text


def test_a_request_that_cannot_go_back_to_disk_takes_no_other_along(clock: Simulation, tmp_path: Path) -> None:
    first = Bench(clock, path=str(tmp_path))
    first.push("a/1", "a/2", "b/1")
    head = first.queue.peek()
    head.meta["changed"] = lambda: None  # by REP_REQUEST_HOOK, or by a listener of robots_parsed
    second = Bench(clock, path=str(tmp_path), left=left_by(first))
    assert sorted(second.pop_all()) == ["a/1", "b/1"]
    assert first.crawler.stats.get_value("rep/queue/unreadable_count") == 1


def test_a_request_of_scrapys_queue_that_cannot_be_stored_anew_is_dropped_and_counted(
    clock: Simulation, tmp_path: Path
) -> None:
    scrapys = queue_of(crawler_at_rest(NO_ROBOTS), str(tmp_path), queue=DownloaderAwarePriorityQueue)
    scrapys.push(request("a/1"))
    scrapys.push(request("b/1"))
    left = scrapys.close()
    (tmp_path / _folder("a.example", None)).write_text("not ours, and in the way")
    bench = Bench(clock, path=str(tmp_path), left=left)
    assert (bench.pop_all(), len(bench.queue)) == (["b/1"], 0)


def test_any_number_of_requests_that_cannot_be_stored_anew_is_dropped(clock: Simulation, tmp_path: Path) -> None:
    scrapys = queue_of(crawler_at_rest(NO_ROBOTS), str(tmp_path), queue=DownloaderAwarePriorityQueue)
    for number in range(1_500):
        scrapys.push(request(f"a/{number}"))
    scrapys.push(request("b/1"))
    left = scrapys.close()
    (tmp_path / _folder("a.example", None)).write_text("not ours, and in the way")
    bench = Bench(clock, path=str(tmp_path), left=left)
    assert (bench.pop_all(), len(bench.queue)) == (["b/1"], 0)
    assert bench.crawler.stats.get_value("rep/queue/unreadable_count") == 1_500


def test_a_lazy_start_is_held_back_while_many_wait_and_none_can_go(clock: Simulation) -> None:
    bench = Bench(clock, {"REP_MAX_WAITING": 3, "DOWNLOAD_DELAY": 10, "CONCURRENT_REQUESTS": 100})
    bench.push("a/1", "a/2", "a/3")
    assert not bench.downloader.needs_backout()
    bench.start(bench.pop() or "")
    bench.push("a/4")
    assert bench.downloader.needs_backout()
    bench.push("b/1")
    assert not bench.downloader.needs_backout()  # that one can go


@in_the_loop
async def test_while_a_request_waits_at_the_door_its_site_hands_out_no_other(
    clock: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(clock, {"ROBOTSTXT_OBEY": True, **NO_JITTER})
    extension: Any = bench.crawler.get_extension(RepExtension)
    monkeypatch.setattr(extension.judge, "state_to_ask", lambda _: None)
    slots = bench.queue._slots
    slots.require("a.example", SOURCE, 10.0)
    site = slots.sites["a.example"]
    bench.push("a/1", "a/2")
    bench.start(bench.pop() or "")
    await site.enter(first=False)
    clock.advance(10.5)
    assert bench.pop() is None
    site.leave()
    slots.changed(site)
    assert bench.pop() is not None
