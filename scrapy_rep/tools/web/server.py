"""The server: uvicorn with the application, on a socket that is bound before anything is announced."""

from __future__ import annotations

import asyncio
import ctypes
import logging
import os
import socket
from argparse import Namespace
from contextlib import suppress
from typing import IO, Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from .app import application
from .fetch import WebFetcher
from .visitors import LOCAL, PUBLIC

_MOST_HEAD: Final = 16_384
_SYSTEM_BUFFER: Final = 65_536
"""Octets that the system keeps for a client that does not read."""
_PATIENCE: Final = 20.0
"""Seconds within which a client reads what it was sent."""
_GRACE: Final = 5
"""Seconds that answers have after Ctrl-C."""
_LARGE_BLOCKS: Final = (-3, 262_144)
"""M_MMAP_THRESHOLD of mallopt(3): without it, glibc keeps for itself what large answers took."""
_RESOLVER: Final = "timeout:2 attempts:2"
"""Seconds and attempts of a look-up, for each name server, as resolv.conf(5) says."""


def serve(arguments: Namespace, size: int, out: IO[str]) -> None:
    """Serve until Ctrl-C, as the *arguments* of the command say. Raises ``OSError`` for an address in use."""
    limits = PUBLIC if arguments.public else LOCAL
    os.environ.setdefault("RES_OPTIONS", _RESOLVER)
    os.environ.setdefault("PYTHONSAFEPATH", "1")  # worker processes import nothing from the current directory
    # That anyio ends a process which has just ended is no news.
    logging.getLogger("asyncio").addFilter(lambda record: "child process pid" not in str(record.msg))
    with suppress(AttributeError, OSError, TypeError):  # another system's C library
        ctypes.CDLL(None).mallopt(*_LARGE_BLOCKS)
    app = application(limits, WebFetcher(limits, arguments.user_agent), host=arguments.host, size=size)
    config = config_of(app, arguments.trust_proxy)
    with listening_at(arguments.host, arguments.port) as listening, suppress(KeyboardInterrupt):
        _Server(config, out).run(sockets=[listening])


def config_of(app: ASGIApp, proxies: str = "") -> uvicorn.Config:
    """The server of *app*; of *proxies*, with commas between them, it takes the word who their client is."""
    return uvicorn.Config(
        app,
        http=_Connection,
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        forwarded_allow_ips=proxies,
        h11_max_incomplete_event_size=_MOST_HEAD,
        timeout_graceful_shutdown=_GRACE,
    )


class _Connection(H11Protocol):
    """Keeps nothing for later of what a client does not read, and ends with one that reads nothing."""

    _end: asyncio.TimerHandle

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Pause an answer as soon as the client does not keep up."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(0)

    def pause_writing(self) -> None:
        """Give the client its time."""
        super().pause_writing()
        self._end = self.loop.call_later(_PATIENCE, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: everything was read."""
        super().resume_writing()
        self._end.cancel()


class _Server(uvicorn.Server):
    """Says where it listens once it does, which is after the worker processes have started."""

    def __init__(self, config: uvicorn.Config, out: IO[str]) -> None:
        super().__init__(config)
        self._out = out

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and write the address."""
        await super().startup(sockets)
        for listening in sockets or ():
            host, port = listening.getsockname()[:2]
            self._out.write(f"http://{f'[{host}]' if ':' in host else host}:{port}/  (Ctrl-C ends it)\n")
            self._out.flush()


def listening_at(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises ``OSError`` for an address in use."""
    family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    listening = socket.create_server(address, family=family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SYSTEM_BUFFER)  # its connections inherit this
    return listening
