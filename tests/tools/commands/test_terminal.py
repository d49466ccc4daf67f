"""What the sub-commands share at a terminal."""

from __future__ import annotations

import io
import re
import shlex
import sys
import unicodedata
from argparse import Namespace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.settings import Settings

from scrapy_rep.tools.commands import FAILED, SUB_COMMANDS, Command
from scrapy_rep.tools.commands.inputs import InputError, origin_of
from scrapy_rep.tools.commands.parser import parser_of
from scrapy_rep.tools.commands.terminal import Progress, Speed, message, paint, with_carets
from tests.support.command import robots_command

ERASE = "\r\x1b[K"


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
    assert max(map(len, out.splitlines())) <= 80


def test_without_a_sub_command_its_help_is_printed() -> None:
    code, out, err = robots_command(Path.cwd())
    assert (code, err) == (2, "")
    assert robots_command(Path.cwd(), "--help")[1] == out


@pytest.mark.parametrize("columns", [80, 200])
@pytest.mark.parametrize("name", SUB_COMMANDS)
def test_help_fits_the_terminal_with_one_usage_line_and_three_examples(
    name: str, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    text = parser_of(name).format_help()
    assert "`" not in text
    assert max(map(len, text.splitlines())) <= min(columns, 120)
    assert text.startswith(f"Usage: scrapy robots {name} [OPTIONS]")
    assert text.splitlines()[1] == ""
    examples = re.findall(rf"^  scrapy robots {name}\b(.*)$", text, re.MULTILINE)
    assert len(examples) == 3
    for example in examples:
        assert parser_of(name).parse(shlex.split(example.partition(" < ")[0]))


def test_prose_uses_a_wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    heights = []
    for columns in ("80", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        heights.append(parser_of("explain").format_help().count("\n"))
    assert heights[1] < heights[0]


def test_force_color_paints_a_pipe_unless_no_color_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert paint("x", "bad", io.StringIO()) == "\x1b[31mx\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert paint("x", "bad", io.StringIO()) == "x"


LONG = "the robots.txt of https://a.example/a-long-path/that-nobody/can-break timed out five times and is skipped"


@pytest.mark.parametrize(("kind", "color"), [("error", 31), ("warning", 33)])
def test_a_message_is_wrapped_and_painted_on_a_terminal_and_one_line_in_a_pipe(
    kind: str, color: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert message("robots-lint", kind, LONG) == f"robots-lint: {kind}: {LONG}\n"
    monkeypatch.setattr(sys, "stderr", Terminal())
    text = message("robots-lint", kind, LONG)
    assert text.startswith(f"{ERASE}robots-lint: \x1b[{color}m{kind}:\x1b[0m the robots.txt of")
    lines = re.sub(r"\x1b\[\w+|\r", "", text).splitlines()
    assert len(lines) > 1
    assert max(map(len, lines)) <= 80
    assert "https://a.example/a-long-path/that-nobody/can-break" in text


def test_a_progress_never_wraps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    screen = Terminal()
    Progress(screen).show("日本 and many more sites", at_once=True)
    assert screen.getvalue() == f"{ERASE}日本 and many more…"
    assert columns(screen.getvalue().removeprefix(ERASE)) <= 19


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
    assert screen.getvalue() == "".join(f"{ERASE}{second} done" for second in range(1, 12)) + ERASE
    assert file.getvalue() == "5 done\n10 done\n"
    for one in progress:
        one.show("at once", at_once=True)
    assert screen.getvalue().endswith(f"{ERASE}at once")
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
    speed = Speed()
    now[0] = 130.0
    assert speed.text(30_000, 0.25) == "1,000 per second, 1 min 30 s left"
    assert speed.text(30_000, None) == speed.text(30_000, 1.0) == "1,000 per second"
    assert speed.text(0, 0.0) == "0 per second"


# Carets below a part of a line.


def columns(text: str) -> int:
    """The columns of printable *text* on a terminal."""
    marks = sum(unicodedata.category(each) in {"Mn", "Me"} for each in text)
    return len(text) - marks + sum(unicodedata.east_asian_width(each) in "WF" for each in text)


@pytest.mark.parametrize(
    ("line", "column", "length", "text", "carets"),
    [
        ("Disallow: /a", 11, 2, "Disallow: /a", "          ^^"),
        ("Disallow:\t/a", 11, 2, "Disallow:    /a", "             ^^"),
        ("Disallow: /日本/a", 15, 1, "Disallow: /日本/a", "                ^"),
        ("Disallow: /日本", 12, 2, "Disallow: /日本", "           ^^^^"),
        ("Disallow: /e\u0301/a", 14, 2, "Disallow: /e\u0301/a", "            ^^"),
        ("Disallow: /\x1b[31m", 11, 6, r"Disallow: /\x1b[31m", "          ^^^^^^^^^"),
        ("Disallow: /\u202e/a", 13, 1, r"Disallow: /\u202e/a", "                 ^"),
        ("Allow:", 9, 3, "Allow:", "      ^"),
        ("", 1, 1, "", "^"),
    ],
)
def test_carets_stand_below_what_is_meant(line: str, column: int, length: int, text: str, carets: str) -> None:
    assert with_carets(line.encode(), column, length) == (text, carets)


def test_an_octet_that_is_not_utf_8_is_one_character() -> None:
    assert with_carets(b"Disallow: /caf\xe9/x", 16, 1) == (r"Disallow: /caf\xe9/x", "                  ^")


def test_a_long_line_is_cut_around_the_carets() -> None:
    line = b"Disallow: /" + b"a" * 200 + b"*" + b"b" * 200
    text, carets = with_carets(line, 212, 1)
    assert (text[0], text[-1], text[carets.index("^")], len(text)) == ("…", "…", "*", 102)
    assert with_carets(line, 1, 412) == (line.decode()[:100] + "…", "^" * 100)


def test_a_line_of_megabytes_is_cut_at_once() -> None:
    text, carets = with_carets("日".encode() * 1_000_000, 999_999, 5)
    assert (text, carets) == ("…" + "日" * 22, " " * 41 + "^^^^")


@given(st.text(max_size=300), st.integers(1, 300), st.integers(1, 300))
def test_whatever_the_line_both_are_printable_and_fit(line: str, column: int, length: int) -> None:
    line = "".join(line.splitlines())
    text, carets = with_carets(line.encode(), column, length)
    assert text.isprintable()
    assert set(carets) <= {" ", "^"}
    assert columns(text) <= 102
    assert columns(carets) <= max(columns(text), carets.count(" ") + 1)
