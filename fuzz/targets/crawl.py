"""What a crawl reads besides rules: URLs, names, answers of servers, sitemaps, delays, stores, audit logs."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import urlsplit

from scrapy import Request

from fuzz.inputs import parts, text_of
from scrapy_rep.crawl.pacing.requested_delays import requested_delay
from scrapy_rep.crawl.robots.parser import RepRobotParser
from scrapy_rep.crawl.robots.robots import Robots
from scrapy_rep.crawl.robots.stores.codec import UnreadableEntryError, decode, encode, encode_body
from scrapy_rep.crawl.sitemaps.requests import sitemaps_of
from scrapy_rep.directives.ai import origin_of
from scrapy_rep.extras.fleet.redis_store import decode_json, encode_json
from scrapy_rep.protocol import Access, Origin, access, product_token, split_url
from scrapy_rep.protocol.access import without_viewer
from scrapy_rep.protocol.body_kind import body_kind
from scrapy_rep.protocol.freshness import Backoff, Entry, Freshness, retry_after
from scrapy_rep.protocol.path_pattern import canonical, path_of
from scrapy_rep.tools.audit.logs import Log
from tests.protocol.slow_reference import NEVER_PLAIN, spelt

from .questions import SITE

_NOW: Final = 1_750_000_000.0
_DAY: Final = 86_400.0
ORIGIN: Final = Origin.from_url(SITE)
"""The origin of what is fetched and stored."""

_FRESHNESS: Final = Freshness(300.0, _DAY, _DAY, Backoff(60.0, 3_600.0))
_LARGEST_COLUMN: Final = 2**63
_STATUSES: Final = (200, 301, 404, 429, 500, 503)


def urls(data: bytes) -> None:
    """A URL has a path in one spelling, and an origin or none; both come back from what is made of them."""
    url, header = parts(data, 2)
    for text in (url, text_of(url)):
        for canonical_octets in (True, False):
            path = path_of(text, canonical_octets=canonical_octets)
            assert path.startswith(b"/")
            assert b"#" not in path
            assert path_of(b"http://h.example" + path, canonical_octets=canonical_octets) == path
    assert canonical(url) == spelt(url, decode=True, always_escaped=NEVER_PLAIN)
    _check_origin(text_of(url))
    token = product_token(header)
    assert product_token(token) == token


def _check_origin(url: str) -> None:
    try:
        origin = Origin.from_url(url)
    except ValueError:
        origin = None
    try:
        start, path = split_url(url)
    except ValueError:
        assert origin is None
        return
    assert origin is not None
    assert path == path_of(url)
    assert Origin.from_url(start) == origin
    assert origin_of(str(origin)) == origin
    assert origin.is_local or not origin.is_loopback
    assert not ORIGIN.may_lead_to(url) or not origin.is_local


def fetched(data: bytes) -> None:
    """Whatever a server answers means one access, a lifetime within the bounds, and a wait or none."""
    body, field = parts(data, 2)
    assert all(access(status, body) in Access for status in _STATUSES)
    body_kind(body)
    assert len(without_viewer(body)) <= len(body)
    wait = retry_after(field, _NOW)
    assert wait is None or 0 <= wait < 1e12
    assert _FRESHNESS.least <= _FRESHNESS.lifetime(field.decode("latin-1")) <= _FRESHNESS.most


def sitemaps(data: bytes) -> None:
    """Sitemap lines name absolute URLs, each once, that Scrapy can request; no passwords, no private hosts."""
    found = sitemaps_of(_robots(data))
    assert len(set(found.urls)) == len(found.urls)
    assert len(found.urls) + len(found.unusable) <= data.count(b"\n") + data.count(b"\r") + 1
    for url in found.urls:
        split = urlsplit(url)
        assert split.scheme in {"http", "https"}
        assert split.hostname
        assert "@" not in split.netloc
        assert not split.fragment
        assert not Origin.from_url(url).is_local
        assert url.isascii()
        assert url.isprintable()
        assert " " not in url
        assert Request(url).url


def _robots(body: bytes) -> Robots:
    entry = Entry(ORIGIN, Access.SUCCESSFUL, ORIGIN.robots_url, 200, body, (), _NOW, _NOW)
    return Robots(entry, Access.SUCCESSFUL, _NOW, RepRobotParser(body))


def delays(data: bytes) -> None:
    """Delays are finite, and longer than none."""
    body, token = parts(data, 2)
    delay = requested_delay(RepRobotParser(body), [text_of(token), "a"])
    assert delay is None or 0 < delay.seconds < math.inf


def entry(data: bytes) -> None:
    """An entry comes back as it was stored; what is none raises `UnreadableEntryError` and nothing else."""
    facts, body, key = parts(data, 3)
    kept = Entry(ORIGIN, Access.SUCCESSFUL, text_of(key), 200, body, (text_of(facts),), _NOW, _NOW, text_of(facts))
    for compressed in (body, encode_body(kept)):
        with suppress(UnreadableEntryError):
            _check_entry(decode_json(ORIGIN, facts, compressed))
    _check_entry(kept)
    with suppress(ValueError):
        origin = origin_of(text_of(key))
        assert origin_of(str(origin)) == origin


def _check_entry(entry: Entry) -> None:
    """Whether *entry* comes back from both stored forms, and SQLite can hold its numbers."""
    facts, body = encode(entry), encode_body(entry)
    assert decode(entry.origin, facts, body) == entry
    assert decode_json(entry.origin, encode_json(entry).encode(), body) == entry
    assert all(abs(fact) < _LARGEST_COLUMN for fact in facts.values() if isinstance(fact, int | float))


def audit_log(data: bytes) -> None:
    """An audit log can be read whatever it holds; each of its lines is counted, and each remark is about one.

    A file of several lines is refused as another one if none of them is an event.
    """
    path = Path(_folder().name, "audit.jsonl")
    path.write_bytes(data)
    try:
        log = Log(path)
    except ValueError:
        assert data.count(b"\n") >= 1
        return
    assert log.lines == data.count(b"\n") + (not data.endswith(b"\n")) * bool(data)
    for remark in (*log.problems.first, *log.notes.first):
        assert 0 <= remark.line <= log.lines
        assert remark.text.isprintable()


@cache
def _folder() -> TemporaryDirectory[str]:
    """A folder for the files of this process; it goes with it."""
    return TemporaryDirectory(prefix="fuzz-")
