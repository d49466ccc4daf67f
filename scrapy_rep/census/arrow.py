"""Rows as Arrow record batches and Parquet files, by pyarrow: the extra ``parquet``.

Whole numbers are int64, times timestamps in UTC; columns that hold several values are lists and maps. Arrow keeps
text as UTF-8: an octet or code point that is no text, a lone surrogate, becomes a backslash escape.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from itertools import islice
from pathlib import Path
from types import NoneType
from typing import Any, Final, get_args, get_origin

import pyarrow as pa
from pyarrow import parquet
from pyarrow import types as is_

from scrapy_rep.tools.files import PARQUET, binary_kind_at, files_in, wrong_place

from .row import ADDED, COLUMNS, LINTED, ColumnType, Row

__all__ = [
    "LIGHT_ROWS", "ROWS", "batch", "batches", "rows_in", "schema_of", "write_parquet",
]  # fmt: skip

ROWS_AT_ONCE: Final = 1_000
"""Rows of a batch, which are in memory as dictionaries at the same time."""

_HIDDEN: Final = (".", "_")  # starts of names: what is under way, and what describes the other files
_BATCHES_IN_GROUP: Final = 10  # of Parquet: many small groups are slow to read
_SIMPLE: Final = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
    datetime: pa.timestamp("us", "UTC"),
}


def schema_of(columns: Mapping[str, ColumnType]) -> pa.Schema:
    """Return the Arrow schema of *columns*, such as `COLUMNS` or `LONG`."""
    return pa.schema([(name, _arrow_type(column.type)) for name, column in columns.items()])


def _arrow_type(kind: Any) -> pa.DataType:
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    parts = [_arrow_type(part) for part in get_args(kind) if part is not NoneType]
    if get_origin(kind) is dict:
        return pa.map_(*parts)
    return pa.list_(*parts) if get_origin(kind) is list else parts[0]  # else an optional value


ROWS: Final = schema_of(COLUMNS)
"""The schema of rows."""

LIGHT_ROWS: Final = schema_of({name: column for name, column in COLUMNS.items() if name not in LINTED})
"""The schema of light rows."""


# Written


def batch(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.RecordBatch:
    """Return *rows*, which have a value for each column of *schema*, as a record batch."""
    try:
        return pa.RecordBatch.from_pylist(rows, schema)
    except UnicodeEncodeError:
        return pa.RecordBatch.from_pylist([_escaped(row) for row in rows], schema)


def _escaped(value: Any) -> Any:
    """*value* with lone surrogates as escapes, in whatever it holds too."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, Mapping):
        return {_escaped(key): _escaped(each) for key, each in value.items()}
    return [*map(_escaped, value)] if isinstance(value, list) else value


def batches(
    rows: Iterable[Mapping[str, Any]], schema: pa.Schema, size: int = ROWS_AT_ONCE
) -> Iterator[pa.RecordBatch]:
    """Yield *rows* as record batches of *size* rows, the last of which may be smaller."""
    left = iter(rows)
    while some := [*islice(left, size)]:
        yield batch(some, schema)


def write_parquet(rows: Iterable[Mapping[str, Any]], path: Path, schema: pa.Schema = ROWS) -> None:
    """Write *rows* to *path*. Raises ``OSError``."""
    left = batches(rows, schema)
    with parquet.ParquetWriter(path, schema) as writer:
        while group := [*islice(left, _BATCHES_IN_GROUP)]:
            writer.write_table(pa.Table.from_batches(group))


# Read


def rows_in(path: Path | str) -> Iterator[Row]:
    """Yield the rows in the Parquet file at *path*, or in those in the folder *path* and below, by name.

    Columns that are none of a row are ignored; of light rows, those of `LINTED` are None. Raises ``OSError``, and
    ``ValueError`` for a file that is not Parquet and a column that is missing or of a wrong type.
    """
    for file in files_at(Path(path)):
        with opened(file) as table:
            schema = _schema_in(table.schema_arrow)
            for found in table.iter_batches(ROWS_AT_ONCE, columns=schema.names, use_threads=False):
                yield from map(Row.of, dictionaries(found, schema))


def sites_in(path: Path | str) -> Iterator[str]:
    """Yield the site of each row that `rows_in` yields, in a small part of the time. Raises as it does."""
    for file in files_at(Path(path)):
        with opened(file) as table:
            _schema_in(table.schema_arrow)
            for found in table.iter_batches(columns=["site"]):
                yield from found.column("site").to_pylist()


def files_at(path: Path) -> list[Path]:
    """The Parquet file at *path*, or those in the folder *path* and below, by name. Raises ``ValueError``."""
    if not path.is_dir():
        return [path]
    found = files_in(path, is_searched=lambda folder: not folder.name.startswith(_HIDDEN))
    files = [file for file in found if file.suffix.lower() == ".parquet" and not file.name.startswith(_HIDDEN)]
    if not files:
        raise ValueError(f"{path}: {wrong_place(path, 'one of Parquet files')}")
    return files


@contextmanager
def opened(path: Path) -> Iterator[parquet.ParquetFile]:
    """The Parquet file at *path*, which the ``ValueError`` names that is raised for what is wrong in it."""
    if binary_kind_at(path) != PARQUET:
        raise ValueError(f"{path}: {wrong_place(path, PARQUET)}")
    try:
        with parquet.ParquetFile(path, coerce_int96_timestamp_unit="us") as table:
            yield table
    except (ValueError, OverflowError, OSError) as error:  # what pyarrow raises is one of them
        if getattr(error, "errno", None) is not None:  # of the operating system
            raise
        raise ValueError(f"{path}: {error}") from None


def dictionaries(found: pa.RecordBatch, schema: pa.Schema) -> Iterator[dict[str, Any]]:
    """Yield the rows of *found*, with the columns of *schema*, of which `batch` makes one like it."""
    times = [field.name for field in schema if is_.is_timestamp(field.type)]
    maps = [field.name for field in schema if is_.is_map(field.type)]
    columns = [
        found.column(field.name).cast(field.type, safe=False) if field.name in times else found.column(field.name)
        for field in schema
    ]
    for row in pa.RecordBatch.from_arrays(columns, schema.names).to_pylist():
        for name in maps:  # pairs
            row[name] = None if row[name] is None else dict(row[name])
        for name in times:
            row[name] = row[name] and row[name].replace(tzinfo=timezone.utc)
        yield row


def _schema_in(schema: pa.Schema) -> pa.Schema:
    """Those of the columns of `ROWS` that *schema* has. Raises ``ValueError``."""
    for wanted in ROWS:
        if schema.get_field_index(wanted.name) < 0 and wanted.name not in (*LINTED, *ADDED):
            raise ValueError(f"no column {wanted.name}, or more than one")
    return pa.schema([field for field in ROWS if field.name in schema.names])
