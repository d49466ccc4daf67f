"""Sign requests, to let sites verify the crawler: Web Bot Auth, draft-ietf-webbotauth-httpsig-protocol-01.

The draft (2026-10-29) is a profile of RFC 9421, HTTP message signatures. A signature covers ``@authority`` and the
URL of the key directory; ``keyid`` is the thumbprint of the key (RFC 7638, RFC 8037).

The signature covers neither path nor query, although the draft recommends more: libraries and proxies respell
both, and a signature over another spelling is worse than none. An eavesdropper can replay a signature at the same
host; it therefore expires soon. A few seconds are not enough: a request may wait in the download handler for up to
``download_timeout``, and clocks differ. A signature is valid for that time plus a minute, from ten seconds ago.

The signed text has a fixed form with a few variable values, and is a template here. A library for RFC 9421
rebuilds it each time, which takes ten times as long as signing. Tests verify the result with two such libraries.
"""

from __future__ import annotations

import json
import logging
import os
import re
from base64 import b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Coroutine, Mapping
from copy import copy
from email.utils import parsedate_to_datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from scrapy.utils.httpobj import urlparse_cached

from scrapy_rep.clock import clock
from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.protocol import Origin
from scrapy_rep.settings import logging_invalid_settings

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from scrapy_rep.crawl.runtime.crawl import Crawl

    Send = Callable[[Request], Coroutine[Any, Any, Response]]
    Test = Callable[[Mapping[str, Any]], bool]

logger = logging.getLogger(__name__)

TAG: Final = "web-bot-auth"
_HEADERS: Final = (b"Signature", b"Signature-Input", b"Signature-Agent")

_SINCE: Final = 10  # seconds by which a signature is backdated, because some clocks run behind
_SLACK: Final = 60  # seconds beyond the download timeout
_LONGEST: Final = 3_600  # seconds of a download timeout that count
_LOOKS_EVERY: Final = 5.0  # seconds between two checks of the key file
_DOUBTFUL: Final = frozenset({400, 401, 403})  # statuses with which a verifier may reject a signature

_WHERE: Final = "the path of a PEM or JWK file with an Ed25519 private key, or env:NAME"
# No password, no fragment, and neither '"' nor '\', which a structured field would escape.
_AGENT: Final = re.compile(r"https://[A-Za-z0-9.-]+(?::[0-9]+)?(?:[/?][!$-\[\]-~]*)?")

_SCRAPYS: Final = ("http", "http10", "http11", "http2", "_aiohttp", "aiohttp", "_httpx", "httpx")
# Modules of download handlers, and a test by meta for requests that they send with a client without redirects.
_CLIENTS: Final[Mapping[str, Test]] = {
    **{f"scrapy.core.downloader.handlers.{name}": lambda _: True for name in _SCRAPYS},
    "scrapy_impersonate.handler": lambda meta: (
        not ((meta.get("impersonate_args") or {}).get("allow_redirects") or meta.get("impersonate_curl_options"))
    ),
    "scrapy_playwright.handler": lambda meta: not meta.get("playwright"),
}

# Names of methods with which a handler may send, without Python's own, for example __init__ and _abc_impl.
_SENDING: Final = re.compile("download_request|_(?!_|abc_)")

_MAY_FOLLOW: Final = (
    "Requests through %s.%s that may follow redirects by themselves are not signed: they would carry a signature"
    " to other sites. The stat rep/sign/unsigned_count counts them."
)
_OTHER_CLOCK: Final = "%s answered %d to a signed request, and its clock is %.0f seconds %s yours: set your clock"


class Key:
    """An Ed25519 key pair that exposes only its public half: ``jwk`` and its ``thumbprint``."""

    __slots__ = ("jwk", "sign", "thumbprint")

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self.sign: Callable[[bytes], bytes] = private.sign
        self.jwk = {"crv": "Ed25519", "kty": "OKP", "x": _base64url(private.public_key().public_bytes_raw())}
        self.thumbprint = thumbprint_of(self.jwk["x"])

    @classmethod
    def read(cls, source: str) -> Key:
        """Read the private key at *source*, a value of ``REP_SIGN_KEY``.

        Raises `InvalidSettingError`. The message shows neither the key nor *source*, which may be the key itself.
        """
        if "-----BEGIN" in source or source.lstrip().startswith("{"):
            raise InvalidSettingError(f"REP_SIGN_KEY is a key itself, which logs may show: expected {_WHERE}")
        try:
            private = _private_key(_read(source))
        except (OSError, ValueError, KeyError) as error:
            why = getattr(error, "strerror", None) or "no such file or variable"
            raise InvalidSettingError(f"REP_SIGN_KEY cannot be read ({why}): expected {_WHERE}") from None
        if private is None:
            raise InvalidSettingError(f"REP_SIGN_KEY leads to no unencrypted Ed25519 key: expected {_WHERE}")
        return cls(private)

    def __repr__(self) -> str:
        return f"<Key {self.thumbprint}>"


