"""What the answer to a fetch of robots.txt means: its status, and a browser's view of it. RFC 9309 section 2.3.1.

Knows nothing of requests; redirects have been followed and failures without a status judged before.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from typing import Final

from .display import StringEnum


class Access(StringEnum):
    """What a fetch result means for the URLs of an origin; each is a string."""

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


# As Chromium, WebKit and Firefox show text/plain, which the HTML standard leaves to them; Chromium adds an empty
# <div> where the type is JSON. A page with a tag inside its <pre> is a page of the site.
_VIEW: Final = re.compile(
    rb"\s*<html\b[^<>]*><head>(?:<(?:meta|link)\b[^<>]*>)*</head>"
    rb"<body\b[^<>]*><pre\b[^<>]*>([^<]*)</pre>(?:<div\b[^<>]*></div>)?</body></html>\s*",
    re.IGNORECASE,
)
# All that the HTML standard escapes in the text of an element ("Serializing HTML fragments").
_ESCAPE: Final = re.compile(rb"&(amp|lt|gt|nbsp);")
_MEANINGS: Final = {b"amp": b"&", b"lt": b"<", b"gt": b">", b"nbsp": "\N{NO-BREAK SPACE}".encode()}


def without_viewer(body: bytes) -> bytes:
    """The text in *body* when that is a browser's view of a text file, else *body* as it is.

    A crawl that renders every URL gets the page in which the browser shows the file.
    """
    view = _VIEW.fullmatch(body)
    if not view:
        return body
    return _as_served(_ESCAPE.sub(lambda escape: _MEANINGS[escape.group(1)], view.group(1)))


def _as_served(text: bytes) -> bytes:
    """*text* with the octets of the file: those of UTF-8 without a charset are shown as windows-1252."""
    try:
        octets = text.decode("utf-8").encode("windows-1252", _CONTROLS)
        octets.decode("utf-8")
    except UnicodeError:
        return text
    return octets


def _controls(error: UnicodeError) -> tuple[bytes, int]:
    """In browsers the octets without a character in windows-1252 stand for C1 controls: the Encoding standard."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return error.object[error.start : error.end].encode("latin-1"), error.end


_CONTROLS: Final = "scrapy_rep.c1_controls"
codecs.register_error(_CONTROLS, _controls)


_TOP_OF_PAGE: Final = 16_384  # octets; an error page says what it is at its top
_LONGEST_HEADING: Final = 300  # octets
_HEADING: Final = re.compile(rb"<(?:title|h1)\b[^<>]*>", re.IGNORECASE)
_END_OF_HEADING: Final = re.compile(rb"</(?:title|h1)\b", re.IGNORECASE)
_ANY_TAG: Final = re.compile(rb"<[^<>]*>")
_NOT_FOUND: Final = re.compile(
    rb"\b404\b|^\W*not found\W*$"
    rb"|\b(?:page|file|document|url|resource|robots\.txt)\b.{0,60}"
    rb"\b(?:not found|not be found|does not exist|doesn't exist)\b",
    re.IGNORECASE,
)


def says_not_found(page: bytes) -> bool:
    page = page[:_TOP_OF_PAGE]
    for heading in _HEADING.finditer(page):
        text = page[heading.end() : heading.end() + _LONGEST_HEADING]
        text = _ANY_TAG.sub(b" ", _END_OF_HEADING.split(text, maxsplit=1)[0])
        if _NOT_FOUND.search(b" ".join(text.split())):
            return True
    return False
