"""``scrapy robots fleet``: what is in the queue of hosts, at a shell."""

from __future__ import annotations

import json
import os
import pty
import re
from collections.abc import Callable
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from redis import Redis

from scrapy_rep.extras.fleet.host_queue import FORMAT
from scrapy_rep.tools.commands import fleet
from tests.support.command import command_here, scrapy_process
from tests.support.redis_server import RedisServer, free_port

QUEUE = "shop:requests"
WORKER = "4711-8f1d"
ROOT = Path(__file__).parents[3]

Fleet = Callable[..., tuple[int, str]]


@pytest.fixture
def queue(redis_client: Redis) -> Redis:
    """A queue of five sites: one is ready, two wait, and the robots.txt of one of two new ones is loaded."""
    seconds, part = redis_client.time()
    now = 1_000_000 * seconds + part
    key = f"{QUEUE}:hosts:"
    redis_client.mset({f"{key}format": FORMAT, f"{key}number": 1_040, f"{key}count": 40})
    redis_client.zadd(
        f"{key}sites", {"a.example": now - 10, "b.example": now + 60_000_000, "c.example": now + 3_600_000_000}
    )
    redis_client.zadd(f"{key}new", {"d.example": now - 10, "e.example": now + 30_000_000})
    redis_client.mset({f"{key}delay:a.example": 0, f"{key}delay:b.example": 1_010_000})
    redis_client.zadd(f"{key}queue:b.example", {"000000000000001x": 0, "000000000000002y": 0})
    redis_client.zadd(f"{key}workers", {WORKER: now + 30_000_000, "\x1b[31m": now - 5})
    redis_client.hset(f"{key}claims:{WORKER}", mapping={"1": "x", "2": "y", "3": "z"})
    redis_client.rpush(f"{key}unreadable", "x")
    return redis_client


@pytest.fixture
def shown(redis_server: RedisServer, queue: Redis) -> Fleet:
    return lambda *arguments: command_here(fleet, "--key", QUEUE, *arguments, REP_REDIS_URL=redis_server.url)


def test_json_has_what_is_in_redis(shown: Fleet, queue: Redis) -> None:
    Timer(0.5, queue.decrby, [f"{QUEUE}:hosts:count", 5]).start()
    code, out = shown("--json")
    facts = json.loads(out)
    sums = ("sites", "ready", "waiting", "new", "loading", "queued", "claimed", "unreadable", "handled")
    assert (code, facts["key"], [facts[name] for name in sums]) == (0, QUEUE, [5, 1, 2, 2, 1, 32, 3, 1, 1_005])
    assert 3 < facts["pages_per_second"] <= 5
    assert (round(facts["next_start_in"], -1), round(facts["last_start_in"], -2)) == (60, 3_600)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", facts["at"])
    assert [(row["worker"], row["claimed"], row["lease_left"] > 0) for row in facts["workers"]] == [
        ("\x1b[31m", 0, False),
        (WORKER, 3, True),
    ]
    assert [(row["site"], row["queued"], row["delay"], row["start_in"] > 0) for row in facts["next_sites"]] == [
        ("a.example", 0, 0, False),
        ("b.example", 2, 1.01, True),
        ("c.example", 0, 0, True),
    ]


def test_a_table_is_for_people(shown: Fleet) -> None:
    code, out = shown()
    out = re.sub(r"\d+(\.\d)? s\b", "N s", out)
    assert code == 0
    assert (
        "sites     5: 1 ready, 2 waiting (next in N s, last in N min N s), 2 new, 1 loading robots.txt\n"
        in re.sub(r"\d+ min", "N min", out)
    )
    assert "requests  37 queued, 3 claimed, 1 unreadable\npages     1,000 handled, 0.0 a second\n" in out
    assert re.search(rf"^{WORKER} +3 +in N s$", out, re.MULTILINE)
    assert re.search(r"^\\x1b\[31m +0 +now$", out, re.MULTILINE)
    assert re.search(r"^a\.example +0 +now +-$", out, re.MULTILINE)


