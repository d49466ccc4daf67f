"""The ``REP_*`` settings: their names, types and defaults. Read once, before the crawl starts."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from datetime import datetime
from difflib import get_close_matches
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from warnings import warn

from scrapy.exceptions import ScrapyDeprecationWarning

from scrapy_rep.directives.vocabulary import Permission, Purpose
from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.protocol import DIALECTS, GOOGLE, MAX_SIZE, Access, Dialect

from .kinds import (
    FLAG,
    HOOK,
    LAST_RUN,
    META_KEYS,
    PATH,
    POSITIVE_SECONDS,
    REDIS_URL,
    SECONDS,
    SECRET,
    SINCE,
    SITES,
    STATUS_ACCESS,
    STORE,
    TABLES,
    TARGET_URL,
    TEXT,
    TOKENS,
    RequestHook,
    TargetUrl,
    Unreachable,
    ValueKind,
    number_of,
    one_of,
    some_of,
)

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from scrapy_rep.protocol import Origin

__all__ = [
    "LAST_RUN", "InvalidSettingError", "RepSettings", "RequestHook", "TargetUrl", "Unreachable", "asks_for_delays",
    "asks_robots", "logging_invalid_settings",
]  # fmt: skip

logger = logging.getLogger(__name__)

_REMOVED: Final[dict[str, str]] = {
    "REP_RATE_AND_VISIT_TIME": "remove it; for a site that asks for less, set a delay in DOWNLOAD_SLOTS",
    "REP_CONTENT_USE": "read what use= says from the statements in response.meta['rep']['ai']",
    "REP_EXCEPTION_MAX_DAYS": "an exception may last 366 days; renew it before it ends",
    "REP_META_ROBOTS": "meta elements count anywhere in a page, as for Google",
    "REP_NOFOLLOW": "nofollow drops the links of a page; drop other requests by response.meta['rep']['page']",
    "REP_REL_WORDS": "only nofollow counts; leave out links with other words where your spider extracts them",
    "REP_SOFT_404": "set REP_STATUS_ACCESS = {500: 'disallow'} if a 500 never means a missing robots.txt",
}
"""Settings of 1.0.0rc1 that do nothing any more, and what to do instead. They warn until 1.0."""

_OBEY_IS_NOT_ALWAYS: Final = (  # 1.0.0rc1 fetched it: the warning stays until 1.0, like those of `_REMOVED`
    'REP_CRAWL_DELAY = "obey" no longer fetches robots.txt with ROBOTSTXT_OBEY = False: set it to "always"'
)

_UNREACHABLE: Final = {choice.value: choice for choice in Unreachable}
# Download handlers on curl and proxy middlewares read them. Browsers fail at an empty 404, and APIs cost money.
_CLIENT_META: Final = frozenset(
    {"curl", "curl_cffi_options", "dont_proxy", "impersonate", "impersonate_args", "impersonate_curl_options"}
)


def _setting(kind: ValueKind, default: Any) -> Any:
    return field(default_factory=lambda: default, metadata={"kind": kind}, repr=not kind.is_secret)


NOT_SHARED: Final = (
    "Loopback sites are for trials: their robots.txt is not stored, and their delays are not shared with other"
    " processes, unless REP_STORE_PATH, REP_REDIS_URL or a REP_STORE of your own is set"
)

NO_LAST_RUN: Final = (
    "REP_SITEMAP_SINCE = 'last run': {} keeps no last run; set REP_STORE_PATH or REP_REDIS_URL, give a store of"
    " your own the methods note() and put_notes(), or set a date"
)


@dataclass(frozen=True, slots=True)
class RepSettings:
    """The ``REP_*`` settings of one crawl: the field ``max_size`` is the setting ``REP_MAX_SIZE``, and so on.

    Durations are in seconds, sizes in octets.
    """

    user_agents: tuple[str, ...] = _setting(TOKENS, ())
    """Product tokens that groups are matched with, the most specific first. If empty, they come from
    ``ROBOTSTXT_USER_AGENT`` or from the User-Agent header of each request."""

    dialect: Dialect = _setting(one_of(**DIALECTS), GOOGLE)
    """The reading of robots.txt where RFC 9309 and Google differ; set by name."""

    max_size: int = _setting(number_of("octets", 1), MAX_SIZE)
    """Octets of a robots.txt that are read; the rest is ignored."""

    timeout: float = _setting(POSITIVE_SECONDS, 10.0)
    """Seconds that each HTTP request for a robots.txt may take, also one that follows a redirect."""

    retry_times: int = _setting(number_of("retries", 0), 4)
    """Number of retries after a first attempt that failed."""

    retry_delay: float = _setting(POSITIVE_SECONDS, 1.0)
    """Seconds from the start of the first attempt to that of the second; doubles with each further attempt."""

    retry_max_delay: float = _setting(POSITIVE_SECONDS, 600.0)
    """Seconds from one attempt to the next at most, whatever ``Retry-After`` says."""

    unreachable: Unreachable = _setting(one_of(**_UNREACHABLE), Unreachable.DISALLOW)
    """What an unreachable origin means: ``disallow``, ``allow``, ``retry`` or ``raise``."""

    unreachable_wait: float = _setting(SECONDS, 30.0)
    """Seconds that requests wait for retries, from the start of the first attempt to the end of the last."""

    status_access: Mapping[int, Access] = _setting(STATUS_ACCESS, MappingProxyType({}))
    """HTTP statuses with a meaning of their own; set as ``allow`` or ``disallow``, as for ``unreachable``."""

    min_ttl: float = _setting(SECONDS, 300.0)
    """Seconds that an answer stays fresh at least, whatever its ``Cache-Control`` says."""

    max_ttl: float = _setting(POSITIVE_SECONDS, 86_400.0)
    """Seconds that an answer stays fresh at most. RFC 9309 section 2.4 recommends not more than 24 hours."""

    stale_max: float = _setting(SECONDS, 2_592_000.0)
    """Seconds after that for which an expired entry is served stale while its origin is unreachable."""

    store: str = _setting(STORE, "sqlite")
    """Where entries live between runs: ``sqlite``, ``memory`` (nowhere), or the import path of a `Store` class."""

    store_path: str = _setting(PATH, "")
    """Path of the SQLite file (``robots.sqlite`` if empty). A relative one is in the project's ``.scrapy``."""

    redis_url: str = _setting(REDIS_URL, "")
    """URL of the Redis that a fleet of workers shares; empty for none. Never shown, because of its password."""

    redis_required: bool = _setting(FLAG, False)
    """Whether the spider is closed when Redis does not answer."""

    redis_prefix: str = _setting(TEXT, "rep:")
    """Text that all keys in Redis begin with."""

    redis_timeout: float = _setting(POSITIVE_SECONDS, 1.0)
    """Seconds that Redis may take to accept a connection, and to answer."""

    workers: int = _setting(number_of("processes", 1), 1)
    """Number of workers in the fleet; crawl delays are multiplied by it while Redis is away."""

    refused: str = _setting(one_of("ignore", "report", "obey"), "report")
    """What refusals by status mean: ``ignore``, ``report``, or ``obey``, to skip a site that repeats them."""

    crawl_delay: bool = _setting(one_of(obey=True, always=True, ignore=False), True)
    """Whether Crawl-delay is kept: ``obey``, ``always`` (with ``ROBOTSTXT_OBEY = False`` too) or ``ignore``."""

    crawl_delay_max: float = _setting(POSITIVE_SECONDS, 300.0)
    """Seconds of the longest Crawl-delay that is obeyed as it stands."""

    crawl_delay_over_max: str = _setting(one_of("cap", "obey", "skip"), "cap")
    """What a longer one means: ``cap`` it to ``crawl_delay_max``, ``obey`` it, or ``skip`` the origin's pages."""

    backoff: bool = _setting(FLAG, True)
    """Whether a download slot slows down when its site asks for it, by 429 or 503, or seems to be overloaded."""

    backoff_max: float = _setting(POSITIVE_SECONDS, 300.0)
    """Seconds to which the delay between two requests doubles at most, where the site names none."""

    follow_sitemaps: bool = _setting(FLAG, False)
    """Whether a sitemap spider crawls the sitemaps of every origin that the crawl meets."""

    offsite_sitemaps: bool = _setting(FLAG, False)
    """Whether sitemaps on hosts outside ``allowed_domains`` are followed, and may list pages of any host."""

    sitemap_since: datetime | str | None = _setting(SINCE, None)
    """When entries of sitemaps must have been modified: since a date, or since the ``last run``."""

    max_waiting: int = _setting(number_of("requests", 1), 1_000)
    """Number of requests in the scheduler, none of which can start, from which on ``start()`` has to wait."""

    memory_entries: int = _setting(number_of("origins", 1), 10_000)
    """Number of origins that the crawl keeps in memory; the least recently used are evicted."""

    memory_size: int = _setting(number_of("octets", 1), 134_217_728)
    """About the octets that these origins may take in memory: real files take that within a factor of 1.5."""

    request_hook: RequestHook | None = _setting(HOOK, None)
    """A callable ``(robots_request, cause) -> Request`` that changes or replaces the request for a robots.txt."""

    client_meta: frozenset[str] = _setting(META_KEYS, _CLIENT_META)
    """Meta keys that choose the client of a request; the request for its robots.txt inherits them."""

    sign_key: str = _setting(SECRET, "")
    """Path of the file with the private key that signs requests, or ``env:NAME``. Empty: they are not signed."""

    sign_agent: str = _setting(TEXT, "")
    """URL at which the public half of the key is published, which is how a site finds it."""

    modes: Mapping[str, str] = _setting(SITES, MappingProxyType({}))
    """Whether the rules are obeyed, only reported or ignored, by site; `Modes` reads it."""

    exceptions: tuple[Mapping[str, Any], ...] = _setting(TABLES, ())
    """Exceptions from robots.txt: dicts with ``url``, ``reason`` and ``until``; `PolicyException` reads them."""

    exceptions_file: str = _setting(PATH, "")
    """Path of a TOML file with more exceptions."""

    item_field: str = _setting(TEXT, "")
    """Name of the field in which items carry the stamp of their response; empty for none."""

    item_stamp: str = _setting(one_of("short", "full"), "short")
    """Which stamp that is: ``short`` (verdict, mode, rule, sha256, fetched) or ``full``."""

    audit: str = _setting(PATH, "")
    """Path of the audit log; empty for none."""

    audit_required: bool = _setting(FLAG, False)
    """Whether the spider is closed when the audit log cannot be written."""

    audit_all: bool = _setting(FLAG, False)
    """Whether ordinary requests that robots.txt allows have a line each in the audit log."""

    audit_bodies: str = _setting(PATH, "")
    """Path of the folder that keeps the body of each robots.txt, named by its SHA-256; empty for none."""

    target_url: TargetUrl | None = _setting(TARGET_URL, None)
    """Where requests for a rendering service or a scraping API lead: robots.txt of that site applies."""

    forbidden_response: str = _setting(one_of("report", "drop"), "report")
    """What happens to a response from a URL that robots.txt forbids, after a redirect that Scrapy did not see."""

    filter_links: str = _setting(one_of("off", "known"), "off")
    """Whether forbidden links are dropped before the scheduler: ``off``, or for ``known`` origins."""

    page_directives: str = _setting(one_of("ignore", "report", "obey"), "report")
    """What robots directives of pages (``X-Robots-Tag``, meta robots) mean: ``ignore``, ``report`` or ``obey``."""

    noindex: str = _setting(one_of("mark", "drop"), "mark")
    """What becomes of the items of a page that says noindex, if that is obeyed: ``mark`` or ``drop``."""

    rel_nofollow: str = _setting(one_of("ignore", "report", "obey"), "ignore")
    """What ``rel="nofollow"`` of single links means: ``ignore``, ``report`` or ``obey``."""

    purposes: tuple[Purpose, ...] = _setting(some_of(**{category.value: category for category in Purpose}), ())
    """What the crawl is for: ``search``, ``ai-input``, ``ai-train``, ``ai-index``. Signals of sites about the use
    by AI are read for a declared purpose alone."""

    ai_signals: str = _setting(one_of("report", "obey", "refuse"), "report")
    """What becomes of a page that is reserved from a declared purpose: ``report``, ``obey`` (its items are
    dropped) or ``refuse`` (so they are, and where robots.txt reserves it, it is not requested)."""

    ai_unknown: Permission = _setting(one_of(unknown=Permission.UNKNOWN, no=Permission.NO), Permission.UNKNOWN)
    """What silence about a declared purpose means: ``unknown`` or ``no``."""

    ai_sources: tuple[str, ...] = _setting(some_of("bing", "google", "ai.txt"), ())
    """What is read as a signal about AI too: ``bing`` (noarchive), ``google`` (nosnippet), ``ai.txt``."""

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> RepSettings:
        """Read the ``REP_*`` names in *settings*.

        Raises `InvalidSettingError` for an unknown ``REP_*`` name and for a value that is not accepted. Warns of
        a setting that was removed, and ignores it.
        """
        _check_names(name for name in settings if str(name).startswith("REP_"))
        given = {name: settings[name] for name in _FIELDS if settings.get(name) is not None}
        parsed = cls(**{_FIELDS[name].name: _parse(name, value) for name, value in given.items()})
        if parsed.min_ttl > parsed.max_ttl:
            raise InvalidSettingError(
                f"REP_MIN_TTL = {parsed.min_ttl:g}: expected at most REP_MAX_TTL, which is {parsed.max_ttl:g}"
            )
        if parsed.sitemap_since == LAST_RUN and parsed.store == "memory" and not parsed.redis_url:
            raise InvalidSettingError(
                "REP_SITEMAP_SINCE = 'last run': the last run is kept in the store, but REP_STORE is 'memory'; set"
                " it to 'sqlite', or REP_REDIS_URL, or REP_SITEMAP_SINCE to a date"
            )
        return parsed

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RepSettings:
        """Read the settings of *crawler*; logs what `from_settings` raises, and what changed since 1.0.0rc1."""
        settings = crawler.settings
        with logging_invalid_settings(logger):
            parsed = cls.from_settings(settings)
        asks_everywhere = settings.getbool("ROBOTSTXT_OBEY") or "*" in parsed.modes
        if settings.get("REP_CRAWL_DELAY") == "obey" and not asks_everywhere:
            logger.warning(_OBEY_IS_NOT_ALWAYS)
        return parsed

    def shares(self, origin: Origin) -> bool:
        """Whether other processes hear of *origin*: of one on loopback only if a store was set explicitly.

        Such an origin is usually a developer's own site, whose robots.txt changes by the minute.
        """
        has_store = self.store_path or self.redis_url or "." in self.store  # the import path of a class
        return bool(has_store) or not origin.is_loopback


