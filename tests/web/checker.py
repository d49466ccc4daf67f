"""The web checker as a real server on loopback, in a thread of this process; its worker processes are real too."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any
from urllib.parse import urlencode

import uvicorn

from scrapy_rep.web.addresses import Resolver, resolve
from scrapy_rep.web.app import application
from scrapy_rep.web.fetch import Fetcher
from scrapy_rep.web.limits import LOCAL, Limits
from scrapy_rep.web.server import _bound

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
    """A client of the server at ``port``."""

    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def get(self, path: str, **headers: str) -> Reply:
        return self._ask("GET", path, None, headers)

    def post(self, path: str, data: object, **headers: str) -> Reply:
        """Send *data* as JSON."""
        return self._ask("POST", path, json.dumps(data).encode(), headers)

    def submit(self, fields: Sequence[tuple[str, str]], file: bytes = b"") -> Reply:
        """Send the form as a browser does: with *file* as multipart/form-data."""
        if not file:
            kind = "application/x-www-form-urlencoded"
            return self._ask("POST", "/", urlencode(fields).encode(), {"Content-Type": kind})
        parts = [_part(f'name="{name}"', value.encode()) for name, value in fields]
        parts.append(_part('name="file"; filename="robots.txt"', file))
        body = b"".join(parts) + b"--limit--\r\n"
        return self._ask("POST", "/", body, {"Content-Type": "multipart/form-data; boundary=limit"})

    def _ask(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, dict(headers))
            response = connection.getresponse()
            fields = {name.lower(): value for name, value in response.getheaders()}
            return Reply(response.status, fields, response.read())
        finally:
            connection.close()


def _part(disposition: str, value: bytes) -> bytes:
    return b"--limit\r\nContent-Disposition: form-data; %b\r\n\r\n%b\r\n" % (disposition.encode(), value)


class _Announcing(uvicorn.Server):
    """Sets ``ready`` once it listens."""

    ready: Event

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.ready.set()


@contextmanager
def checker(
    limits: Limits = LOCAL,
    *,
    resolver: Resolver = resolve,
    tls: ssl.SSLContext | None = None,
    size: int = 512_000,
) -> Iterator[Checker]:
    """A server with these *limits*; *resolver* and *tls* are those of its fetcher."""
    app = application(limits, Fetcher(limits, "Test/1", resolver=resolver, tls=tls), size=size)
    config = uvicorn.Config(app, http="h11", ws="none", log_level="warning", access_log=False)
    server = _Announcing(config)
    server.ready = Event()
    with _bound("127.0.0.1", 0) as listening:
        thread = Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            assert server.ready.wait(60)
            yield Checker(listening.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(30)
