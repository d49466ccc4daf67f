"""``scrapy robots decide``: a line for every URL, in order, whatever the URLs are, and however many processes."""

from __future__ import annotations

import gzip
import io
import json
import signal
import sys
from argparse import ArgumentParser
from functools import partial
from pathlib import Path

import pytest
from scrapy.settings import Settings

from scrapy_rep.tools.commands import decide
from tests.support.command import command_here, robots_command, scrapy_process

URLS = [
    "https://a.example/private/1", "https://a.example/open", "https://b.example/private", "https://c.example/x",
    "no url", "http://user@A.example:80/private",
]  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of robots.txt files, and a list of URLs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "robots").mkdir()
    (tmp_path / "robots" / "a.example").write_bytes(b"User-agent: *\nDisallow: /private\n")
    (tmp_path / "robots" / "b.example").write_bytes(b"User-agent: Bot\nAllow: /\nUser-agent: *\nDisallow: /\n")
    (tmp_path / "urls").write_text("\n".join(URLS))
    return tmp_path


decided = partial(command_here, decide, "--robots", "robots", "--agent", "Bot")


def test_each_url_has_its_line_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = decided("--urls", "urls")
    found = [json.loads(line) for line in out.splitlines()]
    assert [line["url"] for line in found] == URLS
    assert found[0] == {
        "url": URLS[0], "origin": "https://a.example", "agent": "Bot", "allowed": False, "line": 2,
        "rule": "Disallow: /private", "reason": "rule",
    }  # fmt: skip
    assert [(line["allowed"], line["reason"]) for line in found] == [
        (False, "rule"), (True, "no rule"), (True, "rule"), (None, "no robots.txt"), (None, "not a URL"),
        (False, "rule"),
    ]  # fmt: skip
    assert (found[4]["origin"], found[4]["line"]) == (None, None)
    assert code == 1
    assert capsys.readouterr().err.splitlines()[-1] == (  # a slow machine shows progress before
        "scrapy robots decide: warning: 2 of 6 verdicts are unknown: 1 no robots.txt, 1 not a URL"
    )


def test_several_agents_have_a_line_each() -> None:
    _, out = decided("--urls", "urls", "--agent", "Other/1.0")
    found = [json.loads(line) for line in out.splitlines()]
    assert [line["agent"] for line in found] == ["Bot", "Other"] * len(URLS)
    assert [line["allowed"] for line in found[4:6]] == [True, False]


def test_the_agent_of_the_project_is_the_default() -> None:
    _, out = command_here(decide, "--robots", "robots", "--urls", "urls", REP_USER_AGENTS=["NewBot", "Bot"])
    assert [json.loads(line)["agent"] for line in out.splitlines()[1:3]] == ["Bot", "Bot"]


@pytest.mark.parametrize("only", ["allowed", "disallowed", "unknown"])
def test_only_the_urls_of_one_kind_are_printed(only: str) -> None:
    kinds = [False, True, True, None, None, False]
    words = {True: "allowed", False: "disallowed", None: "unknown"}
    expected = [url for url, kind in zip(URLS, kinds, strict=True) if words[kind] == only]
    assert decided("--urls", "urls", "--only", only)[1].splitlines() == expected


def test_the_urls_of_one_kind_come_back_as_they_were() -> None:
    octets = b"https://a.example/\xff\xfe\nhttps://a.example/private\n  https://b.example/\xc3\xbc\r\n"
    Path("octets").write_bytes(octets)
    parser, out = ArgumentParser(), io.TextIOWrapper(io.BytesIO())
    decide.add_arguments(parser)
    options = ["--urls", "octets", "--only", "allowed"]
    arguments = parser.parse_args(["--robots", "robots", "--agent", "Bot", *options])
    assert decide.run(arguments, Settings(), out) == 0
    assert out.detach().getvalue() == b"https://a.example/\xff\xfe\nhttps://b.example/\xc3\xbc\n"


def test_urls_for_several_agents_are_refused_because_nobody_could_tell_whose_they_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert decided("--urls", "urls", "--only", "allowed", "--agent", "Two") == (2, "")
    assert "name one --agent" in capsys.readouterr().err


