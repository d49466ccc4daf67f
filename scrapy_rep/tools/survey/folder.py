"""The folders of a survey: the robots.txt files that it reads, and the records, bodies and tables that it writes.

In tables, CSV or Parquet (by pyarrow, the extra ``parquet``), a row is a record and a column a field. Fields that
hold several values are JSON in CSV; in Parquet they are lists, maps and structs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from functools import partial
from hashlib import sha256
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from types import NoneType
from typing import Any, Final, get_args, get_origin, get_type_hints, is_typeddict
from urllib.parse import quote

from scrapy_rep.protocol import Dialect, Origin
from scrapy_rep.tools import files
from scrapy_rep.tools.files import MOST_OCTETS, read_file
from scrapy_rep.tools.processes import map_in_processes

from . import TYPES, SiteRecord

WITHOUT_PYARROW: Final = "pyarrow, which writes Parquet, is not installed: pip install 'scrapy_rep[parquet]'"

_LONGEST_NAME: Final = 200  # octets
_FILES_WORTH_PROCESSES: Final = 200
_ROWS_AT_ONCE: Final = 1_000  # in memory, and a row group of Parquet


# What is read


def site_of(folder: Path, path: Path) -> str:
    """Return the site in the record of the file at *path* in *folder*."""
    name = path.relative_to(folder).as_posix()
    return os.fsencode(name.removesuffix(".txt")).decode("utf-8", "backslashreplace")


def measure_files(
    folder: Path, paths: Iterable[Path], out: str, dialect: Dialect, limit: int
) -> Iterator[SiteRecord]:
    """Yield a record for each file at *paths* in *folder*, in this order; they name the file as seen from *out*.

    A file that cannot be read yields a record with the problem.
    """
    measure_one = partial(_measure_file, folder, out, dialect, limit)
    return map_in_processes(measure_one, paths, worth_it=_FILES_WORTH_PROCESSES)


def _measure_file(folder: Path, out: str, dialect: Dialect, limit: int, path: Path) -> SiteRecord:
    from .measure import measure  # noqa: PLC0415  # loads the linter, which who reads a survey does not need

    site, name = site_of(folder, path), _relative(path, out)
    try:
        body = read_file(path)
    except OSError as error:
        return SiteRecord(site, "unreachable", problem=error.strerror or str(error), file=name)
    return measure(site, body, dialect=dialect, limit=limit, file=name)


def _relative(path: Path, folder: str) -> str:
    try:
        return os.path.relpath(path, folder)
    except ValueError:  # another drive
        return os.path.abspath(path)


# What is written


class SurveyFolder:
    """The folder of a survey: ``survey.jsonl``, ``survey.html`` and, in ``files/``, what was fetched.

    It is created when it is missing.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._records_path = path / "survey.jsonl"
        self.page = path / "survey.html"

    @property
    def is_used(self) -> bool:
        """Whether the folder holds a survey."""
        return self._records_path.exists()

    def earlier_records(self) -> Iterator[SiteRecord]:
        """The records of an earlier survey, if there is one. Removes a last line that was cut short.

        Raises ``OSError``, and ``ValueError`` for a file that holds something else.
        """
        if not self.is_used:
            return
        with self._records_path.open("r+b") as file:
            for line in iter(partial(file.readline, MOST_OCTETS), b""):
                if not line.endswith(b"\n"):
                    file.truncate(self._records_path.stat().st_size - len(line))
        yield from self.records()

    def records(self) -> Iterator[SiteRecord]:
        """All records. Raises ``OSError``, and ``ValueError`` for a file that holds something else."""
        return (record for _, record in self.positioned_records())

    def positioned_records(self) -> Iterator[tuple[int, SiteRecord]]:
        """All records, each with its position, which `record_at` takes. Raises as `records` does."""
        position = 0
        with self._records_path.open("rb") as file:
            for number, line in enumerate(iter(partial(file.readline, MOST_OCTETS), b""), start=1):
                yield position, self._record_in(line, number)
                position += len(line)

    def record_at(self, position: int) -> SiteRecord:
        """The record at *position*. Raises as `records` does."""
        with self._records_path.open("rb") as file:
            file.seek(position)
            return self._record_in(file.readline(), 0)

    def _record_in(self, line: bytes, number: int) -> SiteRecord:
        try:
            return SiteRecord.from_json(line.decode())
        except ValueError as error:
            raise ValueError(f"{self._records_path}: line {number} is not a survey record: {error}") from None

    def open(self, *, append: bool) -> None:
        """Open the file of records, to *append* to it or to replace it. Raises ``OSError``."""
        self._path.mkdir(parents=True, exist_ok=True)
        self.page.unlink(missing_ok=True)  # it covers other sites
        self._records = self._records_path.open("a" if append else "w", encoding="utf-8", buffering=1)

    def add(self, record: SiteRecord) -> None:
        """Write *record*. Raises ``OSError``."""
        self._records.write(record.to_json() + "\n")

    def save_body(self, origin: Origin, body: bytes) -> str:
        """Save the robots.txt of *origin*; return the name of the file, relative to the folder."""
        path = self._path / "files" / file_name(origin)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(body)
        return path.relative_to(self._path).as_posix()

    def body(self, record: SiteRecord) -> bytes | None:
        """The robots.txt of *record*; None when it is not to be had, and when it is another one by now."""
        try:
            body = read_file(self._path / record.file) if record.file else None
        except (OSError, ValueError):  # a name with a NUL
            return None
        return body if body is not None and sha256(body).hexdigest() == record.sha256 else None

    def close(self) -> None:
        """Close the file of records. Raises ``OSError``."""
        self._records.close()


def file_name(origin: Origin) -> str:
    """A file name for *origin* that is safe in every folder and unique to it."""
    host = quote(origin.host, safe="")
    is_common = origin == Origin("https", origin.host, 443)
    name = host if is_common else f"{origin.scheme}+{host}+{origin.port}"  # no host contains a "+"
    if len(name) > _LONGEST_NAME:
        name = f"{name[:100]}+{sha256(name.encode()).hexdigest()}"
    return f"{name}.txt"


def write_csv(records: Iterable[SiteRecord], path: Path) -> None:
    """Write *records* to *path*, in UTF-8 with a line of names. Raises ``OSError``."""
    rows = (map(_cell, record.as_dict().values()) for record in records)
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        files.write_csv(chain([TYPES], rows), file)


def _cell(value: object) -> object:
    return json.dumps(value) if isinstance(value, dict | list | bool) else value


def can_write_parquet() -> bool:
    """Return whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


def write_parquet(records: Iterable[SiteRecord], path: Path) -> None:
    """Write *records* to *path*. Raises ``OSError``. pyarrow must be there: see `can_write_parquet`."""
    import pyarrow as pa  # noqa: PLC0415  # half as much to load as all the rest
    from pyarrow import parquet  # noqa: PLC0415

    schema, left = pa.schema([(name, _arrow_type(kind)) for name, kind in TYPES.items()]), iter(records)
    with parquet.ParquetWriter(path, schema) as writer:
        while rows := [each.as_dict() for each in islice(left, _ROWS_AT_ONCE)]:
            cells = ({name: _arrow_value(value, TYPES[name]) for name, value in row.items()} for row in rows)
            writer.write_table(pa.Table.from_pylist([*cells], schema))


def _arrow_type(kind: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    simple = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
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
