"""Lines of URLs as they come: whatever the short way does with most of them, each says what `decide` does."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import random
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from scrapy_rep.protocol import DIALECTS
from scrapy_rep.protocol.display import shown
from scrapy_rep.tools.answers import WORDS
from scrapy_rep.tools.bulk import decide, lines, open_source
from scrapy_rep.tools.bulk.lines import CHUNK, FIELDS, Damaged, LineDecider, chunks, decompressed
from scrapy_rep.tools.bulk.verdicts import LONGEST_URL, BulkOptions

BODY = b"""\
User-agent: *
Disallow: /x
Disallow: /*%24$
Disallow: /%C3%A9
Disallow: /a%2Fb
Allow: /x/'
Disallow: /$
"""
STARTS = (
    b"https://a.example", b"http://a.example:80", b"https://a.example:0443", b"HTTPS://A.example", b"ftp://a",
    b"https://u@a.example", b"https://b.example", b"https://a.example:99999", b"https://[::1]", b"https://.", b"",
    b"wss://a.example",
)  # fmt: skip
PARTS = (
    b"/", b"/x", b"?", b"#", b"x", b"$", b"*", b"'", b'"', b"\\", b"%24", b"%78", b"%c3%a9", b"%", b"\xc3\xa9",
    b"\xff", b"a%2Fb", b";p", b"//", b" ", b"\t", b"\r", b"\0", b"\x7f", b"<", b"|", b"\xe2\x80\xae",
    b"://", b"y" * 9_000,
)  # fmt: skip
ODD = (b"https://a.example/" + LONGEST_URL * b"x", b"https://" + 300 * b"a" + b"/", b"\x0b https://a.example/x \f")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.example").write_bytes(BODY)
    return tmp_path


def some_lines() -> list[bytes]:
    source = random.Random(34)  # noqa: S311
    made = [
        source.choice(STARTS) + b"".join(source.choices(PARTS, k=source.randrange(6))).replace(b"\n", b"")
        for _ in range(1_000)
    ]
    return [*made, *ODD]


@pytest.mark.parametrize("dialect", ["google", "google-exact"])
@pytest.mark.parametrize("form", ["jsonl", "tsv"])
def test_every_line_says_what_decide_says_of_its_url(folder: Path, dialect: str, form: str) -> None:
    lines = some_lines()
    agents = ["Bot", "*"]
    rules = BulkOptions(tuple((agent,) for agent in agents), DIALECTS[dialect])
    out, counts = LineDecider(partial(open_source, folder), rules, form=form)(b"\n".join(lines) + b"\n")
    urls = [url for line in lines if (url := line.strip().decode("utf-8", "surrogateescape"))]
    expected = [
        (url, verdict.origin or None, verdict.agent, verdict.allowed, verdict.line, verdict.rule, verdict.reason)
        for url, verdict in decide(urls, open_source(folder), agents, dialect=DIALECTS[dialect])
    ]
    if form == "jsonl":
        assert out.decode().split("\n") == [*(json.dumps(dict(zip(FIELDS, row))) for row in expected), ""]
    else:
        assert out.decode().split("\n") == [*map(as_tsv, expected), ""]
    assert counts == Counter((agent, allowed, reason) for _, _, agent, allowed, _, _, reason in expected)


def as_tsv(row: tuple[object, ...]) -> str:
    cells = [WORDS[cell] if column == "allowed" else cell for column, cell in zip(FIELDS, row)]  # type: ignore[index]
    return "\t".join("" if cell is None else shown(str(cell)) for cell in cells)


# The input, in pieces.


LINES = [b"https://%d.example/%s" % (n, b"x" * (n * 7_919 % 300)) for n in range(3_000)]


def read(content: bytes) -> list[bytes]:
    return [*chunks(decompressed(io.BufferedReader(io.BytesIO(content))))]


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_pieces_are_of_whole_lines(
    compress: Callable[[bytes], bytes], end: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "CHUNK", 65_536)
    pieces = read(compress(b"\n".join(LINES) + end))
    assert b"".join(pieces).split(b"\n") == [*LINES, b""]
    assert all(piece.endswith(b"\n") and len(piece) < 2 * 65_536 for piece in pieces)
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
    monkeypatch.setattr(lines, "CHUNK", 7)
    source = random.Random(7)  # noqa: S311
    for _ in range(200):
        content = bytes(source.choices(b"ab\n", k=source.randrange(60)))
        assert b"".join(read(content)).rstrip(b"\n") == content.rstrip(b"\n")


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compressed_list_that_is_cut_off_raises(compress: Callable[[bytes], bytes]) -> None:
    content = compress(os.urandom(100_000))
    with pytest.raises(Damaged):
        read(content[:50_000])
