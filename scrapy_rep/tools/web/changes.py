"""What a fix that changes verdicts would change: for whom, where, and what it was before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from scrapy_rep.protocol import RobotsTxt, Verdict, parse
from scrapy_rep.protocol.product_token import asked_token
from scrapy_rep.tools.answers import WORDS, on_line
from scrapy_rep.tools.difference import Difference

from .annotated import FoundHere
from .question import Question

_MOST_CHANGES: Final = 50
"""Changes that are listed."""

_MOST_VERDICTS: Final = 20_000
"""Crawlers times paths that are asked about before and after."""

_EVERYBODY_ELSE: Final = "*"


@dataclass(frozen=True, slots=True)
class ChangedVerdict:
    """What changes on ``url`` for ``agents``: the verdicts ``before`` and ``after``, with what decides."""

    agents: tuple[str, ...]
    url: str
    is_allowed: bool
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Consideration:
    """What the fix of the finding ``here`` changes. ``count`` is that of all changes, listed or not.

    ``asked`` is the number of URLs and paths that were asked about, for ``*`` and the crawlers of the question.
    """

    here: FoundHere
    changes: tuple[ChangedVerdict, ...]
    count: int
    asked: int


def consider(question: Question, here: FoundHere) -> Consideration | None:
    """What the fix of *here* that may change verdicts would change; None where there is no such fix."""
    if not here.changes:
        return None
    after = here.changes.applied_to(question.robots)
    files = (parse(body, question.flavour, limit=question.limit) for body in (question.robots, after))
    agents = _agents(question, *files)
    dialects = (question.flavour, question.flavour)
    difference = Difference(question.robots, after, agents, dialects, limit=question.limit)
    urls = dict.fromkeys((*question.urls, *difference.sample_paths()[0]))
    asked = list(urls)[: _MOST_VERDICTS // len(agents)]
    changed: defaultdict[tuple[str, bool, str, str], list[str]] = defaultdict(list)
    for url in asked:
        for one in difference.changes(url):
            key = (one.url, one.new.allowed, _text(one.old), _text(one.new))
            changed[key].append(one.agent)
    listed = tuple(ChangedVerdict(tuple(names), *key) for key, names in list(changed.items())[:_MOST_CHANGES])
    return Consideration(here, listed, len(changed), len(asked))


def _agents(question: Question, before: RobotsTxt, after: RobotsTxt) -> tuple[str, ...]:
    """``*``, which stands for all whom no group names, and whom one names: asked about, or newly named."""
    names = dict.fromkeys((*question.crawlers, *_named_in_one(before, after)))
    own = [name for name in names if before.has_group(name) or after.has_group(name)]
    return (_EVERYBODY_ELSE, *(name for name in own if name != _EVERYBODY_ELSE))


def _text(verdict: Verdict) -> str:
    return f"{WORDS[verdict.allowed]}{on_line(verdict.line)}"


def _named_in_one(before: RobotsTxt, after: RobotsTxt) -> Iterator[str]:
    """The crawlers whom one of two files names, and the other does not."""
    old, new = ({agent.text for group in file.groups for agent in group.agents} for file in (before, after))
    yield from filter(None, map(asked_token, sorted(old ^ new)))
