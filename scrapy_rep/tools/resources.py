"""What a page loads, and what a report on it says: for crawlers that render pages.

Google renders no script of a file or a page that robots.txt closes to it (Understand the JavaScript SEO basics,
https://developers.google.com/search/docs/crawling-indexing/javascript/javascript-seo-basics). A page is read as it
was received: what its scripts add, and what its styles load in turn, is not known. Needs the standard
library alone; ``scrapy robots resources`` fetches the page and the robots.txt files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from typing import Final
from urllib.parse import urldefrag, urljoin, urlsplit

from scrapy_rep.directives.html import MAX_SIZE, Element, HtmlPage
from scrapy_rep.protocol import Origin, Reason, Verdict
from scrapy_rep.protocol.display import number_of, shown
from scrapy_rep.tools.answers import verdict_facts

MOST_RESOURCES: Final = 1_000
"""Resources of a page that are checked."""

_LONGEST_URL: Final = 2_083
_LONGEST_RULE: Final = 500


class LoadedAs(str, Enum):
    """What a URL is loaded as. A preload may be of any kind; ``other`` is what its ``as`` says beside these."""

    PAGE = "page"
    STYLE_SHEET = "style sheet"
    SCRIPT = "script"
    FRAME = "frame"
    IMAGE = "image"
    FONT = "font"
    MEDIA = "media"
    ICON = "icon"
    OTHER = "other"


_SHAPING: Final = frozenset({LoadedAs.STYLE_SHEET, LoadedAs.SCRIPT, LoadedAs.FRAME})
"""Without these a page has another look, or other text."""

_KINDS_OF_FILES: Final = frozenset({LoadedAs.MEDIA, LoadedAs.OTHER})
"""Whose values are no nouns."""


@dataclass(frozen=True, slots=True)
class Resource:
    """Something that a page loads from the absolute ``url``, which has no fragment, or the page itself.

    ``allowed`` is what robots.txt says about it, by the ``rule`` in ``line`` if there is one. It is None where
    that is unknown, and ``problem`` says why.
    """

    url: str
    kind: LoadedAs
    allowed: bool | None = None
    line: int | None = None
    rule: str | None = None
    reason: str = ""
    problem: str | None = None

    def judged(self, verdict: Verdict, problem: str) -> Resource:
        """The same with the *verdict* on it; *problem* is why its robots.txt is unreachable, if it is."""
        found = replace(self, **verdict_facts(verdict, _LONGEST_RULE), problem=problem or None)
        return replace(found, allowed=None) if verdict.reason is Reason.UNREACHABLE else found


@dataclass(frozen=True, slots=True)
class Found:
    """The ``resources`` of a page in the order of the page; ``cut`` says what was left out, in a sentence."""

    resources: tuple[Resource, ...]
    cut: str = ""


_LOADING: Final = {
    "audio": {"src": LoadedAs.MEDIA},
    "embed": {"src": LoadedAs.OTHER},
    "frame": {"src": LoadedAs.FRAME},
    "iframe": {"src": LoadedAs.FRAME},
    "img": {"src": LoadedAs.IMAGE, "srcset": LoadedAs.IMAGE},
    "input": {"src": LoadedAs.IMAGE},
    "object": {"data": LoadedAs.OTHER},
    "source": {"src": LoadedAs.MEDIA, "srcset": LoadedAs.IMAGE},
    "track": {"src": LoadedAs.MEDIA},
    "video": {"src": LoadedAs.MEDIA, "poster": LoadedAs.IMAGE},
}
"""The attributes by which elements load; ``link`` and ``script`` have rules of their own."""

_READ: Final = frozenset({*_LOADING, "base", "link", "script"})

_PRELOADED: Final = {
    "style": LoadedAs.STYLE_SHEET, "script": LoadedAs.SCRIPT, "image": LoadedAs.IMAGE, "font": LoadedAs.FONT,
    "document": LoadedAs.FRAME, "audio": LoadedAs.MEDIA, "video": LoadedAs.MEDIA, "track": LoadedAs.MEDIA,
}  # fmt: skip

_JAVASCRIPT: Final = re.compile(
    r"(?:(?:text|application)/(?:x-)?(?:java|ecma|live|j)script(?:1\.\d)?)?", re.IGNORECASE
)
"""Types of a script that runs: https://html.spec.whatwg.org/multipage/scripting.html#attr-script-type."""

_BLANKS: Final = "".join(map(chr, range(33)))
_IGNORED_IN_URLS: Final = str.maketrans({" ": "%20", "\t": "", "\n": "", "\r": ""})


def resources_of(html: bytes, url: str, content_type: str = "") -> Found:
    """The different resources, at most `MOST_RESOURCES`, of the page at *url*, whose body is *html*.

    Never raises, and takes time linear in the page, of which `MAX_SIZE` octets are read.
    """
    found: dict[str, Resource] = {}
    base = ""
    for element in HtmlPage(html, content_type).loading_elements(_READ):
        if element.name == "base":
            base = base or absolute_url(url, element.attributes.get("href", ""))
        for address, kind in _addresses(element):
            absolute = absolute_url(base or url, address)
            if not absolute or absolute in found:
                continue
            if len(found) == MOST_RESOURCES:
                return Found(tuple(found.values()), f"Only the first {MOST_RESOURCES:,} resources were checked.")
            found[absolute] = Resource(absolute, kind)
    cut = f"Only the first {MAX_SIZE:,} octets of the page were read." if len(html) > MAX_SIZE else ""
    return Found(tuple(found.values()), cut)


