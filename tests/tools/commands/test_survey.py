"""``scrapy robots survey``: a row for each site, and a report, whatever the sites do."""

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

from scrapy_rep.census.arrow import rows_in
from scrapy_rep.tools import processes
from scrapy_rep.tools.commands import survey
from tests.census.archives import archive
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
    (tmp_path / "files" / "more" / "b.example.txt").write_bytes(b"# \xffno rules\n" * 100)
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
    assert list(found) == ["https://a.example", "broken", "pipe", "https://b.example"]
    assert (found["https://a.example"]["disallow"], found["https://b.example"]["disallow"]) == (1, 0)
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
        b"scrapy robots survey: error: Jinja2, which renders the report, is not installed:"
        b" pip install 'scrapy_rep[report]'\n",
    )
    assert list(tmp_path.iterdir()) == []


def test_several_processes_find_what_one_does(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(40):
        (folder / f"{number}.example").write_text(f"User-agent: *\nDisallow: /{number}\n")
    surveyed("--files", str(folder), "--out", str(tmp_path / "one"))
    monkeypatch.setattr(survey, "WORTH_PROCESSES", 1)
    monkeypatch.setattr(processes, "cores", lambda: 2)
    surveyed("--files", str(folder), "--out", str(tmp_path / "two"))
    assert records(tmp_path / "one") == records(tmp_path / "two")
    assert len(records(tmp_path / "two")) == 44


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--files", "nowhere"], "nowhere: No such file or directory"),
        (["--files", "FILE"], "FILE: an empty file, not a folder"),
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
    assert (code, out) == (0, "7 of 7 sites, 2 with a robots.txt, 3 unreachable\nout/survey.html\n")
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
        "scrapy robots survey: error: http://: no host in 'http://'",
        "scrapy robots survey: error: list:2: not a url: no host contains ' '",
        "scrapy robots survey: error: list:3: exa mple.com: no host contains ' '",
        "scrapy robots survey: error: list:5: https://: no host in 'https://'",
    ]
    assert without_progress(err)[-1] == "scrapy robots survey: error: 3 more are invalid"
    assert list(records(tmp_path / "robots-survey")) == [site.origin]
    assert "robots.txt of 1 site<" in (tmp_path / "robots-survey" / "survey.html").read_text("utf-8")


def test_a_list_of_invalid_lines_alone_is_nothing_to_survey(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert surveyed("https://") == (2, "")
    assert capsys.readouterr().err.splitlines() == [
        "scrapy robots survey: error: https://: no host in 'https://'",
        "scrapy robots survey: error: nothing to survey: no site is named, and no robots.txt is in what was read",
    ]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (gzip.compress(b"User-agent: *\n", mtime=0), "a gzip file, not plain text; unpack it first"),
        (
            b"WARC/1.0\r\n\r\nUser-agent: *\nDisallow: /\n",
            "a WARC file, not plain text; scrapy robots survey --warc reads it",
        ),
    ],
)
def test_an_archive_in_a_folder_is_named_and_counted_apart(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], *, body: bytes, kind: str
) -> None:
    (folder / "a.example").write_bytes(body)
    code, out = surveyed("--files", str(folder), "--out", str(tmp_path / "out"))
    assert (code, out.partition("\n")[0]) == (0, "3 of 3 sites, 1 with a robots.txt, 2 unreachable, 1 invalid")
    assert capsys.readouterr().err == f"scrapy robots survey: error: {folder}/a.example: {kind}\n"
    assert "https://a.example" not in records(tmp_path / "out")


def test_an_image_in_a_folder_is_a_row_as_it_is_in_an_archive(folder: Path, tmp_path: Path) -> None:
    (folder / "a.example").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 300)
    assert surveyed("--files", str(folder), "--out", str(tmp_path / "out"))[1].startswith("4 of 4 sites, 1 with a")
    assert records(tmp_path / "out")["https://a.example"]["disallow"] == 0


# Captures

NOON = "2026-11-24T12:00:00Z"


