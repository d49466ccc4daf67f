"""The robots.txt that is linted: its body, its lines as written, and what the parser reads in them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, Final
from urllib.parse import urlsplit

from scrapy_rep.protocol import GOOGLE, Dialect, Extension, Group, Kind, Record, RobotsTxt, Rule, Verdict, parse
from scrapy_rep.protocol.body_kind import BodyKind, body_kind, is_utf_16
from scrapy_rep.protocol.path_pattern import Pattern, is_plain
from scrapy_rep.protocol.product_token import agent_matcher, is_global, token_in
from scrapy_rep.protocol.reader import cut, extensions, groups_in, require_octets
from scrapy_rep.protocol.records import MAX_LINE, bom_length
from scrapy_rep.tools.files import binary_kind

RULES: Final = frozenset({Kind.ALLOW, Kind.DISALLOW})
UNNAMED: Final = "any-other-crawler"
"""The token of a crawler that no group names."""


@dataclass(frozen=True)
class Subject:
    """A robots.txt: all its ``octets``, those within ``limit`` as ``body``, and where it comes from.

    ``url`` was requested, ``hops`` are its redirects, ``status`` is the final one; all may be unknown. What
    checks ask is worked out once, when the first one asks.
    """

    octets: bytes
    dialect: Dialect
    limit: int | None
    url: str = ""
    hops: Sequence[str] = ()
    status: int | None = None

    @classmethod
    def of(cls, body: bytes, dialect: Dialect, limit: int | None, **source: Any) -> Subject:
        """What `lint` looks at; the arguments are the same. Raises ``TypeError``."""
        require_octets(body)
        return cls(body, dialect if dialect.is_googles else GOOGLE, limit, **source)

    @cached_property
    def host(self) -> str:
        """The host, with its port, that was asked for the file; empty where that is not known."""
        try:
            return urlsplit(self.url).netloc.lower()
        except ValueError:
            return ""

    @cached_property
    def body(self) -> bytes:
        """The octets that are read."""
        return cut(self.octets, self.limit)

    @cached_property
    def bom_length(self) -> int:
        """The number of octets of a byte order mark, which may be a partial one."""
        return bom_length(self.body)

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines as the parser numbers them; line 1 is at index 0."""
        return self.body[self.bom_length :].splitlines()

    @cached_property
    def line_starts(self) -> list[int]:
        """Where each line starts in the body, and where the last one ends."""
        lines = self.body[self.bom_length :].splitlines(keepends=True)
        return [*accumulate(map(len, lines), initial=self.bom_length)]

    def place(self, at: int) -> tuple[int, int]:
        """The line and the column of the octet at index *at*, which may be the end of the body."""
        has_end = self.body.endswith((b"\r", b"\n"))
        line = bisect_right(self.line_starts, at, hi=max(len(self.line_starts) - (not has_end), 1))
        return line, characters(self.body[self.line_starts[line - 1] : at]) + 1

    @cached_property
    def robotstxt(self) -> RobotsTxt:
        """The parsed file."""
        return parse(self.body, self.dialect, limit=None)

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """The parser's records."""
        return self.robotstxt.records

    @cached_property
    def record_lines(self) -> list[int]:
        """The lines of the records."""
        return [record.line for record in self.records]

    def record(self, number: int) -> Record | None:
        """The record on line *number*."""
        at = bisect_left(self.record_lines, number)
        is_there = at < len(self.record_lines) and self.record_lines[at] == number
        return self.records[at] if is_there else None

    @cached_property
    def by_kind(self) -> defaultdict[Kind, list[Record]]:
        """The records of each kind."""
        found: defaultdict[Kind, list[Record]] = defaultdict(list)
        for record in self.records:
            found[record.kind].append(record)
        return found

    @cached_property
    def rules(self) -> list[Record]:
        """The records that allow or disallow, in a group or not."""
        return [record for record in self.records if record.kind in RULES]

    @cached_property
    def values(self) -> set[bytes]:
        """The values of all records."""
        return {record.value for record in self.records}

    @cached_property
    def rule_text(self) -> bytes:
        """The paths of all rules, one on a line, in lower case: what is not in it is in none of them."""
        return b"\n".join(record.value for record in self.rules).lower()

    @cached_property
    def unread(self) -> list[tuple[int, bytes]]:
        """The lines that are no records, with their numbers, and without white space around them."""
        recorded = set(self.record_lines)
        lines = enumerate(self.lines, start=1)
        return [(number, line.strip()) for number, line in lines if number not in recorded]

    @cached_property
    def blank_lines(self) -> list[int]:
        """The numbers of the lines with nothing on them."""
        return [number for number, text in self.unread if not text]

    def first_blank(self, start: int, end: int) -> int:
        """The first blank line between the lines *start* and *end*; 0 without one."""
        at = bisect_left(self.blank_lines, start)
        return self.blank_lines[at] if at < len(self.blank_lines) and self.blank_lines[at] < end else 0

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The parser's groups, not merged."""
        return tuple(groups_in(self.records, self.dialect.closing_kinds))

    @cached_property
    def groups_for_all(self) -> list[Group]:
        """The groups with a user-agent line that is ``*``."""
        return [group for group in self.groups if is_for_all(group)]

    def rules_for(self, token: str) -> list[Rule]:
        """The rules for the crawler called *token*, by the groups that are read already."""
        is_named = agent_matcher(token, self.dialect)
        own = [group for group in self.groups if any(is_named(agent.value) for agent in group.agents)]
        return [rule for group in own or self.groups_for_all for rule in group.rules]

    @cached_property
    def named(self) -> dict[bytes, tuple[Record, Group]]:
        """The first user-agent line of each product token, in lower case, with its group; of ``*`` none."""
        found: dict[bytes, tuple[Record, Group]] = {}
        for group in self.groups:
            for agent in group.agents:
                token = token_in(agent.value, wide=True).lower()
                if token:
                    found.setdefault(token, (agent, group))
        return found

    @cached_property
    def extensions(self) -> tuple[Extension, ...]:
        """The records that RFC 9309 does not define, each with its user-agent lines."""
        return tuple(extensions(self.records))

    @cached_property
    def closing_rule(self) -> Rule | None:
        """The rule that closes the whole site to the crawlers that no group names; None when parts are open."""
        return closing(rule for group in self.groups_for_all for rule in group.rules)

    @cached_property
    def _patterns(self) -> dict[bytes, Pattern]:
        return {}

    def pattern(self, value: bytes) -> Pattern:
        """The pattern that the engine makes of the path *value*."""
        found = self._patterns.get(value)
        if found is None:
            if is_plain(value):  # as nearly all are
                found = Pattern((value,), False, len(value))
            else:
                found = Pattern.of(value, canonical_octets=self.dialect.canonical_octets)
            self._patterns[value] = found
        return found

    def steps(self, of_an_octet: int, at_most: int) -> int:
        """The comparisons that a check may make: some *of_an_octet*, so that its time is linear in the body."""
        return min(of_an_octet * len(self.body), at_most)

    def verdict(self, token: str, path: str | bytes) -> Verdict:
        """The engine's verdict on *path* for the crawler called *token*."""
        return self.robotstxt.verdict(token, path)

    @cached_property
    def body_kind(self) -> BodyKind:
        """What the body is."""
        return body_kind(self.body)

    @property
    def is_markup(self) -> bool:
        """Whether the body has no lines that it makes sense to check: HTML, XML, JSON, or a program."""
        return self.body_kind in (BodyKind.HTML, BodyKind.XML, BodyKind.JSON) or self.is_program

    @property
    def is_program(self) -> bool:
        """Whether the body is a program that the server should have run."""
        return self.body[self.bom_length :].lstrip().startswith((b"<?php", b"<?="))

    @cached_property
    def is_utf_16(self) -> bool:
        """Whether the body is text in UTF-16, which is not read."""
        return is_utf_16(self.body)

    @cached_property
    def binary_kind(self) -> str:
        """What kind of binary file the body is; empty for text."""
        return binary_kind(self.body, self.dialect)

    @property
    def is_error_page(self) -> bool:
        """Whether the status says that the body is not a robots.txt."""
        return self.status is not None and not 200 <= self.status < 300

    @property
    def is_readable(self) -> bool:
        """Whether it makes sense to check single lines."""
        return not (self.is_error_page or self.is_markup or self.is_utf_16 or self.binary_kind)

    def end_of(self, number: int) -> bytes:
        """How line *number* ends; as the one before it, or with LF, where it is the last."""
        for at in (number, number - 1):
            end = self.line_starts[at]
            line = self.octets[self.line_starts[at - 1] : end] if at else b""
            if line[-1:] in {b"\r", b"\n"}:
                return b"\r\n" if line.endswith(b"\r\n") else line[-1:]
        return b"\n"

    def with_key(self, record: Record, key: bytes) -> bytes | None:
        """The line of *record* with another *key*; None where the line is not read to its end."""
        return self._with(record, record.key, key)

    def with_value(self, record: Record, value: bytes) -> bytes | None:
        """The line of *record* with another *value*; None where the line is not read to its end."""
        return self._with(record, record.value, value, self.raw(record).find(record.key) + len(record.key))

    def _with(self, record: Record, old: bytes, new: bytes, start: int = 0) -> bytes | None:
        line = self.raw(record)
        at = line.find(old, start)
        if at < 0 or len(line) > MAX_LINE or b"\0" in line:
            return None
        return line[:at] + new + line[at + len(old) :]

    def raw(self, record: Record) -> bytes:
        """The line of *record* as written."""
        return self.lines[record.line - 1]

    def column(self, record: Record) -> int:
        """The column of the key of *record*, in characters from 1."""
        line = self.raw(record)
        return characters(line[: len(line) - len(line.lstrip())]) + 1

    def value_column(self, record: Record) -> int:
        """The column of the value of *record*, or of its key if the value is empty."""
        line = self.raw(record)
        after_key = line.find(record.key) + len(record.key)
        at = line.find(record.value, after_key) if record.value else -1
        return self.column(record) if at < 0 else characters(line[:at]) + 1


def characters(octets: bytes) -> int:
    """The number of characters in *octets*; an octet that is not UTF-8 counts as one."""
    return len(octets) if octets.isascii() else len(octets.decode("utf-8", "surrogateescape"))


def is_for_all(group: Group) -> bool:
    """Whether a user-agent line of *group* is ``*``."""
    return any(is_global(agent.value) for agent in group.agents)


def closing(rules: Iterable[Rule]) -> Rule | None:
    """The rule among *rules* that closes the whole site; None without one, and where an Allow may open a part."""
    rules = [rule for rule in rules if rule.value]
    if any(rule.allow for rule in rules):
        return None
    return next((rule for rule in rules if rule.value.strip(b"*") in {b"/", b""}), None)
