"""The way of one crawl to the fleet's Redis: calls in threads, and none while it is away.

Knows nothing of entries and turns. A password in ``REP_REDIS_URL`` is shown nowhere.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeVar

from scrapy import signals
from scrapy.utils.defer import deferred_from_coro

from scrapy_rep.crawl.event_loop import in_thread
from scrapy_rep.crawl.origin_log import OriginLog
from scrapy_rep.crawl.scrapy_internals import Engine
from scrapy_rep.exceptions import RedisRequiredError
from scrapy_rep.protocol.freshness import Backoff
from scrapy_rep.settings import RepSettings

from .redis_client import RedisAwayError, connect, place, what_it_says

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

T = TypeVar("T")
Script = Callable[[Sequence[str], Sequence[Any]], Any]
"""A Lua script in Redis: called with its keys and arguments, in a thread."""

logger = logging.getLogger(__name__)

CLOSE_REASON: Final = "rep_redis_unavailable"
"""Why a spider was closed that may not go on without Redis."""

_PROBES: Final = Backoff(0.25, 2.0)  # seconds between the questions whether Redis is back
_PROBE_LIFE: Final = 1_000  # milliseconds


class RedisLink:
    """Calls to Redis. After one that failed there are none, until a question now and then is answered again."""

    def __init__(self, crawler: Crawler) -> None:
        """Raises `InvalidSettingError` without redis-py, and for a ``REP_REDIS_URL`` that it cannot use."""
        self._crawler = crawler
        self._settings = settings = RepSettings.from_crawler(crawler)
        self.prefix = settings.redis_prefix
        self._client, errors = connect(settings)
        self._errors: tuple[type[Exception], ...] = (*errors, RedisAwayError)
        self._away_since = self._away_seconds = 0.0
        self._failures = 0
        self._next_probe = 0.0
        self._is_probing = False
        self._settled_at = 0.0
        self._is_closed = False
        self._lost = OriginLog(logger, logging.WARNING, "Redis was away %d more times")
        self._back = OriginLog(logger, logging.INFO, "Redis came back %d more times")
        crawler.signals.connect(self._spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(self._spider_closed, signal=signals.spider_closed)

    @property
    def is_settling(self) -> bool:
        """Whether Redis has just come back, and others of the fleet may not know it yet."""
        return monotonic() < self._settled_at

    def script(self, lua: str) -> Script:
        """*lua*, ready to be run; Redis is told of it when it first is."""
        registered: Script = self._client.register_script(lua)
        return registered

    async def run(self, script: Script, keys: Sequence[str], arguments: Sequence[Any] = ()) -> Any:
        """What *script* returns. Raises `RedisAwayError`, or `RedisRequiredError` where that was asked for."""
        return await self._call(script, [f"{self.prefix}{key}" for key in keys], arguments)

    async def _call(self, work: Callable[..., T], *arguments: Any) -> T:
        if self._is_closed:
            raise self._away()
        if self._failures:
            self._probe_when_due()
            raise self._away()
        try:
            return await in_thread(self._call_now, work, *arguments)
        except self._errors as error:
            self._lose(error)
            raise self._away() from None
        except Exception:  # of a connection that was closed under it
            if not self._is_closed:
                raise
            raise self._away() from None

    def _call_now(self, work: Callable[..., T], *arguments: Any) -> T:
        """In a thread: calls that queued behind one that timed out need not time out, too."""
        if self._failures:
            raise RedisAwayError
        return work(*arguments)

    def _away(self) -> Exception:
        problem = f"Redis at {self} does not answer"
        return RedisRequiredError(problem) if self._settings.redis_required else RedisAwayError(problem)

    def _lose(self, error: Exception) -> None:
        if self._failures:
            return
        self._failures = 1
        self._away_since = monotonic()
        self._next_probe = monotonic() + _PROBES.distance(1)
        self._crawler.stats.inc_value("rep/redis/away_count")
        why = what_it_says(self._client, error)
        self._lost.add("Redis at %s does not answer (%s): %s", self, why, self._fate())
        if self._settings.redis_required:
            Engine(self._crawler).close_spider(CLOSE_REASON)

    def _fate(self) -> str:
        if self._settings.redis_required:
            return "REP_REDIS_REQUIRED closes the spider."
        return (
            "until it does the crawl goes on with robots.txt files of its own,"
            f" and delays times {self._settings.workers} (REP_WORKERS)."
        )

    def _probe_when_due(self) -> None:
        if not self._is_probing and monotonic() >= self._next_probe:
            self._is_probing = True
            deferred_from_coro(self._probe())

    async def _probe(self) -> None:
        """Ask whether Redis is back; it must take writes, or else the first call would fail again."""
        try:
            await in_thread(self._write_something)
        except self._errors:
            self._failures += 1
            self._next_probe = monotonic() + _PROBES.distance(self._failures)
        else:
            self._failures = 0
            self._settled_at = monotonic() + _PROBES.most + self._settings.redis_timeout
            gone = monotonic() - self._away_since
            self._away_seconds += gone
            self._back.add("Redis at %s answers again after %.1f s.", self, gone)
        finally:
            self._is_probing = False

    def _write_something(self) -> None:
        self._client.set(f"{self.prefix}probe", b"", px=_PROBE_LIFE)

    async def _spider_opened(self) -> None:
        """Say at once when there is no Redis, rather than with the first request."""
        with suppress(RedisAwayError, RedisRequiredError):
            await self._call(self._write_something)

    def _spider_closed(self) -> None:
        self._lost.close()
        self._back.close()
        if self._failures:
            self._away_seconds += monotonic() - self._away_since
        self._crawler.stats.set_value("rep/redis/away_seconds", round(self._away_seconds, 3))
        self._is_closed = True
        self._client.close()

    def __str__(self) -> str:
        """Where it is, without user and password."""
        return place(self._client)

    def __repr__(self) -> str:
        return f"<RedisLink {self}{' (away)' if self._failures else ''}>"
