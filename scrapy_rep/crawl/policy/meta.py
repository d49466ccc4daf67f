"""The stamp and the download slot in the meta of a request.

The stamp, ``response.meta["rep"]``, is a plain dict of JSON values, because it has to survive disk queues, shared
queues and exports. The gate writes a new stamp for every request, which replaces any copy from a response.
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
"""Scrapy's meta key, which Scrapy sets in every request that it downloads."""

FILTERED: Final = "rep_filtered"
"""Meta key of a request that went back past the duplicate filter; the filter still applies to its redirects."""

META_KEY: Final = "rep"
"""The key of the stamp in the meta of requests and responses."""

_MAX_STAMPS: Final = 8
"""Stamps of allowed requests to keep per robots.txt: few of its rules allow anything."""

_PINNED: Final = "rep_paced"  # meta key: the number of redirects when the download slot was pinned


@dataclass(frozen=True, slots=True)
class Stamp:
    """The verdict of robots.txt on a request, and the mode under which it was sent.

    ``verdict`` is ``allowed``, ``excepted`` (by ``exception``), ``reported`` (forbidden, in the mode *report*),
    ``ignored`` or ``off``. ``reason``, ``rule`` and its ``line`` say why; ``agent`` is the product token that was
    matched, ``origin`` the site. ``robots`` is the URL that answered with ``status``; ``sha256`` is the hash of
    the body, ``fetched`` its time (ISO 8601, UTC); ``source`` is ``fetched``, ``revalidated``, ``store`` or
    ``stale``. ``page`` lists the directives of the page, such as ``noindex``; ``ai`` is the site's answer on the
    purposes of the crawl (``REP_PURPOSES``); ``refused`` says how the site refused an allowed page. Fields are
    None if there was nothing to read.
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
        """Whether robots.txt was obeyed, was not stale, and allowed the request."""
        return self.verdict == "allowed" and self.source != "stale"


_FIELDS: Final = tuple(field.name for field in fields(Stamp))

_NEEDED: Final = {"v", "mode", "verdict"}
"""Fields of every stamp. A ``JOBDIR`` may hold stamps of an earlier version, without the other fields."""

BLANK: Final[Mapping[str, Any]] = {**dict.fromkeys(_FIELDS), "v": 1, "line": 0}
"""An empty stamp; ``v`` grows when a field changes its meaning."""


def stamp(response: Response) -> Stamp | None:
    """Return the stamp of *response*; None if robots.txt was not involved.

    Fields of later versions are dropped; fields that an earlier version lacks get their defaults.
    """
    values: Any = response.meta.get(META_KEY)
    return Stamp(**{name: values[name] for name in _FIELDS if name in values}) if is_stamp(values) else None


def is_stamp(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether *value* is a stamp of any version."""
    return isinstance(value, dict) and value.keys() >= _NEEDED


def stamp_of(decision: Decision, blank: Mapping[str, Any], agent: str | None = None) -> dict[str, Any]:
    """Return the stamp for *decision*, as a dict.

    *blank* is a stamp that describes only the robots.txt; *agent* is the product token that was matched.
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
    """Return a stamp that describes only *robots*; copy it before you change it."""
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
    """Return the stamp for *url* if *robots* allows it, else None; copy it before you change it.

    Valid in the mode *obey* without exceptions: the path of nearly every request in nearly every crawl.
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
    """Give requests that a middleware derives from *request* the download slot *key*.

    A rendering service or a scraping API fetches from the same site; ``Request.replace`` copies the meta.
    """
    request.meta[SLOT] = key
    request.meta[_PINNED] = len(request.meta.get("redirect_urls", ()))


def unpin_slot(request: Request) -> None:
    """Undo `pin_slot`, for a new request that a spider made with the meta of a response."""
    request.meta.pop(_PINNED, None)


def choose_slot(request: Request, slots: DownloadSlots, targets: Targets) -> None:
    """Put *request* into the download slot of the site that it fetches from, unless it already has a slot.

    Only requests to a service change, because the service's host is not the target's.
    """
    drop_stale_slot(request, slots, targets)
    try:
        if SLOT not in request.meta and targets.of(request) is not request.url:
            request.meta[SLOT] = slots.key(Request(targets.of(request)))
    except ValueError:
        return  # the gate ends the request


def drop_stale_slot(request: Request, slots: DownloadSlots, targets: Targets) -> None:
    """Remove the download slot of another host, which redirects and spiders copy with the rest of the meta.

    A slot stays if the project chose it, or if it was pinned after the last redirect.
    """
    meta = request.meta
    urls = meta.get("redirect_urls", ())
    if SLOT not in meta or meta.get(_PINNED) == len(urls):
        return
    stamped = meta.get(META_KEY)
    origin = stamped.get("origin") if is_stamp(stamped) else None
    before = [_target(url, targets) for url in (*urls[-1:], origin) if url]
    if meta[SLOT] in {"", *(slots.key(Request(url)) for url in before)}:  # "" is the key of a data: URL
        del meta[SLOT]
        unpin_slot(request)


def _target(url: str, targets: Targets) -> str:
    try:
        return targets.of(Request(url))
    except ValueError:
        return url
