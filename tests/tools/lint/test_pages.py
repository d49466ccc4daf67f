"""The pages of the codes ship with the package."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrapy_rep.tools.lint.finding import CODES, page

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("code", CODES)
def test_each_code_has_a_page_with_both_examples(code: str) -> None:
    text = page(code)
    assert CODES[code].message in text
    assert text.index("\nBad:\n") < text.index("\nGood:\n")
    assert "\n## " not in text
    assert text == text.strip()


def test_what_ships_are_the_pages_of_the_documentation() -> None:
    """In the repository they are a link; in an archive of the package a copy."""
    shipped, documented = (
        {path.name: path.read_bytes() for path in (ROOT / folder).iterdir()}
        for folder in ("scrapy_rep/tools/lint/pages", "docs/lint")
    )
    assert shipped == documented


def test_other_codes_have_no_page() -> None:
    assert page("nosuch") == ""
