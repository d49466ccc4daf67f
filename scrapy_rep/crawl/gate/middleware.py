"""The gate: a downloader middleware that lets a request pass only if robots.txt allows it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from copy import copy
from typing import TYPE_CHECKING, Any, Final, NoReturn
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.exceptions import NotConfigured

from scrapy_rep.crawl.gate.extension import RepExtension
from scrapy_rep.crawl.gate.report import IS_START
from scrapy_rep.crawl.pacing.crawl_delay import CrawlDelay
from scrapy_rep.crawl.pacing.door import Door, SentBack
from scrapy_rep.crawl.policy.meta import FILTERED, META_KEY, SLOT, allowing_stamp, choose_slot, unpin_slot
from scrapy_rep.crawl.policy.policy import (
    ASKS,
    DONT_OBEY,
    FETCH,
    Decision,
    Mode,
    Outcome,
    forbidden_for,
    is_exempt,
)
from scrapy_rep.crawl.robots.request import cause_for, is_robots_txt
from scrapy_rep.crawl.robots.robots import REFUSALS
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.crawl.runtime.event_loop import ClosingError
from scrapy_rep.crawl.runtime.log import Topic, describe
from scrapy_rep.crawl.sitemaps.requests import SITEMAP_CHAIN, is_for_robots_txt, sitemap_lines
from scrapy_rep.exceptions import ForbiddenByRobots, InvalidSettingError, UnreachableError
from scrapy_rep.protocol import SCHEMES, Access, Origin, Reason
from scrapy_rep.settings import Unreachable, asks_robots

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from scrapy_rep.crawl.robots.robots import Robots

logger = logging.getLogger(__name__)

_SPECIAL: Final = frozenset({DONT_OBEY, FETCH, FILTERED, META_KEY, SLOT})
"""Meta keys of requests that need more than a verdict."""

_FORBIDDEN_URL: Final = "robots:forbidden-url"
"""Flag of a response that came from another URL than the judged one, if robots.txt forbids that URL."""

_IS_ROBOTS_TXT: Final = "is_robotstxt_request"  # Scrapy's meta key


class RepMiddleware:
    """Asks `RepExtension` about every request; raises `ForbiddenByRobots` for a request that may not pass."""

    def __init__(self, crawler: Crawler) -> None:
        """Raises `InvalidSettingError` if an extension that the settings need is missing.

        Raises ``NotConfigured`` if nothing asks robots.txt: see `asks_robots`.
        """
        extension = crawler.get_extension(RepExtension)
        if extension is None:
            if not asks_robots(crawler.settings):
                raise NotConfigured
            raise _missing("scrapy_rep.RepExtension, which RepMiddleware asks")
        self._crawl_delay = crawler.get_extension(CrawlDelay)
        names_delays = crawler.settings.get("REP_CRAWL_DELAY") not in {None, "ignore"}
        if self._crawl_delay is None and names_delays and asks_robots(crawler.settings):
            raise _missing("scrapy_rep.CrawlDelay, which obeys REP_CRAWL_DELAY")
        self._crawl = Crawl.of(crawler)
        self._crawl.has_gate = True
        self._door = self._crawl.part(Door)
        self._reads_delays = self._crawl.keeps_delays
        self._delayed = self._crawl_delay.records.delayed if self._crawl_delay is not None else {}
        self._extension, self._account, self._judge = extension, extension.account, extension.judge
        self._targets = extension.targets
        self._has_http_cache = crawler.settings.getbool("HTTPCACHE_ENABLED")
        self._sitemaps = extension.sitemaps
        self._feeds_sitemaps = self._sitemaps.is_active
        self._origins = extension.registry.origins
        self._product_tokens = extension.product_tokens
        self._passed: set[bool] = set()
        # Choose the path here, once. If the settings ask for more than rules, no request takes the short path.
        is_plain = self._targets.is_plain and not self._feeds_sitemaps
        self._is_short = is_plain and self._account.is_plain
        asks = asks_robots(crawler.settings) or bool(self._crawl.events.decided)
        self._asks_nothing = is_plain and not self._is_short and not asks
        if self._asks_nothing:
            crawler.signals.connect(self._see_no_responses, signal=signals.spider_opened)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_request(self, request: Request) -> Awaitable[Request | Response | None] | None:
        """Let *request* pass, or raise `ForbiddenByRobots`; raise ``ValueError`` for a URL without a usable host.

        Nearly every request takes the short path: its robots.txt is in memory and allows it, and nothing else is
        asked. That path is a single call without a coroutine or an event.
        """
        meta, url = request.meta, request.url
        robots = stamp = None
        if self._is_short and not self._door.may_respell(url) and _SPECIAL.isdisjoint(meta):
            try:
                robots = self._origins.current(self._origins.at(url))
            except ValueError:  # the long path says why
                robots = None
        if robots is not None and not (
            robots.is_replayed
            or robots.refused is not None
            or self._delayed
            or (robots.may_request_delays and self._reads_delays)
        ):
            stamp = allowing_stamp(robots, self._product_tokens.of(request), url)
        if stamp is None:
            is_unasked = self._asks_nothing and _SPECIAL.isdisjoint(meta)
            return None if is_unasked or self._is_our_own(meta) else self._answer(request)
        is_start = bool(meta.get(IS_START))
        if is_start not in self._passed:  # the first of its kind: the rules do not forbid them all
            self._passed.add(is_start)
            self._account.passed(request)
        meta[META_KEY] = stamp.copy()
        self._door.note(request, url)
        return None

    def _is_our_own(self, meta: dict[str, Any]) -> bool:
        """Whether *meta* is of the registry's request for a robots.txt, which uses the slot of its cause."""
        is_clean = self._targets.is_plain and META_KEY not in meta  # a copied stamp must be removed
        return is_clean and _IS_ROBOTS_TXT in meta and bool(meta.get(DONT_OBEY))

    def _see_no_responses(self) -> None:
        self._crawl.downloader.set_method(self.process_response, is_on=False)

    async def _answer(self, request: Request) -> Request | Response | None:
        """Decide *request* with all checks that the owner of the crawl may ask for; leave a note at the door.

        A sitemap spider's request for a robots.txt is answered from the cache. A request that does not come from
        `RepPriorityQueue` may have to wait here for its robots.txt.
        """
        self._door.open()
        if request.meta.pop(FILTERED, False):
            request.dont_filter = False
        is_for_sitemap = self._feeds_sitemaps and self._sitemaps.is_for_sitemap(request)
        if is_for_sitemap and (answer := await self._prepare_sitemap(request)) is not None:
            return answer
        if SLOT in request.meta or not self._targets.is_plain:
            choose_slot(request, self._crawl.download_slots, self._targets)
        robots = await self._robots(request) if self._judge.asks(request) else None
        decided, is_replayed = None, False
        if robots is None and not is_exempt(request):
            decided = await self._judge_as_sent(request, is_alone=True)
        elif robots is not None and not is_exempt(request):
            decision = self._judge.decide(robots, request)
            if decision.is_forbidden:
                self._refuse(request, robots, decision)
            decider, decision = await self._judge_as_sent(request) or (robots, decision)
            if self._feeds_sitemaps and SITEMAP_CHAIN in request.meta and not is_for_sitemap:
                return self._sitemaps.cross_submitted(request, robots)
            delays = self._crawl_delay
            if delays is not None and (self._delayed or robots.may_request_delays):
                decision = self._obey_delay(request, robots, decision, delays)
            # Under a robots.txt from Scrapy's HTTP cache it passes only if that cache also has its page. Only the
            # robots.txt that decided counts, because another may be in memory by now.
            decided, is_replayed = (decider, decision), robots.is_replayed and self._has_http_cache
        if decided is None:
            self._account.not_asked(request)
        else:
            self._account.decided(request, *decided)
        self._door.note(request, "" if is_replayed else request.url)
        return None

    async def _judge_as_sent(self, request: Request, *, is_alone: bool = False) -> tuple[Robots, Decision] | None:
        """Decide the other URLs that may be sent for *request*, all of which must be allowed.

        Return a decision against the rules, if any; with *is_alone*, return any decision.
        """
        found = None
        for url in self._door.spellings(request):
            if self._judge.mode_of(url) not in ASKS:
                continue
            cause = Request(url, headers=request.headers, meta={"verbatim_url": True})
            robots = await self._robots(cause)
            decision = self._judge.decide(robots, request, url)
            if decision.is_forbidden:
                self._refuse(request, robots, decision)
            if decision.is_against_rules or (is_alone and found is None):
                found = robots, decision
        return found

    def process_response(self, request: Request, response: Response) -> Response | Awaitable[Response]:
        """Flag *response* if its stamp is unusual, or if it came from a forbidden URL.

        ``REP_FORBIDDEN_RESPONSE`` may turn the latter into `ForbiddenByRobots`. Other responses need no coroutine,
        which would cost some microseconds each.
        """
        if self._crawl_delay is not None and self._crawl_delay.has_delays:
            unpin_slot(request)
        stamp = request.meta.get(META_KEY)
        try:
            is_plain = stamp is None or (
                stamp["verdict"] == "allowed" and stamp["source"] != "stale" and stamp["status"] not in REFUSALS
            )
        except (LookupError, TypeError):  # not a stamp: another middleware put it there
            is_plain = False
        if not is_plain:
            self._account.flag(request, response)
        if response.url == request.url:
            return response
        final = self._request_for(request, response)
        return response if final is None else self._judge_final(request, response, final)

    def _request_for(self, request: Request, response: Response) -> Request | None:
        """Build a request for the URL that *response* came from; return None if there is nothing to judge.

        There is nothing to judge if that URL was judged already, or if no rules are asked about it.
        """
        if is_exempt(request) or is_robots_txt(request) or response.url == (judged := self._targets.of(request)):
            return None
        try:
            final = self._targets.of(Request(self._crawl.events.final_url.ask(request, response) or response.url))
            if _parts(final) == _parts(judged):
                return None
        except ValueError:  # nothing was fetched from such a URL
            return None
        asked = cause_for(final, request)
        return asked if self._judge.asks_rules(asked) else None

    async def _judge_final(self, request: Request, response: Response, final: Request) -> Response:
        """Decide *final*, the request for the URL that *response* came from.

        Browsers, APIs and download handlers may follow redirects themselves. A redirect that Scrapy follows
        becomes a request, which `process_request` judges.
        """
        robots = await self._extension.robots(final)
        decision = self._judge.decide(robots, final)
        is_dropped = decision.is_forbidden and self._extension.settings.forbidden_response == "drop"
        if decision.is_forbidden and not is_dropped:
            decision = decision._replace(outcome=Outcome.REPORTED)
        self._account.answered(request, final, robots, decision)
        if decision.is_against_rules:
            self._crawl.stats.inc_value("rep/response/forbidden_count")
            response.flags.append(_FORBIDDEN_URL)
            topic, what = (Topic.DROPPED, "dropped") if is_dropped else (Topic.KEPT, "kept")
            self._crawl.log.add(
                topic, "%s ended at %s, which robots.txt of %s forbids (%s): the response is %s",
                self._targets.name(request), self._targets.url(final), robots.entry.origin, decision.why, what,
            )  # fmt: skip
        if is_dropped:
            raise ForbiddenByRobots(robots.entry.origin, decision.verdict)
        return response

    async def _prepare_sitemap(self, request: Request) -> Response | None:
        """Answer *request*, of a sitemap spider, from memory, or prepare it for the network."""
        if not is_for_robots_txt(request):
            return await self._sitemaps.prepare(request)
        if request.meta.get(DONT_OBEY):
            return None
        robots = await self._robots(request)
        if robots.access is Access.UNREACHABLE is self._extension.settings.unreachable.access:
            self._refuse(request, robots, Decision.forbidden(Mode.OBEY, Reason.UNREACHABLE))
        self._account.not_forbidden(request)
        request.meta.pop(META_KEY, None)
        request.meta["dont_cache"] = True  # the server did not send this answer
        return sitemap_lines(request, robots)

    async def _robots(self, request: Request) -> Robots:
        if self._extension.registry.current_for(request) is None:
            self._crawl.stats.inc_value("rep/waited_count")
        return await self._extension.robots(request)

    def _refuse(self, request: Request, robots: Robots, decision: Decision) -> NoReturn:
        """Record that *request* is not sent, because of *decision*, and raise the exception that ends it."""
        reason, origin, inc = decision.verdict.reason, robots.entry.origin, self._crawl.stats.inc_value
        if reason is not Reason.UNREACHABLE:
            if reason not in {Reason.CRAWL_DELAY, Reason.REFUSED}:  # Scrapy's stat counts rules only
                inc("robotstxt/forbidden")
            if reason is Reason.AI_SIGNAL:
                inc("rep/ai/refused_count")
            elif reason is Reason.REFUSED:
                inc("rep/refused/skipped_count")
            self._account.decided(request, robots, decision)
            self._log(request, decision.why, "the site" if reason is Reason.REFUSED else "robots.txt")
            raise ForbiddenByRobots(origin, decision.verdict, line=decision.line)
        if isinstance(robots.error, ClosingError):  # the next run asks
            raise SentBack(self._door.rescheduled(request), "the crawl is closing")
        choice, retry_after = self._extension.settings.unreachable, self._extension.retry_after(robots)
        is_final = choice is Unreachable.DISALLOW
        outcome = Outcome.FORBIDDEN if is_final else Outcome.UNREACHABLE
        self._account.decided(request, robots, decision._replace(outcome=outcome))
        if is_final:
            self._log(request, f"unreachable, {describe(robots.error)}")
            inc("rep/forbidden_unreachable_count")
            raise ForbiddenByRobots(origin, decision.verdict, retry_after) from robots.error
        inc("rep/unreachable_error_count")
        if choice is Unreachable.RAISE and robots.connection_error is not None:
            raise copy(robots.connection_error)  # the original would keep the frames of its last request alive
        raise UnreachableError(origin, retry_after) from robots.error

    def _obey_delay(self, request: Request, robots: Robots, decision: Decision, delays: CrawlDelay) -> Decision:
        """Apply the delay that *robots* requests to the download slot of *request*, unless an exception lifts it.

        A delay that ``REP_CRAWL_DELAY_OVER_MAX`` rejects forbids *request*.
        """
        exception = self._judge.delay_exception(request)
        if exception is not None:
            if decision.exception is not None or delays.requested(request, robots.parser) is None:
                return decision
            return Decision(decision.mode, Outcome.EXCEPTED, forbidden_for(Reason.CRAWL_DELAY), exception)
        too_long = delays.prepare(request, robots.parser)
        if too_long is not None:
            delays.report.skipped(robots.entry.origin, too_long)
            self._refuse(request, robots, Decision.forbidden(decision.mode, Reason.CRAWL_DELAY, too_long.line))
        if delays.has_delays:
            delays.pin_slot(request)
        return decision

    def _log(self, request: Request, why: str, who: str = "robots.txt") -> None:
        logger.debug(
            "Forbidden by %(who)s: %(request)s (%(why)s)",
            {"who": who, "request": self._targets.name(request), "why": why},
            extra={"spider": self._crawl.crawler.spider},
        )


def _missing(extension: str) -> InvalidSettingError:
    return InvalidSettingError(
        f"EXTENSIONS lacks {extension}:"
        ' add it, or set ADDONS = {"scrapy_rep.Addon": 300} instead of listing the components yourself'
    )


def _parts(url: str) -> Any:
    """Return the parts of *url* that select a robots.txt and that its rules see: origin, path and query.

    Raises ``ValueError`` for a URL that has no robots.txt.
    """
    parts = urlsplit(url)
    if parts.scheme not in SCHEMES:
        raise ValueError(parts.scheme)
    return Origin.from_url(url), parts.path or "/", parts.query
