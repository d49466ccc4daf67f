"""The spiders to copy: short, each with a contract, each in the docs. That they run, ``.ci/run`` sees."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NEEDS_REDIS = {"fleet"}  # scrapy check has none
SPIDERS = {path.stem: path.read_text("utf-8") for path in ROOT.glob("example_project/example/spiders/[a-z]*.py")}


@pytest.mark.parametrize("name", SPIDERS)
def test_a_spider_has_25_lines_at_most_and_a_contract(name: str) -> None:
    assert SPIDERS[name].count("\n") <= 25
    assert name in NEEDS_REDIS or re.search(r"@url http://127\.0\.0\.1:8998/\S*\n\s+@\w+ ", SPIDERS[name])
    assert f'    name = "{name}"\n' in SPIDERS[name]


def test_the_docs_show_every_spider_of_the_example() -> None:
    page = (ROOT / "docs" / "howto" / "example-project.md").read_text("utf-8")
    assert sorted(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == sorted(SPIDERS)
