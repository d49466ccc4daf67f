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
    """A label of a signal: the categories that it speaks about; ``since`` and ``until`` are versions or dates."""

    signal: Signal
    name: str
    categories: frozenset[Category]
    since: str
    until: str = ""


def _label(signal: Signal, name: str, *categories: Category, since: str, until: str = "") -> Label:
    return Label(signal, name, frozenset(categories), since, until)


LABELS: Final = (
    _label(Signal.CONTENT_USAGE, "train-ai", _C.AI_TRAIN, since="vocab-05 2025-12-01"),
    _label(Signal.CONTENT_USAGE, "search", _C.SEARCH, since="vocab-02 2025"),
    *(
        _label(Signal.CONTENT_USAGE, name, since="vocab-00 2025-05", until=until)
        for until, names in {
            "vocab-01": "tdm ai genai inference",
            "vocab-02": "all train-genai ai-use",
            "vocab-04": "bots ai-output",
        }.items()
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
"""All labels, retired ones with the version that dropped them and without a category."""

_BY_NAME: Final = {(label.signal, label.name): label for label in LABELS}


def label_of(signal: Signal, name: str) -> Label | None:
    """The label called *name* in *signal*, or None."""
    return _BY_NAME.get((signal, name))
