"""``scrapy robots cache``: what is in the store, at a shell."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import time
from typing import Any

import pytest

from scrapy_rep.crawl.robots.stores import NullStore
from scrapy_rep.crawl.robots.stores.sqlite_file import SqliteFile
from scrapy_rep.directives.ai import SiteFile
from scrapy_rep.extras.fleet.redis_store import RedisStore
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import Entry
from scrapy_rep.tools.commands import cache
from tests.support.command import command_here, robots_command
from tests.support.direct_connection import DirectConnection, at_once
from tests.support.redis_server import RedisServer

BODY = b"User-agent: *\nDisallow: /\xff\n"


NOW = time()
A, B = Origin("https", "a.example", 443), Origin("https", "b.example", 443)
KNOWN = (
    Entry(A, Access.SUCCESSFUL, A.robots_url, 200, BODY, (), NOW, NOW + 600, '"1"'),
    Entry(B, Access.UNREACHABLE, B.robots_url, None, b"", (), NOW, NOW + 600, failures=5),
)


Cached = Callable[..., tuple[int, str]]


@pytest.fixture
def file_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cached:
    """Runs the command in a project whose default store holds two origins."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scrapy.cfg").touch()
    (tmp_path / ".scrapy").mkdir()
    with closing(SqliteFile(tmp_path / ".scrapy" / "robots.sqlite")) as file:
        for entry in KNOWN:
            file.put(entry, "me", NOW)
    return partial(command_here, cache)


@pytest.fixture
def redis_project(redis_server: RedisServer) -> Cached:
    """Runs the command where a fleet knows the same two, in a Redis that is not ours alone."""
    with redis_server.client() as client:
        client.set("other:entry:x", "not ours")
        store = RedisStore(DirectConnection(client), NullStore(), stale_max=86_400)  # type: ignore[arg-type]
        for entry in KNOWN:
            at_once(store.put(entry))
    return partial(command_here, cache, REP_REDIS_URL=redis_server.url)


@pytest.fixture(params=["file_project", "redis_project"])
def cached(request: pytest.FixtureRequest) -> Cached:
    command: Cached = request.getfixturevalue(request.param)
    return command


def test_list_names_every_origin_and_what_is_known(cached: Cached) -> None:
    code, out = cached("list")
    first, second = out.splitlines()
    assert (code, first.split()[:5]) == (0, ["https://a.example", "successful", "200", "27", "octets"])
    assert "5 failed attempts" in second


def test_list_as_json_is_one_object_a_line(cached: Cached) -> None:
    rows = [json.loads(line) for line in cached("list", "--json")[1].splitlines()]
    assert [(row["origin"], row["status"], row["octets"]) for row in rows] == [
        ("https://a.example", 200, 27),
        ("https://b.example", None, 0),
    ]


@pytest.mark.parametrize("url", ["https://a.example", "https://A.example/x?y", "a.example"])
def test_show_tells_all_and_the_body(cached: Cached, url: str) -> None:
    code, out = cached("show", url)
    assert code == 0
    assert 'etag: "1"\n' in out
    assert out.endswith("User-agent: *\nDisallow: /\\xff\n")
    assert json.loads(cached("show", url, "--json")[1])["body"] == "User-agent: *\nDisallow: /\\xff\n"


def test_show_obeys_nothing_that_a_site_has_written_for_terminals(file_project: Cached) -> None:
    hostile = replace(KNOWN[0], body=b"# \x1b]0;pwned\x07\r\n#\tb\n", etag="\x1b[31m")
    with closing(SqliteFile(Path(".scrapy/robots.sqlite"))) as file:
        file.put(replace(hostile, fetched_at=NOW + 1), "me", NOW)
    _, out = file_project("show", "a.example")
    assert "etag: \\x1b[31m\n" in out
    assert out.endswith("\n\n# \\x1b]0;pwned\\x07\n#       b\n")


