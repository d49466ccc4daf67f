"""Whether the resources of a page are closed to a crawler: fetches within the limits, work in worker processes."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from anyio import current_time

from scrapy_rep.protocol import Origin, Reason
from scrapy_rep.protocol.product_token import asked_token
from scrapy_rep.tools.resources import (
    Found,
    LoadedAs,
    PageResponse,
    Resource,
    ResourceReport,
    ResourceVerdict,
    check,
    cut_after,
    resources_of,
)

from .fetch import FetchedFile, WebFetcher
from .network import NotFetchedError
from .page import render
from .question import CheckQuestion, PageQuestion
from .verdicts import judge
from .visitors import Limits, TooManyError

Run = Callable[..., Awaitable[bytes]]
"""Runs one of the jobs below in a worker process."""

_LEAST_TIME: Final = 0.25
"""Seconds: with less left, no further host is asked."""


async def report_on(
    question: PageQuestion, limits: Limits, fetcher: WebFetcher, run: Run, size: int
) -> ResourceReport:
    """Answer *question*; *size* octets of a robots.txt are parsed. Raises what `WebFetcher` and *run* do."""
    asker = _Asker(question, limits, fetcher, run, size)
    return await check(question.url, question.agent, asker, limits.urls, limits.resource_hosts)


class _Asker:
    """Fetches one thing after the other, so that no question looks up two names at a time, all in the time of one.

    A host is counted once, however often it is asked: for its robots.txt, and for the page.
    """

    def __init__(self, question: PageQuestion, limits: Limits, fetcher: WebFetcher, run: Run, size: int) -> None:
        self._question = question
        self._limits = limits
        self._fetcher = fetcher
        self._run = run
        self._size = size
        self._network = fetcher.network()
        self._until = current_time() + limits.fetch_time
        # Kept, since the page loads from its own host, too.
        self._of_page: tuple[Origin, FetchedFile] | None = None
        self._is_found = False

    def _seconds(self) -> float:
        """Half of the time that is left: a slow host leaves some for the others. Raises `NotFetchedError`."""
        seconds = (self._until - current_time()) / 2
        if seconds < _LEAST_TIME:
            raise NotFetchedError("there was no time left to ask")
        return seconds

    async def answers(self, by_origin: Mapping[Origin, Sequence[str]]) -> dict[str, ResourceVerdict]:
        """Return what the robots.txt of each origin says about its URLs."""
        answers: dict[str, ResourceVerdict] = {}
        for origin, urls in by_origin.items():
            try:
                found = await self._answers(await self._robots(origin), urls, self._question.agent)
            except NotFetchedError as error:
                found = [ResourceVerdict(None, reason=Reason.UNREACHABLE.value, problem=str(error))] * len(urls)
            except TooManyError as error:
                if not self._is_found:
                    raise
                found = [ResourceVerdict(None, reason="not asked", problem=str(error))] * len(urls)
            answers.update(zip(urls, found, strict=True))
        return answers

    async def page(self, url: str) -> PageResponse:
        """Request *url* once, if robots.txt allows that to this checker as well."""
        assert self._of_page is not None  # noqa: S101  # it was asked before
        token = asked_token(self._fetcher.user_agent) or "*"
        (own,) = await self._answers(self._of_page[1], [url], token)
        if not own.allowed:
            return PageResponse(problem=f"robots.txt disallows it to {token}, which asks here ({own.where})")
        try:
            return await self._fetcher.page(url, self._network, self._seconds())
        except NotFetchedError as error:
            return PageResponse(problem=str(error))

    async def find(self, page: PageResponse, url: str) -> Found:
        """Return the resources of *page*."""
        self._is_found = True
        octets = await self._run(found_json, self._question, page.body, url, page.content_type, self._limits.urls)
        resources, cut = json.loads(octets)
        if len(page.body) == self._limits.robots_octets:  # as much as is read of any response
            cut = cut or cut_after(len(page.body))
        return Found(tuple(Resource(address, LoadedAs(kind)) for address, kind in resources), cut)

    async def _robots(self, origin: Origin) -> FetchedFile:
        """The robots.txt of *origin*; that of the page is fetched once."""
        if self._of_page is not None and self._of_page[0] == origin:
            return self._of_page[1]
        network = self._network.beyond() if self._is_found else self._network
        fetched = await self._fetcher.robots(origin.robots_url, network, self._seconds())
        if not self._is_found:
            self._of_page = origin, fetched
        return fetched

    async def _answers(self, fetched: FetchedFile, urls: Sequence[str], agent: str) -> list[ResourceVerdict]:
        question = CheckQuestion(
            fetched.body,
            tuple(urls),
            (agent,),
            url=fetched.url,
            status=fetched.status,
            found=fetched.access,
            limit=self._size,
            visitor=self._question.visitor,
        )
        return [ResourceVerdict(*values) for values in json.loads(await self._run(answers_json, question))]


def page_html(limits: Limits, asked: PageQuestion | None = None, problem: str = "") -> str:
    """The page without an answer; *problem* says why there is none to what was *asked*."""
    asked = asked or PageQuestion()
    return render("resources_answer.html", asked=asked, report=None, limits=limits, problem=problem)


# Jobs for a worker process.


def answers_json(question: CheckQuestion) -> str:
    """The values of the `ResourceVerdict` about each URL of *question*, which has one crawler."""
    problem = f"its robots.txt answers with status {question.status}"
    return json.dumps(
        [
            (None, 0, "", one.reason, problem)
            if one.reason == Reason.UNREACHABLE.value
            else (one.allowed, one.line, one.rule, one.reason)
            for one in judge(question).verdicts
        ]
    )


def found_json(_: PageQuestion, html: bytes, url: str, content_type: str, most: int) -> str:
    """The values of the `Found` in the page at *url*."""
    found = resources_of(html, url, content_type, most)
    return json.dumps(([(one.url, one.kind.value) for one in found.resources], found.cut))


def report_html(question: PageQuestion, report: ResourceReport, limits: Limits) -> str:
    """The page with *report*."""
    return render("resources_answer.html", asked=question, report=report, limits=limits, problem="")


def report_json(_: PageQuestion, report: ResourceReport) -> str:
    """*report* for programs."""
    return json.dumps(report.as_facts(), indent=1)
