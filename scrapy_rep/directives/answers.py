"""Statements about the use of a page by AI, and the answer for each category: no, yes or unknown.

draft-ietf-aipref-vocab-07, "Combining Preferences": no if any statement says no, else yes if any says yes. Unknown
is neither permission nor ban.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from .vocabulary import Category, Signal

MAX_TEXT: Final = 300
"""Characters of a statement's text that are kept."""

MAX_UNREAD: Final = 100
"""Statements of one source that are kept though they are irregular and have no category."""


class Answer(str, Enum):
    """What a site says about a category; each is a string."""

    __str__ = str.__str__

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: ``allows`` says yes or no to the use in ``category``.

    ``source`` is where it stands: ``robots.txt``, ``header``, ``meta``, the name of a field or the path of a
    file; ``line`` counts from 1 in a robots.txt, and is 0 elsewhere. ``text`` is as written, at most `MAX_TEXT`
    characters of it. An ``irregular`` one breaks a rule of its signal. ``category`` is None for what is recorded
    and maps to no category.
    """

    signal: Signal
    category: Category | None
    allows: bool | None
    source: str
    text: str
    line: int = 0
    irregular: bool = False


def answers(statements: Iterable[Statement]) -> Mapping[Category, Answer]:
    """Return the answer for every category; the order of the statements does not matter."""
    found = dict.fromkeys(Category, Answer.UNKNOWN)
    for statement in statements:
        if statement.category is None or statement.allows is None:
            continue
        if not statement.allows:
            found[statement.category] = Answer.NO
        elif found[statement.category] is Answer.UNKNOWN:
            found[statement.category] = Answer.YES
    return found


def reserved_from(
    purposes: Iterable[Category], found: Mapping[Category, Answer], *, silence: Answer
) -> list[Category]:
    """Return the *purposes* to which the answers *found* are no; *silence* is what unknown means."""
    return [
        purpose
        for purpose in purposes
        if (silence if found[purpose] is Answer.UNKNOWN else found[purpose]) is Answer.NO
    ]


def first_refusal(statements: Iterable[Statement], purposes: Collection[Category]) -> Statement | None:
    """Return the first of *statements* that says no to one of *purposes*."""
    return next((one for one in statements if one.allows is False and one.category in purposes), None)


def shortened(text: str) -> str:
    """Return *text* as a statement keeps it: bounded, and always encodable."""
    return text[:MAX_TEXT].encode("utf-8", "replace").decode()


def without_repetitions(statements: Iterable[Statement]) -> tuple[Statement, ...]:
    """Return the first of all *statements* that say the same, so that thousands of lines do not cost every page.

    The `answers` stay the same. Of irregular statements without a category, `MAX_UNREAD` are kept.
    """
    said: dict[object, Statement] = {}
    unread: dict[str, Statement] = {}
    for statement in statements:
        if statement.category is not None:
            said.setdefault(
                (statement.signal, statement.category, statement.allows, statement.irregular), statement
            )
        elif not statement.irregular:
            said.setdefault("".join(statement.text.lower().split()), statement)
        elif len(unread) < MAX_UNREAD:
            unread.setdefault(statement.text, statement)
    return (*said.values(), *unread.values())
