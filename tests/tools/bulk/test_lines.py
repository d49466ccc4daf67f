"""Lines of URLs as they come: whatever the short way does with most of them, each says what `decide` does."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from scrapy_rep.protocol import DIALECTS
from scrapy_rep.protocol.display import shown
from scrapy_rep.tools.answers import WORDS
from scrapy_rep.tools.bulk import Held, decide, open_source
from scrapy_rep.tools.bulk.lines import FIELDS, Task
from scrapy_rep.tools.bulk.sources import Reading
from scrapy_rep.tools.bulk.verdicts import LONGEST_URL, Rules

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
        for _ in range(3_000)
    ]
    return [*made, *ODD]


@pytest.mark.parametrize("dialect", ["google", "google-exact"])
@pytest.mark.parametrize("form", ["jsonl", "tsv"])
def test_every_line_says_what_decide_says_of_its_url(folder: Path, dialect: str, form: str) -> None:
    lines = some_lines()
    agents = ["Bot", "*"]
    rules = Rules(tuple((agent,) for agent in agents), DIALECTS[dialect])
    out, counts = Task(folder, Reading(), rules, Held(), form).start()(b"\n".join(lines) + b"\n")
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
