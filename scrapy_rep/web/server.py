"""The server: uvicorn with the application, on a socket that is bound before anything is announced."""

from __future__ import annotations

import socket
from argparse import Namespace
from contextlib import suppress
from typing import IO, Final

import uvicorn

from .app import application
from .fetch import Fetcher
from .limits import LOCAL, PUBLIC

_MOST_HEAD: Final = 16_384
_GRACE: Final = 5
"""Seconds that answers have after Ctrl-C."""


def serve(arguments: Namespace, size: int, out: IO[str]) -> None:
    """Serve until Ctrl-C, as the *arguments* of the command say. Raises ``OSError`` for an address in use."""
    limits = PUBLIC if arguments.public else LOCAL
    app = application(limits, Fetcher(limits, arguments.user_agent), host=arguments.host, size=size)
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        forwarded_allow_ips=arguments.trust_proxy,
        h11_max_incomplete_event_size=_MOST_HEAD,
        timeout_graceful_shutdown=_GRACE,
    )
    with _bound(arguments.host, arguments.port) as listening, suppress(KeyboardInterrupt):
        _Server(config, out).run(sockets=[listening])


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


def _bound(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError:
        listening.close()
        raise
    return listening
