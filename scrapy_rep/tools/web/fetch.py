"""Polite fetches of a robots.txt, by httpcore over a network of ours.

What redirects and statuses of a robots.txt mean is what they mean in a crawl.
"""

from __future__ import annotations

import os
import ssl
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from typing import Any, Final
from urllib.parse import urldefrag, urljoin, urlsplit

import httpcore
from anyio import current_time, fail_after
from w3lib.url import safe_url_string

from scrapy_rep.clock import clock
from scrapy_rep.decoders import decoders
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.access import TRUNCATED, RawResponse, headers_read, read
from scrapy_rep.protocol.display import number_of, shown
from scrapy_rep.tools.answers import listed

from .network import Network, NotFetchedError, Resolver, resolve
from .visitors import Hosts, Limits, Problem

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_HEADERS: Final = (
    ("Accept", "text/plain, */*;q=0.5"),
    ("Accept-Encoding", "identity"),
    ("Connection", "close"),
)
_MAX_HOPS: Final = 5
"""Redirects that are followed (RFC 9309 section 2.3.1.2)."""

_SIBLING_TIME: Final = 5.0
"""Seconds for each of the siblings of a site, within the time of its fetch."""

_HOSTS_OF_ADDRESS: Final = 5
"""Hosts that may share an address: so many fetches from it are made in the time of one from a host."""


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A robots.txt and where it comes from; without a ``url`` it was not fetched.

    ``url`` was requested, ``hops`` are its redirects, ``status`` is that of the last response, ``time`` is in
    POSIX seconds. ``body`` is empty unless ``access`` is successful: the page of an error has no rules. ``others``
    are sentences about the same site with and without www, over http and https.
    """

    url: str = ""
    hops: tuple[str, ...] = ()
    status: int | None = None
    access: Access = Access.SUCCESSFUL
    body: bytes = field(default=b"", repr=False)
    content_type: str = ""
    time: float = 0.0
    others: tuple[str, ...] = ()

    def as_facts(self) -> dict[str, Any]:
        """The same without the body as data for JSON."""
        facts = {**asdict(self), "access": self.access.value}
        del facts["body"]
        return facts


def robots_url(site: str) -> str:
    """The URL of the robots.txt of *site*: a host, or any URL of it. Raises `NotFetchedError`."""
    url = site.strip()
    try:
        origin = Origin.from_url(safe_url_string(url if "://" in url else f"https://{url}"))
    except ValueError as error:
        raise NotFetchedError(f"{shown(site)}: {error}") from None
    if origin.scheme not in _DEFAULT_PORTS:
        raise NotFetchedError(f"{shown(site)}: write an address that starts with https:// or http://")
    return origin.robots_url


class WebFetcher:
    """Fetches within the *limits*, with this *user_agent*; *resolver* and *tls* are for tests."""

    def __init__(
        self,
        limits: Limits,
        user_agent: str,
        *,
        resolver: Resolver = resolve,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.user_agent = user_agent
        self._limits = limits
        self._resolve = resolver
        self._tls = tls or ssl.create_default_context()
        self._hosts = Hosts(limits.fetch_interval)
        self._addresses = Hosts(limits.fetch_interval / _HOSTS_OF_ADDRESS)

    def fetch(self, url: str) -> AsyncGenerator[str | FetchedFile]:
        """Fetch the robots.txt at *url*: yield a line of text for each step, and at the end the result.

        Its siblings are compared with it. Raises `TooManyError` at once if its host was asked a moment ago. The
        generator raises it for the host of a redirect and for an address, and `NotFetchedError`.
        """
        network = Network(self._resolve, self._addresses, public_only=self._limits.is_public)
        network.count(self._hosts, Origin.from_url(url).host)
        return self._compared(url, network)

    async def _compared(self, url: str, network: Network) -> AsyncGenerator[str | FetchedFile]:
        """The steps to *url* and its siblings, and the file with what they have."""
        until = current_time() + self._limits.fetch_time
        async with aclosing(self._steps(url, network, until)) as steps:
            async for step in steps:
                if isinstance(step, FetchedFile):
                    found = step
                else:
                    yield step
        others: defaultdict[str, list[str]] = defaultdict(list)
        for sibling in _siblings(url):
            origin = str(Origin.from_url(sibling))
            yield f"comparing with {origin}"
            others[await self._compared_with(found, sibling, network, until)].append(origin)
        yield replace(found, others=tuple(f"{what} at {listed(origins)}." for what, origins in others.items()))

    async def _compared_with(self, found: FetchedFile, url: str, network: Network, until: float) -> str:
        """What the sibling at *url* has, beside the file that was *found*."""
        until = min(until, current_time() + _SIBLING_TIME)
        try:
            async with aclosing(self._steps(url, network, until)) as steps:
                (other,) = [step async for step in steps if isinstance(step, FetchedFile)]
        except Problem:
            return "No answer"
        if other.access is not Access.SUCCESSFUL:
            return f"No robots.txt (status {other.status})"
        return "The same file" if other.body == found.body else "Another file"

    async def _steps(self, url: str, network: Network, until: float) -> AsyncGenerator[str | FetchedFile]:
        hops: list[str] = []
        while True:
            target = (hops or [url])[-1]
            yield f"asking {shown(target)}"
            response = await self._ask(target, network, until)
            location = _location(target, response)
            if location is None:
                yield f"status {response.status}, {number_of(len(response.body), 'byte', 'bytes')}"
                reading = read(response, limit=self._limits.robots_octets, decoders=decoders())
                if reading.problem:  # whatever the status says
                    raise NotFetchedError(f"{shown(target)} is unreachable: {reading.problem}")
                if reading.warning:
                    yield reading.warning
                body = reading.body[: self._limits.robots_octets] if reading.access is Access.SUCCESSFUL else b""
                content_type = response.headers.get("content-type", "")
                yield FetchedFile(
                    url, tuple(hops), response.status, reading.access, body, content_type, clock.time()
                )
                return
            yield f"status {response.status}: redirected to {shown(location)}"
            if len(hops) == _MAX_HOPS or not Origin.from_url(url).may_lead_to(location):
                why = "more than five redirects" if len(hops) == _MAX_HOPS else "a redirect that is not followed"
                yield f"{why}: as if there were no robots.txt"
                yield FetchedFile(url, tuple(hops), response.status, Access.UNAVAILABLE, time=clock.time())
                return
            hops.append(location)

    async def _ask(self, url: str, network: Network, until: float) -> RawResponse:
        """Make one request *until* then, with all failures as `NotFetchedError`."""
        origin = Origin.from_url(url)
        where = shown(str(origin))
        network.count(self._hosts, origin.host)
        if self._limits.is_public and origin.port != _DEFAULT_PORTS[origin.scheme]:
            raise NotFetchedError(f"{where}: only the default ports of http and https are allowed")
        try:
            with fail_after(max(until - current_time(), 0)):
                return await self._exchange(url, origin, network)
        except TimeoutError:
            raise NotFetchedError(f"{where} did not finish within {self._limits.fetch_time:.2g} s") from None
        except httpcore.LocalProtocolError:
            raise NotFetchedError(f"{shown(url)} cannot be requested") from None
        except httpcore.RemoteProtocolError as error:
            raise NotFetchedError(f"{where} sent an invalid HTTP response: {shown(str(error))}") from None
        except (httpcore.NetworkError, httpcore.TimeoutException, OSError, UnicodeError) as error:
            raise NotFetchedError(f"{where}{_described(error)}") from None
        finally:
            await network.disconnect()

    async def _exchange(self, url: str, origin: Origin, network: Network) -> RawResponse:
        """Send a GET for *url*; of the body of the response no more is read than is needed."""
        parts = urlsplit(url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        asked = httpcore.URL(scheme=origin.scheme, host=origin.host, port=origin.port, target=target.encode())
        headers = [("Host", str(origin).partition("://")[2]), ("User-Agent", self.user_agent)]
        connection = httpcore.AsyncHTTPConnection(asked.origin, ssl_context=self._tls, network_backend=network)
        limit, body, damage = self._limits.robots_octets, bytearray(), ""
        async with connection.stream("GET", asked, headers=[*headers, *_HEADERS]) as response:
            try:
                async for piece in response.aiter_stream():
                    body += piece
                    if len(body) > limit:
                        break
            except (httpcore.RemoteProtocolError, httpcore.ReadError):
                damage = TRUNCATED
        pairs = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in response.headers]
        return RawResponse(response.status, {**dict(pairs), **headers_read(pairs)}, bytes(body), damage)


def _siblings(url: str) -> Iterator[str]:
    """The robots.txt beside that at *url*: with and without www, over http and https; none for an address."""
    origin = Origin.from_url(url)
    name = origin.host.removeprefix("www.")
    if "." not in name or name[-1].isdigit() or origin.port != _DEFAULT_PORTS[origin.scheme]:
        return
    for scheme, host in product(("https", "http"), (name, f"www.{name}")):
        if (scheme, host) != (origin.scheme, origin.host):
            yield Origin.from_url(f"{scheme}://{host}:{_DEFAULT_PORTS[scheme]}/").robots_url


def _location(url: str, response: RawResponse) -> str | None:
    """The URL that the *response* to *url* redirects to, empty if it is unusable; None if it is no redirect."""
    location = response.headers.get("location", "").strip()
    if response.status not in _REDIRECTS or not location:
        return None
    try:
        return urldefrag(urljoin(url, safe_url_string(location.encode("latin-1")))).url
    except ValueError:
        return ""


def _described(error: BaseException) -> str:
    """What went wrong, in the words of the system: at the bottom of what anyio and httpcore make of it."""
    while cause := error.__cause__ or error.__context__:
        error = cause
    if isinstance(error, ssl.SSLError):
        reason = getattr(error, "verify_message", "") or error.reason or "TLS error"
        return f": no secure connection: {shown(reason)}"
    number = getattr(error, "errno", None) or 0
    if number > 0:  # asyncio writes the address into its message
        return f" does not answer: {os.strerror(number)}"
    message = getattr(error, "strerror", None) or error
    return f" does not answer: {shown(str(message))[:200] or 'the connection ended'}"
