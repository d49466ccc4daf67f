"""What a page loads, and whether robots.txt lets a crawler load it: asked for crawlers that render pages.

Google renders no script of a file or a page that robots.txt closes to it (Understand the JavaScript SEO basics,
https://developers.google.com/search/docs/crawling-indexing/javascript/javascript-seo-basics). A page is read as it
was received: what its scripts add, and what its styles load in turn, is not known. Needs the standard
library alone; who calls says how robots.txt files and the page are fetched.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from typing import Any, Final, Protocol
from urllib.parse import urldefrag, urljoin, urlsplit

from scrapy_rep.directives.html import MAX_SIZE, Element, HtmlPage, is_html
from scrapy_rep.protocol import Origin, Reason, Verdict
from scrapy_rep.protocol.display import number_of, shown
from scrapy_rep.tools.answers import rule_text

RENDERER: Final = "Googlebot"
"""The crawler that is asked about where none is named."""

MOST_RESOURCES: Final = 1_000
"""Resources of a page that are checked."""

MOST_ORIGINS: Final = 50
"""Origins of resources whose robots.txt is asked for."""

MAX_HOPS: Final = 5
"""Redirects that are followed, of a page as of a robots.txt (RFC 9309 section 2.3.1.2)."""

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
class ResourceVerdict:
    """What robots.txt says about a URL: ``allowed`` is None where that is unknown, and ``problem`` says why."""

    allowed: bool | None
    line: int = 0
    rule: str = ""
    reason: str = ""
    problem: str = ""

    @classmethod
    def of(cls, verdict: Verdict, problem: str = "") -> ResourceVerdict:
        """That of *verdict*; *problem* is why the robots.txt is unreachable, if it is."""
        is_known = verdict.reason is not Reason.UNREACHABLE
        rule = rule_text(verdict.rule, _LONGEST_RULE)
        return cls(verdict.allowed if is_known else None, verdict.line, rule, verdict.reason.value, problem)

    @property
    def word(self) -> str:
        """``open``, ``closed`` or ``unknown``."""
        return {True: "open", False: "closed", None: "unknown"}[self.allowed]

    @property
    def where(self) -> str:
        """The line of the rule that decided, or the reason where none did."""
        return f"line {self.line}" if self.line else self.reason


# Which resources a page has.


@dataclass(frozen=True, slots=True)
class Resource:
    """Something that a page loads from the absolute ``url``, which has no fragment, or the page itself.

    ``verdict`` is what robots.txt says about it, once that was asked.
    """

    url: str
    kind: LoadedAs
    verdict: ResourceVerdict = ResourceVerdict(None)

    def as_facts(self) -> dict[str, Any]:
        """The same as data for JSON; what is empty is None."""
        verdict = self.verdict
        return {
            "url": self.url,
            "kind": self.kind.value,
            "allowed": verdict.allowed,
            "line": verdict.line or None,
            "rule": verdict.rule or None,
            "reason": verdict.reason,
            "problem": verdict.problem or None,
        }


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


def resources_of(html: bytes, url: str, content_type: str = "", most: int = MOST_RESOURCES) -> Found:
    """The different resources, at most so many, of the page at *url*, whose body is *html*.

    Never raises, and takes time linear in the page, of which `MAX_SIZE` octets are read.
    """
    found: dict[str, Resource] = {}
    base = ""
    for element in HtmlPage(html, content_type).loading_elements(_READ):
        if element.name == "base":
            base = base or _absolute(url, element.attributes.get("href", ""))
        for address, kind in _addresses(element):
            absolute = _absolute(base or url, address)
            if not absolute or absolute in found:
                continue
            if len(found) == most:
                return Found(tuple(found.values()), f"Only the first {most:,} resources were checked.")
            found[absolute] = Resource(absolute, kind)
    return Found(tuple(found.values()), cut_after(MAX_SIZE) if len(html) > MAX_SIZE else "")


def cut_after(octets: int) -> str:
    """The sentence about a page of which no more than so many *octets* were read."""
    return f"Only the first {octets:,} octets of the page were read."


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
def _absolute(base: str, address: str) -> str:
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


# Whether robots.txt lets a crawler load them.


@dataclass(frozen=True, slots=True)
class PageResponse:
    """The response to a request for a page, or the ``problem`` with it; ``location`` is where it redirects to."""

    body: bytes = b""
    content_type: str = ""
    location: str = ""
    problem: str = ""

    @classmethod
    def of(cls, url: str, status: int, location: str, content_type: str, body: bytes) -> PageResponse:
        """That of a response to *url*; *location* is as its header says, empty without one."""
        if 300 <= status < 400 and location:
            return cls(location=_absolute(url, location), problem="it redirects to no page")
        if not 200 <= status < 300:
            return cls(problem=f"HTTP status {status}")
        if content_type and not is_html(content_type):
            return cls(problem=f"it is not HTML but {content_type.partition(';')[0].strip()}")
        return cls(body, content_type)


class Asker(Protocol):
    """Fetches for `check`, and knows the crawler."""

    async def answers(self, by_origin: Mapping[Origin, Sequence[str]]) -> Mapping[str, ResourceVerdict]:
        """Return what the robots.txt of each origin says about its URLs; a URL may be missing."""

    async def page(self, url: str) -> PageResponse:
        """Request *url*, which robots.txt allows the crawler, once and without following a redirect."""

    async def find(self, page: PageResponse, url: str) -> Found:
        """Return the resources of *page*, as `resources_of` does."""


@dataclass(frozen=True, slots=True)
class ResourceReport:
    """Whether the resources of a page are closed to the crawler ``agent``.

    ``pages`` are the page and, before it, those that redirect to it; ``problem`` says why the page was not read,
    though it is open. ``resources`` are sorted: closed, unknown, open. ``cut`` is that of `Found`.
    """

    agent: str
    pages: tuple[Resource, ...]
    resources: tuple[Resource, ...] = ()
    problem: str = ""
    cut: str = ""

    @property
    def closed(self) -> list[Resource]:
        """What robots.txt disallows."""
        return [one for one in (*self.pages, *self.resources) if one.verdict.allowed is False]

    @property
    def is_complete(self) -> bool:
        """Whether there is an answer about everything that the page loads."""
        is_known = all(one.verdict.allowed is not None for one in (*self.pages, *self.resources))
        return is_known and not self.problem and not self.cut

    @property
    def summary(self) -> str:
        """The report as a text."""
        return " ".join(self.sentences)

    @property
    def sentences(self) -> list[str]:
        """The report in a few sentences."""
        page, agent = self.pages[-1], shown(self.agent)
        if page.verdict.allowed is False:
            return [f"The page itself is closed to {agent}: it was not fetched, and what it loads is not known."]
        if page.verdict.allowed is None:
            return [f"The page was not fetched: {shown(page.verdict.problem)}."]
        if self.problem:
            return [f"The page was not read: {shown(self.problem)}."]
        return [*self._of_resources(agent), *filter(None, [self.cut])]

    def as_facts(self) -> dict[str, Any]:
        """The same as data for JSON."""
        return {
            "agent": self.agent,
            "summary": self.sentences,
            "is_complete": self.is_complete,
            "pages": [one.as_facts() for one in self.pages],
            "resources": [one.as_facts() for one in self.resources],
        }

    def _of_resources(self, agent: str) -> list[str]:
        number, closed = len(self.resources), self.closed
        unknown = sum(one.verdict.allowed is None for one in self.resources)
        if not number:
            return ["The page loads no style sheets, scripts or images."]
        if not (closed or unknown):
            all_of = f"All {number:,} resources are" if number > 1 else "The only resource is"
            return [f"{all_of} open to {agent}."]
        resources = number_of(number, "resource", "resources")
        rest = [f"Whether {unknown:,}{' more' * bool(closed)} may be loaded is unknown."] if unknown else []
        if not closed:
            return [f"None of {resources} is known to be closed to {agent}.", *rest]
        kinds = Counter(one.kind for one in closed)
        nouns = {kind: f"{kind.value} file" if kind in _KINDS_OF_FILES else kind.value for kind in LoadedAs}
        named = ", ".join(number_of(kinds[kind], one, f"{one}s") for kind, one in nouns.items() if kind in kinds)
        verb, them = ("is", "it") if len(closed) == 1 else ("are", "them")
        is_shaped = _SHAPING & kinds.keys()
        effect = "may not see the page as visitors do" if is_shaped else f"sees the page without {them}"
        return [f"{len(closed):,} of {resources} {verb} closed to {agent} ({named}), so it {effect}.", *rest]


# The check itself.


async def check(
    url: str, agent: str, asker: Asker, most: int = MOST_RESOURCES, most_origins: int = MOST_ORIGINS
) -> ResourceReport:
    """Report on the resources of the page at the absolute *url* to the crawler *agent*, for which *asker* asks.

    A page that is closed is not requested. At most so many resources are checked, and so many origins asked.
    """
    pages: list[Resource] = []
    page = PageResponse(location=url)
    while page.location:
        if len(pages) > MAX_HOPS:
            return ResourceReport(agent, tuple(pages), problem=f"it redirects more than {MAX_HOPS} times")
        if pages and not Origin.from_url(url).may_lead_to(page.location):
            return ResourceReport(
                agent, tuple(pages), problem=f"it redirects to {page.location}, which is not followed"
            )
        url = page.location
        (checked,) = await _checked([Resource(url, LoadedAs.PAGE)], asker, most_origins)
        pages.append(checked)
        if not checked.verdict.allowed:
            return ResourceReport(agent, tuple(pages))
        page = await asker.page(url)
    if page.problem:
        return ResourceReport(agent, tuple(pages), problem=page.problem)
    found = await asker.find(page, url)
    resources = await _checked(found.resources[:most], asker, most_origins)
    resources.sort(key=lambda one: (one.verdict.allowed is not False, one.verdict.allowed is not None))
    return ResourceReport(agent, tuple(pages), tuple(resources), cut=found.cut)


async def _checked(resources: Sequence[Resource], asker: Asker, most_origins: int) -> list[Resource]:
    by_origin: dict[Origin, list[str]] = {}
    for one in resources:
        origin = Origin.from_url(one.url)
        if origin in by_origin or len(by_origin) < most_origins:
            by_origin.setdefault(origin, []).append(one.url)
    answers = await asker.answers(by_origin) if by_origin else {}
    beyond = ResourceVerdict(
        None, reason="not asked", problem=f"at most {most_origins} hosts are asked for a robots.txt"
    )
    return [replace(one, verdict=answers.get(one.url, beyond)) for one in resources]
