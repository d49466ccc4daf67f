"""A real HTTP server on loopback that says exactly what a test wants said, octet by octet."""

from __future__ import annotations

import asyncio
import errno
import gzip
import socket
import ssl
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Thread
from time import monotonic
from weakref import WeakSet

from typing_extensions import Self

from .certificate import server_context


@dataclass(frozen=True)
class Arrival:
    """One request as the server saw it; ``time`` is monotonic, header names are in lower case."""

    time: float
    origin: str
    method: str
    path: str
    headers: dict[str, str]


@dataclass(frozen=True)
class Answer:
    """What the server sends: after ``delay`` seconds, and not before ``when`` it says so.

    See the functions below for rude ones.
    """

    status: int = 200
    body: bytes = b""
    headers: Sequence[tuple[str, str]] = ()
    delay: float = 0.0
    when: Callable[[], bool] | None = None
    length: int | None = None  # a Content-Length that may lie
    raw: bytes | None = None  # these octets and nothing else
    chunk: int = 65_536
    streams: int = 0  # so many octets more, made while they are sent
    hangs: bool = False
    resets: bool = False
    keeps_alive: bool = False  # the connection, for the next request

    def head(self) -> bytes:
        length = len(self.body) + self.streams if self.length is None else self.length
        lines = [f"HTTP/1.1 {self.status} Answer"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        lines += [f"Content-Length: {length}", f"Connection: {'keep-alive' if self.keeps_alive else 'close'}"]
        return "\r\n".join([*lines, "", ""]).encode()

    def pieces(self) -> Iterator[bytes]:
        """Everything to send, in the order of sending."""
        octets = self.head() + self.body if self.raw is None else self.raw
        for start in range(0, len(octets), self.chunk):
            yield octets[start : start + self.chunk]
        for sent in range(0, self.streams, self.chunk):
            yield b"x" * min(self.chunk, self.streams - sent)


Answers = Answer | Callable[[Arrival], Answer]


def robots(text: str, **kwargs: object) -> Answer:
    """A robots.txt with *text*."""
    return Answer(body=text.encode(), headers=[("Content-Type", "text/plain")], **kwargs)  # type: ignore[arg-type]


def sitemap(*urls: str, compressed: bool = False) -> Answer:
    """A sitemap of *urls*, each with XML elements behind it or none; with *compressed* a gzip file."""
    return _xml("urlset", "url", urls, compressed)


def sitemap_index(*urls: str, compressed: bool = False) -> Answer:
    """An index of the sitemaps at *urls*, as `sitemap`."""
    return _xml("sitemapindex", "sitemap", urls, compressed)


def _xml(root: str, name: str, urls: Sequence[str], compressed: bool) -> Answer:
    entries = (url.partition(" ") for url in urls)
    elements = [f"<{name}><loc>{url}</loc>{more}</{name}>" for url, _, more in entries]
    namespace = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"'
    body = f'<?xml version="1.0"?>\n<{root} {namespace}>{"".join(elements)}</{root}>'.encode()
    if compressed:
        return Answer(body=gzip.compress(body), headers=[("Content-Type", "application/x-gzip")])
    return Answer(body=body, headers=[("Content-Type", "application/xml")])


def redirect(location: str, status: int = 302) -> Answer:
    return Answer(status, headers=[("Location", location)])


def hang() -> Answer:
    """Accept, read the request, never answer."""
    return Answer(hangs=True)


def reset() -> Answer:
    """Reset the connection instead of answering."""
    return Answer(resets=True)


def truncated(body: bytes) -> Answer:
    """Promise more than *body* and close."""
    return Answer(body=body, length=len(body) + 100)


def raw(octets: bytes) -> Answer:
    """Exactly these octets, HTTP or not, and close."""
    return Answer(raw=octets)


def stream(size: int, chunk: int = 65_536) -> Answer:
    """A body of *size* octets that nobody holds in memory."""
    return Answer(streams=size, chunk=chunk)


def sequence(*answers: Answer) -> Callable[[Arrival], Answer]:
    """One answer after another; the last one repeats."""
    left = list(answers)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


@dataclass
class Site:
    """A server on *addresses* of 127.0.0.0/8, on so many *ports* each; use it as a context manager.

    Unless told otherwise it has no robots.txt (404) and answers everything else with a page.
    """

    addresses: Sequence[str] = ("127.0.0.1",)
    ports: int = 1
    tls: bool = False
    log: list[Arrival] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._answers: dict[tuple[str, str], Answers] = {}
        self._loop = asyncio.new_event_loop()
        self._servers: list[asyncio.Server] = []
        self._deaf: list[socket.socket] = []  # that keep the ports
        self._transports: WeakSet[asyncio.WriteTransport] = WeakSet()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self.origins: list[str] = []

    def __enter__(self) -> Self:
        sockets = [_listen(self.addresses) for _ in range(self.ports)]
        scheme = "https" if self.tls else "http"
        context = server_context(self.addresses) if self.tls else None
        for index, address in enumerate(self.addresses):
            for listening in sockets:
                self.origins.append(f"{scheme}://{address}:{listening[index].getsockname()[1]}")
        self._thread.start()
        self._call(self._serve([one for listening in sockets for one in listening], context))
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Drop every connection and end the thread; the log stays."""
        if self._loop.is_closed():
            return
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def origin(self) -> str:
        return self.origins[0]

    def answer(self, path: str, answer: Answers, origin: str = "") -> None:
        """Answer *path*, with its query, so: at *origin*, or everywhere that has no answer of its own.

        ``*`` is every path that has none, ``/robots.txt`` too.
        """
        self._answers[origin, path] = answer

    def paths(self, origin: str | None = None) -> list[str]:
        return [arrival.path for arrival in list(self.log) if origin in (None, arrival.origin)]

    def count(self, path: str, origin: str | None = None) -> int:
        return self.paths(origin).count(path)

    def stop_listening(self) -> None:
        """Refuse connections from now on; no other test gets the ports until the site is closed."""
        self._call(self._refuse())

    def _call(self, coroutine: object) -> None:
        asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(10)  # type: ignore[arg-type]

    async def _serve(self, sockets: list[socket.socket], context: ssl.SSLContext | None) -> None:
        for one in sockets:
            self._servers.append(await asyncio.start_server(self._connected, sock=one, ssl=context))

    async def _refuse(self) -> None:
        for server in self._servers:
            places = [one.getsockname()[:2] for one in server.sockets]
            server.close()
            self._deaf += map(_deaf, places)

    async def _close(self) -> None:
        for server in self._servers:
            server.close()
        for deaf in self._deaf:
            deaf.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # A slow reader's buffer and a TLS farewell outlive their task.
        for transport in list(self._transports):
            with suppress(AttributeError):  # of CPython, for one that ended with its last write
                transport.abort()
        await asyncio.sleep(0)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._transports.add(writer.transport)
        try:
            while await self._serve_one(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass  # the client went away or speaks no HTTP, or the test is over
        finally:
            writer.transport.abort() if writer.is_closing() else writer.close()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether the connection stays open for the next."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, _, path = head[0].rpartition(" ")[0].partition(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        address, port = writer.get_extra_info("sockname")[:2]
        origin = f"{'https' if self.tls else 'http'}://{address}:{port}"
        answer = self._log(origin, method, path, headers)
        await self._send(answer, writer)
        return answer.keeps_alive

    def _log(self, origin: str, method: str, path: str, headers: dict[str, str]) -> Answer:
        """Log a request that has just arrived; what to answer."""
        arrival = Arrival(monotonic(), origin, method, path, headers)
        self.log.append(arrival)
        found = self._find(origin, path)
        return found if isinstance(found, Answer) else found(arrival)

    def _find(self, origin: str, path: str) -> Answers:
        for key in ((origin, path), (origin, "*"), ("", path), ("", "*")):
            if key in self._answers:
                return self._answers[key]
        if path == "/robots.txt":
            return Answer(404)
        return Answer(body=b"<title>page</title>", headers=[("Content-Type", "text/html")])

    async def _send(self, answer: Answer, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(answer.delay)
        while answer.when and not answer.when():  # noqa: ASYNC110  # any condition of a test
            await asyncio.sleep(0.01)
        if answer.hangs:
            await asyncio.sleep(3_600)
        if answer.resets:
            connection = writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return
        for piece in answer.pieces():
            writer.write(piece)
            await writer.drain()


def _deaf(place: tuple[str, int]) -> socket.socket:
    """A socket that has the address and the port of *place*, does not listen, and shares them with nobody."""
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # beside connections that linger
    found.bind(place)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
    return found


def _listen(addresses: Sequence[str], attempts: int = 20) -> list[socket.socket]:
    """Sockets on all *addresses* with one port number: what is free at the first may be taken at another."""
    sockets = [socket.create_server((addresses[0], 0), backlog=128)]
    port = sockets[0].getsockname()[1]
    try:
        for address in addresses[1:]:
            sockets += [socket.create_server((address, port), backlog=128)]
    except OSError as error:
        for one in sockets:
            one.close()
        if error.errno != errno.EADDRINUSE or attempts == 1:
            raise
        return _listen(addresses, attempts - 1)
    return sockets
