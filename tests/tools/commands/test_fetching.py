"""The crawl in which a command fetches robots.txt files: each test is a process with a crawl of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from scrapy.settings import Settings

from scrapy_rep.tools.commands.crawl_runner import crawl_settings
from tests.support.crawl import on_each_loop
from tests.support.site import Answer, Site, redirect, reset, robots, sequence

ROOT = Path(__file__).parents[3]
SCRIPT = """
import json, sys
from scrapy.utils.project import get_project_settings
from scrapy_rep.tools.commands.fetching import fetch_each
from scrapy_rep.protocol import Origin

settings = get_project_settings()
settings.set("LOG_ENABLED", False, priority="command")
settings.setdict(json.loads(sys.argv[1]), priority="cmdline")

def found(fetched):
    entry = fetched.entry
    print(json.dumps([str(fetched.origin), fetched.robots.access.value, entry.status, entry.url, list(entry.hops),
        entry.body.decode(), fetched.is_fresh, fetched.problem, fetched.robotstxt.verdict("a", "/x").allowed]))

try:
    fetch_each(map(Origin.from_url, sys.argv[2:]), settings, found)
except ValueError as error:
    print(error)
"""
LOOP_SETTINGS: dict[str, dict[str, Any]] = {
    "asyncio": {},
    "twisted": {"TWISTED_REACTOR": None},
    "reactorless": {"TWISTED_REACTOR_ENABLED": False},
}


def fetched(folder: Path, *urls: str, loop: str = "asyncio", **settings: Any) -> dict[str, list[Any]]:
    """What came of each origin, by its URL."""
    out = run_script(folder, *urls, settings={**LOOP_SETTINGS[loop], **settings})
    rows = [json.loads(line) for line in out.splitlines()]
    assert len(rows) == len(urls), out
    return {row[0]: row[1:] for row in rows}


def run_script(folder: Path, *urls: str, settings: dict[str, Any]) -> str:
    process = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(settings), *urls],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (process.returncode, process.stderr) == (0, b"")
    return process.stdout.decode()


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
    out = run_script(tmp_path, "http://127.0.0.1:1", settings={"REP_TIMEOUT": "soon"})
    assert out == "REP_TIMEOUT = 'soon': expected a number of seconds above 0\n"
    out = run_script(tmp_path, "http://127.0.0.1:1", settings={"EXTENSIONS": {"scrapy_rep.RepExtension": None}})
    assert out.startswith("EXTENSIONS disables scrapy_rep.RepExtension")


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
