"""The web application: the page, the API, and the errors of both."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from mimetypes import guess_type
from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from scrapy_rep.protocol import MAX_SIZE
from scrapy_rep.tools.writer import ChoiceError, telling_paths, written

from . import page
from .annotated import fixed
from .fetch import FetchedFile, WebFetcher, robots_url
from .guard import Guard, refusal, refusal_for
from .question import (
    CheckQuestion,
    Form,
    QuestionError,
    checked,
    choices_in,
    question_in,
    read_form,
)
from .verdicts import own_urls
from .visitors import Limits, Problem, client_of
from .workers import Workers

_EMPTY: Final = Form(page.PRESELECTED, action="")


def application(limits: Limits, fetcher: WebFetcher, *, host: str = "127.0.0.1", size: int = MAX_SIZE) -> ASGIApp:
    """Return the application, which listens on *host*, and parses *size* octets of a robots.txt."""
    checker = _Checker(limits, fetcher, size)
    routes = [
        Route("/", checker.start, methods=["GET"]),
        Route("/", checker.answer, methods=["POST"]),
        Route("/write", HTMLResponse(page.write_html({})), methods=["GET"]),
        Route("/write", checker.write, methods=["POST"]),
        Route("/api/check", checker.check, methods=["POST"]),
        Route("/api/fetch", checker.fetch, methods=["POST"]),
        Mount("/static", StaticFiles(packages=[(__package__, "static")])),
    ]
    errors = {Problem: _problem, HTTPException: _http_error, Exception: _failure}
    return Guard(Starlette(routes=routes, exception_handlers=errors, lifespan=checker.lifespan), limits, host)


class _Checker:
    """The endpoints."""

    def __init__(self, limits: Limits, fetcher: WebFetcher, size: int) -> None:
        self._limits = limits
        self._fetcher = fetcher
        self._size = size
        self._start = b"".join(page.page_in_pieces(limits, _EMPTY)[0])
        self._workers: Workers

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Start the worker processes, which end with the event loop."""
        self._workers = Workers(self._limits)
        await self._workers.start()
        yield

    async def start(self, request: Request) -> Response:
        """``GET /``: the form. ``?site=`` fills it, and fetches where a person asks for that, as by a bookmark.

        A page of another site can lead a browser to any address of ours, but the browser then says so. Without its
        word nothing is fetched: nobody else aims this checker.
        """
        site = request.query_params.get("site", "").strip()[: self._limits.url_characters]
        form = replace(_EMPTY, question=self._asked(_EMPTY.question, request), site=site)
        if site and request.headers.get("sec-fetch-site") in {"none", "same-origin"}:
            return await self._answered(replace(form, action="fetch"))
        return self._page(form) if site else HTMLResponse(self._start)

    async def answer(self, request: Request) -> Response:
        """``POST /``: what the form asks for, as the page again or as a file."""
        try:
            form = await read_form(request, self._limits, self._size)
        except Problem as problem:
            return self._page(_EMPTY, problem)
        return await self._answered(form)

    async def _answered(self, form: Form) -> Response:
        try:
            if form.action == "fetch":
                form = replace(form, question=await self._fetched(form))
            elif form.action == "example":
                question = replace(form.question, robots=page.EXAMPLE, source=FetchedFile())
                form = replace(form, question=question, is_filled=True)
            question = checked(form.question, self._limits)
            if form.fix and form.action != "consider":
                robots = await self._workers.run(fixed, question, form.fix, form.action)
                question = replace(question, robots=robots)
            if form.is_filled:
                urls = await self._workers.run(own_urls, question)
                question = checked(replace(question, urls=tuple(urls.decode().splitlines())), self._limits)
            if form.action == "save":
                return _attachment("robots.txt", question.robots)
            if form.action == "csv":
                return _attachment("verdicts.csv", await self._workers.run(page.verdicts_csv, question))
        except Problem as problem:
            return self._page(form, problem)
        return self._page(replace(form, question=question))

    async def write(self, request: Request) -> Response:
        """``POST /write``: the page with a robots.txt that was written from choices, and its answer."""
        form = _EMPTY
        try:
            form = await read_form(request, self._limits, self._size)
            choices = choices_in(form.chosen)
            question = replace(page.PRESELECTED, robots=written(choices).encode(), urls=telling_paths(choices))
            return self._page(Form(checked(self._asked(question, request), self._limits)))
        except (ChoiceError, Problem) as error:
            return HTMLResponse(page.write_html(form.chosen, str(error)), getattr(error, "status", 400))

    def _page(self, form: Form, problem: Problem | None = None) -> Response:
        status = problem.status if problem else 200
        return StreamingResponse(self._pieces(form, str(problem or "")), status, media_type="text/html")

    async def _pieces(self, form: Form, problem: str = "") -> AsyncIterator[bytes]:
        """The page, part by part: each is worked on when the one before has been read."""
        parts = page.PARTS if form.action and not problem else ()
        head, tails = page.page_in_pieces(self._limits, form, parts, problem)
        for piece in head:
            yield piece
        for part, tail in zip(parts, tails, strict=True):
            yield await self._part(part, form) + tail

    async def _part(self, part: str, form: Form) -> bytes:
        more = (form.action, form.fix) if part == page.PARTS[0] else ()
        try:
            return await self._workers.run(getattr(page, f"{part}_html"), form.question, *more)
        except Problem as problem:
            return page.render("problem.html", problem=str(problem)).encode()

    async def check(self, request: Request) -> Response:
        """``POST /api/check``: the answer as JSON."""
        question = question_in(await _json_of(request), self._limits)
        octets = await self._workers.run(page.facts, self._asked(question, request))
        return Response(octets, media_type="application/json")

    def _asked(self, question: CheckQuestion, request: Request) -> CheckQuestion:
        return replace(question, limit=self._size, visitor=client_of(request.scope))

    async def _fetched(self, form: Form) -> CheckQuestion:
        """The question of *form* about the robots.txt of its site."""
        async with aclosing(self._fetch(form.site)) as steps:
            (found,) = [step async for step in steps if isinstance(step, FetchedFile)]
        return replace(form.question, robots=found.body, source=replace(found, body=b""))

    def _fetch(self, site: str) -> AsyncGenerator[str | FetchedFile]:
        if not site or len(site) > self._limits.url_characters:
            raise QuestionError("site: write a host such as example.com, or the address of a page")
        return self._fetcher.fetch(robots_url(site))

    async def fetch(self, request: Request) -> Response:
        """``POST /api/fetch``: the steps of a fetch as they happen, one JSON object a line."""
        data = await _json_of(request)
        site = data.get("site") if isinstance(data, dict) else None
        if not isinstance(site, str):
            raise QuestionError('expected a JSON object such as {"site": "example.com"}')
        return StreamingResponse(_lines(self._fetch(site)), media_type="application/x-ndjson")


