"""Rows as Arrow batches and Parquet files, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from scrapy_rep.census import COLUMNS, LONG, Capture, Row, long, rows
from scrapy_rep.census.arrow import (
    LIGHT_ROWS,
    ROWS,
    batch,
    batches,
    dictionaries,
    rows_in,
    schema_of,
    write_parquet,
)
from scrapy_rep.census.row import LINTED

DATE = datetime(2026, 5, 1, 10, 20, 30, 123_456, tzinfo=timezone.utc)
RULES = b"""User-agent: *
Disallow: /a*
Crawl-delay: 2.5
Content-Signal: ai-train=no
Sitemap: https://a.example/sitemap.xml

User-agent: GPTBot
User-agent: \xc3\xa4
Disallow: /
Dissallow: /
"""
CAPTURES = [
    Capture("https://a.example/robots.txt", 200, RULES, DATE),
    Capture("https://b.example/robots.txt", 404, b"", DATE),
    Capture("https://c.example/robots.txt", None, None, None, problem="no response"),
    Capture("https://d.example/robots.txt", 301, None, DATE, location="https://e.example/robots.txt"),
    Capture("https://e.example/robots.txt", 200, b"<html></html>", DATE),
    Capture("notes", body=b"\xff\xfe\0\n" + RULES, hops=()),
]


def full(captures: Iterable[Capture] = CAPTURES) -> list[dict[str, Any]]:
    return [*rows(captures)]


def written(path: Path, made: Iterable[Mapping[str, Any]] | None = None, schema: pa.Schema = ROWS) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_parquet(full() if made is None else made, path, schema)
    return path


def changed(path: Path, change: Callable[[pa.Table], pa.Table], **options: Any) -> Path:
    """A file like that of `written`, with another table."""
    parquet.write_table(change(parquet.read_table(written(path))), path, **options)
    return path


def with_column(name: str, values: Any) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.set_column(table.schema.get_field_index(name), name, values(table.column(name)))


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    made = full()
    made[0]["strata"] = {"rank": "1", "region": "Åland"}
    assert [*rows_in(written(tmp_path / "a.parquet", made))] == [Row(**row) for row in made]


def test_a_time_comes_back_in_utc(tmp_path: Path) -> None:
    (row, *_) = rows_in(written(tmp_path / "a.parquet"))
    assert row.fetched_at == DATE
    assert row.fetched_at.tzinfo is timezone.utc


def test_light_rows_come_back_without_what_the_linter_finds(tmp_path: Path) -> None:
    made = [*rows(CAPTURES, light=True)]
    found = [*rows_in(written(tmp_path / "a.parquet", made, LIGHT_ROWS))]
    assert found == [Row(**row) for row in made]
    assert {getattr(row, name) for row in found for name in LINTED} == {None}


def test_a_lone_surrogate_becomes_an_escape() -> None:
    made = full()[0] | {"site": "a\udc80", "hops": ["\ud800b"], "strata": {"\udfff": "c\udc81", "d": "e"}}
    (found,) = dictionaries(batch([made], ROWS), ROWS)
    assert found["site"] == r"a\udc80"
    assert found["hops"] == [r"\ud800b"]
    assert found["strata"] == {r"\udfff": r"c\udc81", "d": "e"}


def test_an_empty_map_is_not_a_missing_one() -> None:
    made = [row | {"findings": findings} for row, findings in zip(full(), [{}, None, {"nul": 1}])]
    found = dictionaries(batch(made, ROWS), ROWS)
    assert [row["findings"] for row in found] == [{}, None, {"nul": 1}]


def test_a_part_of_a_batch_has_its_own_values() -> None:
    made = full()
    part = batch(made, ROWS).slice(1, 4)
    assert [Row(**row) for row in dictionaries(part, ROWS)] == [Row(**row) for row in made[1:5]]


def test_the_types_of_columns_are_those_of_the_data_dictionary() -> None:
    assert ROWS.names == [*COLUMNS]
    assert [name for name in ROWS.names if name not in LIGHT_ROWS.names] == [*LINTED]
    assert ROWS.field("fetched_at").type == pa.timestamp("us", "UTC")
    assert ROWS.field("finding_lines").type == pa.map_(pa.string(), pa.list_(pa.int64()))
    assert ROWS.field("status").type == pa.int64()


def test_the_long_form_has_a_schema_too() -> None:
    made, schema = [*long(full())], schema_of(LONG)
    assert batch(made, schema).to_pylist() == made
    assert schema.names == [*LONG]


def test_batches_are_of_the_size_asked_for() -> None:
    sizes = [each.num_rows for each in batches(full()[:1] * 5, ROWS, 2)]
    assert sizes == [2, 2, 1]


def test_a_row_group_has_ten_thousand_rows(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", (row for row in full()[1:2] * 10_001))
    with parquet.ParquetFile(path) as file:
        assert [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)] == [10_000, 1]


def test_no_rows_are_a_file_without_rows(tmp_path: Path) -> None:
    assert [*rows_in(written(tmp_path / "a.parquet", []))] == []


def test_the_files_of_a_folder_are_read_by_name(tmp_path: Path) -> None:
    made = full()
    for number, part in enumerate([made[3:], made[:3]]):
        written(tmp_path / f"crawl=2026-0{2 - number}" / "part-0.parquet", part)
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "crawl=2026-01" / ".part-0.parquet.crc").write_bytes(b"crc")
    written(tmp_path / "_temporary" / "0" / "part-0.parquet")
    written(tmp_path / "crawl=2026-01" / "_part-1.parquet")
    assert [*rows_in(tmp_path)] == [Row(**row) for row in made]


def test_a_folder_without_parquet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a folder, not one of Parquet files"):
        [*rows_in(tmp_path)]


def test_other_columns_are_ignored(tmp_path: Path) -> None:
    number = len(CAPTURES)
    path = changed(tmp_path / "a.parquet", lambda table: table.append_column("more", pa.array(range(number))))
    assert [*rows_in(path)] == [Row(**row) for row in full()]


def test_the_order_of_columns_does_not_count(tmp_path: Path) -> None:
    path = changed(tmp_path / "a.parquet", lambda table: table.select(sorted(table.column_names)))
    assert [*rows_in(path)] == [Row(**row) for row in full()]


@pytest.mark.parametrize(
    "kind", [pa.timestamp("ns", "Europe/Berlin"), pa.timestamp("ms", "UTC"), pa.timestamp("us")]
)
def test_times_of_other_types_are_read(tmp_path: Path, kind: pa.DataType) -> None:
    path = changed(tmp_path / "a.parquet", with_column("fetched_at", lambda times: times.cast(kind, safe=False)))
    expected = DATE.replace(microsecond=123_000) if kind.unit == "ms" else DATE
    assert next(rows_in(path)).fetched_at == expected


def test_the_times_that_spark_writes_are_read(tmp_path: Path) -> None:
    path = changed(tmp_path / "a.parquet", lambda table: table, use_deprecated_int96_timestamps=True)
    assert [row.fetched_at for row in rows_in(path)] == [row["fetched_at"] for row in full()]


def test_a_missing_column_is_named_with_its_file(tmp_path: Path) -> None:
    path = changed(tmp_path / "a.parquet", lambda table: table.drop_columns(["restriction"]))
    with pytest.raises(ValueError, match=r"a\.parquet: no column restriction"):
        [*rows_in(tmp_path)]
    assert path.exists()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("status", pa.array(["200"])),
        ("site", pa.array([b"a"])),
        ("hops", pa.array(["a"])),
        ("records", pa.array([[("allow", "1")]], pa.map_(pa.string(), pa.string()))),
        ("fetched_at", pa.array(["now"])),
    ],
)
def test_a_value_of_another_type_is_named_with_its_file(tmp_path: Path, name: str, values: pa.Array) -> None:
    path = changed(tmp_path / "a.parquet", lambda table: with_column(name, lambda _: values)(table.slice(0, 1)))
    with pytest.raises(ValueError, match=r"a\.parquet: "):
        [*rows_in(path)]


def test_a_value_that_is_missing_is_named_with_its_file(tmp_path: Path) -> None:
    path = changed(tmp_path / "a.parquet", with_column("site", lambda old: pa.nulls(len(old), pa.string())))
    with pytest.raises(ValueError, match=r"a\.parquet: site is not str"):
        [*rows_in(path)]


@pytest.mark.parametrize("content", [b"", b"User-agent: *\n", b"PAR1"])
def test_a_file_that_is_not_parquet_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"a\.parquet: "):
        [*rows_in(path)]


def test_a_file_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        [*rows_in(tmp_path / "a.parquet")]
