"""Show how long a crawl takes at the Crawl-delays of its sites.

SITE is an origin, any URL of it, or a host. Fetches its robots.txt and the sitemaps that it names, as a crawl of
the project would, and counts the pages that the project may request, once per sitemap that lists them. Origins
are crawled in parallel, so the slowest one decides.

Exits with 0, 1 if not everything fits in the time of --within, 2 if something could not be counted.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from scrapy_rep.clock import clock
from scrapy_rep.protocol.display import duration, iso_time, number_of, shown
from scrapy_rep.tools.answers import delay_text, hold_text, time_text
from scrapy_rep.tools.forecast import OriginForecast, seconds_of, side_by_side

from . import FAILED, FOUND, OK
from .crawl_runner import ABOVE_SHELL_DEFAULTS, with_spider
from .inputs import InputError, origin_of, read_lines
from .parser import add_shared, argument, at_least_one
from .terminal import Progress, labelled, paint, print_error

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from .fetching import CrawlFetcher
    from .page_count import PageCount


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    add = parser.add_argument
    add("sites", nargs="*", metavar="SITE", help="an origin, a URL of it, or a host")
    add("--urls", metavar="FILE", help="count the URLs in this file; - is standard input")
    add("--pages", metavar="N", type=at_least_one("pages"), help="assume this many pages for each SITE")
    add(
        "--within",
        metavar="DURATION",
        type=argument(seconds_of),
        help="show how many pages fit in this time, such as 90m, 24h or 2d",
    )
    add_shared(
        parser, spider="forecast a crawl of this spider", json="print an object per origin, and one for all"
    )


def run(arguments: Namespace, settings: BaseSettings, out: IO[str]) -> int:
    """Run the command; return the exit code."""
    settings = with_spider(settings, arguments.spider)
    settings.set("REP_BACKOFF", value=True, priority=ABOVE_SHELL_DEFAULTS)
    from .fetching import crawl  # noqa: PLC0415  # loads a whole crawl, which --help does not need
    from .page_count import PageCount  # noqa: PLC0415

    if bool(arguments.sites) is bool(arguments.urls) or (arguments.urls and arguments.pages):
        raise InputError("name SITEs, with or without --pages, or a file of URLs with --urls")
    origins = list(dict.fromkeys(map(origin_of, arguments.sites)))
    progress = Progress(sys.stderr)
    counts: list[PageCount] = []
    problems: list[int] = []

    async def work(fetcher: CrawlFetcher) -> None:
        count = PageCount(
            fetcher, settings, lambda problem: problems.append(print_error("forecast", problem)), progress
        )
        if arguments.urls:
            await count.count_urls(read_lines(arguments.urls))
        elif arguments.pages:
            await count.assume(origins, arguments.pages)
        else:
            await count.count(origins)
        if not fetcher.is_closing:
            counts.append(count)

    crawl(settings, work)
    progress.clear()
    if not counts:  # Ctrl-C ended the crawl
        return FAILED
    within = arguments.within
    *each, together = side_by_side(counts[0].origins, within)
    lines = _as_json(each, together, within) if arguments.json else _as_text(each, together, within, out)
    out.writelines(f"{line}\n" for line in lines)
    return FAILED if problems else FOUND if together.fitting < together.pages else OK


def _as_text(
    origins: list[OriginForecast], together: OriginForecast, within: float | None, out: IO[str]
) -> Iterator[str]:
    for each in origins:
        yield paint(shown(each.origin), "strong", out)
        sections = [("pages", [_pages(each)]), ("delay", [_delay(each)])]
        sections += [("back-off", [hold_text(each.held)])] if each.held else []
        yield from labelled([*sections, *_durations(each, within)], out)
    if len(origins) > 1:
        yield paint(f"all {len(origins)} origins, side by side", "strong", out)
        pages = f"{_at_least(together)}{together.pages:,}" if together.is_known else "unknown"
        yield from labelled([("pages", [pages]), *_durations(together, within)], out)


def _at_least(forecast: OriginForecast) -> str:
    return "at least " if forecast.error else ""


def _pages(origin: OriginForecast) -> str:
    if not origin.is_known:
        return f"unknown: {shown(origin.error)}"
    text = f"{_at_least(origin)}{origin.pages:,}"
    if origin.sitemaps or origin.unread:
        text += f", in {number_of(origin.sitemaps, 'sitemap', 'sitemaps')}"
    more = [f"{origin.disallowed:,} more are disallowed"] if origin.disallowed else []
    more += [f"{number_of(origin.unread, 'sitemap', 'sitemaps')} not followed"] if origin.unread else []
    return "; ".join([text, *more])


def _delay(origin: OriginForecast) -> str:
    pace = origin.pace
    if not pace.seconds:
        none = "none asked for: the duration depends on the server, and on CONCURRENT_REQUESTS_PER_DOMAIN"
        return none if origin.is_known else "unknown"
    source = f"{pace.source}, line {pace.line}" if pace.line else pace.source
    if pace.origin not in {"", origin.origin}:
        source += f" of {pace.origin}"
    if pace.asked > pace.seconds:
        source += f", asks for {pace.asked:g} s; REP_CRAWL_DELAY_MAX cuts it"
    return f"{delay_text(pace.seconds)}: {source}"


def _durations(forecast: OriginForecast, within: float | None) -> Iterator[tuple[str, list[str]]]:
    seconds = forecast.seconds
    if seconds is None:
        yield "duration", ["unknown"]
        return
    until = f"until {time_text(clock.time() + seconds)} if it starts now"
    yield "duration", [f"{_at_least(forecast)}{duration(seconds)}, {until}"]
    fitting, pages = forecast.fitting, forecast.pages
    if within is not None and not (forecast.error and fitting == pages):
        part = "all pages" if fitting == pages else f"{fitting:,} of {pages:,} pages, {_percent(fitting / pages)}"
        yield "within", [f"{duration(within)}: {part}"]


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%" if 0.01 <= share < 0.995 else "less than 1%" if share < 0.5 else "over 99%"


def _as_json(origins: list[OriginForecast], together: OriginForecast, within: float | None) -> Iterator[str]:
    for each in origins:
        pace = each.pace
        facts = {
            "origin": each.origin, **_facts(each, within),
            "disallowed": each.disallowed, "sitemaps": each.sitemaps, "sitemaps_not_followed": each.unread,
            "delay": pace.seconds or None, "delay_asked": pace.asked or None, "delay_source": pace.source or None,
            "delay_line": pace.line or None, "delay_origin": pace.origin or None,
            "backoff": round(each.held, 3) or None,
        }  # fmt: skip
        yield json.dumps(facts)
    yield json.dumps({"origin": None, **_facts(together, within)})


def _facts(forecast: OriginForecast, within: float | None) -> dict[str, Any]:
    seconds = forecast.seconds
    fitting = None if within is None or seconds is None or forecast.error else forecast.fitting
    return {
        "pages": forecast.pages if forecast.is_known else None,
        "error": forecast.error or None,
        "seconds": None if seconds is None else round(seconds, 3),
        "ends_at": None if seconds is None else iso_time(clock.time() + seconds),
        "within": within,
        "fitting": fitting,
    }
