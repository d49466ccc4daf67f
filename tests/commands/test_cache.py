"""``scrapy robots cache``: what is in the store, at a shell."""

from __future__ import annotations

import json
from pathlib import Path
from time import time

import pytest

from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.cache import Entry
from scrapy_rep.stores.sqlite_file import SqliteFile
from tests.support.command import robots_command

BODY = b"User-agent: *\nDisallow: /\xff\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder whose default store holds two origins."""
    (tmp_path / ".scrapy").mkdir()
    file = SqliteFile(tmp_path / ".scrapy" / "robots.sqlite")
    now = time()
    for host, access in (("a.example", Access.SUCCESSFUL), ("b.example", Access.UNREACHABLE)):
        origin = Origin("https", host, 443)
        body = BODY if access is Access.SUCCESSFUL else b""
        status = 200 if body else None
        failures = 0 if body else 5
        file.put(
            Entry(origin, access, origin.robots_url, status, body, (), now, now + 60, '"1"', failures=failures),
            "me",
        )
    file.close()
    return tmp_path


def test_list_names_every_origin_and_what_is_known(project: Path) -> None:
    code, out, _ = robots_command(project, "cache", "list")
    first, second = out.splitlines()
    assert (code, first.split()[:5]) == (0, ["https://a.example", "successful", "200", "27", "octets"])
    assert "unreachable in 5 attempts" in second


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


def test_show_of_an_unknown_origin_finds_nothing(project: Path) -> None:
    assert robots_command(project, "cache", "show", "c.example")[:2] == (
        1,
        "nothing is known of https://c.example\n",
    )


def test_purge_forgets_one_origin_or_all(project: Path) -> None:
    assert robots_command(project, "cache", "purge", "a.example")[:2] == (0, "1 forgotten\n")
    assert robots_command(project, "cache", "purge", "a.example")[:2] == (1, "0 forgotten\n")
    assert robots_command(project, "cache", "purge")[:2] == (0, "1 forgotten\n")
    assert robots_command(project, "cache", "list")[:2] == (0, "")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["cache", "list", "-s", "REP_STORE_PATH=other"], "there is no store at"),
        (["-s", "REP_STORE_PATH=other", "cache", "list"], "there is no store at"),
        (["cache", "show"], "show takes an ORIGIN"),
        (["cache", "show", "s3://bucket"], "no robots.txt speaks for"),
        (["cache", "list", "-s", "REP_STOR_PATH=x"], "did you mean REP_STORE_PATH?"),
        (["cache", "list", "-s", "REP_STORE_PATH"], "-s takes NAME=VALUE"),
        (["cache", "burn"], "invalid choice: 'burn'"),
        (["cash"], "there is no scrapy robots cash: it is one of cache"),
        ([], "it is one of cache"),
    ],
)
def test_what_cannot_be_done_is_said_and_ends_with_2(project: Path, arguments: list[str], problem: str) -> None:
    code, out, err = robots_command(project, *arguments)
    assert (code, problem in out + err) == (2, True), out + err


def test_a_file_that_is_no_store_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes").write_bytes(b"no database" * 1_000)
    code, _, err = robots_command(tmp_path, "cache", "list", "-s", f"REP_STORE_PATH={tmp_path / 'notes'}")
    assert (code, err) == (2, f"scrapy robots cache: {tmp_path / 'notes'}: file is not a database\n")
    assert (tmp_path / "notes").read_bytes() == b"no database" * 1_000
