"""A census of robots.txt files: from captures to rows, the same on one machine and on many.

`rows` is a function of its arguments alone: it needs no Scrapy, opens no socket and no file, and goes to another
process, as its rows do. What reads captures is beside it: `warc` and, for Spark, `spark`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any, Final

from scrapy_rep.directives.refusals import read_refusal
from scrapy_rep.protocol import GOOGLE, MAX_SIZE, Access, Dialect, Origin, access
from scrapy_rep.tools.crawlers import AI_CRAWLERS, COMMON_AI_CRAWLERS, crawler_of
from scrapy_rep.tools.profiles import FALLBACK, token_for

from .capture import Capture
from .restriction import ALL, NONE, OTHERS, PART, RESTRICTIONS
from .row import COLUMNS, LINTED, REDIRECT, ColumnType, Row

__all__ = [
    "ALL", "COLUMNS", "LEVELS", "LONG", "NONE", "PART", "RESTRICTIONS", "Capture", "Row", "long", "rows",
    "site_of",
]  # fmt: skip

_USER: Final = re.compile(r"(?<=://)[^/?#]*@")

FULL, PATTERN, SITEMAP_AND_DELAY = "full", "pattern", "sitemap and delay only"
LEVELS: Final = (FULL, PATTERN, SITEMAP_AND_DELAY, NONE)
"""How far a site goes. Source: S. Longpre et al., "Consent in Crisis: The Rapid Decline of the AI Data Commons",
2024, whose classes of patterns are one here."""


def rows(
    captures: Iterable[Capture],
    *,
    agents: Iterable[str] = (),
    dialect: Dialect = GOOGLE,
    light: bool = False,
    limit: int = MAX_SIZE,
) -> Iterator[dict[str, Any]]:
    """Yield a row for each of *captures*, in their order: the columns of `COLUMNS` by name.

    A row says what is closed to each crawler of `scrapy_rep.tools.crawlers` that the file names, to each of
    *agents*, and to all others; a known crawler is spelt as there. *light* leaves out the linter, and with it the
    columns `LINTED`. *limit* is the number of octets that are parsed. Rows of equal bodies share lists and maps.
    """
    names = _asked(agents)
    for capture in captures:
        row = row_of(capture, names, dialect=dialect, light=light, limit=limit).as_dict()
        yield {name: value for name, value in row.items() if name not in LINTED} if light else row


def row_of(
    capture: Capture,
    agents: tuple[str, ...] = (),
    *,
    dialect: Dialect = GOOGLE,
    light: bool = False,
    limit: int = MAX_SIZE,
    date: str | None = None,
    file: str | None = None,
) -> Row:
    """The row of *capture* in the survey of a *date*, as `rows` makes it; *file* has its body, if any does."""
    from .measure import measure  # noqa: PLC0415  # loads the linter, which who reads rows does not need

    columns = _where_from(capture)
    if columns["access"] == Access.SUCCESSFUL:
        columns |= measure(capture, agents, dialect, limit, light=light)
    elif columns["access"] == Access.UNAVAILABLE:
        columns["restriction"] = dict.fromkeys([OTHERS, *agents], NONE)
    return Row(**columns, date=date, file=file)


def long(
    rows: Iterable[Mapping[str, Any]], agents: Iterable[str] = COMMON_AI_CRAWLERS
) -> Iterator[dict[str, Any]]:
    """Yield, for each of *rows* that knows it, what is closed to each of *agents*: the columns of `LONG`.

    And what is closed to each other crawler that the file names, and to all others (``*``).
    """
    asked = (OTHERS, *_asked(agents))
    for row in rows:
        lines = row["restriction_lines"]
        for agent, treatment in _treatments(row, asked).items():
            group = _group(row, agent)
            yield {
                "site": row["site"],
                "fetched_at": row["fetched_at"],
                "agent": agent,
                "category": str(AI_CRAWLERS.get(agent, "")) or None,
                "treatment": treatment,
                "line": lines.get(agent, lines.get(group, 0)),
                "by": _by(row, agent, group),
                "level": _level(row, group, treatment),
            }


LONG: Final = {
    "site": ColumnType(str, "as in the row"),
    "fetched_at": ColumnType(datetime | None, "as in the row"),
    "agent": ColumnType(str, "product token; `*` for unnamed crawlers"),
    "category": ColumnType(str | None, "what an AI crawler collects pages for"),
    "treatment": ColumnType(str, "what is disallowed: `none`, `part` or `all`"),
    "line": ColumnType(int, "the line that shows it, or 0"),
    "by": ColumnType(
        str | None,
        "the group that counts: `name` (its own), `fallback` (another crawler's), `*`, or null (none)",
    ),
    "level": ColumnType(str, "`full`, `pattern`, `sitemap and delay only`, or `none`"),
}
"""The columns of the long form: a row for each site and agent."""


def _asked(agents: Iterable[str]) -> tuple[str, ...]:
    """Each of *agents* once, known crawlers in their own spelling: case makes no other crawler."""
    if isinstance(agents, str):
        raise TypeError(f"agents are several product tokens: write [{agents!r}]")
    found = ((agent, crawler_of(agent)) for agent in agents if agent != OTHERS)
    return (
        *dict.fromkeys(
            known.token if known and known.token.lower() == agent.lower() else agent for agent, known in found
        ),
    )


def _treatments(row: Mapping[str, Any], asked: Iterable[str]) -> dict[str, str]:
    """What is closed to those *asked* about, and to others that are named; empty where nothing is known."""
    known = row["restriction"]
    return {**{agent: known.get(_group(row, agent), NONE) for agent in asked}, **known} if known else {}


def _group(row: Mapping[str, Any], agent: str) -> str | None:
    """Whose group counts for *agent*: its own, that of another crawler, or that of ``*``; None for no group."""
    named = row["named"]
    token = token_for(agent, named.__contains__)
    return token if token is None or token in named else OTHERS


def _by(row: Mapping[str, Any], agent: str, group: str | None) -> str | None:
    if group in row["named"]:
        return "name" if group == agent else FALLBACK
    return OTHERS if group == OTHERS and OTHERS in row["agents_disallow"] else None


def _level(row: Mapping[str, Any], group: str | None, treatment: str) -> str:
    if treatment != NONE:
        return FULL if treatment == ALL else PATTERN
    delays = ((each.lower(), delay) for each, delay in row["crawl_delays"].items())
    name = group and group.lower()
    has_delay = any(delay and name in (each, each.partition(" ")[0]) for each, delay in delays)
    return SITEMAP_AND_DELAY if has_delay or row["sitemaps"] else NONE


def site_of(url: str) -> str:
    """The site of a capture of *url*: its origin, or *url* itself where that has none, as the name of a file."""
    return str(Origin.find(url) or url)


def precedence(capture: Capture) -> str:
    """Of captures of one site and time the one counts for which this is the greatest, whatever their order is.

    A body comes before a response without one. `scrapy_rep.census.spark.newest` compares rows in the same way.
    """
    found = _where_from(capture)
    digest = sha256(capture.body or b"").hexdigest() if found["access"] == Access.SUCCESSFUL else ""
    return f"{digest} {found['status'] or 0} {found['problem'] or ''} {found['location'] or ''}"


def _where_from(capture: Capture) -> dict[str, Any]:
    """The columns about the response."""
    means, problem = _meaning(capture)
    site, hops = site_of(capture.url), [*map(_without_user, capture.hops)]
    return {
        "site": site,
        "access": str(means),
        "status": capture.status,
        "url": [_without_user(capture.url), *hops][-1] if site != capture.url else None,
        "hops": hops,
        "location": capture.location and _without_user(capture.location),
        "problem": problem,
        "refused": capture.refused or _refused_by(capture.status),
        "fetched_at": capture.fetched_at,
    }


def _refused_by(status: int | None) -> str | None:
    """What a response with this *status* refuses, by the status alone."""
    refusal = read_refusal(status, {}) if status is not None else None
    return str(refusal) if refusal is not None else None


def _without_user(url: str) -> str:
    """*url* without a user and a password, which are for nobody who reads a row."""
    return _USER.sub("", url) if "@" in url else url


def _meaning(capture: Capture) -> tuple[str, str | None]:
    """What the response means, and why there is nothing to read."""
    status, problem = capture.status, capture.problem
    if capture.access is not None or problem:
        return capture.access or Access.UNREACHABLE, problem
    if status is None:
        return (Access.UNREACHABLE, "no response") if capture.body is None else (Access.SUCCESSFUL, None)
    if 300 <= status < 400 and capture.location:
        return REDIRECT, None
    if 200 <= status < 300 and capture.body is None:
        return Access.UNREACHABLE, "response without its body"
    means = access(status, capture.body or b"")
    return means, f"HTTP status {status}" if means is Access.UNREACHABLE else None
