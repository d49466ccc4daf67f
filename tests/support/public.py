"""What is public, one thing a line, as the code has it: ``docs/reference/stability.md`` promises to keep it.

``python -m tests.support.public`` writes the list to ``tests/project/public.txt``, which a test compares.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from configparser import ConfigParser
from enum import Enum
from importlib import import_module
from typing import Any, Final

from scrapy.settings import Settings

from scrapy_rep import signals
from scrapy_rep.census import COLUMNS, LONG
from scrapy_rep.census.row import ColumnType
from scrapy_rep.contracts import CONTRACTS
from scrapy_rep.gate.audit import CLOSE_REASON as AUDIT_FAILED
from scrapy_rep.gate.audit_log import VERSION
from scrapy_rep.policy.exceptions import KEYS
from scrapy_rep.policy.meta import BLANK
from scrapy_rep.protocol import DIALECTS, Dialect
from scrapy_rep.robots.stores import codec
from scrapy_rep.robots.stores.redis_connection import CLOSE_REASON as REDIS_UNAVAILABLE
from scrapy_rep.settings import RepSettings
from scrapy_rep.testing.plugin import MARKER, OPTION
from scrapy_rep.tools.commands import FAILED, FOUND, OK, SUB_COMMANDS, module_of
from scrapy_rep.tools.lint import CODES
from scrapy_rep.tools.lint.config import TABLE, Config
from scrapy_rep.tools.watch.copies import FORMAT
from scrapy_rep.tools.web.api import description
from scrapy_rep.tools.web.visitors import Limits

from . import json_output
from .markdown import PAGES, ROOT, names, section

RECORDED: Final = ROOT / "tests" / "project" / "public.txt"
CODE: Final = "".join(path.read_text("utf-8") for path in sorted((ROOT / "scrapy_rep").rglob("*.py")))

MODULES: Final = (
    "scrapy_rep", "scrapy_rep.protocol", "scrapy_rep.protocol.dialect", "scrapy_rep.directives",
    "scrapy_rep.census", "scrapy_rep.census.arrow", "scrapy_rep.census.parquet", "scrapy_rep.census.spark",
    "scrapy_rep.census.warc", "scrapy_rep.testing", "scrapy_rep.tools.bulk", "scrapy_rep.tools.crawlers",
    "scrapy_rep.tools.lint", "scrapy_rep.tools.profiles", "scrapy_rep.tools.writer",
)  # fmt: skip
"""Modules whose ``__all__`` is public; what is in several of them is recorded in the first."""

NEEDS_MORE: Final = {"scrapy_rep.census.spark"}
"""Modules that few machines can load: of them the names alone are recorded, as their source has them."""

SCRAPYS: Final = {"from_crawler", "process_request", "get_processed_request", "get_processed_item"}
"""Methods that Scrapy calls and documents."""

COMPONENTS: Final = {
    "Addon", "CrawlDelay", "CrawlDelayContract", "ItemStamp", "LinkFilter", "RateLimiterMiddleware",
    "RepMiddleware", "RepPriorityQueue", "RobotsAllowsContract", "RobotsDisallowsContract", "SitemapFeed",
    "SitemapsContract",
}  # fmt: skip
"""Classes of `scrapy_rep` that people name in settings and do not call."""

MEMBERS: Final = {
    "RepExtension": ["robots", "entry", "verdict", "retry_after", "obeys", "asks", "can_start"],
    "RepSettings": ["from_settings", "from_crawler"],
    "Robots": ["entry", "access", "until", "parser", "error", "source", "is_stale", "robotstxt", "verdict"],
}
"""The public members of classes whose other ones are for the rest of the package."""


def public() -> list[str]:
    """All that is public, sorted."""
    return sorted({line for kind in _KINDS for line in kind()})


def _names() -> Iterator[str]:
    seen: set[int] = set()
    for module in MODULES:
        if module in NEEDS_MORE:
            source = (ROOT / f"{module.replace('.', '/')}.py").read_text("utf-8")
            found = re.findall(r'"(\w+)"', source.partition("__all__ = [")[2].partition("]")[0])
            yield from (f"name {module}.{name}" for name in found)
            continue
        things = {name: getattr(import_module(module), name) for name in import_module(module).__all__}
        for name, thing in things.items():
            yield from _name(f"{module}.{name}", thing) if id(thing) not in seen else ()
        seen |= {id(thing) for thing in things.values() if callable(thing)}
    yield from (f"module {module}" for module in (*MODULES, "scrapy_rep.testing.plugin"))


def _name(path: str, thing: Any) -> Iterator[str]:
    name = path.rpartition(".")[2]
    if inspect.isclass(thing) and name not in COMPONENTS:
        yield f"name {path}{_constructor(thing)}"
        for member, value in _members(thing).items():
            if member in MEMBERS.get(name, [member]):
                yield f"name {path}.{member}{_signature(value)}"
    else:
        yield f"name {path}{'' if inspect.isclass(thing) else _signature(thing)}"


def _constructor(thing: type) -> str:
    """Its signature, but for what only the package, or Python, makes."""
    is_made_elsewhere = issubclass(thing, (Enum, Exception)) or getattr(thing, "_is_protocol", False)
    return "" if is_made_elsewhere or thing.__name__ in MEMBERS else _signature(thing)


def _members(thing: type) -> dict[str, Any]:
    """The public members that the package gives *thing*, and what each is."""
    found: dict[str, Any] = {}
    for base in reversed([base for base in thing.__mro__ if base.__module__.startswith("scrapy_rep")]):
        found |= vars(base)
        if inspect.isfunction(made_by := vars(base).get("__init__")):
            with_value = re.findall(r"^ +self\.(\w+)(?:: .+)? = ", _source(made_by), re.MULTILINE)
            found |= dict.fromkeys(with_value)
        if dataclasses.is_dataclass(base):
            found |= {field.name: None for field in dataclasses.fields(base)}
    return {name: value for name, value in found.items() if name[0] != "_" and name not in SCRAPYS}


def _source(function: Any) -> str:
    try:
        return inspect.getsource(function)
    except OSError:  # that of a dataclass, which has none
        return ""


def _signature(thing: Any) -> str:
    """The parameters of what is called, or the value of what is not, where that is a plain one."""
    if isinstance(thing, (classmethod, staticmethod)):
        thing = thing.__func__
    if isinstance(thing, Enum):
        return f" = {thing.value!r}" if isinstance(thing, str) else ""
    if isinstance(thing, (str, int)):
        return f" = {thing!r}"
    if not (inspect.isroutine(thing) or inspect.isclass(thing)) or inspect.ismethoddescriptor(thing):
        return ""
    signature = inspect.signature(thing)
    parameters = [each for each in signature.parameters.values() if each.name not in {"self", "cls"}]
    shown = [each.replace(annotation=each.empty, default=_default(each.default)) for each in parameters]
    return str(signature.replace(parameters=shown, return_annotation=signature.empty))


class _Text(str):
    """A text that is its own ``repr``."""

    __slots__ = ()
    __repr__ = str.__str__


def _default(value: Any) -> Any:
    if value is inspect.Parameter.empty:
        return value
    if isinstance(value, Enum):
        return _Text(repr(value.value))
    if isinstance(value, Dialect):
        return _Text(value.name)
    plain = (bool, int, float, str, bytes, type(None))
    is_plain = isinstance(value, plain) or (
        isinstance(value, tuple) and all(isinstance(each, plain) for each in value)
    )
    return value if is_plain else _Text("…")


def _settings() -> Iterator[str]:
    defaults = RepSettings.from_settings(Settings())
    for field in dataclasses.fields(RepSettings):
        name, default = f"REP_{field.name.upper()}", getattr(defaults, field.name)
        yield f"setting {name} = {_default(default)!r}"
        choices = _CHOICES.fullmatch(field.metadata["kind"].expected)
        yield from (f"setting {name} takes {choice}" for choice in (choices[1].split(", ") if choices else ()))


_CHOICES: Final = re.compile(r"(?:one|a list) of ((?:[\w'.-]+, )+[\w'.-]+)")


def _literals() -> Iterator[str]:
    """Stats, meta keys and reasons to close, which the code has as literals."""
    reasons = {AUDIT_FAILED, REDIS_UNAVAILABLE}
    yield from (f"close reason {reason}" for reason in reasons)
    yield from (f"stat {name}" for name in re.findall(r'"((?:rep|robotstxt)/[\w/]+)', CODE))
    ours = {"rep", "is_robotstxt_request", *re.findall(r'"(rep_[a-z_]+)"', CODE)} - reasons
    to_set = names(section(PAGES["docs/reference/meta.md"], "## Keys that you set"))
    yield from (f"meta {key}" for key in ours & {"rep", "rep_sitemap", "is_robotstxt_request", *to_set})


def _signals() -> Iterator[str]:
    for name in vars(signals):
        if name.islower() and name[0] != "_" and name != "annotations":
            (sent,) = re.findall(rf"(?:signal=|_send\(){name}, ([^)]*)\)", CODE)
            yield f"signal scrapy_rep.signals.{name}({', '.join(re.findall(r'([a-z]+)=', sent))})"


def _commands() -> Iterator[str]:
    config = ConfigParser()
    config.read(ROOT / "setup.cfg", "utf-8")
    for line in config["options.entry_points"]["console_scripts"].split("\n"):
        yield from [f"command {line.partition(' =')[0]}"] if line else []
    for name in SUB_COMMANDS:
        parser = ArgumentParser(add_help=False)
        module_of(name).add_arguments(parser)
        for action in parser._actions:
            takes = f" ({action.nargs})" if action.nargs else ""
            what = f"command scrapy robots {name} {', '.join(action.option_strings) or action.dest}{takes}"
            yield from [what, *(f"{what} {choice}" for choice in action.choices or ())]
    yield from (f"json scrapy robots {line}" for line in json_output.fields())
    yield from (f"exit {code}" for code in (f"{OK} nothing found", f"{FOUND} found", f"{FAILED} failed"))


def _files() -> Iterator[str]:
    """Formats with their versions, and the fields of those that other programs read or write."""
    yield f"format store, in SQLite and Redis: {codec.SCHEMA}"
    yield f"format stamp: {BLANK['v']}"
    yield f"format audit log: {VERSION}"
    yield f"format scrapy robots watch --store: {FORMAT}"
    yield from (f"stamp {name}" for name in BLANK)
    page = PAGES["docs/reference/audit.md"]  # a test compares it with the log of a crawl
    for event in re.findall(r"^## ([a-z]+)$", page, re.MULTILINE):
        yield from (f"audit {event}.{name}" for name in names(section(page, f"## {event}")))
    yield from (f"exceptions file [[exception]] {key}" for key in KEYS)
    options = (field.name.replace("_", "-") for field in dataclasses.fields(Config) if field.name != "folder")
    yield from (f"lint configuration [{TABLE}] {name}" for name in options)


def _columns() -> Iterator[str]:
    for table, columns in (("survey.jsonl, survey.parquet", COLUMNS), ("long form", LONG)):
        yield from (f"column {table}: {name} {_type(column)}" for name, column in columns.items())


def _type(column: ColumnType) -> str:
    return getattr(column.type, "__name__", "") if isinstance(column.type, type) else str(column.type)


def _lists() -> Iterator[str]:
    yield from (f"lint code {code}: {kind.severity.value}" for code, kind in CODES.items())
    yield from (f"dialect {name}" for name in DIALECTS)
    yield from (f"contract @{contract.name}" for contract in CONTRACTS)
    yield from (f"pytest {name}" for name in (f"-m {MARKER}", f"--{OPTION.replace('_', '-')}", "robots_site"))
    config = ConfigParser()
    config.read(ROOT / "setup.cfg", "utf-8")
    of_users = set(config["options.extras_require"]) - {"bench", "browser", "dev", "docs", "fuzz", "lint", "test"}
    yield from (f"extra {name}" for name in of_users)
    inputs = (ROOT / "action.yml").read_text("utf-8").partition("inputs:")[2].partition("\nruns:")[0]
    yield from (f"action input {name}" for name in re.findall(r"^  ([\w-]+):$", inputs, re.MULTILINE))
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    yield from (f"pre-commit hook {name}" for name in re.findall(r"^- id: (.+)$", hooks, re.MULTILINE))


def _web() -> Iterator[str]:
    """What programs send to the web checker, and what they get."""
    for path, methods in description(Limits())["paths"].items():
        post = methods["post"]
        question = post["requestBody"]["content"]["application/json"]["schema"]
        answer = post["responses"]["200"]["content"].get("application/json", {}).get("schema", {})
        yield from (f"api POST {path} takes {name}" for name in _properties(question))
        yield from (f"api POST {path} answers {name}" for name in _properties(answer))


def _properties(schema: Mapping[str, Any], before: str = "") -> Iterator[str]:
    for name, inner in schema.get("properties", {}).items():
        yield f"{before}{name}"
        for each in (inner, inner.get("items", {}), *inner.get("anyOf", [])):
            yield from _properties(each.get("items", each), f"{before}{name}.")


_KINDS: Final = (_names, _settings, _literals, _signals, _commands, _files, _columns, _lists, _web)


_GONE: Final = "Gone, or changed. Keep it, deprecated, until the next major version: docs/reference/stability.md"
_NEW: Final = "New. Is it meant to be public? If so, document it, and run: python -m tests.support.public"


def difference(recorded: list[str], found: list[str]) -> str:
    """What to do about each line of *found* that is not *recorded*, and the other way round; empty for none."""
    gone = [line for line in recorded if line not in found]
    new = [line for line in found if line not in recorded]
    return "\n  ".join([*([_GONE] * bool(gone)), *gone, *([_NEW] * bool(new)), *new])


if __name__ == "__main__":
    RECORDED.write_text("\n".join(public()) + "\n", "utf-8")
