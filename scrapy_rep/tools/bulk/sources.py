"""What is known of the robots.txt of an origin, and who says so: a source.

A source answers with what a fetch of the robots.txt means (`Access`) and its body, or with why it is `Missing`. It
never guesses: a robots.txt that cannot be read is no robots.txt that allows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import LONG_UNREACHABLE


class SourceError(Exception):
    """The robots.txt files cannot be read; the message names what to change."""


class Missing(str, Enum):
    """Why the verdict on a URL is unknown; each is a string."""

    __str__ = str.__str__

    NO_FILE = "no robots.txt"
    """The source has no robots.txt of the origin."""
    UNREADABLE = "unreadable robots.txt"
    """The source has a file for the origin that cannot be read."""
    NO_URL = "not a URL"
    """There is no origin in what should be a URL, or it holds control characters, or it is too long."""


@dataclass(frozen=True, slots=True)
class Known:
    """The robots.txt of an origin: what its fetch meant and, if it was successful, its body."""

    access: Access
    body: bytes = b""


class Source(Protocol):
    """Robots.txt files by origin."""

    def get(self, origin: Origin) -> Known | Missing:
        """What is known of the robots.txt of *origin*. Raises `SourceError` when the source cannot be used."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How the entries of a store are read; the fields are those settings of a crawl.

    ``stale_max`` are the seconds for which an expired entry stands in for an unreachable origin.
    """

    stale_max: float = LONG_UNREACHABLE
    status_access: Mapping[int, Access] = field(default_factory=dict)
