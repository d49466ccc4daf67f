"""Hostile bodies of 500 KiB: each makes one thing dear that a reader of robots.txt may do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from scrapy_rep.protocol import MAX_SIZE

URL: Final = "https://example.com/" + "a" * 2_000
START: Final = b"User-agent: *\n"

PLAIN: Final = "20,000 plain rules"
WILD: Final = "20,000 wildcard rules"
NAMED: Final = {
    PLAIN: START + b"".join(b"Disallow: /some/path/%d\n" % number for number in range(20_000)),
    WILD: START + b"".join(b"Disallow: /*/p%d*x\n" % number for number in range(20_000)),
    "10,000 user-agent lines": b"".join(b"User-agent: bot%d\n" % number for number in range(10_000))
    + START
    + b"".join(b"Disallow: /%d\n" % number for number in range(50)),
    "100,000 tiny lines": b"a\n" * 100_000,
    "one long line": START + b"Disallow: /" + b"a" * 500_000,
    "NULs everywhere": START + b"Disallow: /\0\n" * 38_000,
}
"""The bodies that every crawler should survive."""


def filled(line: bytes | Callable[[int], bytes], start: bytes = START) -> bytes:
    """*line* again and again, numbered when it is a function, up to the limit."""
    lines, size, number = [start], len(start), 0
    while size < MAX_SIZE:
        lines.append(line(number) if callable(line) else line)
        size += len(lines[-1])
        number += 1
    return b"".join(lines)[:MAX_SIZE]


def bits(number: int, count: int, zero: bytes, one: bytes) -> bytes:
    """*count* of the two, as good as at random and the same in every run."""
    drawn = (number + 1) ** 5 * 0x9E3779B97F4A7C15 >> 20
    return b"".join(one if drawn >> place & 1 else zero for place in range(count))


ADVERSARIES: Final = {
    "the shortest rule": lambda: filled(b"allow:/\n"),
    "rules without a colon": lambda: filled(b"allow /\n"),
    "different rules without a colon": lambda: filled(lambda number: b"allow /%x\n" % number),
    "a misspelt key": lambda: filled(lambda number: b"disalow:/%x\n" % number),
    "spellings that alternate": lambda: filled(b"Disallow: /a\ndisallow:/b\nDisalow: /c\n"),
    "CR as line end": lambda: filled(b"allow:/\r", b"user-agent:*\r"),
    "CR and LF in turns": lambda: filled(b"\r\n\n\r"),
    "indentation": lambda: filled(b" allow:/\n"),
    "blanks and line ends": lambda: filled(b" \n"),
    "blanks alone": lambda: filled(b" "),
    "a comment on every line": lambda: filled(b"#\n"),
    "a comment behind every rule": lambda: filled(b"allow:/#\n"),
    "a group for every rule": lambda: filled(b"user-agent:*\nallow:/\n"),
    "another's group between": lambda: filled(b"user-agent:*\nallow:/\nuser-agent:a\nallow:/\n"),
    "groups without rules": lambda: filled(b"user-agent:*\nx allow y\n"),
    "user-agent lines in one run": lambda: filled(b"user-agent:*\n"),
    "user-agent lines without a record": lambda: filled(b"user-agent x y\n"),
    "stars": lambda: filled(b"allow:" + b"/*" * 8_000 + b"$\n"),
    "stars that nearly match": lambda: filled(b"allow:" + b"*a" * 8_000 + b"b\n"),
    "wildcards that nearly match": lambda: filled(lambda number: b"allow:*a*%x$\n" % number),
    "wildcards that all match": lambda: filled(lambda number: b"allow:/*a%s$\n" % (b"*" * (number % 900))),
    "matches of one length": lambda: filled(lambda number: bytes(b"allow:" + f"{number:018b}".encode() + b"\n")
                                            .replace(b"0", b"a").replace(b"1", b"*")),
    "wildcards that match": lambda: filled(lambda number: b"allow:/" + bits(number, 18, b"a", b"*") + b"\n"),
    "wildcards that match but for a slash": lambda: filled(
        lambda number: b"allow:/" + bits(number, 18, b"a", b"*") + b"*/\n"
    ),
    "wildcards that match but for a slash within": lambda: filled(
        lambda number: b"allow:/" + bits(number, 44, b"a", b"*") + b"*/*aa\n"
    ),
    "escapes and wildcards that match but for a slash": lambda: filled(
        lambda number: b"allow:/*" + bits(number, 12, b"%61", b"*") + b"/\n"
    ),
    "stray percent signs": lambda: filled(
        lambda number: b"disalow:*%" + bits(number, 12, b"a", b"[") + b"ab\n"
    ),
    "one wildcard rule": lambda: filled(b"allow:*XYZ\n"),
    "one wildcard rule that matches": lambda: filled(b"allow:*aaa\n"),
    "runs of a letter around a slash": lambda: filled(
        lambda number: b"allow:*%b/%b*a\n" % (b"a" * (number % 600), b"a" * (number // 600 % 600))
    ),
    "dollars inside": lambda: filled(lambda number: b"allow:/*" + bits(number, 12, b"$", b"*") + b"a$\n"),
    "vertical tabs in a user-agent line": lambda: filled(b"user-agent x" + b"\v" * 16_000 + b" y\n"),
    "escapes": lambda: filled(b"allow:" + b"%61" * 5_000 + b"\n"),
    "different escapes": lambda: filled(lambda number: b"allow:/%%61%x\n" % number),
    "octets beyond ASCII": lambda: filled(b"allow:/" + b"\xc3" * 16_000 + b"\n"),
    "index pages": lambda: filled(b"allow:/index.htm\n"),
    "different index pages": lambda: filled(lambda number: b"allow:/%x/index.htm\n" % number),
    "rules that begin each other": lambda: filled(lambda number: b"allow:/" + b"a" * (number % 900) + b"\n"),
    "binary": lambda: filled(bytes(range(256))),
    "colons": lambda: filled(b":"),
    "NULs": lambda: filled(b"\0"),
}  # fmt: skip
"""Bodies made to be dear; the first decision on any should take no longer than the peer's on `PLAIN`."""
