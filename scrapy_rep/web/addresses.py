"""Which addresses a host has, and which of them may be connected to.

A host is resolved once for each request, and the connection goes to the very address that was judged: a name that
resolves differently the next time gains nothing.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Final

from scrapy_rep.protocol import Origin

Resolver = Callable[[str, int], Awaitable[list[str]]]
"""Returns the IP addresses of a host for a port. Raises ``OSError``."""

MOST_ADDRESSES: Final = 4
"""Addresses of a host that are tried."""


async def resolve(host: str, port: int) -> list[str]:
    """The IP addresses of *host*, as the system resolves it."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def is_public(address: str) -> bool:
    """Whether the IP *address* is on the public internet: not loopback, private, link-local or reserved.

    An IPv6 address that embeds an IPv4 one is as public as that.
    """
    return not Origin("http", address, 80).is_local
