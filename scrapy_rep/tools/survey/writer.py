"""The folder that a survey writes: ``survey.jsonl`` as records come, ``survey.html`` at the end, the files."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Final
from urllib.parse import quote

from scrapy_rep.protocol import Origin

from .record import SiteRecord
from .report import report
from .totals import Totals

_LONGEST_NAME: Final = 200  # octets


class Writer:
    """Writes what a survey finds to *folder*, which is made when it is missing. Raises ``OSError``.

    With *resume* behind what is there: ``earlier`` counts the records of each site, which ``totals`` sum up.
    ``ValueError`` for a file that holds something else. Else what is there is replaced.
    """

    def __init__(self, folder: Path, *, resume: bool = False) -> None:
        self.folder = folder
        self.totals = Totals()
        self.earlier: Counter[str] = Counter()
        folder.mkdir(parents=True, exist_ok=True)
        if resume:
            self._read_earlier()
        self.page.unlink(missing_ok=True)  # it tells of fewer sites, or of others
        self._records = _records_in(folder).open("a" if resume else "w", encoding="utf-8", buffering=1)

    def _read_earlier(self) -> None:
        """Count what is there, and remove a last line that was cut short."""
        path = _records_in(self.folder)
        path.touch()
        with path.open("r+b") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    file.truncate(path.stat().st_size - len(line))
                    break
                try:
                    record = SiteRecord.from_json(line.decode())
                except ValueError as error:
                    raise ValueError(f"{path}: line {number} is no record of a survey: {error}") from None
                self.totals.add(record)
                self.earlier[record.site] += 1

    @property
    def page(self) -> Path:
        """Where the report is."""
        return self.folder / "survey.html"

    def add(self, record: SiteRecord) -> None:
        """Write *record*, and count it."""
        self._records.write(record.to_json() + "\n")
        self.totals.add(record)

    def keep(self, origin: Origin, body: bytes) -> str:
        """Keep the *body* of *origin*; the name of its file in the folder."""
        path = self.folder / "files" / file_name(origin)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(body)
        return path.relative_to(self.folder).as_posix()

    def close(self, *, expected: int) -> None:
        """Write the report on what is there of the *expected* sites."""
        self._records.close()
        page = report(self.totals, datetime.now().astimezone(), expected=expected)
        self.page.write_text(page, encoding="utf-8")


def is_used(folder: Path) -> bool:
    """Whether a survey has been written to *folder*."""
    return _records_in(folder).exists()


def _records_in(folder: Path) -> Path:
    return folder / "survey.jsonl"


def file_name(origin: Origin) -> str:
    """A name for the file of *origin* that is safe in every folder and that no other origin has."""
    host = quote(origin.host, safe="")
    is_common = origin == Origin("https", origin.host, 443)
    name = host if is_common else f"{origin.scheme}+{host}+{origin.port}"  # no host has a "+"
    if len(name) > _LONGEST_NAME:
        name = f"{name[:100]}+{sha256(name.encode()).hexdigest()}"
    return f"{name}.txt"
