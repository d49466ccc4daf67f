"""Read RSL (Really Simple Licensing) 1.0: the terms of a license file, or of a license in a page, for a URL.

Source: https://rslstandard.org/rsl, a Recommendation of its committee (2025-11-06), with errata to 2026-08-07;
section numbers are those in common use. Payments, license servers and other terms are reported, never fulfilled.

The XML parser is expat, which comes with Python: directives need neither Scrapy nor lxml. A document type is
refused, which rules out entities and external files; depth, size and contents are limited.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from operator import attrgetter
from typing import Final, NamedTuple
from urllib.parse import urljoin, urlsplit
from xml.parsers.expat import ExpatError, ParserCreate

from scrapy_rep.protocol import Origin, path_of
from scrapy_rep.protocol.path_pattern import Pattern

from .vocabulary import Purpose, Signal, Statement, label_of, shortened, without_repetitions

MAX_SIZE: Final = 1_048_576  # bytes of a license file; a larger file is ignored
MAX_DEPTH: Final = 100  # nested elements
MAX_CONTENTS: Final = 1_000  # <content> elements
MAX_ELEMENTS: Final = 20_000  # elements of any kind
MAX_AGE: Final = 30  # days for which a license without max-age is fresh (section 3.2)
MAX_LICENSES: Final = 100  # license URLs per source
RSL_TYPE: Final = "application/rsl+xml"  # the media type of a license
_NAMESPACE: Final = "https://rslstandard.org/rsl"
_DAY: Final = 86_400.0
_LONGEST_AGE: Final = 5  # digits
_ELEMENTS: Final = {
    "rsl", "content", "license", "permits", "prohibits", "payment", "standard", "custom", "amount", "accepts",
    "reporting", "legal", "alternate", "schema", "copyright", "terms",
}  # fmt: skip
_MAX_RECORDED: Final = 10  # statements without a category that are kept per content
_MAX_FIELD: Final = 65_536  # characters of a Link field
_LINK: Final = re.compile(r'<([^<>]*)>((?:\s*;\s*[\w!#$&+.^`|~-]+\*?(?:\s*=\s*(?:"[^"]*"|[^\s,;"<>]*))?)*)')
_PARAMETER: Final = re.compile(r';\s*([\w!#$&+.^`|~-]+\*?)(?:\s*=\s*(?:"([^"]*)"|([^\s,;"<>]*)))?')
_OF_PAYMENT: Final = ("standard", "custom", "amount", "accepts")


@dataclass(frozen=True, slots=True)
class License:
    """The terms of one ``<license>`` element.

    ``permits`` and ``prohibits`` are the texts of its elements with ``type="usage"``, as written; ``permits`` is
    None without such an element. ``conditions`` must be fulfilled before a permission applies, for example a
    payment. ``notes`` are all other terms.
    """

    permits: str | None = None
    prohibits: str = ""
    conditions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class RslFile:
    """The licenses in an RSL document, prepared for many URLs.

    ``max_age`` is the time in seconds after which it must be fetched again (section 3.2.1). ``problem`` says why
    the document violates section 3; its permissions are then ignored, its prohibitions apply.
    """

    __slots__ = ("_scopes", "max_age", "problem")

    def __init__(self, document: bytes | str, base: str = "") -> None:
        """Read any *document*; *base* is the URL of the page that contains it, empty for a file."""
        reader = _RslReader()
        reader.read(document)
        self.max_age = reader.max_age * _DAY
        self.problem = reader.problem
        by_url: dict[str, list[_Content]] = {}
        for content in reader.contents:
            by_url.setdefault(content.url, []).append(content)
        scopes = [_Scope.of(url, base, contents, self.problem) for url, contents in by_url.items()]
        self._scopes = sorted(filter(None, scopes), key=lambda scope: -scope.length)

    def statements(self, url: str, source: str) -> tuple[Statement, ...]:
        """Return the statements of the licenses that apply to *url*; *source* is their place.

        Narrower content takes precedence over wider content (section 3.1.1), for each use that it covers. An offer
        with conditions overrides a wider permission, but no prohibition [ours]. Among equally wide contents, any
        may forbid. Paths match as in RFC 9309 (section 3.3).
        """
        said = [_said(self.problem, irregular=True)] if self.problem else []
        settled: set[Purpose | None] = set()
        offered: set[Purpose | None] = set()
        path, origin = path_of(url), Origin.find(url)
        matching = (scope for scope in self._scopes if scope.matches(path, origin))
        for _, level in groupby(matching, attrgetter("length")):
            scopes = [*level]
            offers = {category for scope in scopes for category in scope.offers}
            if len(scopes) > 1:
                offered |= offers
            new = [
                one
                for scope in scopes
                for one in scope.statements
                if one.category not in settled and not (one.allows and one.category in offered)
            ]
            said += new
            settled |= {one.category for one in new} - {None}
            offered |= offers
        return tuple(replace(one, source=source) for one in without_repetitions(said))


def said_by_licenses(urls: Iterable[str], files: Mapping[str, RslFile], url: str) -> list[Statement]:
    """Return the statements about *url* from a site's licenses at *urls*; *files* are those that could be read.

    All licenses apply together (section 4.4). While any is unknown or broken, no permission counts [ours].
    """
    urls = [*urls]
    said = [one for each in urls if each in files for one in files[each].statements(url, shortened(each))]
    unread = [each for each in urls if each not in files]
    if unread or any(files[each].problem for each in urls if each in files):
        said = [replace(one, category=None, allows=None) if one.allows else one for one in said]
    return said + [Statement(Signal.RSL, None, None, shortened(each), "license not read") for each in unread]


def as_page_says(site: Iterable[Statement], own: Iterable[Statement], named: Collection[str]) -> list[Statement]:
    """Return the *site* statements that still apply to a page with licenses, which take precedence.

    *own* are statements of licenses in the page, *named* the URLs of other licenses. The site's licenses do not
    apply to a use that the page covers (section 4.9). A license that the page names is not read, and a license in
    the page may be an offer. Site licenses therefore permit nothing, unless the page names only the same [ours].
    """
    own = [one for one in own if one.signal is Signal.RSL]
    spoken = {one.category for one in own if one.category}

    def holds(one: Statement) -> bool:
        if one.signal is not Signal.RSL or one.category is None:
            return True
        return one.category not in spoken and not (one.allows and (own or {*named} - {one.source}))

    return [one for one in site if holds(one)] if own or named else [*site]


def read_licenses(licenses: Iterable[License], scope: str = "") -> tuple[Statement, ...]:
    """Return the statements about usage of the *licenses* of one ``<content>`` element; *scope* is its URL.

    - A listed token permits: "the listed values, separated by one or more spaces, are allowed" (section 3.5).
    - Usage is restricted only if a license has ``permits`` of that type (section 3.5). Any use that no license of
      the content lists is then a no.
    - A prohibition wins over a permission (section 3.1.1: licenses are read conservatively).
    - ``ai-all`` and ``all`` stand for the usages in the table of labels (section 3.4.1.1).
    - A permission with conditions, for example a payment, users or countries, is an offer, not a yes: it is
      recorded without a category [ours].
    - Commas may separate tokens, because generators write them [ours].
    """
    found = [*licenses]
    lists = [one.permits for one in found if one.permits is not None]
    listed = {category for each in lists for some in _tokens(each, of_drafts=True).values() for category in some}
    statements = [statement for one in found for statement in _of_license(one, scope)]
    if lists:
        text = f"permits: {' '.join(lists)}"
        statements += [_said(text, scope, each, allows=False) for each in Purpose if each not in listed]
    return without_repetitions(statements)


def _of_license(license_: License, scope: str) -> Iterator[Statement]:
    """The statements of one license."""
    permits, condition = license_.permits, "; ".join(license_.conditions)
    for name, text in (("prohibits", license_.prohibits), ("permits", "" if condition else permits or "")):
        for token, categories in _tokens(text, of_drafts=name == "prohibits").items():
            yield from (_said(f"{name}: {token}", scope, each, allows=name == "permits") for each in categories)
            if not categories:
                yield _said(f"{name}: {token}", scope, irregular=True)
    if condition:
        offer = f"permits: {' '.join(permits.split())} ({condition})" if permits is not None else condition
        yield _said(offer, scope)
    yield from (_said(note, scope) for note in license_.notes)


def _said(
    text: str, scope: str = "", use: Purpose | None = None, *, allows: bool | None = None, irregular: bool = False
) -> Statement:
    """A statement of a license about a *use*, or a mere record without one; the caller sets the source."""
    written = shortened(f"{scope} {text}" if scope else text)
    return Statement(Signal.RSL, use, allows, "", written, irregular=irregular)


def _tokens(text: str, *, of_drafts: bool = False) -> dict[str, list[Purpose]]:
    """The tokens in *text* with their categories. Tokens of drafts have none unless *of_drafts*."""
    labels = {token: label_of(Signal.RSL, token) for token in text.lower().replace(",", " ").split()}
    return {
        token: sorted(label.categories) if label and (of_drafts or not label.until) else []
        for token, label in labels.items()
    }


# Links to licenses.


def urls_in_header(fields: Iterable[str], url: str) -> tuple[str, ...]:
    """Return the absolute URLs of the licenses in the ``Link`` *fields* of a response from *url* (RFC 8288)."""
    found: dict[str, None] = {}
    for link in (each[:_MAX_FIELD] for each in fields if "license" in each.lower()):
        for target, parameters in _LINK.findall(link):
            values = {name.lower(): quoted or plain for name, quoted, plain in _PARAMETER.findall(parameters)}
            if _is_license(values):
                found[absolute(target, url)] = None
    return tuple(filter(is_url, found))[:MAX_LICENSES]


def urls_in_elements(
    links: Iterable[Mapping[str, str]], bases: Iterable[Mapping[str, str]], url: str
) -> tuple[str, ...]:
    """Return the absolute URLs of the licenses in the *links* of the page at *url*, relative to its *bases*."""
    found = (absolute(each["href"], url) for each in bases if "href" in each)
    base = next(filter(is_url, found), url)
    urls = (absolute(each.get("href", ""), base) for each in links if _is_license(each))
    return tuple(islice(filter(is_url, urls), MAX_LICENSES))


def _is_license(values: Mapping[str, str]) -> bool:
    """Whether a link with these attributes or parameters points to a license."""
    return "license" in values.get("rel", "").lower().split() and is_rsl(values)


def is_rsl(values: Mapping[str, str]) -> bool:
    return values.get("type", "").partition(";")[0].strip().lower() == RSL_TYPE


def is_url(text: str) -> bool:
    """Whether *text* is an absolute http(s) URL."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and text.isprintable()


