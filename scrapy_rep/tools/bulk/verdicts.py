"""What the robots.txt files of a source say about URLs.

Holds a bounded number of parsed files; URLs that are sorted by origin need each file once.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Final

from scrapy_rep.protocol import (
    GOOGLE,
    MAX_SIZE,
    Access,
    Dialect,
    Origin,
    Reason,
    RobotsTxt,
    Verdict,
    parse,
    split_url,
)
from scrapy_rep.protocol.access import rules_by
from scrapy_rep.protocol.product_token import asked_token
from scrapy_rep.tools.answers import verdict_facts

from .sources import Missing, Source

Crawler = tuple[str, ...]
"""The product tokens of a crawler, the most specific first."""

LONGEST_URL: Final = 65_536
"""Characters; a longer text is not asked about."""

VERDICTS_KEPT: Final = 32_768  # of many sites in any order: 20 MB at most
_find_control = re.compile(r"[\0-\x1f\x7f]").search


@dataclass(frozen=True, slots=True)
class BulkVerdict:
    """The verdict on a URL of ``origin``, which ``rule`` decides, for the crawler called ``agent``.

    ``allowed`` is None where it is unknown, and ``reason`` says why: a `Reason`, or a `Missing`. ``line`` is that
    of the rule, None without one. ``origin`` is empty for what is not a URL.
    """

    origin: str
    agent: str
    allowed: bool | None
    line: int | None
    rule: str | None
    reason: str

    @classmethod
    def of(cls, origin: str, access: Access, agent: str, verdict: Verdict) -> BulkVerdict:
        """What *verdict* means where *access* chose the rules."""
        if access is not Access.SUCCESSFUL and verdict.reason is not Reason.ROBOTS_TXT:
            return cls(origin, agent, verdict.allowed, None, None, access.value)
        return cls(origin, agent, **verdict_facts(verdict))

    def as_facts(self) -> dict[str, Any]:
        """The same as data for JSON; without an origin that is null."""
        return {**asdict(self), "origin": self.origin or None}


@dataclass(frozen=True, slots=True)
class Held:
    """How many parsed files are held: so many ``files`` at most, with bodies of so many ``octets`` together."""

    files: int = 10_000
    octets: int = 33_554_432


@dataclass(frozen=True, slots=True)
class BulkOptions:
    """How robots.txt files are asked: for whom, and read how.

    ``limit`` is the number of octets of a file that are read; ``unreachable`` says what an unreachable robots.txt
    means, and ``missing`` what none means: True for allowed, None for unknown. ``held`` files are kept.
    """

    crawlers: tuple[Crawler, ...]
    dialect: Dialect = GOOGLE
    limit: int | None = MAX_SIZE
    unreachable: Access = Access.UNREACHABLE
    missing: bool | None = None
    held: Held = Held()


@dataclass(frozen=True, slots=True)
class _Asked:
    """The robots.txt of ``origin``: what its fetch meant, and the tokens by which each crawler asks it."""

    origin: str
    access: Access
    robotstxt: RobotsTxt
    tokens: list[str]
    octets: int

    def on(self, path: bytes) -> list[BulkVerdict]:
        verdict, access = self.robotstxt.verdict_on_path, self.access
        return [_verdict(self.origin, access, token, verdict(token, path)) for token in self.tokens]


_verdict = lru_cache(maxsize=VERDICTS_KEPT)(BulkVerdict.of)


class Decider:
    """Answers about URLs from *source*, as *options* say. Not safe to share between threads."""

    def __init__(self, source: Source, options: BulkOptions) -> None:
        self._source, self._options, self._octets = source, options, 0
        self._held: OrderedDict[str, _Asked | Missing] = OrderedDict()

    def on(self, url: str) -> list[BulkVerdict]:
        """The verdict on *url* for each crawler. Raises `SourceError`."""
        try:
            if len(url) > LONGEST_URL or _find_control(url):
                raise ValueError("not a URL")
            start, path = split_url(url, canonical_octets=self._options.dialect.canonical_octets)
        except ValueError:
            return self._unknown("", Missing.NO_URL)
        # Of several starts of an origin, such as those with the default port, one is known.
        origin = start if start in self._held else str(Origin.from_url(start))
        held = self._held.get(origin) or self._hold(origin)
        self._held.move_to_end(origin)
        return self._unknown(origin, held) if isinstance(held, Missing) else held.on(path)

    def _hold(self, origin: str) -> _Asked | Missing:
        held = self._held[origin] = self._load(Origin.from_url(origin))
        self._octets += _octets(held)
        most = self._options.held
        while len(self._held) > max(most.files, 1) or (self._octets > most.octets and len(self._held) > 1):
            self._octets -= _octets(self._held.popitem(last=False)[1])
        return held

    def _load(self, origin: Origin) -> _Asked | Missing:
        options, known = self._options, self._source.get(origin)
        if isinstance(known, Missing):
            return known
        access = options.unreachable if known.access is Access.UNREACHABLE else known.access
        robotstxt = parse(rules_by(access, known.body), options.dialect, limit=options.limit)
        tokens = [next(filter(robotstxt.has_group, one), one[-1]) or "*" for one in options.crawlers]
        return _Asked(str(origin), known.access, robotstxt, tokens, len(known.body))

    def _unknown(self, origin: str, reason: Missing) -> list[BulkVerdict]:
        allowed = self._options.missing if reason is Missing.NO_FILE else None
        tokens = (crawler[0] or "*" for crawler in self._options.crawlers)
        return [BulkVerdict(origin, token, allowed, None, None, reason.value) for token in tokens]


def _octets(held: _Asked | Missing) -> int:
    return 0 if isinstance(held, Missing) else held.octets


def decide(
    urls: Iterable[str],
    source: Source,
    agents: Iterable[str] | str = "*",
    *,
    dialect: Dialect = GOOGLE,
    limit: int | None = MAX_SIZE,
    missing: bool | None = None,
    held: Held | None = None,
) -> Iterator[tuple[str, BulkVerdict]]:
    """Yield each of *urls*, in their order, with the verdict on it; for each of *agents* if there are several.

    *agents* are product tokens or User-Agent headers, one or several, *limit* is the number of octets of a
    robots.txt that are read, *missing* is the verdict where *source* has no robots.txt, *held* bounds the parsed
    files. Raises `SourceError` when *source* cannot be used, and ``ValueError`` for an agent without a name.
    """
    named = [agents] if isinstance(agents, str) else agents
    crawlers = tuple((asked_token(agent),) for agent in named)
    if not crawlers or not all(token for (token,) in crawlers):
        raise ValueError("each agent needs a product token, such as ExampleBot")
    decider = Decider(source, BulkOptions(crawlers, dialect, limit, missing=missing, held=held or Held()))
    for url in urls:
        for verdict in decider.on(url):
            yield url, verdict
