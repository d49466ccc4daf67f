"""What a person mistypes on a command line: one line says what is wrong and what was perhaps meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrapy_rep.tools.commands import SUB_COMMANDS, audit, diff, explain, main_of, serve, survey
from scrapy_rep.tools.commands.parser import parser_of
from tests.support.command import command_here, robots_command

WRONG = {
    ("explain", "--dialect", "gogle", "/"): "argument --dialect: 'gogle' is not one of google, ",
    ("explain", "--dialct", "google", "/"): "unknown argument '--dialct' (perhaps --dialect?)",
    ("explain", "--jsn", "/"): "unknown argument '--jsn' (perhaps --json?)",
    ("explain", "--file"): "argument --file: expected one argument",
    ("diff", "--dialect", "1995", "f"): "'1995' is not one of google, ",
    ("cache", "lsit"): "argument action: 'lsit' is not one of list, show, purge (perhaps list?)",
    ("decide", "--only", "allow"): "'allow' is not one of ",
    ("lint", "--fail-on", "warnings", "f"): "(perhaps warning?)",
    ("lint", "--select", "nots", "f"): "'nots' is neither a code nor a severity (perhaps note?)",
    ("forecast", "--pages", "0", "a.example"): "'0' is not a number of pages",
    ("serve", "--port", "99999"): "'99999' is not a port: write a number from 0 to 65535",
    ("serve", "--port", "-1"): "'-1' is not a port",
    ("serve", "--port", "http"): "'http' is not a port",
    ("watch", "--store", "f"): "the following arguments are required: LIST",
}


@pytest.mark.parametrize("arguments", WRONG)
def test_a_wrong_argument_costs_one_line(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    parser = parser_of(arguments[0])
    with pytest.raises(SystemExit) as ended:
        parser.parse(arguments[1:])
    (line,) = capsys.readouterr().err.splitlines()
    assert (ended.value.code, line.startswith(f"scrapy robots {arguments[0]}: error: ")) == (2, True)
    assert WRONG[arguments] in line


@pytest.mark.parametrize("name", SUB_COMMANDS)
def test_every_command_names_an_option_that_it_does_not_know(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    required = {
        "watch": ["list", "--store", "x"], "cache": ["list"], "resources": ["/"], "diff": ["f"],
        "decide": ["--robots", "x"],
    }  # fmt: skip
    with pytest.raises(SystemExit) as ended:
        main_of(name)(["--nonsense\x1b", *required.get(name, ["f"] if name == "audit" else [])])
    (line,) = capsys.readouterr().err.splitlines()
    expected = f"robots-{name}: error: unknown argument '--nonsense\\x1b'"
    assert (ended.value.code, line.startswith(expected)) == (2, True), line


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["explian", "/"],
            "scrapy robots: error: unknown command 'explian' (perhaps explain?): choose one of audit, ",
        ),
        (["frobnicate"], "scrapy robots: error: unknown command 'frobnicate': choose one of audit, "),
        (["explain", "-s", "REP_DIALECT", "/"], "scrapy robots explain: error: -s takes NAME=VALUE"),
        (
            ["explain", "--dialect", "x", "/"],
            "scrapy robots explain: error: argument --dialect: 'x' is not one of google, ",
        ),
    ],
)
def test_at_a_shell_it_is_one_line_too(tmp_path: Path, arguments: list[str], line: str) -> None:
    code, out, err = robots_command(tmp_path, *arguments)
    assert (code, out, err.count("\n"), err.startswith(line)) == (2, "", 1, True), err


RULES = b"User-agent: *\nDisallow: /x\n"
MISTYPED = ("notaurl", "x.html", "example.com/x", "mailto:x", "http:///x")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("f").write_bytes(RULES)
    Path("g").write_bytes(RULES.replace(b"x", b""))
    Path("urls").write_text("\n".join([*MISTYPED, "/x", "https://a.example/y"]), "utf-8")
    return tmp_path


@pytest.mark.parametrize("url", MISTYPED)
def test_what_is_no_url_is_not_allowed_by_a_file(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_here(explain, "--file", "f", url) == (2, "")
    assert capsys.readouterr().err.startswith(f"scrapy robots explain: error: {url}")


def test_a_url_that_is_none_says_what_to_write(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_here(explain, "--file", "f", "notaurl", "/x")[0] == 2
    expected = (
        "scrapy robots explain: error: notaurl is neither a URL nor a path: write https://notaurl or /notaurl\n"
    )
    assert capsys.readouterr().err == expected


def test_what_is_no_url_is_not_compared_either(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = command_here(diff, "f", "g", "--urls", "urls")
    assert (code, out.splitlines()[-1]) == (2, "1 of 2 URLs change: 1 newly disallowed, 0 newly allowed")
    assert capsys.readouterr().err.count("scrapy robots diff: error: ") == len(MISTYPED)


def test_a_file_of_another_kind_is_no_audit_log(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_here(audit, "f") == (2, "")
    expected = (
        "scrapy robots audit: error: f: not an audit log: none of its lines is an event that REP_AUDIT wrote\n"
    )
    assert capsys.readouterr().err == expected


def test_a_host_that_cannot_be_looked_up_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_here(serve, "--host", "300.300.300.300", "--port", "0") == (2, "")
    assert "Unknown error" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--compare", "f"], "name another one beside f"),
        (["--compare", "a", "b", "--resume"], "omit --resume"),
    ],
)
def test_a_comparison_says_which_option_or_survey_is_wrong(
    capsys: pytest.CaptureFixture[str], arguments: list[str], problem: str
) -> None:
    code, _ = command_here(survey, *arguments)
    assert (code, problem in capsys.readouterr().err) == (2, True)
