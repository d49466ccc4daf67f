"""The robots.txt files that benchmarks read, the URLs they ask about, and Google's verdicts on them."""

from __future__ import annotations

import lzma
import tarfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from scrapy_rep.protocol import MAX_SIZE

DECISIONS: Final = 40
_PATHS: Final = (
    "/",
    "/index.html",
    "/search?q=robots",
    "/a/b/c.html",
    "/wp-admin/",
    "/user/login",
    "/tag/x/feed/",
)


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


def read_corpus(folder: Path, every: int = 1, limit: int | None = MAX_SIZE) -> list[File]:
    """Every *every*-th file: of ``robots.tar.xz`` with ``google-verdicts.tsv.xz``, or of a plain *folder*.

    A body is cut at *limit* octets; Google's parser, whose verdicts these are, has no limit.
    """
    archive, table = folder / "robots.tar.xz", folder / "google-verdicts.tsv.xz"
    bodies = dict(islice(_archived(archive) if archive.exists() else _plain(folder), 0, None, every))
    verdicts = _verdicts(table) if table.exists() else {}
    return [_file(name, body[:limit], verdicts.get(name, [])) for name, body in bodies.items()]


def _file(name: str, body: bytes, verdicts: list[tuple[str, str, bool]]) -> File:
    urls = dict.fromkeys([url for _, url, _ in verdicts] or [f"https://{name}{path}" for path in _made_up()])
    warm_up = [f"https://{name}/warm-up/{number}" for number in range(2)]
    return File(name, body, [*islice(urls, DECISIONS)], warm_up, verdicts)


def _made_up() -> Iterator[str]:
    """`DECISIONS` different paths for a site of which none is known."""
    return (f"{path}{'&' if '?' in path else '?'}n={number}" for number in range(DECISIONS) for path in _PATHS)


def _archived(archive: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(archive) as files:
        for member in files:
            file = files.extractfile(member)
            if file is not None:
                yield member.name.partition("/")[2], file.read()


def _plain(folder: Path) -> Iterator[tuple[str, bytes]]:
    for file in sorted(folder.iterdir()):
        if file.is_file():
            yield file.name, file.read_bytes()


def _verdicts(table: Path) -> dict[str, list[tuple[str, str, bool]]]:
    rows = defaultdict(list)
    with lzma.open(table, "rt", encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
        next(lines)
        for line in lines:
            name, agent, url, allowed, _, _ = line.rstrip("\n").split("\t")
            rows[name].append((agent, url, allowed == "1"))
    return rows
