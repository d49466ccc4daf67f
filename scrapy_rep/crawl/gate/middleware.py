"""The gate: a downloader middleware that lets a request pass only if robots.txt allows it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from copy import copy
from typing import TYPE_CHECKING, Final, NoReturn

from scrapy import Request, signals
from scrapy.exceptions import NotConfigured

from scrapy_rep.crawl.gate.extension import RepExtension
from scrapy_rep.crawl.gate.final_url import FinalUrl
from scrapy_rep.crawl.gate.report import IS_START, REFUSALS
from scrapy_rep.crawl.pacing.crawl_delay import CrawlDelay
from scrapy_rep.crawl.pacing.door import Door, SentBack
from scrapy_rep.crawl.policy.meta import (
    DONT_OBEY,
    FETCH,
    META_KEY,
    SLOT,
    allowing_stamp,
    choose_slot,
    is_exempt,
    unpin_slot,
)
from scrapy_rep.crawl.policy.policy import ASKS, Decision, Mode, Outcome
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.crawl.runtime.event_loop import ClosingError
from scrapy_rep.crawl.runtime.log import describe
from scrapy_rep.crawl.sitemaps.requests import SITEMAP_CHAIN, is_for_robots_txt, sitemap_lines
from scrapy_rep.exceptions import ForbiddenByRobots, InvalidSettingError, UnreachableError
from scrapy_rep.protocol import Access, Reason
from scrapy_rep.settings import Unreachable, asks_robots

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from scrapy_rep.crawl.robots.robots import Robots

logger = logging.getLogger(__name__)

_SPECIAL: Final = frozenset({DONT_OBEY, FETCH, META_KEY, SLOT})
"""Meta keys of requests that ask for more than a verdict."""


_IS_ROBOTS_TXT: Final = "is_robotstxt_request"  # Scrapy's meta key


class RepMiddleware:
    """Asks `RepExtension` about every request; raises `ForbiddenByRobots` for those that may not pass."""

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
        self._crawler = crawler
        self._crawl = Crawl.of(crawler)
        self._crawl.has_gate = True
        self._door = self._crawl.part(Door)
        self._reads_delays = self._crawl.keeps_delays
        self._delayed = self._crawl_delay.records.delayed if self._crawl_delay is not None else {}
        self._final_url = FinalUrl(crawler, extension)
        self._extension, self._account = extension, extension.account
        self._targets = extension.targets
        self._has_http_cache = crawler.settings.getbool("HTTPCACHE_ENABLED")
        self._sitemaps = extension.sitemaps
        self._feeds_sitemaps = self._sitemaps.is_active
        self._origins = extension.registry.origins
        self._product_tokens = extension.product_tokens
        self._passes = self._short_way()
        self._passed: set[bool] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_request(self, request: Request) -> Awaitable[Request | Response | None] | None:
        """Let *request* pass, or raise `ForbiddenByRobots`; raise ``ValueError`` for a URL without a usable host.

        No coroutine for a request that passes at once.
        """
        return None if self._passes(request) or self._is_our_own(request) else self._answer(request)

    def _is_our_own(self, request: Request) -> bool:
        """Whether *request* is for a robots.txt by the registry, whose download slot is that of its cause."""
        meta = request.meta
        is_clean = self._targets.is_plain and META_KEY not in meta  # a stamp that was copied has to go
        return is_clean and _IS_ROBOTS_TXT in meta and bool(meta.get(DONT_OBEY))

    def _short_way(self) -> Callable[[Request], bool]:
        """What lets nearly every request pass at once; where more is asked for, nothing does."""
        account, is_plain = self._extension.account, self._targets.is_plain and not self._feeds_sitemaps
        if is_plain and account.is_plain:
            return self._passes_by_rules
        if not is_plain or asks_robots(self._crawler.settings) or self._crawl.events.decided:
            return lambda _: False
        self._crawler.signals.connect(self._see_no_responses, signal=signals.spider_opened)
        return self._passes_unasked

    def _see_no_responses(self) -> None:
        self._crawl.downloader.set_method(self.process_response, is_on=False)

    def _passes_unasked(self, request: Request) -> bool:
        """Let *request* pass, as ``ROBOTSTXT_OBEY`` is off, unless it asks for its robots.txt all the same."""
        return _SPECIAL.isdisjoint(request.meta)

    def _passes_by_rules(self, request: Request) -> bool:
        """Let *request* pass if its robots.txt in memory allows it and there is nothing else to ask; stamp it.

        This is the short way of nearly every request. False says nothing yet: `_judge` has to.
        """
        meta, url = request.meta, request.url
        if self._door.may_respell(url) or not _SPECIAL.isdisjoint(meta):
            return False
        try:
            robots = self._origins.current(self._origins.at(url))
        except ValueError:
            return False
        if robots is None or robots.is_replayed or self._delayed:
            return False
        if robots.may_request_delays and self._reads_delays:
            return False
        stamp = allowing_stamp(robots, self._product_tokens.of(request), url)
        if stamp is None:
            return False
        is_start = bool(meta.get(IS_START))
        if is_start not in self._passed:  # the first of its kind: then rules do not forbid all of them
            self._passed.add(is_start)
            self._account.report.passed(request)
        meta[META_KEY] = stamp.copy()
        self._door.note(request, url)
        return True

    async def _answer(self, request: Request) -> Request | Response | None:
        """As `process_request`, of a request that does not pass at once; note for the door that it may pass.

        Under a robots.txt from Scrapy's HTTP cache it may not: it passes if that cache has its page, too.
        """
        self._door.open()
        answer, is_replayed = await self._judge(request)
        if answer is None:
            self._door.note(request, "" if is_replayed and self._has_http_cache else request.url)
        return answer

    async def _judge(self, request: Request) -> tuple[Request | Response | None, bool]:
        """Decide about *request* with everything that the owner of the crawl may ask for.

        A sitemap spider's own request for a robots.txt is answered from the cache. A request that comes from
        elsewhere than `RepPriorityQueue` may have to wait here for its robots.txt. Also returned is whether that
        was a replay: the one that decided, because another may be in memory by now.
        """
        is_for_sitemap = self._feeds_sitemaps and self._sitemaps.is_for_sitemap(request)
        if is_for_sitemap:
            answer = await self._prepare_sitemap(request)
            if answer is not None:
                return answer, False
        if SLOT in request.meta or not self._targets.is_plain:
            choose_slot(request, self._crawl.download_slots, self._targets)
        if not self._extension.judge.asks(request):
            await self._pass_unasked(request)
            return None, False
        robots = await self._robots(request)
        if is_exempt(request):
            self._account.not_asked(request)
            return None, False
        decision = self._extension.decide(robots, request)
        if decision.is_forbidden:
            self._forbid(request, robots, decision)
        decider, decision = await self._judge_as_sent(request) or (robots, decision)
        if self._feeds_sitemaps and SITEMAP_CHAIN in request.meta and not is_for_sitemap:
            return self._sitemaps.cross_submitted(request, robots), False
        delays = self._crawl_delay
        if delays is not None and (self._delayed or robots.may_request_delays):
            decision = self._obey_delay(request, robots, decision, delays)
        self._account.decided(request, decider, decision)
        return None, robots.is_replayed

    async def _pass_unasked(self, request: Request) -> None:
        """Let *request* pass: nothing asks about its URL. Something may ask about the URL that is sent for it."""
        as_sent = None if is_exempt(request) else await self._judge_as_sent(request, is_alone=True)
        if as_sent is None:
            self._account.not_asked(request)
        else:
            self._account.decided(request, *as_sent)

    async def _judge_as_sent(self, request: Request, *, is_alone: bool = False) -> tuple[Robots, Decision] | None:
        """Decide about the other URLs that may be sent for *request*: each of them has to be allowed as well.

        Return the decision that goes against the rules, if any; if it *is_alone*, also one that does not.
        """
        found = None
        for url in self._door.spellings(request):
            if self._extension.judge.mode_of(url) not in ASKS:
                continue
            cause = Request(url, headers=request.headers, meta={"verbatim_url": True})
            robots = await self._robots(cause)
            decision = self._extension.decide(robots, request, url)
            if decision.is_forbidden:
                self._forbid(request, robots, decision)
            if decision.is_against_rules or (is_alone and found is None):
                found = robots, decision
        return found

    def process_response(self, request: Request, response: Response) -> Response | Awaitable[Response]:
        """Flag *response* if its stamp is out of the ordinary, or if it came from a URL that is forbidden.

        ``REP_FORBIDDEN_RESPONSE`` may end such a response in `ForbiddenByRobots`. No coroutine for the others:
        each would cost some microseconds.
        """
        if self._crawl_delay is not None and self._crawl_delay.has_delays:
            unpin_slot(request)
        stamp = request.meta.get(META_KEY)
        try:
            is_plain = stamp is None or (
                stamp["verdict"] == "allowed" and stamp["source"] != "stale" and stamp["status"] not in REFUSALS
            )
        except (LookupError, TypeError):  # it is no stamp: another middleware has put it there
            is_plain = False
        if not is_plain:
            self._account.flag(request, response)
        if response.url == request.url:
            return response
        final = self._final_url.request_for(request, response)
        return response if final is None else self._final_url.decide(request, response, final)

    async def _prepare_sitemap(self, request: Request) -> Response | None:
        """Answer *request*, of a sitemap spider, with what is known already, or prepare it for the network."""
        if is_for_robots_txt(request):
            return None if request.meta.get(DONT_OBEY) else await self._sitemap_lines(request)
        return await self._sitemaps.prepare(request)

    async def _sitemap_lines(self, request: Request) -> Response:
        robots = await self._robots(request)
        if robots.access is Access.UNREACHABLE is self._extension.settings.unreachable.access:
            self._forbid(request, robots, Decision.forbidden(Mode.OBEY, Reason.UNREACHABLE))
        self._account.report.not_forbidden(request)
        request.meta.pop(META_KEY, None)
        request.meta["dont_cache"] = True  # the server did not send this answer
        return sitemap_lines(request, robots)

    async def _robots(self, request: Request) -> Robots:
        if self._extension.registry.current(self._targets.of(request)) is None:
            self._crawler.stats.inc_value("rep/waited_count")
        return await self._extension.robots(request)

    def _forbid(self, request: Request, robots: Robots, decision: Decision) -> NoReturn:
        if decision.verdict.reason is Reason.UNREACHABLE:
            self._forbid_unreachable(request, robots, decision)
        self._crawler.stats.inc_value("robotstxt/forbidden")
        if decision.verdict.reason is Reason.AI_SIGNAL:
            self._crawler.stats.inc_value("rep/ai/refused_count")
        self._drop(request, robots, decision)

    def _drop(self, request: Request, robots: Robots, decision: Decision) -> NoReturn:
        self._account.decided(request, robots, decision)
        self._log(request, decision.why)
        raise ForbiddenByRobots(robots.entry.origin, decision.verdict, line=decision.line)

    def _forbid_unreachable(self, request: Request, robots: Robots, decision: Decision) -> NoReturn:
        if isinstance(robots.error, ClosingError):  # the next run asks
            raise SentBack(self._door.rescheduled(request), "the crawl is closing")
        choice, origin = self._extension.settings.unreachable, robots.entry.origin
        retry_after = self._extension.retry_after(robots)
        is_final = choice is Unreachable.DISALLOW
        outcome = Outcome.FORBIDDEN if is_final else Outcome.UNREACHABLE
        self._account.decided(request, robots, decision._replace(outcome=outcome))
        if is_final:
            self._log(request, f"unreachable, {describe(robots.error)}")
            self._crawler.stats.inc_value("rep/forbidden_unreachable_count")
            raise ForbiddenByRobots(origin, decision.verdict, retry_after) from robots.error
        self._crawler.stats.inc_value("rep/unreachable_error_count")
        if choice is Unreachable.RAISE and robots.connection_error is not None:
            raise copy(robots.connection_error)  # raised itself, it would keep the frames of the last request
        raise UnreachableError(origin, retry_after) from robots.error

    def _obey_delay(self, request: Request, robots: Robots, decision: Decision, delays: CrawlDelay) -> Decision:
        """Apply the delay that *robots* requests to the download slot of *request*, unless an exception lifts it.

        A delay that ``REP_CRAWL_DELAY_OVER_MAX`` does not accept forbids *request*.
        """
        exception = self._extension.judge.delay_exception(request)
        if exception is not None:
            is_lifted = delays.requested(request, robots.parser) is not None
            return decision.excepted(Reason.CRAWL_DELAY, exception) if is_lifted else decision
        too_long = delays.prepare(request, robots.parser)
        if too_long is not None:
            delays.report.skipped(robots.entry.origin, too_long)
            self._drop(request, robots, Decision.forbidden(decision.mode, Reason.CRAWL_DELAY, too_long.line))
        if delays.has_delays:
            delays.pin_slot(request)
        return decision

    def _log(self, request: Request, why: str) -> None:
        logger.debug(
            "Forbidden by robots.txt: %(request)s (%(why)s)",
            {"request": self._targets.name(request), "why": why},
            extra={"spider": self._crawler.spider},
        )


def _missing(extension: str) -> InvalidSettingError:
    return InvalidSettingError(
        f"EXTENSIONS lacks {extension}:"
        ' add it, or set ADDONS = {"scrapy_rep.Addon": 300} instead of listing the components yourself'
    )
