"""What scrapy_rep 1.0 wrote is read by each version until 2.0, and what a later version wrote is refused.

The files in ``formats`` are never written again. A changed format gets a new version, and one more file there.
"""

from __future__ import annotations

import base64
import json
import logging
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response

from scrapy_rep import stamp
from scrapy_rep.census import Capture, rows
from scrapy_rep.census.row import Row
from scrapy_rep.crawl.pacing.disk_queue import Journal
from scrapy_rep.crawl.policy.meta import META_KEY
from scrapy_rep.crawl.robots.stores import NullStore
from scrapy_rep.crawl.robots.stores.codec import SCHEMA
from scrapy_rep.crawl.robots.stores.sqlite_file import SqliteFile
from scrapy_rep.extras.fleet.redis_store import RedisStore, decode_json, encode_json
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import Entry
from scrapy_rep.tools.audit.logs import Log
from scrapy_rep.tools.commands import cache
from scrapy_rep.tools.survey.folder import SurveyFolder
from scrapy_rep.tools.watch.copies import FORMAT, Copies, Copy, UnusableFileError
from tests.crawl.pacing.test_disk_queue import journal_of, queue_in
from tests.crawl.pacing.test_priority_queue import Bench
from tests.support.command import command_here
from tests.support.crawl import crawl
from tests.support.direct_connection import DirectConnection, at_once
from tests.support.in_process import crawler_at_rest
from tests.support.simulation import Simulation
from tests.support.site import Site, robots

FORMATS = Path(__file__).with_name("formats")
ORIGIN = Origin("https", "example.com", 443)
BODY = b"User-agent: *\nDisallow: /private\nCrawl-delay: 2\n"
NOW = 1_795_737_600.0
ENTRY = Entry(
    ORIGIN, Access.SUCCESSFUL, ORIGIN.robots_url, 200, BODY, ("https://www.example.com/robots.txt",), NOW,
    NOW + 86_400, '"1"',
)  # fmt: skip
NOTE = "sitemap shop https://example.com/sitemap.xml"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return database("store", tmp_path)


@pytest.fixture
def watched(tmp_path: Path) -> Path:
    return database("watch", tmp_path)


def database(name: str, folder: Path) -> Path:
    """The SQLite file that the statements in *name* make."""
    path = folder / f"{name}.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((FORMATS / f"{name}.sql").read_text("utf-8"))
    return path


