"""The robots.txt files of one crawl: which requests ask for one, which are in memory, one fetch at a time each.

A room above that has to act on a robots.txt adds a listener: to ``answered`` for what has to happen when a server
has answered, before other processes know of it, to ``loaded`` for what follows before the waiting requests go on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from scrapy.utils.misc import build_from_crawler, load_object

from scrapy_rep.clock import clock
from scrapy_rep.crawl.policy.meta import DONT_OBEY, FETCH, is_exempt
from scrapy_rep.crawl.policy.policy import ASKING, SENT_ANYWAY, Mode
from scrapy_rep.crawl.robots.origins import Origins, OriginState, SingleFlight
from scrapy_rep.crawl.robots.refresh import Refresher
from scrapy_rep.crawl.robots.request import cause_for, proxy_of
from scrapy_rep.crawl.robots.robots import Robots
from scrapy_rep.crawl.runtime.wire import spellings
from scrapy_rep.exceptions import FetchError
from scrapy_rep.protocol import SCHEMES, Access, Origin
from scrapy_rep.protocol.access import ALLOW_ALL, DISALLOW_ALL, rules_by
from scrapy_rep.settings import asks_for_delays

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.robotstxt import RobotParser

    from scrapy_rep.crawl.policy.policy import Decision, Policy
    from scrapy_rep.crawl.robots.fetch import FetchResult
    from scrapy_rep.crawl.robots.stores import Store
    from scrapy_rep.crawl.runtime.crawl import Crawl
    from scrapy_rep.protocol import Verdict
    from scrapy_rep.protocol.freshness import Entry

_SPECIAL: Final = frozenset({DONT_OBEY, FETCH})
"""Meta keys of requests that ask more, or less, than those without."""


class Registry:
    """The robots.txt files of one crawl, one state for each origin."""

    def __init__(self, crawl: Crawl, policy: Policy, store: Store) -> None:
        """Raises whatever the parser back-end raises if it cannot be used: now, and not at the first page."""
        settings = crawl.settings
        self.policy = policy
        self.store = store
        self.origins = Origins(settings.memory_entries, settings.memory_size)
        self.answered: list[Callable[[Robots, Request], Awaitable[None]]] = []
        self.loaded: list[Callable[[Robots, FetchResult | None, Robots | None, Request], Awaitable[None]]] = []
        self._crawl = crawl
        self._targets = crawl.targets
        self._asks_for_delays = asks_for_delays(crawler_settings := crawl.crawler.settings)
        self._is_plain = crawl.targets.is_plain and policy.default is Mode.OBEY and not policy.has_modes
        self._parser_class = load_object(crawler_settings["ROBOTSTXT_PARSER"])
        self._parser(ALLOW_ALL)
        self._refresher = Refresher(crawl, store, self._waiting)
        self.freshness = self._refresher.freshness
        self.when_closing = self._refresher.fetcher.downloads.when_closing
        self.when_closing.append(self._cancel_prefetches)
        self._flying: dict[OriginState, SingleFlight[Robots]] = {}

    # Which requests ask, and what is known.

    def mode(self, request: Request) -> Mode | None:
        """The mode of the site of *request*; None for a URL scheme that has no robots.txt.

        Raises ``ValueError`` for a URL without a usable host.
        """
        return self.mode_of(self._targets.of(request))

    def mode_of(self, url: str) -> Mode | None:
        """As `mode`, for *url*."""
        return self.policy.mode(url) if url.partition(":")[0].lower() in SCHEMES else None

    def asks(self, request: Request) -> bool:
        """Whether *request* needs a robots.txt: to be judged, for its delays, or because of meta ``rep_fetch``."""
        must_fetch = request.meta.get(FETCH)
        if is_exempt(request) and not must_fetch:
            return False
        mode = self.mode(request)
        if mode is None or must_fetch:
            return mode is not None
        return mode in ASKING or (self._asks_for_delays if mode is Mode.OFF else self._crawl.keeps_delays)

    def state_to_ask(self, request: Request) -> OriginState | None:
        """The state of the origin whose robots.txt must be known before *request* starts; None if none must be.

        None also for a URL without a usable host, which the gate rejects.
        """
        try:
            if not (self._is_plain and _SPECIAL.isdisjoint(request.meta)) and not self.asks(request):
                return None
            return self.origins.at(self._targets.of(request)) if self._crawl.has_gate else None
        except ValueError:
            return None

    def current(self, url: str) -> Robots | None:
        """The robots.txt that applies to *url*, or None if it is not in memory or has expired; never waits.

        Raises ``ValueError`` for a URL that has no robots.txt.
        """
        return self.origins.current(self.origins.at(url))

    def ask_network(self, request: Request) -> None:
        """Have the robots.txt for *request*, which goes to the network, fetched from there if it was replayed."""
        state = self.origins.at(self._targets.of(request))
        if state.robots is not None and state.robots.is_replayed:
            state.asks_network, state.robots.until = True, 0.0

    def verdict(self, robots: Robots, request: Request) -> Verdict:
        """What *robots* says about *request*, for the product tokens under which it is sent."""
        return robots.verdict(self._crawl.product_tokens.of(request), self._targets.of(request))

    def decide(self, robots: Robots, request: Request, url: str | None = None) -> Decision:
        """What becomes of *request* by the rules of *robots*, under the modes and exceptions of this crawl.

        *url* is another URL than its own, under which it may be sent.
        """
        if is_exempt(request):
            return self.policy.decide_unasked(Mode.IGNORE)
        url = url or self._targets.of(request)
        mode = self.policy.mode(url)
        if mode not in ASKING:
            return self.policy.decide_unasked(mode)
        return self.policy.decide(url, mode, robots.verdict(self._crawl.product_tokens.of(request), url))

    def forbids(self, request: Request) -> bool:
        """Whether the robots.txt in memory forbids *request*; False if there is none. Never raises."""
        try:
            robots = self.current(self._targets.of(request))
            return robots is not None and self.decide(robots, request).is_forbidden
        except Exception:  # noqa: BLE001  # a parser back-end failed; it fails again in the gate, with the request
            return False

    # How one gets into memory.

    async def wait_for(self, request: Request) -> Robots:
        """The robots.txt that applies to *request*; fetch it if it is not cached.

        What the proxy of another request refused is asked again, through that of this one.
        """
        state, proxy = self.origins.at(self._targets.of(request)), proxy_of(request)
        while True:
            robots = self.origins.current(state) or await self.flight(request).join()
            if robots.refused_by in {None, proxy}:
                return robots

    def refusal(self, state: OriginState, request: Request) -> Robots | None:
        """What to tell *request* while its proxy refuses to fetch the robots.txt of *state*, else None."""
        robots = state.refusals.get(proxy_of(request))
        return robots if robots is not None and robots.is_current(clock.time()) else None

    def flight(self, cause: Request) -> SingleFlight[Robots]:
        """The fetch of the robots.txt for *cause*: the one in progress, or a new one."""
        state = self.origins.at(self._targets.of(cause))
        if state.flight is None:
            flight = state.flight = self._flying[state] = SingleFlight(ended=partial(self._landed, state))
            flight.start(self._load(state, cause))
            return flight
        return state.flight

    def _landed(self, state: OriginState) -> None:
        state.flight = None
        del self._flying[state]

    def _cancel_prefetches(self) -> None:
        """Cancel the fetches that no request awaits: the crawl is closing."""
        for flight in [*self._flying.values()]:
            if not flight.has_waiters:
                flight.cancel()

    @property
    def is_fetching(self) -> bool:
        """Whether any fetch is in progress."""
        return bool(self._flying)

    @property
    def downloads(self) -> int:
        """Number of robots.txt requests in flight; attempts that wait for their time do not count."""
        return len(self._refresher.fetcher.downloads)

    def _waiting(self, origin: Origin) -> int:
        """Number of requests that wait for the robots.txt of *origin*."""
        flight = self.origins.of(origin).flight
        return flight.waiting if flight is not None else 0

    async def _load(self, state: OriginState, cause: Request) -> Robots:
        known = state.robots
        refusal = self.refusal(state, cause)
        if refusal is not None:
            return refusal
        waits = self._is_plain or self.policy.mode(self._targets.of(cause)) not in SENT_ANYWAY
        retries = waits and proxy_of(cause) not in state.refusals  # else requests have waited before
        before = known.entry if known is not None and not (known.is_replayed and state.asks_network) else None
        forbids = partial(self._forbids_redirect, cause, False)
        entry, result = await self._refresher.refresh(
            state.origin, cause, before, forbids=forbids, retries=retries, is_live=state.asks_network
        )
        known = known or next(iter(state.refusals.values()), None)
        robots = self.build(entry, result, known)
        robots.is_replayed = result is not None and result.is_cached
        await self.save(entry, result, robots, cause)
        if result is None or result.is_of_site:
            state.refusals = {}
            self.origins.put(state, robots, robots.octets)
        else:
            self._refuse(state, robots, proxy_of(cause))
        for loaded in self.loaded:
            await loaded(robots, result, known, cause)
        return robots

    @staticmethod
    def _refuse(state: OriginState, robots: Robots, proxy: str) -> None:
        """Keep *robots* for the requests through *proxy*, which refused, until it may be asked again."""
        robots.refused_by, now = proxy, clock.time()
        others = {name: one for name, one in state.refusals.items() if one.is_current(now)}
        state.refusals = {**others, proxy: robots}

    async def refresh(self, file: Origin, cause: Request, known: Entry | None) -> tuple[Entry, FetchResult | None]:
        """As `Refresher.refresh`, for a *file* that is no robots.txt. Its redirects ask the hosts they lead to."""
        forbids = partial(self._forbids_redirect, cause, True)
        return await self._refresher.refresh(file, cause, known, forbids=forbids, retries=False)

    async def save(self, entry: Entry, result: FetchResult | None, robots: Robots, cause: Request) -> None:
        """Store what a fetch brought; the delay of *robots* counts from the answer before others can read it.

        What a proxy said is not stored: other processes may have another one. Nor is a replay, which is old.
        """
        if result is None:
            return
        if result.is_cached or not result.is_of_site:
            await self._refresher.give_up(entry.origin)
            return
        for answered in self.answered:
            await answered(robots, cause)
        await self._refresher.save(entry)

    async def _forbids_redirect(self, cause: Request, asks_first: bool, url: str) -> bool:
        """Whether robots.txt forbids the target of a redirect.

        For a robots.txt that redirects, none is fetched to find out: two could wait for each other.
        """
        robots = self.current(url)
        if robots is None and asks_first:
            robots = await self.wait_for(cause_for(url, cause))
        return robots is not None and not self.allows(robots, url, cause)

    def allows(self, robots: Robots, url: str, cause: Request) -> bool:
        """Whether the rules of *robots* allow *url*, however it is sent, to the crawler that sends *cause*."""
        tokens = self._crawl.product_tokens.of(cause)
        handler = self._crawl.downloader.handler_of(url.partition(":")[0])
        return all(robots.verdict(tokens, each).allowed for each in (url, *spellings(url, handler)))

    # From an entry to what answers for it.

    def build(self, entry: Entry, result: FetchResult | None, known: Robots | None) -> Robots:
        """*entry*, which *result* brought, with its parser; that of *known* is reused if nothing changed."""
        freshness, now = self.freshness, clock.time()
        access, until = freshness.access(entry, now), freshness.usable_until(entry, now)
        error = _kept(_why_unreachable(entry, result)) if access is Access.UNREACHABLE else None
        source = "store" if result is None else "revalidated" if result.unchanged else "fetched"
        if known and (known.access, known.entry.body) == (access, entry.body):
            files, signals = known.files, known.known_signals
            return Robots(entry, access, until, known.parser, error, source, files, known_signals=signals)
        try:
            return Robots(entry, access, until, self._parser(self._body(entry, access)), error, source)
        except Exception as parser_error:  # noqa: BLE001  # a robots.txt that breaks its parser allows nothing
            unparsed = self._parser(DISALLOW_ALL)
            return Robots(entry, Access.UNREACHABLE, until, unparsed, _kept(parser_error), source)

    def _body(self, entry: Entry, access: Access) -> bytes:
        """What the parser back-end reads: the body, or the rules that *access* stands for."""
        if access is Access.UNREACHABLE:
            access = self._crawl.settings.unreachable.access
        return rules_by(access, entry.body)

    def _parser(self, body: bytes) -> RobotParser:
        parser: RobotParser = build_from_crawler(self._parser_class, self._crawl.crawler, body)
        return parser

    def __repr__(self) -> str:
        return f"<Registry {self.origins!r} flights={len(self._flying)}>"


def _kept(error: Exception) -> Exception:
    """*error* without its traceback and its causes.

    It is kept as long as the robots.txt, and would keep every frame alive with all that was received there: of a
    decompression bomb that is megabytes.
    """
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


def _why_unreachable(entry: Entry, result: FetchResult | None) -> Exception:
    """The failure of the fetch, or when another process saw one."""
    if result is not None and result.error is not None:
        return result.error
    seconds_ago = clock.time() - entry.tried_at
    return FetchError(f"unreachable {seconds_ago:.0f} s ago, after {entry.failures} attempts")
