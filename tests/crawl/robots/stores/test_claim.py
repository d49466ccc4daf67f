"""A store with only the methods that a crawl needs lets no process fetch what another one has just stored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from scrapy_rep.crawl.robots.stores import NullStore, claim
from scrapy_rep.protocol import Origin
from scrapy_rep.protocol.freshness import Entry
from tests.support.in_process import run

from .test_sqlite_file import ENTRY, ORIGIN

NEWER = replace(ENTRY, tried_at=ENTRY.tried_at + 1)


class OwnStore:
    """A user's own class, as the documentation asks for it: the lease is there unless *is_leased*."""

    def __init__(self, entry: Entry | None, *, is_leased: bool = False) -> None:
        self.entry, self.is_leased = entry, is_leased

    async def get(self, origin: Origin) -> Entry | None:
        assert origin == ORIGIN
        return self.entry

    async def put(self, entry: Entry) -> None:
        self.entry, self.is_leased = entry, False

    async def acquire_lease(self, origin: Origin, seconds: float) -> bool:
        assert (origin, seconds) == (ORIGIN, 9)
        was_leased, self.is_leased = self.is_leased, True
        return not was_leased

    async def release_lease(self, origin: Origin) -> None:
        assert origin == ORIGIN
        self.is_leased = False

    def close(self) -> None: ...


@pytest.mark.parametrize(
    ("stored", "seen", "is_ours"),
    [(None, None, True), (ENTRY, ENTRY, True), (ENTRY, None, False), (NEWER, ENTRY, False), (None, ENTRY, True)],
)
def test_a_claim_keeps_the_lease_unless_there_is_a_newer_entry(
    stored: Entry | None, seen: Entry | None, is_ours: bool
) -> None:
    store: Any = OwnStore(stored)
    assert run(claim(store, ORIGIN, 9, seen)) is is_ours
    assert store.is_leased is is_ours


def test_a_claim_gets_no_lease_that_another_crawl_has() -> None:
    store: Any = OwnStore(None, is_leased=True)
    assert not run(claim(store, ORIGIN, 9, None))
    assert store.is_leased


def test_where_nothing_is_stored_every_claim_is_granted() -> None:
    assert run(claim(NullStore(), ORIGIN, 9, None))
