"""A client of the Redis that ``REP_REDIS_URL`` names. A password in it is shown nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_rep.crawl.origin_log import describe
from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.settings import RepSettings

if TYPE_CHECKING:
    from redis import Redis


class RedisAwayError(Exception):
    """Redis does not answer, or not as it should: go on without."""


def connect(settings: RepSettings) -> tuple[Redis, tuple[type[Exception], ...]]:
    """A client that has not yet connected, and what its calls raise.

    Raises `InvalidSettingError` without redis-py, and for a ``REP_REDIS_URL`` that it cannot use.
    """
    try:
        from redis import ConnectionError as LostError  # noqa: PLC0415  # an extra
        from redis import Redis, RedisError  # noqa: PLC0415
        from redis.backoff import NoBackoff  # noqa: PLC0415
        from redis.retry import Retry  # noqa: PLC0415
    except ImportError as error:
        raise InvalidSettingError(
            "REP_REDIS_URL is set, but redis-py is not installed: pip install 'scrapy_rep[redis]'"
        ) from error
    # One more attempt for a connection that a restarted Redis has closed; none after a time-out.
    retry = Retry(NoBackoff(), 1, supported_errors=(LostError,))
    seconds = settings.redis_timeout

    def client() -> Redis:
        return Redis.from_url(
            settings.redis_url, retry=retry, retry_on_error=[LostError],
            socket_timeout=seconds, socket_connect_timeout=seconds,
        )  # fmt: skip

    try:
        trial = client().connection_pool
        trial.make_connection()  # connects nowhere, and refuses options that it does not know
    except (ValueError, TypeError, AttributeError, RedisError):
        raise InvalidSettingError("REP_REDIS_URL: redis-py cannot use it; see its options behind the ?") from None
    if trial.connection_kwargs.get("decode_responses"):
        raise InvalidSettingError("REP_REDIS_URL: remove decode_responses, for what is kept there is no text")
    return client(), (RedisError, OSError)


def place(client: Redis) -> str:
    """Where it is, without user and password."""
    at = client.connection_pool.connection_kwargs
    return f"{at.get('path') or '{host}:{port}'.format(**at)}/{at.get('db', 0)}"


def what_it_says(client: Redis, error: Exception) -> str:
    """One line about *error* of a call, without the password."""
    text = describe(error)
    password = client.connection_pool.connection_kwargs.get("password")
    return text.replace(password, "…") if password else text
