"""Reads captures from Parquet files, such as those that a cluster wrote, by pyarrow: the extra ``parquet``.

The columns are the fields of `Capture`: ``url``, ``status``, ``body`` and ``fetched_at``, and perhaps ``location``
and ``problem``. All others are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import pyarrow as pa
from pyarrow import parquet
from pyarrow import types as is_

from scrapy_rep.tools.files import PARQUET, binary_kind_at, files_in, wrong_place

from .capture import Capture, has_host, is_robots_url

__all__ = ["captures", "captures_in"]

_ROWS_AT_ONCE: Final = 256  # in memory: a body may have megabytes
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
_HIDDEN: Final = (".", "_")  # starts of names: what is under way, and what describes the other files


def captures(path: Path | str) -> Iterator[Capture]:
    """Yield the captures in the Parquet file at *path*, or in those in the folder *path* and below, by name.

    A time without a zone is in UTC; a body that is a text is encoded as UTF-8. Raises ``OSError``, and
    ``ValueError`` for a file that is not Parquet, a column that is missing or of a wrong type, and a value that
    cannot be read.
    """
    for file in files_at(Path(path)):
        yield from _captures(file)


def captures_in(batch: pa.RecordBatch, first: int = 1) -> Iterator[Capture]:
    """Yield the captures in *batch*, whose first row has the number *first*. Raises ``ValueError``.

    Captures of other URLs than that of a robots.txt, or without a usable host, are passed over.
    """
    names = _names(batch.schema)
    values = [_values(name, batch.column(name), first) for name in names]
    found = (Capture(**dict(zip(names, each, strict=True))) for each in zip(*values, strict=True))
    return (capture for capture in found if is_robots_url(capture.url) and has_host(capture.url))


def files_at(path: Path) -> list[Path]:
    """The Parquet file at *path*, or those in the folder *path* and below, by name. Raises as `captures`."""
    if not path.is_dir():
        return [path]
    found = files_in(path, is_searched=lambda folder: not folder.name.startswith(_HIDDEN))
    files = [file for file in found if file.suffix.lower() == ".parquet" and not file.name.startswith(_HIDDEN)]
    if not files:
        raise ValueError(f"{path}: {wrong_place(path, 'one of Parquet files')}")
    return files


def _captures(path: Path) -> Iterator[Capture]:
    if binary_kind_at(path) != PARQUET:
        raise ValueError(f"{path}: {wrong_place(path, PARQUET)}")
    row = 1
    try:
        with parquet.ParquetFile(path) as file:
            names = _names(file.schema_arrow)
            for batch in file.iter_batches(_ROWS_AT_ONCE, columns=names, use_threads=False):
                yield from captures_in(batch, row)
                row += batch.num_rows
    except (ValueError, OSError) as error:  # pyarrow raises one of them for a damaged file
        raise ValueError(f"{path}: {error}") from None


def _names(schema: pa.Schema) -> list[str]:
    """The columns of *schema* that are read. Raises ``ValueError``."""
    for name, column in _COLUMNS.items():
        if schema.get_field_index(name) >= 0:
            found = _plain(schema.field(name).type)
            if not (is_.is_null(found) or any(accepts(found) for accepts in column.types)):
                raise ValueError(f"the column {name} is of type {found}; it must be {column.expected}")
        elif name in _REQUIRED:
            raise ValueError(f"no column {name}, or more than one: it must be {column.expected}")
    return [name for name in _COLUMNS if schema.get_field_index(name) >= 0]


def _plain(found: pa.DataType) -> pa.DataType:
    return found.value_type if is_.is_dictionary(found) else found


def _values(name: str, column: pa.Array, first: int) -> list[Any]:
    """The values of *column*, the one of its rows with the number *first* and of those behind it."""
    kind = _plain(column.type)
    if name == "body":
        return cast("list[Any]", column.cast(kind).cast(pa.large_binary()).to_pylist())
    if is_.is_timestamp(kind):
        column = column.cast(pa.timestamp("us", kind.tz), safe=False).cast(pa.int64())
    values, read = column.to_pylist(), _COLUMNS[name].read
    for number, value in enumerate(values):
        try:
            values[number] = read(value)
        except (ValueError, OverflowError):  # noqa: PERF203
            expected = _COLUMNS[name].expected
            raise ValueError(f"row {first + number:,}: {name} is {value!r}; it must be {expected}") from None
    return cast("list[Any]", values)


def _url(value: str | None) -> str:
    if value is None:
        raise ValueError
    return value


def _status(value: float | str | None) -> int | None:
    """As an integer; pandas makes fractions of those with gaps, and not a number of a gap."""
    if value is None or value == "" or value != value:  # noqa: PLR0124
        return None
    if isinstance(value, float) and not value.is_integer():
        raise ValueError
    return int(value)


def _time(value: int | str | None) -> datetime | None:
    """Of microseconds since 1970, or of a text."""
    if value is None or value == "":
        return None
    if isinstance(value, int):
        return _EPOCH + timedelta(microseconds=value)
    time = datetime.fromisoformat(value.replace("Z", "+00:00"))  # Python 3.10 knows no Z
    return (time if time.tzinfo else time.replace(tzinfo=timezone.utc)).astimezone(timezone.utc)


def _as_it_is(value: str | None) -> str | None:
    return value


class _Column(NamedTuple):
    expected: str
    types: tuple[Callable[[pa.DataType], bool], ...]
    read: Callable[[Any], object] = _as_it_is


_TEXT: Final = (is_.is_string, is_.is_large_string)
_COLUMNS: Final = {
    "url": _Column("a text", _TEXT, _url),
    "status": _Column("an integer, or a text of digits", (is_.is_integer, is_.is_floating, *_TEXT), _status),
    "body": _Column("binary, or a text", (is_.is_binary, is_.is_large_binary, *_TEXT)),
    "fetched_at": _Column("a timestamp, or a text in ISO 8601", (is_.is_timestamp, *_TEXT), _time),
    "location": _Column("a text", _TEXT),
    "problem": _Column("a text", _TEXT),
}
_REQUIRED: Final = {"url", "status", "body", "fetched_at"}
