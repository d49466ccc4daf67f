"""The conformance kit as a file for any language: ``python -m benchmarks.court.kit > docs/conformance.jsonl``.

A line of JSON says what it is, and each situation has one. A byte of a robots.txt is a character of Latin-1, the
one with its number. Base64 would hide from the reader what is tested, UTF-8 cannot say ``E9`` alone, and Git may
convert the line ends of a file per situation. Pieces with counts keep 500 KiB short.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from scrapy_rep.testing import SITUATIONS, Situation
from scrapy_rep.testing.situations import VERSION

RUN: Final = re.compile(rb"(.{1,64}?)\1{99,}", re.DOTALL)
"""A piece that comes a hundred times or more."""


def lines() -> Iterator[str]:
    yield json.dumps({"kit": "robots.txt conformance", "version": VERSION})
    yield from (json.dumps(record(situation)) for situation in SITUATIONS)


def record(situation: Situation) -> dict[str, Any]:
    return {
        "name": situation.name,
        "document": situation.source,
        "section": situation.section,
        "required": situation.required,
        "sentence": situation.sentence,
        "robots": [(piece.decode("latin-1"), count) for piece, count in pieces(situation.body) if piece],
        "questions": [
            {"agent": each.crawler, "url": each.url, "verdict": "allowed" if each.allowed else "disallowed",
             "line": each.line}
            for each in situation.questions
        ],
    }  # fmt: skip


def pieces(body: bytes) -> Iterator[tuple[bytes, int]]:
    end = 0
    for run in RUN.finditer(body):
        yield body[end : run.start()], 1
        yield run[1], len(run[0]) // len(run[1])
        end = run.end()
    yield body[end:], 1


if __name__ == "__main__":
    print(*lines(), sep="\n")
