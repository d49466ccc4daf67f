"""Where a fetch may connect to: httpcore's network, with addresses that are judged before there is a connection.

A host is resolved once for each request, and the connection goes to the very address that was judged: a name that
resolves differently the next time gains nothing.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from ipaddress import IPv4Address, IPv6Network, ip_address, ip_network
from typing import Final

from anyio import CancelScope, CapacityLimiter, to_thread
from httpcore import SOCKET_OPTION, AnyIOBackend, AsyncNetworkStream, ConnectError, ConnectTimeout

from scrapy_rep.protocol.display import shown

from .visitors import Hosts, Problem

Resolver = Callable[[str, int], Awaitable[list[str]]]
"""Returns the IP addresses of a host for a port. Raises ``OSError``."""

_MOST_ADDRESSES: Final = 4
"""Addresses of a host that are tried."""

_SPECIAL: Final = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
            "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24",
            "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
            "224.0.0.0/3",
            "::/3", "4000::/2", "8000::/1",
            "2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
        ),
    )
)  # fmt: skip
"""IANA's registries of special-purpose addresses, multicast, and all of IPv6 that is not 2000::/3."""

_WITH_IPV4: Final = (IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96"))
"""Addresses that lead to the IPv4 address at their end: mapped ones, and those of NAT64 (RFC 6052)."""


class NotFetchedError(Problem):
    """Why there is no robots.txt; the message is for the visitor."""

    def __init__(self, message: str) -> None:
        super().__init__(message, 422)


async def resolve(host: str, port: int) -> list[str]:
    """The IP addresses of *host*, as the system resolves it."""
    ask = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    # A look-up cannot be ended. The request waits for it and keeps its visitor's place, so there are no more
    # threads than places, and names that hang hold up their own visitor alone.
    found = await to_thread.run_sync(ask, limiter=CapacityLimiter(1))
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def is_public(address: str) -> bool:
    """Whether the IP *address* is on the public internet: what is not known to be public is not.

    An IPv6 address that embeds an IPv4 one is as public as that.
    """
    parsed = ip_address(address)
    if any(parsed in network for network in _WITH_IPV4):
        parsed = IPv4Address(int(parsed) & 0xFFFF_FFFF)
    return not any(parsed in network for network in _SPECIAL)


class Network(AnyIOBackend):
    """The network of one question: of a fetch with all its redirects.

    It reaches public addresses alone, or what the visitor names; but a public site must not lead to a private
    address. The addresses that it tries are counted in *counted*.
    """

    def __init__(self, resolver: Resolver, counted: Hosts, *, public_only: bool) -> None:
        self._resolve = resolver
        self._addresses = counted
        self._public_only = public_only
        self._asked: set[str] = set()
        self._stream: AsyncNetworkStream | None = None

    def count(self, counted: Hosts, *hosts: str) -> None:
        """Count *hosts* in *counted*, each once in this question. Raises `TooManyError`."""
        for host in hosts:
            if host not in self._asked:
                counted.visit(host)
                self._asked.add(host)

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  # as httpcore calls it
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        """Connect to the first address of *host* that accepts. Raises `NotFetchedError` and `TooManyError`."""
        addresses = self._judged(host, await self._resolve(host, port))
        self.count(self._addresses, *addresses)
        problem: Exception = OSError("it has no address")
        for address in addresses:
            try:
                self._stream = await super().connect_tcp(address, port, timeout, local_address, socket_options)
            except (ConnectError, ConnectTimeout) as error:  # noqa: PERF203
                problem = error
            else:
                return self._stream
        raise problem

    def _judged(self, host: str, addresses: list[str]) -> list[str]:
        """The first *addresses* of *host*, if it may be connected to all of them."""
        are_public = all(map(is_public, addresses))
        if self._public_only and not are_public:
            raise NotFetchedError(f"{shown(host)} has an address that is not public, so it is not fetched")
        self._public_only = are_public
        return addresses[:_MOST_ADDRESSES]

    async def disconnect(self) -> None:
        """End the connection at once, whatever else the server wants to send, also amid a TLS handshake."""
        if self._stream:
            with CancelScope(shield=True):
                await self._stream.aclose()
