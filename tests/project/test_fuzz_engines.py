"""The command runs targets, counts what it runs, and keeps the smallest input that fails."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from fuzz.__main__ import main
from fuzz.engines import ENGINES, Folders, minimised
from fuzz.targets import TARGETS
from tests.support.markdown import PAGES, names, rows, section

pytestmark = [pytest.mark.untraced, pytest.mark.full]

BOTH = ["random", "replay"]
OPTIONS = ["--seconds", "--engine", "--folder", "--google"]


def fails_on_a_star(data: bytes) -> None:
    assert b"*" not in data, "a star"


@pytest.fixture
def _broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TARGETS, "verdict", fails_on_a_star)


@pytest.mark.parametrize("engine", BOTH)
def test_a_target_that_holds_is_run_and_nothing_is_found(
    engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["urls", "fetched", "--engine", engine, "--seconds", "0", "--folder", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert f"engine: {engine}" in printed
    assert "urls " in printed
    assert printed.endswith(", 0 found\n")


@pytest.mark.parametrize("engine", BOTH)
@pytest.mark.usefixtures("_broken")
def test_what_fails_is_saved_in_its_smallest_form_and_makes_the_command_fail(
    engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verdict", "--engine", engine, "--seconds", "0", "--folder", str(tmp_path)]) == 1
    (found,) = (tmp_path / "found" / "verdict").iterdir()
    assert found.read_bytes() == b"*"
    printed = capsys.readouterr().out
    assert str(found) in printed
    assert "AssertionError: a star" in printed


def test_what_an_earlier_run_kept_is_run_again(tmp_path: Path) -> None:
    folders = Folders.of(tmp_path, "audit-log")
    before = ENGINES["replay"]("audit-log", 0.0, folders).executions
    (folders.corpus / "kept").write_bytes(b"{}")
    assert ENGINES["replay"]("audit-log", 0.0, folders).executions == before + 1


def test_an_unknown_target_is_refused_with_the_names_of_all(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["verdicts"])
    assert "no target is called verdicts: there are verdict, answers" in capsys.readouterr().err


def test_a_smaller_input_fails_in_the_same_way() -> None:
    def target(data: bytes) -> None:
        if b"b" in data:
            raise ValueError
        assert not data.startswith(b"a"), "another way"

    assert minimised(target, b"aaaaabbbaaa") == b"b"
    assert minimised(target, b"aaaa") == b"a"
    assert minimised(target, b"cccc") == b"cccc"


@pytest.mark.skipif(not importlib.util.find_spec("atheris"), reason="atheris is not installed")
def test_coverage_guides_a_run_where_atheris_is_installed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fetched", "--seconds", "1", "--folder", str(tmp_path)]) == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("fetched"))
    executions, edges = (int(cell.replace(",", "")) for cell in (row.split()[1], row.split()[3]))
    assert min(executions, edges) > 50
    assert [*(tmp_path / "corpus" / "fetched").iterdir()]


def test_the_page_has_a_row_for_each_target_and_for_each_option() -> None:
    page = PAGES["docs/fuzzing.md"]
    assert names(section(page, "## The targets")) == [*TARGETS]
    assert {name for name in rows(page) if name.startswith("--")} == {*OPTIONS}
