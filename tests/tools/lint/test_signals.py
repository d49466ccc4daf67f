"""What the linter says about signals is so for the readers of signals and for the engine."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_rep.directives.robots_signals import RobotsSignals
from scrapy_rep.directives.vocabulary import Statement
from scrapy_rep.protocol import Dialect, parse
from scrapy_rep.tools.lint import CODES, Finding, lint

from .asking import BOTH, codes

HEAD = "User-agent: *\n"
SIGNALS = {
    code for code in CODES if code == "empty-signal" or ("content-" in code and code != "misplaced-content-signal")
}


def signals(line: str) -> list[Finding]:
    """What is found about the *line* of a group."""
    return [each for each in lint(f"{HEAD}{line}\nDisallow: /x\n".encode()) if each.code in SIGNALS]


def read_by(body: bytes, url: str = "https://h/") -> tuple[Statement, ...]:
    """What a crawler reads in *body* about *url*."""
    return RobotsSignals.of(parse(body), "a").statements(url)


def only(line: str) -> Finding:
    (finding,) = signals(line)
    return finding


@pytest.mark.parametrize(
    ("value", "code", "column", "advice"),
    [
        ("search=yes, ai_train=no", "unknown-content-signal", 29, "Write ai-train."),
        ("Train-AI=no", "unknown-content-signal", 17, "Write ai-train."),
        ("ai-input: no", "unknown-content-signal", 17, "Write ai-input=yes or ai-input=no."),
        ("ai-retrieval=yes", "unknown-content-signal", 17, "Write search, ai-input or ai-train."),
        ("=no", "unknown-content-signal", 17, "Write search, ai-input or ai-train."),
        ("ai-train=n", "bad-content-signal", 17, "Write ai-train=yes or ai-train=no."),
        ("ai-train", "bad-content-signal", 17, "Write ai-train=yes or ai-train=no."),
        ("use=none", "bad-content-signal", 17, "Write use=immediate or use=reference or use=full."),
        (
            "search=yes; ai-train=no", "bad-content-signal", 17,
            "Write search=yes or search=no, and a comma before the next key.",
        ),
        (
            "search=yes, /a ai-train=no", "content-signal-with-path", 29,
            "Write ai-train=no without a path, for all URLs of the group; only Content-Usage takes paths.",
        ),
        (", ,", "empty-signal", 1, "Add one, such as ai-train=no, or remove the line."),
    ],
)  # fmt: skip
def test_a_content_signal_that_is_not_read_is_found(value: str, code: str, column: int, advice: str) -> None:
    finding = only(f"Content-Signal: {value}")
    assert (finding.code, finding.line, finding.column, finding.advice) == (code, 2, column, advice)


@pytest.mark.parametrize("level", ["immediate", "reference", "full", "Full"])
def test_the_levels_of_use_are_known(level: str) -> None:
    assert signals(f"Content-Signal: search=YES,AI-Train = no , use={level}") == []


@pytest.mark.parametrize(
    ("value", "code", "message", "advice"),
    [
        ("Train-AI=n", "bad-content-usage", "Train-AI is not in lower case", "“train-ai=n”"),
        ("train-ai=n,", "bad-content-usage", "it ends with a comma", "“train-ai=n”"),
        ("train-ai=n,, search=y", "bad-content-usage", "it has a comma too many", "“train-ai=n, search=y”"),
        ("train-ai=n search=y", "bad-content-usage", "labels are separated by commas", "“train-ai=n, search=y”"),
        ("train-ai = n", "bad-content-usage", "there is no white space around an =", "“train-ai=n”"),
        (
            "train-ai: yes",
            "bad-content-usage",
            "a preference has the form label=y or label=n",
            "“train-ai=y”",
        ),
        ("train-ai=no", "bad-content-usage", "train-ai=no”: its value is not y or n", "train-ai=n"),
        ("train-ai=N", "bad-content-usage", "train-ai=N”: its value is not y or n, in lower case", "train-ai=n"),
        ("search=1", "bad-content-usage", "search=1”: its value is not y or n", "search=y"),
        ("search=maybe", "bad-content-usage", "search=maybe", "search=y or search=n"),
        ("train-ai", "bad-content-usage", "train-ai”: without y or n", "train-ai=y or train-ai=n"),
        ('train-ai="n"', "bad-content-usage", 'train-ai="n"”: a preference has no quotes', "train-ai=n"),
        (
            "train-ai=n; search=y",
            "bad-content-usage",
            "search”: after a semicolon it is a parameter of train-ai",
            "a comma between labels, not a semicolon",
        ),
        (
            "train-ai=né",
            "bad-content-usage",
            "characters other than ASCII",
            "n or ai-use=n or search=n, with commas",
        ),
        ("/a /b train-ai=n", "bad-content-usage", "a line has one path", "a line for each path"),
        ("ai-train=no", "unknown-content-usage", "ai-train is not a label", "train-ai=n"),
        ("llm=n", "unknown-content-usage", "llm is not a label", "train-ai, ai-use or search"),
        ("bots=n", "retired-content-usage", "draft-ietf-aipref-vocab-04", "train-ai, ai-use and search"),
        ("a/ train-ai=y", "content-usage-path", "a path starts with a slash", "“/a/ train-ai=y”"),
        ("*.pdf train-ai=no", "content-usage-path", "a path starts with a slash", "“/*.pdf train-ai=n”"),
        ("https://e.org/a train-ai=n", "content-usage-path", "a path starts with a slash", "“/a train-ai=n”"),
        ("/a, train-ai=n", "content-usage-path", "its comma is part of it", "“/a train-ai=n”"),
        ("/a,train-ai=n", "content-usage-path", "a space ends a path", "“/a train-ai=n”"),
        ("/a", "empty-signal", "Content-Usage: /a states no preference", ""),
        ("", "empty-signal", "Content-Usage states no preference", ""),
    ],
)
def test_a_content_usage_that_is_not_read_is_found_with_what_is_wrong(
    value: str, code: str, message: str, advice: str
) -> None:
    finding = only(f"Content-Usage: {value}")
    assert (finding.code, finding.line) == (code, 2)
    assert message in finding.message
    assert advice in finding.advice


@pytest.mark.parametrize(
    "value",
    ["train-ai=n", "ai-use=n", "/a train-ai=n, search=y", "/a,b=c\ttrain-ai=y", "/*.pdf$ search=n;since=2026"],
)
def test_a_content_usage_that_is_read_has_no_finding(value: str) -> None:
    assert signals(f"Content-Usage: {value}") == []


ITEMS = st.sampled_from([
    "train-ai=n", "search=y", "search", "Search=n", "train-ai=no", 'search="y"', "bots=n", "llm=y", ",", ", ", ";",
    " ", "=", ":", "/a", "/a ", "a/ ", "(n)", "?0", "é", "ai-train=no", "search=yes", "ai_train=no", "use=full",
])  # fmt: skip


@given(st.lists(ITEMS, max_size=6).map("".join))
def test_content_usage_has_a_finding_when_the_reader_reads_less_than_all(value: str) -> None:
    found = {each.code for each in signals(f"Content-Usage: {value}")}
    url = "https://h" + (value.split(maxsplit=1)[0] if value.strip().startswith("/") else "/")
    read = read_by(f"{HEAD}Content-Usage: {value}".encode(), url)

    if not read or any(one.irregular for one in read):
        assert found
    if found & {"unknown-content-usage", "retired-content-usage"}:
        assert any(one.irregular for one in read)
    if not found:
        assert read


@given(st.lists(ITEMS, max_size=6).map("".join))
def test_what_is_to_be_written_for_content_usage_is_read(value: str) -> None:
    for finding in signals(f"Content-Usage: {value}"):
        for line in re.findall("“(.+?)”", finding.advice):
            assert signals(f"Content-Usage: {line}") == []


@given(st.lists(ITEMS, max_size=6).map("".join))
def test_content_signal_has_a_finding_when_the_reader_reads_less_than_all(value: str) -> None:
    read = read_by(f"{HEAD}Content-Signal: {value}".encode())
    levels = [one for one in read if one.category is None and not one.irregular]
    is_all_read = bool(read) and not any(one.irregular for one in read)
    has_empty_key = any(item.strip().startswith("=") for item in value.split(","))

    if not levels and not has_empty_key:
        assert bool(signals(f"Content-Signal: {value}")) is not is_all_read


def test_a_signal_outside_a_group_is_found_with_who_reads_it() -> None:
    body = b"Content-Signal: ai-train=no\nContent-Usage: train-ai=n\nUser-agent: *\nDisallow: /x\n"
    found = [each.message for each in lint(body) if each.code == "misplaced-content-signal"]
    assert ["so it applies to no crawler" in message for message in found] == [False, True]
    assert {one.signal for one in read_by(body)} == {"Content-Signal"}


def test_a_license_that_is_no_url_is_found() -> None:
    body = HEAD + "License: none (public domain)\nLicense: https://h/l.xml\nDisallow: /x\n"
    assert [each.line for each in lint(body.encode()) if each.code == "license-without-url"] == [2]
    assert RobotsSignals.of(parse(body.encode()), "a").licenses == ("https://h/l.xml",)


@pytest.mark.parametrize(
    ("line", "read_as", "advice"),
    [
        ("DisallowAITraining: /", "Disallow: /", "Write “Content-Usage: train-ai=n”."),
        ("disallowaitraining: /a", "Disallow: /a", "Write “Content-Usage: /a train-ai=n”."),
        ("AllowAITraining: /a", "Allow: /a", "Write “Content-Usage: /a train-ai=y”."),
        ("DisallowAITraining:", "Disallow:", "Remove the line."),
    ],
)
def test_a_rule_about_training_is_found_once_as_the_rule_that_the_engine_reads(
    line: str, read_as: str, advice: str
) -> None:
    of_rules = {"useless-rule", "site-closed"}
    (finding,) = [
        each for each in lint(f"{HEAD}{line}\n".encode()) if each.line == 2 and each.code not in of_rules
    ]
    assert finding.code == "ai-training-record"
    assert f"“{read_as}”" in finding.message
    assert finding.advice == advice
    (rule,) = parse(f"{HEAD}{line}\n".encode()).rules("a")
    assert str(rule).strip() == read_as


NOINDEX = {"noindex-record", "noindex-behind-disallow"}


@BOTH
@pytest.mark.parametrize(
    ("path", "rules", "is_behind"),
    [
        ("/x", "Disallow: /x", True),
        ("/x/a", "Disallow: /x", True),
        ("/x*?a$", "Disallow: /x", True),
        ("*.pdf", "Disallow: /", True),
        ("/x", "Disallow: /x/", False),
        ("/x/a", "Disallow: /x\nAllow: /x/a", False),
        ("/x", "Allow: /\nUser-agent: other\nDisallow: /x", False),
        ("x", "Disallow: /", False),
        ("", "Disallow: /", False),
    ],
)
def test_a_noindex_is_found_once_and_behind_a_disallow_with_its_line(
    dialect: Dialect, path: str, rules: str, is_behind: bool
) -> None:
    body = f"{HEAD}Noindex: {path}\n{rules}\n".encode()
    (finding,) = [each for each in lint(body, dialect) if each.code in NOINDEX]
    assert finding.code == ("noindex-behind-disallow" if is_behind else "noindex-record")
    if is_behind:
        assert "line 3 disallows /" in finding.message


def test_a_noindex_for_a_named_crawler_is_behind_its_own_disallow_alone() -> None:
    body = "User-agent: a\nNoindex: /x\nDisallow: {}\n\nUser-agent: *\nDisallow: /x\n"
    assert codes(body.format("/y").encode()) & NOINDEX == {"noindex-record"}
    assert codes(body.format("/x").encode()) & NOINDEX == {"noindex-behind-disallow"}


MANAGED = "User-agent: *\nContent-Signal: search=yes,ai-train=no\nAllow: /\n\nUser-agent: GPTBot\nDisallow: /\n\n"


@BOTH
@pytest.mark.parametrize(
    ("body", "line"),
    [
        (MANAGED + "User-agent: *\nDisallow: /", 9),
        (MANAGED + "User-agent: a\nDisallow:\nUser-agent: *\nAllow: /x\nDisallow: /", 12),
        ("User-agent: *\nAllow: /*\nUser-agent: b\nUser-agent: *\nDisallow: /", 5),
        (MANAGED + "User-agent: *\nDisallow: /x", 0),
        (MANAGED + "User-agent: a\nDisallow: /", 0),
        (MANAGED + "User-agent: *\nDisallow: /*\nDisallow: /", 0),
        (MANAGED + "User-agent: *\nAllow: /\nDisallow: /", 0),
        (MANAGED.replace("Allow: /", "Allow: /$") + "User-agent: *\nDisallow: /", 0),
        ("User-agent: *\nAllow: /\nDisallow: /", 0),
        ("User-agent: *\nDisallow: /\nUser-agent: a\nAllow: /", 0),
    ],
)
def test_a_group_that_opens_what_another_one_closes_is_found(dialect: Dialect, body: str, line: int) -> None:
    found = [each.line for each in lint(body.encode(), dialect) if each.code == "group-opens-site"]
    assert found == ([line] if line else [])


@BOTH
@given(
    st.lists(
        st.sampled_from([
            "User-agent: *", "User-agent: a", "Allow: /", "Allow: /*", "Allow: /$", "Disallow: /", "Disallow: /*",
            "Disallow: /$", "Disallow:", "Content-Signal: ai-train=no",
        ]),
        max_size=9,
    )
)  # fmt: skip
def test_a_site_that_is_said_to_be_opened_is_closed_without_the_rule(dialect: Dialect, lines: list[str]) -> None:
    body = "\n".join(lines)
    for finding in lint(body.encode(), dialect):
        if finding.code == "group-opens-site":
            opener = int(re.findall(r"line (\d+)", finding.message)[0])
            start = max(at for at in range(finding.line) if lines[at] == "User-agent: *")
            assert parse(body.encode(), dialect).verdict("other", "/").line == opener <= start
            assert parse(body.encode(), dialect).verdict("other", "/x").allowed
            alone = parse("\n".join(lines[start:]).encode(), dialect).verdict("other", "/")
            assert not alone.allowed


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("User-agent: a\nContent-Usage: train-ai=n\nContent-Usage: /b search=n\nUser-agent: b\nDisallow: /x", 2),
        ("User-agent: a\nContent-Usage: train-ai=n\nDisallow:\nUser-agent: b\nDisallow: /x", 0),
        ("User-agent: a\nUser-agent: b\nContent-Usage: train-ai=n\nDisallow: /x", 0),
        ("User-agent: a\nContent-Signal: ai-train=no\nUser-agent: b\nDisallow: /x", 0),
        ("Content-Usage: train-ai=n\nUser-agent: a\nUser-agent: b\nDisallow: /x", 0),
    ],
)
def test_a_content_usage_between_user_agent_lines_is_found(body: str, line: int) -> None:
    found = [each for each in lint(body.encode()) if each.code == "content-usage-between-agents"]
    assert [each.line for each in found] == ([line] if line else [])
    if line:
        robotstxt = parse(body.encode())
        assert [robotstxt.verdict(token, "/x").allowed for token in "ab"] == [False, False]
        assert (bool(robotstxt.extensions_for("a")), bool(robotstxt.extensions_for("b"))) == (True, False)
