"""A real Redis keeps entries as long as they are usable, and grants leases."""

from __future__ import annotations

from dataclasses import replace
from time import sleep, time
from typing import Any

import pytest
from redis import Redis
from scrapy.settings import Settings

from scrapy_rep.crawl.robots.stores import NullStore
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.extras.fleet.redis_connection import RedisConnection, address_of, connect
from scrapy_rep.extras.fleet.redis_store import RedisStore
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import Entry
from scrapy_rep.settings import RepSettings
from tests.crawl.robots.stores.test_sqlite_file import ENTRY as LONG_AGO
from tests.support.direct_connection import DirectConnection, at_once
from tests.support.in_process import crawler_at_rest
from tests.support.redis_server import RedisServer
from tests.support.simulation import Simulation

from .conftest import NoConnection

DAY = 86_400
NOW = time()
ENTRY = replace(LONG_AGO, fetched_at=NOW, fresh_until=NOW + DAY, retry_at=0.0, failures=0, unreachable_since=None)
ORIGIN = ENTRY.origin


@pytest.fixture
def connection(redis_client: Redis) -> DirectConnection:
    return DirectConnection(redis_client)


def store_of(connection: Any, stale_max: float = 30 * DAY) -> RedisStore:
    return RedisStore(connection, NullStore(), stale_max)


def keys(connection: DirectConnection, what: str) -> list[Any]:
    return connection.client.keys(f"rep:{what}:*")


def test_what_one_worker_puts_another_gets(connection: DirectConnection) -> None:
    blank = Entry(
        Origin("http", "b.example", 80), Access.UNREACHABLE, "http://b.example/", None, b"", (), NOW, NOW
    )
    for entry in (ENTRY, blank, replace(blank, failures=3, unreachable_since=NOW, tried_at=NOW, retry_at=NOW + 9)):
        at_once(store_of(connection).put(entry))
        assert at_once(store_of(connection).get(entry.origin)) == entry
    assert at_once(store_of(connection).get(Origin("https", "c.example", 443))) is None


def test_a_body_is_kept_once_per_content_and_compressed(connection: DirectConnection) -> None:
    body = b"User-agent: *\nDisallow: /\n" * 100
    for number in range(5):
        entry = replace(ENTRY, origin=Origin("http", f"h{number}.example", 80), body=body)
        at_once(store_of(connection).put(entry))
    (name,) = keys(connection, "body")
    assert name.decode().endswith(entry.sha256)
    assert connection.client.strlen(name) < 100
    assert len(keys(connection, "entry")) == 5


def test_an_entry_expires_when_it_is_no_longer_usable_and_its_body_later(connection: DirectConnection) -> None:
    at_once(store_of(connection, stale_max=2 * DAY).put(replace(ENTRY, fresh_until=time() + DAY)))
    (entry,), (body,) = keys(connection, "entry"), keys(connection, "body")
    life = connection.client.pttl(entry) / 1_000
    assert 3 * DAY - 60 < life <= 3 * DAY
    assert connection.client.pttl(body) / 1_000 > life + 3_000


def test_a_body_lives_as_long_as_the_last_entry_that_needs_it(connection: DirectConnection) -> None:
    at_once(store_of(connection).put(ENTRY))
    (body,) = keys(connection, "body")
    life = connection.client.pttl(body)
    at_once(store_of(connection, stale_max=0).put(replace(ENTRY, origin=Origin("http", "b.example", 80))))
    assert life - 1_000 < connection.client.pttl(body) <= life


def test_an_older_answer_does_not_replace_a_newer_one(connection: DirectConnection) -> None:
    at_once(store_of(connection).put(ENTRY))
    at_once(store_of(connection).put(replace(ENTRY, body=b"old", fetched_at=NOW - 1)))
    assert at_once(store_of(connection).get(ORIGIN)) == ENTRY
    at_once(store_of(connection).put(replace(ENTRY, body=b"new", fetched_at=NOW + 1)))
    found = at_once(store_of(connection).get(ORIGIN))
    assert found
    assert found.body == b"new"


def test_an_entry_dated_in_the_future_is_replaced(connection: DirectConnection) -> None:
    at_once(store_of(connection).put(replace(ENTRY, body=b"of next week", fetched_at=NOW + 7 * DAY)))
    at_once(store_of(connection).put(ENTRY))
    assert at_once(store_of(connection).get(ORIGIN)) == ENTRY


@pytest.mark.parametrize("octets", [b"", b"x" * 200, b"0" * 64 + b"{}", b"0" * 64 + b'{"access": "maybe"}'])
def test_an_unreadable_entry_counts_as_none_and_is_replaced(connection: DirectConnection, octets: bytes) -> None:
    connection.client.set(f"rep:entry:{ORIGIN}", octets)
    connection.client.set(f"rep:body:{octets[:64].decode()}", b"no compressed octets")
    assert at_once(store_of(connection).get(ORIGIN)) is None
    at_once(store_of(connection).put(ENTRY))
    assert at_once(store_of(connection).get(ORIGIN)) == ENTRY


