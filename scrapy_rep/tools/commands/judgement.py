"""What a crawl makes of a URL: whether its gate lets a request for it pass, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import Request

from scrapy_rep.exceptions import ForbiddenByRobots, InvalidSettingError
from scrapy_rep.gate.middleware import RepMiddleware
from scrapy_rep.policy.meta import META_KEY
from scrapy_rep.policy.policy import Outcome
from scrapy_rep.runtime.log import describe

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class Judgement(NamedTuple):
    """Whether a request ``passes`` the gate, and ``why``."""

    passes: bool
    why: str


class Judge:
    """Asks the gate of the running crawl of *crawler*, as the crawl itself does, and sends no page's request."""

    def __init__(self, crawler: Crawler) -> None:
        """Raises `InvalidSettingError` when robots.txt is obeyed, but not by our gate."""
        self._gate = crawler.get_downloader_middleware(RepMiddleware)
        if self._gate is None and crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise InvalidSettingError(
                'the settings enable no scrapy_rep.RepMiddleware: set ADDONS = {"scrapy_rep.Addon": 300}'
            )

    async def judge(self, url: str) -> Judgement:
        """The judgement on a request for *url*; waits for its robots.txt."""
        request = Request(url)
        try:
            judging = self._gate.process_request(request) if self._gate is not None else None
            if judging is not None:
                await judging
        except ForbiddenByRobots as error:
            cause = f" ({error.__cause__})" if error.__cause__ else ""
            return Judgement(False, f"{error}{cause}")
        except Exception as error:  # noqa: BLE001  # the request would fail with it, as REP_UNREACHABLE may ask for
            return Judgement(False, describe(error))
        return Judgement(True, _why_it_passes(request.meta.get(META_KEY)))


def _why_it_passes(stamp: Mapping[str, Any] | None) -> str:
    """The rule in *stamp*, or what stands in its place."""
    if not stamp or not stamp["reason"]:
        return "robots.txt is not asked"
    line = f"line {stamp['line']}, " if stamp["line"] else ""
    decided, exception = f"{line}{stamp['rule'] or stamp['reason']}", stamp["exception"]
    if stamp["verdict"] == Outcome.ALLOWED:
        return decided
    until = f" (until {exception['until']}: {exception['reason']})" if exception else ""
    return f"{stamp['verdict']}, {decided}{until}"
