"""``scrapy robots lint``: findings for people, for programs and for a site's CI."""

from __future__ import annotations

import io
import itertools
import json
import os
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from scrapy_rep.tools.commands import lint
from scrapy_rep.tools.lint import CODES
from tests.support.command import command_here, robots_command
from tests.support.redis_server import RedisServer
from tests.support.site import Answer, Site, redirect, robots
from tests.tools.lint.asking import HEAD

SITEMAP = b"Sitemap: https://www.example/sitemap.xml\n"
BODY = b"User-agent: *\nDisallow: search\nCrawl-delay: 5\nDisallow: /a\nDisallow: /a\n" + SITEMAP
CLEAN = b"User-agent: *\nDisallow: /search\n" + SITEMAP


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "robots.txt").write_bytes(BODY)
    (tmp_path / "clean.txt").write_bytes(CLEAN)
    return tmp_path


@pytest.fixture
def configured(folder: Path) -> Callable[[str], None]:
    """Writes the configuration of the project."""
    if sys.version_info < (3, 11):
        pytest.skip("Python 3.10 has no TOML reader")

    def write(text: str) -> None:
        (folder / "robots-lint.toml").write_text(text)

    return write


linted = partial(command_here, lint)


def test_people_read_file_line_column_and_what_to_write() -> None:
    assert linted("robots.txt", "clean.txt") == (
        1,
        """robots.txt:2:11: error: search matches nothing: a path must start with / or *. (path-without-slash)
    2 | Disallow: search
      |           ^^^^^^
    help: Write “Disallow: /search”; crawlers then obey it.
robots.txt:3:1: note: Google does not read Crawl-delay; other crawlers do. (record-google-ignores)
    3 | Crawl-delay: 5
      | ^^^^^^^^^^^^^^
    help: Do not rely on it for Google.
robots.txt:5:1: optimise: Line 4 of this group is the same rule. (duplicate-rule)
    5 | Disallow: /a
      | ^^^^^^^^^^^^
    help: Remove the line.
2 files: 1 error, 1 improvement, 1 note; --fix fixes 1
""",
    )
    assert linted("clean.txt") == (0, "1 file: no findings\n")
    assert linted("robots.txt", "robots.txt")[1].endswith(
        "\n2 files: 2 errors, 2 improvements, 2 notes; --fix fixes 2\n"
    )


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
        "advice": "Write “Disallow: /search”; crawlers then obey it.",
        "replacement": "Disallow: /search",
        "also": [],
        "fix": None,
        "consequences": [],
    }
    assert findings[2]["fix"] == [{"start": BODY.rindex(b"Disallow"), "end": BODY.index(SITEMAP), "text": ""}]


TYPO = b"User-agnt: *\nDisallow: /a\nCrawl-delay: 3\n" + SITEMAP


def test_what_follows_from_a_finding_is_below_it(given_here: Callable[[bytes], None]) -> None:
    given_here(TYPO)
    assert linted("-") == (
        1,
        """-:1:1: error: User-agnt is not a known key, so crawlers ignore the line; perhaps User-agent was meant. \
(misspelt-key-ignored)
    1 | User-agnt: *
      | ^^^^^^^^^
    note: Without a user-agent line, the rules apply to no crawler. (no-user-agent)
    note: line 3: Crawl-delay comes before the first user-agent line, so it applies to no crawler. \
(record-before-user-agent)
    help: Write “User-agent: *”; crawlers then obey it.
1 file: 1 error
""",
    )


def test_what_follows_from_a_finding_is_in_each_format(given_here: Callable[[bytes], None]) -> None:
    none, late = (
        {
            "code": "no-user-agent",
            "line": 0,
            "message": "Without a user-agent line, the rules apply to no crawler.",
        },
        {
            "code": "record-before-user-agent",
            "line": 3,
            "message": "Crawl-delay comes before the first user-agent line, so it applies to no crawler.",
        },
    )
    given_here(TYPO)
    assert json.loads(linted("--json", "-")[1])["consequences"] == [none, late]
    given_here(TYPO)
    (result,) = json.loads(linted("--sarif", "-")[1])["runs"][0]["results"]
    artifact = {"artifactLocation": {"uri": "stdin"}}
    assert result["relatedLocations"] == [
        {"physicalLocation": artifact, "message": {"text": none["message"]}},
        {"physicalLocation": {**artifact, "region": {"startLine": 3}}, "message": {"text": late["message"]}},
    ]
    given_here(TYPO)
    assert (
        f" {none['message']} {late['message']} Write “User-agent: *”; crawlers then obey it.\n"
        in linted("--github", "-")[1]
    )


