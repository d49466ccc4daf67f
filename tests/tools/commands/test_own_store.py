"""``scrapy robots cache`` and ``decide`` ask the store of the project, whichever ``REP_STORE`` names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from time import time
from typing import Any

import pytest
from scrapy.crawler import Crawler
from typing_extensions import Self

from scrapy_rep.crawl.robots.stores import NullStore
from scrapy_rep.extras.fleet.redis_store import RedisStore
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import Entry
from scrapy_rep.tools.commands import cache, decide
from tests.crawl.robots.stores.test_claim import OwnStore
from tests.support.command import command_here
from tests.support.direct_connection import DirectConnection, at_once
from tests.support.redis_server import RedisServer

A = Origin("https", "a.example", 443)
ENTRY = Entry(A, Access.SUCCESSFUL, A.robots_url, 200, b"User-agent: *\nDisallow: /\n", (), time(), time() + 600)


class CrawlStore(OwnStore):
    """What a crawl needs, and no more."""

    def __init__(self) -> None:
        super().__init__(None)


class FullStore(CrawlStore):
    """With what commands need; the settings say what is in it."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        store = cls()
        store.entry = ENTRY if crawler.settings.get("FULL") else None
        return store

    def entries(self, origin: Origin | None = None) -> Iterator[Entry]:
        return iter([self.entry] if self.entry and origin in (None, A) else [])

    def purge(self, origin: Origin | None = None) -> int:
        if origin not in (None, A):
            raise OSError("cannot write")
        return 1


class BrokenStore(FullStore):
    def entries(self, origin: Origin | None = None) -> Iterator[Entry]:
        raise ConnectionError("no way to the store")


def named(store: type, **settings: Any) -> dict[str, Any]:
    return {"REP_STORE": f"{__name__}.{store.__name__}", **settings}


@pytest.fixture
def urls(tmp_path: Path) -> str:
    (tmp_path / "urls").write_text("https://a.example/\nhttps://b.example/\n")
    return str(tmp_path / "urls")


def allowed(urls: str, **settings: Any) -> list[bool | None]:
    _, out = command_here(decide, "--urls", urls, "--agent", "Bot", **settings)
    return [json.loads(line)["allowed"] for line in out.splitlines()]


def test_entries_of_a_store_of_ones_own_are_listed_shown_and_purged() -> None:
    full = named(FullStore, FULL=True)
    assert command_here(cache, "list", **full)[1].startswith("https://a.example  successful  200  26 octets")
    assert command_here(cache, "show", "a.example", **full)[1].endswith("Disallow: /\n")
    assert command_here(cache, "show", "b.example", **full) == (1, "https://b.example is not in the store\n")
    assert command_here(cache, "purge", **full) == (0, "1 entry purged\n")
    assert command_here(cache, "list", **named(FullStore)) == (0, "")


def test_a_store_of_ones_own_decides(urls: str) -> None:
    assert allowed(urls, **named(FullStore, FULL=True)) == [False, None]
    assert allowed(urls, **named(FullStore)) == [None, None]


def test_the_store_of_a_fleet_decides(urls: str, redis_server: RedisServer) -> None:
    with redis_server.client() as client:
        store = RedisStore(DirectConnection(client), NullStore(), stale_max=86_400)  # type: ignore[arg-type]
        at_once(store.put(ENTRY))
    assert allowed(urls, REP_REDIS_URL=redis_server.url) == [False, None]


def test_settings_that_no_other_process_can_get_keep_no_store_from_deciding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decide, "_BATCH", 100)
    monkeypatch.setattr(decide, "cores", lambda: 2)
    (tmp_path / "many").write_text("https://a.example/\n" * 1_000)
    full = named(FullStore, FULL=lambda: True)
    assert allowed(str(tmp_path / "many"), **full) == [False] * 1_000


@pytest.mark.parametrize("command", [(cache, "list"), (decide, "--agent", "Bot")], ids=["cache", "decide"])
def test_a_store_for_crawls_alone_is_told_what_to_add(
    command: tuple[Any, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_here(*command, **named(CrawlStore)) == (2, "")
    assert capsys.readouterr().err.partition(": error: ")[2] == (
        f"REP_STORE: {__name__}.CrawlStore has no entries() and no purge(), which this command needs;"
        " scrapy_rep.Store says what to add\n"
    )


@pytest.mark.parametrize("command", [(cache, "list"), (decide, "--agent", "Bot")], ids=["cache", "decide"])
def test_a_store_that_cannot_be_used_is_told_in_one_line(
    command: tuple[Any, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_here(*command, **named(BrokenStore)) == (2, "")
    assert capsys.readouterr().err.endswith(": no way to the store\n")


def test_a_store_that_keeps_nothing_has_nothing_to_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_here(cache, "list", REP_STORE="memory") == (0, "")
    assert command_here(cache, "purge", REP_STORE="memory") == (0, "0 entries purged\n")
    assert command_here(decide, "--agent", "Bot", REP_STORE="memory") == (2, "")
    assert "there is no store here" in capsys.readouterr().err
