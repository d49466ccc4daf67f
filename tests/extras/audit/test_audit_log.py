"""The audit log: whole lines in a chain, whatever happens to the process, the disk or the file."""

from __future__ import annotations

import errno
import json
import logging
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event
from time import monotonic, sleep

import pytest

from scrapy_rep.extras.audit import audit_log
from scrapy_rep.extras.audit.audit_log import AuditLog
from scrapy_rep.tools.audit.logs import read_events


def write(path: Path, *events: str) -> Path:
    log = AuditLog(path)
    for event in events:
        log.add(event, url=f"https://example.com/{event}")
    log.close()
    return log.path


def problems(path: Path) -> list[tuple[int, str]]:
    return [(line.number, line.flaw) for line in read_events(path) if line.flaw]


def test_each_event_is_a_line_of_json_in_a_chain(tmp_path: Path) -> None:
    path = write(tmp_path / "deep" / "audit.jsonl", "start", "décision", "end")
    assert [json.loads(line)["event"] for line in path.read_text("utf-8").splitlines()] == [
        "start",
        "décision",
        "end",
    ]
    assert problems(path) == []


def test_a_second_crawl_goes_on_with_the_chain(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    write(path, "start", "x" * 200_000)
    write(path, "start", "end")
    assert len(path.read_text().splitlines()) == 4
    assert problems(path) == []


@pytest.mark.parametrize(
    ("edit", "at"),
    [
        (lambda lines: [lines[0], lines[1].replace("two", "2wo"), *lines[2:]], 3),
        (lambda lines: [lines[0], *lines[2:]], 2),
        (lambda lines: [lines[0], lines[2], lines[1], lines[3]], 2),
        (lambda lines: lines[1:], 1),
        (lambda lines: [lines[0], lines[0], *lines[1:]], 2),
    ],
    ids=["changed", "removed", "swapped", "first-removed", "repeated"],
)
def test_a_log_that_was_edited_shows_it(tmp_path: Path, edit: object, at: int) -> None:
    path = write(tmp_path / "audit.jsonl", "one", "two", "three", "four")
    lines = path.read_text().splitlines()
    path.write_text("\n".join(edit(lines)) + "\n")  # type: ignore[operator]
    assert problems(path)[0][0] == at


def test_a_killed_process_tears_the_last_line_at_most(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    code = (
        "from pathlib import Path; from scrapy_rep.extras.audit.audit_log import AuditLog; import sys\n"
        "log = AuditLog(Path(sys.argv[1]))\nwhile True: log.add('decision', url='x' * 1000)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(path)]) as process:
        end = monotonic() + 20
        while monotonic() < end and not (path.exists() and path.stat().st_size > 100_000):
            sleep(0.01)
        process.send_signal(signal.SIGKILL)
    count = len(path.read_bytes().splitlines())
    assert count > 50
    assert [number for number, _ in problems(path)] in ([], [count])
    write(path, "start")
    assert [problem for _, problem in problems(path)] in ([], ["torn"])


def test_two_processes_with_one_path_write_a_file_each(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("fcntl")
    first = AuditLog(tmp_path / "audit.jsonl")
    second = AuditLog(tmp_path / "audit.jsonl")
    first.add("start")
    second.add("start")
    first.close()
    second.close()
    assert second.path.name == f"audit-{os.getpid()}.jsonl"
    assert "Another crawl writes to the audit log" in caplog.text
    assert problems(first.path) == problems(second.path) == []


def test_any_number_of_crawls_with_one_path_write_a_file_each(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    logs = [AuditLog(tmp_path / "audit.jsonl") for _ in range(5)]
    for log in logs:
        log.add("start")
        log.close()
    assert len({log.path for log in logs}) == 5
    assert [problems(log.path) for log in logs] == [[]] * 5


def test_a_file_system_without_locks_takes_a_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")

    def flock(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    assert write(tmp_path / "audit.jsonl", "start").name == "audit.jsonl"


def test_crawls_of_one_process_may_keep_the_same_body_at_once(tmp_path: Path) -> None:
    for _ in range(20):
        logs = [AuditLog(tmp_path / f"{n}.jsonl", bodies=tmp_path / "bodies") for n in range(4)]
        name = f"{random.getrandbits(256):064x}"
        for log in logs:
            log.add_body(name, b"x" * 1_000_000)
        for log in logs:
            log.close()
        assert [log.error for log in logs] == [None] * 4


def test_what_was_decided_before_a_body_failed_is_written(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl", bodies=tmp_path / "bodies")
    (tmp_path / "bodies").rmdir()
    for event in ("start", "decision"):
        log.add(event)
    log.add_body("ab" * 32, b"")
    log.close()
    assert isinstance(log.error, OSError)
    assert [line.event["event"] for line in read_events(log.path) if line.event] == ["start", "decision"]


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be deleted there")
def test_a_log_that_is_deleted_has_failed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    log.add("start")
    end = monotonic() + 10
    while not log.path.stat().st_size and monotonic() < end:
        sleep(0.01)
    log.path.unlink()
    log.add("decision")
    log.close()
    assert isinstance(log.error, FileNotFoundError)
    assert "cannot be written (it was deleted): logging stopped" in caplog.text


def test_a_disk_that_hangs_does_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    disk = Event()
    monkeypatch.setattr(audit_log, "_MAX_WAITING", 100)
    monkeypatch.setattr(audit_log, "_line", lambda event: disk.wait(20) and str(event["event"]).encode())
    log = AuditLog(tmp_path / "audit.jsonl")
    for number in range(1_000):
        log.add(str(number))
    assert isinstance(log.error, OSError)
    disk.set()
    log.close()
    assert caplog.text.count("cannot be written (100 events wait for the disk)") == 1
    assert 100 <= len(log.path.read_bytes().splitlines()) <= 300


def test_a_line_holds_no_character_that_steers_a_terminal_or_ends_a_line(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    text = "a\nb\u2028c\x85d\x9b2Je\u202ef\udc80g\x00é"
    log.add("decision", referer=text)
    log.add("décision")
    log.close()
    lines = log.path.read_text("utf-8").splitlines()
    assert all(map(str.isprintable, lines))
    assert json.loads(lines[0])["referer"] == text
    assert "décision" in lines[1]
    assert problems(log.path) == []


def test_a_value_that_is_not_json_does_not_end_the_log(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    log.add("start", user_agent=b"bot")
    log.close()
    assert log.error is None
    assert json.loads(log.path.read_text())["user_agent"] == "b'bot'"


def test_a_file_that_may_not_grow_tears_one_line(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    log = AuditLog(tmp_path / "audit.jsonl")
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
        for number in range(1_000):
            log.add("decision", number=number)
        log.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert isinstance(log.error, OSError)
    assert {problem for _, problem in problems(log.path)} <= {"torn"}
    write(log.path, "start", "end")
    assert [problem for _, problem in problems(log.path)] in ([], ["torn"])


def test_a_body_is_kept_once_under_its_sha256(tmp_path: Path) -> None:
    for _ in range(2):
        log = AuditLog(tmp_path / "audit.jsonl", bodies=tmp_path / "bodies")
        log.add_body("ab" * 32, b"User-agent: *\n")
        log.close()
    (kept,) = (tmp_path / "bodies").iterdir()
    assert (kept.name, kept.read_bytes()) == (f"{'ab' * 32}.txt", b"User-agent: *\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    log = AuditLog(Path("/dev/full"))
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            log.add("decision")
            sleep(0.3)
        log.close()
    assert isinstance(log.error, OSError)
    assert caplog.text.count("cannot be written") == 1