class Identity:
    """A verifiable crawler: its *key*, and *agent*, the URL where the public half is published.

    A signature is valid for at least *seconds*. *label* names it in the headers.
    """

    def __init__(self, key: Key, agent: str, seconds: int, label: str = "sig1") -> None:
        self.key, self.agent = key, agent
        self.seconds, self._label = seconds, label
        covered = f'"signature-agent";key="{label}"'
        self._parameters = (
            f'("@authority" {covered});created=%d;keyid="{key.thumbprint}";alg="ed25519";expires=%d;nonce="%s"'
            f';tag="{TAG}"'
        )
        escaped = agent.replace("%", "%%")
        self._base = f'"@authority": %s\n{covered}: "{escaped}"\n"@signature-params": %s'

    @classmethod
    def from_settings(cls, settings: BaseSettings, key: str, agent: str) -> Identity:
        """The identity in ``REP_SIGN_KEY`` and ``REP_SIGN_AGENT``. Raises `InvalidSettingError`."""
        for name, value in (("REP_SIGN_KEY", key), ("REP_SIGN_AGENT", agent)):
            if not value:
                raise InvalidSettingError(f"{name} is not set: signatures need REP_SIGN_KEY and REP_SIGN_AGENT")
        timeout = settings.getfloat("DOWNLOAD_TIMEOUT") or _LONGEST  # 0 means none
        return cls(Key.read(key), checked_agent(agent), _seconds(timeout))

    def headers(self, authority: str, nonce: str = "", created: int = 0, timeout: float = 0) -> dict[bytes, bytes]:
        """The headers that sign a request to *authority*, a lower-case host with any non-default port.

        The request may wait for *timeout* seconds. Raises ``ValueError`` if *authority* is not ASCII.
        """
        created = created or int(clock.time()) - _SINCE
        nonce = nonce or b64encode(os.urandom(64)).decode()
        expires = created + max(self.seconds, _seconds(timeout))
        parameters = self._parameters % (created, expires, nonce)
        signature = b64encode(self.key.sign((self._base % (authority, parameters)).encode("ascii"))).decode()
        values = (f":{signature}:", parameters, f'"{self.agent}"')
        return {name: f"{self._label}={value}".encode() for name, value in zip(_HEADERS, values, strict=True)}

    def __repr__(self) -> str:
        return f"<Identity {self.agent} with {self.key}>"


class Signer:
    """Signs the requests of one crawl, each hop and attempt anew; only the download handler sees signatures."""

    def __init__(self, crawl: Crawl) -> None:
        """Raises `InvalidSettingError`, which is logged."""
        self._crawl = crawl
        self._source = crawl.settings.sign_key
        self._file = _state_of(self._source)
        with logging_invalid_settings(logger):
            self.identity = Identity.from_settings(crawl.crawler.settings, self._source, crawl.settings.sign_agent)
        self._looked_at = clock.monotonic()
        self._follow_nothing: dict[type, Test] = {}  # by the class of a download handler
        self._told: set[type] = set()  # handler classes that were warned about
        self._has_compared = False
        crawl.events.opened.subscribe(self._opened)

    def _opened(self) -> None:
        identity = self.identity
        logger.info("Requests are signed as %s, with the key %s", identity.agent, identity.key.thumbprint)
        self._crawl.downloader.wrap_send(self._send)

    async def _send(self, send: Send, request: Request) -> Response:
        authority = self._authority(request)
        if authority is None:
            return await send(request)
        signed = self._signed(request, authority)
        response = await send(signed)
        if response.request is signed:
            response.request = request
        if response.status in _DOUBTFUL and not self._has_compared:
            self._compare_clocks(request, response)
        return response

    def _authority(self, request: Request) -> str | None:
        """The host for which to sign *request*; None if the signature might reach another host."""
        headers, scheme = request.headers, urlparse_cached(request).scheme
        if scheme not in {"http", "https"} or any(name in headers for name in _HEADERS):  # signed by the project
            return None
        is_direct = self._crawl.targets.of(request) is request.url  # otherwise a service fetches the page
        authority = authority_of(request) if is_direct and self._follows_nothing(request) else None
        self._crawl.stats.inc_value("rep/sign/unsigned_count" if authority is None else "rep/sign/signed_count")
        return authority

    def _follows_nothing(self, request: Request) -> bool:
        kind = type(self._crawl.downloader.handler(request))
        test = self._follow_nothing.get(kind)
        if test is None:
            test = self._follow_nothing[kind] = follows_nothing(kind)
        if test(request.meta):
            return True
        if kind not in self._told:
            self._told.add(kind)
            logger.warning(_MAY_FOLLOW, kind.__module__, kind.__qualname__)
        return False

    def _signed(self, request: Request, authority: str) -> Request:
        """A copy of *request*, signed for *authority*; both share the meta, which receives the latency."""
        if self._file is not None and clock.monotonic() >= self._looked_at + _LOOKS_EVERY:
            self._look_at_file()
        meta = request.meta  # Scrapy creates it on first access, which must precede the copy
        signed = copy(request)
        signed.headers = request.headers.copy()
        timeout = meta.get("download_timeout") or 0
        signed.headers.update(self.identity.headers(authority, timeout=timeout))
        assert signed.meta is meta  # noqa: S101  # otherwise AutoThrottle would lose the latency
        return signed

    def _look_at_file(self) -> None:
        """Switch to the key that is now in the file; keep the current key if the file is unusable."""
        self._looked_at = clock.monotonic()
        state = _state_of(self._source)
        if state == self._file:
            return
        self._file = state
        try:
            key = Key.read(self._source)
        except InvalidSettingError as error:
            logger.warning("%s. The crawl goes on with the key %s.", error, self.identity.key.thumbprint)
            return
        if key.thumbprint != self.identity.key.thumbprint:
            logger.info("Requests are signed with the new key %s", key.thumbprint)
            self.identity = Identity(key, self.identity.agent, self.identity.seconds)

    def _compare_clocks(self, request: Request, response: Response) -> None:
        """Warn once if the signature is invalid by the clock of the site that refuses *request*."""
        try:
            theirs = parsedate_to_datetime((response.headers.get(b"Date") or b"").decode("latin-1")).timestamp()
        except (ValueError, OverflowError, OSError):  # a site may send any text
            return
        ahead = theirs - clock.time()
        if not -_SINCE <= ahead < self.identity.seconds - _SINCE:
            self._has_compared = True
            url, side = self._crawl.targets.url(request), "ahead of" if ahead > 0 else "behind"
            logger.warning(_OTHER_CLOCK, url, response.status, abs(ahead), side)

    def __repr__(self) -> str:
        return f"<Signer {self.identity!r}>"