def test_what_a_look_costs_does_not_grow_with_the_number_of_sites(shown: Fleet, queue: Redis) -> None:
    def cost() -> int:
        queue.config_resetstat()
        shown()
        stats: Any = queue.info("commandstats")
        assert not {"cmdstat_keys", "cmdstat_scan", "cmdstat_zscan"} & stats.keys()
        return sum(one["calls"] for one in stats.values())

    few = {f"few{number}.example": 0 for number in range(17)}
    queue.zadd(f"{QUEUE}:hosts:sites", few)
    before = cost()
    queue.zadd(f"{QUEUE}:hosts:sites", {f"many{number}.example": 1 for number in range(5_000)})
    assert cost() == before


def test_the_queue_is_that_of_a_spider_of_the_project(
    queue: Redis, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(ROOT / "example_project")
    settings = {"SPIDER_MODULES": ["example.spiders"], "REDIS_URL": redis_server.url, "REP_REDIS_URL": "redis://x"}
    assert command_here(fleet, "--json", **settings) == (2, "")
    assert f"Redis at 127.0.0.1:{redis_server.port}/0 has no queue of hosts called ask:requests or " in err(capsys)
    queue.rename(f"{QUEUE}:hosts:format", "fleet:requests:hosts:format")
    code, out = command_here(fleet, "--json", **settings)
    facts = json.loads(out)
    assert (code, facts["key"], facts["sites"], facts["workers"]) == (0, "fleet:requests", 0, [])
    queue.set("links:requests:hosts:format", FORMAT)
    assert command_here(fleet, **settings)[0] == 2
    assert "has 2 queues of hosts called fleet:requests or links:requests: name one by --key\n" in err(capsys)


def err(capsys: pytest.CaptureFixture[str]) -> str:
    text = capsys.readouterr().err
    assert text.startswith("scrapy robots fleet: error: ")
    assert text.count("\n") == 1
    return text


def test_what_cannot_be_shown_is_told_in_one_line(
    shown: Fleet, queue: Redis, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_here(fleet, "--key", "x") == (2, "")
    assert "no setting names a Redis" in err(capsys)
    away = f"redis://:secret@127.0.0.1:{free_port()}"
    assert command_here(fleet, "--key", "x", REP_REDIS_URL=away) == (2, "")
    assert re.search(r"Redis at 127\.0\.0\.1:\d+/0 does not answer: .*refused", text := err(capsys))
    assert "secret" not in text
    assert command_here(fleet, REP_REDIS_URL=away) == (2, "")
    assert "there are no spiders here: name the queue, such as --key myspider:requests" in err(capsys)
    queue.set(f"{QUEUE}:hosts:format", "0")
    assert shown() == (2, "")
    assert f"{QUEUE} has format 0, not {FORMAT}: use the workers' scrapy_rep" in err(capsys)


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "json"])
def test_watch_waits_for_the_queue_and_writes_a_line_for_each_look_into_a_file(
    redis_server: RedisServer, options: tuple[str, ...]
) -> None:
    arguments = ("robots", "fleet", "--key", QUEUE, "--watch", *options, "-s", f"REP_REDIS_URL={redis_server.url}")
    with scrapy_process(*arguments) as process:
        assert process.stdout
        first = process.stdout.readline().decode()
        assert "has no queue of hosts" in (json.loads(first)["error"] if options else first)
        with redis_server.client() as client:
            client.set(f"{QUEUE}:hosts:format", FORMAT)
        second = process.stdout.readline().decode()
        assert json.loads(second)["sites"] == 0 if options else "  sites 0: 0 ready, " in second
        process.send_signal(2)
        assert process.communicate(timeout=30) == (b"", b"")
        assert process.returncode == 0


def test_watch_redraws_a_table_on_a_terminal(
    redis_server: RedisServer, queue: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    monkeypatch.setenv("LINES", "12")
    ours, theirs = pty.openpty()
    arguments = ("robots", "fleet", "--key", QUEUE, "--watch", "-s", f"REP_REDIS_URL={redis_server.url}")
    with scrapy_process(*arguments, stdout=theirs) as process:
        text = b""
        while text.count(b"\x1b[J") < 2:
            text += os.read(ours, 4_096)
        process.send_signal(2)
        assert process.wait(30) == 0
    first, second = text.decode().split("\x1b[J")[:2]
    height = first.count("\n")
    assert height == 11, "one line less than the screen has"
    assert second.startswith(f"\x1b[{height}F")
    assert max(len(line) for line in first.split("\x1b[K\r\n")) <= 69
    assert "a.example" in second
    queue.flushall()
    os.close(ours)
    os.close(theirs)
