"""``scrapy robots diff``: which URLs change their verdict, and by which rules."""

from __future__ import annotations

import gzip
import json
import re
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from scrapy_rep.tools.commands import diff
from tests.support.command import command_here, robots_command, scrapy_process
from tests.support.site import Answer, Site, robots

OLD = b"User-agent: *\nDisallow: /a\nDisallow: /*.pdf$\n"
NEW = b"""User-agent: *
Allow: /a
Disallow: /*.pdf$
Disallow: /b

User-agent: ExampleBot
Disallow: /
"""


TWO_DIALECTS = ("--dialect", "1994", "--dialect", "google")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old").write_bytes(OLD)
    (tmp_path / "new").write_bytes(NEW)
    (tmp_path / "urls").write_text("https://example.com/a/1\n\nhttps://example.com/b\n/c\n/x.pdf\n")
    return tmp_path


compared = partial(command_here, diff)


def test_each_url_that_changes_is_told_with_the_rules_on_both_sides() -> None:
    assert compared("old", "new", "--urls", "urls") == (
        1,
        """https://example.com/a/1  (*)
    - disallowed by line 2, Disallow: /a
    + allowed by line 2, Allow: /a
https://example.com/b  (*)
    - allowed: no rule
    + disallowed by line 4, Disallow: /b
2 of 4 URLs change: 1 newly disallowed, 1 newly allowed
""",
    )


def test_nothing_changes_between_a_file_and_itself() -> None:
    assert compared("new", "new", "--urls", "urls") == (
        0,
        "0 of 4 URLs change: 0 newly disallowed, 0 newly allowed\n",
    )


def test_another_rule_with_the_same_verdict_is_no_change(folder: Path) -> None:
    (folder / "new").write_bytes(OLD + b"Disallow: /a/1\n")
    assert compared("old", "new", "--urls", "urls")[0] == 0


def test_agents_are_asked_one_by_one_by_token_or_header() -> None:
    code, out = compared(
        "old",
        "new",
        "--urls",
        "urls",
        "--json",
        "--agent",
        "ExampleBot/2.0 (+https://example.com)",
        "--agent",
        "*",
    )
    changes = list(map(json.loads, out.splitlines()))
    assert (code, [(one["url"], one["agent"]) for one in changes]) == (
        1,
        [
            ("https://example.com/a/1", "*"),
            ("https://example.com/b", "ExampleBot"),
            ("https://example.com/b", "*"),
            ("/c", "ExampleBot"),
        ],
    )
    assert changes[3] == {
        "url": "/c",
        "agent": "ExampleBot",
        "old": {"dialect": "google", "allowed": True, "line": None, "rule": None, "reason": "no rule"},
        "new": {"dialect": "google", "allowed": False, "line": 7, "rule": "Disallow: /", "reason": "rule"},
    }


def test_many_agents_are_no_problem() -> None:
    agents = [argument for number in range(40) for argument in ("--agent", f"a{number}")]
    assert compared("old", "new", "--urls", "urls", *agents)[1].endswith(
        "2 of 4 URLs change: 40 newly disallowed, 40 newly allowed\n"
    )


def test_without_urls_paths_are_made_of_the_rules_and_that_is_said() -> None:
    code, out = compared("old", "new")
    assert code == 1
    assert out.splitlines()[0] == "/a  (*)"
    assert "/b  (*)\n    - allowed: no rule\n    + disallowed by line 4, Disallow: /b\n" in out
    assert ".pdf" not in out
    assert " paths built from the rules change: " in out.splitlines()[-1]


def test_of_very_many_rules_with_wildcards_a_sample_is_asked_and_that_is_said(folder: Path) -> None:
    rules = "".join(f"Disallow: /z*b*c*d{number}\n" for number in range(1_000))
    (folder / "new").write_text(f"User-agent: *\n{rules}")
    code, out = compared("old", "new")
    assert code == 1
    assert re.search(r"of \d{3} paths, a sample of 4,\d{3} built from the rules, change: ", out)


@pytest.mark.parametrize("rule", ["/a", "/*?x=", "*.php$", "//cdn/", "/%7Ea b/*/é", "/$", "/a$b", "/x/index.html"])
def test_a_rule_alone_is_found_by_the_paths_made_of_it(folder: Path, rule: str) -> None:
    (folder / "old").write_text("User-agent: *\nDisallow: /nothing\n")
    (folder / "new").write_text(f"User-agent: *\nDisallow: {rule}\n")
    assert compared("old", "new")[0] == 1
    assert f", Disallow: {rule}\n" in compared("old", "new")[1]


