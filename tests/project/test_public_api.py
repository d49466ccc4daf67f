"""What is public is recorded, documented and typed: ``docs/reference/stability.md`` promises to keep it."""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

import scrapy_rep
from scrapy_rep.crawl.policy.meta import BLANK
from scrapy_rep.crawl.robots.stores.codec import SCHEMA
from scrapy_rep.extras.audit.audit_log import VERSION
from scrapy_rep.tools.lint.config import Config
from scrapy_rep.tools.lint.sarif import sarif_document
from scrapy_rep.tools.watch.copies import FORMAT
from tests.support.markdown import PAGES, section
from tests.support.public import RECORDED, difference, public
from tests.support.public_names import COMPONENTS, MEMBERS, MODULES, NEEDS_MORE, SCRAPYS

ROOMS = {"addon", "contracts", "exceptions", "settings", "signals"}
"""These hold names of `scrapy_rep`, and signals; every other room says in its docstring that it is private."""


def objects() -> Iterator[tuple[str, Any]]:
    for module in MODULES:
        for name in import_module(module).__all__ if module not in NEEDS_MORE else ():
            yield f"{module}.{name}", getattr(import_module(module), name)


CLASSES_AND_FUNCTIONS = {name: thing for name, thing in objects() if inspect.isclass(thing) or callable(thing)}
METHODS = {
    f"{name}.{attribute}": member
    for name, thing in CLASSES_AND_FUNCTIONS.items() if inspect.isclass(thing)
    for attribute, member in vars(thing).items()
    if not attribute.startswith("_") and attribute not in SCRAPYS
    and (inspect.isfunction(member) or isinstance(member, (property, classmethod, staticmethod)))
}  # fmt: skip


def test_what_is_public_is_what_is_recorded() -> None:
    text = difference(RECORDED.read_text("utf-8").splitlines(), public())
    assert not text, text


@pytest.mark.parametrize(
    ("recorded", "found", "text"),
    [
        (["a", "b"], ["a", "b"], ""),
        (["a", "b"], ["b"], "Gone. Keep it, deprecated.+\n  a\n.+"),
        (["b"], ["b", "c"], "New.+\n  c\nWhen that is settled: python -m tests.support.public"),
        (["b(x)", "c: 1"], ["b(y)", "c: 2"], r"Changed.+\n  b\(x\) -> b\(y\)\n  c: 1 -> c: 2\n.+"),
        (["a"], ["b"], "Gone.+\n  a\nNew.+\n  b\n.+"),
    ],
)
def test_a_difference_says_what_to_do(recorded: list[str], found: list[str], text: str) -> None:
    assert re.fullmatch(text, difference(recorded, found))


@pytest.mark.parametrize("module", sorted({*MODULES} - NEEDS_MORE))
def test_public_names_are_listed_by_dir(module: str) -> None:
    assert set(import_module(module).__all__) <= set(dir(import_module(module)))


def test_the_reference_shows_the_members_that_are_public() -> None:
    shown = re.findall(
        r"^::: scrapy_rep\.(\w+)\n(?:    .*\n)*?      members: (.+)$",
        PAGES["docs/reference/api.md"],
        re.MULTILINE,
    )
    assert {name for name, members in shown if members == "false"} == COMPONENTS
    listed = {name: members.strip("[]").split(", ") for name, members in shown if members != "false"}
    assert listed == MEMBERS


def test_the_page_names_the_public_modules() -> None:
    text = section(PAGES["docs/reference/stability.md"], "## What is public").partition("\nThe modules: ")[2]
    assert re.findall(r"`(scrapy_rep[\w.]*)`", text) == [*MODULES, "scrapy_rep.testing.plugin"]


def test_the_page_has_the_versions_of_the_formats() -> None:
    text = section(PAGES["docs/reference/stability.md"], "## Formats")
    cells = re.findall(r"^\| .+? \| (?:`\w+`.*|that of .*): ([\d., ]+) \|", text, re.MULTILINE)
    versions = (SCHEMA, SCHEMA, FORMAT, VERSION, BLANK["v"], sarif_document([], Config())["version"])
    assert cells == [*map(str, versions)]


def test_every_other_room_says_that_it_is_private() -> None:
    public_rooms = ROOMS | {module.split(".")[1] for module in MODULES[1:]} - {"tools"}
    others = {module.name for module in pkgutil.iter_modules(scrapy_rep.__path__)} - public_rooms
    silent = {
        name for name in others if "private" not in (import_module(f"scrapy_rep.{name}").__doc__ or "").lower()
    }
    assert not silent


@pytest.mark.parametrize("name", CLASSES_AND_FUNCTIONS)
def test_every_public_class_and_function_is_documented(name: str) -> None:
    assert inspect.getdoc(CLASSES_AND_FUNCTIONS[name])


@pytest.mark.parametrize("name", METHODS)
def test_every_public_method_is_documented_and_says_what_it_returns(name: str) -> None:
    method = METHODS[name]
    function = getattr(method, "fget", None) or getattr(method, "__func__", method)
    assert inspect.getdoc(function), f"{name} has no docstring"
    assert "return" in function.__annotations__, f"{name} does not say what it returns"
