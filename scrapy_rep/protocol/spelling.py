"""The rules on the lines of a text, however their keys are spelt.

What it buys: nearly all rules of a file are spelt as the first one is, so one expression for just that
spelling finds their paths in C; only lines spelt otherwise are read one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from .line import split
from .records import Kind, kind_of
from .text import INDENT

_COMMON_ALLOW: Final = b"\nAllow: "
_COMMON_RULE: Final = re.compile(rb"\n[Dd]isallow: ?")
# With a colon, of two words, or in a spelling that needs a closer look.
_ANY_RULE: Final = re.compile(
    rb"\n%b(?:(?:([Aa])llow|([Dd])i(?:ss?all?ow|sallaw|asllow))"
    rb"(?::|[ \t](?=[ \t]*[^\s:#]+[ \t]*(?:\n|\Z)))|(?=[AaDd]))(.*)" % INDENT
)
_MANY: Final = 64  # lines in other spellings than the first one


def rules_in(region: bytes) -> tuple[list[bytes], list[bytes]]:
    """The paths of the rules that allow, and of those that disallow, on the lines of *region*."""
    common = _COMMON_RULE.search(region)
    if not common:
        return _in_any_spelling(region)
    of_this_spelling, others = _spelt_as(common[0])
    rest = others.findall(region)
    if not rest:
        return [], _clean(of_this_spelling.findall(region))
    if len(rest) > _MANY:
        return _in_any_spelling(region)
    allow = [line[len(_COMMON_ALLOW) :] for line in rest if line.startswith(_COMMON_ALLOW)]
    if len(allow) == len(rest):
        return _clean(allow), _clean(of_this_spelling.findall(region))
    allow, disallow = _in_any_spelling(b"".join(rest))
    if disallow:
        return _in_any_spelling(region)  # for the order of their lines
    return allow, _clean(of_this_spelling.findall(region))


@lru_cache
def _spelt_as(start: bytes) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Expressions for the values of lines with this *start*, and for other lines that may be rules."""
    return re.compile(start + b"(.*)"), re.compile(rb"\n(?!%b)" % start[1:] + INDENT + rb"[AaDd].*")


def _clean(values: list[bytes]) -> list[bytes]:
    """*values* without comments and surrounding white space."""
    text = b"".join(values)
    if b" " in text or b"#" in text or b"\t" in text or b"\v" in text or b"\f" in text:
        return [value.partition(b"#")[0].strip() for value in values]
    return values


def _in_any_spelling(region: bytes) -> tuple[list[bytes], list[bytes]]:
    allow: list[bytes] = []
    disallow: list[bytes] = []
    for allows, disallows, rest in _ANY_RULE.findall(region):
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


def each_rule(text: bytes, start: int, end: int) -> Iterator[tuple[bool, bytes, int]]:
    """Each rule between *start* and *end*: whether it allows, its path, and the place of the LF before it."""
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
    key, path = split(line)
    kind = kind_of(key)
    return kind if kind is Kind.ALLOW or kind is Kind.DISALLOW else Kind.UNKNOWN, path
