"""Statements about the use of a page by AI, and the answer for each category: no, yes or unknown.

draft-ietf-aipref-vocab-07, "Combining Preferences": no if any statement says no, else yes if any says yes. Unknown
is neither permission nor ban.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from .vocabulary import Category, Signal


class Answer(str, Enum):
    """What a site says about a category; each is a string."""

    __str__ = str.__str__

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: ``allows`` says yes or no to the use in ``category``.

    ``source`` is where it stands: ``robots.txt``, ``header``, ``meta`` or the path of a file; ``line`` counts
    from 1 in a robots.txt, and is 0 elsewhere. ``text`` is as written. An ``irregular`` one breaks a rule of its
    signal. ``category`` is None for what is recorded and maps to no category.
    """

    signal: Signal
    category: Category | None
    allows: bool | None
    source: str
    text: str
    line: int = 0
    irregular: bool = False


def answers(statements: Iterable[Statement]) -> Mapping[Category, Answer]:
    """The answer for every category."""
    found = dict.fromkeys(Category, Answer.UNKNOWN)
    for statement in statements:
        if statement.category is None or statement.allows is None:
            continue
        if not statement.allows:
            found[statement.category] = Answer.NO
        elif found[statement.category] is Answer.UNKNOWN:
            found[statement.category] = Answer.YES
    return found
