"""The hook of pre-commit and the action of GitHub: they call a command that exists, with inputs that exist."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.support.markdown import PAGES, blocks

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
HOOK = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
ACTION = (ROOT / "action.yml").read_text("utf-8")
PAGE = PAGES["docs/howto/lint-in-a-project.md"]


def test_the_hook_calls_a_command_of_the_package() -> None:
    entry = re.search(r"^  entry: (.+)$", HOOK, re.MULTILINE)
    assert entry
    assert f"    {entry[1]} = scrapy_rep.tools.commands.lint:main\n" in (ROOT / "setup.cfg").read_text("utf-8")
    assert f"- id: {entry[1]}\n" in "".join(blocks(PAGE, "yaml"))


@pytest.mark.parametrize(
    ("path", "is_linted"),
    [
        ("robots.txt", True),
        ("public/shop.robots.txt", True),
        ("robots.txt.j2", False),
        ("robots/humans.txt", False),
    ],
)
def test_the_hook_is_for_files_that_a_folder_is_searched_for(path: str, is_linted: bool) -> None:
    pattern = re.search(r"^  files: (.+)$", HOOK, re.MULTILINE)
    assert pattern
    assert bool(re.search(pattern[1], path)) is is_linted


def test_the_action_uses_its_inputs_and_no_others() -> None:
    declared = set(re.findall(r"^  ([a-z-]+):$", ACTION.partition("\nruns:")[0], re.MULTILINE))
    assert set(re.findall(r"\$\{\{ inputs\.([a-z-]+) \}\}", ACTION)) == declared
    assert set(re.findall(r"^          (\w+): (?=public|--)", PAGE, re.MULTILINE)) == {"files", "args"} <= declared


def test_no_input_of_the_action_is_pasted_into_a_script() -> None:
    """An input may come from a pull request: in a script it would be code, in the environment it is text."""
    scripts = re.findall(r"^      run: \|\n((?:        .*\n)+)", ACTION, re.MULTILINE)
    assert len(scripts) == 2
    assert "${{" not in "".join(scripts)


def lint_step(folder: Path, **environment: str) -> tuple[int, str]:
    """The last step of the action, as a runner of GitHub calls it, with a command that prints its arguments."""
    command = folder / "robots-lint" / "bin" / "robots-lint"
    command.parent.mkdir(parents=True)
    command.write_text('#!/bin/sh\nprintf "<%s>" "$@"\necho\n[ "$FAILS" != "$2" ]\n')
    command.chmod(0o755)
    script = re.findall(r"^      run: \|\n((?:        .*\n)+)", ACTION, re.MULTILINE)[-1]
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],  # noqa: S607
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "RUNNER_TEMP": str(folder), "FAILS": "", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_the_action_annotates_and_writes_sarif_where_that_is_wanted(tmp_path: Path) -> None:
    environment = {"FILES": "public *.txt", "ARGS": "--ignore note"}
    assert lint_step(tmp_path, SARIF="", **environment) == (0, "<--ignore><note><--github><public><*.txt>\n")
    (tmp_path / "other").mkdir()
    code, out = lint_step(tmp_path / "other", SARIF="my out.sarif", FAILS="note", **environment)
    assert (code, out) == (1, "")
    written = (tmp_path / "other" / "my out.sarif").read_text()
    assert written == "<--ignore><note><--sarif><--exit-zero><public><*.txt>\n"