def test_a_row_that_cannot_be_read_is_told_in_one_line(
    file_project: Cached, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path(".scrapy/robots.sqlite").resolve()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE bodies SET body = x'00'")
        connection.commit()
    assert file_project("list")[0] == 2
    err = capsys.readouterr().err
    assert err.startswith(
        f"scrapy robots cache: error: the store {path} cannot be read: the entry of https://a.example"
    )
    assert err.count("\n") == 1


def test_show_of_an_unknown_origin_finds_nothing(cached: Cached) -> None:
    assert cached("show", "c.example") == (1, "https://c.example is not in the store\n")


def test_purge_forgets_one_origin_or_all(cached: Cached) -> None:
    assert cached("purge", "a.example") == (0, "1 entry purged\n")
    assert cached("purge", "a.example") == (1, "0 entries purged\n")
    assert cached("purge") == (0, "1 entry purged\n")
    assert cached("list") == (0, "")


def test_a_license_is_shown_by_its_url_and_purged_with_the_site_that_names_it(file_project: Cached) -> None:
    license_, tdmrep = SiteFile.at("https://l.example/rsl?x=1"), SiteFile.of(A, "/.well-known/tdmrep.json")
    rules = f"User-agent: a\nLicense: {license_}\nLicense: ftp://l.example/x\n".encode()
    with closing(SqliteFile(Path(".scrapy/robots.sqlite").absolute())) as file:
        file.put(replace(KNOWN[0], body=rules), "me", NOW)
        for one in (license_, tdmrep):
            file.put(replace(KNOWN[0], origin=one, url=str(one), body=b"<rsl/>"), "me", NOW)
    assert [line.split()[0] for line in file_project("list")[1].splitlines()] == [
        "https://a.example", "https://a.example/.well-known/tdmrep.json", "https://b.example", str(license_)
    ]  # fmt: skip
    assert file_project("show", str(license_))[1].endswith("\n\n<rsl/>\n")
    assert file_project("show", "https://a.example/x?y")[1].endswith("License: ftp://l.example/x\n")
    assert file_project("purge", "a.example") == (0, "3 entries purged\n")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["cache", "list", "-s", "REP_STORE_PATH=other"], "there is no store at"),
        (["-s", "REP_STORE_PATH=other", "cache", "list"], "there is no store at"),
        (["cache", "show"], "show needs an ORIGIN"),
        (["cache", "purge", ""], "no host in"),
        (["cache", "show", "s3://bucket"], "no robots.txt speaks for"),
        (["cache", "list", "-s", "REP_STOR_PATH=x"], "did you mean REP_STORE_PATH?"),
        (["cache", "list", "-s", "REP_STORE_PATH"], "-s takes NAME=VALUE"),
        (["cache", "burn"], "argument action: 'burn' is not one of list, show, purge"),
        (["cash"], "unknown command 'cash' (perhaps cache?): choose one of audit"),
    ],
)
@pytest.mark.usefixtures("file_project")
def test_what_cannot_be_done_is_said_and_ends_with_2(tmp_path: Path, arguments: list[str], problem: str) -> None:
    code, out, err = robots_command(tmp_path, *arguments)
    assert (code, problem in out + err) == (2, True), out + err


def test_outside_a_project_it_is_said_that_no_store_is_kept(tmp_path: Path) -> None:
    code, out, err = robots_command(tmp_path, "cache", "list")
    assert (code, out) == (2, "")
    assert err == (
        "scrapy robots cache: error: without a project (scrapy.cfg) there is no default store:"
        " name one with -s REP_STORE_PATH=FILE\n"
    )
    assert not list(tmp_path.iterdir())


def test_outside_a_project_a_relative_path_counts_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(SqliteFile(tmp_path / "mine")) as file:
        file.put(KNOWN[0], "me", NOW)
    code, out = command_here(cache, "list", REP_STORE_PATH="mine")
    assert (code, out.split()[0]) == (0, "https://a.example")


def test_a_file_that_is_no_store_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes").write_bytes(b"no database" * 1_000)
    assert command_here(cache, "list", REP_STORE_PATH=str(tmp_path / "notes")) == (2, "")
    assert capsys.readouterr().err == (
        f"scrapy robots cache: error: the store {tmp_path / 'notes'} cannot be read: file is not a database\n"
    )
    assert (tmp_path / "notes").read_bytes() == b"no database" * 1_000


def test_what_nobody_can_read_in_redis_is_not_listed_and_goes_with_all(
    redis_project: Cached, redis_server: RedisServer
) -> None:
    with redis_server.client() as client:
        client.mset({"rep:entry:nowhere": "x" * 99, "rep:entry:http://c.example": "y" * 99})
        client.lpush("rep:entry:http://d.example", "z")
        body = KNOWN[0].sha256
        wrong: list[dict[str, Any]]
        wrong = [{"fresh_until": None}, {"fetched_at": 1e30}, {"status": "x"}, {"url": 1}]
        for number, facts in enumerate(wrong):
            sound = {"access": "successful", "url": "u", "fetched_at": 1.0, "fresh_until": 1.0}
            client.set(f"rep:entry:http://e{number}.example", body + json.dumps({**sound, **facts}))
    assert len(redis_project("list")[1].splitlines()) == 2
    assert redis_project("purge") == (0, "9 entries purged\n")


def test_purge_leaves_to_others_in_redis_what_is_theirs(redis_project: Cached, redis_server: RedisServer) -> None:
    assert redis_project("purge", "--json") == (0, '{"gone": 2}\n')
    with redis_server.client() as client:
        assert client.keys("*") == [b"other:entry:x"]


def test_a_pattern_in_the_prefix_means_itself(redis_project: Cached) -> None:
    for prefix in ("re?:", "re[p]:", "*"):
        assert redis_project("list", REP_REDIS_PREFIX=prefix) == (0, "")


@pytest.mark.parametrize("action", [["list"], ["show", "a.example"], ["purge"]])
def test_a_redis_that_does_not_answer_is_named_without_its_password(
    action: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_here(cache, *action, REP_REDIS_URL="redis://me:secret@127.0.0.1:1/3") == (2, "")
    err = capsys.readouterr().err
    assert err.startswith(
        "scrapy robots cache: error: Redis at 127.0.0.1:1/3, from REP_REDIS_URL, does not answer ("
    )
    assert "secret" not in err
    assert err.count("\n") == 1


def test_a_thousand_origins_are_listed_in_order(redis_project: Cached, redis_server: RedisServer) -> None:
    names = sorted(f"https://h{number}.example" for number in range(1_000))
    with redis_server.client() as client:
        store = RedisStore(DirectConnection(client), NullStore(), stale_max=86_400)  # type: ignore[arg-type]
        for name in names:
            at_once(store.put(replace(KNOWN[0], origin=Origin.from_url(name))))
    _, out = redis_project("list")
    assert [line.split()[0] for line in out.splitlines()] == ["https://a.example", "https://b.example", *names]
