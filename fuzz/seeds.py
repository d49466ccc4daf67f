"""The inputs to begin with, made when they are needed.

They come from the situations of the conformance kit, the hostile bodies of the tests, and the samples in `words`.
Inputs that once failed are in `regressions`.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable
from itertools import cycle
from typing import Final

from scrapy_rep.crawl.robots.stores.codec import encode_body
from scrapy_rep.extras.fleet.redis_store import encode_json
from scrapy_rep.protocol import DIALECTS, Access
from scrapy_rep.protocol.freshness import Entry
from scrapy_rep.protocol.path_pattern import octets
from scrapy_rep.testing import SITUATIONS
from tests.census.archives import IDENTICAL, record
from tests.protocol.hostile import LINES, RUNS, URLS

from .inputs import joined
from .regressions import REGRESSIONS
from .targets.costs import QUESTIONS
from .targets.crawl import ORIGIN
from .words import BODIES, FIELDS, NUMBERED, PAGES, RESPONSES, RSL, SITEMAPS

_LONGEST: Final = 600  # octets of a seed: a fuzzer makes the longer ones
_HOSTILE: Final = 160  # octets of a hostile body

_URLS: Final = (
    "https://h.example/a/b?c=d", "http://[::1]:8080/", "wss://h.example/x", "https://user:pw@h.example/", "//h/a",
    "https://www.exämple.com/%c3%a9", "ftp://h.example", "mailto:a@h.example", "a/b", "?q", ";p", "",
    "https://127.1/", *(make(40) for make in URLS.values()),
)  # fmt: skip


def _situations() -> list[tuple[bytes, str, str]]:
    """Body, URL and crawler of each situation of the conformance kit that is short."""
    short = (each for each in SITUATIONS if each.questions and len(each.body) <= _LONGEST)
    return [(each.body, each.questions[0].url, each.questions[0].crawler) for each in short]


def _hostile() -> list[tuple[bytes, str, str]]:
    bodies = [*(make(_HOSTILE) for make in (LINES | RUNS).values()), *(line.encode() for line in BODIES)]
    return [(body, url, "a") for body, url in zip(bodies, cycle(_URLS), strict=False)]


def _asked(*more: str) -> list[bytes]:
    """Inputs of body, URL and crawler, and one *more* part where there is any."""
    asked = [*_situations(), *_hostile()]
    if not more:
        return [joined(*each) for each in asked]
    return [joined(*each, last) for each, last in zip(asked, cycle(more), strict=False)]


def _bodies() -> list[bytes]:
    return [body for body, _, _ in [*_situations(), *_hostile()]]


def _pairs() -> list[bytes]:
    """Each body beside the one before it."""
    bodies, names = _bodies(), cycle(["", *DIALECTS])
    return [joined(*pair) for pair in zip(bodies[1:], bodies, cycle(_URLS), cycle(["a", "ExampleBot"]), names)]


def _all_pairs(left: Iterable[bytes | str], right: Iterable[bytes | str]) -> list[bytes]:
    others = [*right]
    return [joined(one, others[number % len(others)]) for number, one in enumerate(left)]


def _entries() -> list[bytes]:
    first = Entry(ORIGIN, Access.SUCCESSFUL, ORIGIN.robots_url, 200, b"User-agent: *", (), 1.0, 2.0)
    later = Entry(
        ORIGIN, Access.UNREACHABLE, "https://b.example/", None, b"", ("https://b.example/",), 1.0, 2.5, '"e"',
        "Sun, 06 Nov 1994 08:49:37 GMT", 3, 1.5, 2.0, 9.0,
    )  # fmt: skip
    keys = cycle(["https://h.example", "http://[::1]:8080/.well-known/tdmrep.json", "ftp://h.example/ai.txt"])
    return [
        joined(encode_json(each), encode_body(each), key) for each, key in zip((first, later), keys, strict=False)
    ]


def _events() -> list[bytes]:
    events = [{"event": "start", "v": 1, "prev": ""}, {"event": "robots", "sha256": "0" * 64}, {"event": "end"}]
    lines = [json.dumps(event).encode() for event in events]
    return [b"\n".join(lines) + b"\n", lines[0] + b"\n{", b"", b"\n", lines[1]]


def _site_files() -> list[bytes]:
    rules = [{"location": "/a*", "tdm-reservation": 1, "tdm-policy": "https://h.example/p"}, {"location": "/"}]
    files = [json.dumps(rules), json.dumps(rules[0]), "[]", "User-Agent: *\nDisallow: *.jpg\nAllow: /\n"]
    return _all_pairs(files, _URLS)


def _archives() -> list[bytes]:
    records = [
        record(block.encode(), WARC_Payload_Digest="sha1:A", WARC_Type=kind, WARC_Profile=profile)
        for block in RESPONSES
        for kind, profile in (("response", None), ("revisit", IDENTICAL))
    ]
    return _all_pairs(
        [*records, b"".join(records[:2]), b"".join(gzip.compress(each, mtime=0) for each in records[-3:])],
        RESPONSES,
    )


def _costly() -> list[bytes]:
    numbered = [text.encode() for text in NUMBERED]
    bodies = [*numbered, *(make(_HOSTILE) for make in (LINES | RUNS).values())]
    return [joined(body, "a" * 40, name) for body, name in zip(bodies, cycle(QUESTIONS), strict=False)]


_MADE: Final[dict[str, Callable[[], list[bytes]]]] = {
    "verdict": _asked,
    "answers": _asked,
    "explain": lambda: _asked(*DIALECTS),
    "lint": lambda: _asked("", "aa", "aaaa"),
    "diff": _pairs,
    "bulk": lambda: [joined(body, "\n".join(_URLS[:6]), "a") for body in _bodies()[::4]],
    "survey": lambda: _all_pairs(_bodies()[::2], ['{"site": "a"}', "[]", '{"site": 1, "agents": {}}']),
    "web": lambda: _all_pairs(_bodies()[::4], ['{"robots": "Allow: /", "urls": ["/"], "agents": ["a"]}', "[]"]),
    "urls": lambda: _all_pairs(_URLS, FIELDS),
    "fetched": lambda: _all_pairs([*PAGES, *FIELDS], FIELDS),
    "sitemaps": lambda: [*(b"Sitemap: %b\n" % octets(url) for url in _URLS), "\n".join(BODIES).encode()],
    "delays": lambda: _all_pairs([*BODIES, *_bodies()[::8]], ["a", "b"]),
    "entry": _entries,
    "audit-log": _events,
    "page-headers": lambda: _all_pairs(FIELDS, ["robots", "mybot", "mybot/1"]),
    "page-html": lambda: _all_pairs(PAGES, ["", "text/html; charset=utf-16", "text/html; charset=nonsense"]),
    "ai-signals": lambda: [joined(body, "/a/b", field) for body, field in zip(BODIES, cycle(FIELDS))],
    "site-files": _site_files,
    "sitemap-file": lambda: _all_pairs([*SITEMAPS, *(text.encode("utf-16") for text in SITEMAPS[:2])], _URLS),
    "license": lambda: _all_pairs([RSL, RSL.replace("</terms>", ""), RSL.encode("utf-16"), *PAGES[5:6]], _URLS),
    "warc": _archives,
    "costs": _costly,
}  # fmt: skip


def seeds(target: str) -> list[bytes]:
    """The inputs to begin with for *target*, those that once failed among them."""
    return [*REGRESSIONS.get(target, {}).values(), *_MADE[target]()]
