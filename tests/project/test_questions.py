"""The page of questions: short answers that lead on, and are true where they are about rules."""

from __future__ import annotations

import re

import pytest

from scrapy_rep.protocol import parse
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


@pytest.mark.parametrize(
    ("rules", "disallowed", "allowed"),
    [
        ("Disallow: /Private", ["/Private"], ["/private"]),
        ("Disallow: /*?sort=", ["/a?sort=1"], ["/a?b=1"]),
        ("Disallow: /*.pdf$", ["/a.pdf"], ["/a.pdf?page=1"]),
        ("Disallow: /privacy", ["/privacy-policy", "/privacy/a"], []),
        ("Disallow: /privacy/", ["/privacy/a"], ["/privacy-policy"]),
        ("Disallow: /?*", ["/?page=2"], ["/", "/a?b=1"]),
        ("Disallow: /*?", ["/?page=2", "/a?b=1"], ["/"]),
        ("Disallow: /a\nAllow: /a/b", ["/a"], ["/a/b"]),
        ("Allow: /a\nDisallow: /a", [], ["/a"]),
        ("Disallow: /a\nUser-agent: anybot\nDisallow: /b\nUser-agent: AnyBot\nDisallow: /c", ["/b", "/c"], ["/a"]),
    ],
)
def test_the_answers_about_rules_are_true(rules: str, disallowed: list[str], allowed: list[str]) -> None:
    robots = parse(b"User-agent: *\n" + rules.encode())
    for paths, verdict in ((disallowed, False), (allowed, True)):
        assert [robots.verdict("anybot", f"https://example.com{path}").allowed for path in paths] == [
            verdict
        ] * len(paths)
