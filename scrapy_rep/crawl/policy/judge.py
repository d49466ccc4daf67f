"""`Judge`: which requests ask for a robots.txt, and what is decided about them.

The one place where a verdict of `robots` meets what the owner of the crawl decided. It adds to the pure `decide`
what that leaves out: the crawl's settings, its clock, and the events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scrapy_rep.clock import clock
from scrapy_rep.crawl.policy.meta import DONT_OBEY, FETCH, is_exempt
from scrapy_rep.crawl.policy.policy import ASKS, SENT_ANYWAY, Decision, Mode, Policy, decide
from scrapy_rep.protocol import SCHEMES
from scrapy_rep.settings import asks_for_delays

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_rep.crawl.policy.exceptions import PolicyException
    from scrapy_rep.crawl.robots.origins import OriginState, SingleFlight
    from scrapy_rep.crawl.robots.registry import Registry
    from scrapy_rep.crawl.robots.robots import Robots
    from scrapy_rep.crawl.runtime.crawl import Crawl
    from scrapy_rep.protocol import Verdict

_SPECIAL: Final = frozenset({DONT_OBEY, FETCH})
"""Meta keys of requests that ask more, or less, than those without."""


class Judge:
    """Decides about the requests of one crawl, by its *policy* and the robots.txt files in *registry*."""

    def __init__(self, crawl: Crawl, registry: Registry, policy: Policy) -> None:
        self.registry, self.policy = registry, policy
        self._crawl, self._targets, self._events = crawl, crawl.targets, crawl.events
        self._asks_for_delays = asks_for_delays(crawl.crawler.settings)
        self._is_plain = crawl.targets.is_plain and policy.default is Mode.OBEY and not policy.has_modes

    # Which requests ask.

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
        return mode in ASKS or (self._asks_for_delays if mode is Mode.OFF else self._crawl.keeps_delays)

    def asks_rules(self, request: Request) -> bool:
        """Whether the rules of robots.txt are asked about *request*, whatever follows from them."""
        return not is_exempt(request) and self.mode(request) in ASKS

    def state_to_ask(self, request: Request) -> OriginState | None:
        """The state of the origin whose robots.txt must be known before *request* starts; None if none must be.

        None also for a URL without a usable host, which the gate rejects.
        """
        try:
            if not (self._is_plain and _SPECIAL.isdisjoint(request.meta)) and not self.asks(request):
                return None
            return self.registry.origins.at(self._targets.of(request)) if self._crawl.has_gate else None
        except ValueError:
            return None

    def _waits(self, request: Request) -> bool:
        """Whether *request* waits for further attempts at its robots.txt: not if it is sent anyway."""
        return self._is_plain or self.policy.mode(self._targets.of(request)) not in SENT_ANYWAY

    async def wait_for(self, request: Request) -> Robots:
        """As `Registry.wait_for`."""
        return await self.registry.wait_for(request, waits=self._waits(request))

    def flight(self, state: OriginState, cause: Request) -> SingleFlight[Robots]:
        """As `Registry.flight`."""
        return self.registry.flight(state, cause, waits=self._waits(cause))

    # What is decided.

    def decide(self, robots: Robots, request: Request, url: str | None = None) -> Decision:
        """What becomes of *request* by the rules of *robots*, under the modes and exceptions of this crawl.

        *url* is another URL than its own, under which it may be sent.
        """
        url = url or self._targets.of(request)
        mode = Mode.IGNORE if is_exempt(request) else self.policy.mode(url)
        if mode not in ASKS:
            return decide(None, url, mode, self.policy, 0.0)
        return self.decide_by(robots.verdict(self._crawl.product_tokens.of(request), url), url, mode)

    def decide_by(self, verdict: Verdict, url: str, mode: Mode) -> Decision:
        """What becomes of a request for *url*, whose site has this *mode*, by a given *verdict*."""
        decision = decide(verdict, url, mode, self.policy, clock.time())
        if self.policy.has_exceptions:
            if decision.lapsed is not None:
                self._events.lapsed.send(decision.lapsed, verdict)
            self._report_expired()
        return decision

    def delay_exception(self, request: Request) -> PolicyException | None:
        """The exception that lifts the Crawl-delay for *request*, or None."""
        if not self.policy.has_exceptions:
            return None
        found = self.policy.delay_exception(self._targets.of(request), clock.time())
        self._report_expired()
        return found

    def has_no_delay(self, request: Request) -> bool:
        """Whether delays do not apply to *request*: it does not obey robots.txt, or an exception covers it."""
        return is_exempt(request) or self.delay_exception(request) is not None

    def _report_expired(self) -> None:
        expired = self.policy.exceptions.expired
        while expired:
            self._events.expired.send(expired.pop(0))

    def forbids(self, request: Request) -> bool:
        """Whether the robots.txt in memory forbids *request*; False if there is none. Never raises."""
        try:
            robots = self.registry.current(self._targets.of(request))
            return robots is not None and self.decide(robots, request).is_forbidden
        except Exception:  # noqa: BLE001  # a parser back-end failed; it fails again in the gate, with the request
            return False

    def __repr__(self) -> str:
        return f"<Judge {self.policy!r} {self.registry!r}>"
