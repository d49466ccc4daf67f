"""Readers of ``X-Robots-Tag``, ``Robots-Tag`` and ``<meta name="robots">``, as lenient as the web is careless.

https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag; for ``Robots-Tag``
draft-illyes-repext-03 section 3.1.1, a List of RFC 9651. Readers never raise, and take linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from itertools import islice
from typing import Final

from scrapy_rep.protocol.display import StringEnum

from .dates import read_moment
from .structured_fields import BareItem, parse_list

MAX_ITEMS: Final = 100
"""Items of one field, and rules in them, that are read."""

MAX_NAMES: Final = 20
"""Names of crawlers in one field that are read."""

MAX_FIELD: Final = 65_536
"""Characters of one field that are read; the draft of ``Robots-Tag`` asks for 8 KiB at least."""

EVERYBODY: Final = frozenset({"", "robots", "robot", "all", "*"})
"""Names that address every crawler. ``robot`` is read as ``robots``, as Google was seen to do."""

MARKS: Final = frozenset({
    "noarchive", "nocache", "noimageindex", "notranslate", "indexifembedded", "noodp", "noydir", "noyaca",
    "nositelinkssearchbox", "noai", "noimageai",
})  # fmt: skip
"""Words that restrict nothing here: they are passed on."""

WORDS: Final = MARKS | {"all", "index", "follow", "archive", "noindex", "nofollow", "none", "nosnippet"}
"""The rules without a value."""

SIZES: Final = ("none", "standard", "large")
"""The values of ``max-image-preview``, the smallest first."""

_UNAVAILABLE_AFTER: Final = "unavailable_after"
_NUMBERS: Final = frozenset({"max-snippet", "max-video-preview"})
_VALUED: Final = _NUMBERS | {"max-image-preview", _UNAVAILABLE_AFTER}

_SEPARATOR: Final = re.compile("[,;]")
_TIME: Final = re.compile(r"\d:\d")
_NUMBER: Final = re.compile(r"-1|\d{1,9}")


class Source(StringEnum):
    """Where a page directive was written; each is a string."""

    X_ROBOTS_TAG = "X-Robots-Tag"
    ROBOTS_TAG = "Robots-Tag"
    META = "meta"


@dataclass(frozen=True, slots=True)
class Directive:
    """One rule of a page: its ``name`` in lower case, and its ``value`` where it has one; a date in POSIX seconds.

    ``agent`` is the name that it is addressed to, in lower case and without a version; None for every crawler.
    ``text`` is the rule as written. ``is_read`` is False for an unknown name and for a value that cannot be read:
    such a rule means nothing.
    """

    name: str
    value: int | float | str | None
    agent: str | None
    source: Source
    text: str
    is_read: bool = True


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
    """The items of a field, a date in one piece: one without a time is continued by what begins with a digit."""
    text = value[:MAX_FIELD].strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1]
    pending = ""
    for part in _SEPARATOR.split(text, MAX_ITEMS)[:MAX_ITEMS]:
        item = part.strip()
        if pending and item[:1].isdigit():
            item = f"{pending}, {item}"
        elif pending:
            yield pending
        pending = item if _lacks_time(item) else ""
        if item and not pending:
            yield item
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
        name = words.pop() if colon and words else ""
        for word in words:
            yield Directive(word.lower(), None, agent, source, word, word.lower() in WORDS)
        if not colon:
            return
        # A date, and what follows an unknown name, ends with the item; rules may follow other values.
        is_short = name.lower() in _VALUED - {_UNAVAILABLE_AFTER}
        own, *following = (value.split(maxsplit=1) or [""]) if is_short else [value]
        read, item = _value(name.lower(), own), "".join(following)
        text = f"{name.lower()}:{own}" if name else f"{before}:{value}"
        yield Directive(name.lower(), read, agent, source, text, read is not None)


def _value(name: str, text: str) -> int | float | str | None:
    """What the value of the rule called *name* says; None for a value, or a name, that cannot be read."""
    if name == _UNAVAILABLE_AFTER:
        return read_moment(text)  # RFC 822, RFC 850 and ISO 8601, as Google lists them
    if name in _NUMBERS:
        return int(text) if _NUMBER.fullmatch(text) else None
    return text.lower() if name in _VALUED and text.lower() in SIZES else None


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
