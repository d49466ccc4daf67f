"""What the README says is so."""

from __future__ import annotations

import ast
import doctest
import io
import re
from argparse import ArgumentParser
from pathlib import Path

import pytest
from scrapy.settings import Settings

from scrapy_rep.protocol import CODES
from scrapy_rep.settings import RepSettings
from scrapy_rep.tools.commands import diff, explain, lint
from scrapy_rep.tools.survey.records import SiteRecord

README = Path(__file__).parents[1] / "README.md"
SETTING_ROWS = dict(re.findall(r"^\| `(REP_\w+)` \| `(.+?)` \|", README.read_text("utf-8"), re.MULTILINE))


def test_the_examples_of_the_engine_are_true() -> None:
    results = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert results.attempted >= 8
    assert results.failed == 0


def test_the_explanations_shown_are_those_that_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = README.read_text("utf-8")
    body = re.search(r"parse\((b\"\"\".*?\"\"\")\)", text, re.DOTALL)
    assert body
    (tmp_path / "robots.txt").write_bytes(ast.literal_eval(re.sub(r"(?m)^\.\.\. ?", "", body[1])))
    monkeypatch.chdir(tmp_path)
    shown = re.search(r"```console\n(\$ scrapy robots explain .*?)```", text, re.DOTALL)
    assert shown
    calls = [call.partition("\n") for call in shown[1].split("$ scrapy robots explain ")[1:]]
    assert len(calls) == 2
    for arguments, _, printed in calls:
        parser, out = ArgumentParser(), io.StringIO()
        explain.add_arguments(parser)
        explain.run(parser.parse_args(arguments.split()), Settings(), out)
        assert out.getvalue() == printed.rstrip("\n") + "\n"


def test_what_lint_and_diff_are_shown_to_print_is_what_they_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    block = re.search(r"```console\n(\$ cat .*?)```", README.read_text("utf-8"), re.DOTALL)
    assert block
    commands = {"lint": lint, "diff": diff}
    ran = []
    for call in re.split(r"^\$ ", block[1], flags=re.MULTILINE)[1:]:
        line, _, printed = call.partition("\n")
        if line.startswith("cat "):
            (tmp_path / line.removeprefix("cat ")).write_text(printed)
            continue
        _, _, name, *arguments = line.split()
        parser, out = ArgumentParser(), io.StringIO()
        commands[name].add_arguments(parser)
        assert commands[name].run(parser.parse_args(arguments), Settings(), out) == 1
        assert out.getvalue() == printed
        ran.append(name)
    assert ran == ["lint", "diff"]


def test_the_number_of_kinds_of_findings_is_right() -> None:
    assert f"{len(CODES)} kinds of findings" in README.with_name("CHANGELOG.md").read_text("utf-8")


def test_every_field_of_a_record_of_a_survey_is_named() -> None:
    section = README.read_text("utf-8").partition("## At a shell")[2].partition("\n## ")[0]
    names = set(re.findall(r"`(\w+)`", section))
    assert set(SiteRecord.__slots__) - names == {"site", "is_html"}


def test_the_table_of_engines_is_the_one_that_the_benchmark_wrote() -> None:
    rows = re.findall(
        r"^\| (?:engine|scrapy_rep|Protego|urllib|robotspy|gpyrobotstxt).* \|$", _text(), re.MULTILINE
    )
    assert len(rows) >= 7
    assert set(rows) <= set(README.with_name("docs").joinpath("engine.md").read_text("utf-8").splitlines())


def _text() -> str:
    """The README from where it tells of cost, up to the next part."""
    return README.read_text("utf-8").partition("## What it costs")[2].partition("\n## ")[0]


def test_every_setting_has_its_row_and_no_row_is_invented() -> None:
    assert list(SETTING_ROWS) == [f"REP_{name.upper()}" for name in RepSettings.__slots__]


@pytest.mark.parametrize("name", SETTING_ROWS)
def test_the_default_in_the_table_is_the_default_in_the_code(name: str) -> None:
    documented = RepSettings.from_settings(Settings({name: ast.literal_eval(SETTING_ROWS[name])}))
    assert documented == RepSettings()


def test_every_stat_in_the_code_has_its_row() -> None:
    code = "".join(path.read_text("utf-8") for path in README.parent.glob("scrapy_rep/**/*.py"))
    used = set(re.findall(r"\"((?:rep|robotstxt)/[\w/]+)", code))
    rows = set(re.findall(r"^\| `((?:rep|robotstxt)/[a-z_/]+)", README.read_text("utf-8"), re.MULTILINE))
    assert used == rows
