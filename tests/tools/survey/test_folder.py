"""What a survey writes: files with names, records as CSV and as Parquet."""

from __future__ import annotations

import csv
import json
from datetime import datetime, timezone
from pathlib import Path

import pytest

from scrapy_rep.census import Capture, Row, rows
from scrapy_rep.census.row import TYPES
from scrapy_rep.protocol import Origin
from scrapy_rep.tools.survey.folder import SurveyFolder, file_name, folded_name, write_csv

BODY = b"User-agent: GPTBot\nDisallow: x\nCrawl-delay: 2\nUser-agent: *\nContent-Signal: ai-train=no\nAllow: /\n"


def measure(body: bytes, file: str | None = None) -> Row:
    (values,) = rows(
        [Capture("https://a.example/robots.txt", 200, body, datetime(2026, 11, 24, tzinfo=timezone.utc))]
    )
    return Row.of(values | {"file": file})


RECORDS = [
    measure(BODY),
    Row("=1+1", "unreachable", problem='X: \ud800, "y"\n'),
]


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://example.com/", "example.com.txt"),
        ("http://example.com/", "http+example.com+80.txt"),
        ("https://example.com:8443/", "https+example.com+8443.txt"),
        ("http://[::1]:80/", "http+%3A%3A1+80.txt"),
        ("https://../", "...txt"),
    ],
)
def test_the_file_of_an_origin_has_a_name_of_its_own(url: str, name: str) -> None:
    assert file_name(Origin.from_url(url)) == name


def test_no_host_leads_out_of_the_folder_or_is_too_long_for_it(tmp_path: Path) -> None:
    for host in ("../../x", "a/b", "x" * 5_000, "\0", "a\\b", "%2e%2e"):
        path = tmp_path / file_name(Origin("https", host, 443))
        path.write_bytes(b"")
        assert path.parent.resolve() == path.resolve().parent == tmp_path.resolve()


def test_a_file_that_is_another_than_the_one_surveyed_is_not_to_be_had(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(BODY)
    folder = SurveyFolder(tmp_path)
    assert folder.body(measure(BODY, "a.txt")) == BODY
    for body, name in ((b"secret", "a.txt"), (BODY, "b.txt"), (BODY, "\0"), (BODY, None)):
        assert folder.body(measure(body, name)) is None


def test_a_row_of_csv_is_a_record(tmp_path: Path) -> None:
    write_csv(RECORDS, tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        first, second = csv.DictReader(file)
    assert list(first) == [*TYPES]
    assert (first["site"], first["status"], first["is_html"], first["problem"]) == (
        "https://a.example", "200", "false", ""
    )  # fmt: skip
    assert json.loads(first["restriction"])["GPTBot"] == "none"
    assert json.loads(first["named"]) == {"GPTBot": 1}
    assert first["fetched_at"] == "2026-11-24T00:00:00+00:00"
    assert json.loads(first["finding_lines"])["path-without-slash"] == [2]
    assert second["problem"] == 'X: \\ud800, "y"\n'


def test_no_cell_of_csv_is_a_formula(tmp_path: Path) -> None:
    write_csv(RECORDS, tmp_path / "t.csv")
    assert "\n'=1+1," in (tmp_path / "t.csv").read_text("utf-8")


def test_the_files_of_many_sites_go_to_several_folders(tmp_path: Path) -> None:
    origin = Origin.from_url("https://example.com")
    folder = SurveyFolder(tmp_path)
    for sites, name in ((10_000, "example.com.txt"), (10_001, folded_name(origin))):
        folder.open(append=False, sites=sites)
        assert folder.save_body(origin, BODY) == f"files/{name}"
        assert (tmp_path / "files" / name).read_bytes() == BODY
        folder.close()
    assert len({folded_name(Origin.from_url(f"https://{n}.example"))[:2] for n in range(5_000)}) == 256
