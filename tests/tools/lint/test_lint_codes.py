"""Each code: its entry in docs/lint/, a file that has it, and a file that has not."""

from __future__ import annotations

import re

import pytest

from scrapy_rep.tools.lint import CODES, example_of, lint
from tests.support import lint_pages

PAGES = lint_pages.pages()
CLEAN = b"""# What crawlers may request here; https://example.com/crawling tells more.
User-agent: *
Disallow: /search
Disallow: /cart/
Disallow: /*?sort=
Allow: /search/about
Disallow: /*.pdf$

# Nothing of ours for training
User-agent: GPTBot
User-agent: CCBot
Content-Signal: ai-train=no
Disallow: /

User-agent: Slurp
Disallow: /search
Disallow: /cart/
Disallow: /*?sort=
Disallow: /*.pdf$
Crawl-delay: 2.5

Sitemap: https://www.example/sitemap.xml
Sitemap: https://cdn.example/news.xml.gz
"""


def test_the_documentation_is_what_the_table_says() -> None:
    """If not, run ``python -m tests.support.lint_pages``."""
    assert {name: (lint_pages.FOLDER / f"{name}.md").read_text("utf-8") for name in PAGES} == PAGES
    assert {path.stem for path in lint_pages.FOLDER.iterdir()} == {*PAGES}


@pytest.mark.parametrize("code", CODES)
def test_the_bad_example_has_the_finding(code: str) -> None:
    found = example_of(code)
    assert found.severity is CODES[code].severity
    assert found.message.endswith(".")
    assert found.advice.endswith(".")
    assert "{" not in found.message + found.advice


@pytest.mark.parametrize("code", CODES)
def test_a_page_shows_a_code_with_its_severity_and_no_placeholder(code: str) -> None:
    _, _, entry = PAGES[CODES[code].page].partition(f"## {code}\n")
    text = entry.partition("\n## ")[0]
    assert f"\n**{CODES[code].severity}**: " in text
    assert not re.search(r"\{\w+\}", text)


@pytest.mark.parametrize("code", [code for code, kind in CODES.items() if kind.good])
def test_the_good_example_has_nothing_to_be_found(code: str) -> None:
    found = {each.code for each in lint(CODES[code].good.encode())}
    assert found <= {"no-sitemap", "site-closed"} - {code}  # an example may be a part, or of a closed site


@pytest.mark.parametrize("code", CODES)
def test_a_clean_file_does_not_have_the_finding(code: str) -> None:
    assert code not in {each.code for each in lint(CLEAN, url="https://example.com/robots.txt", status=200)}


def test_there_is_nothing_to_find_in_a_clean_file() -> None:
    assert lint(CLEAN) == ()


def test_codes_are_kebab_case() -> None:
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code) for code in CODES)
