"""Responses from another URL than the one that was judged: its robots.txt is asked as well.

A browser, an API or a download handler may follow a redirect itself. One that Scrapy follows becomes a request,
which the gate judges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from scrapy import Request

from scrapy_rep.crawl.policy.meta import is_exempt
from scrapy_rep.crawl.policy.policy import Outcome
from scrapy_rep.crawl.robots.request import is_robots_txt
from scrapy_rep.crawl.runtime.crawl import Crawl
from scrapy_rep.crawl.runtime.log import Topic
from scrapy_rep.exceptions import ForbiddenByRobots
from scrapy_rep.protocol import SCHEMES, Origin

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_rep.crawl.gate.extension import RepExtension

FLAG: Final = "robots:forbidden-url"
"""The flag of a response whose final URL robots.txt forbids."""

_INHERITED: Final = ("proxy", "_auth_proxy", "_scheme_proxy", "bindaddress")  # for the request for robots.txt


class FinalUrl:
    """Judges the URLs that responses come from, in one crawl."""

    def __init__(self, crawler: Crawler, extension: RepExtension) -> None:
        self._stats = crawler.stats
        self._extension = extension
        self._judge = extension.judge
        self._asked = Crawl.of(crawler).events.final_url
        self._targets = extension.targets
        self._drops = extension.settings.forbidden_response == "drop"
        self._log = Crawl.of(crawler).log

    def request_for(self, request: Request, response: Response) -> Request | None:
        """A request for the final URL of *response*; None if there is nothing to judge.

        That is so if the URL is the one that was judged, and if no rules are asked about it.
        """
        if is_exempt(request) or is_robots_txt(request) or response.url == self._targets.of(request):
            return None
        try:
            url = self._asked.ask(request, response) or response.url
            final = self._targets.of(Request(url))
            if _parts(final) == _parts(self._targets.of(request)):
                return None
        except ValueError:  # nothing was fetched from such a URL
            return None
        # The meta of the request is for its own URL: its download slot, what a service is asked for.
        meta: dict[str, Any] = {key: request.meta[key] for key in _INHERITED if key in request.meta}
        asked = Request(final, request.callback, headers=request.headers, meta=meta)
        return asked if self._judge.asks_rules(asked) else None

    async def decide(self, request: Request, response: Response, final: Request) -> Response:
        """Decide about *final*, the request for the final URL of *response*.

        Raises `ForbiddenByRobots` if it is forbidden and ``REP_FORBIDDEN_RESPONSE`` is ``"drop"``.
        """
        extension = self._extension
        robots = await extension.robots(final)
        decision = extension.decide(robots, final)
        is_dropped = self._drops and decision.is_forbidden
        if decision.is_forbidden and not is_dropped:
            decision = decision._replace(outcome=Outcome.REPORTED)
        extension.account.answered(request, final, robots, decision)
        if decision.is_against_rules:
            self._stats.inc_value("rep/response/forbidden_count")
            response.flags.append(FLAG)
            what = "dropped" if is_dropped else "kept"
            self._log.add(
                Topic.DROPPED if is_dropped else Topic.KEPT,
                "%s ended at %s, which robots.txt of %s forbids (%s): the response is %s",
                self._targets.name(request), self._targets.url(final), robots.entry.origin, decision.why, what,
            )  # fmt: skip
        if is_dropped:
            raise ForbiddenByRobots(robots.entry.origin, decision.verdict)
        return response


def _parts(url: str) -> Any:
    """What a robots.txt is chosen by and what its rules see: origin, path and query.

    Raises ``ValueError`` for a URL that has no robots.txt.
    """
    parts = urlsplit(url)
    if parts.scheme not in SCHEMES:
        raise ValueError(parts.scheme)
    return Origin.from_url(url), parts.path or "/", parts.query
