"""Two sizes of the test run, the profiles of hypothesis, and what tests of all folders share."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from hypothesis import settings
from redis import Redis

from tests.support.in_process import is_in_the_loop
from tests.support.redis_server import RedisServer
from tests.support.simulation import Simulation

LEFT_OUT = {
    "full": "takes long, or needs what few machines have: runs with --full alone",
    "other_loop": "repeats a test on an event loop other than asyncio: runs with --all-loops, or --full",
}
UNTRACED = {
    "untraced": "measures time or memory, or asks about thousands of files: not for a run that measures coverage"
}

# The seed is printed where a test fails, and not fixed.
settings.register_profile("default", max_examples=50, deadline=None, print_blob=True)
settings.register_profile("full", max_examples=500, deadline=None, print_blob=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--full", action="store_true", help="leave nothing out, and try more examples of each property"
    )
    parser.addoption("--all-loops", action="store_true", help="test what waits on each event loop of Scrapy")


def pytest_configure(config: pytest.Config) -> None:
    for name, meaning in {**LEFT_OUT, **UNTRACED}.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    settings.load_profile("full" if config.getoption("full") else "default")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what has a marker of `LEFT_OUT`, unless an option says otherwise."""
    if config.getoption("full"):
        return
    left_out = set(LEFT_OUT) - ({"other_loop"} if config.getoption("all_loops") else set())
    kept: list[pytest.Item] = []
    others: list[pytest.Item] = []
    for item in items:
        (others if any(item.get_closest_marker(name) for name in left_out) else kept).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = kept


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Leave to pytest-twisted what needs the reactor; parametrised hypothesis tests do not survive it."""
    if is_in_the_loop(pyfuncitem.obj):
        return None
    pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames})
    return True


@pytest.fixture
def _no_collection() -> Iterator[None]:
    """For what is measured: a collection costs whoever it meets."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Simulation:
    """In the place of the clock of scrapy_rep, and of the one that Scrapy's downloader goes by."""
    clock = Simulation()
    for name in ("time", "monotonic"):
        for place in (
            "scrapy.core.downloader",
            "scrapy_rep.crawl.runtime.scrapy_internals",
            "scrapy_rep.clock.clock",
        ):
            monkeypatch.setattr(f"{place}.{name}", clock.monotonic, raising=False)
    for place in ("scrapy.core.downloader", "scrapy_rep.crawl.runtime.event_loop"):
        monkeypatch.setattr(f"{place}.call_later", clock.call_later)
    return clock


@pytest.fixture(scope="session")
def _redis() -> Iterator[RedisServer]:
    with RedisServer() as server:
        yield server


@pytest.fixture
def redis_server(_redis: RedisServer) -> RedisServer:
    """The one of the session, empty; a test that stops its server makes one of its own."""
    with _redis.client() as client:
        client.flushall()
    return _redis


@pytest.fixture
def redis_client(redis_server: RedisServer) -> Iterator[Redis]:
    with redis_server.client() as client:
        yield client
