"""The pytest plugin, in a pytest of its own as users run it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command import pytest_command

REFUSING = """
from scrapy.robotstxt import RobotParser

class Refusing(RobotParser):
    @classmethod
    def from_crawler(cls, crawler, robotstxt_body):
        return cls()

    def allowed(self, url, user_agent):
        return False
"""
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


def conformance(folder: Path, parser: str, *arguments: str) -> tuple[int, str]:
    return run(folder, "-p", "scrapy_rep.testing.plugin", "--robotstxt-parser", parser, *arguments)


def test_a_parser_that_conforms_passes_with_a_line_per_section(tmp_path: Path) -> None:
    exit_code, told = conformance(tmp_path, "scrapy_rep.RepRobotParser")
    assert exit_code == 0
    assert "robots.txt conformance of scrapy_rep.RepRobotParser" in told
    assert "  85 of  85           RFC 9309 2.2.3 Special characters\n" in told
    assert "   7 of   8  differs  RFC 9309 2.2.2 The allow and disallow lines, disputed\n" in told
    assert told.index("2.1 Protocol definition") < told.index("5.2 Longest") < told.index("Google File format")
    assert "FAILS" not in told
    assert "132 passed, 1 xfailed" in told


def test_a_parser_that_does_not_conform_fails_by_section_and_situation(tmp_path: Path) -> None:
    (tmp_path / "refusing.py").write_text(REFUSING)
    exit_code, told = conformance(tmp_path, "refusing.Refusing", "-k", "2.5 or paths")
    assert exit_code == 1
    assert "   4 of   6  FAILS    RFC 9309 2.5 Limits\n" in told
    assert "differs  scrapy_rep Paths\n" in told
    assert "    disallows https://www.example.com/other as ExampleBot: expected allowed\n" in told
    assert "    b'Disallow: /first\\n'\n" in told
    assert "lines more\n" in told  # of 500 KiB
    assert "plugin.py" not in told  # no traceback through the plugin


def test_the_workers_of_xdist_tell_the_same_summary(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    exit_code, told = conformance(tmp_path, "scrapy_rep.RepRobotParser", "-p", "xdist", "-n2", "-k", "rfc9309")
    assert exit_code == 0
    assert "  85 of  85           RFC 9309 2.2.3 Special characters\n" in told


@pytest.mark.parametrize(
    ("parser", "problem", "arguments"),
    [
        ("scrapy_rep.Nothing", "doesn't define any object named", ()),
        ("scrapy_rep.Addon", "a parser back-end has", ()),
        ("unread.Parser", "SyntaxError: ", ()),
        ("broken.Parser", "ZeroDivisionError: division by zero", ()),
        ("broken.Parser", "ZeroDivisionError: division by zero", ("-p", "xdist", "-n2")),
    ],
)
def test_what_is_no_parser_is_an_error_of_the_collection(
    tmp_path: Path, parser: str, problem: str, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "unread.py").write_text("def (\n")
    if arguments:
        pytest.importorskip("xdist")
    exit_code, told = conformance(tmp_path, parser, *arguments)
    assert f"--robotstxt-parser {parser}: " in told
    assert problem in told
    assert exit_code not in {0, 5}, "a run without the parser that it is for has passed"
    assert "INTERNALERROR" not in told
    assert "plugin.py" not in told


def test_the_situations_count_as_collected(tmp_path: Path) -> None:
    _, told = conformance(tmp_path, "scrapy_rep.RepRobotParser", "--collect-only", "-k", "rfc9309 and 2.5")
    assert "\n2/133 tests collected (131 deselected)" in told


def test_a_project_has_the_fixture_and_may_name_its_parser_in_the_ini_file(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["scrapy_rep.testing.plugin"]\n')
    (tmp_path / "test_project.py").write_text(PROJECT_TEST)
    (tmp_path / "pytest.ini").write_text("[pytest]\nrobotstxt_parser = scrapy_rep.RepRobotParser\n")
    exit_code, told = run(tmp_path, "--strict-markers", "-W", "error")
    assert (exit_code, "134 passed, 1 xfailed" in told) == (0, True), told


def test_a_project_without_a_parser_to_test_is_not_told_of_conformance(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["scrapy_rep.testing.plugin"]\n')
    (tmp_path / "test_project.py").write_text(PROJECT_TEST)
    exit_code, told = run(tmp_path)
    assert (exit_code, "conformance" in told, "2 passed" in told) == (0, False, True)


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