def _attachment(name: str, octets: bytes) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(octets, media_type=guess_type(name)[0], headers=headers)


async def _json_of(request: Request) -> Any:
    body = b"".join([piece async for piece in request.stream()])  # which `request` does not keep
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise QuestionError("the body of the request is not JSON") from None


async def _lines(steps: AsyncGenerator[str | FetchedFile]) -> AsyncIterator[str]:
    """*steps* as JSON, a line each; the last one is the result, or the error."""
    try:
        async with aclosing(steps):
            async for step in steps:
                facts = {"step": step} if isinstance(step, str) else _facts(step)
                yield json.dumps(facts, ensure_ascii=False) + "\n"
    except Problem as problem:
        yield json.dumps({"error": str(problem)}) + "\n"


def _facts(found: FetchedFile) -> dict[str, Any]:
    """The result of a fetch as data for JSON; its octets are in Base64."""
    text, octets = found.body.decode("utf-8", "replace"), b64encode(found.body).decode()
    return {"source": found.as_facts(), "robots": text, "octets": octets}


async def _problem(request: Request, problem: Any) -> Response:
    return refusal_for(request.scope, problem)


async def _http_error(request: Request, error: Any) -> Response:
    return refusal(request.scope, error.detail, error.status_code, error.headers)


async def _failure(request: Request, _: Exception) -> Response:
    return refusal(request.scope, "the checker itself failed: its log says where", 500)
