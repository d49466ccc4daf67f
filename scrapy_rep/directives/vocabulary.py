"""The labels by which sites speak about the use of their content by AI: one table of data, because drafts move.

Checked on 2026-09-21. Adding a label is adding a line here; nothing else knows one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final


class Category(str, Enum):
    """A use of a page that a site can allow or reserve; each is a string."""

    __str__ = str.__str__

    SEARCH = "search"
    AI_INPUT = "ai-input"
    AI_TRAIN = "ai-train"
    AI_INDEX = "ai-index"


class Signal(str, Enum):
    """A way in which sites speak about it; each is a string."""

    __str__ = str.__str__

    CONTENT_USAGE = "Content-Usage"
    CONTENT_SIGNAL = "Content-Signal"
    TDM_RESERVATION = "tdm-reservation"
    NOAI = "noai"
    RSL = "RSL"
    BING = "noarchive"
    GOOGLE = "nosnippet"
    DISALLOW_AI_TRAINING = "DisallowAITraining"
    AI_TXT = "ai.txt"


_C = Category


@dataclass(frozen=True, slots=True)
class Label:
    """A label of a signal, and the categories that it speaks about.

    ``since`` is the first version or date that has it, ``until`` the last one; empty while it is in use.
    """

    signal: Signal
    name: str
    categories: frozenset[Category]
    since: str
    until: str = ""


def _label(signal: Signal, name: str, *categories: Category, since: str, until: str = "") -> Label:
    return Label(signal, name, frozenset(categories), since, until)


LABELS: Final = (
    _label(Signal.CONTENT_USAGE, "train-ai", _C.AI_TRAIN, since="vocab-02 2025-07-20"),
    _label(Signal.CONTENT_USAGE, "search", _C.SEARCH, since="vocab-01 2025-06-18"),
    *(
        _label(Signal.CONTENT_USAGE, name, since=since, until=until)
        for names, since, until in (
            ("tdm ai genai inference", "vocab-01", "vocab-01"),
            ("all ai-use", "vocab-02", "vocab-02"),
            ("train-genai", "vocab-02", "vocab-03"),
            ("bots", "vocab-03", "vocab-04"),
            ("ai-output", "vocab-04", "vocab-04"),
        )
        for name in names.split()
    ),
    _label(Signal.CONTENT_SIGNAL, "search", _C.SEARCH, since="2025-09"),
    _label(Signal.CONTENT_SIGNAL, "ai-input", _C.AI_INPUT, since="2025-09"),
    _label(Signal.CONTENT_SIGNAL, "ai-train", _C.AI_TRAIN, since="2025-09"),
    _label(Signal.RSL, "search", _C.SEARCH, since="RSL 1.0"),
    _label(Signal.RSL, "ai-input", _C.AI_INPUT, since="RSL 1.0"),
    _label(Signal.RSL, "ai-train", _C.AI_TRAIN, since="RSL 1.0"),
    _label(Signal.RSL, "ai-index", _C.AI_INDEX, since="RSL 1.0"),
    _label(Signal.RSL, "ai-all", _C.AI_INPUT, _C.AI_TRAIN, _C.AI_INDEX, since="RSL 1.0"),
    _label(Signal.RSL, "all", *Category, since="RSL 1.0"),
)
"""All labels, retired ones with the last version that has them and without a category."""

_BY_NAME: Final = {(label.signal, label.name): label for label in LABELS}


def label_of(signal: Signal, name: str) -> Label | None:
    """The label called *name* in *signal*, or None."""
    return _BY_NAME.get((signal, name))
