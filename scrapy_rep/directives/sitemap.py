"""Read sitemaps: bytes in, entries out, regardless of URL and Content-Type.

Supports XML by https://www.sitemaps.org/protocol.html, Google's extensions for news, images, videos and languages,
RSS 2.0, Atom, and text files, each optionally compressed with gzip. The parser is expat: it streams, is in the
standard library, and stops at an error instead of guessing. This module then chooses where to continue. Expat
never sees the text before the root element: no document type, and no entities but the five of XML.
"""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final
from urllib.parse import urljoin
from xml.parsers import expat

from .dates import SiteDate, read_date
from .html import marked_encoding

# Limits by https://www.sitemaps.org/protocol.html: "(52,428,800 bytes)", "no more than 50,000 URLs".
MOST_OCTETS: Final = 52_428_800  # bytes of an uncompressed sitemap that are read
MOST_ENTRIES: Final = 50_000  # entries that are read
MOST_ERRORS: Final = 1_000  # places with invalid XML; after more, reading stops
_PIECE: Final = 32_768  # bytes that are decompressed, decoded and parsed at once
_TELLING: Final = 1_024  # bytes that suffice to detect the encoding, or gzip
_HEAD: Final = 65_536  # characters in which the root element must start
_LONGEST_TAG: Final = 262_144  # bytes of a tag or comment, which expat rereads from its start with each piece
_LONGEST_TEXT: Final = 16_384  # characters of an element; the rest is ignored
_DEEPEST: Final = 64  # levels of elements
_MOST_LAYERS: Final = 3  # layers of gzip
_MOST_MEMBERS: Final = 1_000  # members of a gzip file
_MOST_NAMES: Final = 1_000  # names of elements and attributes, all of which expat keeps
_MOST_LISTED: Final = 1_000  # images, videos or links of an entry: Google's limit for images

GZIP: Final = b"\x1f\x8b"  # the first bytes of a gzip file: RFC 1952 section 2.3.1
_DECLARED: Final = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z][\w.-]{1,30})[\"']")
# Charsets other than UTF-8, which the protocol requires; Python codecs that are not charsets must not match.
_CHARSET: Final = re.compile(
    r"(?:iso-?8859-\d+|windows-?125\d|cp125\d|us-ascii|latin-?1|koi8-[ru]|gb2312|gbk|gb18030|big5|euc-(?:jp|kr)"
    r"|shift_jis|iso-2022-jp)",
    re.IGNORECASE,
)
_ROOT: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|(?P<doctype><!(?i:doctype)[^\[>]*(?:\[.*?(?:\]\s*>|\Z)|>|\Z))"
    r"|<(?:[\w.-]+:)?(?P<root>urlset|sitemapindex|rss|feed|(?i:html))(?=[\s/>])",
    re.DOTALL,
)
_IS_LOCATION: Final = re.compile(r"https?:|/", re.IGNORECASE)
_IS_URL: Final = re.compile(r"https?://\S+", re.IGNORECASE)
_BLANKS: Final = "\ufeff \t\0"
_CDATA: Final = "<![CDATA["
# A literal ampersand: it starts neither a character reference nor one of XML's five entities.
_LITERAL: Final = re.compile(
    r"<!\[CDATA\[.*?(?:\]\]>|\Z)|&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-fA-F]{1,6});)", re.DOTALL
)
_OPENING: Final = b"<entries>"
_CONTROLS: Final = bytes(set(range(32)) - {9, 10, 13})  # not allowed in XML
_PRIORITY: Final = re.compile(r"\d{0,3}[.,]?\d{1,9}", re.ASCII)

_ENTRIES: Final = {
    "urlset": ("url", "sitemap"), "sitemapindex": ("sitemap", "url"), "rss": ("item",), "feed": ("entry",)
}  # fmt: skip
_EXTENSIONS: Final = frozenset({"news", "image", "video"})
# The elements with the modification time: of sitemaps, Atom, Atom 0.3, RSS, Dublin Core and Atom.
_MODIFIED: Final = ("lastmod", "updated", "modified", "pubDate", "date", "published")
_DATES: Final = frozenset({"publication_date", "expiration_date"})


