"""Bodies and URLs of any size, each made to make one thing costly that a reader of robots.txt does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from scrapy_rep.protocol.records import MAX_LINE

Line = bytes | Callable[[int], bytes]

ALL: Final = b"user-agent:*\n"


def filled(line: Line, size: int, start: bytes = ALL) -> bytes:
    """*start* and *line* again and again, numbered when it is a function: *size* octets."""
    lines, length, number = [start], len(start), 0
    while length < size:
        lines.append(line(number) if callable(line) else line)
        length += len(lines[-1])
        number += 1
    return b"".join(lines)[:size]


def of_lines(line: Line, start: bytes = ALL) -> Callable[[int], bytes]:
    """Bodies of as many such lines as fit."""
    return lambda size: filled(line, size, start)


def in_halves(line: Line, other: Line, start: bytes = b"") -> Callable[[int], bytes]:
    """Bodies with the *other* lines behind as many of these."""
    return lambda size: filled(other, size, filled(line, size // 2, start))


def of_one_line(start: bytes, run: bytes, end: bytes = b"\n") -> Callable[[int], bytes]:
    """Bodies of one line with a *run* in its middle, as long as a line may be."""
    return lambda size: start + run * ((min(size, MAX_LINE) - len(start) - len(end)) // len(run)) + end


def name(number: int) -> bytes:
    """A product token for each *number*."""
    return bytes(97 + number // 26**place % 26 for place in range(4))


def bits(number: int, count: int, zero: bytes, one: bytes) -> bytes:
    """*count* of the two, in another order for each *number*."""
    return b"".join(one if number * 40_503 >> place & 1 else zero for place in range(count))


def in_cases(number: int, word: bytes) -> bytes:
    """*word*, of letters in lower case, with some in upper case, others for each *number*."""
    return bytes(octet & ~0x20 if number >> at & 1 else octet for at, octet in enumerate(word))


LINES: Final[dict[str, Callable[[int], bytes]]] = {
    "nothing but line ends": of_lines(b"\r\n\n\r"),
    "blanks and line ends": of_lines(b" \n"),
    "carriage returns": of_lines(b"allow:/\r", b"user-agent:*\r"),
    "colons": of_lines(b":\n"),
    "NULs": of_lines(b"a:\0\n"),
    "comments": of_lines(b"allow:/#\n"),
    "binary": of_lines(bytes(range(256))),
    "unknown records": of_lines(lambda number: b"%x:y\n" % number),
    "misspelt keys": of_lines(lambda number: b"disalow%x:/\n" % number),
    "spellings that alternate": of_lines(b"Disallow: /a\ndisallow:/b\nDisalow: /c\n"),
    "keys in any case": of_lines(
        lambda number: b"%b-%b:1\n" % (in_cases(number, b"crawl"), in_cases(number >> 5, b"delay"))
    ),
    "lines without a colon": of_lines(b"allow /\nuser-agent a\nsitemap /\n"),
    "user-agent lines": of_lines(lambda number: b"user-agent:%b\n" % name(number)),
    "user-agent lines without a record": of_lines(b"user-agent x y\n"),
    "the same user-agent line": of_lines(b"user-agent:a\n"),
    "groups of one agent": of_lines(b"user-agent:a\nallow:/\n"),
    "groups of all": of_lines(b"user-agent:*\nallow:/\n"),
    "groups of different agents": of_lines(lambda number: b"user-agent:%b\nallow:/%d\n" % (name(number), number)),
    "groups without rules": of_lines(b"user-agent:a\nx allow y\n"),
    "agents, then rules": in_halves(
        lambda number: b"user-agent:%b\n" % name(number), lambda number: b"allow:/%d\n" % number
    ),
    "a rule for all, then agents, then rules": lambda size: filled(
        lambda number: b"disallow:/%x\n" % number,
        size,
        filled(lambda number: b"user-agent:%b\n" % name(number), size // 2, ALL + b"disallow:/x\n"),
    ),
    "a long rule for all, then agents": lambda size: filled(
        lambda number: b"user-agent:%b\ndisallow:/x\n" % name(number),
        size,
        ALL + b"disallow:/%b\n" % (b"*a" * (size // 8)),
    ),
    "agents, then delays": in_halves(b"user-agent:a\n", b"crawl-delay:1\n"),
    "agents, then all, then delays": in_halves(
        lambda number: b"user-agent:%b\n" % name(number), b"crawl-delay:1\nrequest-rate:1/1\n"
    ),
    "all, then delays of agents": in_halves(b"user-agent:*\n", b"user-agent:a\ncrawl-delay:1\n"),
    "delays without a value": of_lines(b"user-agent:a\ncrawl-delay\n", b""),
    "rates without a value": of_lines(b"user-agent:a\nrequest-rate\n", b""),
    "delays": of_lines(b"user-agent:a\ncrawl-delay:1\n", b""),
    "sitemaps": of_lines(lambda number: b"sitemap:%d\n" % number),
    "hosts": of_lines(b"clean-param:a\n", b"host:a\n"),
    "the same rule": of_lines(b"allow:/\n"),
    "the same rule with a wildcard": of_lines(b"disallow:*a\n"),
    "the same index page": of_lines(b"allow:/index.htm\n"),
    "different rules": of_lines(lambda number: b"disallow:/%d\n" % number),
    "different rules, both ways": of_lines(lambda number: b"disallow:/%d\nallow:/%d\n" % (number, number)),
    "different escapes": of_lines(lambda number: b"allow:/%%61%x\n" % number),
    "octets beyond ASCII": of_lines(lambda number: b"allow:/\xc3\xa9%x*\xff\n" % number),
    "different index pages": of_lines(lambda number: b"allow:/%x/index.htm\n" % number),
    "index pages of one folder": of_lines(lambda number: b"allow:/index.htm%x\n" % number),
    "index pages with wildcards": of_lines(
        lambda number: b"allow:/*%x*/index.htm\ndisallow:/*%x*/\n" % (number, number)
    ),
    "rules that begin each other": of_lines(lambda number: b"allow:/" + b"a" * (number % 99) + b"\n"),
    "wildcards that all match": of_lines(lambda number: b"allow:/%b\n" % bits(number, 18, b"a", b"*")),
    "wildcards that nearly match": of_lines(lambda number: b"allow:/%b*/\n" % bits(number, 18, b"a", b"*")),
    "escapes that nearly match": of_lines(lambda number: b"allow:/%b/\n" % bits(number, 12, b"%61", b"*")),
    "needless stars": of_lines(lambda number: b"disallow:/a*%x**\nallow:/b*%04x\n" % (number, number)),
    "stray percent signs": of_lines(lambda number: b"disalow:*%%%bab\n" % bits(number, 12, b"a", b"[")),
    "dollars inside": of_lines(lambda number: b"allow:/%b\n" % bits(number, 12, b"$", b"*")),
    "many wildcards": of_lines(lambda number: b"disallow:/%b%x\n" % (b"*a" * 90, number)),
    "useless rules": of_lines(lambda number: b"disallow:*a%x\n" % number, ALL + b"disallow:*a\n"),
    "rules that a long one makes useless": lambda size: filled(
        lambda number: b"disallow:/%x\n" % number, size, ALL + b"disallow:/%b*\n" % (b"*\xff" * (size // 8))
    ),
    "rules that one with stars makes useless": lambda size: filled(
        lambda number: b"disallow:/%x\n" % number, size, ALL + b"disallow:/%b\n" % (b"*" * (size // 8))
    ),
    "single files": of_lines(lambda number: b"disallow:/a/%x.html\n" % number),
}  # fmt: skip
"""Bodies that grow by lines."""

RUNS: Final[dict[str, Callable[[int], bytes]]] = {
    "blanks before a colon": of_one_line(b"user-agent", b" ", b":x\n"),
    "vertical tabs before a second word": of_one_line(b"user-agent x", b"\v", b" y\n"),
    "vertical tabs and blanks": of_one_line(b"user-agent x", b"\v ", b"y\n"),
    "blanks before the second word": of_one_line(b"user-agent ", b" ", b"x y z\n"),
    "vertical tabs before the first word": of_one_line(b"", b"\v", b"user-agent x y\n"),
    "two words of a rule": of_one_line(ALL + b"disallow ", b" \v", b"x y\n"),
    "blanks in a path": of_one_line(ALL + b"disallow:/a", b" ", b"b\n"),
    "commas and blanks in a path": of_one_line(ALL + b"disallow:/a", b", ", b"b\n"),
    "commas in a path": of_one_line(ALL + b"disallow:/a", b",;", b"b\n"),
    "slashes in a user-agent": of_one_line(b"user-agent:", b"/", b" a\ndisallow:/\n"),
    "slashes and blanks in a user-agent": of_one_line(b"user-agent:", b"/ ", b"a\ndisallow:/\n"),
    "products in a user-agent": of_one_line(b"user-agent:", b"a/", b"\v\v \n"),
    "bots in a path": of_one_line(ALL + b"disallow:", b"bot", b"!\n"),
    "stars": of_one_line(ALL + b"disallow:/", b"*", b"a\n"),
    "stars and letters": of_one_line(ALL + b"disallow:", b"*a", b"b\n"),
    "stars and slashes": of_one_line(ALL + b"disallow:/", b"*/", b"b$\n"),
    "escapes": of_one_line(ALL + b"disallow:/", b"%61", b"\n"),
    "percent signs": of_one_line(ALL + b"disallow:/", b"%", b"\n"),
    "dollars": of_one_line(ALL + b"disallow:/", b"$", b"\n"),
    "octets beyond ASCII in a path": of_one_line(ALL + b"disallow:/", b"\xc3", b"\n"),
    "private paths": of_one_line(ALL + b"disallow:/", b"backup", b"\n"),
    "digits of a delay": of_one_line(ALL + b"crawl-delay:", b"1", b".5x\n"),
    "blanks in a rate": of_one_line(ALL + b"request-rate:1", b" ", b"/x\n"),
    "blanks behind a rate": of_one_line(ALL + b"request-rate:1/1", b" ", b"s x\n"),
    "a page": of_one_line(b"", b" ", b"<x\n"),
    "a sitemap without a scheme": of_one_line(b"sitemap:", b"a", b"\n"),
    "a path like a URL": of_one_line(ALL + b"disallow:", b"a:/", b"\n"),
}  # fmt: skip
"""Bodies that grow by one line, to the limit of a line."""

URLS: Final[dict[str, Callable[[int], str]]] = {
    "a letter": lambda size: "https://h.example/" + "a" * size,
    "letters beyond ASCII": lambda size: "https://h.example/" + "é" * size,
    "letters beyond ASCII in turns": lambda size: "https://h.example/" + "aé" * (size // 2),
    "escapes to decode": lambda size: "https://h.example/" + "%61" * (size // 3),
    "escapes in lower case": lambda size: "https://h.example/" + "%c3" * (size // 3),
    "percent signs": lambda size: "https://h.example/" + "%" * size,
    "escapes that end in none": lambda size: "https://h.example/" + "%C3" * (size // 3) + " ",
    "slashes": lambda size: "/" * size,
    "a host": lambda size: "https://" + "a" * size,
    "colons": lambda size: "https:" * (size // 6),
    "a fragment": lambda size: "https://h.example/#" + "#" * size,
    "NULs": lambda size: "https://h.example/" + "\0" * size,
    "stars and dollars": lambda size: "https://h.example/" + "*$" * (size // 2),
    "lone surrogates": lambda size: "https://h.example/" + "\ud800" * size,
}  # fmt: skip
