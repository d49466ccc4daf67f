"""The fields of what commands print with ``--json``, from calls of them that need no network."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from .exceptions import exception
from .markdown import ROOT, run_robots

_FORMATS: Final = ROOT / "tests" / "crawl" / "formats"
BODY: Final = b"""User-agent: *
Disallow: /private
Disalow: /x
Allow: /private/a
Crawl-delay: 2
Content-Signal: ai-train=no
Sitemap: https://example.com/sitemap.xml
"""
_BY_NAME: Final = {"counts", "modes", "robots"}
"""Fields that hold objects whose fields are data."""


def fields() -> Iterator[str]:
    """The command and the name of each field."""
    with TemporaryDirectory() as folder:
        for command, arguments in _calls(Path(folder)):
            _, out = run_robots(command, arguments)
            found = {name for line in out.splitlines() for name in fields_in(json.loads(line))}
            yield from (f"{command} {name}" for name in found)


def _calls(folder: Path) -> Iterator[tuple[str, list[str]]]:
    old, new, urls, store = (folder / name for name in ("example.com.txt", "new.txt", "urls", "store"))
    old.write_bytes(BODY)
    new.write_bytes(b"User-agent: *\nDisallow: /\n")
    urls.write_text("https://example.com/private\n")
    with closing(sqlite3.connect(store)) as connection:
        connection.executescript((_FORMATS / "store.sql").read_text("utf-8"))
    excepted = json.dumps([exception("https://example.com/private")])
    in_store = ["--json", "-s", f"REP_STORE_PATH={store}"]
    yield "explain", ["https://example.com/private/a", "--file", str(old), "--json"]
    yield "lint", [str(old), "--json"]
    yield "diff", [str(old), str(new), "--json"]
    yield "decide", ["--robots", str(folder), "--urls", str(urls), "--agent", "ExampleBot"]
    yield "exceptions", ["-s", f"REP_EXCEPTIONS={excepted}", "--json"]
    yield "audit", [str(_FORMATS / "audit.jsonl"), "--json"]
    yield "cache", ["show", "https://example.com", *in_store]
    yield "cache", ["purge", *in_store]


def fields_in(value: Any, before: str = "") -> Iterator[str]:
    """The names of all fields in *value*, those of objects within with the names before them."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield f"{before}{name}"
            yield from fields_in(inner, f"{before}{name}.") if name not in _BY_NAME else ()
    elif isinstance(value, list):
        for inner in value:
            yield from fields_in(inner, before)
