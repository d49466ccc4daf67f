"""The stamp: what robots.txt said about a response, in ``response.meta["rep"]``.

A plain dict of JSON values, so that it survives disk queues, Redis and exports. It is written anew whenever a
request passes the gate: one that was copied from another response never stays.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from scrapy.http import Response

META_KEY: Final = "rep"
"""The key of the stamp in the meta of requests and responses."""

VERSION: Final = 1
"""The value of ``v``; it grows when a field changes its meaning."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What robots.txt said about one request, and under which mode it was sent.

    ``verdict`` is ``allowed``, ``excepted`` (by ``exception``), ``reported`` (forbidden, in the mode report),
    ``ignored`` or ``off``. ``reason``, ``rule`` and its ``line`` say why; ``agent`` is the product token that was
    asked for, ``origin`` the site. ``robots`` is the URL that answered with ``status``; ``sha256`` is the body's,
    ``fetched`` its time (ISO 8601, UTC); ``source`` is ``fetched``, ``revalidated``, ``store`` or ``stale``.
    """

    v: int
    mode: str
    verdict: str
    reason: str | None = None
    rule: str | None = None
    line: int = 0
    agent: str | None = None
    origin: str | None = None
    robots: str | None = None
    status: int | None = None
    sha256: str | None = None
    fetched: str | None = None
    source: str | None = None
    exception: dict[str, str] | None = None

    @property
    def is_ordinary(self) -> bool:
        """Whether robots.txt allowed the request, and a current file said so."""
        return self.verdict == "allowed" and self.source != "stale"


_FIELDS: Final = {field.name for field in fields(Stamp)}


def stamp(response: Response) -> Stamp | None:
    """The stamp of *response*; None if robots.txt was not involved.

    Fields of later versions are left out.
    """
    values: Any = response.meta.get(META_KEY)
    if not isinstance(values, dict) or "verdict" not in values:
        return None
    return Stamp(**{name: value for name, value in values.items() if name in _FIELDS})