@pytest.mark.parametrize(
    ("body", "code", "shown"),
    [
        (b"User-agent: *\nDisallow: /%zz\n", "bad-escape", "2 | Disallow: /%zz\n      |            ^\n"),
        (b"User-agent: *\nDissalow: /b # c\n", "misspelt-key", "2 | Dissalow: /b # c\n      | ^^^^^^^^\n"),
        (b"User-agent: *\nDisallow /b\n", "missing-colon", "2 | Disallow /b\n      | ^^^^^^^^\n"),
        (HEAD + b"Disallow: /b\nDisallow: /b # c\n", "duplicate-rule", "| ^^^^^^^^^^^^\n    note"),
        (
            b"User-agent: *\nDisallow: \xe9\n",
            "path-without-slash",
            "2 | Disallow: \\xe9\n      |           ^^^^\n",
        ),
        (b"User-agent: a\n\nDisallow: /\n", "blank-line-in-group", "(blank-line-in-group)\n    help"),
        (b"# Disallow: /\n", "commented-out-rule", "1 | # Disallow: /\n      | ^^^^^^^^^^^^^\n"),
    ],
)
def test_carets_are_below_what_a_finding_is_about(
    given_here: Callable[[bytes], None], body: bytes, code: str, shown: str
) -> None:
    given_here(body)
    assert shown in linted("--select", f"{code},note", "-")[1]


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
    assert run["results"][0]["message"]["text"].endswith(" Write “Disallow: /search”; crawlers then obey it.")
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
        (["--include", "*.robots", "."], ".: no file in it matches *.robots; --include takes a pattern"),
        (["--fix", "-"], "--fix writes files: use --diff for a URL or standard input"),
        (["--fix", "https://example.com"], "--fix writes files: use --diff for a URL or standard input"),
        (["--config", "nosuch.toml", "clean.txt"], "nosuch.toml: "),
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
    assert ("1 file" in out) is (arguments[0] == "clean.txt")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_must_not_be_read_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "clean.txt").chmod(0)
    assert linted("clean.txt")[0] == 2
    assert capsys.readouterr().err == "scrapy robots lint: error: clean.txt: Permission denied\n"


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
    assert err.startswith("scrapy robots lint: error: http://nosuch.invalid is unreachable: ")
    assert err.count("\n") == 1
    assert found == {
        (f"{page}/robots.txt", "below-root"),
        (f"{moved}/robots.txt", "redirected"),
        (f"{missing}/robots.txt", "missing-file"),
        (f"{long}/robots.txt", "file-too-long"),
        (f"{long}/robots.txt", "duplicate-rule"),
    }


def test_a_url_is_asked_afresh_whatever_a_fleet_knows(folder: Path, redis_server: RedisServer) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(CLEAN.decode()))
        fleet = ["-s", f"REP_REDIS_URL={redis_server.url}"]
        assert robots_command(folder, "explain", f"{site.origin}/page", *fleet)[0] == 0
        site.answer("/robots.txt", robots(BODY.decode()))
        assert robots_command(folder, "lint", site.origin, *fleet)[0] == 1
        assert site.count("/robots.txt") == 2


def test_a_file_is_linted_outside_a_project_without_a_crawl(folder: Path) -> None:
    code, out, err = robots_command(folder, "lint", "robots.txt")
    assert (code, out.count("\n"), err) == (1, 13, "")
    assert "\x1b" not in out


def codes(*arguments: str) -> list[str]:
    return [json.loads(line)["code"] for line in linted("--json", *arguments)[1].splitlines()]


def test_findings_are_selected_and_ignored_by_code_and_by_severity() -> None:
    assert codes("--select", "error, duplicate-rule", "robots.txt") == ["path-without-slash", "duplicate-rule"]
    assert codes("--ignore", "note,error", "robots.txt") == ["duplicate-rule"]
    assert codes("--select", "all", "--ignore", "all", "robots.txt") == []


@pytest.mark.parametrize(
    ("option", "problem"),
    [
        ("--select", "'dupe-rule' is neither a code nor a severity"),
        ("--explain", "'dupe-rule' is not a lint code"),
    ],
)
def test_a_code_that_does_not_exist_is_an_error_of_usage(
    capsys: pytest.CaptureFixture[str], option: str, problem: str
) -> None:
    with pytest.raises(SystemExit) as caught:
        linted(option, "dupe-rule", "robots.txt")
    assert caught.value.code == 2
    assert f"{problem} (perhaps duplicate-rule?)" in capsys.readouterr().err


