"""What sites say about the use of their pages by AI: the given cases, and how statements combine."""

from __future__ import annotations

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from scrapy_rep.directives.ai import Reservation, ReservationFile
from scrapy_rep.directives.robots_signals import RobotsSignals, read_signal, read_usage
from scrapy_rep.directives.vocabulary import MAX_TEXT, Permission, Statement, answers
from scrapy_rep.extras.ai.signals import read_ai_txt
from scrapy_rep.protocol import RobotsTxt, parse
from tests.directives.cases import CASES, Case, said

FIRST_SIGNAL, FIRST_FILE, FIRST_LICENSE = 64, 101, 113
SIGNALS = [case for case in CASES if FIRST_SIGNAL <= case.number < FIRST_FILE]
LATER = [case for case in CASES if 201 <= case.number <= 214]
FILES = [case for case in CASES if FIRST_FILE <= case.number < FIRST_LICENSE]


def test_the_given_signal_means_what_is_expected() -> None:
    assert (len(SIGNALS), len(LATER), len(FILES)) == (25, 14, 8)
    for case in SIGNALS + LATER:
        assert answered(case) == case.expected, case


def answered(case: Case) -> str:
    token = "ExampleBot" if case.number == 67 else "mybot"
    statements: list[Statement] = []
    for text in case.after("robots.txt"):
        own = "User-agent: mybot\n" if "in own group" in case.given else ""
        robotstxt = parse(f"{own}{text}".encode())
        url = f"https://e.org{''.join(case.after('path')) or '/'}"
        if not robotstxt.verdict(token, url).allowed:
            return "n/a: may not be crawled"
        statements += RobotsSignals.of(robotstxt, token).statements(url)
    fields = re.findall(r"`Content-Usage: ([^`]*)`", case.given) if "header" in case.given else []
    return said([*statements, *read_usage(fields)])


def in_robots_txt(robotstxt: RobotsTxt, url: str) -> tuple[Statement, ...]:
    return RobotsSignals.of(robotstxt, "mybot").statements(url)


def test_the_given_reservation_means_what_is_expected() -> None:
    means = {True: "reserved", False: "not reserved", None: "unset"}
    for case in FILES:
        url = f"https://e.org{''.join(case.after('path')) or '/'}"
        found = Reservation()
        for body in case.after("tdmrep.json"):
            found = ReservationFile(body.encode()).about(url)
        found = Reservation.of(case.after("header"), "header").over(found)
        found = Reservation.of(case.after("meta"), "meta").over(found)
        assert means[found.reserved] == case.expected.partition(":")[0], case


def test_aipref_a_reservation_covers_training_and_input() -> None:
    assert said(Reservation.of(["1"], "header").statements()) == "ai-input: no, ai-train: no"
    assert said(Reservation.of(["0"], "header").statements()) == "ai-input: yes, ai-train: yes"


@given(st.permutations(["train-ai=n", "train-ai=y", "search=y"]))
def test_aipref_the_order_of_statements_does_not_matter(fields: list[str]) -> None:
    statements = [one for field in fields for one in read_usage([field])]
    assert said(statements) == "ai-train: no, search: yes"


def test_nothing_said_is_unknown_throughout() -> None:
    assert set(answers([]).values()) == {Permission.UNKNOWN}


def test_aipref_of_rules_with_identical_paths_all_apply() -> None:
    robotstxt = parse(b"User-agent: *\nContent-Usage: /%41 train-ai=y\nContent-Usage: /A train-ai=n")
    assert said(in_robots_txt(robotstxt, "https://e.org/A")) == "ai-train: no"


def test_patterns_of_one_length_that_both_match_both_apply() -> None:
    for first, second in [("/a*c", "/ab*"), ("/a*c", "/abc"), ("/*bc", "/a*c"), ("/abc", "/ab*")]:
        body = f"User-agent: *\nContent-Usage: {first} train-ai=y\nContent-Usage: {second} train-ai=n, search=y"
        for text in (body, body.replace("=y\n", "=n\n").replace("train-ai=n,", "train-ai=y,")):
            found = in_robots_txt(parse(text.encode()), "https://e.org/abc")
            assert said(found) == "ai-train: no, search: yes", (first, second)


