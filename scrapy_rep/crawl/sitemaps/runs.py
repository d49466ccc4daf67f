"""When a spider last read each sitemap, for ``REP_SITEMAP_SINCE = "last run"``: kept as notes in the store.

A note holds the start of the last run of the spider that read the sitemap and finished, and the validators of its
answer (RFC 9110 section 8.8). All notes of a run are stored at its end, so that one that is cut off, whose pages
were not all crawled, leaves them as they were.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from scrapy_rep.clock import clock
from scrapy_rep.crawl.robots.stores.sqlite import NoFileStore
from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.settings import NO_LAST_RUN

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from scrapy_rep.crawl.robots.stores import Store

SITEMAP_REST: Final = "rep_sitemap_rest"
"""Meta key of a request for what is left of a sitemap: how many of its requests were made already."""

NOTE: Final = "rep_sitemap_note"
"""Meta key of a request for a sitemap: what the last run noted."""

_LIFE: Final = 400 * 86_400.0  # seconds that a note is kept: a run a year is still one after the last
_MOST_UNDATED: Final = 1_000
_LONGEST_VALIDATOR: Final = 1_024


class SitemapRuns:
    """The notes of one crawl of the spider called *name* in *store*."""

    def __init__(self, name: str, store: Store) -> None:
        """Raises `InvalidSettingError` if *store* keeps no notes."""
        if isinstance(store, NoFileStore) or not (hasattr(store, "note") and hasattr(store, "put_notes")):
            raise InvalidSettingError(NO_LAST_RUN.format(type(store).__name__))
        self._name = name
        self._store = store
        self._began = clock.time()
        self._notes: dict[str, str] = {}
        self._indexes: set[str] = set()
        self._unread: set[str] = set()

    async def ask(self, request: Request) -> None:
        """Make *request*, for a sitemap, conditional if its last answer is known.

        Not one for the rest of a sitemap: that was read in part, and the job stopped.
        """
        key = self._key(request.url)
        self._unread.add(key)
        note = _read(await self._store.note(key))
        request.meta[NOTE] = note
        request.meta["dont_cache"] = True  # Scrapy's HTTP cache would keep a 304 as the sitemap
        for name, validator in (("If-None-Match", "etag"), ("If-Modified-Since", "last_modified")):
            request.headers.pop(name, None)  # of a redirect, or of a job that was stopped
            if note.get(validator) and SITEMAP_REST not in request.meta:
                request.headers[name] = note[validator].encode("latin-1", "replace")
                statuses = request.meta.get("handle_httpstatus_list", ())
                request.meta["handle_httpstatus_list"] = [*{*statuses, 304}]

    def has_read(self, response: Response, undated: Sequence[str] | None = None) -> None:
        """Note that *response* answered for a sitemap.

        *undated* are the sitemaps in it, if it is an index, that it states no date for: when it has not been
        modified, they may have been. With very many of them it gets no validators, and is fetched again.
        """
        request = response.request
        assert request is not None  # noqa: S101
        if SITEMAP_REST in request.meta:
            return  # the job that read the beginning was stopped, and that may have changed since
        note: dict[str, Any] = request.meta.get(NOTE, {})
        if response.status != 304:
            note = {}
            if undated is None or len(undated) <= _MOST_UNDATED:
                note = {"etag": _field(response, "ETag"), "last_modified": _field(response, "Last-Modified")}
                note["undated"] = [*(undated or ())]
        key = self._key(request.url)
        if undated is not None:
            self._indexes.add(key)
        self._unread -= {key, *map(self._key, request.meta.get("redirect_urls", ()))}
        self._notes[key] = json.dumps({**note, "began": self._began}, separators=(",", ":"))

    async def save(self) -> None:
        """Store the notes of this run, which has finished.

        Those of indexes only if every sitemap was read: behind an unmodified index, one that failed would not be
        requested again.
        """
        left_out = self._indexes if self._unread else set()
        await self._store.put_notes({key: self._notes[key] for key in self._notes.keys() - left_out}, _LIFE)

    def _key(self, url: str) -> str:
        return f"sitemap {self._name} {url}"


def _field(response: Response, name: str) -> str:
    value = (response.headers.get(name) or b"").decode("latin-1")
    return value if len(value) <= _LONGEST_VALIDATOR else ""


def _read(text: str | None) -> dict[str, Any]:
    """The note in *text*, an empty one if there is none: other programs, and clocks, may write to the store."""
    try:
        note = json.loads(text or "{}")
        is_read = 0 <= note["began"] <= clock.time() and isinstance(note.setdefault("undated", []), list)
        is_read = is_read and all(isinstance(note.setdefault(each, ""), str) for each in ("etag", "last_modified"))
    except (ValueError, TypeError, KeyError, RecursionError):
        return {}
    return note if is_read and all(isinstance(url, str) for url in note["undated"]) else {}
