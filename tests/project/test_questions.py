"""The pages of questions and of alternatives: short answers that lead on, and figures that were measured."""

from __future__ import annotations

import re

import pytest

from tests.support.markdown import PAGES

ANSWERS = dict(re.findall(r"^### (.+)\n\n((?:(?!#).*\n)+)", PAGES["docs/questions.md"], re.MULTILINE))
ENGINES = re.findall(
    r"^\| (\w[\w.]+) (?:[\d.]+ |Python )?.*?\| (\d+) of 411 \| (\d+) of 176 \| ([\d.]+%)",
    PAGES["docs/alternatives.md"].replace(", Python 3.11 |", " |"),
    re.MULTILINE,
)


def test_people_ask_many_questions() -> None:
    assert len(ANSWERS) >= 20


@pytest.mark.parametrize("question", ANSWERS)
def test_an_answer_has_three_sentences_at_most_and_leads_into_the_documentation(question: str) -> None:
    links = re.findall(r"\]\((\S+?)\)", ANSWERS[question])
    assert any(not link.startswith("https:") for link in links)
    prose = re.sub(r"`[^`]*`|\]\(\S+?\)", "", ANSWERS[question])
    assert len(re.findall(r"[.!?](?=[)\s]|$)", prose)) <= 3


def test_the_figures_about_other_engines_are_those_that_were_measured() -> None:
    assert [engine for engine, *_ in ENGINES] == ["scrapy_rep", "Protego", "robotspy", "urllib.robotparser"]
    conformance = PAGES["docs/conformance.md"]
    heads = re.search(r"^\| section \| (.+) \|$", conformance, re.MULTILINE)
    assert heads
    columns = [head.split()[0] for head in heads[1].split(" | ")]
    measured = {
        whose: dict(zip(columns, re.findall(r"(\d+) of", line), strict=True))
        for whose, line in re.findall(r"^\| all of (RFC 9309|Google) \| (.+) \|$", conformance, re.MULTILINE)
    }
    agreement = dict(re.findall(r"^\| ([\w.]+) \|.* ([\d.]+%) \|$", PAGES["docs/engine.md"], re.MULTILINE))
    for engine, rfc, google, agrees in ENGINES:
        column = engine.split(".")[0]
        assert (rfc, google) == (measured["RFC 9309"][column], measured["Google"][column])
        assert agrees == agreement[engine]
