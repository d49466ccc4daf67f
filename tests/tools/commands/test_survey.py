"""``scrapy robots survey``: a record of each site, and a report, whatever the sites do."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from scrapy_rep.tools import processes
from scrapy_rep.tools.commands import survey
from scrapy_rep.tools.survey import folder as survey_folder
from tests.support.command import command_here, robots_command, scrapy_process
from tests.support.site import Answer, Site, hang, raw, redirect, reset, robots

surveyed = partial(command_here, survey)


def records(folder: Path) -> dict[str, dict[str, Any]]:
    lines = (folder / "survey.jsonl").read_text("utf-8").splitlines()
    return {record["site"]: record for record in map(json.loads, lines)}


def without_progress(err: str) -> list[str]:
    """The lines on standard error, but not those on progress, which a slow machine has time for."""
    return [line for line in err.splitlines() if " per second" not in line]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of files: below it too, one hidden, two that cannot be read."""
    (tmp_path / "files" / "more").mkdir(parents=True)
    (tmp_path / "files" / "a.example").write_bytes(b"User-agent: *\nDisallow: /\n")
    (tmp_path / "files" / "more" / "b.example.txt").write_bytes(b"\xffno rules\n" * 100)
    (tmp_path / "files" / ".hidden").write_bytes(b"")
    (tmp_path / "files" / "broken").symlink_to("nowhere")
    os.mkfifo(tmp_path / "files" / "pipe")
    return tmp_path / "files"


def test_a_folder_is_read_file_by_file(folder: Path, tmp_path: Path) -> None:
    code, out = surveyed("--files", str(folder), "--out", str(tmp_path / "out"))
    assert (code, out) == (
        0, f"4 of 4 sites, 2 with a robots.txt, 2 unreachable\n{tmp_path / 'out' / 'survey.html'}\n"
    )  # fmt: skip
    found = records(tmp_path / "out")
    assert list(found) == ["a.example", "broken", "pipe", "more/b.example"]
    assert (found["a.example"]["disallow"], found["more/b.example"]["disallow"]) == (1, 0)
    assert found["broken"]["problem"] == "No such file or directory"
    assert found["pipe"]["problem"] == "not a regular file"
    assert "robots.txt of 4 sites" in (tmp_path / "out" / "survey.html").read_text("utf-8")


WITHOUT_JINJA2 = """
import sys
sys.modules["jinja2"] = None
from scrapy.cmdline import execute
execute(["scrapy", "robots", "survey", *sys.argv[1:]])
"""


