"""The page of questions: short answers that lead on."""

from __future__ import annotations

import re

import pytest

from tests.support.markdown import PAGES

ANSWERS = dict(re.findall(r"^### (.+)\n\n((?:(?!#).*\n)+)", PAGES["docs/questions.md"], re.MULTILINE))


def test_people_ask_many_questions() -> None:
    assert len(ANSWERS) >= 20


@pytest.mark.parametrize("question", ANSWERS)
def test_an_answer_has_three_sentences_at_most_and_leads_into_the_documentation(question: str) -> None:
    links = re.findall(r"\]\((\S+?)\)", ANSWERS[question])
    assert any(not link.startswith("https:") for link in links)
    prose = re.sub(r"`[^`]*`|\]\(\S+?\)", "", ANSWERS[question])
    assert len(re.findall(r"[.!?](?=[)\s]|$)", prose)) <= 3
