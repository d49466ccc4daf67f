"""Files in folders, and lists of URLs in pieces: whole lines, whatever their length, compressed or not."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from scrapy_rep.tools import files
from scrapy_rep.tools.bulk.verdicts import LONGEST_URL
from scrapy_rep.tools.files import CHUNK, Damaged, chunks, decompressed, files_in

LINES = [b"https://%d.example/%s" % (n, b"x" * (n * 7_919 % 300)) for n in range(20_000)]


def read(content: bytes) -> list[bytes]:
    return [*chunks(decompressed(io.BufferedReader(io.BytesIO(content))))]


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_pieces_are_of_whole_lines(compress: Callable[[bytes], bytes], end: bytes) -> None:
    pieces = read(compress(b"\n".join(LINES) + end))
    assert b"".join(pieces).split(b"\n") == [*LINES, b""]
    assert all(piece.endswith(b"\n") and len(piece) < 2 * CHUNK for piece in pieces)
    assert len(pieces) > 4


@pytest.mark.parametrize("content", [b"", b"\n", b"\n\n\n", b"x"])
def test_little_or_nothing_is_read_too(content: bytes) -> None:
    assert b"".join(read(content)).strip() == content.strip()


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_byte_order_mark_is_no_part_of_the_first_url(compress: Callable[[bytes], bytes]) -> None:
    assert read(compress(b"\xef\xbb\xbfhttps://a.example/\n\xef\xbb\xbfb")) == [
        b"https://a.example/\n",
        b"\xef\xbb\xbfb\n",
    ]
    assert b"".join(read(compress(b"\xef\xbb\xbf"))) == b""


@pytest.mark.parametrize("length", [CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK, 5 * CHUNK + 17])
@pytest.mark.parametrize("end", [b"", b"\n", b"\nhttps://a.example/\n"])
def test_of_a_line_that_is_too_long_the_start_is_kept_and_the_next_one_is_read(length: int, end: bytes) -> None:
    lines = b"".join(read(b"first\n" + length * b"x" + end)).split(b"\n")
    assert lines[0] == b"first"
    assert len(lines[1]) > LONGEST_URL
    assert set(lines[1]) == {ord("x")}
    assert lines[2:] == (end or b"\n").split(b"\n")[1:]
    assert max(map(len, read(b"first\n" + length * b"x" + end))) < 3 * CHUNK


def test_random_lines_come_back_whatever_the_size_of_the_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "CHUNK", 7)
    source = random.Random(7)  # noqa: S311
    for _ in range(200):
        content = bytes(source.choices(b"ab\n", k=source.randrange(60)))
        assert b"".join(read(content)).rstrip(b"\n") == content.rstrip(b"\n")


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compressed_list_that_is_cut_off_raises(compress: Callable[[bytes], bytes]) -> None:
    content = compress(os.urandom(100_000))
    with pytest.raises(Damaged):
        read(content[:50_000])


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
