"""The records of a survey as a table for other programs: CSV, or Parquet by pyarrow (the extra ``parquet``).

A row is a record, a column a field. In CSV, fields that hold several values are JSON; in Parquet they are lists,
maps and structs.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from types import NoneType
from typing import Any, Final, get_args, get_origin, get_type_hints, is_typeddict

from .records import TYPES, SiteRecord

try:
    import pyarrow as pa
    from pyarrow import parquet
except ModuleNotFoundError as error:
    if error.name != "pyarrow":
        raise
    pa = None

WITHOUT_PYARROW: Final = "pyarrow, which writes Parquet, is not installed: pip install 'scrapy_rep[parquet]'"

_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")
_ROWS_AT_ONCE: Final = 1_000  # in memory, and a row group of Parquet


def can_write_parquet() -> bool:
    """Return whether pyarrow is installed."""
    return pa is not None


def write_csv(records: Iterable[SiteRecord], path: Path) -> None:
    """Write *records* to *path*, in UTF-8 with a line of names. Raises ``OSError``.

    An apostrophe comes before a text that a spreadsheet would take for a formula.
    """
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(TYPES)
        writer.writerows([_cell(value) for value in asdict(record).values()] for record in records)


def _cell(value: object) -> object:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA_STARTS) else value
    return json.dumps(value) if isinstance(value, dict | list | bool) else value


def write_parquet(records: Iterable[SiteRecord], path: Path) -> None:
    """Write *records* to *path*. Raises ``OSError``. pyarrow must be there: see `can_write_parquet`."""
    schema = pa.schema([(name, _arrow_type(kind)) for name, kind in TYPES.items()])
    with parquet.ParquetWriter(path, schema) as writer:
        for rows in _batches(records):
            writer.write_table(pa.Table.from_pylist(rows, schema))


def _batches(records: Iterable[SiteRecord]) -> Iterator[list[dict[str, Any]]]:
    left = iter(records)
    while batch := list(islice(left, _ROWS_AT_ONCE)):
        yield [{name: _arrow_value(value, TYPES[name]) for name, value in asdict(each).items()} for each in batch]


def _arrow_type(kind: Any) -> Any:
    simple = {
        str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()
    }  # fmt: skip
    if kind in simple:
        return simple[kind]
    if is_typeddict(kind):
        return pa.struct([(name, _arrow_type(part)) for name, part in get_type_hints(kind).items()])
    parts = [_arrow_type(part) for part in get_args(kind) if part is not NoneType]
    if get_origin(kind) is dict:
        return pa.map_(*parts)
    return pa.list_(*parts) if get_origin(kind) is list else parts[0]  # else an optional value


def _arrow_value(value: Any, kind: Any) -> Any:
    """*value* as pyarrow takes it: a map is a list of pairs, and a text has no lone surrogate."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if get_origin(kind) is dict:
        inner = get_args(kind)[1]
        return [(_arrow_value(key, str), _arrow_value(each, inner)) for key, each in value.items()]
    if get_origin(kind) is list:
        return [_arrow_value(each, get_args(kind)[0]) for each in value]
    return value
