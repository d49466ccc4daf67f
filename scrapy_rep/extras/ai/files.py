"""Fetch the other files that the purposes of a crawl need: tdmrep.json, ai.txt, licenses (RSL)."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Any, Final, TypeVar
from weakref import WeakValueDictionary

from scrapy import Request
from w3lib.url import safe_url_string

from scrapy_rep.clock import clock
from scrapy_rep.crawl.policy.policy import Judge
from scrapy_rep.crawl.robots.origins import SingleFlight
from scrapy_rep.crawl.robots.registry import Registry
from scrapy_rep.crawl.robots.request import cause_for
from scrapy_rep.directives.ai import AI_TXT, PATHS, TDMREP, ReservationFile, SiteFile
from scrapy_rep.directives.rsl import RslFile
from scrapy_rep.directives.vocabulary import Purpose
from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.protocol import Access, Origin, parse

if TYPE_CHECKING:
    from scrapy_rep.crawl.robots.robots import Robots
    from scrapy_rep.crawl.runtime.crawl import Crawl
    from scrapy_rep.protocol.freshness import Entry
    from scrapy_rep.settings import RepSettings

T = TypeVar("T")

MAX_LICENSES: Final = 5
"""Licenses of one robots.txt that are fetched; others are reported but not read."""

_BY_TDMREP: Final = {Purpose.AI_INPUT, Purpose.AI_TRAIN}
"""The categories that a reservation of text and data mining covers."""

_READERS: Final[dict[str, Callable[[bytes], Any]]] = {TDMREP: ReservationFile, AI_TXT: parse}


@dataclass(eq=False)
class KeptFile:
    """A cached file with its ``entry``, shared by all sites that name it; ``said`` counts while ``is_read``."""

    entry: Entry
    said: Any
    is_read: bool = False

    @property
    def until(self) -> float:
        """The time in POSIX seconds until which the file counts: for a license, ``max-age`` after its fetch."""
        return self.entry.fetched_at + float(getattr(self.said, "max_age", inf))


class SiteFiles:
    """The files beside robots.txt that a crawl fetches for its purposes, or a command for its answer."""

    def __init__(self, crawl: Crawl) -> None:
        """Raises `InvalidSettingError` without `RepExtension`, which fetches robots.txt."""
        registry, judge = crawl.find(Registry), crawl.find(Judge)
        if registry is None or judge is None:
            raise InvalidSettingError("REP_PURPOSES needs scrapy_rep.RepExtension in EXTENSIONS")
        self._crawl = crawl
        self._registry, self._judge = registry, judge
        self._needed = needed_files(crawl.settings)
        self._kept: WeakValueDictionary[SiteFile, KeptFile] = WeakValueDictionary()
        self._flights: dict[Hashable, SingleFlight[Any]] = {}
        crawl.events.closing.subscribe(self._cancel)

    async def load(self, robots: Robots, cause: Request, licenses: Sequence[str]) -> dict[str, KeptFile] | None:
        """All files that the purposes of the crawl need beside *robots*; None if the crawl is closing.

        Concurrent callers share one fetch.
        """
        work = partial(self.fetched, robots, cause, self._needed, licenses)
        try:
            return await self._once(robots, work)
        except RuntimeError:
            if not self._crawl.engine.is_closing:  # files still missing at the end are not read
                raise
        return None

    async def fetched(
        self, robots: Robots, cause: Request, paths: Iterable[str] = (), licenses: Iterable[str] = ()
    ) -> dict[str, KeptFile]:
        """The files at *paths* of the origin of *robots*, and the *licenses* at URLs that it names.

        The result has the files that may be fetched, by path or URL.
        """
        origin = robots.entry.origin
        files: dict[str, SiteFile | None] = {path: SiteFile.of(origin, path) for path in paths}
        files |= {url: license_at(url, origin) for url in islice(licenses, MAX_LICENSES)}
        found = {
            name: await self._once(file, partial(self._file, file, robots, cause))
            for name, file in files.items()
            if file is not None
        }
        return {name: kept for name, kept in found.items() if kept is not None}

    async def _file(self, file: SiteFile, robots: Robots, cause: Request) -> KeptFile | None:
        """The current *file*, if its origin's robots.txt allows the fetch; the origin of *robots* names it."""
        if file.origin != robots.entry.origin:
            cause = cause_for(file.robots_url, cause)
            robots = await self._judge.wait_for(cause)
        if not self._registry.allows(robots, file.robots_url, cause):
            return None
        before = self._kept.get(file)
        known = before.entry if before is not None else None
        entry, result = await self._registry.refresh(file, cause, known)
        kept = before if before is not None and before.entry == entry else _read(entry, before)
        self._kept[file] = kept
        if result is not None:
            self._crawl.stats.inc_value("rep/ai/file_count")
            kept.entry = replace(entry, fresh_until=min(entry.fresh_until, kept.until))
            await self._registry.save(kept.entry, result, robots, cause)
        now = clock.time()
        kept.is_read = self._registry.freshness.access(entry, now) is Access.SUCCESSFUL and now < kept.until
        return kept

    async def _once(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Await *work*, or join the work with the same *key* that is in progress."""
        flight: SingleFlight[T] | None = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = SingleFlight(ended=partial(self._flights.__delitem__, key))
            flight.start(work())
        return await flight.join()

    def _cancel(self) -> None:
        for flight in [*self._flights.values()]:
            flight.cancel()


def _read(entry: Entry, before: KeptFile | None) -> KeptFile:
    """Read the file in *entry*; *before* is its former version, whose result is reused if the body is equal."""
    if before is not None and before.entry.body == entry.body:
        return KeptFile(entry, before.said)
    read = _READERS.get(getattr(entry.origin, "path", ""), RslFile)
    return KeptFile(entry, read(entry.body))


def license_at(url: str, origin: Origin) -> SiteFile | None:
    """The license at *url*, which *origin* names; None if it may not lead there, or leads from https to http.

    "Clients MUST retrieve RSL files over HTTPS" (section 8): only a site without HTTPS may name http URLs [ours].
    """
    if not origin.may_lead_to(url):
        return None
    try:
        file = SiteFile.at(safe_url_string(url))
    except ValueError:
        return None
    is_safe = origin.scheme == "http" or file.scheme == "https"
    return file if is_safe and file.path not in PATHS else None


def needed_files(settings: RepSettings) -> tuple[str, ...]:
    """The paths of the files that the declared purposes need besides robots.txt."""
    paths = []
    if not _BY_TDMREP.isdisjoint(settings.purposes):
        paths.append(TDMREP)
    if "ai.txt" in settings.ai_sources and Purpose.AI_TRAIN in settings.purposes:
        paths.append(AI_TXT)
    return tuple(paths)