class NotASitemapError(ValueError):
    """The bytes are not a sitemap; the message says why."""


@dataclass(slots=True, eq=False)
class SitemapEntry:
    """One entry of a sitemap, as written.

    ``fields`` are its elements by name, ``links`` the attributes of its link elements. ``news`` is None or a dict,
    ``images`` and ``video`` are lists of dicts. These dicts map element names to texts, or to a list of texts if
    a name is repeated.
    """

    loc: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    links: list[dict[str, str]] = field(default_factory=list)
    news: dict[str, Any] | None = None
    images: list[dict[str, Any]] = field(default_factory=list)
    video: list[dict[str, Any]] = field(default_factory=list)

    @property
    def lastmod(self) -> SiteDate | None:
        """The last modification of the page or sitemap; None without a readable date."""
        return next(filter(None, map(read_date, self._dates())), None)

    def _dates(self) -> Iterator[str]:
        return (self.fields[each] for each in _MODIFIED if each in self.fields)

    def as_scrapys(self) -> dict[str, Any]:
        """The entry as Scrapy passes it to ``sitemap_filter``: texts only, ``alternate`` is a list of URLs."""
        found: dict[str, Any] = {**self.fields, "loc": self.loc}
        for text in self._dates():
            found.setdefault("lastmod", text)
        if links := [link["href"] for link in self.links if link.get("href")]:
            found["alternate"] = links
        return found

    def as_dict(self, sitemap: str) -> dict[str, Any]:
        """The entry in the sitemap at the URL *sitemap* as plain data, always with the same keys; see the docs."""
        lastmod, text = self.lastmod, self.fields.get("priority", "")
        priority = float(text.replace(",", ".")) if _PRIORITY.fullmatch(text) else None
        alternates: dict[str, str] = {}
        for link in self.links:
            if link.get("hreflang") and link.get("href"):
                alternates.setdefault(link["hreflang"], link["href"])
        return {
            "loc": self.loc,
            "lastmod": lastmod.at if lastmod else None,
            "changefreq": self.fields.get("changefreq", "").lower() or None,
            "priority": priority if priority is not None and priority <= 1.0 else None,
            "alternates": alternates,
            "news": _with_dates(self.news) if self.news else None,
            "images": [*filter(None, self.images)],
            "video": [_with_dates(video) for video in self.video if video],
            "sitemap": sitemap,
        }


def _with_dates(said: dict[str, Any]) -> dict[str, Any]:
    """*said* with dates as aware datetimes; None for an unreadable date."""
    found = dict(said)
    for name in _DATES & said.keys():
        date = read_date(said[name]) if isinstance(said[name], str) else None
        found[name] = date.at if date else None
    return found


