"""The URLs that a download handler sends, which are not always the URL of the request.

robots.txt applies to the URL that arrives at a site, and the library behind a download handler may respell it.
Under ``Disallow: /search?``, Twisted requests ``/search?q=1`` for ``/search;?q=1``; aiohttp requests ``/secret``
for ``/public/%2e%2e/secret``. Both spellings must be allowed: the request's, which logs show, and the wire's.

`spellings` asks the handler's library, in the installed version. A third-party handler, such as a browser, may
send the spelling of the Scrapy handler that it extends, or that of the WHATWG URL standard.

`respells` finds in less than a microsecond that a URL needs none of this, by a pattern of URLs that no library
respells. A part of a pattern never overlaps the next part, which keeps matching linear.

Neither reads ``request.meta``: a middleware may still set ``verbatim_url``.
"""

from __future__ import annotations

import re
import string
import sys
from collections.abc import Callable, Iterator
from functools import cache
from ipaddress import IPv6Address
from itertools import product
from socket import inet_aton, inet_ntoa
from typing import Final, NamedTuple
from urllib.parse import quote, unquote, unquote_to_bytes, urldefrag, urlparse

_HANDLERS: Final = "scrapy.core.downloader.handlers"
_DEFAULT_PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}

# Patterns of URLs that a handler sends unchanged. They contain no controls, no blanks, and only ASCII letters.
_END: Final = r"(?:\#[!-~]*)?\Z"
_NAME: Final = r"[a-z0-9.-]+(?::[0-9]+)?"
_PATH: Final = r"[!-\"$-:<->@-~]*"  # without "#", ";" and "?"
_QUERY: Final = r"(?:\?[!-\"$-~]+)?"
# Twisted drops an empty ";" and an empty "?"; some versions of Python double a "//" at the start of a path.
_TWISTED: Final = rf"https?://{_NAME}(?:/(?!/){_PATH}(?:;(?![?\#]|\Z){_PATH})*)?{_QUERY}{_END}"
_HTTP2: Final = rf"https?://{_NAME}(?:/{_PATH})?{_QUERY}{_END}"
_FTP: Final = rf"ftp://{_NAME}(?:/[!-\"$&-:<->@-~]*)?\Z"
# Unchanged in yarl, httpx and browsers: bytes that are neither encoded nor decoded, and segments that do not
# start with a dot. The host is an IPv4 address of four numbers, or a name that cannot be read as an address.
_KEPT: Final = "%(?:20|[89A-F][0-9A-F])"
_BYTE: Final = "(?:0|[1-9][0-9]{0,2})"
_NORMAL: Final = (
    rf"https?://(?:(?:{_BYTE}\.){{3}}{_BYTE}|(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*)(?::[0-9]+)?"
    rf"(?:/(?!\.)[\w.~!$&'()*+,;=:@-]*(?:{_KEPT}[\w.~!$&'()*+,;=:@-]*)*)*"
    rf"(?:\?(?!\#|\Z)[\w./?~!$&()*+,;=:@-]*(?:{_KEPT}[\w./?~!$&()*+,;=:@-]*)*)?{_END}"
)


def respells(handler: object) -> Callable[[str], object]:
    """Return a cheap test for URLs, which is falsy only if *handler* sends the URL unchanged.

    Changes that no rule can see do not count. The test may also be true of a URL that is sent unchanged.
    """
    plain = (f"(?!{kind.plain})" for kind, _ in _kinds(_modules(handler)))
    return re.compile("|".join(plain), re.ASCII).match


def spellings(url: str, handler: object) -> tuple[str, ...]:
    """Return the other absolute URLs that *handler* may send for *url*; empty if it sends *url* unchanged.

    Raises ``ValueError`` if the handler's library refuses the URL.
    """
    try:
        sent = [each for kind, module in _kinds(_modules(handler)) for each in kind.spell(url, module)]
    except (IndexError, OSError) as error:  # of yarl, for the host of "http://[::1]:80@", and of inet_aton()
        raise ValueError(f"no host in {url!r}") from error
    sent += [each.rstrip(" ") for each in sent]  # trailing blanks are sent, and many servers ignore them
    return tuple(each for each in dict.fromkeys(sent) if each not in {url, url.partition("#")[0]})


class _Kind(NamedTuple):
    plain: str  # the pattern of URLs that it sends unchanged
    spell: Callable[[str, str], Iterator[str]]  # takes a URL and the name of the handler's module


def _by_twisted(url: str, _: str) -> Iterator[str]:
    from twisted.web.client import URI  # noqa: PLC0415

    uri = URI.fromBytes(urldefrag(url)[0].encode("ascii"))  # type: ignore[no-untyped-call]
    yield _joined(uri.scheme.decode(), uri.host.decode(), uri.port, uri.originForm.decode())


def _by_http2(url: str, _: str) -> Iterator[str]:
    """As Scrapy reads URLs: without the parameters of the last segment."""
    parts = urlparse(url)
    query = f"?{parts.query}" if parts.query else ""
    yield _joined(parts.scheme, parts.hostname, parts.port, f"{parts.path or '/'}{query}")


