"""Modes: per site, whether robots.txt is obeyed, only reported, or ignored (``REP_MODES``)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from typing import Final, TypeVar

from scrapy_rep.protocol import Origin

_Site = TypeVar("_Site", Origin, str)

_HOST: Final = re.compile(r"(?:[\w-]+\.)*[\w-]+\.?", re.ASCII)
_IPV6: Final = re.compile(r"[0-9a-f:.]*:[0-9a-f:.]*(?:%\w+)?")


class Mode(str, Enum):
    """What the rules of a robots.txt mean for the requests of a crawl; each is a string."""

    __str__ = str.__str__

    OBEY = "obey"
    """What the rules forbid is not requested."""
    REPORT = "report"
    """The rules are read and nothing is stopped; what they forbid is counted and stamped."""
    IGNORE = "ignore"
    """The rules are not asked."""
    OFF = "off"
    """``ROBOTSTXT_OBEY`` is False: robots.txt is not requested at all. Not a value of ``REP_MODES``."""


ASKING: Final = frozenset({Mode.OBEY, Mode.REPORT})
"""Modes under which the rules are asked."""

SENT_ANYWAY: Final = frozenset({Mode.REPORT, Mode.IGNORE})
"""Modes of ``REP_MODES`` under which robots.txt stops no request."""


class Modes:
    """The mode of each site. An origin beats a host, a host beats ``*.domain``, the longest domain wins.

    ``*.domain`` covers the hosts below a domain, not the domain itself; ``*`` covers every host.
    """

    def __init__(self, sites: Mapping[str, str]) -> None:
        """Raises ``ValueError`` for a site or a mode that cannot be."""
        self._origins: dict[Origin, Mode] = {}
        self._hosts: dict[str, Mode] = {}
        self._domains: dict[str, Mode] = {}
        for site, mode in sites.items():
            self._add(site, _mode(site, mode))

    def _add(self, site: str, mode: Mode) -> None:
        if site == "*":
            _put(self._domains, "", site, mode)
        elif site.startswith("*."):
            _put(self._domains, _host(site[2:], site), site, mode)
        elif "://" in site:
            _put(self._origins, _origin(site), site, mode)
        else:
            _put(self._hosts, _host(site, site), site, mode)

    def of(self, origin: Origin) -> Mode | None:
        """The mode of *origin*; None if no site covers it."""
        if origin.host.endswith("."):  # the root of the DNS: the same host
            origin = replace(origin, host=origin.host.rstrip("."))
        mode = self._origins.get(origin) or self._hosts.get(origin.host)
        domain = origin.host if mode is None and self._domains else ""
        while domain:
            domain = domain.partition(".")[2]
            if domain in self._domains:
                return self._domains[domain]
        return mode

    def __bool__(self) -> bool:
        """Whether any site has a mode of its own."""
        return bool(self._origins or self._hosts or self._domains)

    def __repr__(self) -> str:
        return f"<Modes origins={len(self._origins)} hosts={len(self._hosts)} domains={len(self._domains)}>"


def _mode(site: str, mode: str) -> Mode:
    if mode not in {Mode.OBEY, Mode.REPORT, Mode.IGNORE}:
        raise ValueError(f"the mode of {site!r} is {mode!r}: write obey, report or ignore")
    return Mode(mode)


def origin_in_settings(url: str) -> Origin:
    """The origin of a *url* in the settings. Raises ``ValueError`` for one that no request can have.

    It takes no password: the audit log and messages show what is in the settings.
    """
    origin = Origin.from_url(url)
    if "@" in re.split(r"[/?#]", url.partition("://")[2], maxsplit=1)[0]:
        raise ValueError(f"{origin}: leave out the user name and the password")
    if not (_HOST.fullmatch(origin.host) or _IPV6.fullmatch(origin.host)):
        raise ValueError(f"{url!r}: {origin.host!r} is not a host; write one host, without *")
    return origin


def _put(modes: dict[_Site, Mode], key: _Site, site: str, mode: Mode) -> None:
    if modes.setdefault(key, mode) is not mode:
        raise ValueError(f"{site!r} is named twice, with different modes: write it once")


def _origin(url: str) -> Origin:
    origin = origin_in_settings(url)
    if re.search(r"[/?#]", url.partition("://")[2].rstrip("/")):
        raise ValueError(f"{url!r} has a path: a mode is that of a whole origin")
    return replace(origin, host=origin.host.rstrip("."))


def _host(name: str, site: str) -> str:
    """*name* as `Origin` spells hosts. Raises ``ValueError`` for a *site* that is no host."""
    is_bare_ipv6 = name.count(":") > 1 and "[" not in name
    try:
        origin = origin_in_settings(f"https://[{name}]" if is_bare_ipv6 else f"https://{name}")
    except ValueError:
        origin = None
    has_port = ":" in name and not name.endswith("]") and not is_bare_ipv6
    if origin is None or has_port or any(sign in name for sign in "/?#@"):
        raise ValueError(
            f"{site!r} is not a site: write a host, *.DOMAIN, *, or an origin such as https://example.com:8443"
        )
    return origin.host.rstrip(".")
