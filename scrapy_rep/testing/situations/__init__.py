r"""The situations of the conformance kit: what a robots.txt says, to whom, about which URLs, and who says so.

They are written in the Markdown files beside this module, one per source: a heading per section, below it one per
situation, which says what is tested; then the robots.txt in a fence, and a table of crawlers and paths.

A fence called ``text`` holds the lines of the file. In one called ``escaped`` ``\r``, ``\n``, ``\t`` and ``\xNN``
stand for octets, ``{TEXT × 500}`` for so many times TEXT, and no line feed follows the last line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from scrapy_rep.protocol import parse, product_token

VERSION: Final = "1.0"  # of the kit; what raises it is in docs/conformance.md
SITE: Final = "https://www.example.com"
"""The origin of the URLs."""

_SOURCES: Final = {"rfc9309": True, "google": False, "ours": False}  # files, and whether the standard says so
_DISPUTED: Final = " (disputed)"
"""Behind a sentence of a source that experts read in two ways: it is not required."""

_SITUATION: Final = re.compile(
    r"^### (?P<sentence>.+)\n\n"
    r"```(?P<fence>text|escaped)\n(?P<body>(?s:.*?))\n```\n\n"
    r"\| crawler \| allowed \| disallowed \|\n\|---\|---\|---\|\n"
    r"(?P<rows>(?:\|.*\|\n)+)",
    re.MULTILINE,
)
_ESCAPE: Final = re.compile(r"\\(x[0-9A-F]{2}|.)|\{(.+?) × (\d+)\}", re.DOTALL)
_CONTROLS: Final = {"r": b"\r", "n": b"\n", "t": b"\t"}


@dataclass(frozen=True, slots=True)
class Question:
    """Whether ``crawler``, a product token or a User-Agent header, may request ``url``; ``allowed`` is right.

    ``line`` is that of the rule that decides, as Google's parser names it; None if no rule does.
    """

    crawler: str
    url: str
    allowed: bool
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Situation:
    """One robots.txt and the questions about it.

    ``source`` is the title of a document and ``section`` the heading of a part of it; ``sentence`` says what is
    tested. What is not ``required`` is reported and does not fail: a parser is free to decide it. ``name`` tells
    situations apart.
    """

    source: str
    section: str
    sentence: str
    body: bytes
    questions: tuple[Question, ...]
    required: bool
    name: str

    @property
    def heading(self) -> str:
        """Source and section in one line, such as ``RFC 9309 2.2.1 The user-agent line``."""
        return f"{self.source} {self.section}"


def read(text: str, file: str = "", *, required: bool = True) -> Iterator[Situation]:
    """The situations in the *text* of a *file*. Raises ``ValueError`` for a heading without a situation."""
    title = re.match(r"# (.+)\n", text)
    if not title:
        raise ValueError(f"{file}: the first line must be the title of the source, such as '# RFC 9309'")
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        section = part.partition("\n")[0]
        number = section.split()[0]  # where sections have one
        found = [*_SITUATION.finditer(part)]
        if len(found) != len(re.findall(r"^### ", part, re.MULTILINE)):
            raise ValueError(f"{file}: every ### of '{section}' needs a fence and a table behind it")
        for match in found:
            sentence = match["sentence"].removesuffix(_DISPUTED)
            is_disputed = sentence != match["sentence"]
            body = f"{match['body']}\n".encode() if match["fence"] == "text" else _unescaped(match["body"])
            yield Situation(
                title[1],
                f"{section}, disputed" if is_disputed else section,
                sentence,
                body,
                tuple(_questions(match["rows"], body)),
                required and not is_disputed,
                f"{file}-{number if number[0].isdigit() else _slug(section)}-{_slug(sentence)}",
            )


def _unescaped(text: str) -> bytes:
    octets, end = [], 0
    for match in _ESCAPE.finditer(text):
        octets += [text[end : match.start()].encode(), _octets(match)]
        end = match.end()
    return b"".join([*octets, text[end:].encode()])


def _octets(match: re.Match[str]) -> bytes:
    escape, repeated, times = match.groups()
    if repeated:
        return _unescaped(repeated) * int(times)
    return _CONTROLS[escape] if escape in _CONTROLS else bytes.fromhex(escape[1:])


def _questions(rows: str, body: bytes) -> Iterator[Question]:
    robots = parse(body)
    for row in rows.splitlines():
        cell, *columns = (cell.strip() for cell in row.strip("|").split("|"))
        crawler = cell.strip("`")
        token = product_token(crawler) if "/" in crawler else crawler
        for column, allowed in zip(columns, (True, False), strict=True):
            for path in re.findall(r"`(.+?)`", column):
                yield Question(crawler, SITE + path, allowed, robots.verdict(token, SITE + path).line or None)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")


SITUATIONS: Final = tuple(
    situation
    for name, required in _SOURCES.items()
    for situation in read(files(__package__).joinpath(f"{name}.md").read_text("utf-8"), name, required=required)
)
"""All situations, those of RFC 9309 first."""