def _addresses(element: Element) -> Iterator[tuple[str, LoadedAs]]:
    """What *element* loads, as it is written."""
    attributes = element.attributes
    if element.name == "link":
        yield from _of_link(attributes)
    elif element.name == "script":
        kind = attributes.get("type", "").strip()
        if kind.lower() == "module" or ("nomodule" not in attributes and _JAVASCRIPT.fullmatch(kind)):
            yield attributes.get("src", ""), LoadedAs.SCRIPT
    elif element.name != "input" or attributes.get("type", "").lower() == "image":
        for name, kind in _LOADING.get(element.name, {}).items():
            for address in _of_set(attributes.get(name, "")) if name == "srcset" else (attributes.get(name, ""),):
                yield address, kind


def _of_link(attributes: Mapping[str, str]) -> Iterator[tuple[str, LoadedAs]]:
    words, address = attributes.get("rel", "").lower().split(), attributes.get("href", "")
    if "stylesheet" in words:
        yield address, LoadedAs.STYLE_SHEET
    elif "modulepreload" in words:
        yield address, LoadedAs.SCRIPT
    elif "preload" in words:
        yield address, _PRELOADED.get(attributes.get("as", "").lower(), LoadedAs.OTHER)
        for candidate in _of_set(attributes.get("imagesrcset", "")):
            yield candidate, LoadedAs.IMAGE
    elif any(word.endswith("icon") for word in words):  # "apple-touch-icon" too
        yield address, LoadedAs.ICON


_CANDIDATE: Final = re.compile(r"[\s,]*(\S+)")
_DESCRIPTORS: Final = re.compile(r"[^,(]*(?:\([^)]*\)?[^,(]*)*,?")


def _of_set(text: str) -> Iterator[str]:
    """The URLs of a ``srcset``, which may have commas inside.

    https://html.spec.whatwg.org/multipage/images.html#parsing-a-srcset-attribute
    """
    position = 0
    while found := _CANDIDATE.match(text, position):
        url, position = found[1].rstrip(","), found.end()
        if url == found[1] and (behind := _DESCRIPTORS.match(text, position)):
            position = behind.end()
        yield url


@lru_cache(maxsize=256)  # a page may have an image a hundred thousand times
def absolute_url(base: str, address: str) -> str:
    """The URL at which *address* is loaded by HTTP; empty for any other."""
    address = address.strip(_BLANKS)
    if not address or address[0] == "#" or len(address) > _LONGEST_URL:
        return ""
    try:
        url = urldefrag(urljoin(base, address.translate(_IGNORED_IN_URLS))).url
        Origin.from_url(url)
        return url if urlsplit(url).scheme in {"http", "https"} else ""
    except ValueError:
        return ""


# What a report says.


@dataclass(frozen=True, slots=True)
class ResourceReport:
    """Whether the resources of a page are blocked for the crawler ``agent``.

    ``pages`` are the page and, before it, those that redirect to it; ``problem`` says why the page was not read,
    though it is open. ``cut`` is that of `Found`.
    """

    agent: str
    pages: Sequence[Resource]
    resources: Sequence[Resource] = ()
    problem: str = ""
    cut: str = ""

    @property
    def closed(self) -> list[Resource]:
        """What robots.txt disallows."""
        return [one for one in (*self.pages, *self.resources) if one.allowed is False]

    @property
    def is_complete(self) -> bool:
        """Whether there is an answer about everything that the page loads."""
        is_known = all(one.allowed is not None for one in (*self.pages, *self.resources))
        return is_known and not self.problem and not self.cut

    @property
    def summary(self) -> str:
        """The report in a few sentences."""
        page, agent = self.pages[-1], shown(self.agent)
        if page.allowed is False:
            return f"The page itself is blocked for {agent}: it was not fetched, so its resources are unknown."
        if page.allowed is None:
            return f"The page was not fetched: {shown(page.problem or '')}."
        if self.problem:
            return f"The page was not read: {shown(self.problem)}."
        return " ".join([*self._of_resources(agent), *filter(None, [self.cut])])

    def _of_resources(self, agent: str) -> list[str]:
        number, closed = len(self.resources), self.closed
        unknown = sum(one.allowed is None for one in self.resources)
        if not number:
            return ["The page loads no style sheets, scripts or images."]
        if not (closed or unknown):
            all_of = f"All {number:,} resources are" if number > 1 else "The only resource is"
            return [f"{all_of} open to {agent}."]
        resources = number_of(number, "resource", "resources")
        rest = [f"Whether {unknown:,}{' more' * bool(closed)} may be loaded is unknown."] if unknown else []
        if not closed:
            return [f"None of {resources} is known to be blocked for {agent}.", *rest]
        kinds = Counter(one.kind for one in closed)
        nouns = {kind: f"{kind.value} file" if kind in _KINDS_OF_FILES else kind.value for kind in LoadedAs}
        named = ", ".join(number_of(kinds[kind], one, f"{one}s") for kind, one in nouns.items() if kind in kinds)
        verb, them = ("is", "it") if len(closed) == 1 else ("are", "them")
        is_shaped = _SHAPING & kinds.keys()
        effect = "may not see the page as visitors do" if is_shaped else f"sees the page without {them}"
        return [f"{len(closed):,} of {resources} {verb} blocked for {agent} ({named}), so it {effect}.", *rest]
