"""Scripts run by a real Redis at once, with neither a loop nor threads: for tests of what the scripts do."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from redis import Redis

T = TypeVar("T")


class DirectConnection:
    """In the place of `RedisConnection`."""

    prefix = "rep:"
    is_settling = False

    def __init__(self, client: Redis) -> None:
        self.client = client

    def script(self, lua: str) -> Any:
        return self.client.register_script(lua)

    async def run(self, script: Any, keys: Sequence[str], arguments: Sequence[Any] = ()) -> Any:
        return script([f"{self.prefix}{key}" for key in keys], arguments)


def at_once(work: Coroutine[Any, Any, T]) -> T:
    """What *work* returns, which waits for nothing."""
    try:
        work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    raise AssertionError("it waits")
