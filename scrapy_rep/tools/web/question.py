"""What a visitor asks: a robots.txt, URLs, crawlers and a dialect, checked before any work is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from scrapy_rep.protocol import DIALECTS, MAX_SIZE, Access, Dialect, product_token
from scrapy_rep.protocol.display import shown
from scrapy_rep.protocol.path_pattern import octets

from .limits import Limits

DEFAULT_DIALECT: Final = next(iter(DIALECTS))
_MOST_HOPS: Final = 5
_SMALL: Final = 500_000
"""Octets of a robots.txt times verdicts: what has no more takes less than a second, however hostile it is."""
_FIELDS: Final = {"robots", "urls", "agents", "dialect"}


class QuestionError(ValueError):
    """A question that cannot be answered; the message tells the visitor what to change."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a visitor asks; it travels to a worker process.

    ``url`` is where the robots.txt was fetched, ``hops`` are its redirects, ``status`` is that of the response and
    ``found`` says what it means; empty for one that was pasted. Of ``robots``, ``limit`` octets are parsed.
    ``visitor`` is who asks.
    """

    robots: bytes
    urls: tuple[str, ...] = ("/",)
    agents: tuple[str, ...] = ("*",)
    dialect: str = DEFAULT_DIALECT
    url: str = ""
    hops: tuple[str, ...] = ()
    status: int | None = None
    found: Access = Access.SUCCESSFUL
    limit: int = MAX_SIZE
    visitor: str = ""

    @property
    def flavour(self) -> Dialect:
        """The dialect itself."""
        return DIALECTS[self.dialect]

    @property
    def is_large(self) -> bool:
        """Whether it may take so long that small questions do not wait for it."""
        return len(self.robots) * len(self.urls) * len(self.agents) > _SMALL

    @property
    def access(self) -> Access:
        """What the fetch means; a text that is pasted after a failed fetch stands for itself."""
        return Access.SUCCESSFUL if self.robots else self.found


def checked(question: Question, limits: Limits) -> Question:
    """Return *question* with defaults and product tokens filled in. Raises `QuestionError` beyond the *limits*."""
    if len(question.robots) > limits.robots_octets:
        raise QuestionError(
            f"robots: {len(question.robots):,} octets, but at most {limits.robots_octets:,} are checked"
        )
    if question.dialect not in DIALECTS:
        raise QuestionError(f"dialect: {shown(question.dialect)!r} is none of {', '.join(DIALECTS)}")
    urls = _bounded("urls", question.urls, limits.urls, limits.url_characters) or ("/",)
    agents = _bounded("agents", question.agents, limits.agents, limits.agent_characters) or ("*",)
    if len(urls) * len(agents) > limits.verdicts:
        raise QuestionError(
            f"{len(urls):,} urls times {len(agents):,} agents: at most {limits.verdicts:,} verdicts are given"
        )
    hops = tuple(hop[: limits.url_characters] for hop in question.hops[:_MOST_HOPS])
    tokens = tuple(dict.fromkeys(map(_token, agents)))
    return replace(question, urls=urls, agents=tokens, url=question.url[: limits.url_characters], hops=hops)


def question_in(data: object, limits: Limits) -> Question:
    """Return the question in the JSON *data* of the API. Raises `QuestionError`."""
    if not isinstance(data, dict):
        raise QuestionError('expected a JSON object such as {"robots": "User-agent: *", "urls": ["/"]}')
    if unknown := sorted(data.keys() - _FIELDS):
        raise QuestionError(f"unknown field {shown(str(unknown[0]))!r}: there are {', '.join(sorted(_FIELDS))}")
    robots, dialect = data.get("robots"), data.get("dialect", DEFAULT_DIALECT)
    if not isinstance(robots, str):
        raise QuestionError("robots: expected the text of a robots.txt")
    if not isinstance(dialect, str):
        raise QuestionError(f"dialect: expected one of {', '.join(DIALECTS)}")
    asked = Question(octets(robots), _strings(data, "urls"), _strings(data, "agents"), dialect)
    return checked(asked, limits)


def _strings(data: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = data.get(name, [])
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise QuestionError(f"{name}: expected a list of strings")
    return tuple(value)


def _bounded(name: str, values: tuple[str, ...], most: int, longest: int) -> tuple[str, ...]:
    """The different *values*, in order. Raises `QuestionError` for too many, and for one that is too long."""
    found = tuple(dict.fromkeys(value.strip() for value in values if value.strip()))
    if len(found) > most:
        raise QuestionError(f"{name}: {len(found):,} given, but at most {most:,} are checked at once")
    if any(len(value) > longest for value in found):
        raise QuestionError(f"{name}: one has more than {longest:,} characters")
    return found


def _token(agent: str) -> str:
    token = "*" if agent == "*" else product_token(agent)
    if not token:
        raise QuestionError(f"agents: {shown(agent)!r} contains no product token: write one such as ExampleBot")
    return token
