"""The eleven kinds of error that an article of the early 2000s found in 2,300 files: each is found."""

from __future__ import annotations

import pytest

from scrapy_rep.tools.lint import lint

HEAD = b"User-agent: *\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(HEAD + b"Disallow: scooter\n", (2, "agent-as-path"), id="1 a crawler where a path belongs"),
        pytest.param(
            b"Disallow: /\nUser-agent: a\n", (1, "rule-before-user-agent"), id="1 rules before their agent"
        ),
        pytest.param(HEAD + b"Disallow: /css/ /cgi-bin/ /images/\n", (2, "several-paths"), id="2 several paths"),
        pytest.param(b"User-agent: *\r\nDisallow: /a\r\n", (0, "crlf-line-ends"), id="3 line ends of DOS"),
        pytest.param(HEAD + b"Disallow: /cgi-bin/ # no robots\n", (2, "comment-after-rule"), id="4 comment"),
        pytest.param(HEAD + b"   Disallow: /cgi-bin/\n", (2, "indented-line"), id="5 blanks before the key"),
        pytest.param(b"<html><title>Not found</title></html>", (1, "html"), id="6 a page in its place"),
        pytest.param(
            HEAD + b"disallow: /\nUSER-AGENT: EXCITE\nDISALLOW:\n",
            (2, "closed-except"),
            id="7 two groups disagree",
        ),
        pytest.param(HEAD + b"Disallow: /a\nAllow: /a\n", (2, "allow-disallow-tie"), id="7 two rules disagree"),
        pytest.param(
            HEAD + b"".join(b"Disallow: /AL/City%d.html\n" % number for number in range(60)),
            (2, "many-single-files"),
            id="8 every file of a folder",
        ),
        pytest.param(
            b"User-agent: Spot\nDisallow: /john/\nallow: /jane/\n", (3, "useless-rule"), id="9 Allow for nothing"
        ),
        pytest.param(HEAD + b"Disallow: css\n", (2, "path-without-slash"), id="10 no slash before a path"),
        pytest.param(b"GIF89a\1\0\1\0\x80\0\0", (1, "binary-file"), id="11 an image"),
    ],
)
def test_each_of_the_eleven_errors_is_found_where_it_is(body: bytes, expected: tuple[int, str]) -> None:
    assert expected in {(each.line, each.code) for each in lint(body)}


def test_of_two_groups_that_disagree_it_is_said_which_one_counts_for_whom() -> None:
    body = HEAD + b"disallow: /\nUSER-AGENT: EXCITE\nDISALLOW:\n"
    (finding,) = [each for each in lint(body) if each.code == "closed-except"]
    assert finding.message == (
        "Disallow: / blocks the site, but not for EXCITE at line 3: a named crawler follows only its own group."
    )


def test_of_two_rules_that_disagree_it_is_said_which_one_wins_for_whom() -> None:
    body = b"User-agent: ExampleBot\nUser-agent: FooBot\nDisallow: /a\nAllow: /a\n"
    (finding,) = [each for each in lint(body) if each.code == "allow-disallow-tie"]
    assert finding.message.startswith(
        "Line 4 allows ExampleBot and others what this line disallows: the Allow wins"
    )


def test_rules_of_two_groups_for_all_crawlers_that_disagree_are_found() -> None:
    body = HEAD + b"Disallow: /a\n\n" + HEAD + b"Allow: /a\n"
    assert (2, "allow-disallow-tie") in {(each.line, each.code) for each in lint(body)}
