"""The Sitemap lines of a robots.txt, and the requests of sitemap spiders.

https://www.sitemaps.org/protocol.html, "Specifying the Sitemap location in your robots.txt file".

For ``REP_SITEMAP_SINCE = "last run"`` the store keeps a note per sitemap: the start of the spider's last finished
run that read the sitemap, and the validators of its answer (RFC 9110 section 8.8). A run stores all notes at its
end. An interrupted run, which has not crawled all pages, leaves the notes unchanged.
"""

from __future__ import annotations

import json
import logging
import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urldefrag, urljoin, urlsplit
from weakref import WeakKeyDictionary

from scrapy.exceptions import IgnoreRequest
from scrapy.http import TextResponse
from scrapy.spiders import SitemapSpider
from scrapy.utils.httpobj import urlparse_cached
from w3lib.url import safe_url_string

from scrapy_rep.clock import clock
from scrapy_rep.crawl.robots.fetch import MAX_HEADER
from scrapy_rep.crawl.robots.registry import Registry
from scrapy_rep.crawl.robots.stores.sqlite import NoFileStore
from scrapy_rep.crawl.runtime.scrapy_internals import is_for_sitemap
from scrapy_rep.directives.sitemap import MOST_OCTETS
from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.protocol import SCHEMES, Access
from scrapy_rep.settings import LAST_RUN, NO_LAST_RUN, logging_invalid_settings

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from scrapy_rep.crawl.robots.robots import Robots
    from scrapy_rep.crawl.robots.stores import Store
    from scrapy_rep.crawl.runtime.crawl import Crawl
    from scrapy_rep.protocol import Origin, RobotsTxt

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sitemaps:
    """The ``urls`` of Sitemap lines, in order, without duplicates; ``unusable`` holds the other lines' values."""

    urls: tuple[str, ...] = ()
    unusable: tuple[str, ...] = ()


_NONE: Final = Sitemaps()
# An absolute URL with nothing to resolve or to escape, as in nearly every line.
_PLAIN: Final = re.compile(r"https?://[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d+)?/[\w./~-]*(?:\?[\w./?=&~-]+)?", re.ASCII)
# RFC 3986 sections 3.2.2 and 3.2.3, without the user information of section 3.2.1.
_HOST_AND_PORT: Final = re.compile(r"[\w.~%!$&'()*+,;=:\[\]-]*", re.ASCII)


def sitemaps_of(robots: Robots) -> Sitemaps:
    """Return the sitemaps of an origin, with any parser back-end; none unless its access is *successful*.

    Relative lines are resolved against the origin, not against the URL that redirects led to.
    """
    values = robots.robotstxt.sitemaps if robots.access is Access.SUCCESSFUL else ()
    if not values:
        return _NONE
    origin = robots.entry.origin
    urls = {value: _absolute(value, origin) for value in values}
    return Sitemaps(
        tuple(dict.fromkeys(url for url in urls.values() if url)),
        tuple(value for value, url in urls.items() if not url),
    )


SITEMAP_CHAIN: Final = "rep_sitemap_chain"
"""Meta key: the URLs of the sitemap that led to a request, and of its parent sitemaps.

A page with this key is on another origin than the sitemap: that origin's robots.txt must name one of the URLs.
"""

SITEMAP_REST: Final = "rep_sitemap_rest"
"""Meta key of a request for the rest of a sitemap: the number of its requests made so far."""

NOTE: Final = "rep_sitemap_note"
"""Meta key of a request for a sitemap: the note of the last run."""

_LIFE: Final = 400 * 86_400.0  # seconds to keep a note: a yearly run must still find the last
_MOST_UNDATED: Final = 1_000

_MOST_OCTETS: Final = 2 * MOST_OCTETS  # bytes of a sitemap to receive: more than the bytes to read


def sitemap_rest(request: Request) -> str:
    """Return the key in `SitemapRequests.begun` of the rest of a sitemap that *request* may stand for."""
    return f"{request.meta.get(SITEMAP_REST)} {request.url}"


