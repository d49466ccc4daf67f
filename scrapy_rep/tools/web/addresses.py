"""Which addresses a host has, and which of them may be connected to.

A host is resolved once for each request, and the connection goes to the very address that was judged: a name that
resolves differently the next time gains nothing.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from functools import partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

from anyio import CapacityLimiter, to_thread

Resolver = Callable[[str, int], Awaitable[list[str]]]
"""Returns the IP addresses of a host for a port. Raises ``OSError``."""

MOST_ADDRESSES: Final = 4
"""Addresses of a host that are tried."""

_SPECIAL_IPV4: Final = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
            "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24",
            "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
            "224.0.0.0/3",
        ),
    )
)  # fmt: skip
"""IANA's registry of special-purpose IPv4 addresses, and multicast."""

_UNICAST: Final = IPv6Network("2000::/3")
_SPECIAL_UNICAST: Final = tuple(
    map(IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"))
)
"""IANA's registry of special-purpose IPv6 addresses, as far as it is within `_UNICAST`."""

_WITH_IPV4: Final = (IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96"))
"""Addresses that lead to the IPv4 address at their end: mapped ones, and those of NAT64 (RFC 6052)."""


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
    if isinstance(parsed, IPv6Address):
        if not any(parsed in network for network in _WITH_IPV4):
            return parsed in _UNICAST and not any(parsed in network for network in _SPECIAL_UNICAST)
        parsed = IPv4Address(int(parsed) & 0xFFFF_FFFF)
    return not any(parsed in network for network in _SPECIAL_IPV4)
