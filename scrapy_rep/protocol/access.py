"""What a robots.txt response means for the crawl: RFC 9309 section 2.3.1.

The crawl, the commands, the web checker and the archives all call `read`. Its order is the argument. It first
checks who answered, because a proxy or an edge does not speak for the site. Then the status decides nearly
everything: a damaged 404 is still a 404. The body counts only in a 2xx, and in a 5xx that may be a misconfigured
404. A truncated or undecodable body there means *unreachable*, never "no rules".

Callers follow redirects first. A fetch without a status is unreachable and never gets here.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple

from .codings import Decoder, undo
from .display import StringEnum


class Access(StringEnum):
    """The result of a robots.txt fetch, for the URLs of its origin. Members are strings."""

    SUCCESSFUL = "successful"
    """The rules in the body apply."""
    UNAVAILABLE = "unavailable"
    """The site has no robots.txt: everything is allowed."""
    UNREACHABLE = "unreachable"
    """The rules are unknown for now: everything is disallowed."""


ALLOW_ALL: Final = b""
DISALLOW_ALL: Final = b"User-agent: *\nDisallow: /\n"


def rules_by(access: Access, body: bytes) -> bytes:
    """The robots.txt that applies: *body* if the fetch was successful, else the equivalent of *access*."""
    return {Access.SUCCESSFUL: body, Access.UNAVAILABLE: ALLOW_ALL}.get(access, DISALLOW_ALL)


_NO_OVERRIDES: Final[Mapping[int, Access]] = {}


def access(status: int, body: bytes = b"", *, overrides: Mapping[int, Access] = _NO_OVERRIDES) -> Access:
    """Interpret the final *status* of a robots.txt fetch.

    *overrides* map statuses to results and take precedence. A 5xx other than 503 counts as a misconfigured 404 if
    its *body* says that the page was not found, as for Google.
    """
    if status in overrides:
        return overrides[status]
    # 2.3.1.1: "If the crawler successfully downloads the robots.txt file, the crawler MUST follow
    # the parseable rules."
    if 200 <= status < 300:
        return Access.SUCCESSFUL
    # 2.3.1.2: after five consecutive redirects "crawlers MAY assume that the robots.txt file is
    # unavailable". The same goes for a redirect that cannot be followed.
    if 300 <= status < 400:
        return Access.UNAVAILABLE
    # Google treats 429 as a server error: "Too many requests" says nothing about a missing file.
    if status == 429:
        return Access.UNREACHABLE
    # 2.3.1.3: "If a server status code indicates that the robots.txt file is unavailable to the
    # crawler, then the crawler MAY access any resources on the server." 401 and 403 are no exception.
    if 400 <= status < 500:
        return Access.UNAVAILABLE
    if 500 <= status < 600 and status != 503 and says_not_found(body):
        return Access.UNAVAILABLE
    # 2.3.1.4: "If the robots.txt file is unreachable due to server or network errors [...] the
    # crawler MUST assume complete disallow."
    return Access.UNREACHABLE


TRUNCATED: Final = "truncated response"


class Via(Enum):
    """The intermediary that carries a request and may answer in place of the site."""

    NOBODY = "nobody"
    PROXY = "proxy"
    SERVICE = "service"
    """A scraping API that takes the URL as a parameter."""


_REFUSALS: Final = {Via.PROXY: frozenset({407}), Via.SERVICE: frozenset({401, 402, 403, 407})}
"""Statuses that mean a carrier's refusal: RFC 9110 section 15.5.8, and the documentation of scraping APIs."""

_WITH_PROXY_STATUS: Final = frozenset({402, 403, 407, 502, 504})
_RANGE: Final = re.compile(r"bytes 0-(\d+)/(\d+)")
_PROXY_ERROR: Final = re.compile(r";\s*error\s*=", re.IGNORECASE)  # RFC 9209 section 2.1.1

CHALLENGES: Final[Mapping[str, tuple[str, frozenset[str]]]] = {
    "cf-mitigated": ("Cloudflare", frozenset({"challenge"})),
    "x-amzn-waf-action": ("AWS WAF", frozenset({"challenge", "captcha"})),
    "x-dd-b": ("DataDome", frozenset()),
    "x-vercel-mitigated": ("Vercel", frozenset({"challenge"})),
}
"""Headers that mark an answer as a challenge: the vendor, and the values that do (empty for any value)."""

HEADERS: Final = ("content-encoding", "content-range", "proxy-status", *CHALLENGES)
"""The headers that `read` uses."""


def headers_read(headers: Iterable[tuple[str, str]], names: Container[str] = HEADERS) -> dict[str, str]:
    """The *headers* listed in *names*, by lower-case name; repeated headers are joined with commas."""
    found: dict[str, str] = {}
    for name, value in ((name.lower(), value) for name, value in headers):
        if name in names:
            found[name] = f"{found[name]}, {value}" if name in found else value
    return found


