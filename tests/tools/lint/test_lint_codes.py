"""Each code: its entry in docs/lint/, a file that has it, and a file that has not."""

from __future__ import annotations

import re

import pytest

from scrapy_rep.tools.lint import CODES, Finding, lint
from tests.support.markdown import lint_pages

_ENTRY = re.compile(
    r"^## (?P<code>[a-z0-9-]+)\n\n\*(?P<severity>\w+)\*, (?P<text>.+?)\n\n"
    r"Bad:\n\n(?P<bad>```.+?)\n```\n\nGood:\n\n(?P<good>```.+?)\n```\n",
    re.MULTILINE | re.DOTALL,
)
ENTRIES = {entry["code"]: entry for entry in _ENTRY.finditer(lint_pages())}
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

Sitemap: https://example.com/sitemap.xml
Sitemap: https://cdn.example/news.xml.gz
"""


def found_in(block: str) -> tuple[Finding, ...]:
    """The findings in an example of the docs: a file, or a call in Python."""
    language, _, text = block.removeprefix("```").partition("\n")
    if language == "python":
        return eval(text, {"lint": lint})  # noqa: S307  # our own docs
    return lint(f"{text}\n".encode())


def test_the_docs_have_an_entry_for_each_code_in_order() -> None:
    assert list(ENTRIES) == list(CODES)


@pytest.mark.parametrize("code", CODES)
def test_the_bad_example_has_the_finding(code: str) -> None:
    findings = [each for each in found_in(ENTRIES[code]["bad"]) if each.code == code]
    assert findings
    for each in findings:
        assert each.severity is CODES[code].severity
        assert each.message.endswith(".")
        assert each.advice.endswith(".")
        assert "{" not in each.message + each.advice


@pytest.mark.parametrize("code", CODES)
def test_the_good_example_has_nothing_to_be_found(code: str) -> None:
    found = {each.code for each in found_in(ENTRIES[code]["good"])}
    assert found <= {"no-sitemap", "site-closed"} - {code}  # an example may be a part, or of a closed site


@pytest.mark.parametrize("code", CODES)
def test_a_clean_file_does_not_have_the_finding(code: str) -> None:
    assert code not in {each.code for each in lint(CLEAN, url="https://example.com/robots.txt", status=200)}


def test_there_is_nothing_to_find_in_a_clean_file() -> None:
    assert lint(CLEAN) == ()


def test_codes_are_kebab_case() -> None:
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code) for code in CODES)
