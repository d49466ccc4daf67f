"""Rows as Arrow record batches and Parquet files, by pyarrow: the extra ``parquet``.

Whole numbers are int64, times timestamps in UTC; columns that hold several values are lists and maps. Arrow keeps
text as UTF-8: an octet or code point that is no text, a lone surrogate, becomes a backslash escape.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from itertools import accumulate, chain, islice, pairwise
from pathlib import Path
from types import NoneType
from typing import Any, Final, cast, get_args, get_origin

import pyarrow as pa
from pyarrow import parquet
from pyarrow import types as is_

from scrapy_rep.tools.files import PARQUET, binary_kind_at, wrong_place

from .parquet import files_at
from .row import COLUMNS, LINTED, ColumnType, Row

__all__ = [
    "LIGHT_ROWS", "ROWS", "batch", "batches", "partitions", "rows_in", "schema_of", "write_parquet",
]  # fmt: skip

ROWS_AT_ONCE: Final = 1_000
"""Rows of a batch, which are in memory as dictionaries at the same time."""

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
    arrays = [_array([row[field.name] for row in rows], field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


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


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """As `pyarrow.array` would make it; that takes several times as long for maps, and refuses lone surrogates."""
    if is_.is_map(kind):
        keys = _array([*chain.from_iterable(filter(None, values))], kind.key_type)
        inner = chain.from_iterable(each.values() for each in values if each)
        return pa.MapArray.from_arrays(_offsets(values), keys, _array([*inner], kind.item_type))
    if is_.is_list(kind):
        inner = chain.from_iterable(filter(None, values))
        return pa.ListArray.from_arrays(_offsets(values), _array([*inner], kind.value_type))
    try:
        return pa.array(values, kind)
    except UnicodeEncodeError:
        return pa.array([value and value.encode("utf-8", "backslashreplace") for value in values]).cast(kind)


def _offsets(values: Sequence[Any]) -> pa.Array:
    """Where each of *values* starts among what all of them hold, and the end; null where the value is None."""
    ends = [*accumulate((len(value) if value else 0 for value in values), initial=0)]
    starts = [None if value is None else start for value, start in zip(values, ends, strict=False)]
    return pa.array([*starts, ends[-1]], pa.int32())


# Read


def rows_in(path: Path | str) -> Iterator[Row]:
    """Yield the rows in the Parquet file at *path*, or in those in the folder *path* and below, by name.

    Columns that are none of a row are ignored; of light rows, those of `LINTED` are None. Raises ``OSError``, and
    ``ValueError`` for a file that is not Parquet and a column that is missing or of a wrong type.
    """
    for file in files_at(Path(path)):
        yield from _rows_in_file(file)


def sites_in(path: Path | str) -> Iterator[str]:
    """Yield the site of each row that `rows_in` yields, in a small part of the time. Raises as it does."""
    for file in files_at(Path(path)):
        with _opened(file) as table:
            for found in table.iter_batches(columns=["site"]):
                yield from found.column("site").to_pylist()


def dictionaries(found: pa.RecordBatch, schema: pa.Schema) -> Iterator[dict[str, Any]]:
    """Yield the rows of *found*, with the columns of *schema*, of which `batch` makes one like it."""
    columns = [_values(found.column(field.name), field.type) for field in schema]
    return (dict(zip(schema.names, row, strict=True)) for row in zip(*columns, strict=True))


def partitions(path: Path | str) -> list[Path]:
    """Return the folders in the folder *path* that hold a crawl each, ``crawl=…``, by name."""
    return sorted(each for each in Path(path).iterdir() if each.name.startswith("crawl=") and each.is_dir())


def _rows_in_file(path: Path) -> Iterator[Row]:
    with _opened(path) as table:
        schema = _schema_in(table.schema_arrow)
        for found in table.iter_batches(ROWS_AT_ONCE, columns=schema.names, use_threads=False):
            yield from map(Row.of, dictionaries(found, schema))


@contextmanager
def _opened(path: Path) -> Iterator[parquet.ParquetFile]:
    """The Parquet file at *path*, which has the columns of a row; what goes wrong with it names it."""
    if binary_kind_at(path) != PARQUET:
        raise ValueError(f"{path}: {wrong_place(path, PARQUET)}")
    try:
        with parquet.ParquetFile(path, coerce_int96_timestamp_unit="us") as table:
            _schema_in(table.schema_arrow)
            yield table
    except (ValueError, OverflowError, OSError) as error:  # what pyarrow raises is one of them
        if getattr(error, "errno", None) is not None:  # of the operating system
            raise
        raise ValueError(f"{path}: {error}") from None


def _schema_in(schema: pa.Schema) -> pa.Schema:
    """Those of the columns of `ROWS` that *schema* has. Raises ``ValueError``."""
    for wanted in ROWS:
        if schema.get_field_index(wanted.name) < 0:
            if wanted.name in LINTED:
                continue
            raise ValueError(f"no column {wanted.name}, or more than one")
        found = schema.field(wanted.name).type
        if not _is_like(found, wanted.type):
            raise ValueError(f"the column {wanted.name} is of type {found}; it must be {wanted.type}")
    return pa.schema([field for field in ROWS if field.name in schema.names])


def _is_like(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether *found*, which another program may have written, holds what *wanted* does."""
    if is_.is_map(wanted):
        parts = (
            ((found.key_type, wanted.key_type), (found.item_type, wanted.item_type)) if is_.is_map(found) else ()
        )
        return bool(parts) and all(_is_like(*part) for part in parts)
    if is_.is_list(wanted):
        return is_.is_list(found) and _is_like(found.value_type, wanted.value_type)
    return is_.is_timestamp(found) if is_.is_timestamp(wanted) else bool(found == wanted)


def _values(column: pa.Array, kind: pa.DataType) -> list[Any]:
    """What *column* holds, of which `_array` makes a column of type *kind*."""
    if is_.is_map(kind):
        pairs = [
            *zip(
                _inner(column, column.keys, kind.key_type),
                _inner(column, column.items, kind.item_type),
                strict=True,
            )
        ]
        return [None if part is None else dict(pairs[part]) for part in _slices(column)]
    if is_.is_list(kind):
        inner = _inner(column, column.values, kind.value_type)
        return [None if part is None else inner[part] for part in _slices(column)]
    if is_.is_timestamp(kind):
        in_utc = column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(pa.timestamp("us"))
        return [time and time.replace(tzinfo=timezone.utc) for time in in_utc.to_pylist()]
    return cast("list[Any]", column.to_pylist())


def _inner(column: pa.Array, values: pa.Array, kind: pa.DataType) -> list[Any]:
    """The part of *values* that *column*, perhaps a slice of a longer one, refers to."""
    start, end = column.offsets[0].as_py(), column.offsets[-1].as_py()
    return _values(values.slice(start, end - start), kind)


def _slices(column: pa.Array) -> list[slice | None]:
    """Where each value of *column* lies in `_inner`; None for null."""
    ends = column.offsets.to_pylist()
    slices = [slice(one - ends[0], end - ends[0]) for one, end in pairwise(ends)]
    return [part if valid else None for part, valid in zip(slices, column.is_valid().to_pylist(), strict=True)]
