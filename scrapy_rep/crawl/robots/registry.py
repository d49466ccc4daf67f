"""The robots.txt files of a crawl: those in memory, and a single fetch at a time for each other origin.

`policy` decides which requests need a robots.txt, and calls `Registry.wait_for`. Code that acts on a new file
subscribes to `Events.answered` and `Events.loaded`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy.utils.misc import build_from_crawler, load_object

from scrapy_rep.clock import clock
from scrapy_rep.crawl.robots.origins import Origins, OriginState, SingleFlight
from scrapy_rep.crawl.robots.refresh import Refresher
from scrapy_rep.crawl.robots.request import cause_for, client_of, proxy_of
from scrapy_rep.crawl.robots.robots import REFUSALS, Robots
from scrapy_rep.crawl.runtime.wire import spellings
from scrapy_rep.exceptions import FetchError
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.access import ALLOW_ALL, DISALLOW_ALL, rules_by

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.robotstxt import RobotParser

    from scrapy_rep.crawl.robots.fetch import FetchResult
    from scrapy_rep.crawl.robots.stores import Store
    from scrapy_rep.crawl.runtime.crawl import Crawl
    from scrapy_rep.protocol.freshness import Entry


class Registry:
    """The robots.txt files of a crawl, with one state per origin."""

    def __init__(self, crawl: Crawl, store: Store) -> None:
        """Build the registry. A parser back-end that cannot be used raises here, not at the first page."""
        settings = crawl.settings
        self.store = store
        self.origins = Origins(settings.memory_entries, settings.memory_size)
        self._crawl = crawl
        self._events = crawl.events
        self._targets = crawl.targets
        self._parser_class = load_object(crawl.crawler.settings["ROBOTSTXT_PARSER"])
        self._parser(ALLOW_ALL)
        self._refresher = Refresher(crawl, store, self.origins)
        self.freshness = self._refresher.freshness
        self._flying: dict[OriginState, SingleFlight[Robots]] = {}
        crawl.events.closing.subscribe(self._cancel_prefetches)

    def current(self, url: str) -> Robots | None:
        """Return the robots.txt that applies to *url*, or None if it is not in memory or has expired. Never waits.

        Raises ``ValueError`` for a URL that has no robots.txt.
        """
        return self.origins.current(self.origins.at(url))

    def current_for(self, request: Request) -> Robots | None:
        """As `current`, but None if the server refused other clients and may let in the client of *request*."""
        robots = self.current(self._targets.of(request))
        if robots is not None and not self._is_for(request, robots):
            robots.until = 0.0
            return None
        return robots

    def _is_for(self, request: Request, robots: Robots) -> bool:
        return robots.refused is None or self._client(request, robots.entry.origin) <= robots.refused

    def _client(self, request: Request, origin: Origin) -> frozenset[Any]:
        """Return the names of headers and meta keys with which *request* asks *origin* for its robots.txt."""
        return frozenset[Any]().union(*client_of(origin.robots_url, request, self._crawl.settings))

    def ask_network(self, request: Request) -> None:
        """Expire a robots.txt replayed from Scrapy's HTTP cache, because *request* goes to the network."""
        state = self.origins.at(self._targets.of(request))
        if state.robots is not None and state.robots.is_replayed:
            state.asks_network, state.robots.until = True, 0.0

    # How a robots.txt gets into memory.

    async def wait_for(self, request: Request, *, waits: bool = True) -> Robots:
        """Return the robots.txt that applies to *request*; fetch it if it is not cached.

        If the proxy of another request refused to fetch it, ask again through the proxy of *request*. *waits* is
        as in `flight`.
        """
        state, proxy = self.origins.at(self._targets.of(request)), proxy_of(request)
        while True:
            robots = self.current_for(request) or await self.flight(state, request, waits=waits).join()
            if robots.refused_by in {None, proxy} and self._is_for(request, robots):
                return robots

    def refusal(self, state: OriginState, request: Request) -> Robots | None:
        """Return the answer for *request* while its proxy refuses to fetch the robots.txt of *state*, or None."""
        robots = state.refusals.get(proxy_of(request))
        return robots if robots is not None and robots.is_current(clock.time()) else None

    def flight(self, state: OriginState, cause: Request, *, waits: bool = True) -> SingleFlight[Robots]:
        """Return the fetch in progress of the robots.txt of *state*, or start a fetch for the request *cause*.

        *waits* says whether the request waits for further attempts while the origin is unreachable.
        """
        if state.flight is None:
            flight = state.flight = self._flying[state] = SingleFlight(ended=partial(self._landed, state))
            flight.start(self._load(state, cause, waits=waits))
            return flight
        return state.flight

    def _landed(self, state: OriginState) -> None:
        state.flight = None
        del self._flying[state]
        self._events.landed.send(state)

    def _cancel_prefetches(self) -> None:
        """Cancel fetches that no request awaits, because the crawl is closing."""
        for flight in [*self._flying.values()]:
            if not flight.waiting:
                flight.cancel()

    @property
    def is_fetching(self) -> bool:
        """Whether any fetch is in progress."""
        return bool(self._flying)

    @property
    def downloads(self) -> int:
        """Number of robots.txt requests in flight; attempts that wait for a retry do not count."""
        return len(self._refresher.fetcher.downloads)

    async def _load(self, state: OriginState, cause: Request, *, waits: bool) -> Robots:
        known = state.robots
        if state.refusals:
            refusal = self.refusal(state, cause)
            if refusal is not None:
                return refusal
            waits = waits and proxy_of(cause) not in state.refusals  # else requests have already waited
        before = known.entry if known is not None and not (known.is_replayed and state.asks_network) else None
        forbids = partial(self._forbids_redirect, cause, False)
        entry, result = await self._refresher.refresh(
            state.origin, cause, before, forbids=forbids, retries=waits, is_live=state.asks_network
        )
        known = known or next(iter(state.refusals.values()), None)
        robots = self.build(entry, result, known)
        robots.is_replayed = result is not None and result.is_cached
        await self.save(entry, result, robots, cause)
        if result is None or result.is_of_site:
            state.refusals = {}
            if entry.status in REFUSALS:
                robots.refused = self._client(cause, state.origin) | ((known and known.refused) or frozenset())
            self.origins.put(state, robots, robots.octets)
        else:
            self._refuse(state, robots, proxy_of(cause))
        await self._events.loaded.send_async(robots, result, known, cause)
        return robots

    @staticmethod
    def _refuse(state: OriginState, robots: Robots, proxy: str) -> None:
        """Keep *robots* for requests through *proxy*, which refused, until the proxy may be asked again."""
        robots.refused_by, now = proxy, clock.time()
        others = {name: one for name, one in state.refusals.items() if one.is_current(now)}
        state.refusals = {**others, proxy: robots}

    async def refresh(self, file: Origin, cause: Request, known: Entry | None) -> tuple[Entry, FetchResult | None]:
        """As `Refresher.refresh`, for a *file* other than robots.txt; each redirect needs its target's consent."""
        forbids = partial(self._forbids_redirect, cause, True)
        return await self._refresher.refresh(file, cause, known, forbids=forbids, retries=False)

    async def save(self, entry: Entry, result: FetchResult | None, robots: Robots, cause: Request) -> None:
        """Store a fetched *entry*. The delay of *robots* starts first, before other processes can read the entry.

        A proxy's refusal is not stored, because other processes may use another proxy. Nor is a replay: it is old.
        """
        if result is None:
            return
        if result.is_cached or not result.is_of_site:
            await self._refresher.give_up(entry.origin)
            return
        await self._events.answered.send_async(robots, cause)
        await self._refresher.save(entry)

    async def _forbids_redirect(self, cause: Request, asks_first: bool, url: str) -> bool:
        """Whether robots.txt forbids the target of a redirect.

        A redirected robots.txt is checked only against files in memory: two fetches could wait for each other.
        """
        robots = self.current(url)
        if robots is None and asks_first:
            robots = await self.wait_for(cause_for(url, cause))
        return robots is not None and not self.allows(robots, url, cause)

    def allows(self, robots: Robots, url: str, cause: Request) -> bool:
        """Whether *robots* allows *url*, in every spelling that may be sent, to the crawler of *cause*."""
        tokens = self._crawl.product_tokens.of(cause)
        handler = self._crawl.downloader.handler_of(url.partition(":")[0])
        return all(robots.verdict(tokens, each).allowed for each in (url, *spellings(url, handler)))

    # From an entry to a parser.

    def build(self, entry: Entry, result: FetchResult | None, known: Robots | None) -> Robots:
        """Build the `Robots` of *entry*, from *result*; reuse the parser of *known* if nothing changed."""
        freshness, now = self.freshness, clock.time()
        access, until = freshness.access(entry, now), freshness.usable_until(entry, now)
        error = _kept(_why_unreachable(entry, result)) if access is Access.UNREACHABLE else None
        source = "store" if result is None else "revalidated" if result.unchanged else "fetched"
        if known and (known.access, known.entry.body) == (access, entry.body):
            return Robots(entry, access, until, known.parser, error, source, known.kept_octets)
        try:
            return Robots(entry, access, until, self._parser(self._body(entry, access)), error, source)
        except Exception as parser_error:  # noqa: BLE001  # a robots.txt that breaks its parser allows nothing
            unparsed = self._parser(DISALLOW_ALL)
            return Robots(entry, Access.UNREACHABLE, until, unparsed, _kept(parser_error), source)

    def _body(self, entry: Entry, access: Access) -> bytes:
        """Return the input of the parser back-end: the body, or the rules that *access* stands for."""
        if access is Access.UNREACHABLE:
            access = self._crawl.settings.unreachable.access
        return rules_by(access, entry.body)

    def _parser(self, body: bytes) -> RobotParser:
        parser: RobotParser = build_from_crawler(self._parser_class, self._crawl.crawler, body)
        return parser

    def __repr__(self) -> str:
        return f"<Registry {self.origins!r} flights={len(self._flying)}>"


def _kept(error: Exception) -> Exception:
    """Strip *error* of its traceback and its causes.

    It lives as long as the robots.txt, and its frames would keep all received bytes alive: megabytes, for a
    decompression bomb.
    """
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


def _why_unreachable(entry: Entry, result: FetchResult | None) -> Exception:
    """Return the error of the fetch, or an error that says when another process failed."""
    if result is not None and result.error is not None:
        return result.error
    seconds_ago = clock.time() - entry.tried_at
    return FetchError(f"unreachable {seconds_ago:.0f} s ago, after {entry.failures} attempts")