def absolute(target: str, base: str) -> str:
    """*target* as an absolute URL, relative to *base*; empty if it is invalid."""
    try:
        return urljoin(base, target.strip())
    except ValueError:
        return ""


# The document.


@dataclass(slots=True)
class _Element:
    """An element inside ``<content>``, with its own text, without that of nested elements."""

    name: str
    attributes: Mapping[str, str]
    texts: list[str] = field(default_factory=list)

    @property
    def type(self) -> str:
        return self.attributes.get("type", "").strip()

    @property
    def text(self) -> str:
        return " ".join("".join(self.texts).split())

    @property
    def as_note(self) -> str:
        about = " ".join(filter(None, (self.name, self.type)))
        return f"{about}: {self.text}" if self.text else about


@dataclass(slots=True)
class _Content:
    """One ``<content>``; its ``conditions`` apply to all its licenses."""

    url: str
    conditions: list[str]
    licenses: list[License] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class _Scope(NamedTuple):
    """All contents with one URL; ``origin`` None means the site's origin, ``pattern`` None the whole site."""

    origin: Origin | None
    pattern: Pattern | None
    statements: tuple[Statement, ...]
    offers: frozenset[Purpose]

    @property
    def length(self) -> int:
        return self.pattern.specificity if self.pattern else 0

    def matches(self, path: bytes, origin: Origin | None) -> bool:
        """Whether the contents apply to *path*; if either origin is unknown, origins are not compared."""
        is_here = self.origin is None or origin is None or self.origin == origin
        return is_here and (self.pattern is None or self.pattern.matches(path))

    @classmethod
    def of(cls, url: str, base: str, contents: Iterable[_Content], problem: str) -> _Scope | None:
        """Combine the *contents* with this *url*; None for an invalid URL."""
        contents = [*contents]
        licenses = [one for content in contents for one in content.licenses]
        if problem:
            licenses = [replace(one, conditions=(*one.conditions, "invalid document")) for one in licenses]
        notes = (_said(note, url) for content in contents for note in content.notes)
        statements = without_repetitions((*read_licenses(licenses, url), *notes))
        offers = frozenset(
            category
            for one in licenses
            if one.conditions
            for some in _tokens(one.permits or "").values()
            for category in some
        )
        judged = [one for one in statements if one.category]
        recorded = [one for one in statements if not one.category]
        where = _where(url, base)
        return cls(*where, (*judged, *recorded[:_MAX_RECORDED]), offers) if where else None


