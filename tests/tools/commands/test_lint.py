"""``scrapy robots lint``: findings for people, for programs and for a site's CI."""

from __future__ import annotations

import io
import json
import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from scrapy_rep.protocol import CODES
from scrapy_rep.tools.commands import lint
from tests.support.command import robots_command
from tests.support.redis_server import RedisServer
from tests.support.site import Answer, Site, redirect, robots

SITEMAP = b"Sitemap: https://example.com/sitemap.xml\n"
BODY = b"User-agent: *\nDisallow: search\nCrawl-delay: 5\nDisallow: /a\nDisallow: /a\n" + SITEMAP
CLEAN = b"User-agent: *\nDisallow: /search\n" + SITEMAP


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "robots.txt").write_bytes(BODY)
    (tmp_path / "clean.txt").write_bytes(CLEAN)
    return tmp_path


@pytest.fixture
def given_here(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Puts octets on the standard input of this process."""
    return lambda octets: monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(octets)))


def linted(*arguments: str, **settings: Any) -> tuple[int, str]:
    """The exit code and what is printed, in this process."""
    parser, out = ArgumentParser(), io.StringIO()
    lint.add_arguments(parser)
    code = lint.run(parser.parse_args(arguments), Settings(settings), out)
    return code, out.getvalue()


def test_people_read_file_line_column_and_what_to_write() -> None:
    assert linted("robots.txt", "clean.txt") == (
        1,
        """robots.txt:2:11: error: search matches nothing: a path must start with / or *. (path-without-slash)
    Write /search.
robots.txt:3:1: note: Google does not read Crawl-delay; other crawlers do. (record-google-ignores)
    Do not rely on it for Google.
robots.txt:5:1: optimise: Line 4 of this group is the same rule. (duplicate-rule)
    Remove this line.
2 files: 1 error, 1 optimise, 1 note
""",
    )
    assert linted("clean.txt") == (0, "1 file: no findings\n")
    assert linted("robots.txt", "robots.txt")[1].endswith("\n2 files: 2 errors, 2 optimise, 2 notes\n")


def test_json_is_one_object_a_line() -> None:
    code, out = linted("--json", "robots.txt")
    findings = list(map(json.loads, out.splitlines()))
    assert (code, [one["code"] for one in findings]) == (
        1,
        ["path-without-slash", "record-google-ignores", "duplicate-rule"],
    )
    assert findings[0] == {
        "file": "robots.txt",
        "line": 2,
        "column": 11,
        "severity": "error",
        "code": "path-without-slash",
        "message": "search matches nothing: a path must start with / or *.",
        "advice": "Write /search.",
    }


def test_sarif_is_one_document_with_all_rules_and_the_places_of_the_results(
    folder: Path, given_here: Callable[[bytes], None]
) -> None:
    (folder / "my robots.txt").write_bytes(BODY)
    given_here(b"")
    code, out = linted("--sarif", "my robots.txt", "-")
    document = json.loads(out)
    (run,) = document["runs"]
    rules = run["tool"]["driver"]["rules"]

    assert (code, document["version"], "sarif-schema-2.1.0" in document["$schema"]) == (1, "2.1.0", True)
    assert [rule["id"] for rule in rules] == list(CODES)
    assert {rule["defaultConfiguration"]["level"] for rule in rules} == {"error", "warning", "note"}
    assert all(rule["shortDescription"]["text"] for rule in rules)
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == [
        result["ruleId"] for result in run["results"]
    ]
    assert run["results"][0]["level"] == "error"
    assert run["results"][0]["message"]["text"].endswith(" Write /search.")
    assert [result["locations"][0]["physicalLocation"] for result in (run["results"][0], run["results"][-1])] == [
        {"artifactLocation": {"uri": "my%20robots.txt"}, "region": {"startLine": 2, "startColumn": 11}},
        {"artifactLocation": {"uri": "stdin"}},
    ]
    clean = json.loads(linted("--sarif", "clean.txt")[1])
    assert clean["runs"][0]["results"] == []


@pytest.mark.parametrize(
    ("least", "body", "code"),
    [
        ("error", b"User-agent: *\nDisallow: search\n", 1),
        ("error", b"User-agent: *\nNoindex: /\nDisallow: /a\n", 0),
        ("warning", b"User-agent: *\nNoindex: /\nDisallow: /a\n", 1),
        ("warning", b"User-agent: *\nDisallow: /a\nDisallow: /a\n", 0),
        ("optimise", b"User-agent: *\nDisallow: /a\nDisallow: /a\n", 1),
        ("optimise", b"User-agent: *\nDisallow: /a # b\n", 0),
        ("note", b"User-agent: *\nDisallow: /a # b\n", 1),
        ("note", CLEAN, 0),
        ("never", b"User-agent: *\nDisallow: search\n", 0),
    ],
)
def test_the_least_severity_that_fails_is_chosen(
    given_here: Callable[[bytes], None], least: str, body: bytes, code: int
) -> None:
    given_here(body)
    assert linted("--fail-on", least, "-")[0] == code


def test_the_dialect_and_the_size_are_those_of_the_settings(given_here: Callable[[bytes], None]) -> None:
    given_here(b"User-agent: MJ12bot\nDisallow: /x\nUser-agent: *\nDisallow:\n")
    assert "agent-with-other-text" in linted("-", REP_DIALECT="google-exact")[1]
    assert "file-too-long" in linted("robots.txt", REP_MAX_SIZE=20)[1]


def test_binary_on_standard_input_has_findings(given_here: Callable[[bytes], None]) -> None:
    given_here(b"\x7fELF\2\1\1\0" + bytes(range(256)) * 20)
    code, out = linted("-")
    assert code == 1
    assert "(binary-file)" in out
    assert out.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["nosuch"], "nosuch: No such file or directory (a URL starts with https://)"),
        (["."], ".: Is a directory: name the files in it"),
        (["-", "-"], "standard input can be read only once"),
        (["s3://bucket/robots.txt"], "no robots.txt speaks for the scheme of 's3://bucket/robots.txt'"),
        (["http://[/"], "http://[/: Invalid IPv6 URL"),
        (["clean.txt", "nosuch", "neither"], "nosuch: No such file or directory"),
    ],
)
def test_what_cannot_be_had_is_said_in_one_line_and_ends_it_with_2(
    capsys: pytest.CaptureFixture[str], given_here: Callable[[bytes], None], arguments: list[str], problem: str
) -> None:
    given_here(CLEAN)
    code, out = linted(*arguments)
    err = capsys.readouterr().err
    assert (code, err.count("\n")) == (2, 1)
    assert problem in err
    assert ("1 file" in out) is ("clean.txt" in arguments)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_must_not_be_read_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "clean.txt").chmod(0)
    assert linted("clean.txt")[0] == 2
    assert capsys.readouterr().err == "scrapy robots lint: clean.txt: Permission denied\n"


def test_urls_are_fetched_in_one_crawl_and_where_they_are_from_counts(folder: Path) -> None:
    with Site(["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"]) as site:
        page, moved, missing, long = site.origins
        site.answer("/robots.txt", robots(CLEAN.decode()), page)
        site.answer("/robots.txt", redirect(f"{page}/robots.txt"), moved)
        site.answer("/robots.txt", Answer(status=404), missing)
        site.answer("/robots.txt", robots(CLEAN.decode() + "Disallow: /long\n" * 40_000), long)
        code, out, err = robots_command(
            folder, "lint", "clean.txt", f"{page}/shop/robots.txt", moved, missing, long, "http://nosuch.invalid",
            "--json", "-s", "REP_RETRY_TIMES=0",
        )  # fmt: skip
    found = {(one["file"], one["code"]) for one in map(json.loads, out.splitlines())}
    assert code == 2
    assert err.startswith("scrapy robots lint: http://nosuch.invalid is unreachable: ")
    assert err.count("\n") == 1
    assert found == {
        (f"{page}/robots.txt", "below-root"),
        (f"{moved}/robots.txt", "redirected"),
        (f"{missing}/robots.txt", "missing-file"),
        (f"{long}/robots.txt", "file-too-long"),
        (f"{long}/robots.txt", "duplicate-rule"),
    }


def test_a_url_is_asked_afresh_whatever_a_fleet_knows(folder: Path) -> None:
    with RedisServer() as server, Site() as site:
        site.answer("/robots.txt", robots(CLEAN.decode()))
        fleet = ["-s", f"REP_REDIS_URL={server.url}"]
        assert robots_command(folder, "explain", f"{site.origin}/page", *fleet)[0] == 0
        site.answer("/robots.txt", robots(BODY.decode()))
        assert robots_command(folder, "lint", site.origin, *fleet)[0] == 1
        assert site.count("/robots.txt") == 2


def test_a_file_is_linted_outside_a_project_without_a_crawl(folder: Path) -> None:
    code, out, err = robots_command(folder, "lint", "robots.txt")
    assert (code, out.count("\n"), err) == (1, 7, "")
    assert "\x1b" not in out