def test_aipref_a_pattern_may_be_longer_than_the_path_that_it_matches() -> None:
    robotstxt = parse(b"User-agent: *\nContent-Usage: /a train-ai=n\nContent-Usage: /a** train-ai=y")
    assert said(in_robots_txt(robotstxt, "https://e.org/a")) == "ai-train: yes"


def test_aipref_the_longest_path_decides_as_a_whole() -> None:
    robotstxt = parse(b"User-agent: *\nContent-Usage: /a train-ai=n\nContent-Usage: /a/b search=n")
    assert said(in_robots_txt(robotstxt, "https://e.org/a/b")) == "search: no"


def test_aipref_the_length_of_a_path_is_that_of_its_encoded_octets() -> None:
    robotstxt = parse("User-agent: *\nContent-Usage: /***** train-ai=y\nContent-Usage: /é train-ai=n".encode())
    assert said(in_robots_txt(robotstxt, "https://e.org/%C3%A9")) == "ai-train: no"


def test_aipref_a_path_without_a_preference_says_nothing() -> None:
    robotstxt = parse(b"User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /open")
    assert in_robots_txt(robotstxt, "https://e.org/open/a") == ()


def test_cloudflare_the_plural_of_content_signal_is_read() -> None:
    robotstxt = parse(b"User-agent: *\nContent-Signals: ai-train=no")
    assert said(in_robots_txt(robotstxt, "/")) == "ai-train: no"


def test_an_unknown_level_of_use_is_irregular() -> None:
    assert [one.irregular for one in read_signal(["use=full", "use=none"])] == [False, True]


def test_tdmrep_the_first_rule_that_matches_decides() -> None:
    rules = [{"location": "/", "tdm-reservation": 1}, {"location": "/open/", "tdm-reservation": 0}]
    file = ReservationFile(json.dumps(rules).encode())
    assert file.about("https://e.org/open/a").reserved is True


def test_tdmrep_a_rule_without_a_readable_value_says_nothing_and_still_decides() -> None:
    rules = [{"location": "/a", "tdm-reservation": True}, {"location": "/", "tdm-reservation": 1}]
    assert ReservationFile(json.dumps(rules).encode()).about("https://e.org/a").reserved is None


MEDIA = b"User-Agent: *\nDisallow: *.jpg\nAllow: *.html\nDisallow: /\n"


def test_the_given_ai_txt_means_what_is_expected() -> None:
    (case,) = (case for case in CASES if case.number == 122)
    (body,), (path,) = case.after("with"), case.after("path")
    assert case.expected.startswith(said(read_ai_txt(parse(body.encode()), "mybot", f"https://e.org{path}")))


def test_spawning_the_longest_pattern_decides() -> None:
    parsed = parse(MEDIA)
    answers = {path: said(read_ai_txt(parsed, "mybot", f"https://e.org{path}")) for path in ("/a.html", "/b")}
    assert answers == {"/a.html": "ai-train: yes", "/b": "ai-train: no"}


def test_spawning_a_file_without_a_matching_rule_says_nothing() -> None:
    for body in (b"", b"User-Agent: *\nDisallow: *.jpg", b"User-Agent: *\nDisallow:", b"<html>404</html>"):
        assert read_ai_txt(parse(body), "mybot", "https://e.org/a.html") == []


def test_a_statement_about_ai_txt_names_its_line() -> None:
    (one,) = read_ai_txt(parse(MEDIA), "mybot", "https://e.org/a.jpg")
    assert (one.signal, one.source, one.line, one.text) == ("ai.txt", "/ai.txt", 2, "Disallow: *.jpg")


@given(st.lists(st.sampled_from(["ai-train=no", "search=no", "use=immediate", "ai-train=yes", "search=yes", "x"])))
def test_repetitions_add_nothing(items: list[str]) -> None:
    once = read_signal([", ".join(items)])
    assert read_signal([", ".join(items)] * 3) == once
    assert answers(once) == answers(one for item in items for one in read_signal([item]))


def test_the_text_of_a_statement_is_bounded() -> None:
    for one in [*read_usage(["x" * 1_000_000]), *read_signal(["x" * 1_000_000])]:
        assert len(one.text) == MAX_TEXT