def test_without_jinja2_it_names_what_to_install_before_it_asks_any_site(tmp_path: Path) -> None:
    with Site() as site:
        process = subprocess.run(
            [sys.executable, "-c", WITHOUT_JINJA2, site.origin],
            cwd=tmp_path, capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        assert site.log == []
    assert (process.returncode, process.stdout, process.stderr) == (
        2,
        b"",
        b"scrapy robots survey: Jinja2, which renders the report, is not installed:"
        b" pip install 'scrapy_rep[report]'\n",
    )
    assert list(tmp_path.iterdir()) == []


def test_several_processes_find_what_one_does(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(40):
        (folder / f"{number}.example").write_text(f"User-agent: *\nDisallow: /{number}\n")
    surveyed("--files", str(folder), "--out", str(tmp_path / "one"))
    monkeypatch.setattr(survey_folder, "_FILES_WORTH_PROCESSES", 1)
    monkeypatch.setattr(processes, "cores", lambda: 2)
    surveyed("--files", str(folder), "--out", str(tmp_path / "two"))
    assert records(tmp_path / "one") == records(tmp_path / "two")
    assert len(records(tmp_path / "two")) == 44


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--files", "nowhere"], "nowhere: No such file or directory"),
        (["--files", "FILE"], "FILE: Not a directory"),
        (["--from-file", "."], ".: Is a directory"),
        (["--from-file", "nowhere"], "nowhere: No such file or directory"),
        (["--from-file", "-"], "standard input is not a text file"),
        (["--files", ".", "a.example"], "do not name sites as well"),
        ([], "nothing to survey"),
        (["a.example", "--out", "FILE"], "FILE: File exists"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line_and_ends_it_with_2(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    arguments: list[str],
    problem: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("FILE").write_bytes(b"")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\x7fELF\2\1")))
    assert surveyed(*arguments) == (2, "")
    err = capsys.readouterr().err
    assert (problem in err, err.count("\n")) == (True, 1)


def test_sites_are_fetched_once_and_one_that_cannot_be_reached_is_a_record(tmp_path: Path) -> None:
    with Site([f"127.0.0.{number}" for number in range(1, 8)]) as site:
        good, moved, missing, dead, garbage, ill, slow = site.origins
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /x\n"), good)
        site.answer("/robots.txt", redirect(f"{good}/robots.txt"), moved)
        site.answer("/robots.txt", reset(), dead)
        site.answer("/robots.txt", Answer(body=b"\0\xff" * 300), garbage)
        site.answer("/robots.txt", raw(b"not HTTP\r\n\r\n"), ill)
        site.answer("/robots.txt", hang(), slow)
        (tmp_path / "list").write_text(
            "\n".join([f"1,{moved}/page", f"{missing}?x", "# none", *site.origins[3:], good])
        )
        code, out, err = robots_command(
            tmp_path, "survey", f"{good}/a", "--from-file", "list", "--out", "out",
            "-s", "REP_RETRY_TIMES=0", "-s", "REP_TIMEOUT=1",
        )  # fmt: skip
        assert site.count("/robots.txt", moved) == 1
    assert (code, out) == (0, "7 of 7 sites, 3 with a robots.txt, 3 unreachable\nout/survey.html\n")
    assert without_progress(err) == []
    found = records(tmp_path / "out")
    assert {name: found[name]["status"] for name in (good, moved, missing)} == {
        good: 200,
        moved: 200,
        missing: 404,
    }
    assert (found[moved]["url"], found[moved]["hops"]) == (f"{good}/robots.txt", [f"{good}/robots.txt"])
    assert all(found[name]["problem"] for name in (dead, ill, slow))
    assert (tmp_path / "out" / found[garbage]["file"]).read_bytes() == b"\0\xff" * 300
    assert len(list((tmp_path / "out" / "files").iterdir())) == 3


def test_lines_that_name_no_site_are_named_and_counted_apart(
    tmp_path: Path,
) -> None:
    (tmp_path / "list").write_text("# a list\nnot a url\n1,exa mple.com\n\nhttps://\n" + "x:y://\n" * 9)
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /x\n"))
        code, out, err = robots_command(tmp_path, "survey", site.origin, "http://", "--from-file", "list")
    assert (code, out) == (
        0, "1 of 1 sites, 1 with a robots.txt, 0 unreachable, 13 invalid\nrobots-survey/survey.html\n"
    )  # fmt: skip
    assert without_progress(err)[:4] == [
        "scrapy robots survey: http://: no host in 'http://'",
        "scrapy robots survey: list:2: not a url: no host contains ' '",
        "scrapy robots survey: list:3: exa mple.com: no host contains ' '",
        "scrapy robots survey: list:5: https://: no host in 'https://'",
    ]
    assert without_progress(err)[-1] == "scrapy robots survey: 3 more are invalid"
    assert list(records(tmp_path / "robots-survey")) == [site.origin]
    assert "robots.txt of 1 site<" in (tmp_path / "robots-survey" / "survey.html").read_text("utf-8")


def test_a_list_of_invalid_lines_alone_is_nothing_to_survey(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert surveyed("https://") == (2, "")
    assert capsys.readouterr().err.splitlines() == [
        "scrapy robots survey: https://: no host in 'https://'",
        "scrapy robots survey: nothing to survey: name sites, --from-file or --files",
    ]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (gzip.compress(b"User-agent: *\n", mtime=0), "a gzip file"),
        (b"WARC/1.0\r\n\r\nUser-agent: *\nDisallow: /\n", "a WARC file"),
        (b"\0" * 300, "a binary file"),
    ],
)
def test_a_binary_file_in_a_folder_is_named_and_counted_apart(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], *, body: bytes, kind: str
) -> None:
    (folder / "a.example").write_bytes(body)
    code, out = surveyed("--files", str(folder), "--out", str(tmp_path / "out"))
    assert (code, out.partition("\n")[0]) == (0, "3 of 3 sites, 1 with a robots.txt, 2 unreachable, 1 invalid")
    assert capsys.readouterr().err == f"scrapy robots survey: {folder}/a.example: {kind}, not plain text\n"
    assert "a.example" not in records(tmp_path / "out")


def test_many_sites_are_measured_in_other_processes_while_others_are_fetched(tmp_path: Path) -> None:
    with Site([f"127.0.0.{number}" for number in range(1, 103)]) as site:
        for number, origin in enumerate(site.origins):
            site.answer("/robots.txt", robots(f"User-agent: *\nDisallow: /{number}\n" * number), origin)
        (tmp_path / "list").write_text("\n".join(site.origins))
        code, out, err = robots_command(tmp_path, "survey", "--from-file", "list", "--out", "out")
    assert (code, out) == (0, "102 of 102 sites, 102 with a robots.txt, 0 unreachable\nout/survey.html\n")
    assert without_progress(err) == []
    found = records(tmp_path / "out")
    assert [found[origin]["disallow"] for origin in site.origins] == [*range(102)]


def test_ctrl_c_leaves_records_and_a_report_of_what_has_come(tmp_path: Path) -> None:
    with Site(["127.0.0.1", "127.0.0.2", "127.0.0.3"]) as site:
        good, slow, last = site.origins
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /x\n"), good)
        site.answer("/robots.txt", hang(), slow)
        settings = ("-s", "REP_TIMEOUT=20", "-s", "CONCURRENT_REQUESTS=1")
        with scrapy_process("robots", "survey", *site.origins, *settings, folder=tmp_path) as process:
            until = monotonic() + 30
            while not site.count("/robots.txt", slow) and monotonic() < until:
                sleep(0.02)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
        assert site.count("/robots.txt", last) == 0
    assert (process.returncode, without_progress(err.decode())) == (2, [])
    assert out.startswith(b"1 of 3 sites, 1 with a robots.txt, 0 unreachable\n")
    assert list(records(tmp_path / "robots-survey")) == [good]
    page = (tmp_path / "robots-survey" / "survey.html").read_text("utf-8")
    assert "robots.txt of 1 of 3 sites" in page
    assert "The survey was interrupted: 2 sites are missing." in page


def test_a_folder_that_holds_a_survey_is_refused_and_left_alone(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    surveyed("--files", str(folder), "--out", str(out))
    before = {path: path.read_bytes() for path in out.iterdir()}
    code, _, err = robots_command(tmp_path, "survey", "--files", str(folder), "--out", "out")
    assert (code, err) == (
        2,
        "scrapy robots survey: out contains a survey: --resume continues it, --overwrite replaces it,"
        " --out names another folder\n",
    )
    assert {path: path.read_bytes() for path in out.iterdir()} == before


def test_overwrite_replaces_a_survey(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    surveyed("--files", str(folder), "--out", str(out))
    (folder / "broken").unlink()
    assert surveyed("--files", str(folder), "--out", str(out), "--overwrite")[1].startswith("3 of 3 sites")
    assert list(records(out)) == ["a.example", "pipe", "more/b.example"]


def test_resume_goes_on_behind_the_last_whole_record(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    surveyed("--files", str(folder), "--out", str(out))
    whole, file = records(out), out / "survey.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0] + lines[1] + lines[2][:20])
    code, told = surveyed("--files", str(folder), "--out", str(out), "--resume")
    assert (code, told.startswith("4 of 4 sites, 2 with a robots.txt, 2 unreachable\n")) == (0, True)
    assert records(out) == whole
    assert "<h1>robots.txt of 4 sites</h1>" in (out / "survey.html").read_text("utf-8")


def test_resume_asks_no_site_again_that_has_a_record(tmp_path: Path) -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        first, second = site.origins
        assert robots_command(tmp_path, "survey", first, "no host://", "--resume")[0] == 0
        code, out, _ = robots_command(tmp_path, "survey", first, second, "no host://", "--resume")
        assert (code, out.partition("\n")[0]) == (0, "2 of 2 sites, 0 with a robots.txt, 0 unreachable, 1 invalid")
        assert site.count("/robots.txt", first) == 1
    assert list(records(tmp_path / "robots-survey")) == [first, second]


def test_resume_refuses_what_is_no_survey(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "survey.jsonl").write_text('{"name": 5}\n')
    code, _, err = robots_command(tmp_path, "survey", "--files", "files", "--out", ".", "--resume")
    assert code == 2
    assert err.startswith("scrapy robots survey: survey.jsonl: line 1 is not a survey record: ")
    assert (tmp_path / "survey.jsonl").read_text() == '{"name": 5}\n'


def test_compare_says_who_newly_shuts_out_whom(folder: Path, tmp_path: Path) -> None:
    surveyed("--files", str(folder), "--out", str(tmp_path / "old"))
    (folder / "a.example").write_bytes(b"User-agent: *\nAllow: /\nUser-agent: GPTBot\nDisallow: /\n")
    (folder / "more" / "b.example.txt").write_bytes(b"User-agent: CCBot\nDisallow: /\n")
    surveyed("--files", str(folder), "--out", str(tmp_path / "new"))
    page = tmp_path / "new" / "compare.html"
    assert surveyed("--compare", str(tmp_path / "old"), str(tmp_path / "new")) == (
        0, f"4 sites in both surveys, 2 changed, 1 newly shut out a crawler, 1 no longer shut one out\n{page}\n"
    )  # fmt: skip
    assert "robots.txt of 4 sites, before and now" in page.read_text("utf-8")
    assert (
        surveyed("--compare", str(tmp_path / "old"), str(tmp_path / "new"), "--out", str(tmp_path / "x"))[0] == 0
    )
    assert (tmp_path / "x" / "compare.html").exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--compare", "nowhere", "."], "nowhere/survey.jsonl: No such file or directory"),
        (["--compare", "bad", "bad"], "bad/survey.jsonl: line 1 is not a survey record"),
        (["--compare", "a", "b", "--csv"], "--compare takes two folders: the only other option is --out"),
        (["--compare", "a", "b", "c.example"], "--compare takes two folders: the only other option is --out"),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    arguments: list[str],
    problem: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad").mkdir()
    Path("bad", "survey.jsonl").write_text('{"name": 5}\n')
    assert surveyed(*arguments) == (2, "")
    err = capsys.readouterr().err
    assert (problem in err, err.count("\n")) == (True, 1)


def test_records_become_a_table_too(folder: Path, tmp_path: Path) -> None:
    assert surveyed("--files", str(folder), "--out", str(tmp_path / "out"), "--csv")[0] == 0
    assert (tmp_path / "out" / "survey.csv").read_text("utf-8").count("\n") == 5
    assert not (tmp_path / "out" / "survey.parquet").exists()


def test_without_pyarrow_parquet_is_refused_before_any_site_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(survey, "can_write_parquet", lambda: False)
    assert surveyed("a.example", "--out", str(tmp_path / "out"), "--parquet") == (2, "")
    assert (
        "pyarrow, which writes Parquet, is not installed: pip install 'scrapy_rep[parquet]'"
        in capsys.readouterr().err
    )
    assert not (tmp_path / "out").exists()
