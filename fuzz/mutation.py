"""Inputs made of others by a few edits, at random: no coverage guides them."""

from __future__ import annotations

from random import Random
from typing import Final

from .words import WORDS

_MOST_EDITS: Final = 6
_REMOVED: Final = (0, 0, 1, 3, 40)  # octets


def edited(random: Random, data: bytes) -> bytes:
    """*data* with up to six pieces removed, put in, or replaced."""
    for _ in range(random.randrange(_MOST_EDITS + 1)):
        at = random.randrange(len(data) + 1)
        piece = random.choice(WORDS) if random.random() < 0.5 else random.randbytes(random.randrange(4))
        data = data[:at] + piece + data[at + random.choice(_REMOVED) :]
    return data
