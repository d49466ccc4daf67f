"""Files of an origin that speak about the use by AI: fetched, stored and refreshed as its robots.txt is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from scrapy_rep.protocol import Origin

from . import ai_txt, tdm

PATHS: Final = (tdm.PATH, ai_txt.PATH)
"""Where these files are."""


@dataclass(frozen=True, slots=True)
class SiteFile(Origin):
    """The file at ``path`` of an origin: stands for it where fetcher and stores take one, under its own key."""

    path: str = ""

    @classmethod
    def of(cls, origin: Origin, path: str) -> SiteFile:
        """The file at *path* of *origin*."""
        return cls(origin.scheme, origin.host, origin.port, path)

    @property
    def robots_url(self) -> str:
        """The URL of the file."""
        return str(self)

    def __str__(self) -> str:
        return f"{Origin.__str__(self)}{self.path}"


def origin_of(key: str) -> Origin:
    """The origin, or the file of one, that is kept under *key*. Raises ``ValueError``."""
    origin, path = Origin.from_url(key), urlsplit(key).path
    return SiteFile.of(origin, path) if path in PATHS else origin
