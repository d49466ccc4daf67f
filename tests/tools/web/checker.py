"""The web checker as a real server on loopback, in a thread of this process; its worker processes are real too.

All servers share an event loop, and with it the processes that wait for work: each takes a second to start.
"""

from __future__ import annotations

import http.client
import json
import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event
from typing import Any

import uvicorn
from anyio.from_thread import BlockingPortal, start_blocking_portal

from scrapy_rep.tools.web.app import application
from scrapy_rep.tools.web.fetch import WebFetcher
from scrapy_rep.tools.web.network import Resolver, resolve
from scrapy_rep.tools.web.server import config_of, listening_at
from scrapy_rep.tools.web.visitors import LOCAL, Limits

MULTIPART = "multipart/form-data; boundary=limit"
ROBOTS = "User-agent: *\nDisallow: /private\nDisalow: /cart\n"


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def data(self) -> Any:
        return json.loads(self.body)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.body.splitlines()]


@dataclass(frozen=True)
class Checker:
    """A client of the server at ``port``, which asks from ``address``."""

    port: int
    address: str = "127.0.0.1"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def get(self, path: str, **headers: str) -> Reply:
        return self._ask("GET", path, None, headers)

    def post(self, path: str, data: object, **headers: str) -> Reply:
        """Send *data* as JSON."""
        return self._ask("POST", path, json.dumps(data).encode(), headers)

    def submit(
        self, fields: Sequence[tuple[str, str]], file: bytes = b"", path: str = "/", **headers: str
    ) -> Reply:
        """Send a form as a browser does."""
        return self._ask("POST", path, multipart(fields, file), {"Content-Type": MULTIPART, **headers})

    @contextmanager
    def unread(self, path: str, body: bytes, kind: str = "application/json") -> Iterator[socket.socket]:
        """The connection to an answer of which the first octets have arrived, and that is not read; its end."""
        connection = socket.socket()
        with connection:
            connection.settimeout(60)
            connection.bind((self.address, 0))
            connection.connect(("127.0.0.1", self.port))
            head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: {kind}\r\n"
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            assert connection.recv(16, socket.MSG_PEEK).startswith(b"HTTP/1.1 200")
            yield connection

    def _ask(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Reply:
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=60, source_address=(self.address, 0)
        )
        try:
            connection.request(method, path, body, dict(headers))
            response = connection.getresponse()
            fields = {name.lower(): value for name, value in response.getheaders()}
            return Reply(response.status, fields, response.read())
        finally:
            connection.close()


def multipart(fields: Sequence[tuple[str, str]], file: bytes = b"") -> bytes:
    """A form; an empty *file* is one that was not chosen."""
    parts = [_part(f'name="{name}"', value.encode()) for name, value in fields]
    return b"".join([*parts, _part('name="file"; filename="robots.txt"', file)]) + b"--limit--\r\n"


def _part(disposition: str, value: bytes) -> bytes:
    return b"--limit\r\nContent-Disposition: form-data; %b\r\n\r\n%b\r\n" % (disposition.encode(), value)


class _Announcing(uvicorn.Server):
    """Sets ``ready`` once it listens."""

    ready: Event

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.ready.set()


class Shared:
    """The event loop of all servers of a session."""

    loop: BlockingPortal


@contextmanager
def event_loop() -> Iterator[BlockingPortal]:
    """An event loop in a thread of its own, with which the worker processes end."""
    with start_blocking_portal() as running:
        yield running


@contextmanager
def checker(
    limits: Limits = LOCAL,
    *,
    resolver: Resolver = resolve,
    tls: ssl.SSLContext | None = None,
    size: int = 512_000,
    host: str = "127.0.0.1",
    loop: BlockingPortal | None = None,
) -> Iterator[Checker]:
    """A server with these *limits*, which believes that it listens on *host*; *loop* is one of its own.

    *resolver* and *tls* are those of its fetcher.
    """
    app = application(limits, WebFetcher(limits, "Test/1", resolver=resolver, tls=tls), host=host, size=size)
    server = _Announcing(config_of(app))
    server.ready = Event()
    with listening_at("127.0.0.1", 0) as listening:
        serving = (loop or Shared.loop).start_task_soon(server.serve, [listening])
        try:
            assert server.ready.wait(60)
            yield Checker(listening.getsockname()[1])
        finally:
            server.should_exit = True
            serving.result(30)
