"""Show how long a crawl takes, at the delays that the robots.txt files of its sites ask for.

    scrapy robots forecast SITE… [--pages N] [--within DURATION] [--workers N] [--spider NAME] [--json]
    scrapy robots forecast --urls FILE [--within DURATION] [--workers N] [--spider NAME] [--json]

SITE is an origin, any URL of it, or a bare host. Its robots.txt and the sitemaps that it names are fetched as in a
crawl of the project, and the pages that the project's product tokens may request are counted, once for each time
that a sitemap lists them. --pages says instead how many each SITE has, --urls lists them in a file, one per line
(- is standard input). --spider adds the custom_settings of a spider. Origins are crawled side by side, so the
slowest one decides. --within says how much fits in 90m, 24h or 2d. --json prints one object per origin, and one
for all of them, whose origin is null. Exits with 0, with 1 when not everything fits, with 2 when something could
not be counted.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from scrapy_rep.clock import clock
from scrapy_rep.crawl.robots.stores.sqlite import path_of_store
from scrapy_rep.crawl.runtime.product_tokens import tokens_of
from scrapy_rep.protocol.display import duration, iso_time, number_of, shown
from scrapy_rep.settings import RepSettings
from scrapy_rep.tools.answers import delay_text, hold_text, time_text
from scrapy_rep.tools.forecast import Fleet, Forecast, OriginForecast, seconds_of, side_by_side

from . import FAILED, FOUND, OK
from .crawl_runner import ABOVE_SHELL_DEFAULTS, with_spider
from .inputs import InputError, origin_of, read_lines
from .parser import argument, at_least_one
from .terminal import Progress, paint, print_error

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from scrapy_rep.crawl.policy.policy import Decision
    from scrapy_rep.crawl.robots.robots import Robots

    from .fetching import CrawlFetcher


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    parser.add_argument("sites", nargs="*", metavar="SITE", help="an origin, a URL of it, or a host")
    parser.add_argument("--urls", metavar="FILE", help="count the URLs in this file; - is standard input")
    parser.add_argument(
        "--pages", metavar="N", type=at_least_one("pages"), help="assume this many pages for each SITE"
    )
    parser.add_argument(
        "--within",
        metavar="DURATION",
        type=argument(seconds_of),
        help="the time for the crawl, such as 90m, 24h or 2d",
    )
    parser.add_argument(
        "--workers",
        metavar="N",
        type=at_least_one("processes"),
        default=1,
        help="processes that crawl together (default: %(default)s)",
    )
    parser.add_argument("--spider", metavar="NAME", help="forecast a crawl of this spider")
    parser.add_argument("--json", action="store_true", help="print one JSON object per origin, and one for all")


def run(arguments: Namespace, settings: BaseSettings, out: IO[str]) -> int:
    """Run the command; return the exit code."""
    settings = with_spider(settings, arguments.spider)
    parsed = RepSettings.from_settings(settings)
    settings.set("REP_BACKOFF", value=True, priority=ABOVE_SHELL_DEFAULTS)
    from .crawl_policy import CrawlPolicy  # noqa: PLC0415  # as below
    from .fetching import crawl  # noqa: PLC0415  # loads a whole crawl, which --help does not need
    from .page_count import DelayReader, PageCount  # noqa: PLC0415

    if bool(arguments.sites) is bool(arguments.urls) or (arguments.urls and arguments.pages):
        raise InputError("name SITEs, with or without --pages, or a file of URLs with --urls")
    origins = list(dict.fromkeys(map(origin_of, arguments.sites)))
    tokens, policy, progress = tokens_of(settings), CrawlPolicy(settings), Progress(sys.stderr)
    delays = DelayReader(settings, tokens, arguments.workers)
    counts: list[PageCount] = []
    problems: list[int] = []

    def decide(robots: Robots, url: str, is_sitemap: bool) -> Decision:
        return policy.decide_by(robots, tokens, url, is_sitemap=is_sitemap)

    def report(problem: str) -> None:
        progress.clear()
        problems.append(print_error("forecast", problem))

    async def work(fetcher: CrawlFetcher) -> None:
        count = PageCount(fetcher, decide, delays, report, progress)
        if arguments.urls:
            await count.count_urls(read_lines(arguments.urls))
        elif arguments.pages:
            await count.assume(origins, arguments.pages)
        else:
            await count.count(origins)
        if not fetcher.is_closing:
            counts.append(count)

    crawl(settings, work)
    if not counts:  # Ctrl-C ended the crawl
        return FAILED
    forecast, within = side_by_side(counts[0].origins()), arguments.within
    path = path_of_store(parsed) if parsed.store == "sqlite" else None
    fleet = Fleet(arguments.workers, bool(parsed.redis_url), str(path or ""))
    out.writelines(_as_json(forecast, within, fleet) if arguments.json else _as_text(forecast, within, fleet, out))
    is_short = within is not None and forecast.fitting(within) < (forecast.pages or 0)
    return FAILED if problems else FOUND if is_short else OK


def _as_text(forecast: Forecast, within: float | None, fleet: Fleet, out: IO[str]) -> Iterator[str]:
    for each in forecast.origins:
        yield paint(shown(each.origin), "strong", out) + "\n"
        yield _row("pages", _pages(each))
        yield _row("delay", _delay(each, fleet))
        if each.held:
            yield _row("back-off", hold_text(each.held))
        yield from _durations(each, within)
    if len(forecast.origins) > 1:
        yield paint(f"all {len(forecast.origins)} origins, side by side", "strong", out) + "\n"
        yield _row("pages", "unknown" if forecast.pages is None else f"{_at_least(forecast)}{forecast.pages:,}")
        yield from _durations(forecast, within)
    if fleet.workers > 1 and any(each.pace.origin for each in forecast.origins):
        yield _row(f"{fleet.workers} workers", fleet.note)


def _row(name: str, text: str) -> str:
    return f"{name:<13}{text}\n"


def _at_least(forecast: Forecast | OriginForecast) -> str:
    return "at least " if forecast.error else ""


def _pages(origin: OriginForecast) -> str:
    if origin.pages is None:
        return f"unknown: {shown(origin.error)}"
    text = f"{_at_least(origin)}{origin.pages:,}"
    if origin.sitemaps or origin.unread:
        text += f", in {number_of(origin.sitemaps, 'sitemap', 'sitemaps')}"
    more = [f"{origin.disallowed:,} more are disallowed"] if origin.disallowed else []
    more += [f"{number_of(origin.unread, 'sitemap', 'sitemaps')} not followed"] if origin.unread else []
    return "; ".join([text, *more])


def _delay(origin: OriginForecast, fleet: Fleet) -> str:
    pace = origin.pace
    if not pace.seconds and origin.pages is None:
        return "unknown"
    if not pace.seconds:
        return "none asked for: the duration depends on the server, and on CONCURRENT_REQUESTS_PER_DOMAIN"
    source = f"{pace.source}, line {pace.line}" if pace.line else pace.source
    if pace.origin not in {"", origin.origin}:
        source += f" of {pace.origin}"
    if not pace.origin and fleet.workers > 1:
        source += f", {pace.asked:g} s in each of {fleet.workers} workers"
    elif pace.asked > pace.seconds:
        source += f", asks for {pace.asked:g} s; REP_CRAWL_DELAY_MAX cuts it"
    return f"{delay_text(pace.seconds)}: {source}"


def _durations(forecast: Forecast | OriginForecast, within: float | None) -> Iterator[str]:
    seconds = forecast.seconds
    if seconds is None:
        yield _row("duration", "unknown")
        return
    until = f"until {time_text(clock.time() + seconds)} if it starts now"
    yield _row("duration", f"{_at_least(forecast)}{duration(seconds)}, {until}")
    fitting, pages = forecast.fitting(within or 0.0), forecast.pages or 0
    if within is not None and not (forecast.error and fitting == pages):
        part = "all pages" if fitting == pages else f"{fitting:,} of {pages:,} pages, {_percent(fitting / pages)}"
        yield _row("within", f"{duration(within)}: {part}")


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%" if 0.01 <= share < 0.995 else "less than 1%" if share < 0.5 else "over 99%"


def _as_json(forecast: Forecast, within: float | None, fleet: Fleet) -> Iterator[str]:
    for each in forecast.origins:
        pace = each.pace
        facts = {
            "origin": each.origin, **_facts(each, within),
            "disallowed": each.disallowed, "sitemaps": each.sitemaps, "sitemaps_not_followed": each.unread,
            "delay": pace.seconds or None, "delay_asked": pace.asked or None, "delay_source": pace.source or None,
            "delay_line": pace.line or None, "delay_origin": pace.origin or None,
            "backoff": round(each.held, 3) or None,
        }  # fmt: skip
        yield json.dumps(facts) + "\n"
    shared_by = "redis" if fleet.redis else "file" if fleet.file else None
    everything = {
        "origin": None,
        **_facts(forecast, within),
        "workers": fleet.workers,
        "delay_shared_by": shared_by,
    }
    yield json.dumps(everything) + "\n"


def _facts(forecast: Forecast | OriginForecast, within: float | None) -> dict[str, Any]:
    seconds = forecast.seconds
    fitting = None if within is None or seconds is None or forecast.error else forecast.fitting(within)
    return {
        "pages": forecast.pages,
        "error": forecast.error or None,
        "seconds": None if seconds is None else round(seconds, 3),
        "ends_at": None if seconds is None else iso_time(clock.time() + seconds),
        "within": within,
        "fitting": fitting,
    }
