"""What the commands read: of any file no more than they need, and never for ever."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from scrapy_rep.tools import files
from scrapy_rep.tools.commands import audit, decide, diff, explain, lint, survey
from scrapy_rep.tools.commands.inputs import InputError, origin_of, read_lines
from tests.support.command import command_here

RULES = b"User-agent: *\nDisallow: /a\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good").write_bytes(RULES)
    return tmp_path


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    Path("list").write_bytes(b"\xef\xbb\xbfa.example\r\n\r\nb.example\n")
    assert [*read_lines("list")] == ["a.example", "b.example"]


READERS = pytest.mark.parametrize(
    ("command", "arguments"),
    [
        (lint, ["BAD"]),
        (lint, ["--config", "BAD", "good"]),
        (explain, ["/a", "--file", "BAD"]),
        (diff, ["good", "BAD"]),
        (diff, ["good", "good", "--urls", "BAD"]),
        (decide, ["--robots", ".", "--urls", "BAD"]),
        (survey, ["--from-file", "BAD"]),
        (audit, ["BAD"]),
    ],
)


@READERS
def test_a_named_pipe_is_refused_since_its_writer_may_never_come(
    pipe: Path, capsys: pytest.CaptureFixture[str], *, command: ModuleType, arguments: list[str]
) -> None:
    try:
        code, _ = command_here(command, *(str(pipe) if each == "BAD" else each for each in arguments))
        err = capsys.readouterr().err
    except OSError as error:  # as `run_module` prints it
        code, err = 2, str(error)
    assert (code, "not a regular file" in err) == (2, True)


@READERS
def test_a_device_that_never_ends_is_not_read_to_its_end(
    monkeypatch: pytest.MonkeyPatch, *, command: ModuleType, arguments: list[str]
) -> None:
    monkeypatch.setattr(files, "MOST_OCTETS", 1_000_000)
    code, _ = command_here(command, *("/dev/zero" if each == "BAD" else each for each in arguments))
    assert code == (1 if command is audit else 2)


def test_a_file_larger_than_any_robots_txt_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], given_here: Callable[[bytes], None]
) -> None:
    monkeypatch.setattr(files, "MOST_OCTETS", len(RULES))
    assert command_here(explain, "/a", "--file", "good")[0] == 1
    monkeypatch.setattr(files, "MOST_OCTETS", len(RULES) - 1)
    given_here(RULES)
    for name in ("good", "-"):
        assert command_here(explain, "/a", "--file", name) == (2, "")
        assert (
            capsys.readouterr().err
            == f"scrapy robots explain: error: {name}: larger than {len(RULES) - 1} bytes\n"
        )


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (gzip.compress(RULES, mtime=0), "a gzip file, not plain text; unpack it first"),
        (b"WARC/1.0\r\n\r\n" + RULES, "a WARC file, not plain text; scrapy robots survey --warc reads it"),
        (b"PAR1\x15" + RULES, "a Parquet file, not plain text; scrapy robots survey --rows reads it"),
        (b"\x89PNG\r\n\x1a\n\0\1", "a PNG image, not plain text"),
        (b"\0" * 300, "a binary file, not plain text"),
    ],
)
def test_a_binary_file_is_refused_by_name(
    capsys: pytest.CaptureFixture[str], given_here: Callable[[bytes], None], *, body: bytes, problem: str
) -> None:
    Path("BAD").write_bytes(body)
    given_here(body)
    for command, *arguments in ((explain, "/a", "--file", "BAD"), (diff, "good", "BAD"), (diff, "-", "good")):
        assert command_here(command, *arguments)[0] == 2
        assert f": {problem}\n" in capsys.readouterr().err
    assert command_here(decide, "--robots", ".", "--urls", "BAD")[0] == 2


def test_the_rules_in_a_warc_file_are_not_those_of_a_robots_txt() -> None:
    Path("BAD").write_bytes(b"WARC/1.0\r\n\r\n" + RULES)
    code, out = command_here(lint, "BAD")
    assert (code, "(binary-file)" in out, "1 file: 1 error\n" in out) == (1, True, True)
    assert "This is a WARC file (scrapy robots survey --warc reads it), not a text file:" in out


def test_a_web_archive_is_no_list_of_sites() -> None:
    for body in (record := b"WARC/1.0\r\nWARC-Type: warcinfo\r\n\r\n", gzip.compress(record, mtime=0)):
        Path("BAD").write_bytes(body)
        with pytest.raises(InputError, match=r"BAD: .* not plain text; scrapy robots survey --warc reads it"):
            list(read_lines("BAD"))


@pytest.mark.parametrize("name", ["not a url", "exa mple.com", "https://a<b", "x|y", "a\\b.example"])
def test_what_no_host_contains_is_in_no_origin(name: str) -> None:
    with pytest.raises(InputError, match="no host contains"):
        origin_of(name)


@pytest.mark.parametrize("name", ["a_b.example", "[::1]:80", "xn--mnchen-3ya.example", "münchen.example", "a%20b"])
def test_an_odd_host_is_one(name: str) -> None:
    assert origin_of(name).host
