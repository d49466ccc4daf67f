"""The patterns of a rule, and the octets of a path, as a dialect compares them.

Knows nothing of groups. `path_pattern` has the spellings of Google's dialects, and does the matching.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from .dialect import Dialect, Octets
from .path_pattern import Pattern, canonical, escaped, specificity, spelt_at_google

_ESCAPE: Final = re.compile(rb"%([0-9A-Fa-f]{2})")
_WILDCARDS: Final = re.compile(rb"\*+")
_INDEX_PAGE: Final = re.compile(rb"(.*/)index\.htm[^/]*", re.DOTALL)


def patterns_of(value: bytes, *, allow: bool, dialect: Dialect) -> Iterator[Pattern]:
    """The patterns that stand for the *value* of a rule, the longest first; any of them may match."""
    yield _pattern(value, dialect)
    if dialect.folder_without_slash and value.endswith(b"/"):
        yield Pattern(_pattern(value[:-1], dialect).pieces, anchored=True, specificity=specificity(value))
    page = _INDEX_PAGE.fullmatch(value) if allow and dialect.index_pages else None
    if page:
        yield _pattern(page[1] + b"$", dialect)


def compared_path(path: bytes, dialect: Dialect) -> bytes:
    """How *path*, an answer of `path_of` for this *dialect*, is compared with `patterns_of` a rule."""
    subject = path if dialect.query_counts else path.partition(b"?")[0]
    return _SPELLINGS[dialect.octets].path(subject)


def _pattern(value: bytes, dialect: Dialect) -> Pattern:
    spelt = _SPELLINGS[dialect.octets].pattern
    text = b"/" + value if dialect.slash_added and _lacks_slash(value, dialect) else value
    anchored = "$" in dialect.wildcards and text.endswith(b"$")
    text = text.removesuffix(b"$") if anchored else text
    pieces = _WILDCARDS.split(text) if "*" in dialect.wildcards else [text]
    return Pattern(tuple(map(spelt, pieces)), anchored, specificity(value))


def _lacks_slash(value: bytes, dialect: Dialect) -> bool:
    return bool(value) and not value.startswith((b"/", *map(str.encode, dialect.wildcards)))


class _Spelling(NamedTuple):
    """How the octets of a pattern between its wildcards are spelt, and those of a path."""

    pattern: Callable[[bytes], bytes]
    path: Callable[[bytes], bytes]


def _as_written(text: bytes) -> bytes:
    return text


def _canonical_literal(text: bytes) -> bytes:
    return escaped(canonical(text))


def _decoded(text: bytes) -> bytes:
    return _ESCAPE.sub(_octet, text)


def _form_decoded(text: bytes) -> bytes:
    return _decoded(text.replace(b"+", b" "))


def _octet(escape: re.Match[bytes]) -> bytes:
    octet = bytes((int(escape[1], 16),))
    return b"%2F" if octet == b"/" else octet


_SPELLINGS: Final = {
    Octets.CANONICAL: _Spelling(_canonical_literal, _as_written),  # as `path_of` has spelt the path
    Octets.GOOGLE: _Spelling(spelt_at_google, _as_written),
    Octets.WRITTEN: _Spelling(_as_written, _as_written),
    Octets.DECODED: _Spelling(_decoded, _decoded),
    Octets.FORM_DECODED: _Spelling(_form_decoded, _form_decoded),
}
