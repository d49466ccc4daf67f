"""What the directives of a page mean together for one crawler: the more restrictive one applies."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Final

from .robots_tag import SIZES
from .statement import Directive

_MARKS: Final = frozenset({
    "noarchive", "nocache", "noimageindex", "notranslate", "indexifembedded", "noodp", "noydir", "noyaca",
    "nositelinkssearchbox", "noai", "noimageai",
})  # fmt: skip
"""Words that restrict nothing here: they are passed on."""

_PERMITTED_BY: Final = {"noindex": {"index", "all"}, "nofollow": {"follow", "all"}, "noarchive": {"archive"}}


@dataclass(frozen=True, slots=True)
class PageDirectives:
    """What a page says to one crawler.

    ``unavailable_after`` is in POSIX seconds. ``noindex`` holds from then on, too. ``max_snippet`` and
    ``max_video_preview`` are None without a limit. ``marks`` are words without an effect here, ``unread`` what
    could not be read; ``statements`` are all rules that address the crawler.
    """

    noindex: bool = False
    nofollow: bool = False
    max_snippet: int | None = None
    max_image_preview: str | None = None
    max_video_preview: int | None = None
    unavailable_after: float | None = None
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
            moment = datetime.fromtimestamp(self.unavailable_after, timezone.utc)
            yield f"unavailable_after={moment:%Y-%m-%dT%H:%M:%SZ}"


def combine(
    directives: Iterable[Directive], names: Collection[str], now: float, *, permissive: bool = False
) -> PageDirectives:
    """What *directives* mean for a crawler with the product tokens *names* at *now* (POSIX seconds).

    Rules for every crawler hold for one that is named as well; rules for all of its names add up. Where rules
    disagree, the more restrictive one applies (Google, "Combining rules"), or if *permissive* the word that
    permits (Yandex, "Meta tag robots").
    """
    own = {name.lower() for name in names}
    ours = tuple(one for one in directives if one.agent is None or one.agent in own)
    read = [one for one in ours if one.is_read]
    words = {one.name for one in read}
    if permissive:
        words = _without_permitted(words)
    ends = [one.value for one in read if one.name == "unavailable_after"]
    end: Any = min(ends, default=None)  # type: ignore[type-var]
    return PageDirectives(
        noindex=bool(words & {"noindex", "none"}) or (end is not None and end <= now),
        nofollow=bool(words & {"nofollow", "none"}),
        max_snippet=0 if "nosnippet" in words else _smallest(read, "max-snippet"),
        max_image_preview=min(
            (str(one.value) for one in read if one.name == "max-image-preview"), key=SIZES.index, default=None
        ),
        max_video_preview=_smallest(read, "max-video-preview"),
        unavailable_after=end,
        marks=frozenset(words & _MARKS),
        unread=tuple(one.name for one in ours if not one.is_read),
        statements=ours,
    )


def _without_permitted(words: set[str]) -> set[str]:
    """*words* without those that another one permits; ``none`` is two of them."""
    restrictive = (words - {"none"}) | ({"noindex", "nofollow"} if "none" in words else set())
    return {word for word in restrictive if words.isdisjoint(_PERMITTED_BY.get(word, ()))}


def _smallest(directives: Iterable[Directive], name: str) -> int | None:
    """The smallest limit; -1 is none."""
    limits = [one.value for one in directives if one.name == name and isinstance(one.value, int)]
    return min((limit for limit in limits if limit >= 0), default=None)
