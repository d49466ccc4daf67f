"""What differs between two robots.txt files: the verdicts on URLs, and paths on which verdicts may differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from scrapy_rep.protocol.dialect import Dialect
from scrapy_rep.protocol.path_pattern import Pattern
from scrapy_rep.protocol.robotstxt import RobotsTxt, parse
from scrapy_rep.protocol.verdict import Verdict

_FOR_A_STAR: Final = (b"", b"x")
_BEHIND: Final = (b"", b"x")
_MOST_TRIES: Final = 4_000_000  # of a rule with a wildcard on a path: a few seconds
_FEWEST: Final = 200  # paths, however many rules there are


@dataclass(frozen=True, slots=True)
class Change:
    """A URL that one of two files allows to the crawler called ``agent``, and the other does not."""

    url: str
    agent: str
    old: Verdict
    new: Verdict


class Difference:
    """What two robots.txt files say differently to each of the crawlers called ``agents``."""

    def __init__(
        self, old: bytes, new: bytes, agents: tuple[str, ...], dialect: Dialect, *, limit: int | None
    ) -> None:
        # A file for each crawler: one keeps the rules of a few tokens only.
        self.agents = agents
        self._files = [
            (agent, parse(old, dialect, limit=limit), parse(new, dialect, limit=limit)) for agent in agents
        ]
        self._canonical_octets = dialect.canonical_octets

    def on(self, url: str) -> Iterator[Change]:
        """The changes of the verdict on *url*."""
        for agent, old, new in self._files:
            before, after = old.verdict(agent, url), new.verdict(agent, url)
            if before.allowed is not after.allowed:
                yield Change(url, agent, before, after)

    def samples(self) -> tuple[list[str], int]:
        """Paths that the rules of both files match, or nearly: where the verdicts may differ; how many there are.

        Where so many rules hold wildcards that all paths would take minutes, every so many of them is taken.
        """
        found: dict[str, None] = {"/": None}
        wildcards = 0
        for agent, *files in self._files:
            for file in files:
                found.update(dict.fromkeys(self._samples_of(file, agent)))
                wildcards += sum(b"*" in rule.value for rule in file.rules(agent))
        most = max(_MOST_TRIES // (wildcards + 1), _FEWEST)
        return list(found)[:: -(-len(found) // most)], len(found)

    def _samples_of(self, file: RobotsTxt, agent: str) -> Iterator[str]:
        for rule in file.rules(agent):
            pieces = Pattern.of(rule.value, canonical_octets=self._canonical_octets).pieces
            if pieces[0] and not pieces[0].startswith(b"/"):
                continue  # it matches nothing
            for star in _FOR_A_STAR:
                path = star.join(pieces)
                for end in _BEHIND:
                    yield _as_url((path if path.startswith(b"/") else b"/" + path) + end)


def _as_url(path: bytes) -> str:
    text = path.decode("utf-8", "surrogateescape")
    return f"https://host.invalid{text}" if text.startswith("//") else text