def make_later(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")


# The store.


def test_the_store_of_1_0_is_read_and_written(store: Path) -> None:
    with closing(SqliteFile(store)) as file:
        assert file.get(ORIGIN) == ENTRY
        assert file.note(NOTE, NOW) == '{"began":1.0}'
        assert file.lease(ORIGIN, "me", NOW, 60.0)


def test_a_crawl_leaves_the_store_of_a_later_version_alone_and_says_so(store: Path) -> None:
    make_later(store, SCHEMA + 1)
    before = store.read_bytes()
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private\n"))
        result = crawl(f"{site.origin}/page", f"{site.origin}/private", settings={"REP_STORE_PATH": str(store)})
        assert result.urls == [f"{site.origin}/page"]
    (warning,) = result.lines("WARNING", "scrapy_rep")
    assert f"cannot be used (a later version of scrapy_rep made it: schema {SCHEMA + 1}, not {SCHEMA})" in warning
    assert store.read_bytes() == before
    assert [path.name for path in store.parent.iterdir()] == [store.name]


def test_the_commands_say_that_a_store_is_of_a_later_version(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_later(store, SCHEMA + 1)
    assert command_here(cache, "list", REP_STORE_PATH=str(store)) == (2, "")
    assert f"a later version of scrapy_rep made it: schema {SCHEMA + 1}" in capsys.readouterr().err


def test_the_entries_of_1_0_in_redis_are_read() -> None:
    stored = json.loads((FORMATS / "redis.json").read_text("utf-8"))
    assert decode_json(ORIGIN, stored["entry"].encode(), base64.b64decode(stored["body"])) == ENTRY


def test_an_entry_of_a_later_version_in_redis_is_fetched_again_with_one_warning(
    redis_client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    stored = RedisStore(DirectConnection(redis_client), NullStore(), 86_400.0)  # type: ignore[arg-type]
    at_once(stored.put(ENTRY))
    text = encode_json(ENTRY).replace(f'"schema":{SCHEMA}', f'"schema":{SCHEMA + 1}')
    redis_client.set(f"rep:entry:{ORIGIN}", ENTRY.sha256 + text)
    with caplog.at_level(logging.WARNING):
        assert [at_once(stored.get(ORIGIN)) for _ in range(2)] == [None, None]
    (warning,) = caplog.messages
    assert f"another version of scrapy_rep wrote it: schema {SCHEMA + 1}, not {SCHEMA}" in warning


# The audit log and the stamp.


def test_the_audit_log_of_1_0_is_read_and_intact() -> None:
    log = Log(FORMATS / "audit.jsonl")
    assert (log.is_intact, log.notes.number, len(log.runs)) == (True, 0, 1)


def test_a_stamp_without_the_fields_of_later_versions_is_one() -> None:
    first = {"v": 1, "mode": "obey", "verdict": "allowed"}
    request = Request("https://example.com/", meta={META_KEY: {**first, "a_field_of_a_later_version": 1}})
    found = stamp(Response(request.url, request=request))
    assert found is not None
    assert (found.verdict, found.origin, found.line) == ("allowed", None, 0)


# Surveys.


def test_the_survey_of_1_0_is_read() -> None:
    (row,) = SurveyFolder(FORMATS).rows()
    assert row == row_of_1_0()


def test_the_parquet_file_of_1_0_is_read() -> None:
    arrow = pytest.importorskip("scrapy_rep.census.arrow", exc_type=ModuleNotFoundError)
    assert [*arrow.rows_in(FORMATS / "survey.parquet")] == [row_of_1_0()]


def row_of_1_0() -> Row:
    row = Row.from_json((FORMATS / "survey.jsonl").read_text("utf-8"))
    (now,) = rows([Capture(ORIGIN.robots_url, 200, BODY, row.fetched_at)], agents=["GPTBot"])
    assert row.restriction == now["restriction"]
    return row


def test_a_survey_of_a_later_version_is_refused_by_name(tmp_path: Path) -> None:
    row = json.loads((FORMATS / "survey.jsonl").read_text("utf-8"))
    (tmp_path / "survey.jsonl").write_text(json.dumps({**row, "colour": "red"}) + "\n")
    with pytest.raises(
        ValueError, match=r"line 1 is not .+: unknown column 'colour': a later version of scrapy_rep"
    ):
        [*SurveyFolder(tmp_path).earlier_rows()]
    assert "red" in (tmp_path / "survey.jsonl").read_text()


# The file of ``scrapy robots watch``.


def test_the_copies_of_1_0_are_read(watched: Path) -> None:
    with closing(Copies(watched)) as copies:
        assert copies.get(str(ORIGIN)) == Copy(200, NOW, "", BODY)


def test_copies_of_a_later_version_are_refused(watched: Path) -> None:
    make_later(watched, FORMAT + 1)
    with pytest.raises(
        UnusableFileError, match=f"has format {FORMAT + 1}, which this version of scrapy_rep cannot"
    ):
        Copies(watched)


# A JOBDIR.


@pytest.fixture
def job(tmp_path: Path) -> Iterator[tuple[str, Any]]:
    """The folder of a queue of 1.0, and what Scrapy kept of it."""
    folder = tmp_path / "requests.queue"
    shutil.copytree(FORMATS / "requests.queue", folder)
    active = folder / "active.json"
    left = json.loads(active.read_text("utf-8"))
    active.unlink()
    yield str(folder), left
    assert [*folder.iterdir()] == []


def test_a_crawl_goes_on_with_the_jobdir_of_1_0(clock: Simulation, job: tuple[str, Any]) -> None:
    path, left = job
    bench = Bench(clock, path=path, left=left)
    assert bench.pop_all() == ["a/first", "b/1", "a/2"]


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return Path(shutil.copy(FORMATS / "requests.journal", tmp_path))


def left_in(journal: Path) -> list[str]:
    """The URLs that the next crawl finds in *journal*."""
    opened = Journal(crawler_at_rest(), journal)
    try:
        return [opened.hand_out(begin).url for begin in opened.waiting[b""]]
    finally:
        opened.close()


def test_the_journal_of_1_0_is_read(journal: Path) -> None:
    assert left_in(journal) == [f"https://example.com/{number}" for number in (2, 3)]


def test_the_journal_that_names_its_queues_is_read(tmp_path: Path) -> None:
    shutil.copy(FORMATS / "requests.2.journal", tmp_path / "requests.journal")
    queue = queue_in(tmp_path)
    journal = journal_of(queue)
    left = {name: [journal.hand_out(begin).url[-1] for begin in found] for name, found in journal.waiting.items()}
    assert len(queue) == 4
    queue.close()
    assert left == {
        b"example.com https://example.com/0": ["2"],
        b"example.org http://example.org/-9": ["3"],
        b"example.com https://example.com/0s": ["4"],
        b"example.com /0": ["5"],
    }


def test_a_journal_of_a_later_version_is_refused_and_kept(journal: Path) -> None:
    journal.write_bytes(b"REP3" + journal.read_bytes()[4:])
    later = journal.read_bytes()
    for _ in range(2):
        with pytest.raises(ValueError, match="was written by another version of scrapy_rep"):
            left_in(journal)
    assert journal.read_bytes() == later


def test_a_jobdir_of_a_later_version_is_refused(clock: Simulation, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="or by a later version of scrapy_rep"):
        Bench(clock, path=str(tmp_path), left=[["a.example", "http://a.example", [0], "a later field"]])
