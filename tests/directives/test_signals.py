"""What sites say about the use of their pages by AI: the given cases, and how statements combine."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_rep.directives import content_signal, content_usage, rsl, tdm
from scrapy_rep.directives.answers import Answer, Statement, answers
from scrapy_rep.protocol import parse
from tests.directives.cases import CASES, Case, said

FIRST_SIGNAL, FIRST_FILE, FIRST_LICENSE = 64, 101, 113
SIGNALS = [case for case in CASES if FIRST_SIGNAL <= case.number < FIRST_FILE]
FILES = [case for case in CASES if FIRST_FILE <= case.number < FIRST_LICENSE]


@pytest.mark.parametrize("case", SIGNALS, ids=lambda case: case.number)
def test_the_given_signal_means_what_is_expected(case: Case) -> None:
    token = "ExampleBot" if case.number == 67 else "mybot"
    statements: list[Statement] = []
    for text in case.after("robots.txt"):
        own = "User-agent: mybot\n" if "in own group" in case.given else ""
        robotstxt = parse(f"{own}{text}".encode())
        url = f"https://e.org{''.join(case.after('path')) or '/'}"
        if not robotstxt.verdict(token, url).allowed:
            assert case.expected == "n/a: may not be crawled"
            return
        statements += content_usage.read_robots_txt(robotstxt, token, url)
        statements += content_signal.read_robots_txt(robotstxt, token)
    fields = re.findall(r"`Content-Usage: ([^`]*)`", case.given) if "header" in case.given else []
    assert said(statements + content_usage.read_header(fields)) == case.expected


@pytest.mark.parametrize("case", FILES, ids=lambda case: case.number)
def test_the_given_reservation_means_what_is_expected(case: Case) -> None:
    url = f"https://e.org{''.join(case.after('path')) or '/'}"
    found = tdm.Reservation()
    for body in case.after("tdmrep.json"):
        found = tdm.read_file(body.encode(), url)
    found = tdm.read_header(case.after("header")).over(found)
    found = tdm.read_meta(case.after("meta")).over(found)
    assert {True: "reserved", False: "not reserved", None: "unset"}[found.reserved] == case.expected.partition(
        ":"
    )[0]


def test_aipref_a_reservation_covers_training_and_input() -> None:
    assert said(tdm.read_header(["1"]).statements()) == "ai-input: no, ai-train: no"
    assert said(tdm.read_header(["0"]).statements()) == "ai-input: yes, ai-train: yes"


@given(st.text(), st.binary())
def test_ours_readers_never_raise(text: str, octets: bytes) -> None:
    robotstxt = parse(
        b"User-agent: *\nContent-Usage: %b\nContent-Signal: %b\nLicense: %b" % (octets, octets, octets)
    )
    content_usage.read_header([text])
    content_usage.read_robots_txt(robotstxt, "mybot", "https://e.org/a")
    content_signal.read_header([text])
    content_signal.read_robots_txt(robotstxt, "mybot")
    rsl.urls_in_robots_txt(robotstxt, "mybot")
    rsl.urls_in_header([text], "https://e.org/")
    tdm.read_header([text], [text])
    tdm.read_file(octets, "https://e.org/a")


@given(st.permutations(["train-ai=n", "train-ai=y", "search=y"]))
def test_aipref_the_order_of_statements_does_not_matter(fields: list[str]) -> None:
    statements = [one for field in fields for one in content_usage.read_header([field])]
    assert said(statements) == "ai-train: no, search: yes"


def test_ours_nothing_said_is_unknown_throughout() -> None:
    assert set(answers([]).values()) == {Answer.UNKNOWN}
