"""What is linted: a body, its lines as they stand there, and what the parser reads in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from scrapy_rep.protocol.dialect import Dialect
from scrapy_rep.protocol.html import is_html
from scrapy_rep.protocol.other_records import Extension, extensions
from scrapy_rep.protocol.plain_reader import Group, groups_in
from scrapy_rep.protocol.product_token import is_global
from scrapy_rep.protocol.records import Kind, Record, bom_length
from scrapy_rep.protocol.robotstxt import cut, parse

RULES: Final = frozenset({Kind.ALLOW, Kind.DISALLOW})
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_SAMPLE: Final = 256  # octets by which UTF-16 is known


@dataclass(frozen=True)
class Subject:
    """A robots.txt: all its octets, those within ``limit`` as ``body``, and where it is from.

    ``url`` is where it was asked for, ``hops`` where that led, ``status`` the last answer's; all may be unknown.
    """

    octets: bytes
    dialect: Dialect
    limit: int | None
    url: str = ""
    hops: Sequence[str] = ()
    status: int | None = None
    body: bytes = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "body", cut(self.octets, self.limit))

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines as the parser numbers them, the first one at place 0."""
        return self.body[bom_length(self.body) :].splitlines()

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """The parser's records."""
        return parse(self.body, self.dialect, limit=None).records

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The parser's groups, not yet merged."""
        return tuple(groups_in(self.records))

    @cached_property
    def extensions(self) -> tuple[Extension, ...]:
        """The records beside the protocol, each with the user-agent lines it is for."""
        return tuple(extensions(self.records))

    @cached_property
    def is_html(self) -> bool:
        """Whether a page was served for a robots.txt."""
        return is_html(self.body)

    @cached_property
    def is_utf_16(self) -> bool:
        """Whether every second octet is missing its sense: a UTF-16 mark, or a NUL beside every letter."""
        sample = self.body[:_SAMPLE]
        if sample.startswith(_UTF_16):
            return True
        halves = sample[::2], sample[1::2]
        return (
            len(sample) > 8
            and any(half.count(0) > 0.9 * len(half) for half in halves)
            and any(half.count(0) < 0.1 * len(half) for half in halves)
        )

    @property
    def is_error_page(self) -> bool:
        """Whether the server said that this is no robots.txt."""
        return self.status is not None and not 200 <= self.status < 300

    @property
    def is_readable(self) -> bool:
        """Whether it makes sense to look at single lines."""
        return not (self.is_error_page or self.is_html or self.is_utf_16)

    def raw(self, record: Record) -> bytes:
        """The line of *record* as it stands in the file."""
        return self.lines[record.line - 1]

    def column(self, record: Record) -> int:
        """Where the key of *record* starts, in characters from 1."""
        line = self.raw(record)
        return characters(line[: len(line) - len(line.lstrip())]) + 1

    def value_column(self, record: Record) -> int:
        """Where the value of *record* starts; without one, where its key does."""
        line = self.raw(record)
        after_key = line.find(record.key) + len(record.key)
        at = line.find(record.value, after_key) if record.value else -1
        return self.column(record) if at < 0 else characters(line[:at]) + 1


def characters(octets: bytes) -> int:
    """How many characters *octets* are; one that is no UTF-8 counts as one."""
    return len(octets) if octets.isascii() else len(octets.decode("utf-8", "surrogateescape"))


def is_for_all(group: Group) -> bool:
    """Whether one of the user-agent lines of *group* is ``*``."""
    return any(is_global(agent.value) for agent in group.agents)
