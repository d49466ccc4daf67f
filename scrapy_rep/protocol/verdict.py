"""What a robots.txt answers about a URL: allowed or not, the rule and the reason; and the paths of all rules."""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple, Protocol

from .display import shown
from .path_pattern import COMMON

_COMMON_OR_LF: Final = COMMON + b"\n"
_INDEX_PAGE: Final = b"/index.htm"


class Reason(str, Enum):
    """Why a verdict is what it is; each is a string, so that it compares with text and exports to JSON."""

    __str__ = str.__str__

    RULE = "rule"
    NO_RULE = "no rule"
    ROBOTS_TXT = "/robots.txt itself"
    UNAVAILABLE = "unavailable"
    UNREACHABLE = "unreachable"
    CRAWL_DELAY = "crawl-delay"
    VISIT_TIME = "visit-time"
    AI_SIGNAL = "ai-signal"


class LineFinder(Protocol):
    """Finds the first line of a rule."""

    def line(self, allow: bool, value: bytes, /) -> int:
        """The first line of the rule, counted from 1."""


class Rule:
    """An allow or disallow record: ``value`` is its path as written.

    Finding its line takes a look at the file, so a `LineFinder` may stand in for the number; it is asked when
    ``line`` is first read.
    """

    __slots__ = ("_line", "allow", "value")

    def __init__(self, allow: bool, value: bytes, line: int | LineFinder) -> None:
        self.allow = allow
        self.value = value
        self._line = line

    @property
    def line(self) -> int:
        """The line of the record, counted from 1."""
        line = self._line
        if not isinstance(line, int):
            line = self._line = line.line(self.allow, self.value)
        return line

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rule):
            return NotImplemented
        return (self.allow, self.value, self.line) == (other.allow, other.value, other.line)

    def __hash__(self) -> int:
        return hash((self.allow, self.value))

    def __repr__(self) -> str:
        return f"<Rule line={self.line} {self}>"

    def __str__(self) -> str:
        """The record as text, with an escape for whatever is not printable."""
        text = shown(self.value.decode("utf-8", "backslashreplace"))
        return f"{'Allow' if self.allow else 'Disallow'}: {text}"


class Verdict(NamedTuple):
    """Whether a URL may be crawled, the rule that decided (or None) and the reason.

    Safe to share between threads, its line included.
    """

    allowed: bool
    rule: Rule | None
    reason: Reason

    @property
    def line(self) -> int:
        """The line of the rule that decided, counted from 1; 0 when none did."""
        return self.rule.line if self.rule else 0


class RulePaths(NamedTuple):
    """The rules for one crawler: their paths as written, in the order of their lines, each between LFs.

    In one piece they take a third of the memory of a list, and C searches them.
    """

    allow: bytes
    disallow: bytes

    @classmethod
    def of(cls, allow: list[bytes], disallow: list[bytes]) -> RulePaths:
        """The rules with these paths."""
        return cls(_between_lfs(allow), _between_lfs(disallow))

    @property
    def octets(self) -> int:
        """The octets of all paths, with the LFs between them."""
        return len(self.allow) + len(self.disallow)

    @property
    def paths(self) -> list[bytes]:
        """All paths, first those that allow: the first of two equally long matches wins."""
        return _between(self.allow) + _between(self.disallow)

    @property
    def count_of_allow(self) -> int:
        """How many rules allow."""
        return self.allow.count(b"\n") - 1

    def position_of(self, allow: bool, path: bytes) -> int:
        """The position of the first rule with this *path* among those that allow, or among those that disallow."""
        paths = self.allow if allow else self.disallow
        return paths.count(b"\n", 0, paths.index(_between_lfs([path])))

    def has_allow(self, path: bytes) -> bool:
        """Whether an allow record has this *path*: it wins over a disallow record with the same one."""
        return self.allow.find(b"\n" + path + b"\n") >= 0


def folders_of_index_pages(allow: list[bytes]) -> list[tuple[int, bytes]]:
    """Patterns for the folders of the index pages among the paths that *allow*, with the positions of these.

    Google's parser tries ``…/index.htm…`` as ``…/$``, for allow only.
    """
    found = []
    for position, path in enumerate(allow):
        if path.find(_INDEX_PAGE) >= 0:
            folder, _, page = path.rpartition(b"/")
            if page.startswith(_INDEX_PAGE[1:]):
                found.append((position, folder + b"/$"))
    return found


def may_hold_patterns(paths: list[bytes]) -> bool:
    """Whether one of *paths* may be more than a plain prefix."""
    return bool(b"\n".join(paths).translate(None, _COMMON_OR_LF))


def _between_lfs(paths: list[bytes]) -> bytes:
    return b"\n".join([b"", *paths, b""]) if paths else b"\n"


def _between(text: bytes) -> list[bytes]:
    return text.split(b"\n")[1:-1]
