"""Page directives for one crawler, from header fields and meta elements: the more restrictive rule applies.

The readers of ``X-Robots-Tag``, ``Robots-Tag`` and ``<meta name="robots">`` are lenient, never raise, and take
linear time. Sources: https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag, and for
``Robots-Tag`` draft-illyes-repext-03 section 3.1.1, a List of RFC 9651.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from itertools import islice
from typing import Final

from scrapy_rep.protocol.display import StringEnum

from .dates import read_moment
from .html import HtmlPage, is_html
from .structured_fields import BareItem, parse_list

Headers = Iterable[tuple[str | bytes, str | bytes]]
"""Header fields in order, as pairs of name (in any case) and value."""

MAX_FIELDS: Final = 1_000  # header fields of one name, and meta elements, that are read
MAX_OCTETS: Final = 65_536  # bytes of the header fields of one name; the field that exceeds them is the last
MAX_ITEMS: Final = 100  # items of one field, and rules in them, that are read
MAX_NAMES: Final = 20  # crawler names in one field that are read
MAX_FIELD: Final = 65_536  # characters of one field that are read; the draft of Robots-Tag requires 8 KiB

EVERYBODY: Final = frozenset({"", "robots", "robot", "all", "*"})
"""Names that address every crawler. ``robot`` means ``robots``, as observed at Google."""

MARKS: Final = frozenset({
    "noarchive", "nocache", "noimageindex", "notranslate", "indexifembedded", "noodp", "noydir", "noyaca",
    "nositelinkssearchbox", "noai", "noimageai",
})  # fmt: skip
"""Words that restrict nothing here and are passed on."""

WORDS: Final = MARKS | {"all", "index", "follow", "archive", "noindex", "nofollow", "none", "nosnippet"}
"""The rules without a value."""

SIZES: Final = ("none", "standard", "large")  # the values of max-image-preview, smallest first
_AS_NAMES: Final = frozenset({"noai", "noimageai"})  # some sites write these as the name of an empty meta element
_NAMES: Final = _AS_NAMES | {"robot"}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
_PERMITTED_BY: Final = {"noindex": {"index", "all"}, "nofollow": {"follow", "all"}, "noarchive": {"archive"}}
_UNAVAILABLE_AFTER: Final = "unavailable_after"
_NUMBERS: Final = frozenset({"max-snippet", "max-video-preview"})
_VALUED: Final = _NUMBERS | {"max-image-preview", _UNAVAILABLE_AFTER}
_SEPARATOR: Final = re.compile("[,;]")
_TIME: Final = re.compile(r"\d:\d")
_NUMBER: Final = re.compile(r"-1|\d{1,9}")


class Source(StringEnum):
    """Where a page directive was written. Members are strings."""

    X_ROBOTS_TAG = "X-Robots-Tag"
    ROBOTS_TAG = "Robots-Tag"
    META = "meta"


@dataclass(frozen=True, slots=True)
class Directive:
    """One rule of a page: its ``name`` in lower case, and its ``value`` or None; dates are POSIX seconds.

    ``agent`` is the crawler that the rule addresses, in lower case and without a version; None means every
    crawler. ``text`` is the rule as written. ``is_read`` is False for an unknown name or an unreadable value; the
    rule is then ignored.
    """

    name: str
    value: int | float | str | None
    agent: str | None
    source: Source
    text: str
    is_read: bool = True


@dataclass(frozen=True, slots=True)
class PageDirectives:
    """The directives of a page for one crawler.

    ``noindex`` and ``nofollow`` are flags; ``noindex`` is also True once ``unavailable_after``, an aware datetime
    in UTC, has passed. ``max_snippet`` (characters) and ``max_video_preview`` (seconds) are None without a limit;
    ``max_image_preview`` is "none", "standard", "large" or None. ``marks`` are words without an effect here, for
    example ``noarchive`` and ``noai``. ``unread`` are the names of unreadable rules. ``statements`` are all rules
    that address the crawler.
    """

    noindex: bool = False
    nofollow: bool = False
    max_snippet: int | None = None
    max_image_preview: str | None = None
    max_video_preview: int | None = None
    unavailable_after: datetime | None = None
    marks: frozenset[str] = frozenset()
    unread: tuple[str, ...] = ()
    statements: tuple[Directive, ...] = ()

    @property
    def words(self) -> list[str]:
        """The rules in effect, for example ``noindex`` and ``max-snippet=5``."""
        names = ("max_snippet", "max_image_preview", "max_video_preview")
        limits = {name.replace("_", "-"): getattr(self, name) for name in names}
        if self.unavailable_after is not None:
            limits["unavailable_after"] = f"{self.unavailable_after:%Y-%m-%dT%H:%M:%SZ}"
        return [
            *(name for name in ("noindex", "nofollow") if getattr(self, name)),
            *(f"{name}={limit}" for name, limit in limits.items() if limit is not None),
            *sorted(self.marks),
        ]

    def __str__(self) -> str:
        return ", ".join(self.words)


def page_directives(
    tokens: Iterable[str],
    headers: Headers,
    html: str | bytes | None = None,
    *,
    content_type: str = "text/html",
    now: datetime | None = None,
) -> PageDirectives:
    """Return the directives of a page for a crawler: rules for everybody and for all its names, *tokens*, add up.

    *headers* are the (name, value) pairs of the response in order; ``X-Robots-Tag`` and ``Robots-Tag`` are read.
    *html* is the body; its meta elements count if *content_type* is HTML or XHTML. Its encoding comes from the
    bytes, *content_type* or the page. *now* is an aware datetime; None means the current time. No content of a
    page raises, and the time is linear in its size.

    Source: https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag ("Combining rules").
    Raises ``ValueError`` if *now* has no time zone.

    >>> html = '<meta name="robots" content="max-snippet:20"><meta name="otherbot" content="noindex">'
    >>> page = page_directives(["mybot"], [("X-Robots-Tag", "noarchive, mybot: nofollow")], html)
    >>> page.noindex, page.nofollow, page.max_snippet, page.marks
    (False, True, 20, frozenset({'noarchive'}))
    """
    if now is not None and now.utcoffset() is None:
        raise ValueError("now has no time zone: use datetime.now(timezone.utc)")
    named = [tokens] if isinstance(tokens, str) else tokens
    names = [agent for agent in map(agent_of, named) if agent]
    return combine(directives_of(names, headers, html, content_type), names, now)


def fields_of(headers: Headers) -> dict[str, list[str]]:
    """The values of *headers* by lower-case name."""
    found: dict[str, list[str]] = {}
    for field in headers:
        name, value = (text.decode("latin-1") if isinstance(text, bytes) else text for text in field)
        found.setdefault(name.strip().lower(), []).append(value)
    return found


def bounded(values: Iterable[str]) -> Iterator[str]:
    """The *values* of the fields of one name, until `MAX_OCTETS` is reached; readers limit the single field."""
    octets = 0
    for value in islice(values, MAX_FIELDS):
        if octets >= MAX_OCTETS:
            return
        octets += len(value)
        yield value


def directives_of(
    names: Collection[str], headers: Headers, html: str | bytes | None = None, content_type: str = "text/html"
) -> list[Directive]:
    """The directives of a page that may address a crawler with any of *names*."""
    fields = fields_of(headers)
    found = [one for field in bounded(fields.get("x-robots-tag", ())) for one in read_header(field)]
    found += [one for field in bounded(fields.get("robots-tag", ())) for one in read_robots_tag(field)]
    if html is not None and is_html(content_type):
        own = {name.strip().lower() for name in names}
        metas = HtmlPage(html, content_type).metas(own | _NAMES)
        for name, content in islice(metas, MAX_FIELDS):
            agent = agent_of(name)
            if agent in _AS_NAMES and not content.strip():
                found += read_meta("", agent)
            elif name.strip() and (agent is None or agent in own):
                found += read_meta(name, content)
    return found


def combine(
    directives: Iterable[Directive],
    names: Collection[str],
    now: datetime | None = None,
    *,
    permissive: bool = False,
) -> PageDirectives:
    """Combine *directives* for a crawler with the product tokens *names* at *now*; None means the current time.

    Rules for every crawler also apply to a named crawler, and rules for all its names add up. If rules conflict,
    the more restrictive rule applies (Google, "Combining rules"), or, if *permissive*, the word that permits
    (Yandex, "Meta tag robots").
    """
    own = {name.strip().lower() for name in names}
    ours = tuple(one for one in directives if one.agent is None or one.agent in own)
    read = [one for one in ours if one.is_read]
    words = {one.name for one in read}
    if permissive:  # drop words that another word permits; "none" means two words
        words = (words - {"none"}) | ({"noindex", "nofollow"} if "none" in words else set())
        words = {word for word in words if words.isdisjoint(_PERMITTED_BY.get(word, ()))}
    end = min(
        (_EPOCH + timedelta(seconds=seconds) for seconds in _numbers(read, "unavailable_after")), default=None
    )
    sizes = [one.value for one in read if one.name == "max-image-preview"]
    return PageDirectives(
        noindex=bool(words & {"noindex", "none"})
        or (end is not None and end <= (now or datetime.now(timezone.utc))),
        nofollow=bool(words & {"nofollow", "none"}),
        max_snippet=0 if "nosnippet" in words else _limit(read, "max-snippet"),
        max_image_preview=next((size for size in SIZES if size in sizes), None),
        max_video_preview=_limit(read, "max-video-preview"),
        unavailable_after=end,
        marks=frozenset(words & MARKS),
        unread=tuple(one.name for one in ours if not one.is_read),
        statements=ours,
    )


def _numbers(directives: Iterable[Directive], name: str) -> Iterator[float]:
    """The values of the rules called *name* that are numbers."""
    return (one.value for one in directives if one.name == name and isinstance(one.value, int | float))


def _limit(directives: Iterable[Directive], name: str) -> int | None:
    """The smallest limit; -1 means no limit."""
    return min((int(limit) for limit in _numbers(directives, name) if limit >= 0), default=None)


# One field or element.


def read_header(value: str) -> list[Directive]:
    """Return the directives of one ``X-Robots-Tag`` field line. A name applies until the next name in the line."""
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
    """Return the directives of a ``meta`` element with this *content*; they address *name*."""
    agent = agent_of(name)
    rules = (directive for item in _items(content) for directive in _rules(item, agent, Source.META))
    return [*islice(rules, MAX_ITEMS)]


def agent_of(name: str) -> str | None:
    """The crawler that *name* addresses, in lower case and without a version; None for every crawler."""
    bare = name.strip().partition("/")[0].strip().lower()
    return None if bare in EVERYBODY else bare


def _items(value: str) -> Iterator[str]:
    """The items of a field, with dates in one piece: a digit at the start continues a date without a time."""
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
        # The next item may continue a date without a time.
        _, name, date = item.lower().rpartition(f"{_UNAVAILABLE_AFTER}:")
        pending = item if name and not _TIME.search(date) else ""
        if item and not pending:
            yield item
    if pending:
        yield pending


def _split_name(item: str) -> tuple[str, str | None, str]:
    """The words before the name of a crawler in *item*, that name or None, and the rest."""
    before, colon, after = item.partition(":")
    words = before.split()
    if not colon or (words and words[-1].lower() in _VALUED):
        return "", None, item
    return " ".join(words[:-1]), words[-1] if words else "", after.strip()


def _rules(item: str, agent: str | None, source: Source) -> Iterator[Directive]:
    """The rules of an *item* without a crawler name: words, and rules with values between and after them."""
    while item:
        before, colon, value = item.partition(":")
        words = before.split()
        name = words.pop() if colon and words else ""
        for word in words:
            yield Directive(word.lower(), None, agent, source, word, word.lower() in WORDS)
        if not colon:
            return
        # A date, or the value of an unknown name, extends to the end of the item; rules may follow other values.
        is_short = name.lower() in _VALUED - {_UNAVAILABLE_AFTER}
        own, *following = (value.split(maxsplit=1) or [""]) if is_short else [value]
        read, item = _value(name.lower(), own), "".join(following)
        text = f"{name.lower()}:{own}" if name else f"{before}:{value}"
        yield Directive(name.lower(), read, agent, source, text, read is not None)


def _value(name: str, text: str) -> int | float | str | None:
    """Read the value of the rule called *name*; None for an unknown name or an unreadable value."""
    if name == _UNAVAILABLE_AFTER:
        return read_moment(text)  # RFC 822, RFC 850 and ISO 8601, as Google lists them
    if name in _NUMBERS:
        return int(text) if _NUMBER.fullmatch(text) else None
    return text.lower() if name in _VALUED and text.lower() in SIZES else None


def read_robots_tag(value: str) -> list[Directive]:
    """Return the directives of a ``Robots-Tag`` field, a List of names with rules; falls back to `read_header`."""
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
    """A parameter in X-Robots-Tag notation; a Date is a number of seconds."""
    if value is True:
        return name
    if name == _UNAVAILABLE_AFTER and isinstance(value, int):
        with suppress(ValueError, OverflowError, OSError):
            return f"{name}: {datetime.fromtimestamp(value, timezone.utc).isoformat()}"
    return f"{name}: {value}"