def archived(path: Path, *captures: tuple[str, str, bytes]) -> str:
    """A WARC file at *path* with a response for each (host, date, body)."""
    with archive(path) as to:
        for host, date, body in captures:
            to.add(f"https://{host}/robots.txt", body, WARC_Date=date)
    return str(path)


CLOSED, OPEN = b"User-agent: *\nDisallow: /\n", b"User-agent: *\nDisallow:\n"


@pytest.fixture
def warc(tmp_path: Path) -> str:
    return archived(
        tmp_path / "a.warc.gz",
        ("a.example", "2026-01-02T00:00:00Z", CLOSED),
        ("b.example", NOON, OPEN),
        ("a.example", "2025-01-01T00:00:00Z", OPEN),
    )


def test_of_the_captures_in_warc_files_the_newest_of_each_site_counts(warc: str, tmp_path: Path) -> None:
    code, out = surveyed("--warc", warc, "--out", str(tmp_path / "out"))
    assert (code, out.partition("\n")[0]) == (0, "2 of 2 sites, 2 with a robots.txt, 0 unreachable")
    found = records(tmp_path / "out")
    assert (found["https://a.example"]["fetched_at"], found["https://a.example"]["restriction"]["*"]) == (
        "2026-01-02T00:00:00+00:00", "all",
    )  # fmt: skip


def test_light_rows_have_no_findings(warc: str, tmp_path: Path) -> None:
    code, out = surveyed("--warc", warc, "--light", "--out", str(tmp_path / "out"))
    assert (code, out.startswith("2 of 2 sites")) == (0, True)
    assert [row["findings"] for row in records(tmp_path / "out").values()] == [None, None]


def test_captures_are_the_rows_that_files_are(tmp_path: Path) -> None:
    folder = tmp_path / NOON[:10]
    folder.mkdir()
    bodies = {
        "a.example": CLOSED,
        "b.example": b"\xff\0" * 50,
        "c.example": b"User-agent: GPTBot\nDisallow: x\n" * 9,
    }
    for host, body in bodies.items():
        (folder / host).write_bytes(body)
    surveyed("--files", str(folder), "--out", str(tmp_path / "1"))
    path = archived(
        tmp_path / "a.warc", *((host, f"{NOON[:10]}T00:00:00Z", body) for host, body in bodies.items())
    )
    surveyed("--warc", path, "--out", str(tmp_path / "2"))
    of_files, of_captures = (records(tmp_path / name) for name in "12")
    for row in of_captures.values():
        assert (row.pop("status"), row.pop("file")) == (200, None)
    for row in of_files.values():
        del row["status"], row["file"]
    assert of_files == of_captures


def test_a_list_says_which_captures_count_and_what_is_known_of_them(warc: str, tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text("rank,host,sector\n7,a.example,news\n8,c.example,\n")
    code, out = surveyed("--warc", warc, "--from-file", str(tmp_path / "list.csv"), "--out", str(tmp_path / "out"))
    assert (code, out.startswith("1 of 1 sites")) == (0, True)
    assert records(tmp_path / "out")["https://a.example"]["strata"] == {"rank": "7", "sector": "news"}


def test_the_rows_in_parquet_make_the_report_that_their_captures_made(warc: str, tmp_path: Path) -> None:
    surveyed("--warc", warc, "--parquet", "--out", str(tmp_path / "1"))
    code, out = surveyed("--rows", str(tmp_path / "1" / "survey.parquet"), "--out", str(tmp_path / "2"))
    assert (code, out.startswith("2 of 2 sites, 2 with a robots.txt")) == (0, True)
    first, second = ((tmp_path / name / "survey.jsonl").read_text() for name in "12")
    assert first == second


def test_surveys_in_parquet_are_compared_each_folder_of_a_crawl(warc: str, tmp_path: Path) -> None:
    later = archived(tmp_path / "b.warc", ("a.example", "2027-01-01T00:00:00Z", OPEN))
    for number, path in enumerate([warc, later]):
        (tmp_path / "census" / f"crawl={number}").mkdir(parents=True)
        surveyed("--warc", path, "--light", "--parquet", "--out", str(tmp_path / str(number)))
        (tmp_path / str(number) / "survey.parquet").rename(tmp_path / "census" / f"crawl={number}" / "a.parquet")
    code, out = surveyed("--compare", str(tmp_path / "census"), "--out", str(tmp_path / "out"))
    assert (code, out.splitlines()) == (0, [
        "1 site in every survey, 1 changed, 0 newly close everything to a crawler, 1 no longer do",
        str(tmp_path / "out" / "compare.html"), str(tmp_path / "out" / "compare.csv"),
    ])  # fmt: skip


def test_records_that_cannot_be_read_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = archived(tmp_path / "a.warc", ("a.example", NOON, OPEN), ("b.example", "yesterday", OPEN))
    assert surveyed("--warc", path, "--out", str(tmp_path / "out"))[1].startswith("1 of 1 sites")
    assert "scrapy robots survey: error: 1 record of a robots.txt cannot be read\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("fastwarc", ["--warc", "a"]), ("pyarrow", ["--rows", "a"])],
)
def test_a_library_that_is_missing_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, name: str, arguments: list[str]
) -> None:
    for module in [module for module in sys.modules if module.startswith(("scrapy_rep.census.", name))]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)
    for each in ("warc", "arrow"):
        monkeypatch.delattr(f"scrapy_rep.census.{each}", raising=False)
    assert surveyed(*arguments, "--out", "out")[0] == 2
    assert "is not installed: pip install 'scrapy_rep[" in capsys.readouterr().err