@contextmanager
def logging_invalid_settings(logger: logging.Logger) -> Iterator[None]:
    """Log an `InvalidSettingError` of the ``with`` block: Scrapy would show it below a long traceback only."""
    try:
        yield
    except InvalidSettingError as error:
        logger.critical("%s", error)
        raise


def asks_for_delays(settings: BaseSettings) -> bool:
    """Whether robots.txt is fetched for its delays even with ``ROBOTSTXT_OBEY`` off."""
    return bool(settings.get("REP_CRAWL_DELAY") == "always")


def asks_for_backoff(settings: BaseSettings) -> bool:
    """Whether download slots back off: unless ``REP_BACKOFF`` is off."""
    value = settings.get("REP_BACKOFF")
    return value is None or bool(_parse("REP_BACKOFF", value))


def asks_robots(settings: BaseSettings) -> bool:
    """Whether robots.txt is fetched at all: for its rules, everywhere or on some sites, or for delays alone."""
    return settings.getbool("ROBOTSTXT_OBEY") or bool(settings.get("REP_MODES")) or asks_for_delays(settings)


ABORT_REQUEST: Final = "PLAYWRIGHT_ABORT_REQUEST"
"""The setting of scrapy-playwright."""


def extras_of(settings: BaseSettings, parsed: RepSettings) -> Iterator[str]:
    """The import paths of the extras that *settings* ask for, which are *parsed*, in the order of their events.

    Scrapy's components are listed by the add-on; these are no components, so that a manual installation has them.
    """
    asks = {
        "edge.signatures.Signer": parsed.sign_key or parsed.sign_agent,  # first: what it sends nobody else sees
        "fleet.sharing.Sharing": parsed.store == "sqlite" or parsed.redis_url,
        "backoff.outcomes.Backoffs": parsed.backoff,
        "edge.refusals.Refusals": parsed.refused != "ignore",
        "ai.signals.AiSignals": parsed.purposes,
        "audit.audit.Audit": parsed.audit or parsed.audit_required,
        "services.browser.gate_of": settings.get(ABORT_REQUEST),
    }
    return (f"scrapy_rep.extras.{name}" for name, is_asked in asks.items() if is_asked)


_FIELDS: Final = {f"REP_{attribute.name.upper()}": attribute for attribute in fields(RepSettings)}


def _parse(name: str, value: Any) -> Any:
    kind: ValueKind = _FIELDS[name].metadata["kind"]
    return kind.parse(name, value)


def _check_names(names: Iterable[Any]) -> None:
    for name in names:
        if name in _REMOVED:
            # With Python's default filters, once in a process.
            warn(f"{name} no longer has an effect: {_REMOVED[name]}", ScrapyDeprecationWarning, stacklevel=1)
        elif name not in _FIELDS:
            close = get_close_matches(name, _FIELDS, n=1)
            hint = f"did you mean {close[0]}?" if close else f"expected one of {', '.join(_FIELDS)}"
            raise InvalidSettingError(f"unknown setting {name}: {hint}")
