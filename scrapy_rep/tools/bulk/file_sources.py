"""Robots.txt files in a folder: named by origin, or fetched by a survey. Imports no Scrapy."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final
from urllib.parse import quote

from scrapy_rep.protocol import Access, Origin
from scrapy_rep.tools.files import read_file, require_text
from scrapy_rep.tools.survey.folder import SurveyFolder, file_name

from .sources import Known, Missing, SourceError

_is_plain = re.compile(r"[a-z0-9.-]+").fullmatch
_PORTS: Final = {"http": 80, "https": 443}


class FileSource:
    """The files in a folder, named by origin.

    ``HOST`` and ``HOST.txt`` speak for the default ports of http and https, ``HOST_PORT`` for one port, and
    ``SCHEME+HOST+PORT.txt``, as a survey writes it, for one origin. The most exact name counts.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, origin: Origin) -> Known | Missing:
        """As `Source.get`."""
        for name in _names(origin):
            found = _read(self._folder / name, require_text)
            if found is not Missing.NO_FILE:
                return found
        return Missing.NO_FILE


def _names(origin: Origin) -> list[str]:
    host, port = origin.host, origin.port
    if not _is_plain(host):
        host = quote(host, safe="")
    exact = [f"{origin.scheme}+{host}+{port}.txt", f"{host}_{port}", f"{host}_{port}.txt"]
    is_common = _PORTS.get(origin.scheme) == port and host.strip(".")
    return [*exact, host, f"{host}.txt"] if is_common else exact


def _read(path: Path, checked: Callable[[bytes], bytes]) -> Known | Missing:
    try:
        return Known(Access.SUCCESSFUL, checked(read_file(path)))
    except (FileNotFoundError, NotADirectoryError):
        return Missing.NO_FILE
    except (OSError, ValueError):
        return Missing.UNREADABLE


class SurveySource:
    """The folder of ``scrapy robots survey``: the files that it fetched, and which origins have none."""

    def __init__(self, folder: Path) -> None:
        """Raises `SourceError`."""
        self._files = folder / "files"
        self._without_file: dict[str, Access] = {}
        try:
            for record in SurveyFolder(folder).records():
                if record.access != Access.SUCCESSFUL:
                    self._without_file[record.site] = Access(record.access)
        except (OSError, ValueError) as error:
            raise SourceError(f"{folder}: {error}") from None

    def get(self, origin: Origin) -> Known | Missing:
        """As `Source.get`."""
        access = self._without_file.get(str(origin))
        # Whatever the site serves counts, as in a crawl.
        return _read(self._files / file_name(origin), bytes) if access is None else Known(access)
