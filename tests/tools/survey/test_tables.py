"""Records as CSV and as Parquet."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from scrapy_rep.tools.survey.measure import measure
from scrapy_rep.tools.survey.records import SiteRecord
from scrapy_rep.tools.survey.tables import can_write_parquet, write_csv, write_parquet

BODY = b"User-agent: GPTBot\nDisallow: x\nCrawl-delay: 2\nUser-agent: *\nContent-Signal: ai-train=no\nAllow: /\n"
RECORDS = [
    measure("https://a.example", BODY, status=200),
    SiteRecord("=1+1", "unreachable", problem='X: \ud800, "y"\n'),
]


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
