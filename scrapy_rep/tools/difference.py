"""The difference between two robots.txt files, or two readings of one: URLs and sample paths."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from scrapy_rep.protocol import Dialect, Rule, Verdict, parse
from scrapy_rep.protocol.path_pattern import Pattern, patterns_of

_STAR_STANDS_FOR: Final = (b"", b"x")
_ENDINGS: Final = (b"", b"x")
_MOST_MATCHES: Final = 4_000_000  # tries to match a wildcard rule with a path: a few seconds
_MATCHES_OF_AN_OCTET: Final = 25  # of both files: all but 4 of the 2,818 files of the corpus take less
_MOST_COMPARISONS: Final = 200_000_000  # of a path with a rule, with or without a wildcard: as long
_FEWEST_PATHS: Final = 200  # however many rules there are

SAMPLE_HOST: Final = "https://host.invalid"
"""What comes before a sample path that begins with two slashes, which would name a host without it."""


@dataclass(frozen=True, slots=True)
class ChangedVerdict:
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

    def changes(self, url: str) -> Iterator[ChangedVerdict]:
        """Yield a change for each crawler whose verdict on *url* differs."""
        for agent, old, new in self._files:
            before, after = old.verdict(agent, url), new.verdict(agent, url)
            if before.allowed is not after.allowed:
                yield ChangedVerdict(url, agent, before, after)

    def sample_paths(self) -> tuple[list[str], int]:
        """Return paths where the verdicts may differ, and how many there are in all.

        The paths are those that the rules of both files match, or nearly match, or an `even_sample` of them.
        """
        asked = [(agent, file) for agent, *files in self._files for file in files]
        patterns = [one for agent, file in asked for one in patterns_in(file.rules(agent), file.dialect)]
        found = dict.fromkeys(["/", *paths_of(patterns)])
        return even_sample(found, patterns, sum(len(file.body) for _, file in asked)), len(found)


def patterns_in(rules: Iterable[Rule], dialect: Dialect) -> list[Pattern]:
    """The patterns of *rules* as *dialect* reads them."""
    return [pattern for rule in rules for pattern in patterns_of(rule.value, rule.allow, dialect)]


def even_sample(paths: Collection[str], patterns: Collection[Pattern], octets: int, samples: int = 1) -> list[str]:
    """*paths*, or evenly chosen ones if there are so many that asking about all of them would take minutes.

    *patterns* are those that each path is compared with, in files of so many *octets* together; *samples* is how
    many such samples of the same files share the time.
    """
    wildcards = sum(len(pattern.pieces) > 1 or pattern.anchored for pattern in patterns)
    matches = min(_MATCHES_OF_AN_OCTET * octets, _MOST_MATCHES)
    most = min(matches // (wildcards + 1), _MOST_COMPARISONS // (len(patterns) + 1)) // samples
    step = -(-len(paths) // max(most, _FEWEST_PATHS))
    return list(paths)[::step]


def paths_of(patterns: Iterable[Pattern]) -> Iterator[str]:
    """Yield paths that each of *patterns* matches, or nearly matches."""
    for pattern in patterns:
        pieces = pattern.pieces
        if pieces[0] and not pieces[0].startswith(b"/"):
            continue  # it matches nothing
        for star in _STAR_STANDS_FOR:
            path = star.join(pieces)
            for end in _ENDINGS:
                octets = (path if path.startswith(b"/") else b"/" + path) + end
                text = octets.decode("utf-8", "surrogateescape")
                yield f"{SAMPLE_HOST}{text}" if text.startswith("//") else text
