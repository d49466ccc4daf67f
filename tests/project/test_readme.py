"""The README: short, with examples that are true and links that work wherever it is shown."""

from __future__ import annotations

import ast
import doctest
import re
from pathlib import Path

import pytest

from tests.support.markdown import PAGES, ROOT, blocks, commands, run_robots

README = PAGES["README.md"]
REPOSITORY = re.search(r"repository: &repository (\S+)", (ROOT / "mkdocs.yml").read_text("utf-8"))[1]  # type: ignore[index]


def test_it_has_150_lines_at_most() -> None:
    assert README.count("\n") <= 150


def test_the_examples_of_the_engine_are_true() -> None:
    results = doctest.testfile(str(ROOT / "README.md"), module_relative=False, encoding="utf-8")
    assert results.attempted >= 8
    assert results.failed == 0


def test_the_explanation_shown_is_the_one_that_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = re.search(r"parse\((b\"\"\".*?\"\"\")\)", README, re.DOTALL)
    assert body
    (tmp_path / "robots.txt").write_bytes(ast.literal_eval(re.sub(r"(?m)^\.\.\. ?", "", body[1])))
    monkeypatch.chdir(tmp_path)
    ((call, printed),) = commands(blocks(README, "console")[0])
    assert call[:3] == ["scrapy", "robots", "explain"]
    assert run_robots("explain", call[3:]) == (1, printed)


def test_its_first_two_commands_crawl_the_example_and_run_the_tests() -> None:
    example, tests = blocks(README, "sh")  # what .ci/run runs
    assert example.endswith("-m example\n")
    assert tests.endswith("pytest\n")


def test_every_link_is_absolute_and_leads_to_a_file_of_the_repository() -> None:
    links = re.findall(r"\]\((.+?)\)", README)
    raw = REPOSITORY.replace("https://github.com", "https://raw.githubusercontent.com")
    assert len(links) > 10
    for link in links:
        base = f"{raw}/main/" if link.startswith(raw) else f"{REPOSITORY}/blob/main/"
        assert link.startswith(base)
        assert (ROOT / link.removeprefix(base).partition("#")[0]).is_file()
