"""Whether a log is intact: what a crawl and a crash leave is, what an attacker leaves is not."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from json import loads
from pathlib import Path

import pytest

from scrapy_rep.extras.audit.audit_log import AuditLog
from scrapy_rep.tools.audit import logs
from scrapy_rep.tools.audit.logs import Log

from .sample import COUNTS, EXCEPTED, FORBIDDEN, ROBOTS, RUN, START, chained, end, sums, write


def problems(log: Log) -> list[tuple[int, str]]:
    return [(remark.line, remark.text) for remark in log.problems.first]


def notes(log: Log) -> list[tuple[int, str]]:
    return [(remark.line, remark.text) for remark in log.notes.first]


def test_a_log_of_two_runs_is_intact_and_ends_with_the_hash_of_its_last_line(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", *RUN, *RUN)
    log = Log(path)
    assert (log.is_intact, notes(log), log.lines, len(log.runs)) == (True, [], 20, 2)
    assert log.last_hash == sha256(path.read_bytes().splitlines()[-1]).hexdigest()


Edit = Callable[[list[bytes]], list[bytes]]
NO_ANSWER = "no earlier event has the robots.txt of this decision: a line was removed or changed"
DOUBT = "was changed, or lines were removed, added or swapped here"


@pytest.mark.parametrize(
    ("edit", "line", "text"),
    [
        (lambda lines: [*lines[:4], lines[4].replace(b"/b", b"/c"), *lines[5:]], 6, f"line 5 {DOUBT}"),
        (lambda lines: [*lines[:3], *lines[4:]], 4, f"line 3 {DOUBT}"),
        (lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]], 3, f"line 2 {DOUBT}"),
        (lambda lines: [*lines[:3], lines[2], *lines[3:]], 4, "line 3 was inserted"),
        (lambda lines: [*lines[:3], chained([EXCEPTED], "ab" * 32)[0], *lines[3:]], 5, "line 4 was inserted"),
        (lambda lines: lines[1:], 1, "lines before it were removed"),
        (
            lambda lines: [*lines[:3], lines[3][:40], *lines[4:]],
            4,
            "the line is torn, and no crawl began after it",
        ),
        (lambda lines: [*lines[:3], b'{"a": 1}', *lines[4:]], 4, "the line is not an event"),
        (lambda lines: [*lines, *chained([EXCEPTED], sha256(lines[-1]).hexdigest())], 11, "was added later"),
        (
            lambda lines: chained([event for event in map(loads, lines) if event["event"] != "robots"]),
            2,
            NO_ANSWER,
        ),
        (
            lambda lines: chained(
                [loads(line.replace(b"abab", b"abac")) for line in lines[:2]] + [*map(loads, lines[2:])]
            ),
            3,
            NO_ANSWER,
        ),
    ],
    ids=[
        "edit",
        "delete",
        "swap",
        "repeat",
        "insert",
        "behead",
        "tear",
        "overwrite",
        "append",
        "no robots",
        "other robots",
    ],
)
def test_a_change_is_named_with_its_line(tmp_path: Path, edit: Edit, line: int, text: str) -> None:
    path = write(tmp_path / "a.jsonl", *RUN)
    path.write_bytes(b"\n".join(edit(path.read_bytes().splitlines())) + b"\n")
    assert any(number == line and text in found for number, found in problems(Log(path))), problems(Log(path))


def test_lines_that_are_removed_at_the_end_are_not_seen_but_change_the_last_hash(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", *RUN)
    before = Log(path)
    path.write_bytes(b"\n".join(path.read_bytes().splitlines()[:-2]) + b"\n")
    after = Log(path)
    assert (after.is_intact, after.last_hash != before.last_hash) == (True, True)


@pytest.mark.parametrize(
    ("events", "counts"),
    [
        ([e for e in RUN if e is not FORBIDDEN], ("1 requests as forbidden", "0")),
        ([*RUN[:-2], sums(**{**COUNTS, "allowed": 90}), RUN[-1]], ("91 requests as allowed", "90")),
        ([START, sums(excepted=1)], ("1 requests as excepted", "0")),
        ([START, sums(excepted=1), *RUN], ("1 requests as excepted", "0")),
    ],
)  # fmt: skip
def test_a_chain_that_was_computed_anew_still_has_to_add_up(
    tmp_path: Path, events: list[object], counts: tuple[str, str]
) -> None:
    ((_, found),) = problems(Log(write(tmp_path / "a.jsonl", *events)))
    assert (counts[0] in found, found.endswith(f"count {counts[1]}: lines were removed or changed")) == (
        True,
        True,
    )


def test_a_log_without_its_beginning_says_so_even_with_a_new_chain(tmp_path: Path) -> None:
    log = Log(write(tmp_path / "a.jsonl", EXCEPTED, end(excepted=0)))
    assert problems(log)[0] == (1, "the log does not begin with the start of a run: its beginning is missing")


def test_a_last_line_that_a_killed_process_tore_is_said_and_is_no_change(tmp_path: Path) -> None:
    log = Log(write(tmp_path / "a.jsonl", START, ROBOTS, EXCEPTED, b'{"event":"dec', end=b""))
    assert log.is_intact
    assert notes(log) == [
        (4, "the last line is torn: the process was killed while writing it"),
        (4, "the last run has no end: it is still running, or its process was killed"),
    ]


@pytest.mark.parametrize("torn", [b'{"event":"dec', b'{"event":"decision","exception":{}', b'{"event":{}'])
def test_a_line_that_was_torn_before_the_next_crawl_began_is_no_change(tmp_path: Path, torn: bytes) -> None:
    log = Log(write(tmp_path / "a.jsonl", START, ROBOTS, EXCEPTED, torn, *RUN))
    assert log.is_intact
    assert notes(log)[0] == (4, "the line is torn: the process was killed, and a later crawl continued")
    assert notes(log)[1] == (5, "the previous run has no end: its process was killed")


def test_a_crawl_goes_on_behind_a_torn_line_for_real(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", START, b'{"event":"dec', end=b"")
    audit = AuditLog(path)
    audit.add("start", **{name: value for name, value in START.items() if name != "event"})
    audit.close()
    assert (Log(path).is_intact, len(Log(path).runs)) == (True, 2)


@pytest.mark.parametrize("content", [b"", b"\0" * 10_000, b"[[[[", b'{"event":"sta'])
def test_what_holds_no_run_is_no_intact_log(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.jsonl").write_bytes(content)
    ((line, text),) = problems(Log(tmp_path / "a.jsonl"))
    assert (line, text.startswith("the log holds no run: ")) == (0, True)


BODY = b"User-agent: *\nDisallow: /\n"
DIGEST = sha256(BODY).hexdigest()


def with_body(digest: object) -> list[object]:
    seen = {"event": "robots", "origin": "https://a.example", "access": "successful", "sha256": digest}
    return [START, seen, seen, end()]


def test_bodies_are_there_and_unchanged(tmp_path: Path) -> None:
    (tmp_path / f"{DIGEST}.txt").write_bytes(BODY)
    log = Log(write(tmp_path / "a.jsonl", *with_body(DIGEST)), tmp_path)
    assert log.bodies
    assert (log.is_intact, log.bodies.checked) == (True, 1)


@pytest.mark.parametrize(
    ("digest", "text"),
    [
        (DIGEST, "was changed: its SHA-256 is "),
        ("ab" * 32, f"{'ab' * 32}.txt is missing"),
        ("cd" * 32, f"{'cd' * 32}.txt is missing"),
        ("../secret", "../secret is not a SHA-256: the line was changed"),
        ("A" * 64, "is not a SHA-256"),
    ],
    ids=["altered", "missing", "folder", "path", "capitals"],
)
def test_a_body_that_is_missing_or_altered_is_named_with_the_line(tmp_path: Path, digest: str, text: str) -> None:
    (tmp_path / f"{DIGEST}.txt").write_bytes(BODY + b" ")
    (tmp_path / "secret.txt").write_bytes(b"")
    (tmp_path / f"{'cd' * 32}.txt").mkdir()
    ((line, found), *_) = problems(Log(write(tmp_path / "a.jsonl", *with_body(digest)), tmp_path))
    assert (line, text in found) == (2, True)


def test_runs_beyond_the_limit_are_summed_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "_MOST_RUNS", 2)
    log = Log(write(tmp_path / "a.jsonl", *RUN, *RUN, *RUN, *RUN))
    assert (log.is_intact, len(log.runs), log.runs_left_out) == (True, 2, 2)
    assert log.runs[1].counts["excepted"] == 6


OTHERS = [b"User-agent: *\nDisallow: /\n", b"\x8f\n\0\n", b'{"event": "GET"}\n{"url": "/"}\n']


@pytest.mark.parametrize("content", OTHERS)
def test_a_file_of_another_kind_is_no_log_whatever_its_lines_are(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "other").write_bytes(content)
    with pytest.raises(ValueError, match="not an audit log: none of its lines is an event"):
        Log(tmp_path / "other")


def test_remarks_beyond_the_limit_are_counted(tmp_path: Path) -> None:
    log = Log(write(tmp_path / "a.jsonl", START, *[b"{}"] * 50))
    assert (len(log.problems.first), log.problems.number) == (20, 50)
