"""Readers of ``X-Robots-Tag``, ``Robots-Tag`` and ``<meta name="robots">``, as lenient as the web is careless.

https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag; for ``Robots-Tag``
draft-illyes-repext-03 section 3.1.1, a List of RFC 9651. Readers never raise, and take linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timezone
from itertools import islice
from typing import Final

from .dates import parse_date
from .statement import Directive, Source
from .structured_fields import BareItem, parse_list

MAX_ITEMS: Final = 100
"""Items of one field, and rules in them, that are read."""

MAX_NAMES: Final = 20
"""Names of crawlers in one field that are read."""

MAX_FIELD: Final = 65_536
"""Characters of one field that are read; the draft of ``Robots-Tag`` asks for 8 KiB at least."""

EVERYBODY: Final = frozenset({"", "robots", "robot", "all", "*"})
"""Names that address every crawler. ``robot`` is read as ``robots``, as Google was seen to do."""

WORDS: Final = frozenset({
    "all", "index", "follow", "archive", "noindex", "nofollow", "none", "noarchive", "nocache",
    "nosnippet", "noimageindex", "notranslate", "indexifembedded", "noodp", "noydir",
    "noyaca", "nositelinkssearchbox", "noai", "noimageai",
})  # fmt: skip
"""The rules without a value."""

_UNAVAILABLE_AFTER: Final = "unavailable_after"
_NUMBERS: Final = frozenset({"max-snippet", "max-video-preview"})
_IMAGE_PREVIEW: Final = "max-image-preview"
SIZES: Final = ("none", "standard", "large")
"""The values of ``max-image-preview``, the smallest first."""

_SHORT: Final = frozenset({_IMAGE_PREVIEW, *_NUMBERS})  # values without white space: rules may follow them
_VALUED: Final = frozenset({_UNAVAILABLE_AFTER, *_SHORT})

_SEPARATOR: Final = re.compile("[,;]")
_TIME: Final = re.compile(r"\d:\d")
_NUMBER: Final = re.compile(r"-1|\d{1,9}")


def read_header(value: str) -> list[Directive]:
    """Return the directives of one ``X-Robots-Tag`` field line. A name holds until the next one in that line."""
    return [*islice(_of_header(value), MAX_ITEMS)]


def _of_header(value: str) -> Iterator[Directive]:
    agent: str | None = None
    names = 0
    for item in _items(value):
        words, name, rest = _split_name(item)
        while name is not None:
            if names == MAX_NAMES:
                return
            yield from _rules(words, agent, Source.X_ROBOTS_TAG)
            agent, names = agent_of(name), names + 1
            words, name, rest = _split_name(rest)
        yield from _rules(rest, agent, Source.X_ROBOTS_TAG)


def read_meta(name: str, content: str) -> list[Directive]:
    """Return the directives of a ``meta`` element with this *name* and *content*; they address *name*."""
    agent = agent_of(name)
    rules = (directive for item in _items(content) for directive in _rules(item, agent, Source.META))
    return [*islice(rules, MAX_ITEMS)]


def agent_of(name: str) -> str | None:
    """The crawler that *name* addresses, in lower case and without a version; None for every crawler."""
    bare = name.strip().partition("/")[0].strip().lower()
    return None if bare in EVERYBODY else bare


def _items(value: str) -> Iterator[str]:
    """The items of a field, a date in one piece."""
    text = value[:MAX_FIELD].strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1]
    pending = ""
    for count, part in enumerate(_SEPARATOR.split(text)):
        if count >= MAX_ITEMS:
            break
        item = part.strip()
        if pending and item[:1].isdigit():
            pending = f"{pending}, {item}"
        else:
            if pending:
                yield pending
            pending = item
        if not _lacks_time(pending):
            if pending:
                yield pending
            pending = ""
    if pending:
        yield pending


def _lacks_time(item: str) -> bool:
    """Whether *item* is an ``unavailable_after`` that the next item may continue."""
    _, found, value = item.lower().rpartition(f"{_UNAVAILABLE_AFTER}:")
    return bool(found) and not _TIME.search(value)


def _split_name(item: str) -> tuple[str, str | None, str]:
    """The words before the name of a crawler in *item*, that name or None, and the rest."""
    before, colon, after = item.partition(":")
    words = before.split()
    if not colon or (words and words[-1].lower() in _VALUED):
        return "", None, item
    return " ".join(words[:-1]), words[-1] if words else "", after.strip()


def _rules(item: str, agent: str | None, source: Source) -> Iterator[Directive]:
    """The rules of an *item* without a name: words, and rules with a value between and behind them."""
    while item:
        before, colon, value = item.partition(":")
        words = before.split()
        valued = words.pop().lower() if colon and words else None
        for word in words:
            yield Directive(word.lower(), None, agent, source, word, word.lower() in WORDS)
        if valued is None:
            if colon:  # nothing before it
                yield Directive("", None, agent, source, item, is_read=False)
            return
        if valued not in _SHORT:
            moment = parse_date(value) if valued == _UNAVAILABLE_AFTER else None
            yield Directive(valued, moment, agent, source, f"{valued}:{value}", moment is not None)
            return
        first, *rest = value.split(maxsplit=1) or [""]
        read = _number(first) if valued in _NUMBERS else _size(first)
        yield Directive(valued, read, agent, source, f"{valued}:{first}", read is not None)
        item = rest[0] if rest else ""


def _number(text: str) -> int | None:
    return int(text) if _NUMBER.fullmatch(text) else None


def _size(text: str) -> str | None:
    return text.lower() if text.lower() in SIZES else None


def read_robots_tag(value: str) -> list[Directive]:
    """Return the directives of a ``Robots-Tag`` field: a List of names with rules, else as `read_header`."""
    try:
        members = parse_list(value)
    except ValueError:
        return [replace(directive, source=Source.ROBOTS_TAG) for directive in read_header(value)]
    rules = (
        directive
        for member in members[:MAX_NAMES]
        for name, parameter in member.parameters.items()
        if parameter is not False
        for directive in _rules(_as_rule(name, parameter), agent_of(str(member.value)), Source.ROBOTS_TAG)
    )
    return [*islice(rules, MAX_ITEMS)]


def _as_rule(name: str, value: BareItem) -> str:
    """A parameter in the notation of X-Robots-Tag; a Date is a number of seconds."""
    if value is True:
        return name
    if name == _UNAVAILABLE_AFTER and isinstance(value, int):
        with suppress(ValueError, OverflowError, OSError):
            return f"{name}: {datetime.fromtimestamp(value, timezone.utc).isoformat()}"
    return f"{name}: {value}"
