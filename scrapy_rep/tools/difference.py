"""The difference between two robots.txt files, or two readings of one: URLs and sample paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from scrapy_rep.protocol import Dialect, Verdict, parse
from scrapy_rep.protocol.path_pattern import Pattern, patterns_of

_STAR_STANDS_FOR: Final = (b"", b"x")
_ENDINGS: Final = (b"", b"x")
_MOST_MATCHES: Final = 4_000_000  # tries to match a wildcard rule with a path: a few seconds
_MATCHES_OF_AN_OCTET: Final = 25  # of both files: all but 4 of the 2,818 files of the corpus take less
_FEWEST_PATHS: Final = 200  # however many rules there are


@dataclass(frozen=True, slots=True)
class Change:
    """A ``url`` that one of two readings allows to the crawler ``agent``, and the other does not."""

    url: str
    agent: str
    old: Verdict
    new: Verdict


class Difference:
    """Compares what two robots.txt files, each in its dialect, say to each of the crawlers in ``agents``."""

    def __init__(
        self,
        old: bytes,
        new: bytes,
        agents: tuple[str, ...],
        dialects: tuple[Dialect, Dialect],
        *,
        limit: int | None,
    ) -> None:
        old_dialect, new_dialect = dialects
        # Each crawler has files of its own, as a file caches the rules of a few tokens only.
        self.agents = agents
        self._files = [
            (agent, parse(old, old_dialect, limit=limit), parse(new, new_dialect, limit=limit)) for agent in agents
        ]

    def changes(self, url: str) -> Iterator[Change]:
        """Yield a change for each crawler whose verdict on *url* differs."""
        for agent, old, new in self._files:
            before, after = old.verdict(agent, url), new.verdict(agent, url)
            if before.allowed is not after.allowed:
                yield Change(url, agent, before, after)

    def sample_paths(self) -> tuple[list[str], int]:
        """Return paths where the verdicts may differ, and how many there are in all.

        The paths are those that the rules of both files match, or nearly match. If many rules have wildcards,
        the paths are an even sample, since trying all of them would take minutes.
        """
        found: dict[str, None] = {"/": None}
        wildcards = octets = 0
        for agent, *files in self._files:
            for file in files:
                patterns = [
                    pattern
                    for rule in file.rules(agent)
                    for pattern in patterns_of(rule.value, rule.allow, file.dialect)
                ]
                found.update(dict.fromkeys(_paths(patterns)))
                wildcards += sum(len(pattern.pieces) > 1 or pattern.anchored for pattern in patterns)
                octets += len(file.body)
        matches = min(_MATCHES_OF_AN_OCTET * octets, _MOST_MATCHES)
        most = max(matches // (wildcards + 1), _FEWEST_PATHS)
        step = -(-len(found) // most)
        return list(found)[::step], len(found)


def _paths(patterns: Iterable[Pattern]) -> Iterator[str]:
    for pattern in patterns:
        pieces = pattern.pieces
        if pieces[0] and not pieces[0].startswith(b"/"):
            continue  # it matches nothing
        for star in _STAR_STANDS_FOR:
            path = star.join(pieces)
            for end in _ENDINGS:
                yield _as_url((path if path.startswith(b"/") else b"/" + path) + end)


def _as_url(path: bytes) -> str:
    text = path.decode("utf-8", "surrogateescape")
    return f"https://host.invalid{text}" if text.startswith("//") else text
