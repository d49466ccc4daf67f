"""The robots.txt files that benchmarks read, the URLs they ask about, and Google's verdicts on them."""

from __future__ import annotations

import lzma
import os
import tarfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Final

from scrapy_rep.protocol import MAX_SIZE

DECISIONS: Final = 40


@dataclass(frozen=True)
class File:
    """A body, `DECISIONS` different URLs of its site; rows of agent, URL and whether Google's parser allows it.

    ``warm_up`` are URLs of the site that are not among them.
    """

    name: str
    body: bytes
    urls: list[str]
    warm_up: list[str]
    verdicts: list[tuple[str, str, bool]]


def folder() -> Path:
    """The folder of the corpus, with ``robots.tar.xz`` and ``google-verdicts.tsv.xz``."""
    named = os.environ.get("SCRAPY_REP_CORPUS")
    if not named:
        raise SystemExit("name the folder of the corpus with SCRAPY_REP_CORPUS")
    return Path(named)


def read_corpus(every: int = 1, limit: int | None = MAX_SIZE) -> list[File]:
    """Every *every*-th file.

    A body is cut at *limit* octets; Google's parser, whose verdicts these are, has no limit.
    """
    bodies, verdicts = islice(_archived(folder() / "robots.tar.xz"), 0, None, every), _verdicts()
    return [_file(name, body[:limit], verdicts.get(name, [])) for name, body in bodies]


def bodies() -> list[bytes]:
    """Of all files, cut at the limit."""
    return [body[:MAX_SIZE] for _, body in _archived(folder() / "robots.tar.xz")]


def _file(name: str, body: bytes, verdicts: list[tuple[str, str, bool]]) -> File:
    urls = dict.fromkeys(url for _, url, _ in verdicts)
    warm_up = [f"https://{name}/warm-up/{number}" for number in range(2)]
    return File(name, body, [*islice(urls, DECISIONS)], warm_up, verdicts)


def _archived(archive: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(archive) as files:
        for member in files:
            file = files.extractfile(member)
            if file is not None:
                yield member.name.partition("/")[2], file.read()


@cache
def _verdicts() -> dict[str, list[tuple[str, str, bool]]]:
    rows = defaultdict(list)
    with lzma.open(
        folder() / "google-verdicts.tsv.xz", "rt", encoding="utf-8", errors="surrogateescape", newline="\n"
    ) as lines:
        next(lines)
        for line in lines:
            name, agent, url, allowed, _, _ = line.rstrip("\n").split("\t")
            rows[name].append((agent, url, allowed == "1"))
    return rows