def _by_aiohttp(url: str, _: str) -> Iterator[str]:
    """As aiohttp spells URLs, without and with ``verbatim_url``, which still drops an empty query."""
    import yarl  # noqa: PLC0415

    for sent in (yarl.URL(url), yarl.URL(url, encoded=True)):
        yield _joined(sent.scheme, sent.raw_host, sent.port, sent.raw_path_qs)


def _by_httpx(url: str, module: str) -> Iterator[str]:
    library = sys.modules[module].httpx  # httpx2, or httpx if there is no httpx2
    try:
        sent = library.URL(url)
    except library.InvalidURL as error:
        raise ValueError(str(error)) from error
    yield _joined(sent.scheme, sent.raw_host.decode(), sent.port, sent.raw_path.decode())


def _by_ftp(url: str, _: str) -> Iterator[str]:
    """Unquoted file names, with reserved characters raw or escaped; servers may ignore trailing blanks."""
    parts = urlparse(url)
    sent = unquote(parts.path).replace("\n", "\0").encode("latin-1")
    for name, safe in product((sent, sent.rstrip(b" ")), (_PRINTABLE - {"#"}, _PRINTABLE - {*"#%;?"})):
        yield _joined(parts.scheme, parts.hostname, parts.port, quote(name, "".join(safe)) or "/")


_PRINTABLE: Final = {*string.punctuation}
_C0_AND_BLANK: Final = "".join(map(chr, range(0x21)))
_PARTS: Final = re.compile(r"[/\\]*([^/\\?]*)([^?]*)(.*)", re.DOTALL)
_HOST_AND_PORT: Final = re.compile(r"(\[[^\]]*\]|[^:]*)(?::([0-9]*))?")
_ENDS_IN_NUMBER: Final = re.compile(r"(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)\.?\Z")
_DOTS: Final = {".": 1, "%2e": 1, "..": 2, ".%2e": 2, "%2e.": 2, "%2e%2e": 2}
_NO_HOST: Final = re.compile(r"[\0-\x20#%/:<>?@\[\\\]^|\x7f]")


def _by_browser(url: str, _: str) -> Iterator[str]:
    """The URL standard's "basic URL parser" (https://url.spec.whatwg.org/#url-parsing), for special schemes."""
    url = re.sub(r"[\t\n\r]", "", url.strip(_C0_AND_BLANK)).partition("#")[0]
    scheme, _, rest = url.partition(":")
    scheme = scheme.lower()
    if scheme not in _DEFAULT_PORTS:
        return
    authority, path, query = _PARTS.match(rest).groups()  # type: ignore[union-attr]  # anything matches
    found = _HOST_AND_PORT.fullmatch(authority.rpartition("@")[2])
    if found is None:
        raise ValueError(f"no port in {url!r}")
    host, port = found.groups("")
    path = quote(_without_dots(path.replace("\\", "/")), "".join(_PRINTABLE - {*'"#<>?^`{}'}))
    query = quote(query, "".join(_PRINTABLE - {*"\"#<>'"}))
    yield _joined(scheme, _host(host), int(port) if port else None, path + query)


def _host(host: str) -> str:
    if host[:1] == "[":
        return str(IPv6Address(host[1:-1]))
    host = unquote_to_bytes(host).decode().lower()
    if not host.isascii():
        import idna  # noqa: PLC0415

        host = idna.encode(host, uts46=True).decode()
    if _NO_HOST.search(host):
        raise ValueError(f"no host: {host!r}")
    return inet_ntoa(inet_aton(host.removesuffix("."))) if _ENDS_IN_NUMBER.search(host) else host


def _without_dots(path: str) -> str:
    """Resolve the dot segments of *path*, including escaped dots."""
    kept: list[str] = []
    dots = 0
    for segment in path.split("/")[1:]:
        dots = _DOTS.get(segment.lower(), 0)
        if not dots:
            kept.append(segment)
        elif dots == 2:
            del kept[-1:]
    return "/" + "/".join([*kept, ""] if dots else kept)


def _joined(scheme: str, host: str | None, port: int | None, target: str) -> str:
    if not host:
        raise ValueError(f"no host for {target!r}")
    name = f"[{host}]" if ":" in host and "@" not in host else host
    return f"{scheme}://{name}{'' if port in {None, _DEFAULT_PORTS.get(scheme)} else f':{port}'}{target}"


_BROWSER: Final = _Kind(_NORMAL, _by_browser)
_KNOWN: Final = {
    "http10": _Kind(_TWISTED, _by_twisted),
    "http11": _Kind(_TWISTED, _by_twisted),
    "http2": _Kind(_HTTP2, _by_http2),
    "aiohttp": _Kind(_NORMAL, _by_aiohttp),
    "httpx": _Kind(_NORMAL, _by_httpx),
    "ftp": _Kind(_FTP, _by_ftp),
}


def _modules(handler: object) -> tuple[str, ...]:
    return tuple(each.__module__ for each in type(handler).__mro__)


@cache
def _kinds(modules: tuple[str, ...]) -> tuple[tuple[_Kind, str], ...]:
    """Return how a handler spells URLs, with the module that decides, by the *modules* of its class and bases."""
    for module in modules:
        package, _, name = module.rpartition(".")
        kind = _KNOWN.get(name.removeprefix("_")) if package == _HANDLERS else None
        if kind is not None:
            return ((kind, module),) if module == modules[0] else ((kind, module), (_BROWSER, ""))
    return ((_BROWSER, ""),)
