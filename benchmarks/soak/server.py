"""The servers of the world: one process that answers for every address of 127.0.0.0/8 at one port.

    python -m benchmarks.soak.server WORLD LOG

WORLD is a `World` in JSON. It prints a line when it listens, and ends at SIGTERM.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import struct
import sys
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Final

from .answers import Answer, Asked, Limiter, Way, answer, bomb, is_robots
from .log import Arrival
from .world import LEAF, Site, World

IDLE: Final = 3.0  # seconds after which a connection is closed, as servers do
FLUSH: Final = 0.2
DRIPS: Final = 5
DRIP: Final = 0.1  # seconds between the parts of a dripping answer
TOO_SLOW: Final = 5.0  # the same, of one that nobody waits for
FOREVER: Final = 60.0

_ETAG: Final = re.compile(rb"\r\nif-none-match: *([^\r]+)", re.IGNORECASE)


class Server:
    def __init__(self, world: World, log: Path) -> None:
        self.world = world
        self._log = log.open("a", encoding="ascii", buffering=1 << 16)
        self.connections: set[Connection] = set()
        self._met: set[str] = set()  # hosts whose robots.txt was asked for
        self._limiters: defaultdict[str, Limiter] = defaultdict(Limiter)

    def answer(self, host: str, path: str, etag: str) -> Answer:
        if not self.world.knows(host):
            return Answer(404)
        is_first = path == "/robots.txt" and host not in self._met
        if is_first:
            self._met.add(host)
        site = self.world.site(host)
        refusal = self._limiters[host].refusal(time.monotonic()) if is_limited(site, path) else None
        return refusal or answer(site, Asked(path, etag, time.time(), is_first))

    def log(self, now: float, host: str, path: str, answer: Answer) -> None:
        self._log.write(f"{Arrival(now, host, path, answer.status, answer.meaning)}\n")

    async def run(self) -> None:
        bomb()  # takes a while, and arrivals are timed
        loop = asyncio.get_running_loop()
        done = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, done.set)
        listening = socket.create_server(("0.0.0.0", self.world.port), backlog=1024)  # noqa: S104
        await loop.create_server(lambda: Connection(self), sock=listening)
        print("listening", flush=True)
        while not done.is_set():
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(done.wait(), FLUSH)
            self._tidy(time.monotonic())
        self._log.close()

    def _tidy(self, now: float) -> None:
        self._log.flush()
        for connection in [one for one in self.connections if one.idle_since < now - IDLE]:
            connection.close()


def is_limited(site: Site, path: str) -> bool:
    page = site.page(path) if site.kind == "limited" else None
    return page is not None and page.part == LEAF


class Connection(asyncio.Protocol):
    """Answers one request after another; ``idle_since`` is infinite while it answers."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._received = b""
        self.idle_since = time.monotonic()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101
        self._transport = transport
        self._host = transport.get_extra_info("sockname")[0]
        if self._host.startswith("127."):  # the socket listens everywhere, the world is on loopback
            self._server.connections.add(self)
        else:
            transport.abort()

    def connection_lost(self, _: Exception | None) -> None:
        self._server.connections.discard(self)

    def close(self) -> None:
        self._server.connections.discard(self)
        self._transport.close()

    def data_received(self, data: bytes) -> None:
        now = time.monotonic()
        self._received += data
        while b"\r\n\r\n" in self._received:
            head, _, self._received = self._received.partition(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].decode("ascii")
            etag = _ETAG.search(head)
            self._send(now, path, self._server.answer(self._host, path, etag[1].decode() if etag else ""))

    def _send(self, now: float, path: str, answer: Answer) -> None:
        is_late = is_robots(path) and answer.way is Way.DRIPPING  # logged when its last octet is sent
        if not is_late:
            self._server.log(now, self._host, path, answer)
        if answer.way is Way.WHOLE:
            self._transport.write(answer.octets)
            self.idle_since = time.monotonic()
        elif answer.way is Way.RESET:
            self._reset()
        elif answer.way is Way.NOT_HTTP:
            self._transport.write(b"SSH-2.0-OpenSSH_9.2\r\n")
            self._transport.close()
        elif answer.way is Way.TRUNCATED:
            self._transport.write(answer.octets[: -len(answer.body) // 2])
            self._transport.close()
        else:
            self.idle_since = float("inf")
            self._slowly(path, answer, is_late=is_late)

    def _reset(self) -> None:
        connection = self._transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()

    def _slowly(self, path: str, answer: Answer, *, is_late: bool) -> None:
        """Send nothing, or one part after another; the log has the answer before the crawler has the last one."""
        later = asyncio.get_running_loop().call_later
        if answer.way is Way.HANGING:
            later(FOREVER, self.close)
            return
        octets, distance = answer.octets, DRIP if answer.way is Way.DRIPPING else TOO_SLOW
        size = -(-len(octets) // DRIPS)
        for number in range(DRIPS - 1):
            later(number * distance, self._transport.write, octets[number * size : (number + 1) * size])
        if answer.way is Way.TOO_SLOW:  # never complete, however long a crawler waits
            later((DRIPS - 1) * distance, self.close)
            return
        later((DRIPS - 1) * distance, self._last, octets[(DRIPS - 1) * size :], path, answer if is_late else None)

    def _last(self, part: bytes, path: str, answer: Answer | None) -> None:
        self.idle_since = time.monotonic()
        if answer is not None:
            self._server.log(self.idle_since, self._host, path, answer)
        self._transport.write(part)


def main() -> None:
    world, log = World(**json.loads(sys.argv[1])), Path(sys.argv[2])
    asyncio.run(Server(world, log).run())


if __name__ == "__main__":
    main()
