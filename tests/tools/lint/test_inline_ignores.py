"""Comments in a robots.txt that silence findings."""

from __future__ import annotations

import pytest

from scrapy_rep.tools.lint import lint
from scrapy_rep.tools.lint.file_linter import inline_ignores

BODY = b"User-agent: *\nDisallow: search\n\nDisallow: cart\nCrawl-delay: 900\n"


def reported(body: bytes) -> list[tuple[int, str]]:
    ignores = inline_ignores(body)
    return [(each.line, each.code) for each in lint(body) if not ignores.silences(each)]


def after_line(number: int, comment: bytes) -> bytes:
    lines = BODY.splitlines()
    return b"\n".join([*lines[:number], comment, *lines[number:]])


def test_a_comment_above_a_line_silences_its_codes_there_and_nowhere_else() -> None:
    assert (2, "path-without-slash") in reported(BODY)
    found = reported(after_line(1, b"# lint: ignore path-without-slash"))
    assert (3, "path-without-slash") not in found
    assert (5, "path-without-slash") in found


def test_a_comment_holds_to_the_next_record_whatever_stands_between() -> None:
    body = after_line(2, b"# lint: ignore blank-line-in-group, path-without-slash\n# another comment")
    assert [each for each in reported(body) if each[0] in range(3, 7)] == []
    assert [each for each in reported(BODY) if each[0] in range(3, 5)] != []


def test_a_comment_behind_a_rule_silences_what_is_found_on_its_line() -> None:
    body = BODY.replace(b"cart", b"cart # lint: ignore path-without-slash, comment-after-rule")
    assert [each for each in reported(body) if each[0] == 4] == []
    assert [each for each in reported(body) if each[0] == 5] == [each for each in reported(BODY) if each[0] == 5]


def test_a_comment_for_the_file_silences_wherever_it_stands() -> None:
    found = reported(BODY + b"# lint: ignore-file path-without-slash\n")
    assert "path-without-slash" not in {code for _, code in found}
    assert "long-crawl-delay" in {code for _, code in found}


def test_findings_of_the_whole_file_are_silenced_by_a_comment_for_the_file_alone() -> None:
    body = BODY.replace(b"\n", b"\r\n")
    for_line, for_file = b"# lint: ignore crlf-line-ends\r\n", b"# lint: ignore-file crlf-line-ends\r\n"
    assert (0, "crlf-line-ends") in reported(for_line + body)
    assert (0, "crlf-line-ends") not in reported(for_file + body)


@pytest.mark.parametrize(
    "comment",
    [
        b"#LINT:IGNORE path-without-slash",
        b"\xef\xbb\xbf#  lint:  ignore  long-crawl-delay,path-without-slash , nul  we know",
        b"  # words # lint: ignore path-without-slash: the name is old",
    ],
)
def test_case_white_space_and_a_reason_do_not_count(comment: bytes) -> None:
    assert (2, "path-without-slash") not in reported(comment + b"\n" + BODY[14:])
    assert inline_ignores(comment).problems == []


@pytest.mark.parametrize(
    ("comment", "problem"),
    [
        (b"# lint: ignore", "the comment names no code, so it silences nothing"),
        (b"# lint: ignore-file \xff", "the comment names no code, so it silences nothing"),
        (b"# lint: ignore nosuch, nul", "nosuch is not a lint code"),
    ],
)
def test_a_comment_without_effect_is_told(comment: bytes, problem: str) -> None:
    assert inline_ignores(b"User-agent: *\n" + comment).problems == [(2, problem)]


@pytest.mark.parametrize(
    "comment", [b"# lint: please", b"# lint: ignored nul", b"lint: ignore nul", b"# splint: ignore"]
)
def test_other_comments_are_none_for_the_linter(comment: bytes) -> None:
    found = inline_ignores(comment + b"\nDisallow: /")
    assert (found.in_file, dict(found.by_line), found.problems) == (set(), {}, [])