def test_resume_measures_the_captures_that_are_left(warc: str, tmp_path: Path) -> None:
    surveyed("--warc", warc, "--out", str(tmp_path / "out"))
    more = archived(tmp_path / "b.warc", ("c.example", NOON, OPEN))
    assert surveyed("--warc", warc, more, "--out", str(tmp_path / "out"), "--resume")[1].startswith("3 of 3 sites")
    assert list(records(tmp_path / "out")) == ["https://a.example", "https://b.example", "https://c.example"]


def test_of_a_damaged_file_what_comes_before_counts_and_the_next_one_follows(
    warc: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = [
        archived(tmp_path / name, (f"{name}1.example", NOON, OPEN), (f"{name}2.example", NOON, OPEN))
        for name in "cd"
    ]
    for path in map(Path, damaged):
        path.write_bytes(path.read_bytes()[:-10])
    code, out = surveyed("--warc", *damaged, warc, "--out", str(tmp_path / "out"))
    assert (code, out.startswith("4 of 4 sites")) == (2, True)
    err = capsys.readouterr().err
    assert all(f"{path}: cut off or damaged" in err for path in damaged)
    assert [name[8:10] for name in records(tmp_path / "out")] == ["c1", "d1", "a.", "b."]
    assert (tmp_path / "out" / "survey.html").exists()


@pytest.mark.parametrize(
    ("missing", "problem"),
    [
        ("gone.warc", "gone.warc: No such file or directory"),
        ("s3://a/b.warc", "s3://a/b.warc: a URL; download it first"),
    ],
)
def test_a_file_that_is_missing_is_told_before_any_is_read(
    warc: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    missing: str,
    problem: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert surveyed("--warc", warc, missing, "--out", "out")[0] == 2
    assert capsys.readouterr().err == f"scrapy robots survey: error: {problem}\n"
    assert not (tmp_path / "out").exists()


def test_ctrl_c_while_the_report_is_made_keeps_the_rows(
    warc: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> str:
        raise KeyboardInterrupt

    arguments = ("--warc", warc, "--out", str(tmp_path / "out"))
    with monkeypatch.context() as patch:
        patch.setattr("scrapy_rep.tools.survey.report.report", interrupted)
        assert surveyed(*arguments)[0] == 2
    assert "interrupted before there was a report; --resume continues it" in capsys.readouterr().err
    assert surveyed(*arguments, "--resume")[1].startswith("2 of 2 sites")


def test_a_file_that_is_damaged_before_the_first_capture_is_named(
    warc: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(warc).write_bytes(Path(warc).read_bytes()[:100])
    assert surveyed("--warc", warc, "--out", str(tmp_path / "out"))[0] == 2
    assert "a.warc.gz: " in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ["--warc", "a.txt"],
            "a.txt: a text file, not a WARC file; scrapy robots survey --files reads",
        ),
        (
            ["--rows", "a.warc.gz"],
            "a gzip-compressed WARC file, not a Parquet file; scrapy robots survey",
        ),
        (
            ["--files", "a.warc.gz"],
            "a gzip-compressed WARC file, not a folder; scrapy robots survey --warc",
        ),
        (["--rows", "x", "--light"], "omit --light"),
        (["--rows", "a.txt"], "a.txt: a text file, not a Parquet file"),
    ],
)
def test_a_file_in_the_wrong_place_is_named_with_the_option_that_reads_it(
    warc: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    arguments: list[str],
    problem: str,
) -> None:
    assert warc
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_bytes(OPEN)
    assert surveyed(*arguments, "--out", "out")[0] == 2
    assert problem in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


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
        "scrapy robots survey: error: out contains a survey: --resume continues it, --overwrite replaces it,"
        " --out names another folder\n",
    )
    assert {path: path.read_bytes() for path in out.iterdir()} == before


