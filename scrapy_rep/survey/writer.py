"""The folder that a survey writes: ``survey.jsonl`` as records come, ``survey.html`` at the end, the files."""

from __future__ import annotations

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
    """Writes what a survey finds to *folder*, which is made when it is missing. Raises ``OSError``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.totals = Totals()
        folder.mkdir(parents=True, exist_ok=True)
        self._records = (folder / "survey.jsonl").open("w", encoding="utf-8", buffering=1)

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

    def close(self, *, is_whole: bool) -> None:
        """Write the report on what is there."""
        self._records.close()
        page = report(self.totals, datetime.now().astimezone(), is_whole=is_whole)
        self.page.write_text(page, encoding="utf-8")


def file_name(origin: Origin) -> str:
    """A name for the file of *origin* that is safe in every folder and that no other origin has."""
    host = quote(origin.host, safe="")
    is_common = origin == Origin("https", origin.host, 443)
    name = host if is_common else f"{origin.scheme}+{host}+{origin.port}"  # no host has a "+"
    if len(name) > _LONGEST_NAME:
        name = f"{name[:100]}+{sha256(name.encode()).hexdigest()}"
    return f"{name}.txt"
