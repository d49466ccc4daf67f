"""The one table of answers to a fetch of robots.txt, and what every reader of ours has to make of each.

Each answer is written octet by octet, so that it can be cut and damaged anywhere. The crawl, the commands, the web
checker and the archives are held against it, and so is the pure function below them.
"""

from __future__ import annotations

import gzip
import io
import zlib
from dataclasses import dataclass, field
from typing import Final

import brotli
from fastwarc.stream_io import ZstdWriter

from scrapy_rep.protocol import MAX_SIZE
from tests.support.site import Answer

ALLOWED, FORBIDDEN, UNREACHABLE = "allowed", "forbidden", "unreachable"
"""What becomes of ``/page``: no rule is against it, one is, or nobody may know."""

RULES: Final = b"User-agent: *\nDisallow: /page\n" + b"".join(
    b"Disallow: /%d/%x\n" % (n, n * 7919) for n in range(500)
)
CLOSED: Final = b"User-agent: *\nDisallow: /\n" * 9
OPEN: Final = b"User-agent: *\nDisallow: /other\n"
HTML: Final = b"<html><head><title>Oops</title></head><body><p>Disallow: /page</p></body></html>"
NOT_FOUND: Final = b"<html><head><title>404 Not Found</title></head></html>"
BLANK: Final = b"# nothing but padding in this line\n"


_PIECE: Final = 1_000_000
"""Octets; of more than 8 MB at once FastWARC writes the start alone."""


def gz(body: bytes) -> bytes:
    return gzip.compress(body, mtime=0)


def raw_deflate(body: bytes) -> bytes:
    return zlib.compress(body)[2:-4]


def zstd(body: bytes) -> bytes:
    out = io.BytesIO()
    with ZstdWriter(out) as writer:
        for start in range(0, max(len(body), 1), _PIECE):
            writer.write(body[start : start + _PIECE])
    return out.getvalue()


def chunked(body: bytes, *, is_whole: bool = True) -> bytes:
    return b"%x\r\n%s\r\n" % (len(body), body) + (b"0\r\n\r\n" if is_whole else b"")


