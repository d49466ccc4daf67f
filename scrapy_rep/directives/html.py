"""Find the elements with which an HTML page describes itself, without building a tree.

Follows the tokenizer of the HTML standard (https://html.spec.whatwg.org/multipage/parsing.html) where it decides
which elements exist. Never raises, and takes time linear in the page: no expression can match in two ways, and
reading stops at the first construct without an end.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from html import unescape
from typing import Final, NamedTuple

MAX_SIZE: Final = 2_097_152  # bytes or characters of a page that are searched for elements
_TYPES: Final = {"text/html", "application/xhtml+xml"}
META: Final = re.compile(rb"<[Mm][Ee][Tt][Aa]")  # the start of a meta element, in any encoding but UTF-16
_TAG: Final = b"<meta"
START: Final = 100  # bytes that suffice to detect an encoding of two or four bytes
_LONGEST_TAG: Final = 8_192  # bytes
_ESCAPED: Final = re.compile(rb"name\s*=\s*[\"']?[^\"'>]{0,40}&#")

# These elements contain text, not markup. Scripts do not run here, and the content of noscript is read.
_TEXT_INSIDE: Final = frozenset(b"iframe noembed noframes script style textarea title xmp".split())
_TEXT_WITH_SCRIPTS: Final = _TEXT_INSIDE | {b"noscript"}
_SPEAKING: Final = frozenset(b"base link meta script".split())

_MARKUP: Final = re.compile(rb"<(?:(/?[A-Za-z][^ \t\n\f\r/>]*)|(!--)|[!?/])")
_ATTRIBUTE: Final = re.compile(
    rb"[ \t\n\f\r/]*(?:(>)|([^ \t\n\f\r/>][^ \t\n\f\r/>=]*)"
    rb"(?:[ \t\n\f\r]*=[ \t\n\f\r]*(?:\"([^\"]*)\"|'([^']*)'|(?![\"'])([^ \t\n\f\r>]*)|(.)))?)",
    re.DOTALL,
)
# Skips many ordinary tags of no interest at once, with the text before them: they make up most of a page.
_ORDINARY: Final = re.compile(
    rb"(?:[^<]*</?(?!(?i:%s|/?template)[ \t\n\f\r/>])[A-Za-z][\w:-]*"
    rb"(?:[ \t\n\f\r]+[\w:@.-]+(?:=(?:\"[^\"]*\"|'[^']*'|[^ \t\n\f\r\"'<>=]+))?){0,50}[ \t\n\f\r]*/?>){0,200}"
    % b"|".join(sorted(_TEXT_INSIDE | _SPEAKING))
)
_END_OF_COMMENT: Final = re.compile(rb"--!?>")
_REFERENCE: Final = re.compile(r"&(?:#[0-9]{1,8}|#[xX][0-9A-Fa-f]{1,7}|[A-Za-z][A-Za-z0-9]{1,31});?")
_CHARSET: Final = re.compile(rb"charset\s*=\s*[\"']?([\w:.-]{1,40})", re.IGNORECASE)
_BOMS: Final = {  # UTF-32 first: the mark of UTF-16 is a prefix of the mark of UTF-32
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_LIKE_MARKUP: Final = ("utf-16", "utf-32", "iso2022")  # encodings in which bytes of text look like markup
_SAMPLE: Final = rb"<meta name=a-b x='1' y=\"2\">&#;,: \u0041+AGE-"


def is_html(content_type: str) -> bool:
    """Whether a body with this *content_type* is HTML or XHTML."""
    return content_type.partition(";")[0].strip().lower() in _TYPES


class Element(NamedTuple):
    """An element: its ``name`` and ``attributes``, with names in lower case, and its ``text``.

    Only scripts, style sheets and the like have a text.
    """

    name: str
    attributes: dict[str, str]
    text: str = ""


class HtmlPage:
    """An HTML page as received, which is read when first needed."""

    __slots__ = ("_body", "_codec")

    def __init__(self, html: str | bytes, content_type: str = "") -> None:
        """Decode bytes by the byte order mark, *content_type*, or the page's declaration, else as UTF-8."""
        body = html[:MAX_SIZE] if isinstance(html, bytes) else html[:MAX_SIZE].encode("utf-8", "replace")
        codec = _encoding(body, content_type) if isinstance(html, bytes) else "utf-8"
        if codec and codec.startswith(_LIKE_MARKUP):
            body, codec = body.decode(codec, "replace").encode(), "utf-8"
        self._body, self._codec = body.removeprefix(codecs.BOM_UTF8), codec

    def metas(self, words: Iterable[str]) -> Iterator[tuple[str, str]]:
        """The name and the content of the meta elements, up to the last that may contain one of *words*.

        *words* are in lower case. They are searched for first, because few pages have directives.
        """
        lower = self._body.lower()
        first, end = lower.find(_TAG), lower.rfind(_TAG) + _LONGEST_TAG
        if first < 0 or (word := _last_of(words, lower[first:end])) < 0:
            return
        for tag in _tags(self._body, lower.rfind(_TAG, 0, first + word + 1)):
            if tag.name == b"meta" and b"name" in tag.attributes:
                yield self._text(tag.attributes[b"name"]), self._text(tag.attributes.get(b"content", b""))

    def elements(self, words: Iterable[str]) -> Iterator[Element]:
        """The elements that describe the page, up to the last that may contain one of *words*, in lower case."""
        return map(self._element, _tags(self._body, _last_of(words, self._body.lower())))

    def loading_elements(self, names: Collection[str]) -> Iterator[Element]:
        """The elements called *names* or with a style attribute, as in a browser that runs scripts.

        With scripts, the content of noscript is text. Elements in a template are not part of the page.
        """
        for tag in _tags(self._body, len(self._body), with_scripts=True):
            if tag.name.decode("latin-1") in names or b"style" in tag.attributes:
                yield self._element(tag)

    def _element(self, tag: _Tag) -> Element:
        attributes = {name.decode("latin-1"): self._text(value) for name, value in tag.attributes.items()}
        return Element(tag.name.decode("latin-1"), attributes, self._text(tag.text, is_raw=True))

    def _text(self, octets: bytes, *, is_raw: bool = False) -> str:
        try:
            text = octets.decode(self._codec, "replace") if self._codec else octets.decode()
        except ValueError:
            text = octets.decode("cp1252", "replace")
        # Unescape references one by one, with bounded length: unescape fails on a number with thousands of digits.
        return text if is_raw or "&" not in text else _REFERENCE.sub(lambda found: unescape(found[0]), text)


