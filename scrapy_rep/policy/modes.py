"""Modes: per site, whether robots.txt is obeyed, only reported, or ignored (``REP_MODES``)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from scrapy_rep.protocol import Origin


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
            self._domains[""] = mode
        elif site.startswith("*."):
            self._domains[_host(site[2:])] = mode
        elif "://" in site:
            self._origins[_origin(site)] = mode
        else:
            self._hosts[_host(site)] = mode

    def of(self, origin: Origin) -> Mode | None:
        """The mode of *origin*; None if no site covers it."""
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


def _origin(url: str) -> Origin:
    if url.partition("://")[2].rstrip("/") != url.partition("://")[2].split("/")[0]:
        raise ValueError(f"{url!r} has a path: a mode is that of a whole origin")
    return Origin.from_url(url)


def _host(name: str) -> str:
    """*name* as `Origin` spells hosts. Raises ``ValueError`` for what is not a host name."""
    origin = Origin.from_url(f"https://{f'[{name}]' if name.count(':') > 1 and '[' not in name else name}")
    if origin.port != 443 or any(sign in name for sign in "/?#@* "):
        raise ValueError(f"{name!r} is not a host: give a port as in https://example.com:8443")
    return origin.host
