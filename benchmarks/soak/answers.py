"""What a site answers, as octets: the robots.txt of each kind of site, and each kind of page."""

from __future__ import annotations

import gzip
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cache
from http import HTTPStatus
from math import ceil
from typing import Final

from benchmarks.any_origin import PAGE as PARAGRAPHS

from .log import HOLD, HOP, PAGE
from .world import LEAF, LIMIT, LIST, RETRY_AFTER, SITEMAP_XML, SOUND, WINDOW, Access, Page, Site

AGENT: Final = "SoakBot"
"""The product token of the crawler."""

HOPS: Final = 3
MOST_HOPS: Final = 5
"""RFC 9309 section 2.3.1.2: "at least five consecutive redirects"."""

_LIMIT: Final = 512_000  # octets, section 2.5: "at least 500 kibibytes"


class Way(Enum):
    """How an answer is sent: in one piece, slowly, cut off in the middle, or not at all."""

    WHOLE = auto()
    DRIPPING = auto()
    TOO_SLOW = auto()
    TRUNCATED = auto()
    HANGING = auto()
    RESET = auto()
    NOT_HTTP = auto()


@dataclass(frozen=True)
class Answer:
    """*meaning* is what the log says of it, see `benchmarks.soak.log`."""

    status: int = 200
    body: bytes = b""
    headers: tuple[str, ...] = ()
    meaning: str = PAGE
    way: Way = Way.WHOLE

    @property
    def octets(self) -> bytes:
        lines = [
            f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}",
            *(self.headers or ("Content-Type: text/html",)),
            f"Content-Length: {len(self.body)}",
        ]
        return "\r\n".join([*lines, "", ""]).encode() + self.body


@dataclass(frozen=True)
class Asked:
    """A request: its path, its ``If-None-Match``, the time (POSIX), and whether it is the site's first."""

    path: str
    etag: str = ""
    now: float = 0.0
    is_first: bool = False


GZIPPED: Final = ("Content-Type: text/plain", "Content-Encoding: gzip")


@cache
def bomb() -> bytes:
    return gzip.compress(bytes(64_000_000))


def is_robots(path: str) -> bool:
    return path.startswith("/robots")


def robots_text(site: Site, version: int, group: str = "*") -> bytes:
    lines = [f"User-agent: {group}"]
    lines += [f"{'Allow' if rule.allows else 'Disallow'}: {rule.pattern}" for rule in site.rules(version)]
    if site.delay:
        lines.append(f"Crawl-delay: {site.delay}")
    if site.kind == "sitemap":
        lines.append(f"Sitemap: {site.world.url(site.host, '/sitemap.xml')}")
    return "\n".join(["User-agent: Other", "Disallow: /list/", "", *lines, ""]).encode()


def _rules(site: Site, _: Asked) -> Answer:
    return _text(robots_text(site, 0))


def _text(body: bytes, version: int = 0, *headers: str) -> Answer:
    return Answer(200, body, ("Content-Type: text/plain", *headers), f"rules:{version}")


def _own_group(site: Site, _: Asked) -> Answer:
    return _text(b"User-agent: *\nDisallow: /\n" + robots_text(site, 0, AGENT))


def _compressed(site: Site, _: Asked) -> Answer:
    return replace(_text(gzip.compress(robots_text(site, 0))), headers=GZIPPED)


def _changing(site: Site, asked: Asked) -> Answer:
    version = site.version(asked.now)
    etag = f'"{version}"'
    headers = (f"ETag: {etag}", f"Cache-Control: max-age={site.world.max_age:.0f}")
    if asked.etag == etag:
        return Answer(304, b"", headers, f"rules:{version}")
    return _text(robots_text(site, version), version, *headers)


def _hostile(site: Site, _: Asked) -> Answer:
    wild = "".join(f"Disallow: /{'*a' * 30}{number}\n" for number in range(300)).encode()
    noise = [bytes(range(256)) * 4, b"x" * 40_000, b"User-agent: " + b"y" * 40_000, b"Disallow: /", b"\0" * 1_000]
    body = b"\xef\xbb\xbf" + b"\n".join([*noise, b"User-agent: Other", wild])
    return _text(body + robots_text(site, 0).replace(b"\n", b"\r"))


