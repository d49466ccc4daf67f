"""From a finding to the file without it."""

from __future__ import annotations

import pytest

from scrapy_rep.protocol import parse
from scrapy_rep.tools.lint import lint
from scrapy_rep.tools.web.annotated import fixed, found_in
from scrapy_rep.tools.web.question import CheckQuestion

CASES = [
    ("misspelt-key", b"User-agent: *\nDisalow: /x # y\n", b"User-agent: *\nDisallow: /x # y\n"),
    (
        "misspelt-key",
        b"\xef\xbb\xbfUser-agent: *\r\nDisalow: /x\r\n",
        b"\xef\xbb\xbfUser-agent: *\r\nDisallow: /x\r\n",
    ),
    ("useless-rule", b"User-agent: *\nDisallow: /x\nDisallow: /x/y\n", b"User-agent: *\nDisallow: /x\n"),
    ("duplicate-rule", b"User-agent: *\nDisallow: /x\nDisallow: /x", b"User-agent: *\nDisallow: /x\n"),
    ("indented-line", b"User-agent: *\n\t Disallow: /x\n", b"User-agent: *\nDisallow: /x\n"),
    ("odd-case-key", b"User-agent: *\ndIsAlLoW: /x\n", b"User-agent: *\nDisallow: /x\n"),
]


@pytest.mark.parametrize(("code", "body", "after"), CASES)
def test_a_fix_follows_the_advice_and_changes_nothing_else(code: str, body: bytes, after: bytes) -> None:
    finding = next(finding for finding in lint(body) if finding.code == code)
    assert fixed(CheckQuestion(body), f"{code}:{finding.line}:{finding.column}") == after
    assert code not in {finding.code for finding in lint(after)}
    for url in ("/x", "/x/y", "/z"):
        assert parse(body).verdict("*", url).allowed is parse(after).verdict("*", url).allowed


def test_a_finding_that_is_gone_changes_nothing() -> None:
    assert (
        fixed(CheckQuestion(b"User-agent: *\nDisallow: /x\n"), "misspelt-key:2:1")
        == b"User-agent: *\nDisallow: /x\n"
    )


def test_where_a_person_has_to_decide_there_is_no_button() -> None:
    found = {here.finding.code: here for here in found_in(CheckQuestion(b"Frob: x\nDisalow: /"))}
    assert (found["unknown-record"].fix, found["unknown-record"].changes) == (None, None)
    assert found["misspelt-key"].fix is not None
