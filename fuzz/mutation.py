"""Inputs made of seeds by a few edits, as a strategy of hypothesis: no coverage guides it, but it shrinks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hypothesis import strategies as st

from .words import WORDS

_MOST_EDITS: Final = 6
_MOST_REMOVED: Final = 40
_PIECES: Final = st.sampled_from(WORDS) | st.binary(max_size=6)
_EDITS: Final = st.lists(
    st.tuples(st.integers(0, 800), st.integers(0, _MOST_REMOVED), _PIECES), max_size=_MOST_EDITS
)


def mutated(seeds: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """The *seeds*, each with up to six pieces removed, put in, or replaced."""
    return st.builds(_edited, st.sampled_from(seeds), _EDITS)


def _edited(data: bytes, edits: Sequence[tuple[int, int, bytes]]) -> bytes:
    for place, removed, piece in edits:
        at = place % (len(data) + 1)
        data = data[:at] + piece + data[at + removed :]
    return data
