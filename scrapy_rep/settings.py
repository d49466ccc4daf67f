"""Every ``REP_*`` setting: its name, default and check. Parsed once, before the crawl starts."""

from __future__ import annotations

import json
import logging
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from scrapy.utils.misc import load_object

from scrapy_rep.exceptions import InvalidSettingError

from .protocol import DIALECTS, GOOGLE, MAX_SIZE, Access, Dialect, product_token

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

RequestHook = Callable[["Request", "Request"], "Request"]
"""``(robots_request, cause) -> Request``: changes or replaces the request for a robots.txt."""


def _setting(read: Callable[[Any], Any], takes: str, default: Any, *, secret: bool = False) -> Any:
    """A *secret* one may hold a password: it is shown nowhere."""
    metadata = {"read": read, "takes": takes, "secret": secret}
    return field(default_factory=lambda: default, metadata=metadata, repr=not secret)


def _whole(minimum: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        number = int(value)
        if isinstance(value, bool) or number != float(value) or number < minimum:
            raise ValueError
        return number

    return read


def _seconds(value: Any) -> float:
    number = float(value)
    if isinstance(value, bool) or not math.isfinite(number) or number < 0:
        raise ValueError
    return number


def _positive_seconds(value: Any) -> float:
    if not (number := _seconds(value)):
        raise ValueError
    return number


def flag(value: Any) -> bool:
    """What a text says, or a truth value. Raises ``KeyError`` for what is neither true nor false."""
    return {"true": True, "1": True, "false": False, "0": False}[str(value).lower()]


def _choice(choices: Mapping[str, Any]) -> Callable[[Any], Any]:
    return lambda value: choices[value]


def _tokens(value: Any) -> tuple[str, ...]:
    names = [name.strip() for name in (value.split(",") if isinstance(value, str) else value)]
    tokens = tuple(map(product_token, names))
    if not all(map(is_name, names)):
        raise ValueError
    return tokens


def is_name(text: str) -> bool:
    """Whether *text* is one product token, or a User-Agent header, of which one is the first product.

    Of ``my bot`` only ``my`` would count, which is hardly what was meant.
    """
    return bool(_NAME.match(text))


def _status_access(value: Any) -> Mapping[int, Access]:
    pairs = json.loads(value) if isinstance(value, str) else dict(value)
    statuses = {int(status): _ACCESS[meaning] for status, meaning in pairs.items()}
    if not all(200 <= status <= 599 for status in statuses):
        raise ValueError
    return MappingProxyType(statuses)


def _store(value: Any) -> str:
    name = str(value)
    if "." in name:
        load_object(name)
    return name if "." in name else {"sqlite": name, "memory": name}[name]


def _path(value: Any) -> str:
    return str(os.fspath(value))


def _redis_url(value: Any) -> str:
    parts = urlsplit(value)
    if value and not (parts.scheme == "unix" and parts.path):
        _ = parts.port  # ValueError for one that is none
        if parts.scheme not in {"redis", "rediss"} or not parts.hostname:
            raise ValueError
    return str(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _hook(value: Any) -> RequestHook | None:
    hook: RequestHook | None = load_object(value) if value else None
    if hook is not None and not callable(hook):
        raise TypeError
    return hook


_NAME: Final = re.compile(r"[\w.-]+(?:/|\s*\(|$)")
_CRAWL_DELAY: Final = {"obey": True, "ignore": False}
_OVER_MAX: Final = {name: name for name in ("cap", "obey", "skip")}
_ACCESS: Final = {"allow": Access.UNAVAILABLE, "disallow": Access.UNREACHABLE}
_NO_OVERRIDES: Final[Mapping[int, Access]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class RepSettings:
    """The ``REP_*`` settings of one crawl; ``max_size`` here is ``REP_MAX_SIZE`` there.

    Lengths of time are in seconds, sizes in octets.
    """

    user_agents: tuple[str, ...] = _setting(
        _tokens, "a list of product tokens such as ExampleBot, without blanks, the most specific first", ()
    )
    dialect: Dialect = _setting(_choice(DIALECTS), f"one of {', '.join(DIALECTS)}", GOOGLE)
    max_size: int = _setting(_whole(1), "a number of octets, 1 or more", MAX_SIZE)
    timeout: float = _setting(_positive_seconds, "a number of seconds above 0", 10.0)
    retry_times: int = _setting(_whole(0), "a number of further attempts, 0 or more", 4)
    retry_delay: float = _setting(_positive_seconds, "a number of seconds above 0", 1.0)
    retry_max_delay: float = _setting(_positive_seconds, "a number of seconds above 0", 600.0)
    unreachable: Access = _setting(_choice(_ACCESS), "one of allow, disallow", Access.UNREACHABLE)
    unreachable_wait: float = _setting(_seconds, "a number of seconds, 0 or more", 30.0)
    status_access: Mapping[int, Access] = _setting(
        _status_access, "a dict of statuses from 200 to 599 to allow or disallow", _NO_OVERRIDES
    )
    soft_404: bool = _setting(flag, "True or False", True)
    min_ttl: float = _setting(_seconds, "a number of seconds, 0 or more", 300.0)
    max_ttl: float = _setting(_positive_seconds, "a number of seconds above 0", 86_400.0)
    stale_max: float = _setting(_seconds, "a number of seconds, 0 or more", 2_592_000.0)
    store: str = _setting(_store, "sqlite, memory, or the import path of a store class", "sqlite")
    store_path: str = _setting(_path, "the path of a file", "")
    redis_url: str = _setting(
        _redis_url, "redis://[[USER]:PASSWORD@]HOST[:PORT][/DB], the same with rediss://, or unix://PATH", "",
        secret=True,
    )  # fmt: skip
    redis_required: bool = _setting(flag, "True or False", False)
    redis_prefix: str = _setting(_text, "a text", "rep:")
    redis_timeout: float = _setting(_positive_seconds, "a number of seconds above 0", 1.0)
    workers: int = _setting(_whole(1), "a number of processes, 1 or more", 1)
    crawl_delay: bool = _setting(_choice(_CRAWL_DELAY), "one of obey, ignore", True)
    crawl_delay_max: float = _setting(_positive_seconds, "a number of seconds above 0", 300.0)
    crawl_delay_over_max: str = _setting(_choice(_OVER_MAX), "one of cap, obey, skip", "cap")
    rate_and_visit_time: bool = _setting(flag, "True or False", False)
    follow_sitemaps: bool = _setting(flag, "True or False", False)
    offsite_sitemaps: bool = _setting(flag, "True or False", False)
    max_waiting: int = _setting(_whole(1), "a number of requests, 1 or more", 1_000)
    memory_entries: int = _setting(_whole(1), "a number of origins, 1 or more", 10_000)
    memory_size: int = _setting(_whole(1), "a number of octets, 1 or more", 134_217_728)
    request_hook: RequestHook | None = _setting(
        _hook, "a callable (robots_request, cause) -> Request, or its import path", None
    )

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> RepSettings:
        """The settings of a crawl.

        Raises `InvalidSettingError` for a ``REP_*`` name nobody knows and for an impossible value.
        """
        _reject_unknown(name for name in settings if str(name).startswith("REP_"))
        parsed = cls(
            **{
                attribute.name: _read(settings[name], name, attribute.metadata)
                for name, attribute in _ATTRIBUTES.items()
                if settings.get(name) is not None
            }
        )
        if parsed.min_ttl > parsed.max_ttl:
            raise InvalidSettingError(
                f"REP_MIN_TTL = {parsed.min_ttl:g} is more than REP_MAX_TTL = {parsed.max_ttl:g}: change one"
            )
        return parsed

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RepSettings:
        """As `from_settings`; the settings of one crawler are parsed once."""
        parsed = _parsed.get(crawler)
        if parsed is None:
            try:
                parsed = _parsed[crawler] = cls.from_settings(crawler.settings)
            except InvalidSettingError as error:  # Scrapy shows it below a long traceback
                logger.critical("%s", error)
                raise
        return parsed

    @property
    def shares_loopback(self) -> bool:
        """Whether a developer's own site, which changes by the minute, is shared like others: a store was set."""
        return bool(self.store_path or self.redis_url)


def asks_for_delays(settings: BaseSettings) -> bool:
    """Whether robots.txt is asked for the sake of delays although ``ROBOTSTXT_OBEY`` is off.

    Only when somebody set ``REP_CRAWL_DELAY``: with robots off nothing is fetched unasked.
    """
    return bool(settings.get("REP_CRAWL_DELAY") == "obey")


def asks_robots(settings: BaseSettings) -> bool:
    """Whether robots.txt is asked at all: to obey its rules, or for delays alone."""
    return settings.getbool("ROBOTSTXT_OBEY") or asks_for_delays(settings)


_ATTRIBUTES: Final = {f"REP_{attribute.name.upper()}": attribute for attribute in fields(RepSettings)}
_parsed: WeakKeyDictionary[Crawler, RepSettings] = WeakKeyDictionary()


def _read(value: Any, name: str, metadata: Mapping[str, Any]) -> Any:
    try:
        return metadata["read"](value)
    except (ValueError, TypeError, KeyError, AttributeError, ImportError, OverflowError):
        if metadata["secret"]:
            raise InvalidSettingError(f"{name}: it takes {metadata['takes']}") from None
        raise InvalidSettingError(f"{name} = {value!r}: it takes {metadata['takes']}") from None


def _reject_unknown(names: Iterable[Any]) -> None:
    for name in names:
        if name not in _ATTRIBUTES:
            close = get_close_matches(name, _ATTRIBUTES, n=1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(_ATTRIBUTES)}"
            raise InvalidSettingError(f"unknown setting {name}: {hint}")
