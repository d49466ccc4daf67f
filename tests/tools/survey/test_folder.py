"""What a survey writes: files with names, records as CSV and as Parquet."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from scrapy_rep.protocol import Origin
from scrapy_rep.tools.survey import SiteRecord
from scrapy_rep.tools.survey.folder import SurveyFolder, can_write_parquet, file_name, write_csv, write_parquet
from scrapy_rep.tools.survey.measure import measure

BODY = b"User-agent: GPTBot\nDisallow: x\nCrawl-delay: 2\nUser-agent: *\nContent-Signal: ai-train=no\nAllow: /\n"
RECORDS = [
    measure("https://a.example", BODY, status=200),
    SiteRecord("=1+1", "unreachable", problem='X: \ud800, "y"\n'),
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
    assert folder.body(measure("a", BODY, file="a.txt")) == BODY
    for body, name in ((b"secret", "a.txt"), (BODY, "b.txt"), (BODY, "\0"), (BODY, None)):
        assert folder.body(measure("a", body, file=name)) is None


def test_a_row_of_csv_is_a_record(tmp_path: Path) -> None:
    write_csv(RECORDS, tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        first, second = csv.DictReader(file)
    assert list(first) == [*SiteRecord.__slots__]
    assert (first["site"], first["status"], first["is_html"], first["problem"]) == (
        "https://a.example", "200", "false", ""
    )  # fmt: skip
    assert json.loads(first["crawlers"]) == {"GPTBot": {"treatment": "restricted", "line": 1}}
    assert json.loads(first["finding_lines"])["path-without-slash"] == [2]
    assert second["problem"] == 'X: \\ud800, "y"\n'


def test_no_cell_of_csv_is_a_formula(tmp_path: Path) -> None:
    write_csv(RECORDS, tmp_path / "t.csv")
    assert "\n'=1+1," in (tmp_path / "t.csv").read_text("utf-8")


@pytest.mark.skipif(not can_write_parquet(), reason="pyarrow is not installed")
def test_a_row_of_parquet_is_a_record_too(tmp_path: Path) -> None:
    from pyarrow import parquet  # noqa: PLC0415  # skipped without it

    write_parquet(RECORDS, tmp_path / "t.parquet")
    table = parquet.read_table(tmp_path / "t.parquet")
    assert table.column_names == [*SiteRecord.__slots__]
    first, second = table.to_pylist()
    assert (first["site"], first["bytes"], first["shuts_out"]) == ("https://a.example", len(BODY), False)
    assert first["crawlers"] == [("GPTBot", {"treatment": "restricted", "line": 1})]
    assert dict(first["agents"])["GPTBot"] == [("allow", 0), ("disallow", 1)]
    assert first["ai_answers"] == [("Content-Signal", [("ai-train", "no")])]
    assert (second["site"], second["status"], second["problem"]) == ("=1+1", None, 'X: \\ud800, "y"\n')
