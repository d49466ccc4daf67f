"""The folder that a survey writes: ``survey.jsonl``, ``survey.html`` and, in ``files/``, what was fetched."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final
from urllib.parse import quote

from scrapy_rep.protocol import Origin

from .site_record import SiteRecord

_LONGEST_NAME: Final = 200  # octets


class SurveyFolder:
    """Writes a survey to the folder at *path*, which is created when it is missing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._records_path = path / "survey.jsonl"
        self.page = path / "survey.html"

    @property
    def is_used(self) -> bool:
        """Whether the folder holds a survey."""
        return self._records_path.exists()

    def earlier_records(self) -> Iterator[SiteRecord]:
        """The records of an earlier survey. Removes a last line that was cut short.

        Raises ``OSError``, and ``ValueError`` for a file that holds something else.
        """
        if not self.is_used:
            return
        with self._records_path.open("r+b") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    file.truncate(self._records_path.stat().st_size - len(line))
                    break
                try:
                    yield SiteRecord.from_json(line.decode())
                except ValueError as error:
                    message = f"{self._records_path}: line {number} is not a survey record: {error}"
                    raise ValueError(message) from None

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

    def close(self, page: str) -> None:
        """Close the file of records and write the report *page*. Raises ``OSError``."""
        self._records.close()
        self.page.write_text(page, encoding="utf-8")


def file_name(origin: Origin) -> str:
    """A file name for *origin* that is safe in every folder and unique to it."""
    host = quote(origin.host, safe="")
    is_common = origin == Origin("https", origin.host, 443)
    name = host if is_common else f"{origin.scheme}+{host}+{origin.port}"  # no host contains a "+"
    if len(name) > _LONGEST_NAME:
        name = f"{name[:100]}+{sha256(name.encode()).hexdigest()}"
    return f"{name}.txt"