def _where(url: str, base: str) -> tuple[Origin | None, Pattern | None] | None:
    """The origin and the path of *url*, relative to *base*; None if it is invalid."""
    if not url:
        return None, None
    target = url if url.startswith("*") else absolute(url, base or "/")
    if not target:
        return None
    try:
        parts = urlsplit(target)
        origin = Origin.from_url(target) if parts.scheme or parts.netloc else None
    except ValueError:
        return None
    path = parts._replace(scheme="", netloc="", fragment="").geturl()
    return origin, Pattern.of((path or "/").encode("utf-8", "replace"))


class _RefusedError(ValueError):
    """Stops the reading of a document."""


class _RslReader:
    """Reads one document; everything before an error counts."""

    def __init__(self) -> None:
        self.contents: list[_Content] = []
        self.max_age = MAX_AGE
        self.problem = ""
        self._elements = self._depth = self._ignored = 0
        self._is_rsl = False
        self._is_bare = False  # whether elements without a namespace belong to RSL
        self._open: list[_Element] = []  # open elements of RSL
        self._content: _Content | None = None
        self._parts: list[_Element] = []  # elements of the current license

    def read(self, document: bytes | str) -> None:
        """Read *document*; never raises."""
        octets = document.encode("utf-8", "replace") if isinstance(document, str) else document
        if len(octets) > MAX_SIZE:
            self.problem = f"larger than {MAX_SIZE:,} bytes"
            return
        parser = ParserCreate("utf-8" if isinstance(document, str) else None, namespace_separator=" ")
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._doctype
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        try:
            parser.Parse(octets.lstrip(), True)
        except _RefusedError as refusal:
            self.problem = str(refusal)
        except ExpatError as error:
            self.problem = f"no well-formed XML, line {error.lineno}"
        except (ValueError, LookupError):  # raised for an encoding that Python cannot decode
            self.problem = "an encoding that cannot be read"
        if not self._is_rsl:
            self.problem = self.problem or "no RSL"

    def _doctype(self, *_: object) -> None:
        raise _RefusedError("a document type, which may declare entities")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._elements += 1
        if self._depth > MAX_DEPTH:
            raise _RefusedError(f"more than {MAX_DEPTH} nested elements")
        if self._elements > MAX_ELEMENTS:
            raise _RefusedError(f"more than {MAX_ELEMENTS:,} elements")
        namespace, _, local = name.rpartition(" ")
        if self._depth == 1:
            self._is_bare = name == "rsl"
        is_ours = namespace == _NAMESPACE or (self._is_bare and not namespace)
        if self._ignored or (not is_ours and self._open):
            self._ignored += 1  # an extension; elements around RSL belong to a feed that contains it
        elif is_ours:
            self._is_rsl = True
            self._start_ours(local, attributes)

    def _start_ours(self, name: str, attributes: dict[str, str]) -> None:
        if name not in _ELEMENTS:
            self.problem = self.problem or shortened(f"unknown element <{name}>")
        elif name == "rsl":
            days = attributes.get("max-age", "").strip()
            is_number = days.isascii() and days.isdigit() and len(days) <= _LONGEST_AGE
            self.max_age = max(int(days), 1) if is_number else MAX_AGE
        elif name == "license":
            self._parts = []
        elif name == "content":
            if len(self.contents) >= MAX_CONTENTS:
                raise _RefusedError(f"more than {MAX_CONTENTS:,} content elements")
            self._content = _Content(attributes.get("url", "").strip(), [*_conditions(attributes)])
        self._open.append(_Element(name, attributes))

    def _characters(self, text: str) -> None:
        if self._open and not self._ignored:
            self._open[-1].texts.append(text)

    def _end(self, name: str) -> None:
        self._depth -= 1
        if self._ignored:
            self._ignored -= 1
            return
        if not self._open or name.rpartition(" ")[2] != self._open[-1].name:
            return
        element, content = self._open.pop(), self._content
        if content is None:
            return
        if element.name == "content":
            self.contents.append(content)
            content.notes += content.conditions if not content.licenses else []
            self._content = None
        elif element.name == "license":
            content.licenses.append(_license(self._parts, content.conditions))
            self._parts = []
        elif element.name == "terms":
            content.notes.append(element.as_note)
        else:
            self._parts.append(element)