def test_an_end_that_was_added_is_found_by_the_paths_made_of_the_rules(folder: Path) -> None:
    (folder / "old").write_text("User-agent: *\nDisallow: /a\n")
    (folder / "new").write_text("User-agent: *\nDisallow: /a$\n")
    assert compared("old", "new")[1].startswith("/ax  (*)\n")


def test_either_file_or_the_urls_may_come_from_standard_input(given_here: Callable[[bytes], None]) -> None:
    given_here(NEW)
    assert compared("old", "-", "--urls", "urls")[0] == 1
    given_here(b"/a\n/b\n/c")
    assert compared("old", "new", "--urls", "-")[1].startswith("/a  (*)\n")


def test_the_dialect_and_the_size_are_those_of_the_settings() -> None:
    assert compared("old", "new", "--urls", "urls", REP_MAX_SIZE=13)[0] == 0
    (Path("urls")).write_text("/robots.txt")
    bot = ("--agent", "ExampleBot")
    assert compared("old", "new", "--urls", "urls", *bot)[0] == 0
    assert compared("old", "new", "--urls", "urls", *bot, REP_DIALECT="google-exact")[0] == 1


def test_one_file_is_compared_between_two_dialects_with_the_rules_of_both() -> None:
    assert compared("old", "--urls", "urls", "--dialect", "1994", "--dialect", "google") == (
        1,
        """/x.pdf  (*)
    - 1994: allowed: no rule
    + google: disallowed by line 3, Disallow: /*.pdf$
1 of 4 URLs differ: 1 allowed by 1994 alone, 0 by google alone
""",
    )
    (change,) = json.loads(f"[{compared('old', '--urls', 'urls', '--json', *TWO_DIALECTS)[1]}]")
    assert (change["old"]["dialect"], change["new"]["dialect"]) == ("1994", "google")


def test_without_urls_the_paths_are_made_of_the_rules_as_both_dialects_read_them() -> None:
    out = compared("old", *TWO_DIALECTS)[1]
    assert (
        "/*.pdf$  (*)\n    - 1994: disallowed by line 3, Disallow: /*.pdf$\n    + google: allowed: no rule\n"
        in out
    )
    assert "/.pdf  (*)\n    - 1994: allowed: no rule\n    + google: disallowed by line 3" in out
    assert " paths built from the rules differ: " in out.splitlines()[-1]


def test_a_folder_is_asked_about_without_its_slash_where_that_matters(folder: Path) -> None:
    (folder / "old").write_text("User-agent: *\nDisallow: /data/\n")
    code, out = compared("old", "--dialect", "google", "--dialect", "geoportal-first")
    assert (code, out.splitlines()[0]) == (1, "/data  (*)")


def test_with_two_files_each_is_read_in_its_dialect() -> None:
    assert compared("new", "new", "--urls", "urls", "--dialect", "1994")[0] == 0
    code, out = compared("new", "old", "--urls", "urls", *TWO_DIALECTS)
    assert (code, out.splitlines()[-1]) == (1, "3 of 4 URLs differ: 2 allowed by 1994 alone, 1 by google alone")


