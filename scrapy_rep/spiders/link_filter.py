"""`LinkFilter`: drops links that robots.txt forbids before the scheduler stores them (``REP_FILTER_LINKS``).

The gate judges every request again when it starts, so a link that passes here by mistake costs space in the
queue, while one that is dropped is lost. In doubt a link passes.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from scrapy_rep.gate.extension import RepExtension
from scrapy_rep.pacing.prefetch import MAX_DOWNLOADS
from scrapy_rep.policy.policy import Mode, Outcome
from scrapy_rep.protocol import Origin, Reason
from scrapy_rep.runtime.crawl import Crawl
from scrapy_rep.runtime.event_loop import CLOSING_CHECK
from scrapy_rep.runtime.log import describe
from scrapy_rep.runtime.scrapy_internals import has_errback
from scrapy_rep.signals import link_filtered

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from scrapy_rep.policy.policy import Decision

logger = logging.getLogger(__name__)

MAX_ORIGINS: Final = 64
"""Origins that the links of one response await at the same time."""

MAX_LINKS: Final = 1_000
"""Links of one response that wait at the same time."""


class LinkFilter:
    """Spider middleware that drops links which robots.txt forbids; the add-on enables it.

    With ``REP_FILTER_LINKS = "known"`` it judges links to origins whose robots.txt is in memory,
    with ``"all"`` it fetches the others. Only rules drop a link: an unreachable origin may be back when the
    request is about to start. These are left to the gate: start requests, requests with an errback,
    ``dont_filter`` or ``dont_obey_robotstxt``, and sites in other modes than *obey*.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Raises ``NotConfigured`` if ``REP_FILTER_LINKS`` is off or nothing obeys robots.txt."""
        choice = Crawl.of(crawler).settings.filter_links
        extension = crawler.get_extension(RepExtension)
        if choice == "off" or extension is None or not extension.policy.is_asking:
            raise NotConfigured
        self._crawler = crawler
        self._extension = extension
        self._fetches = choice == "all"
        self._has_failed = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Yield *result* without the links that robots.txt forbids.

        Only a link to an origin whose robots.txt is unknown waits. All such links of *response* wait at the same
        time, and whatever needs no wait overtakes them.
        """
        held, error = _HeldLinks(self._crawler, self._extension.prefetch), None
        try:
            async for output in result:
                for link in self._passing(held.released(), response):
                    yield link
                if not isinstance(output, Request) or not self._judges(output):
                    yield output
                elif (origin := self._origin_to_await(output)) is not None:
                    held.add(origin, output)
                    await held.wait_for_capacity()
                elif self._passes(output, response):
                    yield output
        except Exception as callback_error:  # noqa: BLE001  # it comes after what the callback had yielded
            error = callback_error
        while held:
            await held.wait()
            for link in self._passing(held.released(), response):
                yield link
        if error is not None:
            raise error

    # Which links are judged, and how.

    def _judges(self, link: Request) -> bool:
        """Whether *link* is judged here; all others are left to the gate."""
        if link.dont_filter or link.meta.get("is_start_request") or has_errback(link, self._crawler.spider):
            return False
        extension = self._extension
        return extension.registry.state_to_ask(link) is not None and extension.judges(link)

    def _passing(self, links: Iterable[Request], response: Response) -> Iterator[Request]:
        return (link for link in links if self._passes(link, response))

    def _passes(self, link: Request, response: Response) -> bool:
        """Whether *link* goes on to the scheduler, as it does if its robots.txt is unknown; report it if not."""
        try:
            robots = self._extension.registry.current(self._extension.targets.of(link))
            decision = self._extension.decide(robots, link) if robots is not None else None
        except Exception as error:  # noqa: BLE001  # the gate fails closed
            self._log_failure(link, error)
            return True
        if decision is None or decision.verdict.reason is not Reason.RULE:
            return True
        if decision.outcome is Outcome.REPORTED:
            self._crawler.stats.inc_value("rep/links/reported_count")
        if decision.is_forbidden:
            self._drop(link, decision, response)
        return not decision.is_forbidden

    def _drop(self, link: Request, decision: Decision, response: Response) -> None:
        origin = Origin.from_url(self._extension.targets.of(link))
        account = self._extension.account
        account.report.filtered.add(origin, decision)
        if account.audit is not None:
            account.audit.dropped("link", str(origin), str(decision.verdict.rule))
        self._crawler.stats.inc_value("rep/links/filtered_count")
        logger.debug(
            "Link not followed, forbidden by robots.txt: %(request)s (%(why)s)",
            {"request": self._extension.targets.name(link), "why": decision.why},
            extra={"spider": self._crawler.spider},
        )
        self._crawler.signals.send_catch_log(
            signal=link_filtered, request=link, verdict=decision.verdict, response=response
        )

    # How an unknown robots.txt becomes known.

    def _origin_to_await(self, link: Request) -> Origin | None:
        """The origin whose robots.txt *link* has to wait for, or None if it does not wait."""
        if not self._fetches:
            return None
        extension = self._extension
        is_known = extension.registry.current(extension.targets.of(link)) is not None
        state = extension.registry.state_to_ask(link)
        if is_known or state is None or extension.registry.mode(link) is not Mode.OBEY:
            return None
        return state.origin if extension.registry.downloads < MAX_DOWNLOADS else None

    def _log_failure(self, link: Request, error: Exception) -> None:
        if not self._has_failed:
            self._has_failed = True
            logger.error(
                "REP_FILTER_LINKS: %s cannot be judged (%s). It passes, as do all links that fail this way, and is"
                " judged when it is about to start", self._extension.targets.name(link), describe(error),
                exc_info=error, extra={"spider": self._crawler.spider},
            )  # fmt: skip


class _HeldLinks:
    """The links of one response that wait until the robots.txt of their origin is known.

    There is one look-up for each origin. A crawl that closes releases all links.
    """

    def __init__(
        self,
        crawler: Crawler,
        look_up: Callable[[Request, Callable[[], None], Callable[[], int]], None],
    ) -> None:
        """*look_up* gets what to call at its end, which may be at once, and what counts the links that wait."""
        self._engine = Crawl.of(crawler).engine
        self._look_up = look_up
        self._waiting: dict[Origin, list[Request]] = {}
        self._released: list[Request] = []
        self._wake: Deferred[None] | None = None

    def add(self, origin: Origin, link: Request) -> None:
        """Hold *link* until the robots.txt of *origin* has been looked up."""
        if origin in self._waiting:
            self._waiting[origin].append(link)
        else:
            links = self._waiting[origin] = [link]
            self._look_up(link, partial(self._release, origin), links.__len__)

    def released(self) -> list[Request]:
        """The links that wait no longer, each once, in the order in which their look-ups ended."""
        released, self._released = self._released, []
        return released

    async def wait_for_capacity(self) -> None:
        """Wait while as many links as allowed are held, until one is released."""
        if len(self._waiting) >= MAX_ORIGINS or len(self) >= MAX_LINKS:
            await self.wait()

    async def wait(self) -> None:
        """Wait until a link is released, if any is held."""
        while self._waiting and not self._released:
            self._wake = Deferred()
            timer = call_later(CLOSING_CHECK, self._resume)
            await maybe_deferred_to_future(self._wake)
            timer.cancel()
            if self._engine.is_closing:
                for origin in list(self._waiting):
                    self._release(origin)

    def _release(self, origin: Origin) -> None:
        self._released += self._waiting.pop(origin, ())
        self._resume()

    def _resume(self) -> None:
        if self._wake is not None:
            wake, self._wake = self._wake, None
            wake.callback(None)

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values())) + len(self._released)