def ask_for_packed(request: Request) -> None:
    """Make *request*, for a sitemap, ask for gzip, which the reader unpacks as it reads; cap the answer's size."""
    request.headers.setdefault("Accept-Encoding", "gzip")
    request.meta.setdefault("download_maxsize", _MOST_OCTETS)


class SitemapRequests:
    """Steps that a `SitemapSpider` adds to the path of a request through the gate."""

    def __init__(self, crawl: Crawl) -> None:
        """Raises `InvalidSettingError` if the settings need notes of the last run, and the store keeps none."""
        self._crawl = crawl
        self._spider = crawl.crawler.spider
        self.is_active = isinstance(self._spider, SitemapSpider)
        registry = crawl.find(Registry)
        self.runs: SitemapRuns | None = None
        if self.is_active and self._spider is not None and crawl.settings.sitemap_since == LAST_RUN and registry:
            with logging_invalid_settings(logger):
                self.runs = SitemapRuns(self._spider.name, registry.store)
            crawl.events.ending.subscribe(self.runs.save)
        # Remaining requests of sitemaps whose first requests are in the scheduler, by `sitemap_rest`.
        self.begun: dict[str, Iterator[Request]] = {}
        self._named: WeakKeyDictionary[RobotsTxt, array[int]] = WeakKeyDictionary()  # hashes of URLs

    def is_for_sitemap(self, request: Request) -> bool:
        """Whether *request* fetches a sitemap or a robots.txt for the spider."""
        return is_for_sitemap(request, self._spider)

    async def prepare(self, request: Request) -> Response | None:
        """Answer *request*, for a sitemap, from memory, or prepare it for the network."""
        if sitemap_rest(request) in self.begun:
            request.meta["dont_cache"] = True  # else Scrapy's HTTP cache would store this as the sitemap
            return TextResponse(request.url, flags=["scrapy_rep"])
        ask_for_packed(request)
        if self.runs is not None:
            await self.runs.ask(request)
        return None

    def cross_submitted(self, request: Request, robots: Robots) -> Request:
        """Return the request to reschedule instead of *request*, for a page listed by another site's sitemap.

        Raises ``IgnoreRequest`` unless *robots*, which applies to the page, names a sitemap that led to it:
        https://www.sitemaps.org/protocol.html, "Sitemaps & Cross Submits". The duplicate filter has not seen the
        page, because a sitemap that may list it may be read later.
        """
        if self._names(robots, request.meta[SITEMAP_CHAIN]):
            meta = {key: value for key, value in request.meta.items() if key != SITEMAP_CHAIN}
            return request.replace(dont_filter=False, meta=meta)
        self._crawl.stats.inc_value("rep/sitemap/cross_submit_count")
        why = f"the robots.txt of {robots.entry.origin} does not name the sitemap that lists it"
        logger.debug(
            "Page of a sitemap not requested: %(request)s (%(why)s)",
            {"request": self._crawl.targets.name(request), "why": why},
            extra={"spider": self._spider},
        )
        raise IgnoreRequest(f"{why}: set REP_OFFSITE_SITEMAPS = True to request it")

    def _names(self, robots: Robots, urls: Iterable[str]) -> bool:
        """Whether *robots* names a sitemap at any of *urls*."""
        named = self._named.get(robots.robotstxt)
        if named is None:
            hashes = sorted(map(hash, sitemaps_of(robots).urls))
            named = self._named[robots.robotstxt] = array("q", hashes)  # a file may name 20,000
        places = ((bisect_left(named, hash(url)), hash(url)) for url in urls)
        return any(at < len(named) and named[at] == wanted for at, wanted in places)


