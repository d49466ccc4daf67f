"""Find the robots.txt of a URL: RFC 9309 section 2.3, one file per scheme, host and port.

Hosts are compared by their spelling, in lower case and IDNA form, without DNS.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final
from urllib.parse import urlsplit

from .path_pattern import octets, path_behind, path_of

_DEFAULT_PORTS: Final = {"http": 80, "https": 443, "ftp": 21}
_SAME_FILE: Final = {"ws": "http", "wss": "https"}

SCHEMES: Final = frozenset({*_DEFAULT_PORTS, *_SAME_FILE})
"""The URL schemes with a robots.txt; other schemes (``file``, ``data``, ``s3``) have none."""

# Matches the start of nearly every URL.
_COMMON: Final = re.compile(r"https?://[a-z0-9.:-]+(?=[/?#]|\Z)")
_PORT: Final = re.compile(r"[0-9]{1,4}")  # always a valid port; a port of five digits may be too large
# As _COMMON, before a path and always valid: a port of five digits may be too large.
_START: Final = re.compile(r"https?://[a-z0-9.-]+(?::[0-9]{1,4})?(?=/)")

# The last label shows whether a host is an IPv4 address, in any spelling that inet_aton(3) accepts: "127.1",
# "0x7f000001", "2130706433".
_IPV4_IN_DISGUISE: Final = re.compile(r"(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$")

# The translation prefix of RFC 6052, and the "IPv4-compatible" addresses of RFC 4291.
_IPV4_SUFFIXED: Final = (IPv6Network("64:ff9b::/96"), IPv6Network("::/96"))


@dataclass(frozen=True, slots=True)
class Origin:
    """A scheme, a host and an effective port, which share one robots.txt.

    ``scheme`` is ``http``, ``https`` or ``ftp``. ``host`` is in lower case and IDNA form; IPv6 addresses have no
    brackets. ``port`` is the scheme's default if the URL names none.
    """

    scheme: str
    host: str
    port: int

    @classmethod
    def from_url(cls, url: str) -> Origin:
        """The origin of *url*, without user information; ``ws`` and ``wss`` map to ``http`` and ``https``.

        Raises ``ValueError`` if the scheme is not in `SCHEMES`, or if the URL has no usable host or port.
        """
        common = _COMMON.match(url)
        return _of_common(common[0]) if common else cls._parsed(url)

    @classmethod
    def find(cls, url: str) -> Origin | None:
        """As `from_url`, but None for a URL without an origin."""
        try:
            return cls.from_url(url)
        except ValueError:
            return None

    @classmethod
    def _parsed(cls, url: str) -> Origin:
        parts = urlsplit(url)
        scheme = _SAME_FILE.get(parts.scheme, parts.scheme)
        if scheme not in _DEFAULT_PORTS:
            raise ValueError(f"no robots.txt speaks for the scheme of {url!r}")
        if not parts.hostname:
            raise ValueError(f"no host in {url!r}")
        host = parts.hostname
        if not host.isascii():
            host = host.encode("idna").decode("ascii").lower()
        return cls(scheme, host, _DEFAULT_PORTS[scheme] if parts.port is None else parts.port)

    @property
    def robots_url(self) -> str:
        """The URL of this origin's robots.txt."""
        return f"{self}/robots.txt"

    @property
    def is_local(self) -> bool:
        """Whether the host, by its spelling, is this machine or in a private network.

        True for loopback, private, link-local and reserved addresses, ``localhost``, and unusual spellings of IPv4
        addresses. A name that merely resolves to such an address does not count.
        """
        return _nearness(self.host)[0]

    @property
    def is_loopback(self) -> bool:
        """Whether the host, by its spelling, is this machine: ``localhost`` or a loopback address."""
        return _nearness(self.host)[1]

    def may_lead_to(self, url: str) -> bool:
        """Whether a redirect or a Sitemap line of this origin may lead to *url*.

        Only http(s) URLs are accepted. A public host may not point to a private one.
        """
        to = Origin.find(url)
        return to is not None and url.startswith(("http:", "https:")) and (self.is_local or not to.is_local)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}"


def split_url(url: str, *, canonical_octets: bool = True) -> tuple[str, bytes]:
    """Split *url* into its start, a key for its origin, and its path as returned by `path_of`.

    URLs with equal starts have equal origins, and `Origin.from_url` of the start returns the origin of the URL. An
    origin may have several starts: with and without the default port.

    Raises ``ValueError`` where `Origin.from_url` does.
    """
    common = _START.match(url)
    if common is None:
        return str(Origin.from_url(url)), path_of(url, canonical_octets=canonical_octets)
    start = common[0]
    return start, path_behind(octets(url[len(start) :]), canonical_octets)


@lru_cache(maxsize=4_096)  # a crawl checks thousands of pages of an origin
def _of_common(start_of_url: str) -> Origin:
    scheme, _, authority = start_of_url.partition("://")
    host, colon, port = authority.partition(":")
    if not colon:
        return Origin(scheme, host, _DEFAULT_PORTS[scheme])
    return Origin(scheme, host, int(port)) if _PORT.fullmatch(port) and host else Origin._parsed(start_of_url)


@lru_cache(maxsize=4_096)
def _nearness(host: str) -> tuple[bool, bool]:
    """Whether *host* is local, and whether it is this machine, by its spelling."""
    host = host.rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True, True
    address = _address(host)
    if address is None:
        return bool(_IPV4_IN_DISGUISE.search(host)), False
    return address.is_multicast or not address.is_global, address.is_loopback


def _address(host: str) -> IPv4Address | IPv6Address | None:
    """The IP address in *host*, or the IPv4 address embedded in that; None for a name."""
    if not host[-1:].isdigit() and ":" not in host:
        return None  # nearly every host; saves the two exceptions that `ip_address` raises
    try:
        address = ip_address(host)
    except ValueError:
        return None
    if not isinstance(address, IPv6Address):
        return address
    if any(address in network for network in _IPV4_SUFFIXED) and int(address) > 1:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour or address
