"""The robots.txt files of one crawl: which requests ask for one, which are in memory, one fetch at a time each.

A room above that has to act on a robots.txt adds a listener: to ``answered`` for what has to happen when a server
has answered, before other processes know of it, to ``loaded`` for what follows before the waiting requests go on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias

from scrapy import Request
from scrapy.utils.misc import build_from_crawler, load_object

from scrapy_rep.clock import clock
from scrapy_rep.directives.ai import AI_TXT, SiteFile
from scrapy_rep.directives.robots_signals import RobotsSignals
from scrapy_rep.directives.terms import TDMREP
from scrapy_rep.directives.vocabulary import Category
from scrapy_rep.exceptions import FetchError
from scrapy_rep.policy.meta import DONT_OBEY, FETCH, is_exempt
from scrapy_rep.policy.policy import ASKING, SENT_ANYWAY, Mode
from scrapy_rep.protocol import SCHEMES, Access, Origin
from scrapy_rep.protocol.access import ALLOW_ALL, DISALLOW_ALL, rules_by
from scrapy_rep.settings import asks_for_delays

from .licenses import MAX_FETCHED, LicenseFile, Licenses, Once, license_at
from .origins import Origins, OriginState, SingleFlight
from .refresh import Refresher
from .robots import Robots

if TYPE_CHECKING:
    from scrapy.robotstxt import RobotParser

    from scrapy_rep.policy.policy import Decision, Policy
    from scrapy_rep.protocol import Verdict
    from scrapy_rep.protocol.freshness import Entry
    from scrapy_rep.runtime.crawl import Crawl
    from scrapy_rep.settings import RepSettings

    from .fetch import FetchResult
    from .stores import Store

    _Fetched: TypeAlias = tuple[Robots, FetchResult | None]

MAX_AHEAD: Final = 20
"""Robots.txt files of hosts of licenses that are remembered before a page of the host is asked for."""

_BY_TDMREP: Final = {Category.AI_INPUT, Category.AI_TRAIN}
"""The categories that a reservation of text and data mining speaks about."""

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
        self._needed_files = needed_files(settings)
        self._reads_licenses = bool(settings.purposes)
        self._parser_class = load_object(crawler_settings["ROBOTSTXT_PARSER"])
        self._parser(ALLOW_ALL)
        self._refresher = Refresher(crawl, store, self._waiting)
        self._flying: dict[OriginState, SingleFlight[Robots]] = {}
        self._licenses = Licenses(self._refresher.freshness)
        self._once = Once()
        self._ahead: dict[OriginState, _Fetched] = {}

    # Which requests ask, and what is known.

    def mode(self, request: Request) -> Mode | None:
        """The mode of the site of *request*; None for a URL scheme that has no robots.txt.

        Raises ``ValueError`` for a URL without a usable host.
        """
        url = self._targets.of(request)
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

    def verdict(self, robots: Robots, request: Request) -> Verdict:
        """What *robots* says about *request*, for the product tokens under which it is sent."""
        return robots.verdict(self._crawl.product_tokens.of(request), self._targets.of(request))

    def decide(self, robots: Robots, request: Request) -> Decision:
        """What becomes of *request* by the rules of *robots*, under the modes and exceptions of this crawl."""
        if is_exempt(request):
            return self.policy.decide_unasked(Mode.IGNORE)
        url = self._targets.of(request)
        mode = self.policy.mode(url)
        if mode not in ASKING:
            return self.policy.decide_unasked(mode)
        return self.policy.decide(url, mode, self.verdict(robots, request))

    def forbids(self, request: Request) -> bool:
        """Whether the robots.txt in memory forbids *request*; False if there is none. Never raises."""
        try:
            robots = self.current(self._targets.of(request))
            return robots is not None and self.decide(robots, request).is_forbidden
        except Exception:  # noqa: BLE001  # a parser back-end failed; it fails again in the gate, with the request
            return False

    # How one gets into memory.

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

    async def is_stored(self, state: OriginState) -> bool:
        """Whether the store has a current entry of the origin of *state*."""
        return await self._refresher.is_stored(state.origin, state.robots.entry if state.robots else None)

    def cancel_prefetches(self) -> None:
        """Cancel the fetches that no request awaits: the crawl is closing."""
        for flight in list(self._flying.values()):
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
        if self._reads_licenses:
            while (found := await self._alone(state, cause)) is None:
                pass  # what another origin began was cancelled: fetch it for this one
            robots, result = found
            robots = await self.with_files(self._needed_files, robots, cause, known)
            robots = await self.with_licenses(self._licenses_of(robots, cause), robots, cause)
            self._ahead.pop(state, None)
        else:
            robots, result = await self._fetch(state, cause)
        self.origins.put(state, robots, robots.octets)
        for loaded in self.loaded:
            await loaded(robots, result, known, cause)
        return robots

    async def _fetch(self, state: OriginState, cause: Request, *, retries: bool = True) -> _Fetched:
        """The robots.txt of *state* without other files, and the fetch that brought it, if any."""
        known = state.robots
        entry, result = await self._refresher.refresh(
            state.origin, cause, known.entry if known else None,
            forbids=partial(self._forbids_redirect, cause, None),
            retries=retries and (self._is_plain or self.policy.mode(self._targets.of(cause)) not in SENT_ANYWAY),
        )  # fmt: skip
        robots = self.build(entry, result, known)
        await self._save(entry, result, robots, cause)
        return robots, result

    async def _alone(self, state: OriginState, cause: Request, *, retries: bool = True) -> _Fetched | None:
        """As `_fetch`, of which there is one at a time; None if it failed for somebody else."""
        ahead = self._ahead.get(state)
        is_tried = ahead is not None and not (retries and ahead[0].access is Access.UNREACHABLE)
        if ahead is not None and is_tried and ahead[0].is_current(clock.time()):
            return ahead
        return await self._once.run(state, partial(self._fetch_ahead, state, cause, retries=retries))

    async def _fetch_ahead(self, state: OriginState, cause: Request, *, retries: bool) -> _Fetched:
        """As `_fetch`, and remember it until the origin is loaded with its files, which may be never."""
        found = self._ahead[state] = await self._fetch(state, cause, retries=retries)
        while len(self._ahead) > MAX_AHEAD:
            del self._ahead[next(iter(self._ahead))]
        return found

    async def _save(self, entry: Entry, result: FetchResult | None, robots: Robots, cause: Request) -> None:
        """Store what a fetch brought; the delay of *robots* counts from the answer before others can read it."""
        if result is None:
            return
        if not result.is_cached:
            for answered in self.answered:
                await answered(robots, cause)
        await self._refresher.save(entry)

    def _forbids_redirect(self, cause: Request, fresh: Robots | None, url: str) -> bool:
        """Whether a robots.txt in memory forbids the target of a redirect; nothing is fetched to find out.

        *fresh* is one that is about to be kept there.
        """
        state = self.origins.at(url)
        is_fresh = fresh is not None and fresh.entry.origin == state.origin
        robots = fresh if is_fresh else self.origins.current(state)
        return robots is not None and not robots.verdict(self._crawl.product_tokens.of(cause), url).allowed

    # The other files of an origin.

    async def with_files(
        self, paths: Iterable[str], robots: Robots, cause: Request, known: Robots | None
    ) -> Robots:
        """*robots* with the current files at *paths* of its origin, those that it allows to fetch.

        *known* is the `Robots` that may hold older ones.
        """
        files = {}
        for path in paths:
            file, before = SiteFile.of(robots.entry.origin, path), known.files.get(path) if known else None
            if robots.verdict(self._crawl.product_tokens.of(cause), file.robots_url).allowed:
                files[path] = await self._refresh_file(file, robots, cause, before)
        return robots.with_files(files)

    async def _refresh_file(
        self,
        file: SiteFile,
        robots: Robots,
        cause: Request,
        before: Entry | None,
        bounded: Callable[[Entry], Entry] = lambda entry: entry,
    ) -> Entry:
        """The current entry of *file*, whose host has this *robots*; *before* is the one in memory.

        *bounded* shortens the life of an entry that a fetch brought.
        """
        forbids = partial(self._forbids_redirect, cause, robots)
        entry, result = await self._refresher.refresh(file, cause, before, forbids=forbids, retries=False)
        if result is not None:
            self._crawl.stats.inc_value("rep/ai/file_count")
            entry = bounded(entry)
        await self._save(entry, result, robots, cause)
        return entry

    async def with_licenses(self, urls: Iterable[str], robots: Robots, cause: Request) -> Robots:
        """*robots* with the current licenses at *urls*, which it names, as far as they can be read."""
        found = {}
        for url in islice(urls, MAX_FETCHED):
            file = license_at(url, robots.entry.origin)
            if file is not None:
                license_ = await self._once.run(file, partial(self._license, file, robots, cause))
                if license_ is not None:
                    found[url] = license_
        return robots.with_licenses(found) if found else robots

    def _licenses_of(self, robots: Robots, cause: Request) -> tuple[str, ...]:
        """The URLs of the licenses that *robots* names for the crawler of *cause*."""
        if robots.access is not Access.SUCCESSFUL:
            return ()
        token = robots.addressed(self._crawl.product_tokens.of(cause))
        return RobotsSignals.of(robots.robotstxt, token).licenses

    async def _license(self, file: SiteFile, robots: Robots, cause: Request) -> LicenseFile | None:
        """The license in *file*, if the robots.txt of its host allows to fetch it; *robots* names it."""
        if file.origin != robots.entry.origin:
            cause = Request(file.robots_url, headers=cause.headers, meta=cause.meta.copy())
            state = self.origins.of(file.origin)
            current = self.origins.current(state)
            found = (current, None) if current else await self._alone(state, cause, retries=False)
            if found is None:
                return None
            robots = found[0]
        if not robots.verdict(self._crawl.product_tokens.of(cause), file.robots_url).allowed:
            return None
        entry = await self._refresh_file(file, robots, cause, self._licenses.known(file), Licenses.bounded)
        return self._licenses.keep(file, entry)

    # From an entry to what answers for it.

    def build(self, entry: Entry, result: FetchResult | None, known: Robots | None) -> Robots:
        """*entry*, which *result* brought, with its parser; that of *known* is reused if nothing changed."""
        freshness, now = self._refresher.freshness, clock.time()
        access, until = freshness.access(entry, now), freshness.usable_until(entry, now)
        error = _kept(_why_unreachable(entry, result)) if access is Access.UNREACHABLE else None
        source = "store" if result is None else "revalidated" if result.unchanged else "fetched"
        if known and (known.access, known.entry.body) == (access, entry.body):
            return Robots(entry, access, until, known.parser, error, source)
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


def needed_files(settings: RepSettings) -> tuple[str, ...]:
    """The paths of the files that the declared purposes need besides robots.txt."""
    paths = []
    if not _BY_TDMREP.isdisjoint(settings.purposes):
        paths.append(TDMREP)
    if "ai.txt" in settings.ai_sources and Category.AI_TRAIN in settings.purposes:
        paths.append(AI_TXT)
    return tuple(paths)
