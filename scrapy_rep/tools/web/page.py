"""The page: its form as the visitor left it, and the parts of the answer, which worker processes render.

Everything is escaped, and what is not printable is shown as an escape. And the answer for programs.
"""

from __future__ import annotations

import io
import json
from codecs import iterdecode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from itertools import chain
from typing import Any, Final

from markupsafe import Markup

from scrapy_rep.clock import clock
from scrapy_rep.protocol.display import shown
from scrapy_rep.tools.answers import time_text
from scrapy_rep.tools.files import write_csv
from scrapy_rep.tools.page import page_template
from scrapy_rep.tools.writer import TRAINING

from .annotated import annotate, changes_by, found_in, summary
from .question import CATEGORIES, CheckQuestion, Form
from .verdicts import judge
from .visitors import Limits

_OFTEN: Final = ("Googlebot", "bingbot")
"""The crawlers that the page offers first, one by one."""

PRESELECTED: Final = CheckQuestion(b"", agents=("*", *_OFTEN), categories=("training",))
"""What an empty form asks about; ``*`` is every crawler that no group names."""

EXAMPLE: Final = files(__package__).joinpath("static/example.txt").read_bytes()
"""What people can try who have no robots.txt at hand."""

_PLACE: Final = Markup("<!-- place for a part -->")
_SLICE: Final = 65_536


def page_in_pieces(
    limits: Limits, form: Form, parts: Sequence[str] = (), problem: str = ""
) -> tuple[Iterator[bytes], list[bytes]]:
    """Return what stands before the first of the *parts*, in pieces, and what follows each.

    *problem* says why there is no answer to *form*.
    """
    question = form.question
    page = render(
        "page.html",
        form=form,
        question=question,
        often=_OFTEN,
        categories=CATEGORIES,
        others=[agent for agent in question.agents if agent.strip() and agent not in {"*", *_OFTEN}],
        limits=limits,
        problem=problem,
        parts=parts,
        preselected=PRESELECTED,
        source=json.dumps(question.source.as_facts()) if question.source.url else "",
        place=_PLACE,
    )
    start, head, *tails = (piece.encode() for piece in page.split(_PLACE))
    return chain([start], _text(question.robots), [head]), tails


def file_html(question: CheckQuestion, action: str = "", key: str = "") -> str:
    """The verdict, the facts, the sentences, the findings, the worst first, and the file.

    With the *action* "consider" the finding with this *key* says what its fix would change; otherwise it has been
    fixed, and the findings with its code have the focus.
    """
    found = found_in(question)
    file = annotate(question, found)
    fix = next((here.changes for here in found if action == "consider" and here.key == key), None)
    return render(
        "file.html",
        file=file,
        sentences=summary(question, found),
        considered=key if fix else "",
        changes=changes_by(fix, question) if fix else [],
        fixed=key.partition(":")[0] if action in {"apply", "confirm"} else "",
        question=question,
        size=len(question.robots),
        most=f"{question.limit / 1_024:,.0f} KiB",
        time=time_text(question.source.time or clock.time()),
    )


def verdicts_html(question: CheckQuestion) -> str:
    """The table of verdicts, and what the file says to each crawler."""
    answer, count = judge(question), len(question.crawlers)
    columns = [*((agent,) for agent in question.agents), *(CATEGORIES[name] for name in question.categories)]
    rows = []
    for start in range(0, len(answer.verdicts), count):
        of_url = {one.agent: one for one in answer.verdicts[start : start + count]}
        rows.append([[of_url[agent] for agent in agents] for agents in columns])
    return render("verdicts.html", answer=answer, rows=rows, question=question)


def write_html(chosen: Mapping[str, str], problem: str = "") -> str:
    """The form that writes a robots.txt, with what was *chosen*; *problem* says why nothing was written."""
    return render("write.html", chosen=chosen, problem=problem, training=len(TRAINING))


PARTS: Final = ("file", "verdicts")
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


# For programs.


def facts(question: CheckQuestion) -> str:
    """All parts of the answer as JSON."""
    found = found_in(question)
    facts = {
        "summary": summary(question, found),
        **asdict(judge(question)),
        "findings": [here.as_facts() for here in found],
    }
    return json.dumps(facts, indent=1)


def verdicts_csv(question: CheckQuestion) -> str:
    """The table of verdicts, a line each."""
    out = io.StringIO()
    rows = (
        (shown(one.url), one.agent, str(one.allowed).lower(), one.line, shown(one.rule), one.reason)
        for one in judge(question).verdicts
    )
    write_csv(chain([["url", "agent", "allowed", "line", "rule", "reason"]], rows), out)
    return out.getvalue()
