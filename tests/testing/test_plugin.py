"""The pytest plugin, in a pytest of its own as users run it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.command import pytest_command

PROJECT_TEST = """
from urllib.request import urlopen

def test_a(robots_site):
    robots_site.robots = "User-agent: *"
    assert urlopen(robots_site.url("/robots.txt")).read() == b"User-agent: *"

def test_b(robots_site):
    assert robots_site.paths == []
"""


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    """The exit code and the output of pytest in *folder*."""
    options = ("-q", "-p", "no:cacheprovider", "--rootdir", str(folder))
    exit_code, out, err = pytest_command(
        folder, *options, *arguments, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", NO_COLOR="1"
    )
    return exit_code, out + err


def test_a_project_has_the_fixture(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["scrapy_rep.testing.plugin"]\n')
    (tmp_path / "test_project.py").write_text(PROJECT_TEST)
    exit_code, told = run(tmp_path, "--strict-markers", "-W", "error")
    assert (exit_code, "2 passed" in told) == (0, True), told


def test_the_plugin_is_loaded_without_scrapy_and_without_the_situations() -> None:
    code = (
        "import scrapy_rep.testing.plugin, sys; print([n for n in sys.modules if n.startswith(('scrapy', 'tw'))])"
    )
    told = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert told == "['scrapy_rep', 'scrapy_rep.testing', 'scrapy_rep.testing.plugin']\n"


WRONG = """
from scrapy_rep.testing import assert_allowed, assert_disallowed

def test_a():
    assert_allowed({})

def test_b():
    assert_disallowed({})
"""


def test_the_traceback_of_an_assertion_ends_in_the_test(tmp_path: Path) -> None:
    (tmp_path / "test_project.py").write_text(WRONG)
    exit_code, told = run(tmp_path)
    assert (exit_code, told.count("E       AssertionError: no URL given")) == (1, 2)
    assert "assertions.py" not in told
