"""The kinds of values that settings take: how each is read from code or from the command line, and checked."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from scrapy.utils.misc import load_object

from scrapy_rep.directives.dates import read_date
from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.protocol import Access, product_token
from scrapy_rep.protocol.display import StringEnum

if TYPE_CHECKING:
    from scrapy import Request

RequestHook = Callable[["Request", "Request"], "Request"]
"""``(robots_request, cause) -> Request``: changes or replaces the request for a robots.txt."""

TargetUrl = Mapping[str, str] | Callable[["Request"], "str | None"]
"""Where a request for a service leads: a query parameter by host, or ``(request) -> str | None``."""

_NOT_FOUND: Final = (ImportError, NameError)
"""What Scrapy raises for an import path of a module, or of a name in it, that does not exist."""
_REFUSALS: Final = (ValueError, TypeError, KeyError, AttributeError, OverflowError, *_NOT_FOUND)


class Unreachable(StringEnum):
    """What an unreachable origin means for its requests; each is a string."""

    DISALLOW = "disallow"
    """They end in `ForbiddenByRobots`."""
    ALLOW = "allow"
    """They are sent."""
    RETRY = "retry"
    """They end in `UnreachableError`, which Scrapy's retry middleware retries."""
    RAISE = "raise"
    """As ``retry``, but they end in the exception of the connection, if there was one."""

    @property
    def access(self) -> Access:
        """The access that stands in."""
        return Access.UNAVAILABLE if self is Unreachable.ALLOW else Access.UNREACHABLE


@dataclass(frozen=True, slots=True)
class ValueKind:
    """A kind of value.

    ``read`` converts a value, and raises one of several exceptions if it cannot; ``expected`` says in a message
    what it accepts. A secret value is never shown, because it may contain a password.
    """

    read: Callable[[Any], Any]
    expected: str
    is_secret: bool = False

    def parse(self, name: str, value: Any) -> Any:
        """Return the converted *value* of the setting *name*. Raises `InvalidSettingError`."""
        try:
            return self.read(value)
        except _REFUSALS as error:
            given = name if self.is_secret else f"{name} = {value!r}"
            why = f" ({error})" if isinstance(error, _NOT_FOUND) else ""
            raise InvalidSettingError(f"{given}: expected {self.expected}{why}") from None


def flag(value: bool | int | str) -> bool:
    """Return True or False for *value*, or for its text. Raises ``KeyError`` if it is neither."""
    return {"true": True, "1": True, "false": False, "0": False}[str(value).lower()]


def is_name(text: str) -> bool:
    """Whether *text* is a single product token, or a User-Agent header that starts with one.

    Of ``my bot`` only ``my`` would count, which is hardly what was meant.
    """
    return bool(_NAME.match(text))


def number_of(what: str, minimum: int) -> ValueKind:
    """Return the kind of whole numbers of *what*, from *minimum* on."""
    return ValueKind(partial(_number, int, minimum), f"a number of {what}, {minimum} or more")


def one_of(*names: str, **values: Any) -> ValueKind:
    """Return the kind of these *names*, and of those that stand for *values*."""
    choices = {name: name for name in names} | values
    return ValueKind(lambda name: choices[name], f"one of {', '.join(name or repr(name) for name in choices)}")


def _number(convert: Callable[[Any], float], least: float, value: Any) -> float:
    number = convert(value)
    if isinstance(value, bool) or not math.isfinite(number) or number != float(value) or number < least:
        raise ValueError
    return number


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _listed(value: Any) -> list[str]:
    return [name.strip() for name in (value.split(",") if isinstance(value, str) else value)]


def _tokens(value: Any) -> tuple[str, ...]:
    names = _listed(value)
    tokens = tuple(map(product_token, names))
    if not (all(tokens) and all(map(is_name, names))):
        raise ValueError
    return tokens


def some_of(*names: str, **values: Any) -> ValueKind:
    """Return the kind of lists of these *names*, and of those that stand for *values*."""
    choices = {name: name for name in names} | values

    def read(value: Any) -> tuple[Any, ...]:
        words = [word.lower() for word in _listed(value)]
        return tuple(dict.fromkeys(choices[word] for word in words if words != [""]))

    return ValueKind(read, f"a list of {', '.join(choices)}")


