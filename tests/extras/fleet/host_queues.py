"""The queue of hosts for the tests beside this file."""

from __future__ import annotations

import json
from typing import Any

from scrapy_rep import RedisHostQueue


class ImpatientQueue(RedisHostQueue):
    """Takes a worker for dead after a second, not after half a minute."""

    LEASE = 1.0


def dumps(request: dict[str, Any]) -> str:
    """With `loads`, this module is a ``SCHEDULER_SERIALIZER`` that stores text, not pickles."""
    return json.dumps(
        {name: value.decode() if isinstance(value, bytes) else value for name, value in request.items()}
    )


def loads(text: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    return {**found, "body": found["body"].encode()}
