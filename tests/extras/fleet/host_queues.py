"""The queue of hosts for the tests beside this file."""

from __future__ import annotations

from scrapy_rep import RedisHostQueue


class ImpatientQueue(RedisHostQueue):
    """Takes a worker for dead after a second, not after half a minute."""

    LEASE = 1.0
