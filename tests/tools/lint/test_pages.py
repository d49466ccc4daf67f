"""The pages of the codes ship with the package."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrapy_rep.tools.lint.finding import CODES, page

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("code", CODES)
def test_each_code_has_a_page_with_both_examples(code: str) -> None:
    text = page(code)
    assert text.startswith(f"*{CODES[code].severity.value}*, {CODES[code].title}. ")
    assert text.index("\nBad:\n") < text.index("\nGood:\n")
    assert "\n## " not in text
    assert text == text.strip()


def test_what_ships_is_the_page_of_the_documentation() -> None:
    """In the repository it is a link; in an archive of the package a copy."""
    shipped, documented = ROOT / "scrapy_rep/tools/lint/pages.md", ROOT / "docs/lint.md"
    assert shipped.read_bytes() == documented.read_bytes()


def test_other_codes_have_no_page() -> None:
    assert page("nosuch") == ""
