"""The licenses (RSL) that the robots.txt of an origin names, fetched and kept as its other files are.

A license may be on another host, and hosts may name each other's. So a license waits for the robots.txt of its
host alone, never for what else is fetched there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar
from weakref import WeakValueDictionary

from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from w3lib.url import safe_url_string

from scrapy_rep.clock import clock
from scrapy_rep.directives.ai import SiteFile
from scrapy_rep.directives.rsl import RslFile
from scrapy_rep.protocol import Access, Origin

if TYPE_CHECKING:
    from scrapy_rep.protocol.freshness import Entry, Freshness

T = TypeVar("T")

MAX_FETCHED: Final = 5
"""Licenses of one robots.txt that are fetched; more are named, and not read."""


class LicenseFile:
    """The license in ``entry``: ``rsl`` is what it says. All origins that name it share it."""

    __slots__ = ("__weakref__", "entry", "rsl")

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.rsl = RslFile(entry.body)

    @property
    def until(self) -> float:
        """The time in POSIX seconds until which it counts: its ``max-age`` after it was sent or confirmed."""
        return self.entry.fetched_at + self.rsl.max_age


class Licenses:
    """The licenses that the robots.txt files in memory name."""

    def __init__(self, freshness: Freshness) -> None:
        self._freshness = freshness
        self._files: WeakValueDictionary[SiteFile, LicenseFile] = WeakValueDictionary()

    def known(self, file: SiteFile) -> Entry | None:
        """The entry of *file* in memory, current or not."""
        found = self._files.get(file)
        return found.entry if found is not None else None

    @staticmethod
    def bounded(entry: Entry) -> Entry:
        """*entry*, which its host has just sent or confirmed, fresh for no longer than its ``max-age``."""
        return replace(entry, fresh_until=min(entry.fresh_until, LicenseFile(entry).until))

    def keep(self, file: SiteFile, entry: Entry) -> LicenseFile | None:
        """The license in *entry*; None if it cannot be read now, or is older than it says that it may be."""
        now = clock.time()
        if self._freshness.access(entry, now) is not Access.SUCCESSFUL:
            return None
        license_ = self._files.get(file)
        if license_ is None or license_.entry != entry:
            license_ = self._files[file] = LicenseFile(entry)
        return license_ if now < license_.until else None


def license_at(url: str, origin: Origin) -> SiteFile | None:
    """The license at *url*, which *origin* names; None if it may not lead there, or from https to http.

    "Clients MUST retrieve RSL files over HTTPS" (section 8): a site without HTTPS may name others [ours].
    """
    if not origin.may_lead_to(url):
        return None
    try:
        file = SiteFile.at(safe_url_string(url))
    except ValueError:
        return None
    return file if origin.scheme == "http" or file.scheme == "https" else None


class Once:
    """Work that runs once for all who ask for it at the same time, in the task of the first of them."""

    def __init__(self) -> None:
        self._waiting: dict[Hashable, list[Deferred[Any]]] = {}

    async def run(self, key: Hashable, work: Callable[[], Awaitable[T]]) -> T | None:
        """The result of *work*, or that of the work with the same *key* in progress; None if that failed."""
        if key in self._waiting:
            waiter: Deferred[T | None] = Deferred()
            self._waiting[key].append(waiter)
            return await maybe_deferred_to_future(waiter)
        self._waiting[key], result = [], None
        try:
            result = await work()
            return result
        finally:
            for waiter in self._waiting.pop(key):
                waiter.callback(result)
