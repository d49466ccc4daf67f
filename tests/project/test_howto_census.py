"""The page on taking a census: its commands and programs do what it says, on archives that the test makes."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from scrapy_rep.census import rows
from scrapy_rep.census.arrow import write_parquet
from scrapy_rep.census.warc import captures
from tests.census.archives import archive
from tests.support.markdown import PAGES, ROOT, blocks, run_robots

PAGE = PAGES["docs/howto/census.md"]
ARCHIVE = "crawl-data/first.warc.gz"
SURVEYS = [
    shlex.split(line.replace("$(cat first.paths)", ARCHIVE))[3:]
    for line in re.findall(r"^scrapy robots survey .+$", PAGE, re.MULTILINE)
]
JOB = ROOT / "example_project" / "census" / "job.py"
FILES = {
    "https://a.example": b"User-agent: GPTBot\nDisallow: /\n",
    "https://shop.example": b"User-agent: *\nDisallow: /private/\n",
    "http://a.example": b"User-agent: *\nDisallow: /\n",
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the commands read: archives, lists, a survey of another date, and rows."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / ARCHIVE
    path.parent.mkdir()
    with archive(path) as file:
        for site, body in FILES.items():
            file.add(f"{site}/robots.txt", body)
    (tmp_path / "sectors.csv").write_text(next(block for block in blocks(PAGE, "text") if "sector" in block))
    for folder in ("census/crawl=CC-MAIN-2026-17", "census/crawl=CC-MAIN-2026-34"):
        (tmp_path / folder).mkdir(parents=True)
        write_parquet(rows(captures(path)), tmp_path / folder / "part-0.parquet")
    for date in ("2026-11-17", "2026-11-24"):
        (tmp_path / "snapshots" / date).mkdir(parents=True)
        (tmp_path / "snapshots" / date / "a.example").write_bytes(FILES["https://a.example"])
    for out in ("2026-05", "2026-11"):
        survey("--warc", str(path), "--parquet", "--out", out)
    return tmp_path


def survey(*arguments: str) -> str:
    code, printed = run_robots("survey", [*arguments])
    assert code == 0
    return printed


def strata(folder: Path) -> dict[str, dict[str, str]]:
    lines = map(json.loads, (folder / "survey.jsonl").read_text("utf-8").splitlines())
    return {line["site"]: line["strata"] for line in lines}


def test_every_survey_that_fetches_nothing_can_be_made(place: Path) -> None:
    without_fetch = [each for each in SURVEYS if "sites.txt" not in each]
    assert len(without_fetch) == len(SURVEYS) - 1 == 6
    for arguments in without_fetch:
        survey(*arguments, *([] if "--compare" in arguments else ["--overwrite"]))
    assert strata(place / "sectors") == {"https://shop.example": {"sector": "shop", "country": "DE"}}
    assert len(strata(place / "CC-MAIN-2026-17")) == len(FILES)
    assert (place / "compared" / "compare.html").is_file()
    assert (place / "two-years" / "survey.parquet").is_file()


def programs(word: str) -> list[str]:
    return [block for block in blocks(PAGE, "python") if word in block]


def run(program: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(program, names)  # noqa: S102
    return names


def test_the_table_in_pandas_counts_sites_by_agent_and_treatment(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pandas")
    (program,) = programs("COMMON_AI_CRAWLERS")
    sites = run(program)["sites"]
    assert sites.loc["training", "GPTBot"].to_dict() == {"all": 2, "none": 0, "part": 1}
    assert sites.loc["training", "CCBot"].to_dict() == {"all": 1, "none": 1, "part": 1}
    assert "ClaudeBot" in capsys.readouterr().out


def test_sites_are_counted_by_a_column_of_the_list(place: Path) -> None:
    pytest.importorskip("pandas")
    (listed,) = [each for each in SURVEYS if "sectors.csv" in each]
    survey(*listed)
    (program,) = programs("by_sector")
    assert run(program)["by_sector"].to_dict() == {"part": {"shop": 1}}


def test_the_query_says_which_share_closes_everything_and_which_by_name(place: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    (program,) = programs("long.parquet")
    (query,) = blocks(PAGE, "sql")
    run(program)
    found = {agent: shares for agent, _, *shares in duckdb.sql(query).fetchall()}
    assert found["GPTBot"] == pytest.approx([2 / 3, 1 / 3])
    assert found["*"] == found["CCBot"] == pytest.approx([1 / 3, 0])


def test_the_long_form_can_be_written(place: Path) -> None:
    (program,) = programs("long.parquet")
    run(program)
    assert (place / "long.parquet").is_file()


@pytest.mark.skipif(not JOB.exists(), reason="needs the example project")
def test_the_job_has_the_options_that_are_shown() -> None:
    shown = re.findall(r"job\.py((?: \\\n|.)*)$", "\n".join(blocks(PAGE, "sh")), re.MULTILINE)
    options = set(re.findall(r"--[a-z]+", " ".join(shown)))
    assert options >= {"--crawl", "--light", "--out", "--root"}
    known = JOB.read_text("utf-8")
    assert all(f'"{option}"' in known for option in options)
