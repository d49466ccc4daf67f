"""Show whether what a page loads is closed to a crawler that renders it.

Fetches the page, and the robots.txt of each host from which it loads style sheets, scripts, images and other
files; nothing else, so what scripts and style sheets load in turn is not known. The page is requested once, at the
pace of the crawl, if robots.txt allows it to the crawler and to the project; up to five redirects are followed in
the same way. Each resource gets a line, closed ones first.

Exits with 0 when all resources are open to the crawler, 1 when one of them or the page itself is closed, 2 when
the page or a robots.txt cannot be read.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING, Final

from scrapy_rep.protocol.display import number_of, shown
from scrapy_rep.tools.resources import (
    RENDERER,
    Found,
    PageResponse,
    Resource,
    ResourceReport,
    ResourceVerdict,
    check,
    resources_of,
)

from . import FAILED, FOUND, OK, default_settings
from .inputs import origin_of, token_of, with_scheme
from .parser import add_shared
from .sites import CrawlerRules
from .terminal import Progress, paint, print_error, wrapped

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from scrapy_rep.protocol import Origin

    from .fetching import CrawlFetcher, FetchedRobots

_STYLES: Final = {True: "good", False: "bad", None: "warning"}


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    parser.add_argument("url", metavar="URL", help="the page")
    parser.add_argument(
        "--agent",
        metavar="TOKEN",
        default=RENDERER,
        help="the product token or User-Agent header of a crawler that renders pages (default: %(default)s)",
    )
    add_shared(parser, "--json")


def run(arguments: Namespace, settings: BaseSettings | None, out: IO[str]) -> int:
    """Run the command; return the exit code."""
    from .fetching import crawl, with_gate  # noqa: PLC0415  # loads Scrapy

    reports: list[ResourceReport] = []
    progress = Progress(sys.stderr)
    agent, url = token_of(arguments.agent), with_scheme(arguments.url)
    origin_of(url)

    async def work(fetcher: CrawlFetcher) -> None:
        reports.append(await check(url, agent, _CrawlAsker(agent, fetcher, progress)))

    try:
        crawl(with_gate(settings or default_settings()), work)
    finally:
        progress.clear()
    (report,) = reports
    _print(report, out, as_json=arguments.json)
    return FAILED if not report.is_complete else FOUND if report.closed else OK


class _CrawlAsker:
    """Fetches as a crawl of the project does, and asks as the crawler *agent*."""

    def __init__(self, agent: str, fetcher: CrawlFetcher, progress: Progress) -> None:
        self._agent = agent
        self._fetcher = fetcher
        self._progress = progress

    async def answers(self, by_origin: Mapping[Origin, Sequence[str]]) -> dict[str, ResourceVerdict]:
        """Return what the robots.txt of each origin says about its URLs."""
        answers: dict[str, ResourceVerdict] = {}

        def keep(fetched: FetchedRobots) -> None:
            rules = CrawlerRules(fetched.robotstxt, (self._agent,), by_profile=True, fetched=fetched)
            for url in by_origin[fetched.origin]:
                answers[url] = ResourceVerdict.of(rules.verdict(url), rules.problem)

        number = number_of(len(by_origin), "robots.txt file", "robots.txt files")
        self._progress.show(f"fetching {number} …", at_once=True)
        await self._fetcher.fetch_each(by_origin, keep)
        return answers

    async def page(self, url: str) -> PageResponse:
        """Request *url* once."""
        self._progress.show(f"requesting {shown(url)} …", at_once=True)
        fetched = await self._fetcher.fetch_page(url)
        if fetched.response is None:
            return PageResponse(problem=fetched.problem)
        response = fetched.response
        location, content_type = (
            (response.headers.get(name) or b"").decode("latin-1") for name in (b"Location", b"Content-Type")
        )
        return PageResponse.of(url, response.status, location, content_type, response.body)

    async def find(self, page: PageResponse, url: str) -> Found:
        """Return the resources of *page*."""
        return resources_of(page.body, url, page.content_type)


def _print(report: ResourceReport, out: IO[str], *, as_json: bool) -> None:
    """Print *report*: the page, a line for each resource, and what that means."""
    for one in (*report.pages, *report.resources):
        line = json.dumps({"agent": report.agent, **one.as_facts()}) if as_json else _line(one, out)
        out.write(line + "\n")
    if not as_json:
        out.write(f"\n{wrapped(report.summary, out)}\n")
    elif report.problem or report.cut:  # which no object says
        print_error("resources", report.summary)


def _line(one: Resource, out: IO[str]) -> str:
    answer = one.verdict
    word = paint(f"{answer.word:<7}", _STYLES[answer.allowed], out)
    why = shown(answer.rule or answer.problem)
    return f"{word}  {answer.where:<11}  {one.kind.value:<11}  {shown(one.url)}{f'  {why}' if why else ''}"
