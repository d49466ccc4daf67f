"""Which source is at a path. The store is imported only where there is one: its room loads Scrapy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrapy_rep.tools.files import open_file
from scrapy_rep.tools.survey.folder import SurveyFolder

from .file_sources import FileSource, SurveySource
from .sources import Reading, Source, SourceError

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_SQLITE: Final = b"SQLite format 3\0"  # how every file of SQLite starts


def open_source(place: Path | BaseSettings, reading: Reading | None = None) -> Source:
    """The source at *place*: a folder of files, the folder of a survey, or a store, which takes a *reading*.

    A store is a SQLite file, or what the settings of a project name. Raises `SourceError` where none of these is.
    """
    if isinstance(place, Path):
        source = _folder(place)
        if source is not None:
            return source
    from .store_source import StoreSource  # noqa: PLC0415  # loads Scrapy, which folders do not need

    return StoreSource(place, reading or Reading())


def _folder(path: Path) -> Source | None:
    """The source in a folder at *path*, or None if a SQLite file is there. Raises `SourceError`."""
    try:
        if path.is_dir():
            return SurveySource(path) if _is_survey(path) else FileSource(path)
        with open_file(path) as file:
            start = file.read(len(_SQLITE))
    except (OSError, ValueError) as error:
        raise SourceError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    if start != _SQLITE:
        raise SourceError(f"{path} is neither a folder of robots.txt files nor a store (REP_STORE_PATH)")
    return None


def _is_survey(folder: Path) -> bool:
    return SurveyFolder(folder).is_used and (folder / "files").is_dir()
