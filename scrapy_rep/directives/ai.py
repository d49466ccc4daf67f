"""AI signals of sites and pages, from every carrier: the statements, and the answers that follow from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final
from urllib.parse import urlsplit

from scrapy_rep.protocol import Origin, RobotsTxt, path_of
from scrapy_rep.protocol.path_pattern import Pattern

from .html import Element, HtmlPage, is_html
from .page import Directive, Headers, PageDirectives, bounded, fields_of, page_directives
from .robots_signals import RobotsSignals, read_signal, read_usage
from .rsl import RSL_TYPE, RslFile, as_page_says, is_rsl, urls_in_elements, urls_in_header
from .vocabulary import Permission, Purpose, Signal, Statement, answers, shortened, without_repetitions

TDMREP: Final = "/.well-known/tdmrep.json"  # path of an origin's TDM reservations
AI_TXT: Final = "/ai.txt"  # path of an origin's ai.txt
PATHS: Final = (TDMREP, AI_TXT)  # the files with an origin's AI signals
MAX_TDMREP: Final = 1_048_576  # bytes of a tdmrep.json; a larger file is ignored
_MAX_RULES: Final = 1_000  # rules of a tdmrep.json that are read
_RESERVATIONS: Final = {"1": True, "0": False}
_MAX_ELEMENTS: Final = 10_000
_SAYS: Final = {Permission.YES: True, Permission.NO: False, Permission.UNKNOWN: None}


def ai_answers(
    token: str,
    path: str,
    *,
    robots: RobotsTxt | None = None,
    headers: Headers = (),
    html: str | bytes | None = None,
    tdmrep: bytes | None = None,
    rsl: bytes | None = None,
) -> dict[str, bool | None]:
    r"""Return whether a page may be used for "search", "ai-input" and "ai-train": True, False or None (unknown).

    *token* is the crawler's product token; *path* is the path or URL of the page. *robots* is the site's parsed
    robots.txt, *tdmrep* the body of its ``/.well-known/tdmrep.json``, *rsl* the body of the license named in
    robots.txt. *headers* are the (name, value) pairs of the response. *html* is its body, which is ignored if
    *headers* have a ``Content-Type`` other than HTML. No content raises, and the time is linear in its size.

    A category is forbidden if any signal says no, else permitted if any signal says yes
    (draft-ietf-aipref-vocab-08 section 5.1). Unknown is neither permission nor ban. For a page that *robots*
    disallows, the site has no preferences (draft-ietf-aipref-attach-05); the page's own signals count.

    >>> from scrapy_rep.protocol import parse
    >>> robots = parse(b"User-agent: *\nContent-Signal: search=yes, ai-train=no")
    >>> ai_answers("mybot", "/a", robots=robots, headers=[("tdm-reservation", "1")])
    {'search': True, 'ai-input': False, 'ai-train': False}
    """
    site: list[Statement] = []
    if robots is None or robots.verdict(token, path).allowed:
        site += RobotsSignals.of(robots, token).statements(path) if robots is not None else ()
        site += ReservationFile(tdmrep or b"").about(path).statements()
        site += RslFile(rsl).statements(path, "license") if rsl is not None else ()
    headers = [*headers]
    fields = fields_of(headers)
    content_type = next(iter(fields.get("content-type", ())), "text/html")
    said = page_directives([token], headers, html, content_type=content_type)
    elements = Elements.of(html, content_type, path)
    named = licenses_named(fields, elements, path)
    found = answers(statements_of(fields, said, elements, site, licenses=named))
    return {
        category.value: _SAYS[found[category]] for category in (Purpose.SEARCH, Purpose.AI_INPUT, Purpose.AI_TRAIN)
    }


@dataclass(frozen=True, slots=True)
class Reservation:
    """A TDMRep reservation of text and data mining from one carrier; ``reserved`` is None if it states nothing.

    Source: https://www.w3.org/community/reports/tdmrep/CG-FINAL-tdmrep-20240510/, a community group report. A
    later carrier overrides an earlier one: file, header, element. An ``irregular`` reservation breaks a rule of
    the report: its value is text, or its object is not in an array.
    """

    reserved: bool | None = None
    source: str = ""
    irregular: bool = False

    @classmethod
    def of(cls, values: Iterable[str], source: str) -> Reservation:
        """Read the ``tdm-reservation`` header fields or elements of a page."""
        found = [_RESERVATIONS[value.strip()] for value in values if value.strip() in _RESERVATIONS]
        return cls(any(found), source) if found else cls()

    def over(self, other: Reservation) -> Reservation:
        """Return the reservation itself, or *other* if it states nothing, because absence resets nothing."""
        return other if self.reserved is None else self

    def statements(self) -> list[Statement]:
        """The statements that follow; our interpretation is that a reservation covers training and input."""
        if self.reserved is None:
            return []
        text = f"tdm-reservation: {int(self.reserved)}"
        return [
            Statement(Signal.TDM_RESERVATION, category, not self.reserved, self.source, text, 0, self.irregular)
            for category in (Purpose.AI_INPUT, Purpose.AI_TRAIN)
        ]


@dataclass(frozen=True, slots=True)
class Elements:
    """The AI signals in a page's elements: reservation, license URLs, and statements of embedded licenses."""

    reservation: Reservation = Reservation()
    urls: tuple[str, ...] = ()
    licensed: tuple[Statement, ...] = ()

    @classmethod
    def of(cls, html: str | bytes | None, content_type: str, url: str) -> Elements:
        """Read the elements of the page at *url*, which may be a path, if its type is HTML."""
        if html is None or not is_html(content_type):
            return cls()
        found: dict[str, list[Element]] = {"meta": [], "base": [], "link": [], "script": []}
        for one in islice(HtmlPage(html, content_type).elements([RSL_TYPE, "tdm-reservation"]), _MAX_ELEMENTS):
            found[one.name].append(one)
        metas = (one.attributes for one in found["meta"])
        named = (each for each in metas if each.get("name", "").strip().lower() == "tdm-reservation")
        links, bases = ([one.attributes for one in found[name]] for name in ("link", "base"))
        scripts = (one.text for one in found["script"] if is_rsl(one.attributes))
        licensed = (one for text in scripts for one in RslFile(text, url).statements(url, "page"))
        return cls(
            Reservation.of((each.get("content", "") for each in named), "meta"),
            urls_in_elements(links, bases, url),
            without_repetitions(licensed),
        )


