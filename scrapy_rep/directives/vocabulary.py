"""The words by which sites speak about the use of their pages by AI, the statements that they make, the answers.

Labels are one table of data, because drafts move: adding one is adding a line here. Checked on 2026-11-24.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from scrapy_rep.protocol.display import StringEnum

MAX_TEXT: Final = 300  # characters of a statement's text that are kept
MAX_UNREAD: Final = 100  # irregular statements without a category that are kept of one source
_MAX_IN_STAMP: Final = 50


class Purpose(StringEnum):
    """A use of a page that a site can allow or reserve; each is a string."""

    SEARCH = "search"
    AI_INPUT = "ai-input"
    AI_TRAIN = "ai-train"
    AI_INDEX = "ai-index"


class Signal(StringEnum):
    """A way in which sites speak about it; each is a string."""

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
    """What a site says about a category; each is a string. Unknown is neither permission nor ban."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class ContentUse(StringEnum):
    """How much of a page may be used, the most restrictive level first; each is a string.

    ``immediate``: act on it, and store nothing. ``reference``: index, quote and link back. ``full``: summarize and
    reproduce (Cloudflare, 2026-07-01).
    """

    IMMEDIATE = "immediate"
    REFERENCE = "reference"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Label:
    """A label of a signal, and the categories that it speaks about: none once a draft of AIPREF has dropped it.

    ``until`` is the last version that has it, empty while it is in use. ``ai-use`` is in use again: vocab-03 to
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
    # "AI Use" of vocab-08 section 4.2, input to a generative model; that it is our ai-input is our reading.
    Label(Signal.CONTENT_USAGE, "ai-use", frozenset({Purpose.AI_INPUT})),
    Label(Signal.CONTENT_USAGE, "search", frozenset({Purpose.SEARCH})),
    *(Label(Signal.CONTENT_USAGE, each, until="vocab-01") for each in ("tdm", "ai", "genai", "inference")),
    Label(Signal.CONTENT_USAGE, "all", until="vocab-02"),
    Label(Signal.CONTENT_USAGE, "train-genai", until="vocab-03"),
    *(Label(Signal.CONTENT_USAGE, each, until="vocab-04") for each in ("bots", "ai-output")),
)
"""All labels: of draft-ietf-aipref-vocab-08 and earlier ones, of contentsignals.org (2025-09), of RSL 1.0."""

_BY_NAME: Final = {(label.signal, label.name): label for label in LABELS}


def label_of(signal: Signal, name: str) -> Label | None:
    """The label called *name* in *signal*, or None."""
    return _BY_NAME.get((signal, name))


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: ``allows`` says yes or no to the use in ``category``.

    ``source`` is where it stands: ``robots.txt``, ``header``, ``meta``, the name of a field, the path of a file or
    the URL of a license; ``line`` counts from 1 in a robots.txt, and is 0 elsewhere. ``text`` is as written, at
    most `MAX_TEXT` characters of it. An ``irregular`` one breaks a rule of its signal. ``category`` is None for
    what is recorded and maps to no category.
    """

    signal: Signal
    category: Purpose | None
    allows: bool | None
    source: str
    text: str
    line: int = 0
    irregular: bool = False


def answers(statements: Iterable[Statement]) -> Mapping[Purpose, Permission]:
    """Return the answer for every category; the order of the statements does not matter.

    draft-ietf-aipref-vocab-08 section 5.1: no if any says no, else yes if any says yes.
    """
    said = {(one.category, one.allows) for one in statements}
    return {
        category: Permission.NO if (category, False) in said
        else Permission.YES if (category, True) in said
        else Permission.UNKNOWN
        for category in Purpose
    }  # fmt: skip


def level_of(item: str) -> ContentUse | None:
    """The level that an *item* of Content-Signal names, such as ``use=reference``."""
    key, _, value = (part.strip() for part in item.lower().partition("="))
    return next((level for level in ContentUse if key == "use" and level.value == value), None)


def reserved_from(
    purposes: Iterable[Purpose], found: Mapping[Purpose, Permission], *, silence: Permission
) -> list[Purpose]:
    """Return the *purposes* to which the answers *found* are no; *silence* is what unknown means."""
    refusing = {Permission.NO, Permission.UNKNOWN} if silence is Permission.NO else {Permission.NO}
    return [purpose for purpose in purposes if found[purpose] in refusing]


def first_refusal(statements: Iterable[Statement], purposes: Collection[Purpose]) -> Statement | None:
    """Return the first of *statements* that says no to one of *purposes*."""
    return next((one for one in statements if one.allows is False and one.category in purposes), None)


def shortened(text: str) -> str:
    """Return *text* as a statement keeps it: bounded, and always encodable."""
    return text[:MAX_TEXT].encode("utf-8", "replace").decode()


def without_repetitions(statements: Iterable[Statement]) -> tuple[Statement, ...]:
    """Return the first of all *statements* that say the same: thousands of lines must not cost every page.

    The `answers` stay the same. Of irregular statements without a category, `MAX_UNREAD` are kept.
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


# How statements are kept in a stamp, and shown in JSON.


def as_values(statements: Iterable[Statement], licenses: Iterable[str]) -> dict[str, Any]:
    """The part of a stamp that tells of *statements*, those that say no first, and *licenses*, in JSON values."""
    said = sorted(statements, key=lambda one: one.allows is not False)
    return {
        "answers": {category.value: answer.value for category, answer in answers(said).items()},
        "statements": [_as_dict(one) for one in said[:_MAX_IN_STAMP]],
        "licenses": [*licenses],
    }


def statements_in(values: Mapping[str, Any] | None) -> list[Statement]:
    """The statements of that part of a stamp."""
    return [
        Statement(**{
            **one, "signal": Signal(one["signal"]), "category": one["category"] and Purpose(one["category"])
        })
        for one in (values or {}).get("statements", ())
    ]  # fmt: skip


def _as_dict(statement: Statement) -> dict[str, Any]:
    values = ((each.name, getattr(statement, each.name)) for each in fields(statement))
    return {name: value.value if isinstance(value, StringEnum) else value for name, value in values}