def test_an_entry_without_its_body_counts_as_none(connection: DirectConnection) -> None:
    at_once(store_of(connection).put(ENTRY))
    connection.client.delete(*keys(connection, "body"))
    assert at_once(store_of(connection).get(ORIGIN)) is None


def test_one_worker_has_the_lease_until_it_releases_it(connection: DirectConnection) -> None:
    one, two = store_of(connection), store_of(connection)
    assert at_once(one.acquire_lease(ORIGIN, 9))
    assert at_once(one.acquire_lease(ORIGIN, 9))
    assert not at_once(two.acquire_lease(ORIGIN, 9))
    at_once(two.release_lease(ORIGIN))
    assert not at_once(two.acquire_lease(ORIGIN, 9))
    at_once(one.release_lease(ORIGIN))
    assert at_once(two.acquire_lease(ORIGIN, 9))


def test_putting_an_entry_releases_the_lease_of_its_holder_only(connection: DirectConnection) -> None:
    one, two = store_of(connection), store_of(connection)
    at_once(one.acquire_lease(ORIGIN, 9))
    at_once(two.put(ENTRY))
    assert not at_once(two.acquire_lease(ORIGIN, 9))
    at_once(one.put(ENTRY))
    assert at_once(two.acquire_lease(ORIGIN, 9))


def test_the_lease_of_a_worker_that_died_ends(connection: DirectConnection) -> None:
    at_once(store_of(connection).acquire_lease(ORIGIN, 0.1))
    assert not at_once(store_of(connection).acquire_lease(ORIGIN, 9))
    sleep(0.15)
    assert at_once(store_of(connection).acquire_lease(ORIGIN, 9))


def test_a_lease_is_renewed_by_its_holder_alone(connection: DirectConnection) -> None:
    one, two = store_of(connection), store_of(connection)
    assert at_once(one.acquire_lease(ORIGIN, 1))
    assert at_once(one.acquire_lease(ORIGIN, 9))
    assert not at_once(two.acquire_lease(ORIGIN, 9))
    assert connection.client.pttl(f"rep:lease:{ORIGIN}") > 1_000


class LocalStore(NullStore):
    """Records its calls, and has one entry."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    async def get(self, origin: Origin) -> Entry | None:
        self.calls.append("get")
        return ENTRY

    async def put(self, entry: Entry) -> None:
        self.calls.append("put")

    async def acquire_lease(self, origin: Origin, seconds: float) -> bool:
        self.calls.append("lease")
        return True

    async def release_lease(self, origin: Origin) -> None:
        self.calls.append("release")


def test_while_redis_is_away_the_local_store_answers(redis_client: Redis) -> None:
    local = LocalStore()
    store = RedisStore(NoConnection(redis_client), local, 0.0)  # type: ignore[arg-type]
    assert at_once(store.get(ORIGIN)) == ENTRY
    assert at_once(store.acquire_lease(ORIGIN, 1))
    at_once(store.put(ENTRY))
    at_once(store.release_lease(ORIGIN))
    assert local.calls == ["get", "lease", "put", "release"]


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("redis://:secret@redis.example:1234/5", "redis.example:1234/5"),
        ("redis://redis.example", "redis.example:6379/0"),
        ("unix:///run/redis.sock", "/run/redis.sock/0"),
    ],
)
def test_the_address_of_redis_has_no_password_and_needs_no_port(url: str, address: str) -> None:
    assert address_of(Redis.from_url(url)) == address


def test_a_pool_of_one_connection_suffices(redis_server: RedisServer) -> None:
    settings = RepSettings.from_settings(Settings({"REP_REDIS_URL": f"{redis_server.url}?max_connections=1"}))
    client, _ = connect(settings)
    assert client.ping()
    client.close()


def test_when_redis_is_back_others_may_not_know_it_for_a_while(
    redis_server: RedisServer, clock: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def here(function: Any) -> Any:
        return function()

    monkeypatch.setattr("scrapy_rep.extras.fleet.redis_connection.in_thread", here)
    link = RedisConnection(Crawl.of(crawler_at_rest({"REP_REDIS_URL": redis_server.url})))
    assert not link.is_settling
    at_once(link._probe())
    assert link.is_settling
    clock.advance(60)
    assert not link.is_settling
    link.client.close()


def test_a_note_is_kept_for_its_time_and_until_everything_is_purged(
    connection: DirectConnection, redis_server: RedisServer
) -> None:
    store = store_of(connection)
    at_once(store.put_notes({f"key {number}": str(number) for number in range(501)}, 10))
    at_once(store.put_notes({"key 0": "new"}, 30))
    found = [at_once(store_of(connection).note(key)) for key in ("key 0", "key 500", "other")]
    assert found == ["new", "500", None]
    assert 20_000 < connection.client.pttl("rep:note:key 0") <= 30_000
    link = RedisConnection(Crawl.of(crawler_at_rest({"REP_REDIS_URL": redis_server.url})))
    RedisStore(link, NullStore(), 0.0).purge()
    assert keys(connection, "note") == []
    link.client.close()
