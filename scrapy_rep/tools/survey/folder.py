"""The folder of a survey: the rows, bodies and tables that it writes.

In CSV, columns that hold several values are JSON; Parquet is written by `scrapy_rep.census.arrow`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial
from hashlib import sha256
from ipaddress import ip_address
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

from scrapy_rep.census.row import TYPES, Row, to_json
from scrapy_rep.protocol import Origin
from scrapy_rep.tools import files
from scrapy_rep.tools.files import MOST_OCTETS, read_file

_LONGEST_NAME: Final = 200  # octets
_MOST_IN_A_FOLDER: Final = 10_000  # files: with more, each of 256 folders has its share


class SurveyFolder:
    """The folder of a survey: ``survey.jsonl``, ``survey.html`` and, in ``files/``, what was fetched.

    It is created when it is missing.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows_path = path / "survey.jsonl"
        self.page = path / "survey.html"

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self._path.resolve().name

    @property
    def is_used(self) -> bool:
        """Whether the folder holds a survey."""
        return self._rows_path.exists()

    def earlier_rows(self) -> Iterator[Row]:
        """The rows of an earlier survey, if there is one. Removes a last line that was cut short.

        Raises ``OSError``, and ``ValueError`` for a file that holds something else.
        """
        if not self.is_used:
            return
        with self._rows_path.open("r+b") as file:
            for line in iter(partial(file.readline, MOST_OCTETS), b""):
                if not line.endswith(b"\n"):
                    file.truncate(self._rows_path.stat().st_size - len(line))
        yield from self.rows()

    def rows(self) -> Iterator[Row]:
        """All rows. Raises ``OSError``, and ``ValueError`` for a file that holds something else."""
        with self._rows_path.open("rb") as file:
            for number, line in enumerate(iter(partial(file.readline, MOST_OCTETS), b""), start=1):
                try:
                    row = Row.from_json(line.decode())
                except ValueError as error:
                    what = f"line {number} is not a row of a survey: {error}"
                    raise ValueError(f"{self._rows_path}: {what}") from None
                yield row

    def open(self, *, append: bool, sites: int = 0) -> None:
        """Open the file of rows, to *append* to it or to replace it.

        Raises ``OSError``. *sites* are expected: the bodies of many go to several folders.
        """
        self._has_many = sites > _MOST_IN_A_FOLDER
        self._path.mkdir(parents=True, exist_ok=True)
        self._rows = self._rows_path.open("a", encoding="utf-8")
        if not append:
            self._rows.truncate(0)
        self.page.unlink(missing_ok=True)  # it covers other sites

    def add(self, row: Row) -> None:
        """Write *row*. Raises ``OSError``."""
        self._rows.write(to_json(row.as_dict()) + "\n")

    def save_body(self, origin: Origin, body: bytes) -> str:
        """Save the robots.txt of *origin*; return the name of the file, relative to the folder."""
        path = self._path / "files" / (folded_name(origin) if self._has_many else file_name(origin))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
        return path.relative_to(self._path).as_posix()

    def body(self, row: Row) -> bytes | None:
        """The robots.txt of *row*; None when it is not to be had, and when it is another one by now."""
        try:
            body = read_file(self._path / row.file) if row.file else None
        except (OSError, ValueError):  # a name with a NUL
            return None
        return body if body is not None and sha256(body).hexdigest() == row.sha256 else None

    def close(self) -> None:
        """Close the file of rows. Raises ``OSError``."""
        self._rows.close()


def file_name(origin: Origin) -> str:
    """A file name for *origin* that is safe in every folder and unique to it."""
    host = quote(origin.host, safe="")
    is_common = origin == Origin("https", origin.host, 443)
    name = host if is_common else f"{origin.scheme}+{host}+{origin.port}"  # no host contains a "+"
    if len(name) > _LONGEST_NAME:
        name = f"{name[:100]}+{sha256(name.encode()).hexdigest()}"
    return f"{name}.txt"


# A host name may have "_" in it, a top-level domain not: what follows is a port.
_NAME: Final = re.compile(r"(?:(https?)\+)?(.+?)(?:[_+:]([0-9]{1,5}))?", re.IGNORECASE)
_IPV6: Final = re.compile(r"(\[)?([0-9a-f:.]*:[0-9a-f:.]*)(?(1)\])", re.IGNORECASE)
_LABELS: Final = re.compile(r"[\w-]+(?:\.[\w-]+)*\.?")
_TOP_LEVEL: Final = re.compile(r"\.[\w-]*[^\W\d_][\w-]*\.?\Z")
_IPV4: Final = re.compile(r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}")


class NamedOrigin(NamedTuple):
    """What the name of a file stands for: a host, perhaps with a port (else 0), perhaps with a scheme, too."""

    scheme: str
    host: str
    port: int

    @property
    def name(self) -> str:
        """The one spelling of such a name, without a suffix."""
        host = quote(self.host, safe="")
        if self.scheme:
            return f"{self.scheme}+{host}+{self.port}.txt"
        return f"{host}_{self.port}" if self.port else host


def named_origin(name: str) -> NamedOrigin | None:
    """What a file called *name* stands for; None where that is no site.

    ``HOST``, ``HOST_PORT``, ``HOST:PORT`` and ``SCHEME+HOST+PORT``, with or without ``.txt``. HOST is a domain in
    any case, in Unicode or IDNA, or an IP address; with a scheme it may have one label.
    """
    name = name.removesuffix(".txt")
    parts = None if _IPV6.fullmatch(name) else _NAME.fullmatch(name)
    scheme, host, port = parts.groups() if parts else (None, name, None)
    host, ipv6 = unquote(host), _IPV6.fullmatch(unquote(host))
    is_domain = _TOP_LEVEL.search(host) or _IPV4.fullmatch(host) or scheme or (port and host == "localhost")
    if not ipv6 and not (is_domain and _LABELS.fullmatch(host)):
        return None
    netloc = f"[{ipv6[2]}]" if ipv6 else host
    origin = Origin.find(f"{(scheme or 'https').lower()}://{netloc}" + (f":{port}" if port else ""))
    if not origin or ((ipv6 or _IPV4.fullmatch(host)) and not _is_address(origin.host)):
        return None
    return NamedOrigin(origin.scheme if scheme else "", origin.host, origin.port if scheme or port else 0)


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def folded_name(origin: Origin) -> str:
    """A file name for *origin* as `file_name`, in one of 256 folders."""
    name = file_name(origin)
    return f"{sha256(name.encode()).hexdigest()[:2]}/{name}"


def write_csv(rows: Iterable[Row], path: Path) -> None:
    """Write *rows* to *path*, in UTF-8 with a line of names. Raises ``OSError``."""
    cells = (map(_cell, row.as_dict().values()) for row in rows)
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        files.write_csv(chain([TYPES], cells), file)


def _cell(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return json.dumps(value) if isinstance(value, dict | list | bool) else value
