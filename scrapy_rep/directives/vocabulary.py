"""The vocabulary of AI signals: purposes, labels, statements, and the answers that follow from statements.

Labels are one table of data, because drafts change: a new label is a new line here. Checked on 2026-11-24.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from scrapy_rep.protocol.display import StringEnum

MAX_TEXT: Final = 300  # characters of a statement's text that are kept
MAX_UNREAD: Final = 100  # irregular statements without a category that are kept per source
_MAX_IN_STAMP: Final = 50


class Purpose(StringEnum):
    """A use of a page that a site can allow or reserve. Members are strings."""

    SEARCH = "search"
    AI_INPUT = "ai-input"
    AI_TRAIN = "ai-train"
    AI_INDEX = "ai-index"


class Signal(StringEnum):
    """A mechanism with which sites state AI preferences. Members are strings."""

    CONTENT_USAGE = "Content-Usage"
    CONTENT_SIGNAL = "Content-Signal"
    TDM_RESERVATION = "tdm-reservation"
    NOAI = "noai"
    RSL = "RSL"
    BING = "noarchive"
    GOOGLE = "nosnippet"
    DISALLOW_AI_TRAINING = "DisallowAITraining"
    AI_TXT = "ai.txt"


class Permission(StringEnum):
    """A site's answer for a category. Unknown is neither permission nor ban. Members are strings."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


USE_LEVELS: Final = ("immediate", "reference", "full")
"""How much of a page may be used, most restrictive first: ``use`` of Content-Signal (Cloudflare, 2026-07-01).

``immediate``: store nothing. ``reference``: index, quote and link back. ``full``: summarize and reproduce.
"""


@dataclass(frozen=True, slots=True)
class Label:
    """A label of a signal and its categories, which are empty for labels that AIPREF dropped.

    ``until`` is the last version with the label, empty while it is in use. ``ai-use`` is in use again; vocab-03 to
    -07 lacked it.
    """

    signal: Signal
    name: str
    categories: frozenset[Purpose] = frozenset()
    until: str = ""


LABELS: Final = (
    *(Label(Signal.RSL, each.value, frozenset({each})) for each in Purpose),
    Label(Signal.RSL, "ai-all", frozenset(Purpose) - {Purpose.SEARCH}),
    Label(Signal.RSL, "all", frozenset(Purpose)),
    Label(Signal.RSL, "train-ai", frozenset({Purpose.AI_TRAIN}), until="0.9"),  # in templates of its guide
    *(Label(Signal.CONTENT_SIGNAL, each.value, frozenset({each})) for each in Purpose if each != Purpose.AI_INDEX),
    Label(Signal.CONTENT_USAGE, "train-ai", frozenset({Purpose.AI_TRAIN})),
    # "AI Use" of vocab-08 section 4.2, input to a generative model; mapping it to ai-input is our interpretation.
    Label(Signal.CONTENT_USAGE, "ai-use", frozenset({Purpose.AI_INPUT})),
    Label(Signal.CONTENT_USAGE, "search", frozenset({Purpose.SEARCH})),
    *(Label(Signal.CONTENT_USAGE, each, until="vocab-01") for each in ("tdm", "ai", "genai", "inference")),
    Label(Signal.CONTENT_USAGE, "all", until="vocab-02"),
    Label(Signal.CONTENT_USAGE, "train-genai", until="vocab-03"),
    *(Label(Signal.CONTENT_USAGE, each, until="vocab-04") for each in ("bots", "ai-output")),
)
"""All labels of draft-ietf-aipref-vocab-08 and earlier drafts, contentsignals.org (2025-09) and RSL 1.0."""

_BY_NAME: Final = {(label.signal, label.name): label for label in LABELS}


def label_of(signal: Signal, name: str) -> Label | None:
    """The label called *name* in *signal*, or None."""
    return _BY_NAME.get((signal, name))


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a site or page: ``allows`` is its yes or no to the use in ``category``.

    ``source`` is its place: ``robots.txt``, ``header``, ``meta``, a field name, the path of a file, or the URL of
    a license. ``line`` counts from 1 in a robots.txt and is 0 elsewhere. ``text`` is as written, up to `MAX_TEXT`
    characters. An ``irregular`` statement breaks a rule of its signal. ``category`` is None for a statement that
    is recorded but maps to no category.
    """

    signal: Signal
    category: Purpose | None
    allows: bool | None
    source: str
    text: str
    line: int = 0
    irregular: bool = False


def answers(statements: Iterable[Statement]) -> Mapping[Purpose, Permission]:
    """Return the answer for every category, regardless of the order of statements.

    No if any statement says no, else yes if any says yes: draft-ietf-aipref-vocab-08 section 5.1.
    """
    said = {(one.category, one.allows) for one in statements}
    return {
        category: Permission.NO if (category, False) in said
        else Permission.YES if (category, True) in said
        else Permission.UNKNOWN
        for category in Purpose
    }  # fmt: skip


def shortened(text: str) -> str:
    """Return *text* for a statement: at most `MAX_TEXT` characters, and always encodable."""
    return text[:MAX_TEXT].encode("utf-8", "replace").decode()


def without_repetitions(statements: Iterable[Statement]) -> tuple[Statement, ...]:
    """Return *statements* without repetitions: thousands of equal lines must not cost time on every page.

    The `answers` stay the same. At most `MAX_UNREAD` irregular statements without a category are kept.
    """
    said: dict[object, Statement] = {}
    unread: dict[str, Statement] = {}
    for one in statements:
        if one.category is not None:
            said.setdefault((one.signal, one.category, one.allows, one.irregular), one)
        elif not one.irregular:
            said.setdefault("".join(one.text.lower().split()), one)
        elif len(unread) < MAX_UNREAD:
            unread.setdefault(one.text, one)
    return (*said.values(), *unread.values())


# Statements in stamps and in JSON.


def as_values(statements: Iterable[Statement], licenses: Iterable[str]) -> dict[str, Any]:
    """The AI part of a stamp as JSON values: *statements*, refusals first, and *licenses*."""
    said = sorted(statements, key=lambda one: one.allows is not False)
    return {
        "answers": {category.value: answer.value for category, answer in answers(said).items()},
        "statements": [_as_dict(one) for one in said[:_MAX_IN_STAMP]],
        "licenses": [*licenses],
    }


def _as_dict(statement: Statement) -> dict[str, Any]:
    values = ((each.name, getattr(statement, each.name)) for each in fields(statement))
    return {name: value.value if isinstance(value, StringEnum) else value for name, value in values}
