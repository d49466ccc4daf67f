"""Fixes as data: which octets of a body to replace, and how several fixes are applied together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """``text`` replaces the octets of a body from ``start`` to before ``end``, counted from 0."""

    start: int
    end: int
    text: bytes = b""


@dataclass(frozen=True, slots=True)
class Fix:
    """The edits that settle one finding, in the order of their places. They do not overlap."""

    edits: tuple[Edit, ...]

    def applied_to(self, body: bytes) -> bytes:
        """*body* with all edits made."""
        return apply_fixes(body, [self])[0]


def apply_fixes(body: bytes, fixes: Iterable[Fix]) -> tuple[bytes, int]:
    """*body* with *fixes* made, and how many were: one that touches the place of an earlier one is left out."""
    chosen: list[Edit] = []
    made, end = 0, -1
    for fix in sorted(fixes, key=lambda each: each.edits[0]):
        if fix.edits[0].start > end:
            chosen += fix.edits
            made, end = made + 1, fix.edits[-1].end
    parts, end = [], 0
    for edit in chosen:
        parts += [body[end : edit.start], edit.text]
        end = edit.end
    return b"".join([*parts, body[end:]]), made
