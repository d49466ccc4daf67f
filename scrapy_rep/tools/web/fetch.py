"""One polite fetch of a robots.txt: one request and its redirects, each to an address that was judged.

With code of its own on h11, because a connection must go to the address that was checked, which Scrapy's download
handlers resolve for themselves. What redirects and statuses mean is what they mean in a crawl.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import zlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urldefrag, urljoin, urlsplit

import h11
from anyio import fail_after
from w3lib.url import safe_url_string

from scrapy_rep.protocol import Access, Origin, access
from scrapy_rep.protocol.access import without_viewer
from scrapy_rep.protocol.display import number_of, shown

from .addresses import MOST_ADDRESSES, Resolver, is_public, resolve
from .limits import Limits
from .visitors import Hosts

MAX_HOPS: Final = 5
"""Redirects that are followed: RFC 9309 section 2.3.1.2."""

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_HEADERS: Final = (("Accept", "text/plain, */*;q=0.5"), ("Accept-Encoding", "identity"), ("Connection", "close"))
_HOSTS_OF_ADDRESS: Final = 5
"""Hosts that may share an address: so many fetches from it are made in the time of one from a host."""

_CHUNK: Final = 65_536
_MOST_HEAD: Final = 65_536
_WINDOW_BITS: Final = {"gzip": zlib.MAX_WBITS | 16, "x-gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}


class FetchError(Exception):
    """Why there is no answer; the message is for the visitor."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A robots.txt: ``url`` was requested, ``hops`` are its redirects, ``status`` is that of the last response.

    ``body`` is empty unless ``access`` is successful: the page of an error has no rules.
    """

    url: str
    hops: tuple[str, ...]
    status: int
    access: Access
    body: bytes


@dataclass(frozen=True, slots=True)
class _Response:
    status: int
    headers: dict[str, str]
    body: bytes = field(repr=False)


def robots_url(site: str) -> str:
    """The URL of the robots.txt of *site*: a host, or any URL of it. Raises `FetchError`."""
    url = site.strip()
    url = url if "://" in url else f"https://{url}"
    try:
        origin = Origin.from_url(safe_url_string(url))
    except ValueError as error:
        raise FetchError(f"{shown(site)}: {error}") from None
    if origin.scheme not in _DEFAULT_PORTS:
        raise FetchError(f"{shown(site)}: write an address that starts with https:// or http://")
    return origin.robots_url


class Fetcher:
    """Fetches robots.txt files within the *limits*; *resolver* and *tls* are for tests."""

    def __init__(
        self,
        limits: Limits,
        user_agent: str,
        *,
        resolver: Resolver = resolve,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._limits = limits
        self._user_agent = user_agent
        self._resolve = resolver
        self._tls = tls or ssl.create_default_context()
        self._hosts = Hosts(limits.fetch_interval)
        self._addresses = Hosts(limits.fetch_interval / _HOSTS_OF_ADDRESS)

    def fetch(self, url: str) -> AsyncGenerator[str | Fetched]:
        """Fetch the robots.txt at *url*: yield a line of text for each step, and at the end the result.

        Raises `TooManyError` at once if its host was asked a moment ago. The generator raises it for the host of a
        redirect and for an address, and `FetchError`.
        """
        visit = _Visit(Origin.from_url(url), self._limits.is_public)
        visit.count(self._hosts, visit.start.host)
        return self._steps(url, visit)

    async def _steps(self, url: str, visit: _Visit) -> AsyncGenerator[str | Fetched]:
        until = asyncio.get_running_loop().time() + self._limits.fetch_time
        hops: list[str] = []
        while True:
            target = (hops or [url])[-1]
            yield f"asking {shown(target)}"
            response = await self._ask(target, visit, until)
            location = _location(target, response)
            if location is None:
                yield f"status {response.status}, {number_of(len(response.body), 'octet', 'octets')}"
                yield _judged(url, tuple(hops), response)
                return
            yield f"status {response.status}: redirected to {shown(location)}"
            if len(hops) == MAX_HOPS or not visit.start.may_lead_to(location):
                why = "more than five redirects" if len(hops) == MAX_HOPS else "a redirect that is not followed"
                yield f"{why}: as if there were no robots.txt"
                yield Fetched(url, tuple(hops), response.status, Access.UNAVAILABLE, b"")
                return
            hops.append(location)

    async def _ask(self, url: str, visit: _Visit, until: float) -> _Response:
        """Make one request, with all failures as `FetchError`."""
        origin = Origin.from_url(url)
        where = shown(str(origin))
        visit.count(self._hosts, origin.host)
        try:
            with fail_after(max(until - asyncio.get_running_loop().time(), 0)):
                addresses = visit.judged(origin, await self._resolve(origin.host, origin.port))
                visit.count(self._addresses, *addresses)
                async with self._connected(origin, addresses) as (reader, writer):
                    return await _exchange(url, self._user_agent, reader, writer, self._limits.robots_octets)
        except TimeoutError:
            raise FetchError(f"{where} did not finish within {self._limits.fetch_time:g} s") from None
        except ssl.SSLError as error:
            reason = getattr(error, "verify_message", "") or error.reason or "TLS error"
            raise FetchError(f"{where}: no secure connection: {reason}") from None
        except (OSError, UnicodeError) as error:
            raise FetchError(f"{where} does not answer: {_described(error)}") from None
        except h11.RemoteProtocolError as error:
            raise FetchError(f"{where} does not speak HTTP as it should: {shown(str(error))}") from None

    @asynccontextmanager
    async def _connected(
        self, origin: Origin, addresses: list[str]
    ) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """A connection to the first of *addresses* that accepts one."""
        tls = {"ssl": self._tls, "server_hostname": origin.host} if origin.scheme == "https" else {}
        problem: OSError = OSError("it has no address")
        for address in addresses:
            try:
                reader, writer = await asyncio.open_connection(address, origin.port, **tls)  # type: ignore[arg-type]
                break
            except ssl.SSLError:
                raise
            except OSError as error:
                problem = error
        else:
            raise problem
        try:
            yield reader, writer
        finally:
            writer.transport.abort()  # whatever else the server wants to send


@dataclass(slots=True)
class _Visit:
    """What one visitor's fetch may connect to.

    Strangers reach public addresses and default ports. Others reach what they name; but a public site must
    not lead them to a private address.
    """

    start: Origin
    public_only: bool
    must_be_public: bool = False
    counted: set[str] = field(default_factory=set)

    def count(self, fetched: Hosts, *hosts: str) -> None:
        """Count *hosts* as *fetched*, each once in this visit. Raises `TooManyError`."""
        for host in hosts:
            if host not in self.counted:
                fetched.visit(host)
                self.counted.add(host)

    def judged(self, origin: Origin, addresses: list[str]) -> list[str]:
        """Return the first *addresses* of *origin* if it may be connected to all of them. Raises `FetchError`."""
        if self.public_only and origin.port != _DEFAULT_PORTS[origin.scheme]:
            raise FetchError(f"{shown(str(origin))}: only the default ports of http and https are asked")
        are_public = all(map(is_public, addresses))
        if not are_public and (self.public_only or self.must_be_public):
            raise FetchError(f"{shown(origin.host)} is at an address that is not public: it is not asked")
        self.must_be_public = self.must_be_public or are_public
        return addresses[:MOST_ADDRESSES]


async def _exchange(
    url: str, user_agent: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limit: int
) -> _Response:
    """Send a GET for *url*; return the response, of whose body at most *limit* octets are read."""
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MOST_HEAD)
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    host = str(Origin.from_url(url)).partition("://")[2]
    headers = [
        ("Host", host),
        ("User-Agent", user_agent),
        *_HEADERS,
    ]
    try:
        request = h11.Request(method="GET", target=target, headers=headers)
    except h11.LocalProtocolError:
        raise FetchError(f"{shown(url)} cannot be requested") from None
    writer.write((connection.send(request) or b"") + (connection.send(h11.EndOfMessage()) or b""))
    await writer.drain()
    status, fields, body = 0, {}, bytearray()
    async with aclosing(_events(connection, reader)) as events:
        async for event in events:
            if isinstance(event, h11.Response):
                status = event.status_code
                fields = {name.decode("latin-1"): value.decode("latin-1") for name, value in event.headers}
            elif isinstance(event, h11.Data):
                body += event.data
            if len(body) > limit:
                break
    return _Response(status, fields, _decoded(bytes(body), fields, limit))


async def _events(connection: h11.Connection, reader: asyncio.StreamReader) -> AsyncGenerator[h11.Event]:
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(_CHUNK))
        elif isinstance(event, h11.Event):
            yield event
            if isinstance(event, (h11.EndOfMessage, h11.ConnectionClosed)):
                return
        else:
            return  # PAUSED: another protocol begins


def _decoded(body: bytes, headers: dict[str, str], limit: int) -> bytes:
    """*body*, at most *limit* octets of it, without the content coding that no one asked for."""
    coding = headers.get("content-encoding", "").strip().lower()
    if coding in {"", "identity"}:
        return body[:limit]
    if coding not in _WINDOW_BITS:
        raise FetchError(f"the server sends the content coding {shown(coding)[:40]!r}, which was not asked for")
    with suppress(zlib.error):
        return zlib.decompressobj(_WINDOW_BITS[coding]).decompress(body, limit)
    raise FetchError(f"the server says that the body is {coding}, but it is not")


def _location(url: str, response: _Response) -> str | None:
    """The URL that the *response* to *url* redirects to, empty if it is unusable; None if it is no redirect."""
    location = response.headers.get("location", "").strip()
    if response.status not in _REDIRECTS or not location:
        return None
    try:
        return urldefrag(urljoin(url, safe_url_string(location.encode("latin-1")))).url
    except ValueError:
        return ""


def _judged(url: str, hops: tuple[str, ...], response: _Response) -> Fetched:
    meaning = access(response.status, response.body)
    body = without_viewer(response.body) if meaning is Access.SUCCESSFUL else b""
    return Fetched(url, hops, response.status, meaning, body)


def _described(error: Exception) -> str:
    number = getattr(error, "errno", None) or 0
    if number > 0:  # asyncio writes the address into its message
        return os.strerror(number)
    return shown(str(getattr(error, "strerror", None) or error or type(error).__name__))[:200]