def _conditions(content: Mapping[str, str]) -> Iterator[str]:
    """The conditions in the attributes of a ``<content>`` (section 3.3)."""
    if server := content.get("server", "").strip():
        yield f"server: {server}, a license must be obtained"
    if content.get("encrypted", "").strip().lower() == "true":
        yield "encrypted, a license must be obtained"


def _license(parts: Sequence[_Element], conditions: Iterable[str]) -> License:
    def texts(name: str) -> list[str]:
        return [one.text for one in parts if one.name == name and one.type == "usage"]

    others = [one.as_note for one in parts if one.name in {"permits", "prohibits"} and one.type != "usage"]
    of_payment = [
        " ".join(filter(None, (one.name, one.text, one.attributes.get("currency"))))
        for one in parts
        if one.name in _OF_PAYMENT
    ]
    types = [one.type.lower() for one in parts if one.name == "payment" and one.type.lower() not in {"", "free"}]
    payment = " ".join([*types, *of_payment])
    reporting = [one.as_note for one in parts if one.name == "reporting"]
    permits = texts("permits")
    return License(
        " ".join(permits) if permits else None,
        " ".join(texts("prohibits")),
        (*conditions, *([f"payment: {payment}"] if payment else []), *others, *reporting),
        tuple(one.as_note for one in parts if one.name == "legal"),
    )