def test_overwrite_replaces_a_survey(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    surveyed("--files", str(folder), "--out", str(out))
    (folder / "broken").unlink()
    assert surveyed("--files", str(folder), "--out", str(out), "--overwrite")[1].startswith("3 of 3 sites")
    assert list(records(out)) == ["https://a.example", "pipe", "https://b.example"]


def test_two_files_of_one_site_count_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "files").mkdir()
    for name in ("Facebook.com", "facebook.com", "facebook.com.txt", "other.example"):
        (tmp_path / "files" / name).write_bytes(b"User-agent: *\nDisallow: /" + name.encode())
    code, out = surveyed("--files", str(tmp_path / "files"), "--out", str(tmp_path / "one"))
    assert (code, out.partition("\n")[0]) == (0, "2 of 2 sites, 2 with a robots.txt, 0 unreachable, 2 invalid")
    assert "/facebook.com: https://facebook.com has another file, which counts\n" in capsys.readouterr().err
    assert list(records(tmp_path / "one")) == ["https://facebook.com", "https://other.example"]


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
    assert err.startswith("scrapy robots survey: error: survey.jsonl: line 1 is not a row of a survey: ")
    assert (tmp_path / "survey.jsonl").read_text() == '{"name": 5}\n'


def test_compare_says_who_newly_shuts_out_whom(folder: Path, tmp_path: Path) -> None:
    surveyed("--files", str(folder), "--out", str(tmp_path / "old"))
    (folder / "a.example").write_bytes(b"User-agent: *\nAllow: /\nUser-agent: GPTBot\nDisallow: /\n")
    (folder / "more" / "b.example.txt").write_bytes(b"User-agent: CCBot\nDisallow: /\n")
    surveyed("--files", str(folder), "--out", str(tmp_path / "new"))
    page = tmp_path / "out" / "compare.html"
    code, out = surveyed("--compare", str(tmp_path / "old"), str(tmp_path / "new"), "--out", str(page.parent))
    assert (code, out.splitlines()) == (0, [
        "4 sites in every survey, 2 changed, 1 newly close everything to a crawler, 1 no longer do",
        str(page), str(page.with_suffix(".csv")),
    ])  # fmt: skip
    assert "<h1>robots.txt of 4 sites" in page.read_text("utf-8")


@pytest.fixture
def dates(tmp_path: Path) -> Path:
    """Three dates, two as folders and one as an archive, and a name without a date."""
    files = {"2026-01-04/a.example": OPEN, "2026-01-04/b.example": OPEN, "2026-01-11/a.example": OPEN, "x": OPEN}
    for name, body in {**files, "2026-01-11/b.example": CLOSED, "2026-01-11/new.example": OPEN}.items():
        (tmp_path / "dates" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "dates" / name).write_bytes(body)
    captures = [("a.example", CLOSED), ("b.example", CLOSED)]
    archived(tmp_path / "dates" / "at-2026-01-18.warc.gz", *((host, NOON, body) for host, body in captures))
    return tmp_path / "dates"


