"""What is in the meta of a request: its stamp, and its download slot.

The stamp, ``response.meta["rep"]``, is a plain dict of JSON values, so that it survives disk queues, shared queues
and exports. It is written anew whenever a request passes the gate: a copy from another response never stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from scrapy import Request

from scrapy_rep.crawl.policy.policy import Decision, Mode, Outcome
from scrapy_rep.protocol import Access
from scrapy_rep.protocol.display import iso_time

if TYPE_CHECKING:
    from scrapy.http import Response

    from scrapy_rep.crawl.robots.robots import Robots
    from scrapy_rep.crawl.runtime.scrapy_internals import DownloadSlots
    from scrapy_rep.crawl.runtime.targets import Targets

SLOT: Final = "download_slot"
"""Scrapy's meta key; Scrapy writes it into every request that it downloads."""

FILTERED: Final = "rep_filtered"
"""Meta key of a request that went back past the filter of duplicates, which applies to its redirects again."""

META_KEY: Final = "rep"
"""The key of the stamp in the meta of requests and responses."""

_MAX_STAMPS: Final = 8
"""Stamps of allowed requests that are kept for one robots.txt: few of its rules allow anything."""

_PINNED: Final = "rep_paced"  # meta key: the number of redirects when the download slot was pinned


@dataclass(frozen=True, slots=True)
class Stamp:
    """What robots.txt said about one request, and under which mode it was sent.

    ``verdict`` is ``allowed``, ``excepted`` (by ``exception``), ``reported`` (forbidden, in the mode *report*),
    ``ignored`` or ``off``. ``reason``, ``rule`` and its ``line`` say why; ``agent`` is the product token that was
    asked for, ``origin`` the site. ``robots`` is the URL that answered with ``status``; ``sha256`` is that of the
    body, ``fetched`` its time (ISO 8601, UTC); ``source`` is ``fetched``, ``revalidated``, ``store`` or ``stale``.
    ``page`` lists the directives of the page, such as ``noindex``; ``ai`` tells what the site says about the
    purposes of the crawl (``REP_PURPOSES``); ``refused`` says how the site refused the page all the same. Each is
    None where nothing was read or said.
    """

    v: int
    mode: str
    verdict: str
    reason: str | None = None
    rule: str | None = None
    line: int = 0
    agent: str | None = None
    origin: str | None = None
    robots: str | None = None
    status: int | None = None
    sha256: str | None = None
    fetched: str | None = None
    source: str | None = None
    exception: dict[str, str | None] | None = None
    page: list[str] | None = None
    ai: dict[str, Any] | None = None
    refused: dict[str, Any] | None = None

    @property
    def is_ordinary(self) -> bool:
        """Whether robots.txt was obeyed and allowed the request, and no stale copy of it stood in."""
        return self.verdict == "allowed" and self.source != "stale"


_FIELDS: Final = tuple(field.name for field in fields(Stamp))

_NEEDED: Final = {"v", "mode", "verdict"}
"""The fields of every stamp: an earlier version, whose requests a ``JOBDIR`` kept, may not know the others."""

BLANK: Final[Mapping[str, Any]] = {**dict.fromkeys(_FIELDS), "v": 1, "line": 0}
"""A stamp that says nothing; ``v`` grows when a field changes its meaning."""


def stamp(response: Response) -> Stamp | None:
    """The stamp of *response*; None if robots.txt was not involved.

    Fields of later versions are left out; those that an earlier version did not have get their defaults.
    """
    values: Any = response.meta.get(META_KEY)
    return Stamp(**{name: values[name] for name in _FIELDS if name in values}) if is_stamp(values) else None