class SitemapRuns:
    """The notes in *store* of a crawl by the spider *name*."""

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

        A request for the rest of a sitemap stays unconditional: a stopped job has read only a part.
        """
        key = self._key(request.url)
        self._unread.add(key)
        note = _read(await self._store.note(key))
        request.meta[NOTE] = note
        request.meta["dont_cache"] = True  # Scrapy's HTTP cache would keep a 304 as the sitemap
        for name, validator in (("If-None-Match", "etag"), ("If-Modified-Since", "last_modified")):
            request.headers.pop(name, None)  # left by a redirect, or by a stopped job
            if note.get(validator) and SITEMAP_REST not in request.meta:
                request.headers[name] = note[validator].encode("latin-1", "replace")
                statuses = request.meta.get("handle_httpstatus_list", ())
                request.meta["handle_httpstatus_list"] = [*{*statuses, 304}]

    def has_read(self, response: Response, undated: Sequence[str] | None = None) -> None:
        """Note that *response* answered for a sitemap.

        *undated* are the sitemaps that an index lists without a date: they may change while the index does not.
        With very many of them the note has no validators, and the index is fetched again.
        """
        request = response.request
        assert request is not None  # noqa: S101
        if SITEMAP_REST in request.meta:
            return  # a stopped job read the beginning, which may have changed since
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

    async def save(self, reason: str) -> None:
        """Store the notes of this run, if it has finished.

        Notes of indexes need every sitemap to be read: behind an unmodified index, a sitemap that failed would not
        be requested again.
        """
        if reason != "finished":
            return
        left_out = self._indexes if self._unread else set()
        await self._store.put_notes({key: self._notes[key] for key in self._notes.keys() - left_out}, _LIFE)

    def _key(self, url: str) -> str:
        return f"sitemap {self._name} {url}"


def _field(response: Response, name: str) -> str:
    value = (response.headers.get(name) or b"").decode("latin-1")
    return value if len(value) <= MAX_HEADER else ""


def _read(text: str | None) -> dict[str, Any]:
    """Parse the note in *text*; empty if it is invalid: other programs, and clocks, may write to the store."""
    try:
        note = json.loads(text or "{}")
        is_read = 0 <= note["began"] <= clock.time() and isinstance(note.setdefault("undated", []), list)
        is_read = is_read and all(isinstance(note.setdefault(each, ""), str) for each in ("etag", "last_modified"))
    except (ValueError, TypeError, KeyError, RecursionError):
        return {}
    return note if is_read and all(isinstance(url, str) for url in note["undated"]) else {}


def is_for_robots_txt(request: Request) -> bool:
    """Whether *request* is for the robots.txt of an origin, like those of a sitemap spider."""
    url = urlparse_cached(request)
    return url.path == "/robots.txt" and url.scheme in SCHEMES and not url.query and request.method == "GET"


def sitemap_lines(request: Request, robots: Robots) -> Response:
    """Answer a sitemap spider's *request* for a robots.txt with its Sitemap lines, absolute, without duplicates.

    An unavailable robots.txt becomes a 404 whatever its status: Scrapy would retry or follow other statuses.
    """
    lines = "".join(f"Sitemap: {url}\n" for url in sitemaps_of(robots).urls)
    status = 200 if robots.access is Access.SUCCESSFUL else 404
    return TextResponse(request.url, status=status, body=lines.encode(), encoding="utf-8", flags=["scrapy_rep"])


def _absolute(value: str, origin: Origin) -> str | None:
    """Return the absolute URL of a Sitemap line of *origin*, escaped, without fragment; None if it is unusable.

    URLs with passwords are unusable: a public sitemap needs none, and Scrapy's download handlers fail on them.
    Hosts with spaces or control characters are unusable, because escaping leaves the host unchanged.
    """
    base, url = origin.robots_url, value
    if not _PLAIN.fullmatch(value):
        try:
            url = urldefrag(urljoin(base, safe_url_string(value.encode("utf-8", "surrogateescape")))).url
            if not _HOST_AND_PORT.fullmatch(urlsplit(url).netloc):
                return None
        except ValueError:
            return None
    return url if url != base and origin.may_lead_to(url) else None
