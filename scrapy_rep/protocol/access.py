"""What the status of a fetch means: RFC 9309 section 2.3.1.

Knows nothing of requests; redirects have been followed and failures without a status judged before.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from .html import says_not_found


class Access(str, Enum):
    """What a fetch result means for the URLs of an origin; each is a string."""

    __str__ = str.__str__

    SUCCESSFUL = "successful"
    """The rules in the body hold."""
    UNAVAILABLE = "unavailable"
    """There is no robots.txt: everything is allowed."""
    UNREACHABLE = "unreachable"
    """What holds is unknown for now: everything is disallowed."""


ALLOW_ALL: Final = b""
DISALLOW_ALL: Final = b"User-agent: *\nDisallow: /\n"


def rules_by(access: Access, body: bytes) -> bytes:
    """The robots.txt that holds: the *body*, or the one that *access* stands for."""
    return {Access.SUCCESSFUL: body, Access.UNAVAILABLE: ALLOW_ALL}.get(access, DISALLOW_ALL)


_NO_OVERRIDES: Final[Mapping[int, Access]] = {}


def access(
    status: int,
    body: bytes = b"",
    *,
    overrides: Mapping[int, Access] = _NO_OVERRIDES,
    soft_404: bool = True,
) -> Access:
    """What the final *status* of a robots.txt fetch means.

    *overrides* come first, status by status. With *soft_404* an error page among the 5xx (never a
    503) whose *body* says that the page was not found is a misconfigured 404, as for Google.
    """
    if status in overrides:
        return overrides[status]
    # 2.3.1.1: "If the crawler successfully downloads the robots.txt file, the crawler MUST follow
    # the parseable rules."
    if 200 <= status < 300:
        return Access.SUCCESSFUL
    # 2.3.1.2: after five consecutive redirects "crawlers MAY assume that the robots.txt file is
    # unavailable". A redirect that leads nowhere is no better.
    if 300 <= status < 400:
        return Access.UNAVAILABLE
    # Google treats 429 as a server error: "Too many requests" says nothing about a missing file.
    if status == 429:
        return Access.UNREACHABLE
    # 2.3.1.3: "If a server status code indicates that the robots.txt file is unavailable to the
    # crawler, then the crawler MAY access any resources on the server." 401 and 403 are no exception.
    if 400 <= status < 500:
        return Access.UNAVAILABLE
    if soft_404 and 500 <= status < 600 and status != 503 and says_not_found(body):
        return Access.UNAVAILABLE
    # 2.3.1.4: "If the robots.txt file is unreachable due to server or network errors [...] the
    # crawler MUST assume complete disallow."
    return Access.UNREACHABLE
