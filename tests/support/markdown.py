"""Markdown files of the project, taken apart: blocks of code, tables, sections."""

from __future__ import annotations

import ast
import io
import re
from argparse import ArgumentParser
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from scrapy.settings import Settings

from scrapy_rep.tools.commands import run_told

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = {
    str(path.relative_to(ROOT)): path.read_text("utf-8")
    for path in sorted([ROOT / "README.md", *DOCS.rglob("*.md")])
}
"""Every page, README included, by its path."""
_NAME = r"\[?`([^`]+)`(?:\]\([^)]+\))?"
"""A name in a table, which may be a link."""


def blocks(text: str, language: str) -> list[str]:
    """The blocks of code in *text* that are marked with *language*."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def section(text: str, heading: str) -> str:
    """What stands below *heading*, up to the next one of its level or a higher one."""
    level = heading.split(maxsplit=1)[0]
    below = re.split(rf"^{re.escape(heading)}$", text, maxsplit=1, flags=re.MULTILINE)[1]
    return re.split(rf"^#{{1,{len(level)}}} ", below, maxsplit=1, flags=re.MULTILINE)[0]


def names(text: str) -> list[str]:
    """The names in the first column of the tables in *text*."""
    return re.findall(rf"^\| {_NAME} \|", text, re.MULTILINE)


def rows(text: str) -> dict[str, list[str]]:
    """The cells behind each name in the first column of the tables in *text*."""
    lines = re.findall(rf"^\| {_NAME} \| (.+) \|$", text, re.MULTILINE)
    return {name: cells.split(" | ") for name, cells in lines}


def assignments(block: str) -> Iterator[tuple[str, object]]:
    """The settings that a *block* of Python assigns, with their values, where these are literals."""
    for node in ast.parse(block).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                yield node.targets[0].id, ast.literal_eval(node.value)
            except ValueError:
                continue


def commands(block: str) -> Iterator[tuple[list[str], str]]:
    """The calls in a *block* of a console, each with what it prints."""
    for call in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        line, _, printed = call.partition("\n")
        yield line.split(), printed


def run_robots(name: str, arguments: list[str]) -> tuple[int, str]:
    """The exit code of ``scrapy robots NAME ARGUMENTS``, run in this process, and what it printed."""
    command, parser, out = import_module(f"scrapy_rep.tools.commands.{name}"), ArgumentParser(), io.StringIO()
    parser.add_argument("-s", dest="set", action="append", default=[])
    command.add_arguments(parser)
    parsed = parser.parse_intermixed_args(arguments)
    settings = Settings(dict(pair.split("=", 1) for pair in parsed.set))
    return run_told(command, parsed, settings, out), out.getvalue()