def licenses_named(fields: Mapping[str, Sequence[str]], elements: Elements, url: str) -> tuple[str, ...]:
    """The URLs of the licenses that the page at *url* names, in header *fields* and in *elements*."""
    return (*urls_in_header(bounded(fields.get("link", ())), url), *elements.urls)


def statements_of(
    fields: Mapping[str, Sequence[str]],
    said: PageDirectives,
    elements: Elements,
    site: Sequence[Statement],
    *,
    licenses: Collection[str] = (),
) -> list[Statement]:
    """The statements of *site* that apply to a page, and its own from header *fields*, directives and *elements*.

    *licenses* are the URLs of the licenses that the page names.
    """
    reservation = elements.reservation.over(Reservation.of(bounded(fields.get("tdm-reservation", ())), "header"))
    if reservation.reserved is not None:  # overrides the reservation in tdmrep.json
        site = [one for one in site if one.signal is not Signal.TDM_RESERVATION]
    return [
        *as_page_says(site, elements.licensed, licenses),
        *read_usage(bounded(fields.get("content-usage", ()))),
        *read_signal(bounded(fields.get("content-signal", ()))),
        *reservation.statements(),
        *elements.licensed,
        *noai(said, next(iter(fields.get("content-type", ())), "")),
    ]


# Page directives as AI signals.


def noai(page: PageDirectives, media_type: str = "") -> list[Statement]:
    """Return the statements of ``noai``, and for an image of ``noimageai``: no training.

    *media_type* is the Content-Type of the response. Source: DeviantArt, 2022; img2dataset and datadiligence obey.
    """
    words = {"noai", "noimageai"} if media_type.strip().lower().startswith("image/") else {"noai"}
    return said_no(Signal.NOAI, [Purpose.AI_TRAIN], page, lambda one: one.name in words)


def said_no(
    signal: Signal, categories: Sequence[Purpose | None], page: PageDirectives, says: Callable[[Directive], bool]
) -> list[Statement]:
    """The statements of the directives that *says* selects; a None category is only recorded."""
    return [
        Statement(signal, category, False if category else None, one.source.value, shortened(one.text))
        for one in page.statements
        if one.is_read and says(one)
        for category in categories
    ]


# The files of a site.


class ReservationFile:
    """The rules of a tdmrep.json: "the first rule whose location matches" decides, not the longest."""

    __slots__ = ("_rules",)

    def __init__(self, body: bytes) -> None:
        """Read the rules in *body*, a JSON array of rules or a single rule; other content has no rules."""
        try:
            found: Any = json.loads(body) if len(body) <= MAX_TDMREP else []
        except (ValueError, RecursionError):
            found = []
        is_lone = isinstance(found, dict)
        rules = [found] if is_lone else found[:_MAX_RULES] if isinstance(found, list) else []
        self._rules = [*filter(None, (_rule(one, is_lone=is_lone) for one in rules))]

    def __bool__(self) -> bool:
        return bool(self._rules)

    def about(self, url: str) -> Reservation:
        """Return the reservation for *url*."""
        path = path_of(url)
        return next((said for pattern, said in self._rules if pattern.matches(path)), Reservation())


def _rule(rule: Any, *, is_lone: bool) -> tuple[Pattern, Reservation] | None:
    location = rule.get("location") if isinstance(rule, dict) else None
    if not (isinstance(location, str) and location.startswith("/") and location.isprintable()):
        return None
    value = rule.get("tdm-reservation")
    reserved = _RESERVATIONS.get(str(value)) if type(value) in {int, str} else None
    irregular = is_lone or isinstance(value, str)
    return Pattern.of(location.partition("#")[0].encode()), Reservation(reserved, TDMREP, irregular)


@dataclass(frozen=True, slots=True)
class SiteFile(Origin):
    """The file at ``path`` of an origin, for fetchers and stores that take an origin; has a separate key."""

    path: str = ""

    @classmethod
    def of(cls, origin: Origin, path: str) -> SiteFile:
        """The file at *path* of *origin*."""
        return cls(origin.scheme, origin.host, origin.port, path)

    @classmethod
    def at(cls, url: str) -> SiteFile:
        """The file at *url*, without its fragment. Raises ``ValueError``."""
        path = urlsplit(url)._replace(scheme="", netloc="", fragment="").geturl()
        return cls.of(Origin.from_url(url), path or "/")

    @property
    def origin(self) -> Origin:
        """The origin of the file."""
        return Origin(self.scheme, self.host, self.port)

    @property
    def robots_url(self) -> str:
        """The URL of the file."""
        return str(self)

    def __str__(self) -> str:
        return f"{Origin.__str__(self)}{self.path}"


def origin_of(key: str) -> Origin:
    """The origin, or the file of an origin, stored under *key*. Raises ``ValueError``."""
    return SiteFile.at(key) if urlsplit(key).path else Origin.from_url(key)
