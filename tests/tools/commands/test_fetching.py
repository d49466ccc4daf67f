"""The crawl in which a command fetches robots.txt files, and how its failures are told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from scrapy_rep.crawl.runtime.log import describe
from scrapy_rep.exceptions import FetchError, InvalidSettingError
from scrapy_rep.protocol import Origin
from scrapy_rep.tools.commands.crawl_runner import crawl_settings
from scrapy_rep.tools.commands.fetching import FetchedRobots, fetch_each
from tests.support.command_here import crawls_here
from tests.support.crawl import on_each_loop
from tests.support.site import Answer, Site, redirect, reset, robots, sequence

ROOT = Path(__file__).parents[3]
SCRIPT = """
import json, sys
from scrapy.utils.project import get_project_settings
from scrapy_rep.tools.commands.fetching import fetch_each
from scrapy_rep.protocol import Origin
from tests.tools.commands.test_fetching import row_of

settings = get_project_settings()
settings.set("LOG_ENABLED", False, priority="command")
settings.setdict(json.loads(sys.argv[1]), priority="cmdline")
fetch_each(map(Origin.from_url, sys.argv[2:]), settings, lambda one: print(json.dumps(row_of(one))))
"""
LOOP_SETTINGS: dict[str, dict[str, Any]] = {
    "asyncio": {},
    "twisted": {"TWISTED_REACTOR": None},
    "reactorless": {"TWISTED_REACTOR_ENABLED": False},
}


def fetched(folder: Path, *urls: str, loop: str = "asyncio", **settings: Any) -> dict[str, list[Any]]:
    """What came of each origin, by its URL; on another loop than asyncio in a process of its own."""
    rows = (_here if loop == "asyncio" else _apart)(folder, *urls, **LOOP_SETTINGS[loop], **settings)
    assert len(rows) == len(urls), rows
    return {row[0]: row[1:] for row in rows}


def _here(_: Path, *urls: str, **settings: Any) -> list[list[Any]]:
    rows: list[list[Any]] = []
    with crawls_here():
        fetch_each(map(Origin.from_url, urls), Settings(settings), lambda one: rows.append(row_of(one)))
    return rows


def row_of(one: FetchedRobots) -> list[Any]:
    """What the tests ask about, as data."""
    entry, allowed = one.entry, one.robotstxt.verdict("a", "/x").allowed
    how = [one.robots.access.value, entry.status, entry.url, [*entry.hops]]
    return [str(one.origin), *how, entry.body.decode(), one.is_fresh, one.problem, allowed]


def _apart(folder: Path, *urls: str, **settings: Any) -> list[list[Any]]:
    process = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(settings), *urls],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (process.returncode, process.stderr) == (0, b"")
    return [json.loads(line) for line in process.stdout.decode().splitlines()]


@on_each_loop
def test_each_origin_is_asked_once_and_told_as_a_crawl_would_judge_it(tmp_path: Path, loop: str) -> None:
    with Site(["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"]) as site:
        good, moved, missing, dead = site.origins
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /x\n"), good)
        site.answer("/robots.txt", redirect(f"{good}/robots.txt"), moved)
        site.answer("/robots.txt", reset(), dead)
        found = fetched(tmp_path, *site.origins, loop=loop, REP_RETRY_TIMES=0)
        asked = [(arrival.origin, arrival.path) for arrival in site.log]
    body, url = "User-agent: *\nDisallow: /x\n", f"{good}/robots.txt"
    assert found[good] == ["successful", 200, url, [], body, True, "", False]
    assert found[moved] == ["successful", 200, url, [url], body, True, "", False]
    assert found[missing] == ["unavailable", 404, f"{missing}/robots.txt", [], "", True, "", True]
    access, status, *_, problem, allowed = found[dead]
    assert (access, status, allowed) == ("unreachable", None, False)
    assert problem
    assert "<" not in problem
    asked.remove((good, "/robots.txt"))  # by the one that moved
    assert sorted(set(asked)) == sorted((one, "/robots.txt") for one in site.origins)
    assert (
        len([one for one, _ in asked if one != dead]) == 3
    )  # a reset connection is dialled again by some clients
    assert list(tmp_path.iterdir()) == []


def test_origins_are_asked_at_the_same_time(tmp_path: Path) -> None:
    with Site([f"127.0.0.{number}" for number in range(1, 31)]) as site:
        site.answer("/robots.txt", robots("", delay=0.3))
        found = fetched(tmp_path, *site.origins)
        times = [arrival.time for arrival in site.log]
    assert len(found) == len(times) == 30
    assert max(times) - min(times) < 0.3 * 15


def test_what_the_store_holds_is_not_asked_again(tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /x\n"))
        rows = [fetched(tmp_path, site.origin, REP_STORE_PATH=str(tmp_path / "store"))[site.origin] for _ in "12"]
        assert site.count("/robots.txt") == 1
    assert [row[5] for row in rows] == [True, False]
    assert rows[0][4] == rows[1][4] != ""


def test_a_failure_is_tried_once_more_by_default(tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", sequence(Answer(503), robots("")))
        assert fetched(tmp_path, site.origin, REP_RETRY_DELAY=0.1)[site.origin][:2] == ["successful", 200]


def test_a_setting_that_cannot_be_ends_it_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettingError, match=r"^REP_TIMEOUT = 'soon': expected a number of seconds above 0$"):
        fetched(tmp_path, "http://127.0.0.1:1", REP_TIMEOUT="soon")
    with pytest.raises(InvalidSettingError, match=r"^EXTENSIONS disables scrapy_rep\.RepExtension"):
        fetched(tmp_path, "http://127.0.0.1:1", EXTENSIONS={"scrapy_rep.RepExtension": None})


LOST = "Connection to the other side was lost in a non-clean fashion: Connection lost."
REFUSED = "Connection was refused by other side: 111: Connection refused."
NO_TLS = "the server does not answer with TLS (wrong version number): try http:// instead of https://"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError("[('SSL routines', '', 'wrong version number')]"), NO_TLS),
        (OSError("Cannot connect [[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)]"), NO_TLS),
        (OSError("[('SSL routines', '', 'certificate verify failed')]"),
         "TLS fails: certificate verify failed"),
        (OSError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed (_ssl.c:1006)"),
         "TLS fails: certificate verify failed: self-signed"),
        (OSError(f"[<twisted.python.failure.Failure twisted.internet.error.ConnectionLost: {LOST}>]"),
         LOST),
        (OSError(f"[<twisted.python.failure.Failure a.B: {LOST}>, <twisted.python.failure.Failure a.C:"
                             f" {LOST}>, <twisted.python.failure.Failure a.D: {REFUSED}>]"), f"{LOST}; {REFUSED}"),
        (FetchError("HTTP status 503"), "HTTP status 503"),
        (TimeoutError(), "timeout error"),
        (KeyError("rules"), "key error: 'rules'"),
        (ValueError("two\nlines and \x1b[31m"), "two lines and \\x1b[31m"),
    ],
)  # fmt: skip
def test_a_failure_is_told_in_words_on_one_line(error: Exception, words: str) -> None:
    assert describe(error) == words


def test_a_project_keeps_its_ways_of_fetching_but_not_those_of_its_pages() -> None:
    project = {
        "REP_RETRY_TIMES": 3,
        "USER_AGENT": "ours",
        "CLOSESPIDER_PAGECOUNT": 1,
        "JOBDIR": "x",
        "FEEDS": {"y": {}},
    }
    settings = Settings(project, priority="project")
    settings.set("CLOSESPIDER_TIMEOUT", 7, priority="cmdline")
    chosen = crawl_settings(settings)
    assert [chosen[name] for name in project] == [3, "ours", 0, None, chosen["ITEM_PIPELINES"]]
    assert dict(chosen["FEEDS"]) == {}
    assert chosen.getint("CLOSESPIDER_TIMEOUT") == 7
    assert chosen["REP_UNREACHABLE_WAIT"] == 5.0
    assert settings["JOBDIR"] == "x"
