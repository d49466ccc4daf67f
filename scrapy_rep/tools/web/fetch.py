"""Polite fetches of a robots.txt, by httpcore over a network of ours.

What redirects and statuses of a robots.txt mean is what they mean in a crawl.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urldefrag, urljoin, urlsplit

import httpcore
from anyio import current_time, fail_after
from w3lib.url import safe_url_string

from scrapy_rep.decoders import decoders
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.access import TRUNCATED, RawResponse, headers_read, read
from scrapy_rep.protocol.display import number_of, shown

from .network import Network, NotFetchedError, Resolver, resolve
from .visitors import Hosts, Limits

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_HEADERS: Final = (
    ("Accept", "text/plain, */*;q=0.5"),
    ("Accept-Encoding", "identity"),
    ("Connection", "close"),
)
_MAX_HOPS: Final = 5
"""Redirects that are followed (RFC 9309 section 2.3.1.2)."""

_HOSTS_OF_ADDRESS: Final = 5
"""Hosts that may share an address: so many fetches from it are made in the time of one from a host."""


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A robots.txt: ``url`` was requested, ``hops`` are its redirects, ``status`` is that of the last response.

    ``body`` is empty unless ``access`` is successful: the page of an error has no rules.
    """

    url: str
    hops: tuple[str, ...]
    status: int
    access: Access
    body: bytes


def robots_url(site: str) -> str:
    """The URL of the robots.txt of *site*: a host, or any URL of it. Raises `NotFetchedError`."""
    return Origin.from_url(page_url(site)).robots_url


def page_url(site: str) -> str:
    """The URL of *site*, which may be a bare host. Raises `NotFetchedError`."""
    url = site.strip()
    try:
        url = safe_url_string(url if "://" in url else f"https://{url}")
        origin = Origin.from_url(url)
    except ValueError as error:
        raise NotFetchedError(f"{shown(site)}: {error}") from None
    if origin.scheme not in _DEFAULT_PORTS:
        raise NotFetchedError(f"{shown(site)}: write an address that starts with https:// or http://")
    return url


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

        Raises `TooManyError` at once if its host was asked a moment ago. The generator raises it for the host of a
        redirect and for an address, and `NotFetchedError`.
        """
        network = self.network()
        network.count(self._hosts, Origin.from_url(url).host)
        return self._steps(url, network, self._limits.fetch_time)

    def network(self) -> Network:
        """The network of a question of which nothing has been fetched."""
        return Network(self._resolve, self._addresses, public_only=self._limits.is_public)

    async def _steps(self, url: str, network: Network, seconds: float) -> AsyncGenerator[str | FetchedFile]:
        hops: list[str] = []
        until = current_time() + seconds
        while True:
            target = (hops or [url])[-1]
            yield f"asking {shown(target)}"
            response = await self._ask(target, network, until, seconds)
            location = _location(target, response)
            if location is None:
                yield f"status {response.status}, {number_of(len(response.body), 'octet', 'octets')}"
                reading = read(response, limit=self._limits.robots_octets, decoders=decoders())
                if reading.problem:  # whatever the status says
                    raise NotFetchedError(f"{shown(target)} is unreachable: {reading.problem}")
                if reading.warning:
                    yield reading.warning
                body = reading.body[: self._limits.robots_octets] if reading.access is Access.SUCCESSFUL else b""
                yield FetchedFile(url, tuple(hops), response.status, reading.access, body)
                return
            yield f"status {response.status}: redirected to {shown(location)}"
            if len(hops) == _MAX_HOPS or not Origin.from_url(url).may_lead_to(location):
                why = "more than five redirects" if len(hops) == _MAX_HOPS else "a redirect that is not followed"
                yield f"{why}: as if there were no robots.txt"
                yield FetchedFile(url, tuple(hops), response.status, Access.UNAVAILABLE, b"")
                return
            hops.append(location)

    async def _ask(self, url: str, network: Network, until: float, seconds: float) -> RawResponse:
        """Make one request *until* then, with all failures as `NotFetchedError`."""
        origin = Origin.from_url(url)
        where = shown(str(origin))
        network.count(self._hosts, origin.host)
        if self._limits.is_public and origin.port != _DEFAULT_PORTS[origin.scheme]:
            raise NotFetchedError(f"{where}: only the default ports of http and https are asked")
        try:
            with fail_after(max(until - current_time(), 0)):
                return await self._exchange(url, origin, network)
        except TimeoutError:
            raise NotFetchedError(f"{where} did not finish within {seconds:.2g} s") from None
        except httpcore.LocalProtocolError:
            raise NotFetchedError(f"{shown(url)} cannot be requested") from None
        except httpcore.RemoteProtocolError as error:
            raise NotFetchedError(f"{where} does not speak HTTP as it should: {shown(str(error))}") from None
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
