"""The cases of ``cases.md``: what a site says, and what that means."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scrapy_rep.directives.vocabulary import Statement, answers

_ROW: Final = re.compile(r"\| (\d+) \| (.*) \| (.*?) \| .*? \|")


@dataclass(frozen=True)
class Case:
    """One row: ``number``, the ``given`` text with its code marks, and what is ``expected`` of it."""

    number: int
    given: str
    expected: str

    @property
    def code(self) -> list[str]:
        """What stands between code marks."""
        return [code.replace("⏎", "\n") for code in re.findall(r"`(.*?)`", self.given)]

    def after(self, label: str) -> list[str]:
        """What stands between the code marks that follow *label*."""
        found = re.findall(rf"{label} `(.*?)`", self.given)
        return [code.replace("⏎", "\n") for code in found]


_TEXT: Final = Path(__file__).with_name("cases.md").read_text("utf-8")
CASES: Final = [
    Case(int(number), given, expected.partition(" — ")[0]) for number, given, expected in _ROW.findall(_TEXT)
]


def said(statements: Iterable[Statement]) -> str:
    """The answers that are known, as `cases.md` writes them."""
    found = {category.value: answer.value for category, answer in answers(statements).items()}
    known = [f"{category}: {answer}" for category, answer in sorted(found.items()) if answer != "unknown"]
    return ", ".join(known) or "unknown throughout"
