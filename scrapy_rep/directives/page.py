"""What a page says to one crawler, in header fields and meta elements: the more restrictive rule applies."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from itertools import islice
from typing import Final

from .html import Page, is_html
from .robots_tag import MARKS, SIZES, Directive, agent_of, read_header, read_meta, read_robots_tag

Headers = Iterable[tuple[str | bytes, str | bytes]]
"""Header fields in their order: names in any case, and values."""

MAX_FIELDS: Final = 1_000
"""Header fields of one name, and meta elements, that are read."""

MAX_OCTETS: Final = 65_536
"""Octets of the header fields of one name that are read; the field that exceeds them is the last."""

_AS_NAMES: Final = frozenset({"noai", "noimageai"})
"""Rules that are found as the name of an element without content."""

_NAMES: Final = _AS_NAMES | {"robot"}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
_PERMITTED_BY: Final = {"noindex": {"index", "all"}, "nofollow": {"follow", "all"}, "noarchive": {"archive"}}


@dataclass(frozen=True, slots=True)
class PageDirectives:
    """What a page says to one crawler.

    ``noindex`` and ``nofollow`` are whether it says so; ``noindex`` holds from ``unavailable_after`` on, too, an
    aware datetime in UTC. ``max_snippet`` (characters) and ``max_video_preview`` (seconds) are None without a
    limit, ``max_image_preview`` is "none", "standard", "large" or None. ``marks`` are words without an effect
    here, such as ``noarchive`` and ``noai``, ``unread`` the names of rules that could not be read; ``statements``
    are all rules that address the crawler.
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
        """What holds, rule by rule, such as ``noindex`` and ``max-snippet=5``."""
        return [*self._words(), *sorted(self.marks)]

    def __str__(self) -> str:
        return ", ".join(self.words)

    def _words(self) -> Iterable[str]:
        if self.noindex:
            yield "noindex"
        if self.nofollow:
            yield "nofollow"
        for name in ("max_snippet", "max_image_preview", "max_video_preview"):
            if getattr(self, name) is not None:
                yield f"{name.replace('_', '-')}={getattr(self, name)}"
        if self.unavailable_after is not None:
            yield f"unavailable_after={self.unavailable_after:%Y-%m-%dT%H:%M:%SZ}"


def page_directives(
    tokens: Iterable[str],
    headers: Headers,
    html: str | bytes | None = None,
    *,
    content_type: str = "text/html",
    now: datetime | None = None,
) -> PageDirectives:
    """Return what a page says to a crawler: rules for everybody and for all of its names, *tokens*, add up.

    *headers* are the (name, value) pairs of the response in their order; of them ``X-Robots-Tag`` and
    ``Robots-Tag`` count. *html* is the body; its meta elements count if *content_type* is HTML or XHTML, and it
    is read in the encoding that octets show, *content_type* or the page declare. *now* is an aware datetime, the
    present if it is None. Whatever a page holds, nothing is raised, and the time is linear in it.

    Source: https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag ("Combining rules").
    Raises ``ValueError`` if *now* has no time zone.

    >>> html = '<meta name="robots" content="max-snippet:20"><meta name="otherbot" content="noindex">'
    >>> page = page_directives(["mybot"], [("X-Robots-Tag", "noarchive, mybot: nofollow")], html)
    >>> page.noindex, page.nofollow, page.max_snippet, page.marks
    (False, True, 20, frozenset({'noarchive'}))
    """
    if now is not None and now.utcoffset() is None:
        raise ValueError("now has no time zone: datetime.now(timezone.utc) has one")
    named = [tokens] if isinstance(tokens, str) else tokens
    names = [agent for agent in map(agent_of, named) if agent]
    return combine(directives_of(names, headers, html, content_type), names, now)


def fields_of(headers: Headers) -> dict[str, list[str]]:
    """The values of *headers* by their names in lower case."""
    found: dict[str, list[str]] = {}
    for name, value in headers:
        found.setdefault(_as_text(name).strip().lower(), []).append(_as_text(value))
    return found


def _as_text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value


def bounded(values: Iterable[str]) -> Iterator[str]:
    """The *values* of the fields of one name, until they have `MAX_OCTETS`; readers bound each of them."""
    octets = 0
    for value in islice(values, MAX_FIELDS):
        if octets >= MAX_OCTETS:
            return
        octets += len(value)
        yield value


def directives_of(
    names: Collection[str],
    headers: Headers,
    html: str | bytes | None = None,
    content_type: str = "text/html",
) -> list[Directive]:
    """The directives of a page that may address a crawler called *names*."""
    fields = fields_of(headers)
    found = [one for field in bounded(fields.get("x-robots-tag", ())) for one in read_header(field)]
    found += [one for field in bounded(fields.get("robots-tag", ())) for one in read_robots_tag(field)]
    if html is not None and is_html(content_type):
        own = {name.strip().lower() for name in names}
        metas = Page(html, content_type).metas(own | _NAMES)
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
    """What *directives* mean for a crawler with the product tokens *names* at *now*, the present if it is None.

    Rules for every crawler hold for one that is named as well; rules for all of its names add up. Where rules
    disagree, the more restrictive one applies (Google, "Combining rules"), or if *permissive* the word that
    permits (Yandex, "Meta tag robots").
    """
    own = {name.strip().lower() for name in names}
    ours = tuple(one for one in directives if one.agent is None or one.agent in own)
    read = [one for one in ours if one.is_read]
    words = {one.name for one in read}
    if permissive:
        words = _without_permitted(words)
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


def _without_permitted(words: set[str]) -> set[str]:
    """*words* without those that another one permits; ``none`` is two of them."""
    restrictive = (words - {"none"}) | ({"noindex", "nofollow"} if "none" in words else set())
    return {word for word in restrictive if words.isdisjoint(_PERMITTED_BY.get(word, ()))}


def _numbers(directives: Iterable[Directive], name: str) -> Iterator[float]:
    """The values of the rules called *name*, which are numbers."""
    return (one.value for one in directives if one.name == name and isinstance(one.value, int | float))


def _limit(directives: Iterable[Directive], name: str) -> int | None:
    """The smallest limit; -1 is none."""
    return min((int(limit) for limit in _numbers(directives, name) if limit >= 0), default=None)
