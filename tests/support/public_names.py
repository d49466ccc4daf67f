"""The public names of the package: modules, classes with their members, functions with their parameters."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from typing import Any, Final

from scrapy_rep.census.row import Row
from scrapy_rep.protocol import ENGINE, Dialect

from .markdown import ROOT

MODULES: Final = (
    "scrapy_rep", "scrapy_rep.protocol", "scrapy_rep.protocol.dialect", "scrapy_rep.directives",
    "scrapy_rep.census", "scrapy_rep.census.arrow", "scrapy_rep.census.spark",
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
    "RecoverableFifoDiskQueue", "RecoverableLifoDiskQueue", "RedisHostDupeFilter", "RedisHostQueue",
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


def public_names() -> Iterator[str]:
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
    is_made_elsewhere = issubclass(thing, (Enum, Exception, Row)) or getattr(thing, "_is_protocol", False)
    return "" if is_made_elsewhere or thing.__name__ in MEMBERS else _signature(thing)


def _members(thing: type) -> dict[str, Any]:
    """The public members that the package gives *thing*, and what each is."""
    found: dict[str, Any] = {}
    kept = MEMBERS.get(thing.__name__, ())
    for base in reversed([base for base in thing.__mro__ if base.__module__.startswith("scrapy_rep")]):
        found |= vars(base)
        if inspect.isfunction(made_by := vars(base).get("__init__")):
            with_value = re.findall(r"^ +self\.(\w+)(?:: .+)? = ", _source(made_by), re.MULTILINE)
            found |= dict.fromkeys(with_value)
        if issubclass(base, Enum):
            found |= base.__members__
        if dataclasses.is_dataclass(base):
            found |= {field.name: None for field in dataclasses.fields(base)}
    return {
        name: value for name, value in found.items() if name[0] != "_" and (name not in SCRAPYS or name in kept)
    }


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
    if isinstance(thing, (str, int)) and thing != ENGINE:
        return f" = {thing!r}"
    if not (inspect.isroutine(thing) or inspect.isclass(thing)) or inspect.ismethoddescriptor(thing):
        return ""
    signature = inspect.signature(thing)
    parameters = [each for each in signature.parameters.values() if each.name not in {"self", "cls"}]
    shown = [each.replace(annotation=each.empty, default=shown_default(each.default)) for each in parameters]
    return str(signature.replace(parameters=shown, return_annotation=signature.empty))


class _Text(str):
    """A text that is its own ``repr``."""

    __slots__ = ()
    __repr__ = str.__str__


_LONGEST_DEFAULT: Final = 3  # items: longer ones are tables about the world, which are not public


def shown_default(value: Any) -> Any:
    if value is inspect.Parameter.empty:
        return value
    if isinstance(value, Enum):
        return _Text(repr(value.value))
    if isinstance(value, Dialect):
        return _Text(value.name)
    plain = (bool, int, float, str, bytes, type(None))
    if isinstance(value, tuple) and len(value) > _LONGEST_DEFAULT:
        return _Text("…")
    is_plain = isinstance(value, plain) or (
        isinstance(value, tuple) and all(isinstance(each, plain) for each in value)
    )
    return value if is_plain else _Text("…")
