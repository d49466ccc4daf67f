"""What was captured when a robots.txt was asked for: the input of `scrapy_rep.census.rows`."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final, NamedTuple

from scrapy_rep.protocol import Access, Origin

_ROBOTS_URL: Final = re.compile(r"(?i:https?)://[^/?#]*/robots\.txt")
_IN_NO_URL: Final = re.compile(r"[\s<>\\]")


def is_robots_url(url: str) -> bool:
    """Whether *url* is that of the robots.txt of an http or https origin, and not another page of it."""
    return bool(_ROBOTS_URL.fullmatch(url))


def has_host(url: str) -> bool:
    """Whether *url* names a host and a port that there may be."""
    return not _IN_NO_URL.search(url) and Origin.find(url) is not None


class Capture(NamedTuple):
    """A response to a request for a robots.txt, or the lack of one.

    ``url`` was requested. ``status`` is that of the response, None when there was none. ``body`` is decoded: no
    transfer or content coding is left. ``fetched_at`` is aware. ``location`` is where a redirect leads that was
    not followed, absolute; ``hops`` are the URLs of those that were. ``problem`` says why there is no response, or
    not all of it, such as "truncated response (disconnect)". ``access`` is what the response means where a crawl
    has said so. ``refused`` is what its status and headers refuse, as text; None where only the status is known. A
    file that is no site's has its name for a ``url``.
    """

    url: str
    status: int | None = None
    body: bytes | None = None
    fetched_at: datetime | None = None
    location: str | None = None
    problem: str | None = None
    hops: tuple[str, ...] = ()
    access: Access | None = None
    refused: str | None = None