class Sitemap:
    """The sitemap in *body*, fetched from *url*. Iterate over it once to read it.

    ``kind`` is ``urlset``, ``sitemapindex``, ``rss``, ``feed`` or ``text``, and determines the name of entries.
    ``errors`` counts the places that were skipped. After reading, ``cut`` says why the sitemap was not read
    completely: too many ``octets``, ``entries`` or ``errors``, or the ``end`` is missing; else it is empty.
    ``is_empty`` is True if the sitemap has no entries.

    A ``loc`` that starts with a slash is relative to *url*; other invalid URLs stay as written.
    """

    def __init__(self, body: bytes, url: str) -> None:
        """Raises `NotASitemapError`."""
        self.url = url
        self.errors = 0
        self.cut = ""
        self.is_empty = False
        self._is_torn = False  # whether the gzip file is truncated or damaged
        texts = _texts(self._unpacked(body))
        head = ""
        for text in texts:
            head += text
            if len(head) >= _HEAD:
                break
        self.kind, start = _kind(head)
        self._texts = chain([head[start:]], texts)

    @property
    def is_index(self) -> bool:
        """Whether the entries are sitemaps."""
        return self.kind == "sitemapindex"

    def __iter__(self) -> Iterator[SitemapEntry]:
        entries = self._lines() if self.kind == "text" else self._elements()
        number = 0
        for number, entry in enumerate(entries, start=1):
            if number > MOST_ENTRIES:
                self.cut = "entries"
                return
            entry.loc = self._absolute(entry.loc)
            for link in entry.links:
                link["href"] = self._absolute(link.get("href", ""))
            yield entry
        self.is_empty = not number

    @property
    def problem(self) -> str:
        """Why the sitemap was not read completely, in words; empty if it was."""
        if self.cut == "end":
            return "the end is missing"
        return self.cut and f"too many {self.cut}"

    def _absolute(self, url: str) -> str:
        try:
            return urljoin(self.url, url) if url.startswith("/") else url
        except ValueError:
            return url

    # From bytes to text.

    def _unpacked(self, body: bytes) -> Iterator[bytes]:
        pieces: Iterator[bytes] = (body[at : at + _PIECE] for at in range(0, len(body), _PIECE))
        for _ in range(_MOST_LAYERS):
            first = _start_of(pieces)
            pieces = self._bounded(chain([first], pieces))
            if not first.startswith(GZIP):
                return pieces
            pieces = self._gunzip(pieces)
        return self._bounded(pieces)

    def _bounded(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        left = MOST_OCTETS
        for piece in pieces:
            if len(piece) > left:
                self.cut = "octets"
                yield piece[:left]
                return
            left -= len(piece)
            yield piece

    # From text to entries.

    def _lines(self) -> Iterator[SitemapEntry]:
        """Read one URL per line: ibid., "Other Sitemap formats", "Text file"."""
        rest = ""
        for text in chain(self._texts, [None]):
            if text is not None:
                *lines, rest = re.split(r"[\r\n]", rest + text)
                rest = "#" if len(rest) > _LONGEST_TEXT else rest  # skip it like a comment
            else:
                self.cut = self.cut or ("end" if self._is_torn else "")
                lines = [] if self.cut else [rest]
            for line in (line.strip(_BLANKS) for line in lines):
                if _IS_URL.fullmatch(line):
                    yield SitemapEntry(line)
                elif line and not line.startswith("#"):
                    self.errors += 1

    def _elements(self) -> Iterator[SitemapEntry]:
        """Read entries from XML. After an error, complete elements count; reading continues at the next entry."""
        names, ready = _ENTRIES[self.kind], list[SitemapEntry]()
        next_entry = re.compile(rb"<(?:[\w.-]+:)?(?:%s)(?=[\s/>])" % "|".join(names).encode())
        end, has_end = re.compile(rb"</(?:[\w.-]+:)?%s\s*>" % self.kind.encode()), False
        elements = _Elements(names, ready)
        parser: expat.XMLParserType | None = elements.parser()
        fed = 0  # bytes passed to the parser
        for piece in _repaired(self._texts):
            has_end = has_end or bool(end.search(piece))
            view, at = memoryview(piece), 0
            while True:
                if parser is None:
                    found = next_entry.search(piece, at)
                    if found is None:
                        break
                    elements, at, fed = _Elements(names, ready), found.start(), len(_OPENING)
                    parser = elements.parser()
                    parser.Parse(_OPENING)
                try:
                    parser.Parse(view[at:])
                    fed += len(piece) - at
                    if fed - parser.CurrentByteIndex <= _LONGEST_TAG:
                        break
                    at = len(piece)
                except expat.ExpatError:
                    at = max(at + parser.ErrorByteIndex - fed, at) + 1
                self.errors += 1
                parser = None
                elements.end_entry()
                if self.errors > MOST_ERRORS:
                    self.cut = "errors"
                    break
            yield from ready
            ready.clear()
            if self.cut == "errors":
                return
        elements.end_entry()
        if not (has_end or self.cut):
            self.cut = "end"
        yield from ready

    def _gunzip(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Decompress *pieces*, up to any damage. A file may have several members in a row (RFC 1952)."""
        inflater, members = zlib.decompressobj(31), 1
        for piece in pieces:
            left = piece
            while left or not inflater.eof:
                try:
                    octets = inflater.decompress(left, _PIECE)
                except zlib.error:
                    self._is_torn = True
                    return
                left = inflater.unconsumed_tail
                if octets:
                    yield octets
                if inflater.eof:
                    left = inflater.unused_data
                    members += 1
                    if not left.startswith(GZIP) or members > _MOST_MEMBERS:
                        return
                    inflater = zlib.decompressobj(31)
                elif not left and not octets:
                    break
        self._is_torn = True


def _start_of(pieces: Iterator[bytes]) -> bytes:
    """The first *pieces*, enough to detect their format: a member of gzip may have one byte."""
    start = b""
    while len(start) < _TELLING and (piece := next(pieces, b"")):
        start += piece
    return start


def _texts(pieces: Iterator[bytes]) -> Iterator[str]:
    """The text of *pieces*, in the encoding that a byte order mark, zero bytes or the XML declaration show."""
    first = _start_of(pieces)
    decoder = codecs.getincrementaldecoder(_encoding(first))("replace")
    for piece in chain([first], pieces):
        if text := decoder.decode(piece):
            yield text
    if text := decoder.decode(b"", final=True):
        yield text


def _encoding(head: bytes) -> str:
    if marked := marked_encoding(head):
        return marked
    declared = _DECLARED.search(head, 0, 1_024)
    name = declared[1].decode() if declared else ""
    if _CHARSET.fullmatch(name):
        try:
            return codecs.lookup(name).name
        except LookupError:
            pass
    return "utf-8"


def _kind(head: str) -> tuple[str, int]:
    """The kind of the sitemap that starts with *head*, and its start. Raises `NotASitemapError`."""
    for found in _ROOT.finditer(head):
        if found["doctype"] and "<!ENTITY" in found["doctype"]:
            raise NotASitemapError("it declares entities")
        if found["root"]:
            if found["root"] not in _ENTRIES:
                raise NotASitemapError("it is HTML")
            return found["root"], found.start()
    lines = (line.strip(_BLANKS) for line in head.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    if _IS_URL.fullmatch(first):
        return "text", 0
    raise NotASitemapError("it is neither XML of a sitemap or feed nor a list of URLs" if first else "it is empty")


def _repaired(texts: Iterable[str]) -> Iterator[bytes]:
    """The UTF-8 of *texts*, in pieces that end after a tag, with common mistakes in XML repaired."""
    rest, is_cdata = "", False
    for text in chain(texts, [None]):
        whole = rest + (text or "")
        end = whole.rfind(">") + 1
        if text is None or (not end and len(whole) > _LONGEST_TAG):
            end = len(whole)
        rest = whole[end:]
        if end:
            piece, is_cdata = _escaped(whole[:end], is_cdata=is_cdata)
            yield piece.encode("utf-8", "replace").translate(None, _CONTROLS)


def _escaped(text: str, *, is_cdata: bool) -> tuple[str, bool]:
    """*text* with literal ampersands escaped, and whether it ends inside CDATA; *is_cdata*: it starts inside."""
    if is_cdata:
        text = _CDATA + text
    begun = text.rfind(_CDATA)
    ends_inside = begun >= 0 and "]]>" not in text[begun:]
    if "&" in text:
        text = _LITERAL.sub(lambda found: "&amp;" if found[0] == "&" else found[0], text)
    return text[len(_CDATA) :] if is_cdata else text, ends_inside


class _Elements:
    """Builds entries from the elements called *names*, in callbacks of expat."""

    def __init__(self, names: tuple[str, ...], ready: list[SitemapEntry]) -> None:
        """Adds complete entries to *ready*."""
        self._names = names
        self._ready = ready
        self._entry: SitemapEntry | None = None
        self._name = self._prefix = ""  # of the entry's element
        self._depth = 0
        self._path: list[str] = []  # from the entry down to the open element
        self._group: dict[str, Any] | None = None  # the open element of an extension
        self._text: list[str] = []
        self._size = 0  # characters in _text
        self._seen: set[str] = set()  # names of elements and attributes

    def parser(self) -> expat.XMLParserType:
        """A parser without namespaces, because some sitemaps use undeclared prefixes."""
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._data
        return parser

    def end_entry(self) -> None:
        """Complete the open entry; an entry without a location is dropped."""
        entry, self._entry = self._entry, None
        if entry is None:
            return
        entry.loc = entry.loc or _location(entry)
        if entry.loc:
            self._ready.append(entry)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._seen.add(name)
        self._seen.update(attributes)
        if self._depth > _DEEPEST or len(self._seen) > _MOST_NAMES:
            raise expat.ExpatError
        prefix, _, local = name.rpartition(":")
        if self._entry is None or name == self._name:
            if local in self._names:
                self.end_entry()  # its end tag is missing
                self._entry, self._name, self._prefix = SitemapEntry(), name, prefix
                self._path, self._group = [], None
            return
        self._path.append(local)
        self._text, self._size = [], 0
        if len(self._path) > 1:
            return
        if local == "link" and attributes and len(self._entry.links) < _MOST_LISTED:
            self._entry.links.append(attributes)
        elif prefix != self._prefix or local in _EXTENSIONS:
            listed = {"image": self._entry.images, "video": self._entry.video}.get(local)
            if listed is not None and len(listed) < _MOST_LISTED:
                self._group = {}
                listed.append(self._group)
            elif local == "news" and self._entry.news is None:
                self._entry.news = self._group = {}

    def _data(self, text: str) -> None:
        if self._path and self._size < _LONGEST_TEXT:
            self._text.append(text[: _LONGEST_TEXT - self._size])
            self._size += len(text)

    def _end(self, name: str) -> None:
        self._depth -= 1
        if self._entry is None:
            return
        if not self._path:
            self.end_entry()
            return
        local = self._path.pop()
        text = "".join(self._text).strip()
        self._text = []
        if self._path:
            if text and self._group is not None:
                _add(self._group, local, text)
            return
        self._group = None
        if text:
            self._keep(name.rpartition(":")[0], local, text)

    def _keep(self, prefix: str, local: str, text: str) -> None:
        assert self._entry is not None  # noqa: S101
        if prefix == self._prefix:
            self._entry.fields[local] = text
            if local == "loc":
                self._entry.loc = text
        elif prefix not in _EXTENSIONS:
            self._entry.fields.setdefault(local, text)
            if local == "loc":
                self._entry.loc = self._entry.loc or text


def _add(group: dict[str, Any], name: str, text: str) -> None:
    if name not in group:
        group[name] = text
    elif isinstance(group[name], list):
        if len(group[name]) < _MOST_LISTED:
            group[name].append(text)
    else:
        group[name] = [group[name], text]


def _location(entry: SitemapEntry) -> str:
    """The location of *entry* in a feed: ibid., "Syndication feed", and RFC 4287 section 4.2.7.2."""
    links = (link for link in entry.links if link.get("rel", "alternate") == "alternate")
    found = [link["href"] for link in links if "href" in link]
    urls = [entry.fields.get("link", ""), *found, entry.fields.get("guid", ""), entry.fields.get("id", "")]
    return next(filter(_IS_LOCATION.match, urls), "")
