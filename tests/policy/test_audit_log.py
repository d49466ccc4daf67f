"""The audit log: whole lines in a chain, whatever happens to the process, the disk or the file."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest

from scrapy_rep.policy.audit_log import AuditLog, read_events


def write(path: Path, *events: str) -> Path:
    log = AuditLog(path)
    for event in events:
        log.add(event, url=f"https://example.com/{event}")
    log.close()
    return log.path


def problems(path: Path) -> list[tuple[int, str]]:
    return [(line.number, line.flaw) for line in read_events(path) if line.flaw]


def test_ours_each_event_is_a_line_of_json_in_a_chain(tmp_path: Path) -> None:
    path = write(tmp_path / "deep" / "audit.jsonl", "start", "décision", "end")
    assert [json.loads(line)["event"] for line in path.read_text("utf-8").splitlines()] == [
        "start",
        "décision",
        "end",
    ]
    assert problems(path) == []


def test_ours_a_second_crawl_goes_on_with_the_chain(tmp_path: Path) -> None:
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
def test_ours_a_log_that_was_edited_shows_it(tmp_path: Path, edit: object, at: int) -> None:
    path = write(tmp_path / "audit.jsonl", "one", "two", "three", "four")
    lines = path.read_text().splitlines()
    path.write_text("\n".join(edit(lines)) + "\n")  # type: ignore[operator]
    assert problems(path)[0][0] == at


def test_ours_a_killed_process_tears_the_last_line_at_most(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    code = (
        "from pathlib import Path; from scrapy_rep.policy.audit_log import AuditLog; import sys\n"
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


def test_ours_two_processes_with_one_path_write_a_file_each(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("fcntl")
    first = AuditLog(tmp_path / "audit.jsonl")
    second = AuditLog(tmp_path / "audit.jsonl")
    first.add("start")
    second.add("start")
    first.close()
    second.close()
    assert second.path.name == f"audit-{os.getpid()}.jsonl"
    assert "Another process writes to the audit log" in caplog.text
    assert problems(first.path) == problems(second.path) == []


def test_ours_a_body_is_kept_once_under_its_sha256(tmp_path: Path) -> None:
    for _ in range(2):
        log = AuditLog(tmp_path / "audit.jsonl", bodies=tmp_path / "bodies")
        log.add_body("ab" * 32, b"User-agent: *\n")
        log.close()
    (kept,) = (tmp_path / "bodies").iterdir()
    assert (kept.name, kept.read_bytes()) == (f"{'ab' * 32}.txt", b"User-agent: *\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_ours_a_full_disk_is_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    log = AuditLog(Path("/dev/full"))
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            log.add("decision")
            sleep(0.3)
        log.close()
    assert isinstance(log.error, OSError)
    assert caplog.text.count("cannot be written") == 1
