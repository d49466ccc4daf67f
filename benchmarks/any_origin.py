"""One server that is every origin of 127.0.0.0/8 at one port, each with a robots.txt of its own.

`tests.support.site.Site` holds a socket per address and a log of all that arrives; for thousands of
origins one socket has to do, and nothing may be remembered.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator, Mapping
from itertools import count, islice
from threading import Thread
from typing import Final

from typing_extensions import Self

SECTIONS: Final = (
    "account", "cart", "compare", "customer", "download", "feedback", "gallery", "invoice", "login",
    "newsletter", "orders", "payment", "preview", "register", "review", "session", "tracking",
)  # fmt: skip
MEDIAN: Final = 13
"""Rules of the median of 2,818 real files, of some 500 octets."""
LONG: Final = 120
WILDCARDS: Final = ("/*?sort=", "/*&filter=", "/catalogue/*/print$", "/*.pdf$")
PAGE: Final = b"<!doctype html><title>page</title>" + b"<p>A paragraph of a page.</p>\n" * 150
FORBIDDEN: Final = "/checkout/step/1"


def rules(host: str) -> Iterator[str]:
    """Rules without end; every path holds *host*, lest two origins share a string, but for the first five."""
    yield "Disallow: /checkout/"
    yield from (f"Disallow: {pattern}" for pattern in WILDCARDS)
    yield f"Allow: /catalogue/of/{host}/"
    for number in count():
        section = f"/{SECTIONS[number % len(SECTIONS)]}/internal-{number}/of-{host}/"
        yield f"Disallow: {section}"
        yield f"Allow: {section}help"


def robots_txt(host: str, length: int) -> bytes:
    """The robots.txt of *host*, with *length* rules."""
    lines = ["User-agent: *", *islice(rules(host), length), f"Sitemap: http://{host}/sitemap.xml"]
    return "\n".join([*lines, ""]).encode()


def address(number: int) -> str:
    """The address in 127.0.0.0/8 of origin *number*."""
    return f"127.{1 + (number >> 16)}.{number >> 8 & 255}.{number & 255}"


class _Connection(asyncio.Protocol):
    """Answers one request after another; *lasts* says whether the connection outlives the first."""

    def __init__(self, lasts: bool, length: int, files: Mapping[bytes, bytes]) -> None:
        self._lasts = lasts
        self._length = length
        self._files = files
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101
        self._transport = transport
        self._host = transport.get_extra_info("sockname")[0]
        if not self._host.startswith("127."):  # the socket listens everywhere, the benchmark is for loopback
            transport.abort()

    def data_received(self, data: bytes) -> None:
        self._received += data
        while b"\r\n\r\n" in self._received:
            head, _, self._received = self._received.partition(b"\r\n\r\n")
            self._transport.write(self._answer(path=head.split(b" ", 2)[1]))
            if not self._lasts:
                self._transport.close()

    def _answer(self, path: bytes) -> bytes:
        kind, body = b"html", PAGE
        if path in self._files:
            kind, body = b"plain" if path.endswith(b".gz") else b"xml", self._files[path]
        elif path == b"/robots.txt":
            kind, body = b"plain", robots_txt(self._host, self._length)
        connection = b"" if self._lasts else b"Connection: close\r\n"
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/%s\r\nContent-Length: %d\r\n%s\r\n"
        return head % (kind, len(body), connection) + body


class AnyOrigin:
    """The server, in a thread; a context manager. *lasting* connections save a crawl of one origin time.

    Beside pages and a robots.txt of *rules* rules it has *files*, by their paths.
    """

    def __init__(self, *, lasting: bool, rules: int = MEDIAN, files: Mapping[bytes, bytes] | None = None) -> None:
        self.files = dict(files or {})
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._lasting = lasting
        self._rules = rules
        self._socket = socket.create_server(("0.0.0.0", 0), backlog=128)  # noqa: S104
        self.port: int = self._socket.getsockname()[1]

    def _connection(self) -> _Connection:
        return _Connection(self._lasting, self._rules, self.files)

    def __enter__(self) -> Self:
        self._thread.start()
        serving = self._loop.create_server(self._connection, sock=self._socket)
        self._server = asyncio.run_coroutine_threadsafe(serving, self._loop).result(10)
        return self

    def __exit__(self, *exc: object) -> None:
        self._loop.call_soon_threadsafe(self._server.close)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
