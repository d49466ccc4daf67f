"""The tdmrep.json of an origin, as what is fetched, stored and refreshed in the ways of a robots.txt."""

from __future__ import annotations

from dataclasses import dataclass

from scrapy_rep.protocol import Origin

from .tdm import PATH


@dataclass(frozen=True, slots=True)
class TdmRepFile(Origin):
    """Stands for an origin where fetcher and stores take one; it has the URL of the file, and a key of its own."""

    @classmethod
    def of(cls, origin: Origin) -> TdmRepFile:
        """The file of *origin*."""
        return cls(origin.scheme, origin.host, origin.port)

    @property
    def robots_url(self) -> str:
        """The URL of the file."""
        return str(self)

    def __str__(self) -> str:
        return f"{Origin.__str__(self)}{PATH}"


def origin_of(key: str) -> Origin:
    """The origin, or the file of one, that is kept under *key*. Raises ``ValueError``."""
    origin = Origin.from_url(key)
    return TdmRepFile.of(origin) if key.endswith(PATH) else origin
