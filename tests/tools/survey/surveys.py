"""Makes surveys to compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from scrapy_rep.census import Capture, Row, rows
from scrapy_rep.tools.survey.folder import SurveyFolder


def survey(path: Path, sites: Mapping[str, bytes | Capture], when: datetime | None = None) -> SurveyFolder:
    """A folder with a survey of *sites*: their files, or what was captured."""
    folder = SurveyFolder(path)
    folder.open(append=False)
    for name, found in sites.items():
        capture = Capture("", body=found) if isinstance(found, bytes) else found
        if capture.body is not None:
            (path / name).write_bytes(capture.body)
        (row,) = rows([capture._replace(url=name, fetched_at=when)])
        folder.add(Row(**row | {"file": name}))
    folder.close()
    return folder


@dataclass(frozen=True)
class Table:
    """A survey without bodies, such as one that Spark wrote: light rows alone."""

    name: str
    sites: Mapping[str, bytes | None]
    when: datetime | None = None

    def rows(self) -> Iterator[Row]:
        captures = (Capture(name, body=body, fetched_at=self.when) for name, body in self.sites.items())
        return (Row(**row) for row in rows(captures, light=True))
