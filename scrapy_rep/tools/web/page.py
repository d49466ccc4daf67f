"""The page: its form as the visitor left it, and the places where the parts of the answer go.

Everything is escaped, and what is not printable is shown as an escape.
"""

from __future__ import annotations

from codecs import iterdecode
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from scrapy_rep.protocol import DIALECTS
from scrapy_rep.protocol.display import number_of, shown
from scrapy_rep.tools.crawlers import AI_CRAWLERS, ARCHIVE_CRAWLERS, SEARCH_CRAWLERS

from .question import Form, Question
from .visitors import Limits

PARTS: Final = ("verdicts", "file", "dialects")
"""The parts of an answer, in the order in which they are sent."""

_CRAWLERS: Final = {"Search": SEARCH_CRAWLERS, "AI": AI_CRAWLERS, "Archive": ARCHIVE_CRAWLERS}
"""The crawlers that the page offers, by what they collect pages for."""

_PRESELECTED: Final = ("*", "Googlebot", "bingbot", "GPTBot", "ClaudeBot")
"""What an empty form asks about; ``*`` is every crawler that no group names."""

_PLACE: Final = Markup("<!-- place for a part -->")
_SLICE: Final = 65_536
_LINE_ENDS_AND_TABS: Final = str.maketrans("", "", "\n\r\t")


def page_in_pieces(
    limits: Limits, form: Form | None = None, problem: str = ""
) -> tuple[Iterator[bytes], list[bytes]]:
    """Return what stands before the first of the `PARTS`, in pieces, and what follows each.

    *problem* says why there is no answer to *form*; there are no parts then.
    """
    has_answer = form is not None and not problem
    question = form.question if form else Question(b"", agents=_PRESELECTED)
    offered = {"*"}.union(*_CRAWLERS.values())
    page = render(
        "page.html",
        form=form or Form(question),
        question=question,
        crawlers=_CRAWLERS,
        others=[agent for agent in question.agents if agent.strip() and agent not in offered],
        dialects=list(DIALECTS),
        limits=limits,
        problem=problem,
        parts=PARTS if has_answer else (),
        place=_PLACE,
    )
    start, head, *tails = (piece.encode() for piece in page.split(_PLACE))
    return chain([start], _text(question.robots), [head]), tails


def _text(robots: bytes) -> Iterator[bytes]:
    """*robots* for the text field, in pieces: a megabyte of it could take five when it is escaped."""
    slices = (robots[start : start + _SLICE] for start in range(0, len(robots), _SLICE))
    return (_verbatim(text).encode() for text in iterdecode(slices, "utf-8", "replace"))


def render(name: str, **values: Any) -> str:
    """Return the template *name* with *values*."""
    return _environment().get_template(name).render(values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(number="{:,}".format, with_noun=number_of, verbatim=_verbatim)
    return environment


def _verbatim(text: str) -> Markup:
    """*text* for a text field: as it is, so that it can be edited, but without what HTML cannot hold."""
    return Markup.escape(text.encode("utf-8", "replace").decode().replace("\0", "\ufffd"))


def _printable(value: Any) -> Any:
    """*value* for a page; the text of the templates themselves, and what is escaped already, stay as they are."""
    if type(value) is str and not value.translate(_LINE_ENDS_AND_TABS).isprintable():
        return shown(value)
    return value
