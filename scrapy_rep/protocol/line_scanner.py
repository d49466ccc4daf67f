"""Finds lines of a kind, and the rules on them, by regular expressions over a normalized body.

In a normalized body every record follows a LF, and no CR, NUL or overlong line hides one, so one pass in C
finds all lines of a kind. Nearly all rules of a file are spelled like the first one: one expression for that
spelling finds their paths, and only lines spelled otherwise are read one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from .records import MAX_LINE, Kind, bom_length, kind_of, split_line

_CR: Final = ord("\r")  # a number is found faster than octets
_NUL: Final = 0

INDENT: Final = rb"[ \t\v\f]*"
_INDENTED: Final = re.compile(rb"\n[ \t\v\f]")


class LinePattern(NamedTuple):
    """Finds lines of a lower-case body; twice as fast where no line is indented."""

    flush: re.Pattern[bytes]
    indented: re.Pattern[bytes]

    @classmethod
    def of(cls, line: bytes) -> LinePattern:
        return cls(re.compile(rb"\n" + line), re.compile(rb"\n" + INDENT + line))


class NormalizedBody(NamedTuple):
    """A body after `normalize`, and the same in lower case."""

    text: bytes
    lower: bytes
    is_indented: bool

    @classmethod
    def of(cls, body: bytes) -> NormalizedBody:
        text = normalize(body)
        lower = text.lower()
        return cls(text, lower, bool(_INDENTED.search(text)))

    def lines(self, field: LinePattern) -> Iterator[re.Match[bytes]]:
        expression = field.indented if self.is_indented else field.flush
        return expression.finditer(self.lower)


class _LatestBody:
    """Keeps the latest normalized body: a new file is asked several questions in a row."""

    def __init__(self) -> None:
        self._held: tuple[bytes | None, NormalizedBody] = None, NormalizedBody(b"", b"", False)

    def read(self, body: bytes) -> NormalizedBody:
        held, text = self._held
        if held is not body:
            text = NormalizedBody.of(body)
            self._held = body, text
        return text


read: Final = _LatestBody().read
"""*body* made normalize; that of the latest is kept."""


def normalize(body: bytes) -> bytes:
    """*body* with the same records on the same lines, each after a LF.

    No byte order mark, no CR, no NUL, nothing beyond `MAX_LINE`.
    """
    text = b"\n" + body[bom_length(body) :]
    if _CR in text:
        text = b"\n".join(text.splitlines())
    if len(text) > MAX_LINE and _has_line_beyond_limit(text):
        text = b"\n".join([line[:MAX_LINE] for line in text.split(b"\n")])
    if _NUL in text:
        text = b"\n".join([line.partition(b"\0")[0] for line in text.split(b"\n")])
    return text


def _has_line_beyond_limit(text: bytes) -> bool:
    """Jump ahead by `MAX_LINE` octets, then back to the last LF: no step per line."""
    offset = 0
    while len(text) - offset > MAX_LINE:
        line_end = text.rfind(b"\n", offset + 1, offset + MAX_LINE + 2)
        if line_end < 0:
            return True
        offset = line_end
    return False


_COMMON_ALLOW: Final = b"\nAllow: "
_COMMON_RULE: Final = re.compile(rb"\n[Dd]isallow: ?")
# With a colon, of two words, or spelled so that only `split_line` can tell.
_ANY_RULE: Final = re.compile(
    rb"\n%b(?:(?:([Aa])llow|([Dd])i(?:ss?all?ow|sallaw|asllow))"
    rb"(?::|[ \t](?=[ \t]*[^\s:#]+[ \t]*(?:\n|\Z)))|(?=[AaDd]))(.*)" % INDENT
)
_MANY: Final = 64  # lines spelled unlike the first one


def rule_paths(span: bytes) -> tuple[list[bytes], list[bytes]]:
    """The paths of the rules that allow, and of those that disallow, on the lines of *span*."""
    common = _COMMON_RULE.search(span)
    if not common:
        return _in_any_spelling(span)
    same_spelling, others = _expressions_for(common[0])
    rest = others.findall(span)
    if not rest:
        return [], _clean(same_spelling.findall(span))
    if len(rest) > _MANY:
        return _in_any_spelling(span)
    allow = [line[len(_COMMON_ALLOW) :] for line in rest if line.startswith(_COMMON_ALLOW)]
    if len(allow) == len(rest):
        return _clean(allow), _clean(same_spelling.findall(span))
    allow, disallow = _in_any_spelling(b"".join(rest))
    if disallow:
        return _in_any_spelling(span)  # for the order of their lines
    return allow, _clean(same_spelling.findall(span))


@lru_cache
def _expressions_for(start: bytes) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Expressions for the values of lines with this *start*, and for other lines that may be rules."""
    return re.compile(start + b"(.*)"), re.compile(rb"\n(?!%b)" % start[1:] + INDENT + rb"[AaDd].*")


def _clean(values: list[bytes]) -> list[bytes]:
    """*values* without comments and surrounding white space."""
    text = b"".join(values)
    if len(text.translate(None, b" #\t\v\f")) != len(text):
        return [value.partition(b"#")[0].strip() for value in values]
    return values


def _in_any_spelling(span: bytes) -> tuple[list[bytes], list[bytes]]:
    allow: list[bytes] = []
    disallow: list[bytes] = []
    for allows, disallows, rest in _ANY_RULE.findall(span):
        if allows:
            allow.append(rest)
        elif disallows:
            disallow.append(rest)
        else:
            kind, path = _kind_and_path(rest)
            if kind is Kind.ALLOW:
                allow.append(path)
            elif kind is Kind.DISALLOW:
                disallow.append(path)
    return _clean(allow), _clean(disallow)


def iter_rules(text: bytes, start: int, end: int) -> Iterator[tuple[bool, bytes, int]]:
    """Each rule between *start* and *end*: whether it allows, its path, and the offset of the LF before it."""
    for line in _ANY_RULE.finditer(text, start, end):
        allows, disallows, rest = line.groups()
        if allows or disallows:
            yield bool(allows), rest.partition(b"#")[0].strip(), line.start()
            continue
        kind, path = _kind_and_path(rest)
        if kind is not Kind.UNKNOWN:
            yield kind is Kind.ALLOW, path, line.start()


def _kind_and_path(line: bytes) -> tuple[Kind, bytes]:
    """What a line says that may be a rule; its kind is unknown when it is none."""
    key, path = split_line(line)
    kind = kind_of(key)
    return kind if kind is Kind.ALLOW or kind is Kind.DISALLOW else Kind.UNKNOWN, path