def test_many_dates_are_read_by_one_command_and_compared(dates: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code, text = surveyed("--dates", str(dates), "--light", "--csv", "--parquet", "--out", str(out))
    assert (code, text.partition(",")[0]) == (0, "2 sites in every survey")
    rows = [json.loads(line) for line in (out / "survey.jsonl").read_text("utf-8").splitlines()]
    assert [(row["date"], row["site"].removeprefix("https://")) for row in rows] == [
        ("2026-01-04", "a.example"), ("2026-01-04", "b.example"), ("2026-01-11", "a.example"),
        ("2026-01-11", "b.example"), ("2026-01-11", "new.example"), ("2026-01-18", "a.example"),
        ("2026-01-18", "b.example"),
    ]  # fmt: skip
    assert (out / rows[0]["file"]).read_bytes() == OPEN
    assert (out / "compare.csv").read_text("utf-8").splitlines()[1:] == [
        "https://a.example,*,2026-01-18,none,all", "https://b.example,*,2026-01-11,none,all"
    ]  # fmt: skip
    page = (out / "compare.html").read_text("utf-8")
    assert "from 2026-01-04 to 2026-01-18</h1>" in page
    assert '<th scope="row">changed, since the survey before</th>' in page
    assert [row.date for row in rows_in(out / "survey.parquet")] == [row["date"] for row in rows]
    assert (out / "survey.csv").read_text("utf-8").count("\n") == 8


def test_a_list_says_which_sites_count_at_each_date(dates: Path, tmp_path: Path) -> None:
    (tmp_path / "sites.csv").write_text("site,sector\nb.example,news\n")
    arguments = ("--dates", str(dates), "--from-file", str(tmp_path / "sites.csv"), "--out", str(tmp_path / "out"))
    assert surveyed(*arguments)[1].startswith("1 site in every survey, 1 changed")
    rows = [json.loads(line) for line in (tmp_path / "out" / "survey.jsonl").read_text("utf-8").splitlines()]
    assert [row["strata"] for row in rows] == [{"sector": "news"}] * 3


def test_a_damaged_archive_of_a_date_is_named_and_the_rest_counts(
    dates: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = dates / "at-2026-01-18.warc.gz"
    path.write_bytes(path.read_bytes()[:-20])
    code, text = surveyed("--dates", str(dates), "--out", str(tmp_path / "out"))
    assert (code, text.partition(",")[0]) == (2, "1 site in every survey")
    assert f"{path}: cut off or damaged" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ["--dates", "dates/2026-01-04"],
            "dates/2026-01-04: two or more folders or WARC files must have a date",
        ),
        (["--dates", "nowhere"], "nowhere: No such file or directory"),
        (["--dates", "dates", "--resume"], "--dates reads all dates: --overwrite replaces the survey"),
        (["--dates", "dates", "a.example"], "--dates reads what was captured before: do not name sites"),
    ],
)
def test_what_has_no_dates_is_said_in_one_line(
    dates: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    arguments: list[str],
    problem: str,
) -> None:
    monkeypatch.chdir(dates.parent)
    assert surveyed(*arguments) == (2, "")
    err = capsys.readouterr().err
    assert (problem in err, err.count("\n")) == (True, 1)
    assert not Path("robots-survey").exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--compare", "nowhere", "."], "nowhere/survey.jsonl: No such file or directory"),
        (["--compare", "bad", "bad"], "bad/survey.jsonl: line 1 is not a row of a survey"),
        (["--compare", "a", "b", "--csv"], "--compare reads surveys that there are: omit --csv"),
        (["c.example", "--compare", "a", "b"], "--compare reads surveys that there are: omit sites"),
        (["--compare", "a"], "--compare takes two or more surveys: name another one beside a"),
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
    monkeypatch.setattr(survey, "find_spec", lambda name: None if name == "pyarrow" else True)
    assert surveyed("a.example", "--out", str(tmp_path / "out"), "--parquet") == (2, "")
    assert "pyarrow, for Parquet, is not installed: pip install 'scrapy_rep[parquet]'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