def _pairs(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else dict(value)


def _status_access(value: Any) -> Mapping[int, Access]:
    statuses = {int(status): ACCESS[meaning] for status, meaning in _pairs(value).items()}
    if not all(200 <= status <= 599 for status in statuses):
        raise ValueError
    return MappingProxyType(statuses)


def _text_by_name(value: Any) -> Mapping[str, str]:
    pairs = _pairs(value)
    if not all(isinstance(text, str) and text for pair in pairs.items() for text in pair):
        raise TypeError
    return MappingProxyType(pairs)


def _tables(value: Any) -> tuple[Mapping[str, Any], ...]:
    tables = json.loads(value) if isinstance(value, str) else value
    if not isinstance(tables, list | tuple) or not all(isinstance(table, Mapping) for table in tables):
        raise TypeError
    return tuple(tables)


def _target_url(value: Any) -> TargetUrl | None:
    if value and (isinstance(value, Mapping) or str(value).lstrip().startswith("{")):
        return MappingProxyType({host.lower(): parameter for host, parameter in _text_by_name(value).items()})
    return _callable(value)


def _store(value: Any) -> str:
    name = str(value)
    if "." in name:
        load_object(name)
        return name
    return {"sqlite": name, "memory": name}[name]


def _since(value: Any) -> datetime | str | None:
    text = value.isoformat() if isinstance(value, date) else _text(value)
    if text.strip().lower() == LAST_RUN:
        return LAST_RUN
    if not text:
        return None
    if (found := read_date(text)) is None:
        raise ValueError
    return found.at


def _redis_url(value: Any) -> str:
    parts = urlsplit(value)
    if value and not (parts.scheme == "unix" and parts.path):
        _ = parts.port  # raises ValueError if it is not a number
        if parts.scheme not in {"redis", "rediss"} or not parts.hostname:
            raise ValueError
    return str(value)


def _callable(value: Any) -> Callable[..., Any] | None:
    found: Callable[..., Any] | None = load_object(value) if value else None
    if found is not None and not callable(found):
        raise TypeError
    return found


_NAME: Final = re.compile(r"[\w.-]+(?:/|\s*\(|$)")

ACCESS: Final = {"allow": Access.UNAVAILABLE, "disallow": Access.UNREACHABLE}
"""What a setting calls the access of an origin without a usable robots.txt."""

LAST_RUN: Final = "last run"
"""The value of ``REP_SITEMAP_SINCE`` that means the start of the last run that finished."""

FLAG: Final = ValueKind(flag, "True or False")
TEXT: Final = ValueKind(_text, "a string")
SITES: Final = ValueKind(_text_by_name, "a dict that maps sites to obey, report or ignore, or the same as JSON")
TABLES: Final = ValueKind(_tables, "a list of dicts, or the same as JSON")
TARGET_URL: Final = ValueKind(
    _target_url, "a dict from hosts to query parameters, a callable (request) -> str | None, or its import path"
)
SECONDS: Final = ValueKind(partial(_number, float, 0.0), "a number of seconds, 0 or more")
POSITIVE_SECONDS: Final = ValueKind(partial(_number, float, math.ulp(0.0)), "a number of seconds above 0")
META_KEYS: Final = ValueKind(lambda value: frozenset(_listed(value)) - {""}, "a list of meta keys of requests")
TOKENS: Final = ValueKind(
    _tokens, "a list of product tokens such as ExampleBot, without spaces, the most specific first"
)
STATUS_ACCESS: Final = ValueKind(
    _status_access, "a dict that maps statuses from 200 to 599 to allow or disallow, or the same as JSON"
)
STORE: Final = ValueKind(_store, "sqlite, memory, or the import path of a store class")
SINCE: Final = ValueKind(_since, "a date such as 2026-05-31 or 2026-05-31T12:00:00Z, or 'last run'")
PATH: Final = ValueKind(lambda value: str(os.fspath(value)), "the path of a file")
REDIS_URL: Final = ValueKind(
    _redis_url,
    "redis://[[USER]:PASSWORD@]HOST[:PORT][/DB], the same with rediss://, or unix://PATH",
    is_secret=True,
)
HOOK: Final = ValueKind(_callable, "a callable (robots_request, cause) -> Request, or its import path")