def follows_nothing(kind: type) -> Test:
    """A test by meta for requests that a download handler of class *kind* sends without following redirects.

    A subclass counts as its base if it sends only through inherited methods.
    """
    own: set[str] = set()
    for each in kind.__mro__:
        if each.__module__ in _CLIENTS:
            if own & set(dir(each)):
                break
            return _CLIENTS[each.__module__]
        own.update(filter(_SENDING.match, vars(each)))
    return lambda _: False


def authority_of(request: Request) -> str | None:
    """The host of *request* in the spelling of RFC 9421 section 2.2.3; None if it may also name another host.

    A redirect keeps the project's ``Host`` header and goes to another host. ``verbatim_url`` keeps international
    names in a URL, which download handlers encode by different standards, as different hosts.
    """
    origin, parts = Origin.from_url(request.url), urlparse_cached(request)
    named = (f"{parts.scheme}://{host.decode('latin-1')}" for host in request.headers.getlist(b"Host"))
    is_sure = parts.netloc.isascii() and all(Origin.find(each) == origin for each in named)
    return str(origin).partition("://")[2] if is_sure else None


def checked_agent(agent: str) -> str:
    """*agent*, a value of ``REP_SIGN_AGENT``. Raises `InvalidSettingError` if no site could fetch it."""
    if not (_AGENT.fullmatch(agent) and Origin.find(agent)):
        raise InvalidSettingError(
            f"REP_SIGN_AGENT = {agent!r}: expected the https URL of your key directory, such as"
            " https://bot.example/.well-known/http-message-signatures-directory"
        )
    return agent


def thumbprint_of(x: str) -> str:
    """The thumbprint of the public Ed25519 key *x*, in base64url: RFC 7638 over the members of RFC 8037."""
    members = json.dumps({"crv": "Ed25519", "kty": "OKP", "x": x}, separators=(",", ":"))
    return _base64url(sha256(members.encode()).digest())


def _read(source: str) -> bytes:
    name, file = source.removeprefix("env:"), Path(source)
    if name != source:
        return os.fsencode(os.environ[name])  # no exception may contain the text
    if file.exists() and not file.is_file():  # a pipe would block the crawl
        raise OSError(0, "it is no regular file")
    with file.open("rb") as opened:
        return opened.read(65_536)  # a key is shorter


def _private_key(text: bytes) -> Ed25519PrivateKey | None:
    """The key in *text*, or None. Never raises: the frames of a traceback would contain the text."""
    try:
        if text.lstrip().startswith(b"{"):
            jwk = json.loads(text)
            if (jwk["kty"], jwk["crv"]) != ("OKP", "Ed25519"):
                return None
            return Ed25519PrivateKey.from_private_bytes(urlsafe_b64decode(jwk["d"] + "=="))
        key = load_pem_private_key(text, None)
    except (ValueError, TypeError, KeyError, RecursionError, UnsupportedAlgorithm):
        return None
    return key if isinstance(key, Ed25519PrivateKey) else None


def _state_of(source: str) -> tuple[int, ...] | None:
    """A value that changes with the file at *source*; None for an environment variable, which never changes."""
    if source.startswith("env:"):
        return None
    try:
        found = os.stat(source)
    except (OSError, ValueError):
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino


def _seconds(timeout: float) -> int:
    """The lifetime in seconds of a signature whose request may wait for *timeout* seconds."""
    return _SINCE + int(min(timeout, _LONGEST)) + _SLACK


def _base64url(octets: bytes) -> str:
    return urlsafe_b64encode(octets).decode().rstrip("=")