def test_one_file_is_read_from_standard_input_once(given_here: Callable[[bytes], None]) -> None:
    given_here(OLD)
    assert compared("-", "--urls", "urls", *TWO_DIALECTS)[0] == 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["old"], "name a second robots.txt to compare with, or two dialects (--dialect A --dialect B)"),
        (["old", "--dialect", "1994"], "name a second robots.txt to compare with, or two dialects"),
        (["old", "new", *["--dialect", "1994"] * 3], "--dialect: 3 dialects for two files; name two at most"),
    ],
)
def test_what_cannot_be_compared_says_what_to_name(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compared(*arguments) == (2, "")
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "given", "problem"),
    [
        (["old", "nosuch"], b"", "nosuch: No such file or directory (a URL starts with https://)"),
        ([".", "new"], b"", ".: Is a directory: name the files in it"),
        (["-", "-"], b"", "standard input can be read only once"),
        (["-", "new", "--urls", "-"], b"", "standard input can be read only once"),
        (["old", "new", "--urls", "nosuch"], b"", "nosuch: No such file or directory"),
        (["old", "new", "--urls", "-"], b"\n \n", "standard input contains no URL"),
        (["old", "new", "--urls", "-"], b"\x7fELF\2\1", "standard input is not a text file"),
        (["old", "new", "--agent", "(!)"], b"", "'(!)' contains no product token: write one such as ExampleBot"),
        (["old", "s3://bucket/robots.txt"], b"", "no robots.txt speaks for the scheme of"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line_and_ends_it_with_2(
    capsys: pytest.CaptureFixture[str],
    given_here: Callable[[bytes], None],
    arguments: list[str],
    given: bytes,
    problem: str,
) -> None:
    given_here(given)
    assert compared(*arguments)[0] == 2
    err = capsys.readouterr().err
    assert problem in err
    assert err.count("\n") == 1


def test_a_terminal_is_told_what_changes_without_what_it_would_obey(folder: Path) -> None:
    (folder / "new").write_bytes(b"User-agent: *\nDisallow: /\x1b[31m\n")
    (folder / "urls").write_text("/%1B[31m\n")
    _, out = compared("old", "new", "--urls", "urls")
    assert "Disallow: /\\x1b[31m\n" in out


def _sitemap(*urls: str) -> bytes:
    entries = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'.encode()


def test_urls_come_from_the_sitemaps_that_the_new_file_names(folder: Path) -> None:
    with Site() as site:
        site.answer(
            "/robots.txt", robots(NEW.decode() + "Sitemap: /index.xml\nSitemap: /plain.xml\nSitemap: /no.xml\n")
        )
        entries = "".join(f"<sitemap><loc>{path}</loc></sitemap>" for path in ("/deep.xml.gz", "/index.xml"))
        index = f"<sitemapindex>{entries}</sitemapindex>"
        site.answer("/index.xml", Answer(body=index.encode()))
        site.answer("/plain.xml", Answer(body=_sitemap("http://[bad", f"{site.origin}/b/1", f"{site.origin}/c")))
        site.answer("/deep.xml.gz", Answer(body=gzip.compress(_sitemap(f"{site.origin}/a/1"))))
        site.answer("/no.xml", Answer(body=b"no page", status=404))
        code, out, err = robots_command(folder, "diff", "old", site.origin, "--sitemap")
    problems = ["/plain.xml: http://[bad: Invalid IPv6 URL", "/no.xml: status 404"]
    assert (code, sorted(err.splitlines())) == (
        2,
        sorted(f"scrapy robots diff: error: {site.origin}{problem}" for problem in problems),
    )
    assert [line for line in out.splitlines() if line.startswith("http")] == [
        f"{site.origin}/b/1  (*)",
        f"{site.origin}/a/1  (*)",
    ]
    assert out.endswith("2 of 3 URLs change: 1 newly disallowed, 1 newly allowed\n")


def test_in_a_project_with_the_add_on_sitemaps_are_fetched_as_robots_txt_says(folder: Path) -> None:
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = project_settings\n")
    (folder / "project_settings.py").write_text('ADDONS = {"scrapy_rep.Addon": 300}\n')
    with Site() as site:
        lines = "".join(f"Sitemap: /{name}.xml\n" for name in ("1", "2", "3", "private"))
        site.answer("/robots.txt", robots(f"User-agent: *\nCrawl-delay: 0.5\nDisallow: /private\n{lines}"))
        for number in range(1, 4):
            site.answer(f"/{number}.xml", Answer(body=_sitemap(f"{site.origin}/{number}")))
        code, out, err = robots_command(folder, "diff", "old", site.origin, "--sitemap")
        times = [arrival.time for arrival in site.log]
        why = "Forbidden by robots.txt (line 3, Disallow: /private)"
        assert (code, err) == (2, f"scrapy robots diff: error: {site.origin}/private.xml: {why}\n")
    assert out.endswith("0 of 3 URLs change: 0 newly disallowed, 0 newly allowed\n")
    assert times[-1] - times[0] > 1.4  # robots.txt and three sitemaps


def test_robots_txt_files_are_fetched_and_a_missing_one_allows_everything(folder: Path) -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        first, second = site.origins
        site.answer("/robots.txt", robots(OLD.decode()), first)
        site.answer("/robots.txt", Answer(body=b"User-agent: *\nDisallow: /", status=404), second)
        code, out, err = robots_command(folder, "diff", first, second, "--urls", "urls")
    assert (code, err) == (1, "")
    assert out.endswith("2 of 4 URLs change: 0 newly disallowed, 2 newly allowed\n")


@pytest.fixture
def many(folder: Path) -> str:
    """More URLs than a pipe holds changes of."""
    (folder / "many").write_bytes(b"".join(b"/a/%d\n" % number for number in range(200_000)))
    return "many"


def test_ctrl_c_leaves_what_was_printed(folder: Path, many: str) -> None:
    with scrapy_process("robots", "diff", "old", "new", "--urls", many, folder=folder) as process:
        assert process.stdout
        assert process.stdout.readline() == b"/a/0  (*)\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (2, b"")
    assert b" change: " not in out


def test_a_closed_pipe_is_quiet(folder: Path, many: str) -> None:
    with scrapy_process("robots", "diff", "old", "new", "--urls", many, folder=folder) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 2
