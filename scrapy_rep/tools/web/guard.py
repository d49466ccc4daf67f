"""What every request passes: bounds on its body, its client's turn, and headers that keep pages harmless."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil
from typing import Final
from urllib.parse import urlsplit

from anyio import current_time, fail_after
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .page import render
from .visitors import Limits, Problem, TooManyError, Visitors, client_of

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self';"
        " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "same-origin",  # with no-referrer, browsers send "Origin: null" with our own forms
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Sent with every response. The page loads its own script and style sheet, and nothing else runs."""

_PIECE: Final = 65_536
"""Octets that are given to the server at a time."""

_LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def refusal(scope: Scope, why: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """The response that says why there is no answer: JSON to those who ask the API, a page to all others."""
    if f"{scope['path']}/".startswith("/api/"):
        return JSONResponse({"error": why}, status, headers)
    return HTMLResponse(render("error.html", problem=why), status, headers)


def refusal_for(scope: Scope, problem: Problem) -> Response:
    """The response that says what the *problem* is."""
    headers = {"Retry-After": str(ceil(problem.seconds))} if isinstance(problem, TooManyError) else None
    return refusal(scope, str(problem), problem.status, headers)


class Guard:
    """ASGI middleware. *host* is what the server listens on."""

    def __init__(self, app: ASGIApp, limits: Limits, host: str) -> None:
        self._app = app
        self._limits = limits
        self._visitors = Visitors(limits)
        # Of a server for this machine alone, a page on the internet could become a reader by rebinding its name.
        self._names = _LOOPBACK_NAMES | {host} if host in _LOOPBACK_NAMES and not limits.is_public else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with_headers = _with_headers(scope, send)
        refused = self._refused(scope)
        if refused is not None:
            await refused(scope, receive, with_headers)
            return
        if scope["method"] != "POST" and not scope.get("query_string"):  # "?site=" may fetch
            await self._app(scope, receive, with_headers)
            return
        try:
            with self._visitors.admit(client_of(scope)):
                await self._app(scope, _Bounded(receive, self._limits), with_headers)
        except TooManyError as error:
            await refusal_for(scope, error)(scope, receive, with_headers)

    def _refused(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if self._names is not None and _host(headers.get("host", "")) not in self._names:
            return refusal(scope, "unknown host: open the address that the command printed", 421)
        if scope["method"] == "POST" and self._is_of_another_site(headers):
            return refusal(scope, "a page of another site sent this request", 403)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:20]) > self._limits.request_octets:
            return refusal_for(scope, _too_large(self._limits))
        return None

    def _is_of_another_site(self, headers: Headers) -> bool:
        """Whether a page of another site sent the request, as far as its browser says so.

        No page can set either field. Browsers send Sec-Fetch-Site over TLS and to loopback addresses; it is "none"
        for what a person does. Old browsers send Origin, as all do over plain HTTP; that of a sandboxed frame is
        "null".
        """
        site = headers.get("sec-fetch-site")
        if site is not None:
            return site not in {"same-origin", "none"}
        origin = headers.get("origin")  # of a public server no host is known: a proxy may change it
        return not self._limits.is_public and origin is not None and origin != f"http://{headers.get('host')}"


class _Bounded:
    """Receives the body of a request, which has a size and a time."""

    def __init__(self, receive: Receive, limits: Limits) -> None:
        self._receive = receive
        self._limits = limits
        self._until = current_time() + limits.receive_time
        self._octets = 0
        self._is_whole = False

    async def __call__(self) -> Message:
        if self._is_whole:  # what comes next is the end of the connection
            return await self._receive()
        try:
            with fail_after(max(self._until - current_time(), 0)):
                message = await self._receive()
        except TimeoutError:
            raise Problem("the request did not arrive in time", 408) from None
        self._octets += len(message.get("body", b""))
        self._is_whole = not message.get("more_body", False)
        if self._octets > self._limits.request_octets:
            raise _too_large(self._limits)
        return message


def _too_large(limits: Limits) -> Problem:
    return Problem(f"a request has at most {limits.request_octets:,} bytes", 413)


def _with_headers(scope: Scope, send: Send) -> Send:
    """Send the `HEADERS` with a response, which no cache keeps unless it is one of our own files."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            headers.setdefault("Cache-Control", "no-cache" if "/static/" in scope["path"] else "no-store")
        for piece in _pieces(message):
            await send(piece)

    return send_with_headers


def _pieces(message: Message) -> Iterator[Message]:
    """*message* with its body in pieces, and nothing last.

    The server takes a piece when the one before has been read. So a request lasts until its answer is read.
    """
    body = message.get("body", b"")
    for start in range(0, len(body), _PIECE):
        yield {**message, "body": body[start : start + _PIECE], "more_body": True}
    yield {**message, "body": b""} if body else message


def _host(value: str) -> str:
    try:
        return urlsplit(f"//{value}").hostname or ""
    except ValueError:
        return ""
