"""A site on loopback whose robots.txt and pages a test chooses, and which remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing_extensions import Self

ROBOTS: Final = "/robots.txt"
_PATIENCE: Final = 30.0  # seconds until a client that sends nothing is cut off


@dataclass(frozen=True, slots=True)
class SiteRequest:
    """One request that reached the site: ``path`` has the query; names of ``headers`` are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Answer:
    body: bytes
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0


_PAGE: Final = _Answer(b"<title>page</title>", 200, {"Content-Type": "text/html; charset=utf-8"})
_NO_ROBOTS: Final = _Answer(b"", 404)


class RobotsSite:
    """A server on a free port of 127.0.0.1; use it as a context manager, or as the fixture ``robots_site``.

    Unless told otherwise it has no robots.txt (404) and answers every other path with a page. ``requests`` are
    those that reached it, in order.
    """

    def __init__(self, robots: str | bytes | None = None) -> None:
        """*robots* is the text of its robots.txt."""
        self.requests: list[SiteRequest] = []
        self._answers: dict[str, _Answer] = {ROBOTS: _NO_ROBOTS}
        self._closing = Event()
        self._server: ThreadingHTTPServer | None = None
        if robots is not None:
            self.robots = robots

    @property
    def robots(self) -> bytes:
        """The robots.txt as it is now; empty without one. Set text or octets to change it."""
        return self._answers[ROBOTS].body

    @robots.setter
    def robots(self, text: str | bytes) -> None:
        self.answer(ROBOTS, text, content_type="text/plain; charset=utf-8")

    def answer(
        self,
        path: str,
        body: str | bytes = b"",
        status: int = 200,
        *,
        content_type: str = "text/html; charset=utf-8",
        headers: Mapping[str, str] | None = None,
        delay: float = 0.0,
    ) -> None:
        """Answer requests for *path*, with its query, so from now on, each after *delay* seconds."""
        octets = body.encode() if isinstance(body, str) else body
        self._answers[path] = _Answer(octets, status, {"Content-Type": content_type, **(headers or {})}, delay)

    @property
    def origin(self) -> str:
        """Scheme, host and port, such as ``http://127.0.0.1:49152``. Raises ``RuntimeError`` if it is not open."""
        if self._server is None:
            raise RuntimeError("the site is not open: write 'with RobotsSite() as site', or use robots_site")
        return f"http://127.0.0.1:{self._server.server_port}"

    def url(self, path: str = "/") -> str:
        """The URL of *path* at this site."""
        return self.origin + path

    @property
    def paths(self) -> list[str]:
        """The paths that were requested, in order, with robots.txt."""
        return [request.path for request in self.requests]

    @property
    def pages(self) -> list[str]:
        """The paths that were requested, in order, without robots.txt."""
        return [path for path in self.paths if path != ROBOTS]

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self._take))
        self._server.daemon_threads = True
        self._server.block_on_close = False  # a client that hangs does not keep a test from ending
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop answering; what was requested stays. Twice is as good as once."""
        self._closing.set()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    def _take(self, request: SiteRequest) -> _Answer:
        self.requests.append(request)
        answer = self._answers.get(request.path, _PAGE)
        self._closing.wait(answer.delay)
        return answer

    def __repr__(self) -> str:
        return f"<RobotsSite {self.origin if self._server else 'closed'} requests={len(self.requests)}>"


def _handler(take: Callable[[SiteRequest], _Answer]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = _PATIENCE

        def do_GET(self) -> None:  # http.server calls it so
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = take(SiteRequest(self.command, self.path, headers))
            try:
                self._send(answer)
            except OSError:
                self.close_connection = True  # the client went away

        do_HEAD = do_POST = do_GET  # noqa: N815  # as above

        def _send(self, answer: _Answer) -> None:
            self.send_response(answer.status)
            for name, value in {**answer.headers, "Content-Length": str(len(answer.body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body)

        def log_message(self, *args: object) -> None:
            """Keep the terminal for the tests."""

    return Handler
