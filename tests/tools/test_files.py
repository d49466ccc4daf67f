"""Files in folders, and the tables that are written."""

from __future__ import annotations

import gzip
import io
import lzma
from pathlib import Path

import pytest

from scrapy_rep.tools.files import (
    PARQUET,
    WARC,
    WARC_IN_GZIP,
    binary_kind,
    files_in,
    not_plain_text,
    require_text,
    write_csv,
    wrong_place,
)

RULES = b"User-agent: *\nDisallow: /\n"
IN_ARC = b"filedesc://a.arc 127.0.0.1 20100101000000 text/plain 76\n" + RULES
IN_WARC = b"WARC/1.0\r\nWARC-Type: response\r\n\r\n" + RULES
IN_PARQUET = b"PAR1\x15\x04" + RULES


def test_files_are_found_in_order_and_not_in_hidden_folders(tmp_path: Path) -> None:
    names = ["b", "a/z", "a/y", "c/x", "skip/x", ".git/x", ".hidden"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = files_in(tmp_path, is_searched=lambda folder: folder.name != "skip")
    assert [path.relative_to(tmp_path).as_posix() for path in found] == [".hidden", "b", "a/y", "a/z", "c/x"]


def test_a_folder_that_is_not_there_raises(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        next(files_in(tmp_path / "none"))


def test_no_cell_of_csv_is_a_formula() -> None:
    out = io.StringIO()
    write_csv([["=1+1", "-x", "@x", "\tx", "x-1", -1]], out)
    assert out.getvalue() == "'=1+1,'-x,'@x,'\tx,x-1,-1\r\n"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (IN_WARC, WARC),
        (gzip.compress(IN_WARC, mtime=0), WARC_IN_GZIP),
        (gzip.compress(IN_WARC * 10_000, mtime=0)[:300], WARC_IN_GZIP),
        (gzip.compress(RULES, mtime=0), "a gzip file"),
        (IN_ARC, "an ARC file"),
        (gzip.compress(IN_ARC, mtime=0), "an ARC file"),
        (b"\x1f\x8b\x08\0 cut off", "a gzip file"),
        (IN_PARQUET, PARQUET),
        (b"PAR1\n" + RULES, ""),
        (RULES, ""),
    ],
)
def test_a_file_of_captures_is_told_from_one_of_rules(body: bytes, kind: str) -> None:
    assert binary_kind(body) == kind


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (IN_WARC, "a WARC file, not plain text; scrapy robots survey --warc reads it"),
        (
            gzip.compress(IN_WARC, mtime=0),
            "a gzip-compressed WARC file, not plain text; scrapy robots survey --warc reads it",
        ),
        (IN_PARQUET, "a Parquet file, not plain text; scrapy robots survey --rows reads it"),
        (gzip.compress(RULES, mtime=0), "a gzip file, not plain text; unpack it first"),
        (lzma.compress(RULES), "an xz file, not plain text; unpack it first"),
        (IN_ARC, "an ARC file, not plain text"),
        (b"GIF89a", "a GIF image, not plain text"),
    ],
)
def test_who_gives_another_file_for_a_robots_txt_learns_what_reads_it(body: bytes, problem: str) -> None:
    assert not_plain_text(binary_kind(body)) == problem
    with pytest.raises(OSError, match=problem):
        require_text(body)


@pytest.mark.parametrize(
    ("body", "wanted", "problem"),
    [
        (IN_WARC, "a folder", "a WARC file, not a folder; scrapy robots survey --warc reads it"),
        (IN_PARQUET, WARC, "a Parquet file, not a WARC file; scrapy robots survey --rows reads it"),
        (
            RULES,
            WARC,
            "a text file, not a WARC file; scrapy robots survey --files reads the folder that it is in",
        ),
        (b"GIF89a", WARC, "a GIF image, not a WARC file"),
        (b"", WARC, "an empty file, not a WARC file"),
    ],
)
def test_a_file_in_the_wrong_place_is_named_with_what_reads_it(
    tmp_path: Path, body: bytes, wanted: str, problem: str
) -> None:
    (tmp_path / "it").write_bytes(body)
    assert wrong_place(tmp_path / "it", wanted) == problem


@pytest.mark.parametrize(
    ("body", "wanted", "problem"),
    [
        (RULES, WARC, "a folder, not a WARC file; scrapy robots survey --files reads it"),
        (IN_PARQUET, WARC, "a folder, not a WARC file; scrapy robots survey --rows reads it"),
        (IN_WARC, PARQUET, "a folder, not a Parquet file; scrapy robots survey --warc reads the files in it"),
    ],
)
def test_a_folder_in_the_wrong_place_is_named_with_what_reads_it(
    tmp_path: Path, body: bytes, wanted: str, problem: str
) -> None:
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "it").write_bytes(body)
    assert wrong_place(tmp_path, wanted) == problem
