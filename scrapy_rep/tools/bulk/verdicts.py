"""What the robots.txt files of a source say about URLs: one verdict for all URLs of an origin that a rule decides.

Holds a bounded number of parsed files; URLs that are sorted by origin need each file once.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
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
    split_url,
)
from scrapy_rep.protocol.access import rules_by
from scrapy_rep.protocol.product_token import asked_token
from scrapy_rep.tools.answers import verdict_facts

from .sources import Missing, Source

T = TypeVar("T")
On = Callable[[bytes], T]
"""What answers about the paths of one origin for one crawler."""

Crawler = tuple[str, ...]
"""The product tokens of a crawler, the most specific first."""

LONGEST_URL: Final = 65_536
"""Characters; a longer text is not asked about."""

_find_control = re.compile(r"[\0-\x1f\x7f]").search
_VERDICTS_KEPT: Final = 64  # of an origin and crawler


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

    @classmethod
    def of(cls, origin: str, access: Access, agent: str, verdict: Verdict) -> BulkVerdict:
        """What *verdict* means where *access* chose the rules."""
        if access is not Access.SUCCESSFUL and verdict.reason is not Reason.ROBOTS_TXT:
            return cls(origin, agent, verdict.allowed, None, None, access.value)
        return cls(origin, agent, **verdict_facts(verdict))


@dataclass(frozen=True, slots=True)
class BulkOptions:
    """How robots.txt files are asked: for whom, and read how.

    ``limit`` is the number of octets of a file that are read; ``unreachable`` says what an unreachable robots.txt
    means, and ``missing`` what none means: True for allowed, None for unknown.
    """

    crawlers: tuple[Crawler, ...]
    dialect: Dialect = GOOGLE
    limit: int | None = MAX_SIZE
    unreachable: Access = Access.UNREACHABLE
    missing: bool | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """How many parsed files are held: so many ``files`` at most, with bodies of so many ``octets`` together."""

    files: int = 10_000
    octets: int = 33_554_432


def _answers(robotstxt: RobotsTxt, token: str, present: Callable[[Verdict], T]) -> On[T]:
    """The robots.txt of one origin as one crawler sees it; each of its verdicts is presented once."""
    ask = partial(robotstxt.verdict_on_path, token)
    known: dict[int, tuple[Verdict, T]] = {}

    def on(path: bytes) -> T:
        verdict = ask(path)
        found = known.get(id(verdict))  # which no other verdict has while this dictionary holds it
        if found is None:
            if len(known) >= _VERDICTS_KEPT:
                known.clear()
            found = known[id(verdict)] = verdict, present(verdict)
        return found[1]

    return on


class Decider(Generic[T]):
    """Answers about URLs from *source*; *present* turns each verdict into what is returned for its URLs.

    Not safe to share between threads.
    """

    def __init__(
        self, source: Source, rules: BulkOptions, present: Callable[[BulkVerdict], T], held: Held | None = None
    ) -> None:
        self._source, self._rules, self._present = source, rules, present
        self._most, self._octets = held or Held(), 0
        self._held: OrderedDict[bytes, tuple[list[On[T]], int]] = OrderedDict()
        self._no_url = self._same("", Missing.NO_URL)

    def on(self, url: str) -> list[T]:
        """For each crawler what *present* made of the verdict on *url*. Raises `SourceError`."""
        try:
            if len(url) > LONGEST_URL or _find_control(url):
                raise ValueError("not a URL")
            start, path = split_url(url, canonical_octets=self._rules.dialect.canonical_octets)
        except ValueError:
            return [on(b"") for on in self._no_url]
        return [on(path) for on in self.at(start.encode())]

    def at(self, start: bytes) -> list[On[T]]:
        """For each crawler what answers about the paths of URLs with this *start*. Raises `SourceError`.

        *start* and paths are spelt as `split_url` answers them.
        """
        held = self._held.get(start)
        if held is None:
            origin = Origin.from_url(start.decode())
            start = str(origin).encode()  # of several, such as those with the default port
            held = self._held.get(start) or self._hold(start, origin)
        self._held.move_to_end(start)
        return held[0]

    def _hold(self, start: bytes, origin: Origin) -> tuple[list[On[T]], int]:
        held = self._held[start] = self._load(origin)
        self._octets += held[1]
        while len(self._held) > max(self._most.files, 1) or (
            self._octets > self._most.octets and len(self._held) > 1
        ):
            _, (_, freed) = self._held.popitem(last=False)
            self._octets -= freed
        return held

    def _load(self, origin: Origin) -> tuple[list[On[T]], int]:
        """What answers about *origin*, and the octets that count for it."""
        rules, known = self._rules, self._source.get(origin)
        if isinstance(known, Missing):
            return self._same(str(origin), known), 0
        access = rules.unreachable if known.access is Access.UNREACHABLE else known.access
        robotstxt = parse(rules_by(access, known.body), rules.dialect, limit=rules.limit)
        made = partial(BulkVerdict.of, str(origin), known.access)
        return [self._on(robotstxt, crawler, made) for crawler in rules.crawlers], len(known.body)

    def _on(self, robotstxt: RobotsTxt, crawler: Crawler, made: Callable[[str, Verdict], BulkVerdict]) -> On[T]:
        token = next(filter(robotstxt.has_group, crawler), crawler[-1]) or "*"
        return _answers(robotstxt, token, lambda verdict: self._present(made(token, verdict)))

    def _same(self, origin: str, reason: Missing) -> list[On[T]]:
        """The same verdict on every path of *origin*, for each crawler."""
        allowed = self._rules.missing if reason is Missing.NO_FILE else None
        tokens = [crawler[0] or "*" for crawler in self._rules.crawlers]
        found = [self._present(BulkVerdict(origin, token, allowed, None, None, reason.value)) for token in tokens]
        return [partial(_first_of, each) for each in found]


def _first_of(presented: T, _path: bytes) -> T:
    return presented


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
    decider = Decider(
        source, BulkOptions(crawlers, dialect, limit, missing=missing), lambda verdict: verdict, held
    )
    for url in urls:
        for verdict in decider.on(url):
            yield url, verdict
