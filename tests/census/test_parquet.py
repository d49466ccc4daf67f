"""Captures in Parquet files: from one file or a folder of parts, in any of the types that tools write."""

from __future__ import annotations

import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from scrapy_rep.census.capture import Capture
from scrapy_rep.census.parquet import captures

URL = "https://a.example/robots.txt"
RULES = b"User-agent: *\nDisallow: /\n"
AT = datetime(2026, 5, 1, 10, 20, 30, 250_000, tzinfo=timezone.utc)
NAIVE = AT.replace(tzinfo=None)
CAPTURE = Capture(URL, 200, RULES, AT)


def write(path: Path, rows: int = 1, **columns: pa.Array | None) -> Path:
    """Write a table of *rows* captures with other *columns*, without those that are None."""
    usual = {
        "url": pa.array([URL]),
        "status": pa.array([200]),
        "body": pa.array([RULES]),
        "fetched_at": pa.array([AT], pa.timestamp("us", "UTC")),
    }
    table = pa.table({name: column for name, column in (usual | columns).items() if column is not None})
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.concat_tables([table] * rows), path)
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.parquet"


def test_ours_each_row_is_a_capture_and_other_columns_are_ignored(path: Path) -> None:
    write(path, rows=1_000, other=pa.array([1]))
    assert list(captures(path)) == [CAPTURE] * 1_000


def test_ours_location_and_problem_are_read_where_they_are(path: Path) -> None:
    write(path, location=pa.array(["https://b.example/"]), problem=pa.array(["timeout"]))
    assert list(captures(path)) == [CAPTURE._replace(location="https://b.example/", problem="timeout")]


def test_ours_all_but_the_url_may_be_null(path: Path) -> None:
    gaps = {name: pa.array([None]) for name in ("status", "body", "fetched_at", "location", "problem")}
    write(path, **gaps)
    assert list(captures(path)) == [Capture(URL)]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([200], pa.int16()),
        pa.array([200], pa.uint64()),
        pa.array([200.0]),
        pa.array(["200"]),
        pa.array(["200"]).dictionary_encode(),
    ],
    ids=str,
)
def test_ours_a_status_may_be_a_number_or_a_text(path: Path, column: pa.Array) -> None:
    assert list(captures(write(path, status=column))) == [CAPTURE]


@pytest.mark.parametrize(
    "column", [pa.array([float("nan")]), pa.array([""]), pa.array([None], pa.int64())], ids=str
)
def test_ours_a_gap_is_no_status(path: Path, column: pa.Array) -> None:
    assert list(captures(write(path, status=column))) == [CAPTURE._replace(status=None)]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([RULES], pa.large_binary()),
        pa.array([RULES.decode()]),
        pa.array([RULES.decode()], pa.large_string()),
        pa.array([RULES.decode()]).dictionary_encode(),
    ],
    ids=lambda column: str(column.type),
)
def test_ours_a_body_may_be_binary_or_a_text(path: Path, column: pa.Array) -> None:
    assert list(captures(write(path, body=column))) == [CAPTURE]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([NAIVE], pa.timestamp("us")),
        pa.array([NAIVE], pa.timestamp("ms")),
        pa.array([AT], pa.timestamp("us", "Europe/Berlin")),
        pa.array([int(AT.timestamp()) * 10**9 + 250_000_007], pa.timestamp("ns", "UTC")),
        pa.array(["2026-05-01T10:20:30.250Z"]),
        pa.array(["2026-05-01 10:20:30.250"]),
        pa.array(["2026-05-01T12:20:30.250000+02:00"]),
    ],
    ids=str,
)
def test_ours_a_time_is_in_utc(path: Path, column: pa.Array) -> None:
    [found] = captures(write(path, fetched_at=column))
    assert found == CAPTURE
    assert found.fetched_at
    assert found.fetched_at.tzinfo is timezone.utc


