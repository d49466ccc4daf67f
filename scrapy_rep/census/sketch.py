"""Which files are nearly identical: a sketch of each file, and groups of files whose sketches are alike.

A sketch is a bottom-k MinHash: of the hashes of all lines it keeps the `KEPT` smallest. Two sketches estimate the
Jaccard similarity of the lines, that is, the share of the lines in either file that are in both. Files of at most
`KEPT` lines are compared exactly; of longer ones, the standard error of the estimate is 0.05 near `ALIKE`.
Source: A. Broder, "On the resemblance and containment of documents", 1997.

A line is compared without comment, case, white space and the host of a URL, and together with the user-agent line
above it: the same rule for another crawler is another line.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from heapq import nsmallest
from itertools import groupby, islice
from math import ceil
from struct import unpack_from
from typing import Final

from scrapy_rep.protocol import Kind, Record

KEPT: Final = 64
"""Hashes in a sketch."""

ALIKE: Final = 0.8
"""The least similarity of files that are nearly identical."""

_DIGITS: Final = 8  # hexadecimal, of a hash
_HOST: Final = re.compile(rb"https?://[^/\s]*")
_NAMES: Final[dict[Kind, bytes]] = {kind: kind.value.encode() for kind in Kind if kind is not Kind.UNKNOWN}
_OUTSIDE_GROUPS: Final = frozenset({Kind.SITEMAP, Kind.HOST, Kind.LICENSE, Kind.CLEAN_PARAM})
_LEADERS_COMPARED: Final = 64  # that share a rare line with a file: hostile files could share it with thousands


def sketch(records: Iterable[Record]) -> str:
    """Return the sketch of a file with *records*, as hexadecimal digits; empty for a file without records."""
    found, agent = set(), b""
    for record in records:
        kind, value = record.kind, record.value
        value = (_HOST.sub(b"", value) if b"://" in value else value).lower()
        name = _NAMES.get(kind) or record.key.lower()
        if name == b"user-agent":
            agent = value
        above = b"" if kind in _OUTSIDE_GROUPS else agent
        found.add(blake2b(b"\n".join((name, value, above)), digest_size=_DIGITS // 2).digest())
    return b"".join(sorted(found)[:KEPT]).hex()


def similarity(one: str, other: str) -> float:
    """Return the estimated similarity of the files with these sketches, from 0 to 1."""
    left, right = {*_hashes(one)}, {*_hashes(other)}
    either = nsmallest(KEPT, left | right)
    return sum(each in left and each in right for each in either) / len(either) if either else 1.0


def is_estimated(*sketches: str) -> bool:
    """Return whether one of the *sketches* leaves lines out."""
    return any(len(text) == KEPT * _DIGITS for text in sketches)


def _hashes(text: str) -> tuple[int, ...]:
    """The hashes in a sketch; none in what somebody else wrote and is none."""
    try:
        octets = bytes.fromhex(text)
    except ValueError:
        return ()
    return unpack_from(f">{len(octets) // (_DIGITS // 2)}I", octets)


def groups(sketches: Mapping[str, str]) -> list[list[tuple[str, float]]]:
    """Group what has nearly the same sketch: lists of a name and its similarity to the first of the list.

    Names come earlier in *sketches* the likelier they are to lead a group. What is like nothing else, or has an
    empty sketch, is left out.
    """
    frequency = _frequencies(sketches.values())
    leaders: defaultdict[int, list[str]] = defaultdict(list)
    grouped: dict[str, list[tuple[str, float]]] = {}
    for name, text in sketches.items():
        found = sorted({*_hashes(text)}, key=lambda each: (frequency.get(each, 1), each))
        shared = [each for each in _rarest(found) if each in frequency]
        rivals = dict.fromkeys(rival for each in shared for rival in leaders[each])
        alike = ((similarity(text, sketches[rival]), rival) for rival in islice(rivals, _LEADERS_COMPARED))
        likeness, leader = max(alike, key=lambda each: each[0], default=(0.0, ""))
        if likeness >= ALIKE:
            grouped[leader].append((name, likeness))
        elif shared:
            grouped[name] = [(name, 1.0)]
            for each in shared:
                leaders[each].append(name)
    return [members for members in grouped.values() if len(members) > 1]


def _frequencies(sketches: Iterable[str]) -> dict[int, int]:
    """In how many of the *sketches* each hash is, without those in one alone, which are most: they need memory."""
    found = array("I")
    for text in sketches:
        found.extend({*_hashes(text)})
    counted = ((each, len([*same])) for each, same in groupby(sorted(found)))
    return {each: count for each, count in counted if count > 1}


def _rarest(ranked: Sequence[int]) -> Sequence[int]:
    """The first of the *ranked* hashes: of two sketches that are alike, these have one in common.

    Source: R. Bayardo et al., "Scaling up all pairs similarity search", 2007 (prefix filtering).
    """
    return ranked[: len(ranked) - ceil(ALIKE * len(ranked)) + 1]
