"""All signals of a robots.txt for one crawler, ready for many URLs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_rep.directives.robots_signals import NO_SIGNALS, RobotsSignals
from scrapy_rep.protocol import parse
from tests.directives.cases import said

LINES = [
    "User-agent: *", "User-agent: mybot", "User-agent: otherbot", "Allow: /", "Disallow: /a", "",
    "Content-Usage: train-ai=n", "Content-Usage: /a train-ai=y", "Content-Usage: /*b train-ai=n, search=y",
    "Content-Signal: ai-train=no, use=full", "Content-Signals: search=yes", "License: https://e.org/l.xml",
    "DisallowAITraining: /a", "AllowAITraining: /ab", "DisallowAITraining:",
]  # fmt: skip
FILES = st.lists(st.sampled_from(LINES)).map("\n".join).map(str.encode)
PATHS = st.text("ab/", max_size=4).map("/{}".format)


def signals(body: str) -> RobotsSignals:
    return RobotsSignals.of(parse(body.encode()), "mybot")


@given(FILES, PATHS)
def test_one_more_restrictive_record_never_permits_more(body: bytes, path: str) -> None:
    group = "User-agent: mybot\n" + body.decode().replace("User-agent", "x")
    found = signals(f"{group}\nContent-Signal: ai-train=no, search=no, ai-input=no")
    assert "yes" not in said(found.statements(f"https://e.org{path}"))


def test_a_file_without_signals_is_one_and_the_same() -> None:
    for body in ("", "User-agent: *\nDisallow: /", "# content-usage", "User-agent: a\nContent-Signal: search=no"):
        assert signals(body) is NO_SIGNALS
    assert not NO_SIGNALS
    assert not NO_SIGNALS.statements("https://e.org/")


def test_signals_for_a_group_cost_nothing_per_url() -> None:
    found = signals("User-agent: *\nContent-Signal: ai-train=no\nLicense: https://e.org/l.xml")
    assert found.statements("https://e.org/a") is found.statements("https://e.org/b")
    assert found.licenses == ("https://e.org/l.xml",)


def test_a_license_or_signal_outside_groups_stands_in_each_for_itself() -> None:
    outside = "License: https://e.org/l.xml\nContent-Signal: ai-train=no\n"
    found = signals(f"{outside}User-agent: *\nContent-Signal: search=yes")
    assert found.licenses == ("https://e.org/l.xml",)
    assert said(found.statements("https://e.org/")) == "search: yes"


def test_canel_00_training_is_a_rule_of_the_group() -> None:
    for rules, expected in {
        "DisallowAITraining: /": "ai-train: no",
        "DISALLOWAITRAINING : /a": "ai-train: no",
        "DisallowAITraining: /b": "unknown throughout",
        "DisallowAITraining:": "unknown throughout",
        "DisallowAITraining: /*.jpg$": "ai-train: no",
        "DisallowAITraining: /\nAllowAITraining: /a": "ai-train: yes",
        "DisallowAITraining: /a\nAllowAITraining: /a": "ai-train: no",
        "AllowAITraining: /a\nDisallowAITraining: /a": "ai-train: no",
        "Disallow: /a\nAllow: /a.jpg": "unknown throughout",
        "\nUser-agent: otherbot\nDisallowAITraining: /": "unknown throughout",
    }.items():
        found = signals(f"User-agent: *\nAllow: /\n{rules}").statements("https://e.org/a.jpg")
        assert said(found) == expected, rules
        assert all(one.irregular for one in found)


def test_canel_00_a_statement_names_its_line_and_text() -> None:
    (one,) = signals("User-agent: *\nAllow: /\nDisallowAITraining: /").statements("https://e.org/")
    assert (one.signal, one.line, one.text) == ("DisallowAITraining", 3, "DisallowAITraining: /")


def test_disallow_ai_training_is_a_disallow_too() -> None:
    robotstxt = parse(b"User-agent: *\nDisallowAITraining: /a")
    assert not robotstxt.verdict("mybot", "https://e.org/a").allowed


def test_llms_txt_states_nothing() -> None:
    body = "# Title\n\n> Links for language models\n\nUser-agent: *\nLLM-Policy: no training"
    assert signals(body) is NO_SIGNALS
