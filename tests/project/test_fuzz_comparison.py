"""The comparisons count their cases, see a wrong verdict, and ask again what failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from fuzz.cases import DifferenceError
from fuzz.comparison import main
from fuzz.google import Google
from scrapy_rep.protocol import ENGINE, GOOGLE, GOOGLE_EXACT, Dialect, parse
from scrapy_rep.protocol.rules import NO_RULE, Rules

pytestmark = [
    pytest.mark.untraced,
    pytest.mark.full,
    pytest.mark.skipif(ENGINE != "c", reason="it was not built"),
]


def test_engines_that_agree_are_asked_so_many_cases(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--cases", "5000", "--urls", "2"]) == 0
    printed = capsys.readouterr().out
    assert printed.endswith(" s, no difference\n")
    assert int(printed.partition(" ")[0].replace(",", "")) >= 5_000


def test_a_wrong_verdict_is_found_again_by_its_number(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Rules, "verdict", lambda _rules, _path: NO_RULE)
    assert main(["--seed", "1"]) == 1
    printed = capsys.readouterr().out
    again = printed.partition(":")[0].split()
    assert again[::2] == ["--seed", "--first", "--cases"]
    assert main(again) == 1
    assert capsys.readouterr().out == printed


class InPlaceOfGoogle(Google):
    """Answers as *dialect* does, without a compiler for C++."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect

    def cases_of(self, body: bytes) -> int:
        return self.compare(body, Random(0))  # noqa: S311

    def _answers_for(self, name: str, body: bytes, urls: Sequence[bytes]) -> list[int]:
        verdicts = [parse(body, self._dialect, limit=None).verdict(name, url) for url in urls]
        return [2 * verdict.line + verdict.allowed for verdict in verdicts]


DEVIATIONS = [
    b"User-agent: *\nDisallow: /robots.txt",
    b"User-agent: *\nDisallow: /%7Ea",
    b"User-agent: MJ12bot\nDisallow: /",
    b"User-agent: 1\nDisallow: /",
]


@pytest.mark.parametrize("body", DEVIATIONS)
def test_what_a_documented_deviation_explains_is_no_difference_from_google(body: bytes) -> None:
    assert InPlaceOfGoogle(GOOGLE_EXACT).cases_of(body) > 100


@pytest.mark.parametrize("body", DEVIATIONS)
def test_the_exact_dialect_may_not_deviate_from_google(body: bytes) -> None:
    with pytest.raises(DifferenceError, match="google-exact"):
        InPlaceOfGoogle(GOOGLE).cases_of(body)


def test_what_no_deviation_explains_is_a_difference_from_google(monkeypatch: pytest.MonkeyPatch) -> None:
    body = b"User-agent: *\nDisallow: /a"
    monkeypatch.setattr("fuzz.google.GOOGLE", replace(GOOGLE, wide_tokens=False, robots_txt_allowed=False))
    assert InPlaceOfGoogle(GOOGLE_EXACT).cases_of(body) > 100
    monkeypatch.setattr("fuzz.google.GOOGLE", replace(GOOGLE, allow_counts=False))
    with pytest.raises(DifferenceError, match="'google'"):
        InPlaceOfGoogle(GOOGLE_EXACT).cases_of(body + b"\nAllow: /ab")
