"""What is known of the robots.txt of an origin, and who says so: a folder of files, or a survey.

A source answers with what a fetch of the robots.txt means (`Access`) and its body, or with why it is `Missing`. It
never guesses: a robots.txt that cannot be read is no robots.txt that allows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.display import StringEnum
from scrapy_rep.tools.files import read_file, require_text
from scrapy_rep.tools.survey.folder import NamedOrigin, SurveyFolder, file_name, folded_name, named_origin

_PORTS: Final = {"http": 80, "https": 443}


class SourceError(Exception):
    """The robots.txt files cannot be read; the message names what to change."""


class Missing(StringEnum):
    """Why the verdict on a URL is unknown; each is a string."""

    NO_FILE = "no robots.txt"
    """The source has no robots.txt of the origin."""
    UNREADABLE = "unreadable robots.txt"
    """The source has a file for the origin that cannot be read."""
    NO_URL = "not a URL"
    """There is no origin in what should be a URL, or it holds control characters, or it is too long."""


@dataclass(frozen=True, slots=True)
class Known:
    """The robots.txt of an origin: what its fetch meant and, if it was successful, its body."""

    access: Access
    body: bytes = b""


class Source(Protocol):
    """Robots.txt files by origin."""

    def get(self, origin: Origin) -> Known | Missing:
        """What is known of the robots.txt of *origin*. Raises `SourceError` when the source cannot be used."""


def open_source(place: Path) -> Source:
    """The source at *place*: a folder of files, or that of a survey. Raises `SourceError` for another place."""
    try:
        is_survey = SurveyFolder(place).is_used and (place / "files").is_dir()
        return SurveySource(place) if is_survey else FileSource(place)
    except (OSError, ValueError) as error:
        raise SourceError(f"{place}: {getattr(error, 'strerror', None) or error}") from None


class FileSource:
    """The files in a folder, named by origin.

    ``HOST`` and ``HOST.txt`` speak for the default ports of http and https, ``HOST_PORT`` for one port, and
    ``SCHEME+HOST+PORT.txt``, as a survey writes it, for one origin; `named_origin` has other spellings. The most
    exact name counts.
    """

    def __init__(self, folder: Path) -> None:
        """Raises ``OSError``."""
        self._folder = folder
        # Sorted backwards, so that of two names of one site the shorter one counts.
        named = ((named_origin(name), name) for name in sorted(os.listdir(folder), reverse=True))
        self._names = {origin: name for origin, name in named if origin}

    def get(self, origin: Origin) -> Known | Missing:
        """As `Source.get`."""
        exact = NamedOrigin(origin.scheme, origin.host, origin.port)
        of_host = exact._replace(scheme="", port=0 if _PORTS.get(origin.scheme) == origin.port else -1)
        names = map(self._names.get, (exact, exact._replace(scheme=""), of_host))
        return _read(self._folder, filter(None, names), require_text)


class SurveySource:
    """The folder of ``scrapy robots survey``: the files that it fetched, and which origins have none."""

    def __init__(self, folder: Path) -> None:
        """Raises ``OSError`` and ``ValueError``."""
        self._files = folder / "files"
        rows = SurveyFolder(folder).rows()
        self._without_file = {row.site: Access(row.access) for row in rows if row.access != Access.SUCCESSFUL}

    def get(self, origin: Origin) -> Known | Missing:
        """As `Source.get`."""
        if access := self._without_file.get(str(origin)):
            return Known(access)
        return _read(
            self._files, (file_name(origin), folded_name(origin)), bytes
        )  # whatever the site serves counts


def _read(folder: Path, names: Iterable[str], check: Callable[[bytes], bytes]) -> Known | Missing:
    """What the first of the files called *names* holds that there is."""
    for name in names:
        try:
            return Known(Access.SUCCESSFUL, check(read_file(os.path.join(folder, name))))
        except (FileNotFoundError, NotADirectoryError):  # noqa: PERF203
            continue
        except (OSError, ValueError):
            return Missing.UNREADABLE
    return Missing.NO_FILE
