"""The door of a crawl that does not run: what it lets out, and what it sends back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from scrapy_rep import RepMiddleware
from scrapy_rep.crawl.pacing.door import Door, SentBack
from scrapy_rep.crawl.runtime.crawl import Crawl
from tests.support.in_process import crawler_at_rest
from tests.support.simulation import Simulation

OBEY = {"ROBOTSTXT_OBEY": True}
PAGE = "http://a.example/page"


class Bench:
    """A door that is open, and the requests that leave by it."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.crawler = crawler_at_rest(settings)
        self.sent: list[str] = []
        crawl = Crawl.of(self.crawler)
        self.door = crawl.part(Door)
        self.door.open()
        crawl.downloader.send = self._send

    async def _send(self, request: Request) -> Response:
        self.sent.append(request.url)
        return Response(request.url)

    def let_out(self, request: Request) -> None:
        """As Scrapy does; for requests that need not wait."""
        with pytest.raises(StopIteration):
            self.door.let_out(request).send(None)

    def refuse(self, request: Request) -> None:
        """As `let_out`, for one that the door raises for before there is a coroutine."""
        self.door.let_out(request).close()


@pytest.fixture
def bench(clock: Simulation) -> Iterator[Bench]:
    bench = Bench(OBEY)
    assert bench.crawler.get_downloader_middleware(RepMiddleware)
    yield bench
    bench.crawler.engine.downloader.close()


def test_a_request_that_was_judged_leaves_once(bench: Bench) -> None:
    request = Request(PAGE)
    bench.door.note(request, request.url)
    bench.let_out(request)
    assert bench.sent == [PAGE]
    with pytest.raises(SentBack):
        bench.refuse(request)


def test_a_request_that_was_not_judged_goes_back_once_and_is_then_dropped(bench: Bench) -> None:
    request = Request(PAGE)
    with pytest.raises(SentBack) as sent_back:
        bench.refuse(request)
    again = bench.door.process_exception(request, sent_back.value)
    assert again is not None
    assert (again.url, again.dont_filter) == (PAGE, True)
    with pytest.raises(IgnoreRequest) as dropped:
        bench.refuse(again)
    assert bench.door.process_exception(again, dropped.value) is None
    assert bench.sent == []
    assert bench.crawler.stats.get_value("rep/unjudged_count") == 1


def test_a_url_that_was_changed_was_not_judged(bench: Bench) -> None:
    request = Request(PAGE)
    bench.door.note(request, request.url)
    request._set_url("http://a.example/private")
    with pytest.raises(SentBack):
        bench.refuse(request)


@pytest.mark.parametrize(
    "request_", [Request(PAGE, meta={"dont_obey_robotstxt": True}), Request("data:,x"), Request("s3://bucket/key")]
)
def test_what_robots_txt_is_not_asked_about_leaves_unjudged(bench: Bench, request_: Request) -> None:
    bench.let_out(request_)
    assert bench.sent == [request_.url]


def test_with_obeying_off_nothing_is_judged_or_noted(clock: Simulation) -> None:
    bench = Bench({"ROBOTSTXT_OBEY": False})
    request = Request(PAGE)
    bench.door.note(request, request.url)
    assert not bench.door.judged
    bench.let_out(request)
    assert bench.sent == [PAGE]


def test_requests_that_never_come_to_the_door_are_forgotten(bench: Bench) -> None:
    active = bench.crawler.engine.downloader.active
    with_downloader = Request(f"{PAGE}/0")
    active.add(with_downloader)
    for request in (with_downloader, *(Request(f"{PAGE}/{number}") for number in range(1, 1_000))):
        bench.door.note(request, request.url)
        assert len(bench.door.judged) <= 64
    assert with_downloader in bench.door.judged