def half(body: bytes) -> bytes:
    return body[: len(body) // 2]


def flipped(body: bytes, at: int) -> bytes:
    """*body* with another octet *at* a place."""
    damaged = bytearray(body)
    damaged[at] ^= 0xFF
    return bytes(damaged)


@dataclass(frozen=True)
class Case:
    """An answer, with ``more`` in its head; ``length`` is what Content-Length says, None for chunks in ``body``.

    ``outcome`` is the access as the fate of ``/page``. ``archived`` is what an archive makes of it where that
    differs: it may have undone a coding and kept the header. ``via`` says who carries the request.
    """

    outcome: str
    status: int = 200
    coding: str = ""
    body: bytes = field(default=RULES, repr=False)
    more: tuple[tuple[str, str], ...] = ()
    length: int | None = -1
    archived: str = ""
    via: str = ""
    is_cut: bool = False

    @property
    def octets(self) -> bytes:
        """The whole message."""
        head = [f"HTTP/1.1 {self.status} Answer", "Content-Type: text/plain", "Connection: close"]
        head += [f"{name}: {value}" for name, value in self.more]
        head += [f"Content-Encoding: {self.coding}"] * bool(self.coding)
        length = len(self.body) if self.length == -1 else self.length
        head.append("Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}")
        return "\r\n".join([*head, "", ""]).encode() + self.body

    @property
    def answer(self) -> Answer:
        return Answer(raw=self.octets)


def _many() -> bytes:
    """Rules that fill more than the limit, and do not get small when they are compressed."""
    lines = (b"Disallow: /%x\n" % (pow(3, n + 1, 2**521 - 1)) for n in range(9_000))
    return b"User-agent: *\nDisallow: /page\n" + b"".join(lines)


MANY: Final = _many()
assert len(gz(MANY)) > MAX_SIZE  # so that a reader stops inside the coding

CASES: Final[dict[str, Case]] = {
    # Whole bodies, in every coding.
    "plain": Case(FORBIDDEN),
    "identity": Case(FORBIDDEN, coding="identity"),
    "gzip": Case(FORBIDDEN, coding="gzip", body=gz(RULES)),
    "x-gzip": Case(FORBIDDEN, coding="X-GZip", body=gz(RULES)),
    "gzip-of-two-members": Case(FORBIDDEN, coding="gzip", body=gz(OPEN) + gz(RULES)),
    "deflate": Case(FORBIDDEN, coding="deflate", body=zlib.compress(RULES)),
    "raw-deflate": Case(FORBIDDEN, coding="deflate", body=raw_deflate(RULES)),
    "br": Case(FORBIDDEN, coding="br", body=brotli.compress(RULES)),
    "zstd": Case(FORBIDDEN, coding="zstd", body=zstd(RULES)),
    "gzip-in-br": Case(FORBIDDEN, coding="gzip, br", body=brotli.compress(gz(RULES))),
    "gzip-in-chunks": Case(FORBIDDEN, coding="gzip", body=chunked(gz(RULES)), length=None),
    "gzip-without-header": Case(FORBIDDEN, body=gz(RULES)),
    "gzip-twice-with-one-header": Case(FORBIDDEN, coding="gzip", body=gz(gz(RULES))),
    "empty": Case(ALLOWED, body=b""),
    "empty-under-gzip": Case(ALLOWED, coding="gzip", body=b""),
    "empty-under-br": Case(ALLOWED, coding="br", body=b""),
    "empty-under-an-unknown-coding": Case(ALLOWED, coding="compress", body=b""),
    "nothing-in-gzip": Case(ALLOWED, coding="gzip", body=gz(b"")),
    "octets-behind-gzip": Case(FORBIDDEN, coding="gzip", body=gz(RULES) + b"\0" * 20),
    "octets-behind-deflate": Case(FORBIDDEN, coding="deflate", body=zlib.compress(RULES) + b"trash"),
    # Bodies that are cut, or damaged.
    "cut": Case(UNREACHABLE, body=half(RULES), length=len(RULES), is_cut=True),
    "cut-in-chunks": Case(UNREACHABLE, body=chunked(half(RULES), is_whole=False), length=None, is_cut=True),
    "gzip-cut": Case(UNREACHABLE, coding="gzip", body=half(gz(RULES))),
    "gzip-cut-behind-a-rule-for-all": Case(UNREACHABLE, coding="gzip", body=gz(CLOSED)[:-9]),
    "gzip-cut-in-whole-chunks": Case(UNREACHABLE, coding="gzip", body=chunked(half(gz(RULES))), length=None),
    "gzip-without-its-trailer": Case(UNREACHABLE, coding="gzip", body=gz(RULES)[:-8]),
    "gzip-with-a-wrong-check-sum": Case(UNREACHABLE, coding="gzip", body=flipped(gz(RULES), -5)),
    "gzip-with-a-wrong-length": Case(UNREACHABLE, coding="gzip", body=flipped(gz(RULES), -1)),
    "gzip-with-its-second-member-cut": Case(UNREACHABLE, coding="gzip", body=gz(RULES) + half(gz(OPEN))),
    "gzip-without-header-cut": Case(UNREACHABLE, body=half(gz(RULES))),
    "deflate-cut": Case(UNREACHABLE, coding="deflate", body=half(zlib.compress(RULES))),
    "deflate-without-its-check-sum": Case(UNREACHABLE, coding="deflate", body=zlib.compress(RULES)[:-4]),
    "raw-deflate-cut": Case(UNREACHABLE, coding="deflate", body=half(raw_deflate(RULES))),
    "br-cut": Case(UNREACHABLE, coding="br", body=half(brotli.compress(RULES))),
    "br-without-its-last-octet": Case(UNREACHABLE, coding="br", body=brotli.compress(RULES)[:-1]),
    "zstd-cut": Case(UNREACHABLE, coding="zstd", body=half(zstd(RULES))),
    "gzip-cut-in-br": Case(UNREACHABLE, coding="gzip, br", body=brotli.compress(half(gz(RULES)))),
    "gzip-bomb": Case(UNREACHABLE, coding="gzip", body=gz(RULES + bytes(70_000_000))),
    "part": Case(UNREACHABLE, 206, more=(("Content-Range", f"bytes 0-{len(OPEN) - 1}/900"),), body=OPEN),
    "part-that-is-all": Case(FORBIDDEN, 206, more=(("Content-Range", f"bytes 0-{len(RULES) - 1}/{len(RULES)}"),)),
    "stopped-at-the-limit": Case(FORBIDDEN, coding="gzip", body=gz(MANY)),
    "stopped-at-the-limit-in-deflate": Case(FORBIDDEN, coding="deflate", body=zlib.compress(MANY)),
    # Codings that cannot be undone.
    "compress": Case(UNREACHABLE, coding="compress", body=b"\x1f\x9d\x90" + bytes(range(200, 256)) * 3),
    "unknown-coding-of-text": Case(FORBIDDEN, coding="utf-8"),
    "no-coding-by-name": Case(FORBIDDEN, coding="none"),
    "unknown-coding-of-gzip": Case(UNREACHABLE, coding="pack", body=gz(RULES)),
    "text-that-says-gzip": Case(UNREACHABLE, coding="gzip", body=RULES, archived=FORBIDDEN),
    "text-that-says-br": Case(UNREACHABLE, coding="br", body=OPEN, archived=ALLOWED),
    "br-that-says-gzip": Case(UNREACHABLE, coding="gzip", body=brotli.compress(RULES)),
    "gzip-that-says-it-twice": Case(UNREACHABLE, coding="gzip, gzip", body=gz(RULES), archived=FORBIDDEN),
    "five-codings": Case(UNREACHABLE, coding=", ".join(["gzip"] * 5), body=gz(gz(gz(gz(gz(RULES)))))),
    # Statuses that decide, whatever the body is.
    "404": Case(ALLOWED, 404),
    "404-that-says-gzip": Case(ALLOWED, 404, "gzip", HTML),
    "404-cut-in-gzip": Case(ALLOWED, 404, "gzip", half(gz(HTML))),
    "404-cut": Case(ALLOWED, 404, body=HTML, length=999, is_cut=True),
    "403-that-says-br": Case(ALLOWED, 403, "br", HTML),
    "410-in-an-unknown-coding": Case(ALLOWED, 410, "compress", b"\x1f\x9d\x90\x80\x81"),
    "402-with-a-price": Case(ALLOWED, 402, more=(("crawler-price", "USD 0.01"),)),
    "429-that-says-gzip": Case(UNREACHABLE, 429, "gzip", HTML),
    "503-that-says-gzip": Case(UNREACHABLE, 503, "gzip", HTML),
    "500": Case(UNREACHABLE, 500, body=HTML),
    "500-not-found": Case(ALLOWED, 500, body=NOT_FOUND),
    "500-not-found-in-gzip": Case(ALLOWED, 500, "gzip", gz(NOT_FOUND)),
    "500-not-found-in-a-wrong-coding": Case(UNREACHABLE, 500, "br", gz(NOT_FOUND)),
    "500-not-found-cut-in-gzip": Case(UNREACHABLE, 500, "gzip", gz(NOT_FOUND)[:-8]),
    "304-that-nobody-asked-for": Case(ALLOWED, 304, body=b""),
    "300-without-location": Case(ALLOWED, 300, "gzip", HTML),
    # Challenges.
    "challenge-200": Case(UNREACHABLE, more=(("cf-mitigated", "challenge"),), body=HTML),
    "challenge-403": Case(UNREACHABLE, 403, more=(("CF-Mitigated", "challenge"),), body=HTML),
    "challenge-202-of-aws": Case(UNREACHABLE, 202, more=(("x-amzn-waf-action", "challenge"),), body=b""),
    "challenge-405-of-aws": Case(UNREACHABLE, 405, more=(("x-amzn-waf-action", "captcha"),), body=HTML),
    "challenge-403-of-datadome": Case(UNREACHABLE, 403, more=(("X-DD-B", "1"),), body=HTML),
    # Without a proxy, the statuses and headers of proxies are those of the site.
    "407-of-the-site": Case(ALLOWED, 407),
    "403-with-proxy-status-of-the-site": Case(ALLOWED, 403, more=(("Proxy-Status", "cdn; error=dns_error"),)),
}  # fmt: skip
"""By name, without redirects and proxies."""

ERROR: Final = (("Proxy-Status", 'p.example; error="http_request_denied"'),)
CARRIED: Final[dict[str, Case]] = {
    "407": Case(UNREACHABLE, 407, via="proxy"),
    "402-of-the-proxy": Case(UNREACHABLE, 402, more=ERROR, via="proxy"),
    "403-of-the-proxy": Case(UNREACHABLE, 403, more=ERROR, via="proxy"),
    "403-of-the-site": Case(ALLOWED, 403, via="proxy"),
    "404-of-the-site": Case(ALLOWED, 404, more=ERROR, via="proxy"),
    "rules-of-the-site": Case(FORBIDDEN, more=(("Proxy-Status", "p.example; received-status=200"),), via="proxy"),
    "502-of-the-proxy": Case(UNREACHABLE, 502, more=ERROR, via="proxy"),
    "504-of-the-proxy": Case(UNREACHABLE, 504, more=ERROR, via="proxy"),
    "401-of-the-service": Case(UNREACHABLE, 401, via="service"),
    "403-of-the-service": Case(UNREACHABLE, 403, via="service"),
    "404-through-the-service": Case(ALLOWED, 404, via="service"),
    "rules-through-the-service": Case(FORBIDDEN, via="service"),
}
"""Answers to requests that somebody carries."""

OF_CARRIERS: Final = {
    "407", "402-of-the-proxy", "403-of-the-proxy", "502-of-the-proxy", "504-of-the-proxy", "401-of-the-service",
    "403-of-the-service",
}  # fmt: skip
"""Those that say nothing about the site."""
