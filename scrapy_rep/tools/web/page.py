"""The page: its form as the visitor left it, and the parts of the answer, which worker processes render.

Everything is escaped, and what is not printable is shown as an escape.
"""

from __future__ import annotations

from codecs import iterdecode
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

from markupsafe import Markup

from scrapy_rep.protocol import DIALECTS
from scrapy_rep.tools.crawlers import AI_CRAWLERS_IN_USE, ARCHIVE_CRAWLERS, SEARCH_CRAWLERS
from scrapy_rep.tools.page import page_template

from .annotated import annotate
from .question import Form, Question
from .verdicts import compare, judge
from .visitors import Limits

COMPARING_TIME: Final = 2.0
"""Seconds after which no further dialect is compared."""

_CRAWLERS: Final = {"Search": SEARCH_CRAWLERS, "AI": AI_CRAWLERS_IN_USE, "Archive": ARCHIVE_CRAWLERS}
"""The crawlers that the page offers, by what they collect pages for."""

_PRESELECTED: Final = ("*", "Googlebot", "bingbot", "GPTBot", "ClaudeBot")
"""What an empty form asks about; ``*`` is every crawler that no group names."""

_PLACE: Final = Markup("<!-- place for a part -->")
_SLICE: Final = 65_536


def page_in_pieces(
    limits: Limits, form: Form | None = None, problem: str = ""
) -> tuple[Iterator[bytes], list[bytes]]:
    """Return what stands before the first of the `PARTS`, in pieces, and what follows each.

    *problem* says why there is no answer to *form*; there are no parts then.
    """
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
        parts=PARTS if form and not problem else (),
        place=_PLACE,
    )
    start, head, *tails = (piece.encode() for piece in page.split(_PLACE))
    return chain([start], _text(question.robots), [head]), tails


def verdicts_html(question: Question) -> str:
    """The table of verdicts, and what the file says to each crawler."""
    answer = judge(question)
    count = len(question.agents)
    rows = [answer.verdicts[start : start + count] for start in range(0, len(answer.verdicts), count)]
    return render("verdicts.html", answer=answer, rows=rows, question=question)


def file_html(question: Question) -> str:
    """The file with its findings."""
    return render("file.html", file=annotate(question), question=question)


def dialects_html(question: Question) -> str:
    """What other dialects make of the file."""
    return render("dialects.html", comparison=compare(question, COMPARING_TIME), question=question)


PARTS: Final = ("verdicts", "file", "dialects")
"""The parts of an answer, in the order in which they are sent."""


def _text(robots: bytes) -> Iterator[bytes]:
    """*robots* for the text field, in pieces: a megabyte of it could take five when it is escaped."""
    slices = (robots[start : start + _SLICE] for start in range(0, len(robots), _SLICE))
    return (_verbatim(text).encode() for text in iterdecode(slices, "utf-8", "replace"))


def render(name: str, **values: Any) -> str:
    """Return the template *name* with *values*."""
    return page_template(__package__, f"templates/{name}").render(values, verbatim=_verbatim)


def _verbatim(text: str) -> Markup:
    """*text* for a text field: as it is, so that it can be edited, but without what HTML cannot hold."""
    return Markup.escape(text.encode("utf-8", "replace").decode().replace("\0", "\ufffd"))
