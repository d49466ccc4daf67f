"""``python -m fuzz.comparison``: the compiled engine against the plain one, tens of thousands of cases a second.

A case is a robots.txt, a crawler, a path and a dialect of Google's. A round makes one robots.txt, and asks all its
cases; it depends on the seed and its own number alone, so what fails is asked again by ``--first``.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, count
from pathlib import Path
from random import Random
from time import monotonic
from typing import Final

from fuzz.inputs import parts
from fuzz.seeds import seeds
from fuzz.targets.questions import GOOGLES
from fuzz.targets.rules import is_by_slow_reference
from fuzz.words import WORDS
from scrapy_rep.protocol import ENGINE, Dialect, parse, path_of
from scrapy_rep.protocol.path_pattern import _find_path, octets
from scrapy_rep.protocol.product_token import token_in
from scrapy_rep.protocol.reader import groups_in, lines_in
from scrapy_rep.protocol.records import Rule
from scrapy_rep.protocol.rules import Rules
from tests.protocol import any_body, hostile
from tests.protocol.test_google_verdicts import FOLDER, bodies

_RULES: Final = 12  # of a file, of which paths are made
_NAMES: Final = 3  # of a file, that ask
_EDITS: Final = 5
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
    """The engines answer differently."""


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


def _edited(random: Random, body: bytes) -> bytes:
    for _ in range(random.randrange(_EDITS)):
        at = random.randrange(len(body) + 1)
        piece = random.choice(WORDS) if random.random() < 0.5 else random.randbytes(random.randrange(4))
        body = body[:at] + piece + body[at + random.choice((0, 0, 1, 3, 40)) :]
    return body


def _sources() -> list[Made]:
    """The ways to make a body; real files are among them where SCRAPY_REP_CORPUS names their folder."""
    made = [parts(data, 3)[0] for data in seeds("verdict")]
    makers = [*(hostile.LINES | hostile.RUNS).values()]
    files = [*bodies(Path(FOLDER)).values()] if FOLDER else made
    return [
        _of_lines,
        _of_rules,
        lambda random: _edited(random, random.choice(made)),
        lambda random: _edited(random, _excerpt(random, random.choice(files))),
        lambda random: _edited(random, random.choice(makers)(random.choice((200, 800, 3_000)))),
        lambda random: random.randbytes(random.randrange(200)),
    ]


def _excerpt(random: Random, body: bytes) -> bytes:
    """Up to 60 lines of *body*."""
    lines = body.splitlines(keepends=True)
    start = random.randrange(max(len(lines) - 30, 1))
    return b"".join(lines[start : start + 60])


def _tokens(random: Random, body: bytes, dialect: Dialect) -> list[str]:
    """Crawlers that ask: some that the file names, and two others."""
    values = {
        agent.value
        for group in groups_in(lines_in(body, dialect), dialect.closing_kinds)
        for agent in group.agents
    }
    named = sorted(token_in(value, wide=True) for value in values)
    chosen = random.sample(named, min(len(named), _NAMES))
    names = [*(name.decode("utf-8", "surrogateescape") for name in chosen), *random.sample(any_body.TOKENS, 2)]
    return [*dict.fromkeys(names)]


def _paths(random: Random, rules: Sequence[Rule]) -> list[bytes]:
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


def compare(body: bytes, random: Random) -> int:
    """Ask the engines about *body*, and answer how many cases that were; `DifferenceError` where they disagree."""
    cases = 0
    for dialect in GOOGLES:
        file = parse(body, dialect, limit=None)
        for token in _tokens(random, body, dialect):
            plain = Rules(body, token, dialect)
            paths = _paths(random, plain.rules)
            if file.has_group(token) is not plain.by_name:
                raise DifferenceError(dialect.name, token, body)
            for path in paths:
                if file.verdict_on_path(token, path) != plain.verdict(path):
                    answers = file.verdict_on_path(token, path), plain.verdict(path)
                    raise DifferenceError(dialect.name, token, path, *answers, body)
            _compare_slowly(body, plain, random.choice(paths), dialect)
            cases += len(paths)
    return cases


def _compare_slowly(body: bytes, plain: Rules, path: bytes, dialect: Dialect) -> None:
    """Ask the slow reference, too; it spells a path itself, so *path* is the one that is asked for in a URL."""
    asked = path_of(b"https://h.example" + path, canonical_octets=dialect.canonical_octets)
    if not is_by_slow_reference(plain.verdict(asked), plain.rules, asked, dialect):
        raise DifferenceError(dialect.name, "the slow reference", asked, body)


def compare_url(random: Random) -> None:
    """Find the path of a URL, where the compiled way is tried first, by the plain way, and by that of octets."""
    url = random.choice(_AUTHORITIES) + _some(random, _OCTETS, 9).decode("latin-1") + random.choice(_BEHIND)
    at = random.randrange(len(url) + 1)
    url = random.choice((url, url[:at], url[at:], url[:at] + random.choice(_BEHIND) + url[at:]))
    plain = _find_path(url)
    for canonical_octets in (True, False):
        found, general = (path_of(each, canonical_octets=canonical_octets) for each in (url, octets(url)))
        if found != general or plain not in (None, general):
            raise DifferenceError(url, found, general, plain)


def main(arguments: list[str] | None = None) -> int:
    """Run the command with *arguments*, those of the process by default; 1 if the engines differ."""
    chosen = _parse(arguments)
    began, cases, urls, sources = monotonic(), 0, 0, _sources()
    for number in count(chosen.first):
        if cases >= chosen.cases:
            break
        random = Random(f"{chosen.seed}:{number}")  # noqa: S311
        try:
            cases += compare(random.choice(sources)(random), random)
            for _ in range(chosen.urls):
                compare_url(random)
        except DifferenceError as difference:
            _say(f"--seed {chosen.seed} --first {number} --cases 1: {difference}")
            return 1
        urls += chosen.urls
    spent = monotonic() - began
    _say(f"{cases:,} cases of {number - chosen.first:,} bodies and {urls:,} URLs in {spent:,.0f} s, no difference")
    return 0


def _parse(arguments: list[str] | None) -> Namespace:
    parser = ArgumentParser(prog="python -m fuzz.comparison", description=__doc__)
    parser.add_argument("--cases", type=int, default=1_000_000, help="at least so many; 1,000,000 by default")
    parser.add_argument("--urls", type=int, default=30, help="after each body; 30 by default")
    parser.add_argument("--seed", type=int, default=0, help="0 by default")
    parser.add_argument("--first", type=int, default=0, help="the number of the first round; 0 by default")
    chosen = parser.parse_args(arguments)
    if ENGINE != "c":
        parser.error("the compiled engine was not built")
    return chosen


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