# Encodings.


def marked_encoding(body: bytes) -> str | None:
    """The encoding that a byte order mark or zero bytes reveal; the caller must remove the mark."""
    for mark, codec in _BOMS.items():
        if body.startswith(mark):
            return codec
    zeros = [octet == 0 for octet in body[:4]]
    return "utf-16-be" if zeros == [True, False] * 2 else "utf-16-le" if zeros == [False, True] * 2 else None


def _encoding(body: bytes, content_type: str) -> str | None:
    """The encoding that the bytes reveal, else the declared encoding, else None."""
    if marked := marked_encoding(body):
        return marked
    declared = content_type.encode("ascii", "replace")
    found = _CHARSET.search(declared) or _CHARSET.search(body, 0, 1_024)
    return _known_codec(found[1].decode()) if found else None


@lru_cache(maxsize=256)
def _known_codec(label: str) -> str | None:
    """The codec *label* if it leaves markup unchanged: "hex" and "punycode" are also codecs in Python."""
    try:
        name = codecs.lookup(label).name
        return name if _SAMPLE.decode(name, "replace") == _SAMPLE.decode() else None
    except (LookupError, ValueError):
        return None


# Tags.


class _Tag(NamedTuple):
    name: bytes
    attributes: dict[bytes, bytes]
    start: int
    end: int
    is_empty: bool
    text: bytes = b""


def _last_of(words: Iterable[str], lower: bytes) -> int:
    """The last position of any of *words* in *lower*, or -1; its end if a name has character references."""
    if b"&#" in lower and _ESCAPED.search(lower):
        return len(lower)
    return max(lower.rfind(word.encode()) for word in words)


def _tags(body: bytes, last: int, *, with_scripts: bool = False) -> Iterator[_Tag]:
    """The tags outside templates, up to the position *last*, with the text of their elements.

    Yields base, link, meta and script tags; *with_scripts*, all start tags, as in a browser that runs scripts.
    """
    text_inside = _TEXT_WITH_SCRIPTS if with_scripts else _TEXT_INSIDE
    position = templates = 0
    while True:
        if not with_scripts and (found := _ORDINARY.match(body, position, last)):
            position = found.end()
        tag = _next_tag(body, position)
        if tag is None or tag.start > last:
            return
        position = tag.end
        if tag.name in text_inside and not tag.is_empty:
            found = _end_of(tag.name).search(body, position)
            if found is None and not with_scripts:
                return
            end = found.start() if found else len(body)
            tag, position = tag._replace(text=body[position:end]), end
        if tag.name in {b"template", b"/template"}:
            templates = max(templates + (-1 if tag.name[:1] == b"/" else not tag.is_empty), 0)
        elif not templates and (tag.name[:1] != b"/" if with_scripts else tag.name in _SPEAKING):
            yield tag


@lru_cache
def _end_of(name: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"</%s(?=[ \t\n\f\r/>])" % name, re.IGNORECASE)


def _next_tag(body: bytes, position: int) -> _Tag | None:
    """The first complete tag from *position* on, after any comments."""
    while found := _MARKUP.search(body, position):
        if found[1]:
            return _complete(body, found)
        if found[2]:  # start and end may overlap: "<!-->" is a comment
            end = _END_OF_COMMENT.search(body, found.end() - 2)
            position = end.end() if end else -1
        else:
            position = body.find(b">", found.end()) + 1 or -1
        if position < 0:
            return None
    return None


def _complete(body: bytes, found: re.Match[bytes]) -> _Tag | None:
    """The tag whose name was *found*, with its attributes; None if the tag has no end."""
    attributes: dict[bytes, bytes] = {}
    position = found.end()
    while part := _ATTRIBUTE.match(body, position):
        end, name, *values, unclosed = part.groups()
        position = part.end()
        if end:
            return _Tag(found[1].lower(), attributes, found.start(), position, b"/" in part[0])
        if unclosed:
            return None
        attributes.setdefault(name.lower(), b"".join(filter(None, values)))
    return None