def test_the_configuration_of_the_project_counts_and_the_command_line_more(
    configured: Callable[[str], None],
) -> None:
    configured('ignore = ["note"]\nfail-on = "never"\n[severity]\nduplicate-rule = "error"\n')
    assert linted("robots.txt")[0] == 0
    assert "robots.txt:5:1: error: Line 4" in linted("robots.txt")[1]
    assert linted("--fail-on", "error", "robots.txt")[0] == 1
    assert codes("--ignore", "duplicate-rule", "robots.txt") == ["path-without-slash"]
    assert codes("--select", "note", "robots.txt") == []
    assert linted("--isolated", "robots.txt")[0] == 1
    assert codes("--isolated", "--select", "note", "robots.txt") == ["record-google-ignores"]


def test_a_configuration_with_a_mistake_ends_it_with_2(
    configured: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    configured("selct = []\n")
    assert linted("robots.txt") == (2, "")
    assert "robots-lint.toml: unknown key 'selct' (perhaps select?)" in capsys.readouterr().err


def test_the_dialect_of_the_configuration_wins(
    configured: Callable[[str], None], given_here: Callable[[bytes], None]
) -> None:
    configured('dialect = "google-exact"\n')
    given_here(b"User-agent: MJ12bot\nDisallow: /x\nUser-agent: *\nDisallow:\n")
    assert "agent-with-other-text" in linted("-", REP_DIALECT="google")[1]


def test_findings_may_be_no_reason_to_fail() -> None:
    assert linted("--exit-zero", "robots.txt")[0] == 0
    assert linted("--fail-on", "error", "--exit-zero", "robots.txt")[0] == 0  # as the action adds it
    assert linted("--exit-zero", "--fail-on", "error", "robots.txt")[0] == 1


def test_a_folder_is_searched_and_without_a_name_this_one(folder: Path) -> None:
    (folder / "public").mkdir()
    (folder / "public" / "robots.txt").write_bytes(CLEAN)
    assert linted()[1].endswith("2 files: 1 error, 1 improvement, 1 note; --fix fixes 1\n")
    assert linted("public") == (0, "1 file: no findings\n")
    assert "3 files" in linted("--include", "*.txt", ".")[1]


def test_findings_are_grouped_by_code_the_worst_first(folder: Path) -> None:
    (folder / "more.txt").write_bytes(BODY.replace(b"\n", b"\r\n") + b"Disallow: /a\nDisallow: /a\nDisallow: b\n")
    assert linted("--grouped", "robots.txt", "more.txt") == (
        1,
        """path-without-slash: error: Rule without a leading slash (3)
    robots.txt:2
    more.txt:2, 9
duplicate-rule: optimise: Duplicate rule (4, --fix fixes 4)
    robots.txt:5
    more.txt:5, 7-8
record-google-ignores: note: Record that Google ignores (2)
    robots.txt:3
    more.txt:3
mixed-line-ends: note: Mixed line ends (1, --fix fixes 1)
    more.txt
2 files: 3 errors, 4 improvements, 3 notes; --fix fixes 5
""",
    )
    (folder / "long.txt").write_bytes(b"User-agent: *\n" + b"Disallow: a\nDisallow: /b\n" * 20)
    many = linted("--grouped", "--select", "path-without-slash", "long.txt")[1]
    assert "    long.txt:2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24 and 8 more\n" in many


def test_statistics_are_a_line_for_each_code() -> None:
    assert linted("--statistics", "robots.txt", "robots.txt") == (
        1,
        """       2  error     path-without-slash           1 file
       2  optimise  duplicate-rule               1 file  --fix fixes 2
       2  note      record-google-ignores        1 file
2 files: 2 errors, 2 improvements, 2 notes; --fix fixes 2
""",
    )


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("option", "is_shown"), [("--statistics", True), ("--grouped", True), ("--json", False)])
def test_a_long_run_shows_how_far_it_is_where_nothing_else_is_printed_yet(
    monkeypatch: pytest.MonkeyPatch, option: str, is_shown: bool
) -> None:
    seconds = itertools.count()
    monkeypatch.setattr("scrapy_rep.clock.clock.monotonic", lambda: float(next(seconds)))
    parser, out, err = ArgumentParser(), Terminal(), Terminal()
    monkeypatch.setattr(sys, "stderr", err)
    lint.add_arguments(parser)
    lint.run(parser.parse_args(["--isolated", option, "robots.txt", "clean.txt"]), None, out)
    assert ("1 file linted, " in err.getvalue()) is is_shown
    assert "linted" not in out.getvalue()


