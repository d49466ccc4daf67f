"""Inputs that once failed, by target, each with what it showed: they are among the seeds for good."""

from __future__ import annotations

import gzip
import json
from typing import Final

from scrapy_rep.crawl.robots.stores.codec import encode_body
from scrapy_rep.extras.fleet.redis_store import encode_json
from scrapy_rep.protocol import Access
from scrapy_rep.protocol.freshness import Entry
from tests.census.archives import record

from .inputs import joined
from .targets.crawl import ORIGIN

_NESTED: Final = b"[" * 5_000
_ENTRY: Final = Entry(ORIGIN, Access.SUCCESSFUL, "", 200, b"", (), 1.0, 2.0)


def _entry(**facts: object) -> bytes:
    """A stored entry with other *facts*."""
    return joined(json.dumps({**json.loads(encode_json(_ENTRY)), **facts}), encode_body(_ENTRY), str(ORIGIN))


REGRESSIONS: Final[dict[str, dict[str, bytes]]] = {
    "entry": {
        "thousands of brackets": _NESTED,
        "a status that no column holds": _entry(status=10**30),
        "a count of failures that no column holds": _entry(failures=10**30),
    },
    "verdict": {"a crawler without rules, which adds nought to a null pointer": joined(b"", "/", "a")},
    "sitemaps": {"a control character in a host": b"Sitemap://\ae"},
    "page-html": {
        "a control character in the name of an attribute": b"<a href=: \1>",
        "the same in a link to a license": b"<link rel=license type=application/rsl+xml href=/l \1>",
        "the same in a link to the next page": b"<link rel=next href=n \1>",
        "a base that the parser takes and that is no URL": b'<base href="//<:l">',
    },
    "sitemap-file": {
        "UTF-16 in members of gzip that have one octet": "\ufeff<urlset><url><loc>/a</loc>".encode("utf-16-le"),
    },
    "warc": {"a gzip file that comes in pieces": gzip.compress(record(b"HTTP/1.1 200 OK\r\n\r\n"), mtime=0)},
    "survey": {"thousands of brackets": joined(b"", _NESTED)},
}
"""What an input showed, and the input, by target."""