def test_ours_a_time_without_a_zone_is_not_that_of_the_machine(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(path, fetched_at=pa.array([NAIVE.isoformat()]))
    with monkeypatch.context() as changed:
        changed.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        found = list(captures(path))
    time.tzset()
    assert found == [CAPTURE]


def test_ours_a_folder_of_parts_is_read_in_order(tmp_path: Path) -> None:
    for place in ("crawl=2/part-0.parquet", "crawl=1/part-1.parquet", "crawl=1/part-0.parquet"):
        write(tmp_path / place, url=pa.array([f"https://{place[6]}-{place[13]}.example/robots.txt"]))
    for name in ("_SUCCESS", "_metadata.parquet", ".hidden.parquet", "read.me", "_temporary/a.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("not a table")
    assert [capture.url[8:11] for capture in captures(tmp_path)] == ["1-0", "1-1", "2-0"]


# What is wrong


def problem(path: Path) -> str:
    with pytest.raises(ValueError, match=r"\.parquet|Parquet") as raised:
        list(captures(path))
    return str(raised.value)


TYPES = {
    "url": "string", "status": "int64", "body": "binary", "fetched_at": "timestamp[us, tz=UTC]",
    "location": "string", "problem": "string",
}  # fmt: skip


@pytest.mark.parametrize("name", ["url", "status", "body", "fetched_at"])
def test_ours_a_missing_column_is_named(path: Path, name: str) -> None:
    none: dict[str, Any] = {name: None}
    write(path, **none)
    assert problem(path) == f"{path}: no column {name}, or more than one: it must be {TYPES[name]}"


@pytest.mark.parametrize("name", TYPES)
def test_ours_a_column_of_a_wrong_type_is_named(path: Path, name: str) -> None:
    write(path, **{name: pa.array([{"a": 1}])})
    expected = f"{path}: the column {name}, of type struct<a: int64>, must be {TYPES[name]}: "
    assert problem(path).startswith(expected)


@pytest.mark.parametrize(
    ("name", "column", "value"),
    [
        ("status", pa.array(["OK"]), "'OK'"),
        ("status", pa.array([20.5]), "20.5"),
        ("fetched_at", pa.array(["now"]), "'now'"),
    ],
)
def test_ours_a_wrong_value_is_named_with_its_column(path: Path, name: str, column: pa.Array, value: str) -> None:
    write(path, **{name: column})
    assert problem(path).startswith(f"{path}: the column {name}, of type ")
    assert value in problem(path)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"WARC/1.0\r\n", "a WARC file, not a Parquet file; scrapy robots survey --warc reads it"),
        (RULES, "a text file, not a Parquet file; scrapy robots survey --files reads the folder that it is in"),
    ],
)
def test_ours_another_file_is_named_with_the_option_that_reads_it(path: Path, body: bytes, text: str) -> None:
    path.write_bytes(body)
    assert problem(path) == f"{path}: {text}"


def test_ours_a_folder_without_parquet_files_is_named_with_the_option_that_reads_it(tmp_path: Path) -> None:
    (tmp_path / "a.warc").write_bytes(b"WARC/1.0\r\n")
    expected = "a folder, not one of Parquet files; scrapy robots survey --warc reads the files in it"
    assert problem(tmp_path) == f"{tmp_path}: {expected}"


def test_ours_a_file_that_is_cut_off_is_damaged(path: Path) -> None:
    write(path)
    path.write_bytes(path.read_bytes()[:-10])
    assert problem(path).startswith(f"{path}: ")


def test_ours_a_file_that_is_not_there_is_an_error_of_the_system(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(captures(path))


def test_ours_captures_of_other_pages_are_passed_over(tmp_path: Path) -> None:
    urls = [
        "https://a.example/robots.txt",
        "https://a.example/page",
        "https://a.example/robots.txt?x",
        "a.example",
        "https://exa mple/robots.txt",
        "https://a.example:99999/robots.txt",
        "",
        None,
    ]
    table = {"url": urls, "status": [200] * 8, "body": [b""] * 8, "fetched_at": [None] * 8}
    schema = {"url": pa.string(), "status": pa.int64(), "body": pa.binary(), "fetched_at": pa.timestamp("us")}
    parquet.write_table(pa.table(table, pa.schema(schema)), tmp_path / "a.parquet")
    assert [capture.url for capture in captures(tmp_path / "a.parquet")] == urls[:1]
