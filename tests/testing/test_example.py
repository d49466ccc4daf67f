"""The tests of the example project: they pass, and are those that the docs show."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.markdown import PAGES, ROOT, blocks

PROJECT = ROOT / "example_project"


@pytest.mark.full
def test_the_tests_of_the_example_project_pass() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    process = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=PROJECT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (process.returncode, "2 passed" in process.stdout) == (0, True), process.stdout + process.stderr


def test_the_docs_show_the_test_of_the_example_in_ten_lines() -> None:
    page = PAGES["docs/howto/test-a-project.md"]
    (shown,) = (block for block in blocks(page, "python") if block.startswith("# test_robots.py\n"))
    code = [line for line in shown.splitlines() if line and not line.startswith("#")]
    written = (PROJECT / "tests" / "test_robots.py").read_text("utf-8").splitlines()
    assert 5 <= len(code) <= 10
    assert set(code) <= set(written)
