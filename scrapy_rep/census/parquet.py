"""Reads captures from Parquet files, such as those that a cluster wrote, by pyarrow: the extra ``parquet``.

The columns are the fields of `Capture`: ``url``, ``status``, ``body`` and ``fetched_at``, and perhaps ``location``
and ``problem``. All others are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyarrow import compute
from pyarrow import types as is_

from .arrow import dictionaries, files_at, opened
from .capture import Capture, has_host, is_robots_url

__all__ = ["CAPTURES", "captures", "captures_in"]

CAPTURES: Final = pa.schema(
    {
        "url": pa.string(),
        "status": pa.int64(),
        "body": pa.binary(),
        "fetched_at": pa.timestamp("us", "UTC"),
        "location": pa.string(),
        "problem": pa.string(),
    }
)
"""The columns of captures."""

_REQUIRED: Final = ("url", "status", "body", "fetched_at")
_ROWS_AT_ONCE: Final = 256  # in memory: a body may have megabytes


def captures(path: Path | str) -> Iterator[Capture]:
    """Yield the captures in the Parquet file at *path*, or in those in the folder *path* and below, by name.

    A time without a zone is in UTC; a body that is a text is encoded as UTF-8. Raises ``OSError``, and
    ``ValueError`` for a file that is not Parquet, a column that is missing, and one that cannot be read.
    """
    for file in files_at(Path(path)):
        with opened(file) as table:
            names = _schema_in(table.schema_arrow).names
            for batch in table.iter_batches(_ROWS_AT_ONCE, columns=names, use_threads=False):
                yield from captures_in(batch)


def captures_in(batch: pa.RecordBatch) -> Iterator[Capture]:
    """Yield the captures in *batch*. Raises ``ValueError``.

    Captures of other URLs than that of a robots.txt, or without a usable host, are passed over.
    """
    schema = _schema_in(batch.schema)
    columns = [_cast(batch.column(field.name), field) for field in schema]
    found = dictionaries(pa.RecordBatch.from_arrays(columns, schema.names), schema)
    captures = (Capture(**each) for each in found if each["url"])
    return (capture for capture in captures if is_robots_url(capture.url) and has_host(capture.url))


def _schema_in(schema: pa.Schema) -> pa.Schema:
    """Those of the columns of `CAPTURES` that *schema* has. Raises ``ValueError``."""
    for name in _REQUIRED:
        if schema.get_field_index(name) < 0:
            raise ValueError(f"no column {name}, or more than one: it must be {CAPTURES.field(name).type}")
    return pa.schema([field for field in CAPTURES if schema.get_field_index(field.name) >= 0])


def _cast(column: pa.Array, field: pa.Field) -> pa.Array:
    """*column* as the type of *field*. What is not a number, as pandas writes gaps, and an empty text are null."""
    kind = column.type.value_type if is_.is_dictionary(column.type) else column.type
    column, is_text = column.cast(kind), is_.is_string(kind) or is_.is_large_string(kind)
    try:
        if field.name == "body":
            return column.cast(pa.large_binary())
        if is_text or is_.is_floating(kind):
            is_gap = compute.equal(column, "") if is_text else compute.is_nan(column)
            column = compute.if_else(is_gap, pa.scalar(None, kind), column)
        if is_.is_timestamp(field.type):
            return _times(column)
        return column.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(f"the column {field.name}, of type {kind}, must be {field.type}: {error}") from None


def _times(column: pa.Array) -> pa.Array:
    """The times in *column*, texts in ISO 8601 too, in UTC."""
    utc = pa.timestamp("us", "UTC")
    try:
        return column.cast(utc, safe=False)
    except pa.ArrowInvalid:  # texts without a zone
        return column.cast(pa.timestamp("us")).cast(utc)