def is_stamp(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether *value* is a stamp, of whichever version."""
    return isinstance(value, dict) and value.keys() >= _NEEDED


def stamp_of(decision: Decision, blank: Mapping[str, Any], agent: str | None = None) -> dict[str, Any]:
    """The stamp of a request with this *decision*, as a dict.

    *blank* is a stamp that tells of the robots.txt only; *agent* is the product token that it was asked for.
    """
    values = dict(blank)
    values["mode"], values["verdict"] = decision.mode.value, decision.outcome.value
    if decision.is_asked:
        verdict = decision.verdict
        values["agent"], values["reason"], values["line"] = agent, verdict.reason.value, decision.line
        if verdict.rule is not None:
            values["rule"] = str(verdict.rule)
    if decision.exception is not None:
        values["exception"] = decision.exception.as_short_dict()
    return values


def stamp_by(robots: Robots) -> dict[str, Any]:
    """The stamp of a request as far as it tells of *robots*, to be copied."""
    stamp = robots.stamps.get(None)
    if stamp is None:
        entry, has_body = robots.entry, robots.entry.access is Access.SUCCESSFUL
        stamp = robots.stamps[None] = {
            **BLANK, "origin": str(entry.origin), "robots": entry.url, "status": entry.status,
            "sha256": entry.sha256 if has_body else None,
            "fetched": iso_time(entry.fetched_at) if entry.has_answered else None,
            "source": "stale" if robots.is_stale else robots.source,
        }  # fmt: skip
    return stamp


def allowing_stamp(robots: Robots, tokens: Sequence[str], url: str) -> dict[str, Any] | None:
    """The stamp of a request for *url* that the rules of *robots* allow, to be copied; None if they forbid it.

    In the mode *obey*, without exceptions: nearly every request of nearly every crawl takes this way.
    """
    agent = robots.addressed(tokens)
    verdict = robots.verdict_for(agent, url)
    if not verdict.allowed:
        return None
    stamp = robots.stamps.get((agent, verdict))
    if stamp is None:
        if len(robots.stamps) > _MAX_STAMPS:
            robots.stamps.clear()
        decision = Decision(Mode.OBEY, Outcome.ALLOWED, verdict, line=verdict.line)
        stamp = robots.stamps[agent, verdict] = stamp_of(decision, stamp_by(robots), agent)
    return stamp


def pin_slot(request: Request, key: str) -> None:
    """Make the requests that a middleware derives from *request* use the download slot *key* too.

    A rendering service or a scraping API fetches from the same site; ``Request.replace`` copies the meta.
    """
    request.meta[SLOT] = key
    request.meta[_PINNED] = len(request.meta.get("redirect_urls", ()))


def unpin_slot(request: Request) -> None:
    """Undo `pin_slot`: a request that a spider makes with the meta of the response is one of its own."""
    request.meta.pop(_PINNED, None)


def choose_slot(request: Request, slots: DownloadSlots, targets: Targets) -> None:
    """Put *request* into the download slot of the site that it fetches from, unless it is in one already.

    A request for a service goes to another host than its target; every other request is left alone.
    """
    drop_stale_slot(request, slots, targets)
    try:
        if SLOT not in request.meta and targets.of(request) is not request.url:
            request.meta[SLOT] = slots.key(Request(targets.of(request)))
    except ValueError:
        return  # the gate ends the request


def drop_stale_slot(request: Request, slots: DownloadSlots, targets: Targets) -> None:
    """Remove the download slot of another host, which redirects and spiders copy with the rest of the meta.

    One that the project chose stays, and so does one that was pinned after the last redirect.
    """
    meta = request.meta
    urls = meta.get("redirect_urls", ())
    if SLOT not in meta or meta.get(_PINNED) == len(urls):
        return
    stamped = meta.get(META_KEY)
    origin = stamped.get("origin") if is_stamp(stamped) else None
    before = [_target(url, targets) for url in (*urls[-1:], origin) if url]
    if meta[SLOT] in {"", *(slots.key(Request(url)) for url in before)}:  # "" is that of a data: URL
        del meta[SLOT]
        unpin_slot(request)


def _target(url: str, targets: Targets) -> str:
    try:
        return targets.of(Request(url))
    except ValueError:
        return url
