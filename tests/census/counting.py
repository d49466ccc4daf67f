"""Counts what a survey counts from the octets alone, with simple code that is nobody else's."""

from __future__ import annotations

import re
from collections import Counter

_LINE_ENDS = re.compile(rb"\r\n|\r|\n")
_KEYS = {
    "disallow": re.compile(rb"(?i)dis+al+ow|diasllow|disallaw"),
    "allow": re.compile(rb"(?i)allow"),
    "user-agent": re.compile(rb"(?i)user[ -]?agent"),
    "sitemap": re.compile(rb"(?i)site-?map"),
    "crawl-delay": re.compile(rb"(?i)crawl[ -]?delay$"),
}


def count(body: bytes) -> Counter[str]:
    """What the lines of *body* are; of a long one only what is read."""
    found: Counter[str] = Counter()
    lines = _LINE_ENDS.split(body.removeprefix(b"\xef\xbb\xbf"))
    if not lines[-1]:
        lines.pop()
    found["lines"], found["bytes"] = len(lines), len(body)
    place = 0
    for line in lines:
        place += len(line) + 1
        said, sign, _ = line.split(b"\0")[0].partition(b"#")
        said = said.strip()
        if not said:
            found["comment" if sign else "blank"] += 1
            continue
        found["behind"] += bool(sign)
        key = _key(said)
        if key and place <= 512_000:
            found[key] += 1
    return found


def _key(said: bytes) -> str | None:
    key, colon, _ = said.partition(b":")
    if not colon:
        words = said.split()
        key = words[0] if len(words) == 2 else b""
    return next((name for name, pattern in _KEYS.items() if pattern.match(key.strip())), None)
