"""The connection of one crawl to the Redis at ``REP_REDIS_URL``.

Calls run in threads. After a failed call, Redis counts as away: further calls fail immediately, until a probe in
the background succeeds. The password in ``REP_REDIS_URL`` appears in no message.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, Any, Final, TypeVar

from scrapy import signals
from scrapy.utils.defer import deferred_from_coro

from scrapy_rep.clock import clock
from scrapy_rep.crawl.runtime.event_loop import in_thread
from scrapy_rep.crawl.runtime.log import describe
from scrapy_rep.exceptions import InvalidSettingError, RedisRequiredError
from scrapy_rep.extras.topics import ExtraTopic
from scrapy_rep.protocol.freshness import Backoff
from scrapy_rep.settings import RepSettings

if TYPE_CHECKING:
    from redis import Redis

    from scrapy_rep.crawl.runtime.crawl import Crawl

T = TypeVar("T")
Script = Callable[[Sequence[str], Sequence[Any]], Any]
"""A Lua script in Redis, which is called with its keys and arguments, and blocks."""

CLOSE_REASON: Final = "rep_redis_unavailable"
"""The finish reason of a spider that was closed because of ``REP_REDIS_REQUIRED``."""

_PROBES: Final = Backoff(0.25, 2.0)  # seconds between probes
_PROBE_LIFE: Final = 1_000  # milliseconds


class RedisAwayError(OSError):
    """Redis does not answer, or answers with an error: do without it."""


def connect(settings: RepSettings) -> tuple[Redis, tuple[type[Exception], ...]]:
    """Return a client, which connects on its first call, and the exceptions that its calls raise.

    Raises `InvalidSettingError` if redis-py is not installed, or rejects ``REP_REDIS_URL``.
    """
    try:
        from redis import ConnectionError as LostError  # noqa: PLC0415  # an optional dependency
        from redis import Redis, RedisError  # noqa: PLC0415
        from redis.backoff import NoBackoff  # noqa: PLC0415
        from redis.retry import Retry  # noqa: PLC0415
    except ImportError as error:
        raise InvalidSettingError(
            "REP_REDIS_URL is set, but redis-py is not installed: pip install 'scrapy_rep[redis]'"
        ) from error
    # Retry once over a new connection, because a restarted Redis has closed the old one; never after a timeout.
    retry = Retry(NoBackoff(), 1, supported_errors=(LostError,))
    seconds = settings.redis_timeout

    try:
        client = Redis.from_url(
            settings.redis_url, retry=retry, retry_on_error=[LostError],
            socket_timeout=seconds, socket_connect_timeout=seconds,
        )  # fmt: skip
        client.connection_pool.make_connection()  # does not connect yet, but raises for unknown options
    except (ValueError, TypeError, AttributeError, RedisError):
        raise InvalidSettingError("REP_REDIS_URL: redis-py rejects it; check the options after the '?'") from None
    client.connection_pool.reset()  # a pool of one connection would otherwise be exhausted
    if client.connection_pool.connection_kwargs.get("decode_responses"):
        raise InvalidSettingError("REP_REDIS_URL: remove decode_responses, because stored values are not text")
    return client, (RedisError, OSError)


def address_of(client: Redis) -> str:
    """The host, port and database of *client*, without user and password."""
    options = {"host": "localhost", "port": 6379, **client.connection_pool.connection_kwargs}
    return f"{options.get('path') or '{host}:{port}'.format(**options)}/{options.get('db', 0)}"


class RedisConnection:
    """Runs scripts in Redis for one crawl, and tracks whether Redis is away."""

    def __init__(self, crawl: Crawl) -> None:
        """Raises what `connect` raises."""
        self._crawl, self._settings = crawl, crawl.settings
        self.prefix = crawl.settings.redis_prefix
        self.client, self._errors = connect(crawl.settings)
        self._away_since = self._away_seconds = 0.0
        self._failures = 0
        self._next_probe = 0.0
        self._settled_at = 0.0
        self._is_closed = False
        self._calls = 0  # in progress
        crawl.crawler.signals.connect(self._spider_opened, signal=signals.spider_opened)

    @property
    def is_settling(self) -> bool:
        """Whether Redis is back so recently that other workers of the fleet may not have noticed."""
        return clock.monotonic() < self._settled_at

    def script(self, lua: str) -> Script:
        """Return *lua* as a script for `run`, which sends it to Redis on first use."""
        registered: Script = self.client.register_script(lua)
        return registered

    async def run(self, script: Script, keys: Sequence[str], arguments: Sequence[Any] = ()) -> Any:
        """Run *script* and return its result; each of the *keys* gets the `prefix`.

        Raises `RedisAwayError`, or `RedisRequiredError` if ``REP_REDIS_REQUIRED`` is set.
        """
        return await self._call(script, [f"{self.prefix}{key}" for key in keys], arguments)

    async def _call(self, work: Callable[..., T], *arguments: Any) -> T:
        if self._is_closed:
            raise self._away()
        if self._failures:
            self._probe_when_due()
            raise self._away()
        self._calls += 1
        try:
            return await in_thread(self._call_now, work, *arguments)
        except self._errors as error:
            self._lose(error)
            raise self._away() from None
        except Exception:  # the connection was closed during the call
            if not self._is_closed:
                raise
            raise self._away() from None
        finally:
            self._calls -= 1
            self._disconnect_if_over()

    def _call_now(self, work: Callable[..., T], *arguments: Any) -> T:
        """Run in a thread. Calls queued behind a call that timed out fail immediately instead of timing out."""
        if self._failures:
            raise RedisAwayError
        return work(*arguments)

    def call_now(self, command: Callable[..., Any], *arguments: Any) -> Any:
        """Call *command* of the `client` and return its result; blocks. Raises `RedisAwayError`."""
        try:
            return command(*arguments)
        except self._errors as error:
            why = self._text_of(error)
            raise RedisAwayError(f"Redis at {self}, from REP_REDIS_URL, does not answer ({why})") from None

    def _away(self) -> Exception:
        problem = f"Redis at {self} does not answer"
        return RedisRequiredError(problem) if self._settings.redis_required else RedisAwayError(problem)

    def _lose(self, error: Exception) -> None:
        if self._failures:
            return
        self._failures = 1
        self._away_since = clock.monotonic()
        self._next_probe = clock.monotonic() + _PROBES.distance(1)
        self._crawl.stats.inc_value("rep/redis/away_count")
        why = self._text_of(error)
        self._crawl.log.add(
            ExtraTopic.REDIS_AWAY, "Redis at %s does not answer (%s): %s", self, why, self._consequence()
        )
        if self._settings.redis_required:
            self._crawl.engine.close_spider(CLOSE_REASON)

    def _consequence(self) -> str:
        if self._settings.redis_required:
            return "the spider is closed, because REP_REDIS_REQUIRED is set."
        return (
            "until it does, this worker fetches robots.txt files for itself"
            f" and multiplies every crawl delay by {self._settings.workers} (REP_WORKERS)."
        )

    def _probe_when_due(self) -> None:
        if clock.monotonic() >= self._next_probe:
            self._next_probe = inf  # until the running probe ends
            deferred_from_coro(self._probe())

    async def _probe(self) -> None:
        """Write to Redis: a Redis that answers but refuses writes would fail the next call."""
        try:
            await in_thread(self._write_probe)
        except self._errors:
            self._failures += 1
            self._next_probe = clock.monotonic() + _PROBES.distance(self._failures)
        else:
            self._failures = 0
            self._settled_at = clock.monotonic() + _PROBES.most + self._settings.redis_timeout
            away = clock.monotonic() - self._away_since
            self._away_seconds += away
            self._crawl.log.add(ExtraTopic.REDIS_BACK, "Redis at %s answers again after %.1f s.", self, away)

    def _write_probe(self) -> None:
        self.client.set(f"{self.prefix}probe", b"", px=_PROBE_LIFE)

    async def _spider_opened(self) -> None:
        """Report an unreachable Redis when the spider opens, not at the first request."""
        with suppress(RedisAwayError, RedisRequiredError):
            await self._call(self._write_probe)

    def close(self) -> None:
        """Close the connection at the end of the crawl, after running calls; further calls find Redis away."""
        if self._failures:
            self._away_seconds += clock.monotonic() - self._away_since
        self._crawl.stats.set_value("rep/redis/away_seconds", round(self._away_seconds, 3))
        self._is_closed = True
        self._disconnect_if_over()

    def _disconnect_if_over(self) -> None:
        if self._is_closed and not self._calls:
            self.client.close()

    def _text_of(self, error: Exception) -> str:
        """Return one line that describes *error*, without the password."""
        text, password = describe(error), self.client.connection_pool.connection_kwargs.get("password")
        return text.replace(password, "…") if password else text

    def __str__(self) -> str:
        """Return the host, port and database, without user and password."""
        return address_of(self.client)

    def __repr__(self) -> str:
        return f"<RedisConnection {self}{' (away)' if self._failures else ''}>"
