"""What is known of the robots.txt of an origin, and who says so: a folder of files, a survey, or a store.

A source answers with what a fetch of the robots.txt means (`Access`) and its body, or with why it is `Missing`. It
never guesses: a robots.txt that cannot be read is no robots.txt that allows. Loads Scrapy only for a store.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from scrapy_rep.clock import clock
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.display import StringEnum
from scrapy_rep.protocol.freshness import LONG_UNREACHABLE, Backoff, Freshness
from scrapy_rep.tools.files import open_file, read_file, require_text
from scrapy_rep.tools.survey.folder import NamedOrigin, SurveyFolder, file_name, folded_name, named_origin

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_SQLITE: Final = b"SQLite format 3\0"  # how every file of SQLite starts
_PORTS: Final = {"http": 80, "https": 443}
_ANY: Final = Origin("http", "localhost", 80)


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


def open_source(
    place: Path | BaseSettings,
    *,
    stale_max: float = LONG_UNREACHABLE,
    status_access: Mapping[int, Access] | None = None,
) -> Source:
    """The source at *place*: a folder of files, the folder of a survey, or a store.

    A store is a SQLite file, or what the settings of a project name. The other arguments are those settings of a
    crawl that say how its entries are read. Raises `SourceError` where none of these is.
    """
    if isinstance(place, Path):
        try:
            if place.is_dir():
                is_survey = SurveyFolder(place).is_used and (place / "files").is_dir()
                return SurveySource(place) if is_survey else FileSource(place)
            with open_file(place) as file:
                start = file.read(len(_SQLITE))
        except (OSError, ValueError) as error:
            raise _unreadable(place, error) from None
        if start != _SQLITE:
            raise SourceError(f"{place} is neither a folder of robots.txt files nor a store (REP_STORE_PATH)")
    return StoreSource(place, stale_max, status_access or {})


def _unreadable(place: Path, error: OSError | ValueError) -> SourceError:
    return SourceError(f"{place}: {getattr(error, 'strerror', None) or error}")


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
        for named in (exact, exact._replace(scheme=""), of_host):
            if named in self._names:
                return _read(self._folder, self._names[named], require_text)
        return Missing.NO_FILE


def _read(folder: Path, name: str, checked: Callable[[bytes], bytes]) -> Known | Missing:
    try:
        return Known(Access.SUCCESSFUL, checked(read_file(os.path.join(folder, name))))
    except (FileNotFoundError, NotADirectoryError):
        return Missing.NO_FILE
    except (OSError, ValueError):
        return Missing.UNREADABLE


class SurveySource:
    """The folder of ``scrapy robots survey``: the files that it fetched, and which origins have none."""

    def __init__(self, folder: Path) -> None:
        """Raises `SourceError`."""
        self._files = folder / "files"
        try:
            self._without_file = {
                row.site: Access(row.access)
                for row in SurveyFolder(folder).rows()
                if row.access != Access.SUCCESSFUL
            }
        except (OSError, ValueError) as error:
            raise _unreadable(folder, error) from None

    def get(self, origin: Origin) -> Known | Missing:
        """As `Source.get`."""
        access = self._without_file.get(str(origin))
        if access is not None:
            return Known(access)
        # Whatever the site serves counts, as in a crawl.
        found = _read(self._files, file_name(origin), bytes)
        return _read(self._files, folded_name(origin), bytes) if found is Missing.NO_FILE else found


class StoreSource:
    """A store of entries. What an entry means is what it means to a crawl now; none is fetched again."""

    def __init__(self, place: Path | BaseSettings, stale_max: float, status_access: Mapping[int, Access]) -> None:
        """As `open_source`."""
        from scrapy_rep.crawl.robots.stores.sqlite import SqliteStore  # noqa: PLC0415
        from scrapy_rep.crawl.robots.stores.sqlite_connection import SqliteConnection  # noqa: PLC0415
        from scrapy_rep.extras.fleet.sharing import store_of  # noqa: PLC0415  # they load Scrapy, which files do not need

        self._status_access = status_access
        self._freshness = Freshness(0.0, inf, stale_max, Backoff(0.0, 0.0))
        self._store = SqliteStore(SqliteConnection(place)) if isinstance(place, Path) else store_of(place)
        self.get(_ANY)  # what cannot be used is said at once

    def get(self, origin: Origin) -> Known | Missing:
        """As `Source.get`."""
        try:
            entry = next(self._store.entries(origin), None)
        except OSError as error:
            raise SourceError(str(error)) from None
        if entry is None:
            return Missing.NO_FILE
        access = self._freshness.access(entry, clock.time())
        if access is entry.access and entry.status is not None:
            access = self._status_access.get(entry.status, access)
        return Known(access, entry.body if access is Access.SUCCESSFUL else b"")
