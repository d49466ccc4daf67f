"""The comparison of the two engines counts its cases, sees a wrong verdict, and asks again what failed."""

from __future__ import annotations

import pytest

from fuzz.comparison import main
from scrapy_rep.protocol import ENGINE
from scrapy_rep.protocol.rules import NO_RULE, Rules

pytestmark = [
    pytest.mark.untraced,
    pytest.mark.full,
    pytest.mark.skipif(ENGINE != "c", reason="it was not built"),
]


def test_ours_engines_that_agree_are_asked_so_many_cases(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--cases", "5000", "--urls", "2"]) == 0
    printed = capsys.readouterr().out
    assert printed.endswith(" s, no difference\n")
    assert int(printed.partition(" ")[0].replace(",", "")) >= 5_000


def test_ours_a_wrong_verdict_is_found_again_by_its_number(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Rules, "verdict", lambda _rules, _path: NO_RULE)
    assert main(["--seed", "1"]) == 1
    printed = capsys.readouterr().out
    again = printed.partition(":")[0].split()
    assert again[::2] == ["--seed", "--first", "--cases"]
    assert main(again) == 1
    assert capsys.readouterr().out == printed
