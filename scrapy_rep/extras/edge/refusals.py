"""Count and stamp refusals by status of pages that robots.txt allows; with ``"obey"``, skip such sites.

A single 403 says nothing about a site. Three in a row at different URLs do, unless a request made after the first
gets a good answer. A request sent before may still get one, which proves nothing.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from scrapy import signals
from scrapy.http import Response

from scrapy_rep.clock import clock
from scrapy_rep.crawl.policy.meta import META_KEY, is_stamp
from scrapy_rep.crawl.policy.policy import Decision, forbidden_for, is_exempt
from scrapy_rep.crawl.robots.request import is_robots_txt
from scrapy_rep.directives.refusals import HEADERS, STATUSES, Refusal, read_refusal
from scrapy_rep.exceptions import ForbiddenByRobots
from scrapy_rep.extras.topics import ExtraTopic
from scrapy_rep.protocol import Origin, Reason
from scrapy_rep.protocol.access import Via
from scrapy_rep.protocol.display import number_of

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_rep.crawl.robots.robots import Robots
    from scrapy_rep.crawl.runtime.crawl import Crawl

logger = logging.getLogger(__name__)

ENOUGH: Final = 3
"""Refusals of different URLs in a row after which the pages of a site are skipped."""

_NAMED: Final = 5  # sites in the summary
_ADVICE: Final = '. REP_REFUSED = "obey" skips the pages of a site that refuses three in a row'
_READ: Final = {name.title().encode(): name for name in HEADERS}  # as Scrapy spells keys
_OF_PAGES: Final = "authentication"  # this kind asks for a login, perhaps for only a part of a site


class Refusals:
    """The refusals of one crawl (``REP_REFUSED``)."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl, self._stats, self._events = crawl, crawl.stats, crawl.events
        self._obeys = crawl.settings.refused == "obey"
        self._most = crawl.settings.memory_entries
        # By origin, for the last ``memory_entries`` origins.
        self._counts: Counter[str] = Counter()
        self._pending: dict[str, tuple[float, set[str]]] = {}  # start (monotonic) and URLs of each row
        self._skipped: dict[Origin, Refusal] = {}
        self._of_robots_txt: dict[str, Refusal] = {}  # by the URL that was refused
        self._total = self._sites = 0
        crawl.events.opened.subscribe(self._opened)
        if self._obeys:
            crawl.events.deciding.subscribe(self._decide)

    def _opened(self) -> None:
        self._events.outcome.subscribe(self._answered)
        self._answers = self._crawl.downloader.tell(STATUSES)
        self._crawl.crawler.signals.connect(self._close, signal=signals.spider_closed)

    def of_robots_txt(self, url: str, status: int | None) -> Refusal | None:
        """The refusal of the robots.txt at *url*; by its *status* alone if this crawl did not fetch it."""
        return self._of_robots_txt.get(url) or (read_refusal(status, {}) if status else None)

    def _answered(self, request: Request, began: float, outcome: Response | Exception) -> None:
        """Note an answer that refuses *request*, which started at *began*, or that ends a row of refusals."""
        if not isinstance(outcome, Response) or (outcome.status not in STATUSES and not self._pending):
            return
        try:
            target = self._crawl.targets.of(request)
        except ValueError:  # the URL of a service does not reveal the target
            return
        refusal = self.of(request, outcome)
        if refusal is None:
            if outcome.status < 400 and self._pending and not is_robots_txt(request):
                self._end_row(str(Origin.find(target)), began)
            return
        self._events.refused.send(request, refusal)
        if is_robots_txt(request):
            _keep(self._of_robots_txt, target, refusal, self._most)
        elif (origin := Origin.find(target)) is not None:
            self._refused(request, origin, target, refusal)

    def of(self, request: Request, response: Response) -> Refusal | None:
        """The site's refusal of *request* in *response*; None without one, or if the carrier refused."""
        via = Via.PROXY if request.meta.get("proxy") else Via.NOBODY
        if self._crawl.targets.of(request) is not request.url:
            via = Via.SERVICE
        keys = response.headers.keys() & _READ.keys()
        said = {_READ[key]: b", ".join(response.headers.getlist(key)).decode("latin-1") for key in keys}
        return read_refusal(response.status, said, via)

    def _refused(self, request: Request, origin: Origin, url: str, refusal: Refusal) -> None:
        """Count and stamp the refusal of the page at *url* by *origin*; skip its pages after enough refusals."""
        inc, site = self._stats.inc_value, str(origin)
        inc("rep/refused/response_count")
        inc(f"rep/refused/status_count/{refusal.status}")
        inc(f"rep/refused/kind_count/{refusal.kind}")
        stamp: Any = request.meta.get(META_KEY)
        if is_stamp(stamp):
            stamp["refused"] = asdict(refusal)
        if site not in self._counts:
            self._sites += 1
            inc("rep/refused/origin_count")
            is_allowed = is_stamp(stamp) and stamp["verdict"] == "allowed"
            self._crawl.log.add(
                ExtraTopic.REFUSED, "%s refused %s (%s)%s%s", site, self._crawl.targets.name(request), refusal,
                ", which robots.txt allows" if is_allowed else "",
                "" if self._obeys or refusal.kind == _OF_PAGES else _ADVICE,
            )  # fmt: skip
        self._total += 1
        _keep(self._counts, site, self._counts[site] + 1, self._most)
        if self._obeys and refusal.kind != _OF_PAGES and origin not in self._skipped:
            self._count(origin, url, refusal)

    def _count(self, origin: Origin, url: str, refusal: Refusal) -> None:
        since, urls = self._pending.get(str(origin)) or (clock.monotonic(), set())
        urls.add(url)
        _keep(self._pending, str(origin), (since, urls), self._most)
        if len(urls) >= ENOUGH:
            del self._pending[str(origin)]
            if not self._skipped:
                self._crawl.downloader.wrap_send(self._send)
            _keep(self._skipped, origin, refusal, self._most)
            self._crawl.log.add(
                ExtraTopic.SKIPPED,
                "%s refused %d pages in a row, the last with %s; skipping its other pages in this run."
                ' REP_REFUSED = "report" requests them', origin, ENOUGH, refusal,
            )  # fmt: skip
        self._hear()

    async def _send(self, send: Callable[[Request], Awaitable[Response]], request: Request) -> Response:
        """Send *request*, unless its site is skipped.

        Requests that passed the gate earlier may wait in Scrapy's download slots, and some bypass the gate.
        """
        if is_exempt(request) or not self._is_skipped(request, url := self._crawl.targets.of(request)):
            return await send(request)
        self._stats.inc_value("rep/refused/skipped_count")
        raise ForbiddenByRobots(Origin.from_url(url), forbidden_for(Reason.REFUSED))

    def _is_skipped(self, request: Request, url: str) -> bool:
        """Whether to skip *request* for *url*; requests exempt from robots.txt are made."""
        return not (is_exempt(request) or is_robots_txt(request)) and Origin.find(url) in self._skipped

    def _end_row(self, site: str, began: float) -> None:
        """End the row of *site* after a good answer, unless its request *began* before the first refusal."""
        row = self._pending.get(site)
        if row is not None and began > row[0]:
            del self._pending[site]
            self._hear()

    def _hear(self) -> None:
        """Listen to good answers, each of which costs a call, only while there is a row that they may end."""
        (self._answers.eager.add if self._pending else self._answers.eager.discard)(self)

    def _decide(self, decision: Decision, request: Request, robots: Robots, url: str) -> Decision:  # noqa: ARG002
        """*decision* on *request* for *url*, or a refusal if its site is skipped."""
        if not self._skipped or decision.is_forbidden or not self._is_skipped(request, url):
            return decision
        return Decision.forbidden(decision.mode, Reason.REFUSED)

    def _close(self) -> None:
        if self._total:
            most = self._counts.most_common(_NAMED)
            named = ", ".join(f"{site} {number_of(count, 'time', 'times')}" for site, count in most)
            pages, sites = number_of(self._total, "page", "pages"), number_of(self._sites, "site", "sites")
            logger.info("%s refused %s by status; most often %s.", sites, pages, named)


def _keep(by_name: dict[Any, Any], name: Any, value: Any, most: int) -> None:
    """Keep *value* under *name*; drop the oldest of more than *most* names."""
    by_name[name] = value
    if len(by_name) > most:
        del by_name[next(iter(by_name))]