@pytest.mark.parametrize(("missing", "allowed"), [("allow", True), ("disallow", False), ("unknown", None)])
def test_the_verdict_without_a_robots_txt_is_unknown_or_what_the_option_says(
    missing: str, allowed: bool | None
) -> None:
    Path("one").write_text("https://c.example/\n")
    code, out = decided("--urls", "one", "--missing", missing)
    assert (code, json.loads(out)["allowed"]) == (int(allowed is None), allowed)


def test_the_settings_of_the_project_count() -> None:
    Path("one").write_text("https://a.example/robots.txt\n")
    Path("robots/a.example").write_bytes(b"User-agent: *\nDisallow: /robots.txt\n")
    assert '"allowed": true' in decided("--urls", "one")[1]
    assert '"allowed": false' in decided("--urls", "one", REP_DIALECT="google-exact")[1]
    assert '"allowed": true' in decided("--urls", "one", REP_DIALECT="google-exact", REP_MAX_SIZE=16)[1]


@pytest.mark.parametrize("content", [b"", b"\n \n"])
def test_no_url_is_no_problem(content: bytes) -> None:
    Path("none").write_bytes(content)
    assert decided("--urls", "none") == (0, "")


def test_a_byte_order_mark_is_no_part_of_the_first_url() -> None:
    Path("marked").write_bytes(b"\xef\xbb\xbfhttps://a.example/\n\xef\xbb\xbfb\n")
    urls = [json.loads(line)["url"] for line in decided("--urls", "marked")[1].splitlines()]
    assert urls == ["https://a.example/", "\ufeffb"]


def test_several_processes_print_what_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decide, "_BATCH", 2_000)
    urls = [f"https://{'abc'[n % 3]}.example/{'private' if n % 5 else 'open'}/{n}" for n in range(2_000)]
    Path("many").write_text("\n".join(urls))
    monkeypatch.setattr(decide, "cores", lambda: 1)
    one = decided("--urls", "many")
    monkeypatch.setattr(decide, "cores", lambda: 2)
    assert decided("--urls", "many") == one
    assert [json.loads(line)["url"] for line in one[1].splitlines()] == urls


@pytest.mark.parametrize(
    ("arguments", "settings", "problem"),
    [
        (["--robots", "nowhere"], {}, "nowhere: No such file or directory"),
        (["--robots", "urls"], {}, "urls: Not a directory"),
        (["--urls", "urls.gz"], {}, "urls.gz: a gzip file, not plain text; unpack it first"),
        (["--agent", "()"], {}, "contains no product token"),
        ([], {"REP_DIALECT": "none"}, "REP_DIALECT"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line_and_ends_it_with_2(
    arguments: list[str], settings: dict[str, str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("urls.gz").write_bytes(gzip.compress(b"https://a.example/"))
    code, _ = decided("--urls", "urls", *arguments, **settings)
    err = capsys.readouterr().err
    assert (code, problem in err, err.count("\n")) == (2, True, 1), err


@pytest.mark.parametrize(
    ("name", "problem"), [("robots", "Is a directory"), ("nowhere", "No such file or directory")]
)
def test_a_list_that_cannot_be_opened_is_named(name: str, problem: str) -> None:
    code, _, err = robots_command(Path.cwd(), "decide", "--robots", "robots", "--agent", "Bot", "--urls", name)
    assert (code, f"{name}: {problem}" in err, err.count("\n")) == (2, True, 1), err


def endless(path: Path) -> None:
    with path.open("w") as file:
        file.writelines(f"https://a.example/{n}/{'x' * 200}\n" for n in range(50_000))


def test_a_closed_pipe_and_ctrl_c_end_it_quietly_without_processes_left(tmp_path: Path) -> None:
    endless(tmp_path / "many")
    arguments = ("robots", "decide", "--robots", "robots", "--agent", "Bot", "--urls", "many")
    with scrapy_process(*arguments, folder=tmp_path) as process:
        assert process.stdout
        assert process.stdout.readline().startswith(b'{"url": "https://a.example/0/')
        process.stdout.close()
        assert process.wait(60) == 2
    with scrapy_process(*arguments, folder=tmp_path) as process:
        assert process.stdout
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, [line for line in err.decode().splitlines() if " per second" not in line]) == (
        2,
        [],
    )


def test_a_closed_standard_input_is_no_list(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)  # as Python starts with <&-
    assert decided() == (2, "")
    assert "no URL given: name a file with --urls" in capsys.readouterr().err