def test_annotations_are_commands_that_github_reads(given_here: Callable[[bytes], None]) -> None:
    given_here(b"User-agent: *\r\nDisallow: /100%, /b:c\r\n")
    code, out = linted("--github", "--select", "several-paths", "-")
    assert (code, out) == (
        1,
        "::error file=-,line=2,col=11,title=several-paths::"
        "Crawlers read /100%25, /b:c as one path. "
        "Write “Disallow: /100%25” and “Disallow: /b:c”; crawlers then obey each.\n",
    )
    assert linted("--github", "--select", "note", "robots.txt")[1].startswith(
        "::notice file=robots.txt,line=3,col=1"
    )


def test_what_is_safe_is_fixed_and_the_rest_is_told(folder: Path) -> None:
    code, out = linted("--fix", "robots.txt", "clean.txt")
    assert (folder / "robots.txt").read_bytes() == BODY.replace(b"Disallow: /a\nDisallow: /a\n", b"Disallow: /a\n")
    assert (folder / "clean.txt").read_bytes() == CLEAN
    assert code == 1
    assert "duplicate-rule" not in out
    assert out.endswith("\n2 files: 1 error, 1 note; 1 fixed\n")
    assert linted("--fix", "--select", "optimise", "robots.txt") == (0, "1 file: no findings\n")


def test_what_is_ignored_is_not_fixed(folder: Path) -> None:
    linted("--fix", "--ignore", "duplicate-rule", "robots.txt")
    assert (folder / "robots.txt").read_bytes() == BODY


def test_a_diff_shows_what_would_be_fixed_and_writes_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], given_here: Callable[[bytes], None]
) -> None:
    code, out = linted("--diff", "robots.txt", "clean.txt")
    assert (code, out) == (
        1,
        """--- robots.txt
+++ robots.txt
@@ -2,5 +2,4 @@
 Disallow: search
 Crawl-delay: 5
 Disallow: /a
-Disallow: /a
 Sitemap: https://www.example/sitemap.xml
""",
    )
    assert capsys.readouterr().err == "--fix would fix 1 finding\n"
    assert (folder / "robots.txt").read_bytes() == BODY
    given_here(b"User-agent: *\r\nDisallow: /\x1b[1m*\r\n")
    assert "+Disallow: /\\x1b[1m\n" in linted("--diff", "-")[1]
    assert linted("--diff", "clean.txt") == (0, "")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_cannot_be_written_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder.chmod(0o500)
    assert linted("--fix", "robots.txt")[0] == 2
    folder.chmod(0o700)
    assert "robots.txt: Permission denied" in capsys.readouterr().err


def test_a_comment_without_effect_is_told_beside_the_findings(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "clean.txt").write_bytes(CLEAN + b"# lint: ignore nosuch\n")
    assert linted("clean.txt")[0] == 0
    assert capsys.readouterr().err == "clean.txt:4: nosuch is not a lint code\n"


def test_the_page_of_a_code_is_printed() -> None:
    code, out = linted("--explain", "nul")
    assert code == 0
    assert out.startswith("nul: error: NUL character\n\n    lint(b")
    assert "\nA NUL character ends the line; crawlers ignore what follows. Remove it" in out


def test_a_command_of_its_own_does_the_same_without_scrapy(folder: Path) -> None:
    script = (
        "import sys; from scrapy_rep.tools.commands.lint import main; code = main(['robots.txt', '--json']);"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'scrapy', 'twisted'}), code)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    out = subprocess.check_output([sys.executable, "-c", script], text=True, env=environment)
    assert out == linted("robots.txt", "--json")[1] + "[] 1\n"


def test_a_command_of_its_own_fetches_urls_as_well(folder: Path) -> None:
    script = "import sys; from scrapy_rep.tools.commands.lint import main; sys.exit(main(sys.argv[1:]))"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    with Site() as site:
        site.answer("/robots.txt", robots(BODY.decode()))
        called = [sys.executable, "-c", script, "--isolated", "--statistics", site.origin]
        done = subprocess.run(called, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.endswith("\n1 file: 1 error, 1 improvement, 1 note; --fix fixes 1\n")
