"""What the sub-commands share at a terminal."""

from __future__ import annotations

import io
import re
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

import pytest
from scrapy.settings import Settings

from scrapy_rep.tools.commands import FAILED, SUB_COMMANDS, Command, module_of
from scrapy_rep.tools.commands.inputs import InputError, origin_of
from scrapy_rep.tools.commands.terminal import Pace, Progress, paint
from tests.support.command import robots_command


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colours_are_for_terminals_that_want_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert paint("x", "good", io.StringIO()) == "x"
    assert paint("x", "good", Terminal()) == "\x1b[32mx\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert paint("x", "good", Terminal()) == "x"


def test_help_gives_each_sub_command_a_line() -> None:
    code, out, _ = robots_command(Path.cwd(), "--help")
    assert code == 0
    names = re.findall(r"^  (\w+)  +\w", out, re.MULTILINE)
    assert {"audit", "cache", "diff", "explain", "lint"} <= set(names)


def test_without_a_sub_command_its_help_is_printed() -> None:
    code, out, err = robots_command(Path.cwd())
    assert (code, err) == (2, "")
    assert robots_command(Path.cwd(), "--help")[1] == out


@pytest.mark.parametrize("name", SUB_COMMANDS)
def test_help_shows_no_marks_of_docstrings(name: str) -> None:
    parser, module = ArgumentParser(), module_of(name)
    module.add_arguments(parser)
    assert "`" not in module.__doc__ + parser.format_help()


def test_a_host_without_a_scheme_is_asked_by_https() -> None:
    assert str(origin_of("Example.com/x")) == "https://example.com"
    with pytest.raises(InputError, match=r"^http://: no host in 'http://'$"):
        origin_of("http://")


def test_progress_is_one_line_on_a_terminal_and_a_line_now_and_then_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    monkeypatch.setattr("scrapy_rep.clock.clock.monotonic", lambda: now[0])
    screen, file = Terminal(), io.StringIO()
    progress = [Progress(screen), Progress(file)]
    for second in range(12):
        now[0] = float(second)
        for one in progress:
            one.show(f"{second} done")
    for one in progress:
        one.clear()
    assert (
        screen.getvalue()
        == "".join(f"\r{second} done" for second in range(1, 10)) + "\r10 done\r11 done\r       \r"
    )
    assert file.getvalue() == "5 done\n10 done\n"
    for one in progress:
        one.show("at once", at_once=True)
    assert screen.getvalue().endswith("\rat once")
    assert file.getvalue() == "5 done\n10 done\n"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_stream_that_the_shell_has_closed_ends_a_command_with_2(
    monkeypatch: pytest.MonkeyPatch, stream: str
) -> None:
    monkeypatch.setattr(sys, stream, None)
    command = Command()
    command.settings = Settings()
    command.run([], Namespace(rest=["lint", "nosuch"]))
    assert command.exitcode == FAILED


def test_the_pace_says_how_long_it_still_takes_where_that_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("scrapy_rep.clock.clock.monotonic", lambda: now[0])
    pace = Pace()
    now[0] = 130.0
    assert pace.text(30_000, 0.25) == "1,000 per second, 1 min 30 s left"
    assert pace.text(30_000, None) == pace.text(30_000, 1.0) == "1,000 per second"
    assert pace.text(0, 0.0) == "0 per second"
