"""One reading of an answer to a fetch of robots.txt: by the crawl, the commands, the web checker and the archives.

The order is the argument. First, who speaks: what a proxy or an edge says is no word of the site. Then the
status, which decides nearly everything (RFC 9309 section 2.3.1): a 404 that is damaged is still a 404. The body
counts in a 2xx, and in a 5xx that may be a misconfigured 404. There, a body that is cut, or whose coding cannot be
undone, is *unreachable*, never "no rules".

Redirects have been followed before, and failures without a status are unreachable without being read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple

from .access import Access, access, without_viewer
from .codings import Decoder, undo

TRUNCATED: Final = "truncated response"


class Via(Enum):
    """Who carries a request to the site, and may answer in its place."""

    NOBODY = "nobody"
    PROXY = "proxy"
    SERVICE = "service"
    """A scraping API, which takes the URL as a parameter."""


_REFUSALS: Final = {
    Via.NOBODY: frozenset(),
    Via.PROXY: frozenset({407}),
    Via.SERVICE: frozenset({401, 402, 403, 407}),
}
"""Statuses by which who carries a request refuses it: RFC 9110 section 15.5.8, and what scraping APIs document."""

_WITH_PROXY_STATUS: Final = frozenset({402, 403, 407, 502, 504})
_PROXY_ERROR: Final = re.compile(r";\s*error\s*=", re.IGNORECASE)  # RFC 9209 section 2.1.1

_CHALLENGES: Final = {
    "cf-mitigated": "challenge",
    "x-amzn-waf-action": "challenge captcha",
    "x-vercel-mitigated": "challenge",
}
"""Headers with which an edge says that it asks for a proof in place of the answer: Cloudflare, AWS WAF, Vercel."""

HEADERS: Final = ("content-encoding", "content-range", "proxy-status", *_CHALLENGES)
"""All headers that are read."""

_RANGE: Final = re.compile(r"bytes 0-(\d+)/(\d+)")


def headers_read(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Those of *headers* that are read, by name in lower case; several of one name are one list."""
    found: dict[str, str] = {}
    for name, value in ((name.lower(), value) for name, value in headers):
        if name in HEADERS:
            found[name] = f"{found[name]}, {value}" if name in found else value
    return found


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as it came. ``headers`` are those of `headers_read`.

    ``damage`` says what is known to be wrong with the body, such as `TRUNCATED`. ``is_stopped``: the reader took
    no more of the body than it reads, so it need not end. ``may_be_undone`` is as in `codings.undo`.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    damage: str = ""
    is_stopped: bool = False
    via: Via = Via.NOBODY
    may_be_undone: bool = False


class Reading(NamedTuple):
    """What an answer means.

    ``body`` is the robots.txt if ``access`` is successful; the page of a 5xx if it can be read; else empty. It may
    be longer than the octets that count. ``problem`` says why the site is unreachable where the status does not,
    ``warning`` what is odd about a body that is read. With ``is_of_site`` False the answer says nothing about the
    site: nobody may keep it for others.
    """

    access: Access
    body: bytes = b""
    problem: str = ""
    warning: str = ""
    is_of_site: bool = True


def read(
    answer: Answer,
    *,
    limit: int,
    decoders: Mapping[str, Decoder],
    overrides: Mapping[int, Access] | None = None,
    soft_404: bool = True,
) -> Reading:
    """What *answer* means to a reader of *limit* octets; *overrides* and *soft_404* are as in `access`."""
    status, overrides = answer.status, overrides or {}
    if _is_refusal(answer):
        problem = f"the {answer.via.value} refused: HTTP status {status}"
        return Reading(Access.UNREACHABLE, problem=problem, is_of_site=False)
    if status not in overrides and (name := _challenge(answer.headers)):
        problem = f"a challenge in place of the answer ({name}, HTTP status {status})"
        return Reading(Access.UNREACHABLE, problem=problem)
    means = access(status, overrides=overrides)
    if means is Access.SUCCESSFUL:
        body, problem, warning = _body(answer, limit, decoders)
        return Reading(Access.UNREACHABLE if problem else means, without_viewer(body), problem, warning)
    if means is Access.UNREACHABLE and soft_404 and 500 <= status < 600:
        page, _, _ = _body(answer, limit, decoders)
        return Reading(access(status, page, overrides=overrides), page)
    return Reading(means)


def _is_refusal(answer: Answer) -> bool:
    """Whether who carried the request refused it, or failed: the site has not spoken."""
    if answer.status in _REFUSALS[answer.via]:
        return True
    is_carried = answer.via is not Via.NOBODY
    said = answer.headers.get("proxy-status", "") if is_carried and answer.status in _WITH_PROXY_STATUS else ""
    return bool(_PROXY_ERROR.search(said))


def _challenge(headers: Mapping[str, str]) -> str:
    """The header that says so, if the answer is a challenge."""
    said = {name: headers.get(name, "").strip().lower() for name in _CHALLENGES}
    return next((name for name, value in said.items() if value and value in _CHALLENGES[name].split()), "")


def _body(answer: Answer, limit: int, decoders: Mapping[str, Decoder]) -> tuple[bytes, str, str]:
    """The body without its codings, what is wrong with it, and what is odd about it."""
    damage = answer.damage or (TRUNCATED if _is_part(answer) else "")
    if damage:
        return b"", damage, ""
    try:
        body, warning = undo(
            answer.body,
            answer.headers.get("content-encoding", ""),
            limit=limit,
            decoders=decoders,
            is_stopped=answer.is_stopped or len(answer.body) > limit,
            may_be_undone=answer.may_be_undone,
        )
    except ValueError as error:
        return b"", str(error), ""
    return body, "", warning


def _is_part(answer: Answer) -> bool:
    """Whether a server sends a part that nobody asked for: 206, RFC 9110 section 15.3.7."""
    said = answer.headers.get("content-range", "") if answer.status == 206 else ""
    found = _RANGE.fullmatch(said.strip().lower())
    return bool(said) and not (found and int(found[1][:12]) + 1 == int(found[2][:12]))
