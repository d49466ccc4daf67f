"""One file touches what Scrapy does not promise to keep, and says why; a new touch is seen here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import scrapy_rep
from scrapy_rep.crawl.runtime import scrapy_internals
from scrapy_rep.crawl.runtime.events import Events
from scrapy_rep.crawl.runtime.scrapy_internals import TOUCHES, Engine

PACKAGE = Path(scrapy_rep.__file__).parent
HOME = Path(scrapy_internals.__file__)
NAMES = {part for touch in TOUCHES for part in touch.split(".")[1:]}
COMMON = {"active", "running", "delay", "queue", "closing", "handlers", "connector", "monotonic"}
"""Names that others have too; the owner tells them apart."""

OWNERS = {"engine", "downloader", "slot", "handler", "pqueues", "connector", "spider"}


def touched(source: str) -> Iterator[str]:
    """The attributes that *source* reads, by a dot or by ``getattr``."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") not in {"self", "cls"}:
            yield node.attr
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"getattr", "hasattr"}:
            yield str(getattr(node.args[1], "value", ""))


def private_of_others(source: str) -> set[str]:
    """The private names that *source* reads of anything but itself."""
    return {
        node.attr
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
        and ast.unparse(node.value) not in {"self", "cls", "super()", "other"}  # "other" is of the same class
    }


def test_every_touch_that_is_listed_is_made() -> None:
    assert set(touched(HOME.read_text())) >= NAMES


def test_no_other_file_makes_one() -> None:
    for file in PACKAGE.rglob("*.py"):
        if file != HOME:
            made = set(touched(file.read_text())) & (NAMES - COMMON)
            assert not made, f"{file.name} touches {made}: let scrapy_internals do it"


def test_what_is_private_to_others_is_read_nowhere_else() -> None:
    ours = {
        "_parsed",
        "_origins",
        "_without_bad_urls",
        "_parse_sitemap",  # overridden, as spiders do: there is no public one
        "_get_sitemap_body",
        "_asdict",  # these are public in a named tuple
        "_fields",
        "_replace",
    }
    for file in PACKAGE.rglob("*.py"):
        if file != HOME:
            read = private_of_others(file.read_text()) - ours
            assert not read, f"{file.name} reads {read} of others"


def test_every_touch_says_why() -> None:
    for touch, reason in TOUCHES.items():
        owner, _, name = touch.partition(".")
        assert owner in OWNERS
        assert name
        assert len(reason) > 20


def test_what_a_filter_has_seen_is_written_when_it_is_told_also_if_it_would_write_at_once(tmp_path: Path) -> None:
    """As the filter of duplicates does before Scrapy 2.18."""
    path = tmp_path / "requests.seen"
    with path.open("a+", buffering=1) as file:
        slot = SimpleNamespace(scheduler=SimpleNamespace(df=SimpleNamespace(file=file)))
        crawler: Any = SimpleNamespace(engine=SimpleNamespace(_slot=slot))
        engine = Engine(crawler, Events())
        engine.flush_seen()
        file.write("fingerprint\n")
        assert path.read_text() == ""
        engine.flush_seen()
        assert path.read_text() == "fingerprint\n"
