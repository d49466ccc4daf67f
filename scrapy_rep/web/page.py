"""The page: its form as the visitor left it, and the places where the parts of the answer go."""

from __future__ import annotations

from typing import Final

from scrapy_rep.protocol import DIALECTS
from scrapy_rep.tools.crawlers import AI_CRAWLERS, ARCHIVE_CRAWLERS, SEARCH_CRAWLERS

from .forms import Form
from .limits import Limits
from .question import Question
from .rendering import render

PARTS: Final = ("verdicts", "file", "dialects")
"""The parts of an answer, in the order in which they are sent."""

_CRAWLERS: Final = {"Search": SEARCH_CRAWLERS, "AI": AI_CRAWLERS, "Archive": ARCHIVE_CRAWLERS}
"""The crawlers that the page offers, by what they collect pages for."""

_PRESELECTED: Final = ("*", "Googlebot", "bingbot", "GPTBot", "ClaudeBot")
"""What an empty form asks about; ``*`` is every crawler that no group names."""

_PLACE: Final = "<!-- place for a part -->"


def page_in_pieces(limits: Limits, form: Form | None = None, problem: str = "") -> list[str]:
    """Return what stands before the first of the `PARTS`, and what follows each; one piece without an answer.

    *problem* says why there is no answer to *form*.
    """
    has_answer = form is not None and not problem
    question = form.question if form else Question(b"", agents=_PRESELECTED)
    offered = {"*"}.union(*_CRAWLERS.values())
    page = render(
        "page.html",
        form=form or Form(question),
        question=question,
        robots=question.robots.decode("utf-8", "replace"),
        crawlers=_CRAWLERS,
        others=[agent for agent in question.agents if agent.strip() and agent not in offered],
        dialects=list(DIALECTS),
        limits=limits,
        problem=problem,
        parts=PARTS if has_answer else (),
        place=_PLACE,
    )
    return page.split(_PLACE)
