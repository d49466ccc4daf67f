"""One ``key: value`` line of a robots.txt, and what its key means.

Knows keys only: what a value says is for those who read the records.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final


class Kind(str, Enum):
    """What the key of a record means; each is a string."""

    __str__ = str.__str__

    USER_AGENT = "user-agent"
    ALLOW = "allow"
    DISALLOW = "disallow"
    SITEMAP = "sitemap"
    CRAWL_DELAY = "crawl-delay"
    REQUEST_RATE = "request-rate"
    VISIT_TIME = "visit-time"
    HOST = "host"
    CLEAN_PARAM = "clean-param"
    CONTENT_SIGNAL = "content-signal"
    CONTENT_USAGE = "content-usage"
    NOINDEX = "noindex"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Record:
    """A line of a robots.txt with a key and a value.

    ``line`` counts from 1; ``key`` and ``value`` are the octets as written, without comment and
    surrounding ASCII white space.
    """

    line: int
    kind: Kind
    key: bytes
    value: bytes

    @property
    def text(self) -> str:
        """The value as text: UTF-8, octets that are none as surrogate escapes."""
        return as_text(self.value)


def as_text(value: bytes) -> str:
    """*value* as text: UTF-8, octets that are none as surrogate escapes."""
    return value.decode("utf-8", "surrogateescape")


# As in Google's parser these match by prefix ("Disallowed" is a disallow) and include the typos
# it forgives. Group n of the expression is _BY_PREFIX[n - 1].
_BY_PREFIX: Final = (Kind.USER_AGENT, Kind.ALLOW, Kind.DISALLOW, Kind.SITEMAP)
_PREFIXES: Final = re.compile(
    rb"(user[- ]?agent)|(allow)|(disallow|dissallow|dissalow|disalow|diasllow|disallaw)|(site-?map)",
    re.IGNORECASE,
)
_EXACT: Final = {
    **{kind.value.encode(): kind for kind in Kind if kind not in (*_BY_PREFIX, Kind.UNKNOWN)},
    b"crawldelay": Kind.CRAWL_DELAY,
    b"crawl delay": Kind.CRAWL_DELAY,
}


def kind_of(key: bytes) -> Kind:
    """What *key* means; case does not count."""
    found = _PREFIXES.match(key)
    if found and found.lastindex:
        return _BY_PREFIX[found.lastindex - 1]
    return _EXACT.get(key.lower(), Kind.UNKNOWN)
