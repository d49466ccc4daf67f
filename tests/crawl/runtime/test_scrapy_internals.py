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
COMMON = {"active", "running", "delay", "queue", "closing", "handlers", "connector", "monotonic", "file"}
"""Names that others have too; the owner tells them apart."""

OWNERS = {"engine", "downloader", "slot", "handler", "pqueues", "connector", "spider"}
BY_NAME = {"getattr", "hasattr", "setattr"}
OURSELVES = {"self", "cls", "super()", "other"}  # "other" is of the same class


def touched(source: str) -> Iterator[str]:
    """The attributes that *source* reads, by a dot or by ``getattr``."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") not in {"self", "cls"}:
            yield node.attr
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"getattr", "hasattr"}:
            yield str(getattr(node.args[1], "value", ""))


def names_of(source: str) -> Iterator[tuple[str, str]]:
    """The names that *source* reads, or imports from Scrapy, each after what has it."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(value=owner, attr=name):
                yield ast.unparse(owner), name
            case ast.Call(func=ast.Name(call), args=[owner, ast.Constant(str(name)), *_]) if call in BY_NAME:
                yield ast.unparse(owner), name
            case ast.ImportFrom(module=str(owner), names=names) if owner.startswith("scrapy."):
                yield from ((owner, each.name) for each in names)


def private_of_others(source: str) -> set[str]:
    """The private names that *source* reads of anything but itself."""
    return {name for owner, name in names_of(source) if is_private(name) and owner not in OURSELVES}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def defined(source: str) -> Iterator[str]:
    """The names that *source* gives to attributes, methods and fields."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(attr=name, ctx=ast.Store()) | ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name


def test_every_touch_that_is_listed_is_made() -> None:
    assert set(touched(HOME.read_text())) >= NAMES


def test_every_touch_that_is_made_is_listed() -> None:
    """As far as it shows: a private name, one that is looked for by ``getattr``, one of an owner."""
    source = HOME.read_text()
    made = private_of_others(source)
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(call), args=[_, ast.Constant(str(name)), *_]) if call in BY_NAME:
                made.add(name)
            case ast.Attribute(value=ast.Name(owner), attr=name) if owner in OWNERS - {"spider"}:
                made.add(name)
    promised = {
        "__self__",  # of a bound method
        "line_buffering",  # of a text file
    }
    assert made - NAMES == promised


def test_no_other_file_makes_one() -> None:
    for file in PACKAGE.rglob("*.py"):
        if file != HOME:
            made = set(touched(file.read_text())) & (NAMES - COMMON)
            assert not made, f"{file.name} touches {made}: let scrapy_internals do it"


def test_no_other_file_asks_the_engine_for_more_than_requests() -> None:
    """Whose downloader and slots have the names that `COMMON` lets pass."""
    for file in PACKAGE.rglob("*.py"):
        if file != HOME:
            asked = {name for owner, name in names_of(file.read_text()) if owner.endswith("crawler.engine")}
            assert asked <= {"crawl", "download_async"}, f"{file.name} asks the engine for {asked}"


def test_what_is_private_to_others_is_read_nowhere_else() -> None:
    ours = {
        "_parsed",
        "_origins",
        "_asdict",  # these are public in a named tuple
        "_replace",
    }
    for file in PACKAGE.rglob("*.py"):
        if file != HOME:
            read = private_of_others(file.read_text()) - ours
            assert not read, f"{file.name} reads {read} of others"


def test_no_class_reads_what_is_private_to_a_base_class_of_scrapy() -> None:
    sources = {file: file.read_text() for file in PACKAGE.rglob("*.py") if file != HOME}
    ours = {name for source in sources.values() for name in defined(source)}
    ours |= {"_option_string_actions", "_asdict"}  # of argparse, and what every NamedTuple has
    theirs = {"host_queue.py": {"_encode_request", "_decode_request"}}  # what scrapy-redis has for its queues
    for file, source in sources.items():
        read = {name for owner, name in names_of(source) if is_private(name) and owner in OURSELVES} - ours
        read -= theirs.get(file.name, set())
        assert not read, f"{file.name} reads {read}, which no class of this package has"


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
