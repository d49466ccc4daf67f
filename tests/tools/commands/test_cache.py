"""``scrapy robots cache``: what is in the store, at a shell."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from time import time
from typing import Any

import pytest

from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import Entry
from scrapy_rep.stores.redis import RedisStore
from scrapy_rep.stores.sqlite_file import SqliteFile
from scrapy_rep.stores.store import NullStore
from tests.support.command import robots_command
from tests.support.direct_connection import DirectConnection, at_once
from tests.support.redis_server import RedisServer

BODY = b"User-agent: *\nDisallow: /\xff\n"


NOW = time()
A, B = Origin("https", "a.example", 443), Origin("https", "b.example", 443)
KNOWN = (
    Entry(A, Access.SUCCESSFUL, A.robots_url, 200, BODY, (), NOW, NOW + 600, '"1"'),
    Entry(B, Access.UNREACHABLE, B.robots_url, None, b"", (), NOW, NOW + 600, failures=5),
)


@pytest.fixture
def file_project(tmp_path: Path) -> Path:
    """A folder whose default store holds two origins."""
    (tmp_path / "scrapy.cfg").touch()
    (tmp_path / ".scrapy").mkdir()
    with closing(SqliteFile(tmp_path / ".scrapy" / "robots.sqlite")) as file:
        for entry in KNOWN:
            file.put(entry, "me", NOW)
    return tmp_path


@pytest.fixture
def redis_project(tmp_path: Path, redis_server: RedisServer) -> Path:
    """A project whose fleet knows the same two, in a Redis that is not ours alone."""
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = fleet_settings\n")
    (tmp_path / "fleet_settings.py").write_text(f"REP_REDIS_URL = {redis_server.url!r}\n")
    with redis_server.client() as client:
        client.set("other:entry:x", "not ours")
        store = RedisStore(DirectConnection(client), NullStore(), stale_max=86_400)  # type: ignore[arg-type]
        for entry in KNOWN:
            at_once(store.put(entry))
    return tmp_path


@pytest.fixture(params=["file_project", "redis_project"])
def project(request: pytest.FixtureRequest) -> Path:
    folder: Path = request.getfixturevalue(request.param)
    return folder


def test_list_names_every_origin_and_what_is_known(project: Path) -> None:
    code, out, _ = robots_command(project, "cache", "list")
    first, second = out.splitlines()
    assert (code, first.split()[:5]) == (0, ["https://a.example", "successful", "200", "27", "octets"])
    assert "5 failed attempts" in second


def test_list_as_json_is_one_object_a_line(project: Path) -> None:
    _, out, _ = robots_command(project, "cache", "list", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["origin"], row["status"], row["octets"]) for row in rows] == [
        ("https://a.example", 200, 27),
        ("https://b.example", None, 0),
    ]


@pytest.mark.parametrize("url", ["https://a.example", "https://A.example/x?y", "a.example"])
def test_show_tells_all_and_the_body(project: Path, url: str) -> None:
    code, out, _ = robots_command(project, "cache", "show", url)
    assert code == 0
    assert 'etag: "1"\n' in out
    assert out.endswith("User-agent: *\nDisallow: /\\xff\n")
    _, as_json, _ = robots_command(project, "cache", "show", url, "--json")
    assert json.loads(as_json)["body"] == "User-agent: *\nDisallow: /\\xff\n"


def test_show_obeys_nothing_that_a_site_has_written_for_terminals(file_project: Path) -> None:
    hostile = replace(KNOWN[0], body=b"# \x1b]0;pwned\x07\r\n#\tb\n", etag="\x1b[31m")
    with closing(SqliteFile(file_project / ".scrapy" / "robots.sqlite")) as file:
        file.put(replace(hostile, fetched_at=NOW + 1), "me", NOW)
    _, out, _ = robots_command(file_project, "cache", "show", "a.example")
    assert "etag: \\x1b[31m\n" in out
    assert out.endswith("\n\n# \\x1b]0;pwned\\x07\n#       b\n")


def test_a_row_that_cannot_be_read_is_told_in_one_line(file_project: Path) -> None:
    path = file_project / ".scrapy" / "robots.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE bodies SET body = x'00'")
        connection.commit()
    code, _, err = robots_command(file_project, "cache", "list")
    assert code == 2
    assert err.startswith(f"scrapy robots cache: {path}: the entry of https://a.example cannot be read: ")
    assert err.count("\n") == 1


def test_show_of_an_unknown_origin_finds_nothing(project: Path) -> None:
    assert robots_command(project, "cache", "show", "c.example")[:2] == (
        1,
        "https://c.example is not in the store\n",
    )


def test_purge_forgets_one_origin_or_all(project: Path) -> None:
    assert robots_command(project, "cache", "purge", "a.example")[:2] == (0, "1 entry purged\n")
    assert robots_command(project, "cache", "purge", "a.example")[:2] == (1, "0 entries purged\n")
    assert robots_command(project, "cache", "purge")[:2] == (0, "1 entry purged\n")
    assert robots_command(project, "cache", "list")[:2] == (0, "")


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
        (["cache", "burn"], "invalid choice: 'burn'"),
        (["cash"], "unknown sub-command 'cash': choose one of audit"),
    ],
)
def test_what_cannot_be_done_is_said_and_ends_with_2(
    file_project: Path, arguments: list[str], problem: str
) -> None:
    code, out, err = robots_command(file_project, *arguments)
    assert (code, problem in out + err) == (2, True), out + err


def test_outside_a_project_it_is_said_that_no_store_is_kept(tmp_path: Path) -> None:
    code, out, err = robots_command(tmp_path, "cache", "list")
    assert (code, out) == (2, "")
    assert err == (
        "scrapy robots cache: there is no project (scrapy.cfg), and so no default store:"
        " name one with -s REP_STORE_PATH=FILE\n"
    )
    assert not list(tmp_path.iterdir())


def test_outside_a_project_a_relative_path_counts_from_the_working_directory(tmp_path: Path) -> None:
    with closing(SqliteFile(tmp_path / "mine")) as file:
        file.put(KNOWN[0], "me", NOW)
    code, out, _ = robots_command(tmp_path, "cache", "list", "-s", "REP_STORE_PATH=mine")
    assert (code, out.split()[0]) == (0, "https://a.example")


def test_a_file_that_is_no_store_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes").write_bytes(b"no database" * 1_000)
    code, _, err = robots_command(tmp_path, "cache", "list", "-s", f"REP_STORE_PATH={tmp_path / 'notes'}")
    assert (code, err) == (2, f"scrapy robots cache: {tmp_path / 'notes'}: file is not a database\n")
    assert (tmp_path / "notes").read_bytes() == b"no database" * 1_000


def test_what_nobody_can_read_in_redis_is_not_listed_and_goes_with_all(
    redis_project: Path, redis_server: RedisServer
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
    assert len(robots_command(redis_project, "cache", "list")[1].splitlines()) == 2
    assert robots_command(redis_project, "cache", "purge")[:2] == (0, "9 entries purged\n")


def test_purge_leaves_to_others_in_redis_what_is_theirs(redis_project: Path, redis_server: RedisServer) -> None:
    assert robots_command(redis_project, "cache", "purge", "--json")[:2] == (0, '{"gone": 2}\n')
    with redis_server.client() as client:
        assert client.keys("*") == [b"other:entry:x"]


def test_a_pattern_in_the_prefix_means_itself(redis_project: Path) -> None:
    for prefix in ("re?:", "re[p]:", "*"):
        assert robots_command(redis_project, "cache", "list", "-s", f"REP_REDIS_PREFIX={prefix}")[:2] == (0, "")


@pytest.mark.parametrize("action", [["list"], ["show", "a.example"], ["purge"]])
def test_a_redis_that_does_not_answer_is_named_without_its_password(tmp_path: Path, action: list[str]) -> None:
    url = "redis://me:secret@127.0.0.1:1/3"
    code, out, err = robots_command(tmp_path, "cache", *action, "-s", f"REP_REDIS_URL={url}")
    assert (code, out) == (2, "")
    assert err.startswith("scrapy robots cache: Redis at 127.0.0.1:1/3, from REP_REDIS_URL, does not answer (")
    assert "secret" not in err
    assert err.count("\n") == 1


def test_a_thousand_origins_are_listed_in_order(redis_project: Path, redis_server: RedisServer) -> None:
    names = sorted(f"https://h{number}.example" for number in range(1_000))
    with redis_server.client() as client:
        store = RedisStore(DirectConnection(client), NullStore(), stale_max=86_400)  # type: ignore[arg-type]
        for name in names:
            at_once(store.put(replace(KNOWN[0], origin=Origin.from_url(name))))
    _, out, _ = robots_command(redis_project, "cache", "list")
    assert [line.split()[0] for line in out.splitlines()] == ["https://a.example", "https://b.example", *names]