def _huge(site: Site, _: Asked) -> Answer:
    padding = b"# padding\n" * (_LIMIT // 10)
    return _text(robots_text(site, 0) + padding + b"User-agent: *\nDisallow: /\n")


def _hop(asked: Asked) -> int:
    """How many redirects led here."""
    return int(asked.path.rpartition("/")[2]) if asked.path != "/robots.txt" else 0


def _moved(site: Site, asked: Asked) -> Answer:
    hop = _hop(asked)
    return _rules(site, asked) if hop == HOPS else _redirect(f"/robots/{hop + 1}", HOP)


def _long_chain(_: Site, asked: Asked) -> Answer:
    hop = _hop(asked)
    return _redirect(f"/robots/{hop + 1}", HOP if hop < MOST_HOPS else Access.ALL.value)


def _redirect(to: str, meaning: str = PAGE) -> Answer:
    return Answer(302, b"", (f"Location: {to}",), meaning)


def _recovering(site: Site, asked: Asked) -> Answer:
    return _none(429, "Retry-After: 1") if asked.is_first else _rules(site, asked)


def _all(status: int, body: bytes = b"") -> Answer:
    return Answer(status, body, meaning=Access.ALL.value)


def _none(status: int, *headers: str) -> Answer:
    return Answer(status, b"<title>Sorry</title>", headers, Access.NONE.value)


def _same(answer: Answer) -> Callable[[Site, Asked], Answer]:
    return lambda _, __: answer


def _sent(way: Way, meaning: str = Access.NONE.value) -> Callable[[Site, Asked], Answer]:
    return lambda site, asked: replace(_rules(site, asked), way=way, meaning=meaning)


ROBOTS: Final[dict[str, Callable[[Site, Asked], Answer]]] = {
    **dict.fromkeys(("plain", "paced", "sitemap", "closed", "limited"), _rules),
    "own group": _own_group,
    "missing": _same(_all(404)),
    "refused": _same(_all(403)),
    "empty": _same(_all(200)),
    "web page": _same(_all(200, PARAGRAPHS)),
    "moved": _moved,
    "compressed": _compressed,
    "changing": _changing,
    "hostile": _hostile,
    "huge": _huge,
    "reset": _sent(Way.RESET),
    "hanging": _sent(Way.HANGING),
    "dripping": _sent(Way.DRIPPING, "rules:0"),
    "too slow": _sent(Way.TOO_SLOW),
    "500": _same(_none(500)),
    "503": _same(_none(503, "Retry-After: 60")),
    "recovering": _recovering,
    "loop": _same(_redirect("/robots.txt", Access.ALL.value)),
    "long chain": _long_chain,
    "truncated": _sent(Way.TRUNCATED),
    "not compressed": lambda site, asked: replace(
        _rules(site, asked), headers=GZIPPED, meaning=Access.NONE.value
    ),
    "bomb": lambda _, __: Answer(200, bomb(), GZIPPED, Access.NONE.value),
    "not HTTP": _sent(Way.NOT_HTTP),
}  # fmt: skip

SOUND_PAGE: Final = Answer(200, PARAGRAPHS)
PAGES: Final[dict[str, Callable[[], Answer]]] = {
    SOUND: lambda: SOUND_PAGE,
    **{str(status): lambda status=status: Answer(status, b"Sorry") for status in (404, 500, 503)},  # type: ignore[misc]
    "429": lambda: Answer(429, b"Sorry", ("Retry-After: 1",)),
    "reset": lambda: replace(SOUND_PAGE, way=Way.RESET),
    "truncated": lambda: replace(SOUND_PAGE, way=Way.TRUNCATED),
    "dripping": lambda: replace(SOUND_PAGE, way=Way.DRIPPING),
    "not compressed": lambda: replace(SOUND_PAGE, headers=GZIPPED),
    "bomb": lambda: Answer(200, bomb(), GZIPPED),
    "hanging": lambda: replace(SOUND_PAGE, way=Way.HANGING),
}


class Limiter:
    """Refuses what comes too fast to one site, and everything for a while then, as the site says."""

    def __init__(self) -> None:
        self._served: deque[float] = deque(maxlen=LIMIT)
        self._until = 0.0

    def refusal(self, now: float) -> Answer | None:
        """The answer to a request at *now*, in seconds, that is not served."""
        if now >= self._until and (len(self._served) < LIMIT or now - self._served[0] >= WINDOW):
            self._served.append(now)
            return None
        if now >= self._until:
            self._until = now + RETRY_AFTER
            self._served.clear()
        seconds = ceil(self._until - now)
        status = 503 if int(self._until) % 2 else 429
        return Answer(status, b"Sorry", (f"Retry-After: {seconds}",), f"{HOLD}{seconds}")


def answer(site: Site, asked: Asked) -> Answer:
    """What *site* answers; 404 for what it does not have."""
    if is_robots(asked.path):
        return ROBOTS[site.kind](site, asked)
    page = site.page(asked.path)
    if page is None:
        return Answer(404, b"Sorry")
    if page.part == LIST:
        return Answer(200, _html(site, page.number))
    if page == SITEMAP_XML:
        return Answer(200, _sitemap(site), ("Content-Type: application/xml",))
    target = site.redirect(page)
    if target is not None:
        return _redirect(_location(site, *target))
    return PAGES[site.leaf(page.number)]() if page.part == LEAF else SOUND_PAGE


def _location(here: Site, site: Site, page: Page) -> str:
    path = site.path(page)
    return path if site.host == here.host else site.world.url(site.host, path)


def _html(site: Site, number: int) -> bytes:
    def lines() -> Iterator[str]:
        yield "<!doctype html><title>list</title>"
        yield from (f'<p><a href="{site.path(page)}">{page.number}</a></p>' for page in site.links(number))

    return "\n".join(lines()).encode()


def _sitemap(site: Site) -> bytes:
    urls = (f"<url><loc>{site.world.url(site.host, site.path(page))}</loc></url>" for page in site.in_sitemap())
    schema = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return f'<?xml version="1.0"?><urlset xmlns="{schema}">{"".join(urls)}</urlset>'.encode()
