"""Lines of URLs as they come: each says what `decide` does."""

from __future__ import annotations

import json
import random
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from scrapy_rep.protocol import DIALECTS
from scrapy_rep.tools.bulk import decide, open_source
from scrapy_rep.tools.bulk.verdicts import LONGEST_URL, Decider, LineDecider

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
def test_every_line_says_what_decide_says_of_its_url(folder: Path, dialect: str) -> None:
    lines = [*filter(None, map(bytes.strip, some_lines()))]
    agents = ["Bot", "*"]
    crawlers = tuple((agent,) for agent in agents)
    decider = partial(Decider, crawlers=crawlers, dialect=DIALECTS[dialect])
    out, number, unknown = LineDecider(partial(open_source, folder), decider)(lines)
    urls = [line.decode("utf-8", "surrogateescape") for line in lines]
    decided = [*decide(urls, open_source(folder), agents, dialect=DIALECTS[dialect])]
    assert [json.loads(line) for line in out.splitlines()] == [
        {"url": url, **verdict.as_facts()} for url, verdict in decided
    ]
    assert number == len(decided)
    assert unknown == Counter(verdict.reason for _, verdict in decided if verdict.allowed is None)


def test_blank_lines_have_no_verdict(folder: Path) -> None:
    decider = LineDecider(partial(open_source, folder), partial(Decider, crawlers=(("Bot",),)))
    assert decider([b"\n", b" \r\n", b"https://a.example/y \r\n"])[1] == 1
