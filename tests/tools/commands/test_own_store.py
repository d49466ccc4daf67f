"""``scrapy robots cache`` asks the store of the project, whichever ``REP_STORE`` names."""

from __future__ import annotations

from collections.abc import Iterator
from time import time
from typing import Any

import pytest
from scrapy.crawler import Crawler
from typing_extensions import Self

from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import Entry
from scrapy_rep.tools.commands import cache
from tests.crawl.robots.stores.test_claim import OwnStore
from tests.support.command import command_here

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


def test_entries_of_a_store_of_ones_own_are_listed_shown_and_purged() -> None:
    full = named(FullStore, FULL=True)
    assert command_here(cache, "list", **full)[1].startswith("https://a.example  successful  200  26 octets")
    assert command_here(cache, "show", "a.example", **full)[1].endswith("Disallow: /\n")
    assert command_here(cache, "show", "b.example", **full) == (1, "https://b.example is not in the store\n")
    assert command_here(cache, "purge", **full) == (0, "1 entry purged\n")
    assert command_here(cache, "list", **named(FullStore)) == (0, "")


def test_a_store_for_crawls_alone_is_told_what_to_add(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_here(cache, "list", **named(CrawlStore)) == (2, "")
    assert capsys.readouterr().err.partition(": error: ")[2] == (
        f"REP_STORE: {__name__}.CrawlStore has no entries() and no purge(), which this command needs;"
        " scrapy_rep.Store says what to add\n"
    )


def test_a_store_that_cannot_be_used_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_here(cache, "list", **named(BrokenStore)) == (2, "")
    assert capsys.readouterr().err.endswith(": no way to the store\n")


def test_a_store_that_keeps_nothing_has_nothing_to_show() -> None:
    assert command_here(cache, "list", REP_STORE="memory") == (0, "")
    assert command_here(cache, "purge", REP_STORE="memory") == (0, "0 entries purged\n")