@dataclass(frozen=True, slots=True)
class RawResponse:
    """A response as received. ``headers`` come from `headers_read`.

    ``damage`` describes a known defect of the body, for example `TRUNCATED`. ``is_stopped`` means that the reader
    stopped at its size limit. ``may_be_undone`` is as in `codings.undo`.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    damage: str = ""
    is_stopped: bool = False
    via: Via = Via.NOBODY
    may_be_undone: bool = False


class Meaning(NamedTuple):
    """The interpretation of a response.

    ``body`` is the robots.txt if ``access`` is successful, the page of a readable 5xx, else empty. It may exceed
    the size limit. ``problem`` explains an unreachable site where the status does not. ``warning`` describes an
    oddity of a readable body. If ``is_of_site`` is false, an intermediary answered: the result says nothing about
    the site and must not be cached for other requests.
    """

    access: Access
    body: bytes = b""
    problem: str = ""
    warning: str = ""
    is_of_site: bool = True


def read(
    response: RawResponse,
    *,
    limit: int,
    decoders: Mapping[str, Decoder],
    overrides: Mapping[int, Access] = _NO_OVERRIDES,
) -> Meaning:
    """Interpret *response* for a reader that uses *limit* bytes; *overrides* are as in `access`."""
    status = response.status
    if is_of_carrier(status, response.headers, response.via):
        problem = f"the {response.via.value} refused: HTTP status {status}"
        return Meaning(Access.UNREACHABLE, problem=problem, is_of_site=False)
    if (name := challenge_in(response.headers)) and status not in overrides:
        problem = f"a challenge in place of the answer ({name}, HTTP status {status})"
        return Meaning(Access.UNREACHABLE, problem=problem)
    means = access(status, overrides=overrides)
    if means is Access.SUCCESSFUL:
        body, problem, warning = body_of(response, limit, decoders)
        return Meaning(Access.UNREACHABLE if problem else means, without_viewer(body), problem, warning)
    if means is Access.UNREACHABLE and 500 <= status < 600:
        page, _, _ = body_of(response, limit, decoders)
        return Meaning(access(status, page, overrides=overrides), page)
    return Meaning(means)


def challenge_in(headers: Mapping[str, str]) -> str:
    """The name of the header that marks an answer as a challenge, or an empty string."""
    said = ((name, *CHALLENGES[name], headers[name].strip().lower()) for name in CHALLENGES if name in headers)
    return next((name for name, _, values, value in said if value in values or not values), "")


def is_of_carrier(status: int, headers: Mapping[str, str], via: Via) -> bool:
    """Whether the carrier refused the request or failed, without an answer from the site."""
    error = _PROXY_ERROR.search(headers.get("proxy-status", "")) if via is not Via.NOBODY else None
    return bool(error and status in _WITH_PROXY_STATUS) or status in _REFUSALS.get(via, ())


def body_of(response: RawResponse, limit: int, decoders: Mapping[str, Decoder]) -> tuple[bytes, str, str]:
    """The decoded body, its defect, and a warning; the last two are empty if there are none."""
    # A 206 without a Range request (RFC 9110 section 15.3.7) is a partial body unless its range covers the whole.
    part = response.headers.get("content-range", "").strip().lower() if response.status == 206 else ""
    found = _RANGE.fullmatch(part)
    is_part = bool(part) and not (found and int(found[1][:12]) + 1 == int(found[2][:12]))
    damage = response.damage or (TRUNCATED if is_part else "")
    if damage:
        return b"", damage, ""
    try:
        body, warning = undo(
            response.body,
            response.headers.get("content-encoding", ""),
            limit=limit,
            decoders=decoders,
            is_stopped=response.is_stopped or len(response.body) > limit,
            may_be_undone=response.may_be_undone,
        )
    except ValueError as error:
        return b"", str(error), ""
    return body, "", warning


# The page in which Chromium, WebKit and Firefox show text/plain; the HTML standard leaves it to them. Chromium
# adds an empty <div> for JSON. A page with a tag inside its <pre> belongs to the site.
_VIEW: Final = re.compile(
    rb"\s*<html\b[^<>]*><head>(?:<(?:meta|link)\b[^<>]*>)*</head>"
    rb"<body\b[^<>]*><pre\b[^<>]*>([^<]*)</pre>(?:<div\b[^<>]*></div>)?</body></html>\s*",
    re.IGNORECASE,
)
# Every escape that the HTML standard uses in the text of an element ("Serializing HTML fragments").
_ESCAPE: Final = re.compile(rb"&(amp|lt|gt|nbsp);")
_MEANINGS: Final = {b"amp": b"&", b"lt": b"<", b"gt": b">", b"nbsp": "\N{NO-BREAK SPACE}".encode()}
# Browsers show bytes that windows-1252 leaves undefined as C1 controls: the Encoding standard.
_SHOWN: Final = [(octet, bytes((octet,)).decode("cp1252", "ignore")) for octet in range(0x80, 0xA0)]
_SERVED: Final = {ord(character): octet for octet, character in _SHOWN if character}


def without_viewer(body: bytes) -> bytes:
    """The text in *body* if that is a browser's view of a text file, else *body* unchanged.

    A crawl that renders every URL receives that view instead of the file.
    """
    view = _VIEW.fullmatch(body)
    if not view:
        return body
    text = _ESCAPE.sub(lambda escape: _MEANINGS[escape.group(1)], view.group(1))
    try:  # without a charset, browsers show UTF-8 bytes as windows-1252
        octets = text.decode().translate(_SERVED).encode("latin-1")
        octets.decode()
    except UnicodeError:
        return text
    return octets


_TOP_OF_PAGE: Final = 16_384  # bytes; an error page names the error near its top
_LONGEST_HEADING: Final = 300  # bytes
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
