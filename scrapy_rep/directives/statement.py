"""What a page says about itself, statement by statement, as written and with where it was written."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Source(str, Enum):
    """Where a page directive was written; each is a string."""

    __str__ = str.__str__

    X_ROBOTS_TAG = "X-Robots-Tag"
    ROBOTS_TAG = "Robots-Tag"
    META = "meta"


@dataclass(frozen=True, slots=True)
class Directive:
    """One rule of a page: its ``name`` in lower case, and its ``value`` where it has one.

    ``agent`` is the name that it is addressed to, in lower case and without a version; None for every crawler.
    ``text`` is the rule as written. ``is_read`` is False for an unknown name and for a value that cannot be read:
    such a rule means nothing.
    """

    name: str
    value: int | float | str | None
    agent: str | None
    source: Source
    text: str
    is_read: bool = True
