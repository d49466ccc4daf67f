"""What the robots.txt files of a source say about URLs.

Holds a bounded number of parsed files; URLs that are sorted by origin need each file once.
"""

from __future__ import annotations

import json
import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from json.encoder import encode_basestring_ascii as _quoted
from typing import Any, Final, NamedTuple

from scrapy_rep.protocol import GOOGLE, MAX_SIZE, Access, Dialect, Origin, Reason, Verdict, parse, split_url
from scrapy_rep.protocol.access import rules_by
from scrapy_rep.protocol.product_token import asked_token
from scrapy_rep.tools.answers import WORDS, verdict_facts

from .sources import Missing, Source

Crawler = tuple[str, ...]
"""The product tokens of a crawler, the most specific first."""

LONGEST_URL: Final = 65_536
"""Characters; a longer text is not asked about."""

HELD: Final = 33_554_432
"""Octets of parsed files that are held, if nothing else is said."""

VERDICTS_KEPT: Final = 32_768  # of many sites in any order: 20 MB at most
_BESIDE_ITS_BODY: Final = (
    1_024  # octets that a parsed file counts beside its body: the smallest ones take memory too
)
_find_control = re.compile(r"[\0-\x1f\x7f]").search


class BulkVerdict(NamedTuple):
    """The verdict on a URL of ``origin``, which ``rule`` decides, for the crawler called ``agent``.

    ``allowed`` is None where it is unknown, and ``reason`` says why: a `Reason`, or a `Missing`. ``line`` is that
    of the rule, None without one. ``origin`` is empty for what is not a URL.
    """

    # A tuple, because both caches of `VERDICTS_KEPT` hash a verdict for each URL.
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
        return {**self._asdict(), "origin": self.origin or None}


_verdict = lru_cache(maxsize=VERDICTS_KEPT)(BulkVerdict.of)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The robots.txt of ``origin``: what its fetch meant, its verdicts, and the token of each crawler in it."""

    origin: str
    access: Access
    verdict: Callable[[str, bytes], Verdict]
    tokens: list[str]
    octets: int

    def on(self, path: bytes) -> list[BulkVerdict]:
        origin, access, verdict = self.origin, self.access, self.verdict
        return [_verdict(origin, access, token, verdict(token, path)) for token in self.tokens]


class Decider:
    """Answers about URLs from *source* to each of *crawlers*. Not safe to share between threads.

    *limit* is the number of octets of a file that are read, in *dialect*; *unreachable* says what an unreachable
    robots.txt means, and *missing* what none means: True for allowed, None for unknown. Parsed files are held
    whose bodies are so many octets together.
    """

    def __init__(
        self, source: Source, crawlers: tuple[Crawler, ...], *, dialect: Dialect = GOOGLE,
        limit: int | None = MAX_SIZE, unreachable: Access = Access.UNREACHABLE, missing: bool | None = None,
        held: int = HELD,
    ) -> None:  # fmt: skip
        self._source, self._crawlers, self._dialect, self._limit = source, crawlers, dialect, limit
        self._unreachable, self._missing, self._most = unreachable, missing, held
        self._held: OrderedDict[str, _Asked | Missing] = OrderedDict()
        self._octets = 0

    def on(self, url: str) -> list[BulkVerdict]:
        """The verdict on *url* for each crawler. Raises `SourceError`."""
        try:
            if len(url) > LONGEST_URL or _find_control(url):
                raise ValueError("not a URL")
            start, path = split_url(url, canonical_octets=self._dialect.canonical_octets)
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
        while self._octets > self._most and len(self._held) > 1:
            self._octets -= _octets(self._held.popitem(last=False)[1])
        return held

    def _load(self, origin: Origin) -> _Asked | Missing:
        known = self._source.get(origin)
        if isinstance(known, Missing):
            return known
        access = self._unreachable if known.access is Access.UNREACHABLE else known.access
        robotstxt = parse(rules_by(access, known.body), self._dialect, limit=self._limit)
        tokens = [next(filter(robotstxt.has_group, one), one[-1]) or "*" for one in self._crawlers]
        return _Asked(str(origin), known.access, robotstxt.verdict_on_path, tokens, len(known.body))

    def _unknown(self, origin: str, reason: Missing) -> list[BulkVerdict]:
        allowed = self._missing if reason is Missing.NO_FILE else None
        tokens = (crawler[0] or "*" for crawler in self._crawlers)
        return [BulkVerdict(origin, token, allowed, None, None, reason.value) for token in tokens]


def _octets(held: _Asked | Missing) -> int:
    return _BESIDE_ITS_BODY + (0 if isinstance(held, Missing) else held.octets)


def decide(
    urls: Iterable[str], source: Source, agents: Iterable[str] | str = "*", *, dialect: Dialect = GOOGLE,
    limit: int | None = MAX_SIZE, missing: bool | None = None, held: int = HELD,
) -> Iterator[tuple[str, BulkVerdict]]:  # fmt: skip
    """Yield each of *urls*, in their order, with the verdict on it; for each of *agents* if there are several.

    *agents* are product tokens or User-Agent headers, one or several, *limit* is the number of octets of a
    robots.txt that are read, *missing* is the verdict where *source* has no robots.txt, *held* is how many octets
    of parsed files are held. Raises `SourceError` when *source* cannot be used, and ``ValueError`` for an agent
    without a name.
    """
    named = [agents] if isinstance(agents, str) else agents
    crawlers = tuple((asked_token(agent),) for agent in named)
    if not crawlers or not all(token for (token,) in crawlers):
        raise ValueError("each agent needs a product token, such as ExampleBot")
    decider = Decider(source, crawlers, dialect=dialect, limit=limit, missing=missing, held=held)
    return ((url, verdict) for url in urls for verdict in decider.on(url))


# Lines of URLs and lines of verdicts, as octets: what a process does with each batch of the input.


@dataclass(frozen=True)
class LineDecider:
    """Decides batches of the input, one after the other. Each process has its own, and opens the source itself.

    If ``only`` is one of `WORDS`, those URLs alone are written, as they came.
    """

    source: Callable[[], Source]
    decider: Callable[[Source], Decider]
    only: str | None = None

    @cached_property
    def _decider(self) -> Decider:
        return self.decider(self.source())

    def __call__(self, lines: Sequence[bytes]) -> tuple[bytes, int, Counter[str]]:
        """The output for the URLs in *lines*, the number of verdicts, and why some are unknown.

        Raises `SourceError`.
        """
        written: list[str] = []
        number, unknown = 0, Counter[str]()
        only, decide = self.only, self._decider.on
        for line in filter(None, map(bytes.strip, lines)):
            url = line.decode("utf-8", "surrogateescape")
            for verdict in decide(url):
                number += 1
                if verdict.allowed is None:
                    unknown[verdict.reason] += 1
                if only is None:
                    written.append(f'{{"url": {_quoted(url)}, {_rest(verdict)}\n')
                elif only == WORDS[verdict.allowed]:
                    written.append(f"{url}\n")
        return "".join(written).encode("utf-8", "surrogateescape"), number, unknown


@lru_cache(maxsize=VERDICTS_KEPT)
def _rest(verdict: BulkVerdict) -> str:
    """What follows the URL in a line of JSON."""
    return json.dumps(verdict.as_facts())[1:]
