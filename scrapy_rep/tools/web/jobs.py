"""What a worker process does: each function takes a question and returns text, ready to be sent.

Pages are rendered here too, so that no file, however strange, can hold up the server.
"""

from __future__ import annotations

import csv
import io
import json
from typing import Final

from scrapy_rep.protocol.display import shown
from scrapy_rep.tools.lint.config import Config
from scrapy_rep.tools.lint.sarif import sarif_document, sarif_results

from .annotated import annotate, facts_of, fixed, linted
from .dialects import compare
from .page import render
from .question import Question
from .verdicts import judge

_DIALECT_TIME: Final = 2.0
"""Seconds after which no further dialect is compared."""

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet would compute a cell that starts so."""


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
    return render("dialects.html", comparison=compare(question, _DIALECT_TIME), question=question)


def apply_fix(question: Question, key: str) -> bytes:
    """The file after the fix of the finding with this *key*."""
    return fixed(question, key)


def facts(question: Question) -> str:
    """All parts of the answer as JSON."""
    comparison = compare(question, _DIALECT_TIME)
    found = {"findings": facts_of(question), "dialects": comparison.as_facts()}
    return json.dumps(judge(question).as_facts() | found, indent=1)


def sarif(question: Question) -> str:
    """The findings as one SARIF 2.1.0 document."""
    return json.dumps(sarif_document(sarif_results(linted(question)), Config()), indent=1)


def verdicts_csv(question: Question) -> str:
    """The table of verdicts, a line each."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["url", "agent", "allowed", "line", "rule", "reason"])
    for one in judge(question).verdicts:
        row = (one.url, one.agent, str(one.allowed).lower(), str(one.line), one.rule, one.reason)
        writer.writerow([_cell(text) for text in row])
    return out.getvalue()


def _cell(text: str) -> str:
    text = shown(text)
    return f"'{text}" if text.startswith(_FORMULA) else text
