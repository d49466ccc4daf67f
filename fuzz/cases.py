"""What the comparisons ask: a robots.txt, the crawlers and the paths that are asked about it, and URLs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from random import Random
from typing import Final

from fuzz.inputs import parts
from fuzz.mutation import edited
from fuzz.seeds import seeds
from fuzz.targets.questions import GOOGLES
from scrapy_rep.protocol import path_of
from scrapy_rep.protocol.product_token import token_in
from scrapy_rep.protocol.reader import Group
from scrapy_rep.protocol.records import Rule
from tests.protocol import any_body, hostile
from tests.protocol.test_google_verdicts import FOLDER, bodies

_RULES: Final = 12  # of a file, of which paths are made
_NAMES: Final = 3  # of a file, that ask
_HOSTILE_SIZES: Final = (200, 200, 200, 800)  # octets; Google's parser takes quadratic time
_OCTETS: Final = tuple(bytes((octet,)) for octet in b"/aab.?%4126*$\xc3\xa9 \0[;#\r\n:")
_PATHS: Final = (b"", b"/", b"a", b"/robots.txt", b"/a", b"/index.html", b"/a/b?c", b"*", b"/" + b"ab" * 41)
_AUTHORITIES: Final = (
    "https://h.example",
    "http://",
    "https://u:p@h:1",
    "//h",
    "https:",
    "HTTP://h",
    "ftp://h",
    "",
)
_BEHIND: Final = ("", "#", "#a", "?", ";", "/", "é", "\ud800", "\udcff", "\0", "%", "/a?b=c&d", "/ ", "\U0001f600")

Made = Callable[[Random], bytes]


class DifferenceError(AssertionError):
    """What was asked is answered differently."""


def _of_lines(random: Random) -> bytes:
    """Lines of pieces that readers tell apart."""
    lines = (any_body.STARTS, any_body.KEYS, (*any_body.VALUES, *any_body.PATTERNS), any_body.ENDS)
    size = random.randrange(14)
    return b"".join(random.choice(pieces) for _ in range(size) for pieces in lines)


def _of_rules(random: Random) -> bytes:
    """A group of rules that look alike, so that many match one path."""
    keys = (b"Allow: ", b"Disallow: ")
    size = random.randrange(1, 12)
    lines = (random.choice(keys) + _pattern(random) + b"\n" for _ in range(size))
    return random.choice((b"User-agent: *\n", b"User-agent: a\n")) + b"".join(lines)


def _pattern(random: Random) -> bytes:
    if random.random() < 0.3:
        return random.choice(any_body.PATTERNS)
    text = b"/" + _some(random, _OCTETS[:15], 7)
    return text + random.choice((b"", b"", b"$", b"/index.htm", b"*"))


def _some(random: Random, pieces: Sequence[bytes], most: int) -> bytes:
    return b"".join(random.choices(pieces, k=random.randrange(most + 1)))


def sources() -> list[Made]:
    """The ways to make a body; real files are among them where SCRAPY_REP_CORPUS names their folder."""
    made = [parts(data, 3)[0] for data in seeds("verdict")]
    makers = [*(hostile.LINES | hostile.RUNS).values()]
    files = [*bodies(Path(FOLDER)).values()] if FOLDER else made
    return [
        _of_lines,
        _of_rules,
        lambda random: edited(random, random.choice(made)),
        lambda random: edited(random, _excerpt(random, random.choice(files))),
        lambda random: edited(random, random.choice(makers)(random.choice(_HOSTILE_SIZES))),
        lambda random: random.randbytes(random.randrange(200)),
    ]


def _excerpt(random: Random, body: bytes) -> bytes:
    """Up to 60 lines of *body*."""
    lines = body.splitlines(keepends=True)
    start = random.randrange(max(len(lines) - 30, 1))
    return b"".join(lines[start : start + 60])


def tokens(random: Random, groups: Iterable[Group]) -> list[str]:
    """Crawlers that ask: some that the file names, and two others."""
    values = {agent.value for group in groups for agent in group.agents}
    named = sorted(token_in(value, wide=True) for value in values)
    chosen = random.sample(named, min(len(named), _NAMES))
    names = [*(name.decode("utf-8", "surrogateescape") for name in chosen), *random.sample(any_body.TOKENS, 2)]
    return [*dict.fromkeys(names)]


def paths(random: Random, rules: Sequence[Rule]) -> list[bytes]:
    """Paths that *rules* match, or nearly, and others."""
    chosen = random.sample(rules, min(len(rules), _RULES))
    like = chain.from_iterable(_like(random, rule.value) for rule in chosen)
    others = [b"/" + _some(random, _OCTETS, 8) for _ in range(12)]
    return [*dict.fromkeys([*like, *others, *_PATHS])]


def _like(random: Random, value: bytes) -> Iterator[bytes]:
    """Paths like the pattern *value*, each as written and as a crawler asks."""
    filling = random.choice((b"", b"x", b"/a", value[:9]))
    filled = value.removesuffix(b"$").replace(b"*", filling)
    for path in (value, filled, filled + random.choice(_OCTETS), filled[:-1], filled.rpartition(b"/")[0] + b"/"):
        yield path
        for dialect in GOOGLES:
            yield path_of(b"https://h.example" + path, canonical_octets=dialect.canonical_octets)


def url(random: Random) -> str:
    """A URL of pieces that its readers tell apart."""
    text = random.choice(_AUTHORITIES) + _some(random, _OCTETS, 9).decode("latin-1") + random.choice(_BEHIND)
    at = random.randrange(len(text) + 1)
    return random.choice((text, text[:at], text[at:], text[:at] + random.choice(_BEHIND) + text[at:]))
