"""What the robots.txt files of a source say about URLs: one verdict for all URLs of an origin that a rule decides.

Holds as many parsed files as fit into a number of octets; URLs that are sorted by origin need each file once.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Generic, TypeVar

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
    product_token,
    split_url,
)
from scrapy_rep.protocol.access import rules_by

from .sources import Missing, Source

T = TypeVar("T")

Crawler = tuple[str, ...]
"""The product tokens of a crawler, the most specific first."""

CACHE_OCTETS: Final = 134_217_728
"""Octets of parsed files that are held."""

LONGEST_URL: Final = 65_536
"""Characters; a longer text is not asked about."""

_find_control = re.compile(r"[\0-\x1f\x7f]").search
_OCTETS_OF_ORIGIN: Final = 2_048  # beside the parsed file
_VERDICTS_KEPT: Final = 256  # of an origin and crawler


@dataclass(frozen=True, slots=True, eq=False)
class BulkVerdict:
    """The verdict on all URLs of ``origin`` that ``rule`` decides for the crawler called ``agent``.

    ``allowed`` is None where it is unknown, and ``reason`` says why: a `Reason`, or a `Missing`. ``line`` is that
    of the rule, None without one. ``origin`` is empty for what is not a URL.
    """

    origin: str
    agent: str
    allowed: bool | None
    line: int | None
    rule: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Rules:
    """How robots.txt files are asked: for whom, and read how.

    ``limit`` is the number of octets of a file that are read; ``unreachable`` says what an unreachable robots.txt
    means, and ``missing`` what none means: True for allowed, None for unknown.
    """

    crawlers: tuple[Crawler, ...]
    dialect: Dialect = GOOGLE
    limit: int | None = MAX_SIZE
    unreachable: Access = Access.UNREACHABLE
    missing: bool | None = None


class _Origin(Generic[T]):
    """The robots.txt of one origin as one crawler sees it."""

    __slots__ = ("_access", "_ask", "_known", "_origin", "_present", "_token")

    def __init__(
        self, origin: Origin, robotstxt: RobotsTxt, access: Access, crawler: Crawler,
        present: Callable[[BulkVerdict], T],
    ) -> None:  # fmt: skip
        self._origin, self._access, self._present = str(origin), access, present
        self._token = next(filter(robotstxt.has_group, crawler), crawler[-1]) or "*"
        self._ask = partial(robotstxt.verdict_on_path, self._token)
        self._known: dict[int, tuple[Verdict, T]] = {}

    def on(self, path: bytes) -> T:
        """The verdict on *path*."""
        verdict = self._ask(path)
        known = self._known.get(id(verdict))  # which no other verdict has while this dictionary holds it
        return known[1] if known else self._first(verdict)

    def _first(self, verdict: Verdict) -> T:
        presented = self._present(self._as_bulk(verdict))
        if len(self._known) >= _VERDICTS_KEPT:
            self._known.clear()
        self._known[id(verdict)] = verdict, presented
        return presented

    def _as_bulk(self, verdict: Verdict) -> BulkVerdict:
        origin, rule, reason = self._origin, verdict.rule, verdict.reason
        if self._access is not Access.SUCCESSFUL and reason is not Reason.ROBOTS_TXT:
            return BulkVerdict(origin, self._token, verdict.allowed, None, None, self._access.value)
        text = str(rule) if rule else None
        return BulkVerdict(origin, self._token, verdict.allowed, verdict.line or None, text, reason.value)


class _Same(Generic[T]):
    """The same verdict on every URL."""

    __slots__ = ("on",)

    def __init__(self, presented: T) -> None:
        self.on: Callable[[bytes], T] = lambda _: presented


_OfOrigin = Sequence[Callable[[bytes], T]]


class Decider(Generic[T]):
    """Answers about URLs from *source*; *present* turns each verdict into what is returned for its URLs.

    Not safe to share between threads.
    """

    def __init__(
        self, source: Source, rules: Rules, present: Callable[[BulkVerdict], T], cache_octets: int = CACHE_OCTETS
    ) -> None:
        self._source, self._rules, self._present = source, rules, present
        self._most_octets, self._octets = cache_octets, 0
        self._held: OrderedDict[str, tuple[_OfOrigin[T], int]] = OrderedDict()
        self._no_url: _OfOrigin[T] = [
            self._same("", crawler, None, Missing.NO_URL).on for crawler in rules.crawlers
        ]
        self._last: tuple[str, _OfOrigin[T]] = "", self._no_url
        self._canonical_octets = rules.dialect.canonical_octets

    def on(self, url: str) -> list[T]:
        """For each crawler what *present* made of the verdict on *url*. Raises `SourceError`."""
        url = url if len(url) <= LONGEST_URL else ""
        try:
            start, path = split_url(url, canonical_octets=self._canonical_octets)
        except ValueError:
            return [on(b"") for on in self._no_url]
        last, answers = self._last
        if start != last:
            answers = self._of_origin(Origin.from_url(start))
            self._last = start, answers
        return [on(path) for on in answers]

    def _of_origin(self, origin: Origin) -> _OfOrigin[T]:
        text = str(origin)
        held = self._held.get(text)
        if held is None:
            held = self._held[text] = self._load(origin)
            self._octets += held[1]
            while self._octets > self._most_octets and len(self._held) > 1:
                _, (_, freed) = self._held.popitem(last=False)
                self._octets -= freed
        else:
            self._held.move_to_end(text)
        return held[0]

    def _load(self, origin: Origin) -> tuple[_OfOrigin[T], int]:
        rules, known = self._rules, self._source.get(origin)
        if isinstance(known, Missing):
            allowed = rules.missing if known is Missing.NO_FILE else None
            return [
                self._same(str(origin), crawler, allowed, known).on for crawler in rules.crawlers
            ], _OCTETS_OF_ORIGIN
        robotstxt = parse(self._body(known.access, known.body), rules.dialect, limit=rules.limit)
        asked = [_Origin(origin, robotstxt, known.access, crawler, self._present).on for crawler in rules.crawlers]
        return asked, robotstxt.octets + _OCTETS_OF_ORIGIN * len(asked)

    def _body(self, access: Access, body: bytes) -> bytes:
        if access is Access.UNREACHABLE:
            access = self._rules.unreachable
        return rules_by(access, body)

    def _same(self, origin: str, crawler: Crawler, allowed: bool | None, reason: Missing) -> _Same[T]:
        return _Same(self._present(BulkVerdict(origin, crawler[0] or "*", allowed, None, None, reason.value)))


def decide(
    urls: Iterable[str],
    source: Source,
    agents: Iterable[str] | str = "*",
    *,
    dialect: Dialect = GOOGLE,
    limit: int | None = MAX_SIZE,
    missing: bool | None = None,
    cache_octets: int = CACHE_OCTETS,
) -> Iterator[tuple[str, BulkVerdict]]:
    """Yield each of *urls*, in their order, with the verdict on it; for each of *agents* if there are several.

    *agents* are product tokens or User-Agent headers, one or several, *limit* is the number of octets of a
    robots.txt that are read, *missing* is the verdict where *source* has no robots.txt, *cache_octets* bounds the
    memory of parsed files. Raises `SourceError` when *source* cannot be used, and ``ValueError`` for an agent
    without a name.
    """
    named = [agents] if isinstance(agents, str) else agents
    crawlers = tuple((agent if agent == "*" else product_token(agent),) for agent in named)
    if not crawlers or not all(token for (token,) in crawlers):
        raise ValueError("each agent needs a product token, such as ExampleBot")
    rules = Rules(crawlers, dialect, limit, missing=missing)
    decider: Decider[BulkVerdict] = Decider(source, rules, lambda verdict: verdict, cache_octets)
    for url in urls:
        for verdict in decider.on("" if _find_control(url) else url):
            yield url, verdict
