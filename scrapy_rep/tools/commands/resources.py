"""Show which resources of a page robots.txt blocks for a crawler that renders it.

Fetches the page and the robots.txt of each host that serves its style sheets, scripts, images and other files.
Fetches nothing else, so it cannot know what scripts and style sheets load. Requests the page once, at the pace of
the crawl, if robots.txt allows it to the crawler and the project, and follows up to five redirects the same way.
Prints a line per resource, blocked ones first.

Exits with 0 if the crawler may load all resources, 1 if it may not load one of them or the page, 2 if the page or
a robots.txt cannot be read.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import IO, TYPE_CHECKING, Final

from scrapy_rep.directives.html import is_html
from scrapy_rep.protocol import Origin
from scrapy_rep.protocol.display import number_of, shown
from scrapy_rep.tools.resources import LoadedAs, Resource, ResourceReport, absolute_url, resources_of

from . import FAILED, FOUND, OK, default_settings
from .inputs import origin_of, token_of, with_scheme
from .parser import add_shared
from .sites import CrawlerRules
from .terminal import Progress, paint, print_error, wrapped

if TYPE_CHECKING:
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from .fetching import CrawlFetcher, FetchedRobots

_WORDS: Final = {True: ("open", "good"), False: ("blocked", "bad"), None: ("unknown", "warning")}
_MOST_ORIGINS: Final = 50
"""Origins of resources whose robots.txt is asked for."""

_MAX_HOPS: Final = 5
"""Redirects that are followed, of a page as of a robots.txt (RFC 9309 section 2.3.1.2)."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    parser.add_argument("url", metavar="URL", help="the page")
    parser.add_argument(
        "--agent",
        metavar="TOKEN",
        default="Googlebot",
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
        reports.append(await _PageCheck(agent, fetcher, progress).report(url))

    try:
        crawl(with_gate(settings or default_settings()), work)
    finally:
        progress.clear()
    (report,) = reports
    _print(report, out, as_json=arguments.json)
    return FAILED if not report.is_complete else FOUND if report.closed else OK


class _PageCheck:
    """Fetches as a crawl of the project does, and asks as the crawler *agent*."""

    def __init__(self, agent: str, fetcher: CrawlFetcher, progress: Progress) -> None:
        self._agent, self._fetcher, self._progress = agent, fetcher, progress

    async def report(self, url: str) -> ResourceReport:
        """Report on the page at *url*, or the one that it redirects to. A blocked page is not requested.

        Resources are sorted: blocked, unknown, open.
        """
        agent, pages = self._agent, await self._judged([Resource(url, LoadedAs.PAGE)])
        while pages[-1].allowed:
            self._progress.show(f"requesting {shown(url)} …", at_once=True)
            fetched = await self._fetcher.fetch_page(url)
            if fetched.response is None:
                return ResourceReport(agent, pages, problem=fetched.problem)
            target = _header(fetched.response, b"Location")
            if not (target and 300 <= fetched.response.status < 400):
                return await self._of_page(fetched.response, url, pages)
            target = absolute_url(url, target)
            if problem := _redirect_problem(url, target, len(pages)):
                return ResourceReport(agent, pages, problem=problem)
            url = target
            pages += await self._judged([Resource(url, LoadedAs.PAGE)])
        return ResourceReport(agent, pages)

    async def _of_page(self, response: Response, url: str, pages: Sequence[Resource]) -> ResourceReport:
        content_type = _header(response, b"Content-Type")
        if not 200 <= response.status < 300:
            return ResourceReport(self._agent, pages, problem=f"HTTP status {response.status}")
        if content_type and not is_html(content_type):
            problem = f"it is not HTML but {content_type.partition(';')[0].strip()}"
            return ResourceReport(self._agent, pages, problem=problem)
        found = resources_of(response.body, url, content_type)
        resources = await self._judged(found.resources)
        resources.sort(key=lambda one: (one.allowed is not False, one.allowed is not None))
        return ResourceReport(self._agent, pages, resources, cut=found.cut)

    async def _judged(self, resources: Sequence[Resource]) -> list[Resource]:
        """The *resources* with what the robots.txt of each origin says about them."""
        by_origin: defaultdict[Origin, list[Resource]] = defaultdict(list)
        for one in resources:
            by_origin[Origin.from_url(one.url)].append(one)
        origins = list(by_origin)[:_MOST_ORIGINS]
        answers: dict[str, Resource] = {}

        def keep(fetched: FetchedRobots) -> None:
            rules = CrawlerRules(fetched.robotstxt, (self._agent,), by_profile=True, fetched=fetched)
            for one in by_origin[fetched.origin]:
                answers[one.url] = one.judged(rules.verdict(one.url), rules.problem)

        number = number_of(len(origins), "robots.txt file", "robots.txt files")
        self._progress.show(f"fetching {number} …", at_once=True)
        await self._fetcher.fetch_each(origins, keep)
        problem = f"at most {_MOST_ORIGINS} hosts are asked for a robots.txt"
        return [answers.get(one.url) or replace(one, reason="not asked", problem=problem) for one in resources]


def _header(response: Response, name: bytes) -> str:
    return (response.headers.get(name) or b"").decode("latin-1")


def _redirect_problem(url: str, target: str, hops: int) -> str:
    """Why the redirect of *url* to *target*, after so many *hops*, is not followed; empty where it is."""
    if not target:
        return "it redirects to no page"
    if hops > _MAX_HOPS:
        return f"it redirects more than {_MAX_HOPS} times"
    return "" if Origin.from_url(url).may_lead_to(target) else f"it redirects to {target}, which is not followed"


def _print(report: ResourceReport, out: IO[str], *, as_json: bool) -> None:
    """Print *report*: the page, a line for each resource, and what that means."""
    for one in (*report.pages, *report.resources):
        line = json.dumps({"agent": report.agent, **asdict(one)}) if as_json else _line(one, out)
        out.write(line + "\n")
    if not as_json:
        out.write(f"\n{wrapped(report.summary, out)}\n")
    elif report.problem or report.cut:  # which no object says
        print_error("resources", report.summary)


def _line(one: Resource, out: IO[str]) -> str:
    word, style = _WORDS[one.allowed]
    where, why = f"line {one.line}" if one.line else one.reason, shown(one.rule or one.problem or "")
    answer = f"{paint(f'{word:<7}', style, out)}  {where:<11}  {one.kind.value:<11}"
    return f"{answer}  {shown(one.url)}{f'  {why}' if why else ''}"
