"""What a site and a page say besides Allow and Disallow: page directives, and signals about the use by AI.

As text, and as data for JSON. Knows nothing of how it was fetched.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, TypeVar

from scrapy_rep.directives import PageDirectives
from scrapy_rep.directives.vocabulary import Answer, Category, Signal, Statement, answers
from scrapy_rep.gate.site_files import as_values
from scrapy_rep.protocol.display import shown

if TYPE_CHECKING:
    from scrapy_rep.directives import Directive

_T = TypeVar("_T")

_MOST_LINES: Final = 50
"""Rules, statements and licenses that are shown of each."""

_BARE: Final = frozenset({Signal.CONTENT_USAGE, Signal.CONTENT_SIGNAL, Signal.RSL})
"""Signals whose statements are written without the name of the signal."""


@dataclass(frozen=True, slots=True)
class Page:
    """The answer to the one request for a page: ``status`` is None if none came, and ``problem`` says why.

    ``location`` is the target of a redirect, ``directives`` are those for the crawler.
    """

    status: int | None = None
    location: str = ""
    problem: str = ""
    directives: PageDirectives = field(default_factory=PageDirectives)

    @property
    def is_successful(self) -> bool:
        """Whether what the page says has an effect."""
        return self.status is not None and HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES


@dataclass(frozen=True, slots=True)
class Said:
    """What a site, and the ``page`` if it was asked for, say about one URL to one crawler."""

    statements: Sequence[Statement] = ()
    licenses: Sequence[str] = ()
    page: Page | None = None

    @property
    def answers(self) -> Mapping[Category, Answer]:
        """The answer for each use."""
        return answers(self.statements)

    def as_sections(self, purposes: Collection[Category]) -> Iterator[tuple[str, list[str]]]:
        """The labels and lines of the explanation; *purposes* are answered even where nothing speaks of them."""
        if self.page is not None:
            yield "page", [*_page(self.page)]
        if self.page is not None and self.page.status is not None:
            yield "directives", [*_directives(self.page.directives)]
        if self.statements or self.licenses:
            licenses = [f"{'license':<19}{shown(url)}" for url in _most(self.licenses)]
            yield "AI use", [*self._uses(purposes), *licenses]
        elif purposes:
            yield "AI use", ["no signals"]

    def _uses(self, purposes: Collection[Category]) -> Iterator[str]:
        """A line for each statement about each use, and then for those that are about none."""
        for category, answer in self.answers.items():
            found = [one for one in self.statements if one.category is category]
            if found or category in purposes:
                lead = f"{category:<10}{answer:<9}"
                for one in _most(sorted(found, key=lambda one: one.allows is not False)):
                    yield f"{lead}{_statement(one)}"
                    lead = " " * len(lead)
                if not found:
                    yield lead.rstrip()
        for one in _most([one for one in self.statements if one.category is None]):
            yield f"{'recorded':<19}{_statement(one)}"

    def as_facts(self) -> dict[str, Any]:
        """The same as data for JSON: ``ai`` is None if nothing is said, ``page`` if it was not asked for."""
        is_silent = not (self.statements or self.licenses)
        return {
            "ai": None if is_silent else as_values(self.statements, self.licenses),
            "page": None if self.page is None else _page_facts(self.page),
        }


NOTHING: Final = Said()
"""What is said about a URL that must not be requested."""


# As text.


def _page(page: Page) -> Iterator[str]:
    if page.status is None:
        yield shown(page.problem)
        return
    yield f"HTTP status {page.status}"
    if page.location:
        yield f"redirects to {shown(page.location)}, which speaks for itself"
    elif not page.is_successful:
        yield "an error page: what it says has no effect"


def _directives(page: PageDirectives) -> Iterator[str]:
    yield f"{page}: holds for this crawler" if page.words else "none holds for this crawler"
    width = min(max((len(one.text) for one in page.statements), default=0), 40)
    for one in _most(page.statements):
        addressed = f"for {shown(one.agent)}" if one.agent else "for every crawler"
        yield f"{one.source:<14}{shown(one.text):<{width}}  {addressed}{'' if one.is_read else '  unread'}"


def _statement(one: Statement) -> str:
    where = f"line {one.line}" if one.line else one.source.rpartition("/")[2]
    text = f"{one.signal}: {one.text}" if one.signal in _BARE else one.text
    return f"{where:<14}{shown(text)}{'  irregular' if one.irregular else ''}"


def _most(things: Sequence[_T]) -> Sequence[_T]:
    return things[:_MOST_LINES]


# As data.


def _page_facts(page: Page) -> dict[str, Any]:
    said = page.directives
    return {
        "status": page.status,
        "location": page.location or None,
        "problem": page.problem or None,
        "directives": said.words,
        "rules": [_rule_facts(one) for one in said.statements[:_MOST_LINES]],
        "unread": list(said.unread[:_MOST_LINES]),
    }


def _rule_facts(one: Directive) -> dict[str, Any]:
    return {**asdict(one), "source": one.source.value}
