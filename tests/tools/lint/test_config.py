"""How a project is linted: what its configuration says, and where it is found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scrapy_rep.tools.lint import CODES, Severity, lint
from scrapy_rep.tools.lint.config import Config, ConfigError, find_config, read_config, read_names

NOTES = {code for code, kind in CODES.items() if kind.severity is Severity.NOTE}


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_by_default_everything_is_reported_and_a_warning_fails() -> None:
    config = Config()
    assert config.codes_for("robots.txt") == set(CODES)
    found = lint(b"User-agent: *\nNoindex: /a\nDisallow: /b # c\n")
    assert {each.severity: config.fails(each) for each in found} == {Severity.WARNING: True, Severity.NOTE: False}


def test_codes_and_severities_are_selected_and_ignored() -> None:
    assert Config(select=("nul", "html")).codes_for("x") == {"nul", "html"}
    assert Config(select=("note",)).codes_for("x") == NOTES
    assert Config(ignore=("note", "nul")).codes_for("x") == set(CODES) - NOTES - {"nul"}
    assert Config(select=("nul",), ignore=("all",)).codes_for("x") == set()


def test_a_severity_that_is_configured_counts_everywhere() -> None:
    config = Config(select=("error",), severity={"no-star-group": Severity.ERROR, "nul": Severity.NOTE})
    codes = config.codes_for("robots.txt")
    assert "no-star-group" in codes
    assert "nul" not in codes
    (finding,) = [each for each in lint(b"User-agent: a\nDisallow: /\n") if each.code == "no-star-group"]
    assert not config.fails(finding)
    assert config.fails(config.with_severity(finding))


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        ("robots.txt", "a/b/robots.txt", True),
        ("*.txt", "robots.txt", True),
        ("a/*", "a/robots.txt", True),
        ("a/*", "b/robots.txt", False),
        ("a/*", "/elsewhere/a/robots.txt", False),
    ],
)
def test_ignores_of_a_file_hold_for_paths_below_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str, name: str, matches: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    config = Config(per_file_ignores={pattern: ("nul",)}, folder=tmp_path)
    assert ("nul" not in config.codes_for(name)) is matches


def test_all_keys_are_read_from_a_file_of_its_own(tmp_path: Path) -> None:
    path = write(
        tmp_path / "robots-lint.toml",
        '\ufeffselect = ["all"]\nignore = ["note"]\ninclude = ["*.robots"]\nexclude = ["old/*"]\n'
        'fail-on = "error"\ndialect = "google-exact"\n[severity]\nnul = "warning"\n[per-file-ignores]\n'
        '"a/*" = ["html"]\n',
    )
    assert read_config(path) == Config(
        ("all",), ("note",), {"nul": Severity.WARNING}, {"a/*": ("html",)}, ("*.robots",), ("old/*",), "error",
        "google-exact", tmp_path,
    )  # fmt: skip


def test_a_table_of_pyproject_is_read_and_the_others_are_not(tmp_path: Path) -> None:
    text = '[project]\nname = "x"\n[tool.robots-lint]\nignore = ["nul"]\n[tool.other]\nselect = 1\n'
    assert read_config(write(tmp_path / "pyproject.toml", text)).ignore == ("nul",)


def test_the_nearest_file_is_found_and_its_own_before_pyproject(tmp_path: Path) -> None:
    start = tmp_path / "a" / "b"
    start.mkdir(parents=True)
    top = write(tmp_path / "pyproject.toml", "[tool.robots-lint]\n")
    assert find_config(start) == top
    write(tmp_path / "a" / "pyproject.toml", "[tool.ruff]\n")  # says nothing of robots.txt
    assert find_config(start) == top
    nearer = write(tmp_path / "a" / "pyproject.toml", "[tool.ruff]\n[tool.robots-lint.severity]\n")
    assert find_config(start) == nearer
    own = write(tmp_path / "a" / "robots-lint.toml", "")
    assert find_config(start) == own


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("selct = []", "unknown key 'selct' (perhaps select?): it takes select, ignore, severity"),
        ('select = "nul"', "select: 'nul' must be a list of strings, such as [\"note\"]"),
        ("ignore = [1]", "ignore: [1] must be a list of strings"),
        ('ignore = ["noul"]', "ignore: 'noul' is neither a code nor a severity (perhaps nul?)"),
        ('severity = ["nul"]', "severity: ['nul'] must be a table"),
        ('severity = {nol = "note"}', "severity: 'nol' is not a lint code (perhaps nul?)"),
        ('severity = {nul = "bad"}', "severity: 'bad' is not one of error, warning, optimise, note"),
        ('severity = {nul = ["note"]}', "severity: ['note'] is not one of error"),
        ('per-file-ignores = {"*" = "nul"}', "per-file-ignores: 'nul' must be a list of strings"),
        ('fail-on = "nul"', "fail-on: 'nul' is not one of error, warning, optimise, note, never"),
        ('dialect = "bong"', "dialect: 'bong' is not one of "),
        ("dialect = ", "Invalid value (at end of document)"),
        ("\\", "Invalid statement"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_file(tmp_path: Path, text: str, problem: str) -> None:
    path = write(tmp_path / "robots-lint.toml", text)
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    assert str(caught.value).startswith(f"{path}: {problem}")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nosuch\.toml: No such file or directory"):
        read_config(tmp_path / "nosuch.toml")
    (tmp_path / "robots-lint.toml").write_bytes(b'select = ["\xff"]')
    with pytest.raises(ConfigError, match=r"robots-lint\.toml: 'utf-8' codec"):
        read_config(tmp_path / "robots-lint.toml")
    path = write(tmp_path / "pyproject.toml", "tool = 1\n")
    with pytest.raises(ConfigError, match="tool must be a table"):
        read_config(path)


def test_python_3_10_reads_toml_by_tomli(tmp_path: Path) -> None:
    pytest.importorskip("tomli")
    path = write(tmp_path / "robots-lint.toml", 'ignore = ["nul"]\n')
    code = (
        "import sys; sys.modules['tomllib'] = None\n"
        "from pathlib import Path; from scrapy_rep.tools.lint.config import read_config\n"
        "print(*read_config(Path(sys.argv[1])).ignore, 'tomli' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", code, path], text=True) == "nul True\n"


def test_names_are_codes_severities_and_all() -> None:
    assert read_names(["nul", "note", "all"]) == ("nul", "note", "all")
    with pytest.raises(ValueError, match="'' is neither"):
        read_names([""])
