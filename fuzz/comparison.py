"""``python -m fuzz.comparison``: the compiled engine against the plain one, or against Google's parser.

A case is a robots.txt, a crawler and a path, and one of Google's dialects where the engines are compared. A round
makes one robots.txt, and asks all its cases; it depends on the seed and its own number alone, so what fails is
asked again by ``--first``.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from itertools import count
from pathlib import Path
from random import Random
from time import monotonic
from typing import Final

from fuzz.cases import DifferenceError, paths, sources, tokens, url
from fuzz.google import Google
from fuzz.targets.questions import GOOGLES
from fuzz.targets.rules import is_by_slow_reference
from scrapy_rep.protocol import ENGINE, Dialect, parse, path_of
from scrapy_rep.protocol.path_pattern import _find_path, octets
from scrapy_rep.protocol.rules import Rules

_OFTEN: Final = 30.0  # seconds from one line of progress to the next


def compare(body: bytes, random: Random) -> int:
    """Ask the engines about *body*, and answer how many cases that were; `DifferenceError` where they disagree."""
    cases = 0
    for dialect in GOOGLES:
        file = parse(body, dialect, limit=None)
        for token in tokens(random, file.groups):
            plain = Rules(body, token, dialect)
            asked = paths(random, plain.rules)
            if file.has_group(token) is not plain.by_name:
                raise DifferenceError(dialect.name, token, body)
            for path in asked:
                if file.verdict_on_path(token, path) != plain.verdict(path):
                    answers = file.verdict_on_path(token, path), plain.verdict(path)
                    raise DifferenceError(dialect.name, token, path, *answers, body)
            _compare_slowly(body, plain, random.choice(asked), dialect)
            cases += len(asked)
    return cases


def _compare_slowly(body: bytes, plain: Rules, path: bytes, dialect: Dialect) -> None:
    """Ask the slow reference, too; it spells a path itself, so *path* is the one that is asked for in a URL."""
    asked = path_of(b"https://h.example" + path, canonical_octets=dialect.canonical_octets)
    if not is_by_slow_reference(plain.verdict(asked), plain.rules, asked, dialect):
        raise DifferenceError(dialect.name, "the slow reference", asked, body)


def compare_url(url: str) -> None:
    """Find the path of *url*, where the compiled way is tried first, by the plain way, and by that of octets."""
    plain = _find_path(url)
    for canonical_octets in (True, False):
        found, general = (path_of(each, canonical_octets=canonical_octets) for each in (url, octets(url)))
        if found != general or plain not in (None, general):
            raise DifferenceError(url, found, general, plain)


def main(arguments: list[str] | None = None) -> int:
    """Run the command with *arguments*, those of the process by default; 1 if something differs."""
    chosen = _parse(arguments)
    google = Google(chosen.google) if chosen.google else None
    of_body, of_url = (google.compare, google.compare_url) if google else (compare, compare_url)
    began = said = monotonic()
    cases, makers = 0, sources()
    for number in count(chosen.first):
        if cases >= chosen.cases:
            break
        random = Random(f"{chosen.seed}:{number}")  # noqa: S311
        try:
            cases += of_body(random.choice(makers)(random), random)
            for _ in range(chosen.urls):
                of_url(url(random))
        except DifferenceError as difference:
            _say(f"--seed {chosen.seed} --first {number} --cases 1: {difference}")
            return 1
        if monotonic() - said > _OFTEN:
            said = monotonic()
            _say(f"{cases:,} cases in {said - began:,.0f} s; to go on: --seed {chosen.seed} --first {number + 1}")
    bodies, spent = number - chosen.first, monotonic() - began
    _say(
        f"{cases:,} cases of {bodies:,} bodies and {bodies * chosen.urls:,} URLs in {spent:,.0f} s, no difference"
    )
    return 0


def _parse(arguments: list[str] | None) -> Namespace:
    parser = ArgumentParser(prog="python -m fuzz.comparison", description=__doc__)
    parser.add_argument("--cases", type=int, default=1_000_000, help="at least so many; 1,000,000 by default")
    parser.add_argument("--urls", type=int, default=30, help="after each body; 30 by default")
    parser.add_argument("--seed", type=int, default=0, help="0 by default")
    parser.add_argument("--first", type=int, default=0, help="the number of the first round; 0 by default")
    parser.add_argument(
        "--google", type=Path, metavar="DIR",
        help="compare with Google's parser, built of its source, https://github.com/google/robotstxt, in DIR",
    )  # fmt: skip
    chosen = parser.parse_args(arguments)
    if ENGINE != "c":
        parser.error("the compiled engine was not built")
    return chosen


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
