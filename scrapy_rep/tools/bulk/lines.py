"""From lines of URLs to lines of verdicts, as octets: what a process does with each piece of the input."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from json.encoder import encode_basestring_ascii as _quoted
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrapy_rep.protocol.display import shown

from .opening import open_source
from .sources import Reading
from .verdicts import BulkVerdict, Decider, Rules

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

ALLOWED, DISALLOWED, UNKNOWN = "allowed", "disallowed", "unknown"
WORDS: Final[Mapping[bool | None, str]] = {True: ALLOWED, False: DISALLOWED, None: UNKNOWN}
"""How output spells a verdict."""

FIELDS: Final = ("url", "origin", "agent", "allowed", "line", "rule", "reason")
"""The fields of a line of output, in their order."""

_WHITE: Final = " \t\r\n\f\v"
_CONTROL: Final = re.compile(rb"[\0-\x09\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)")
_find_control = re.compile(r"[\0-\x1f\x7f]").search
_LITERALS: Final = {True: "true", False: "false", None: "null"}


def _as_json(verdict: BulkVerdict) -> str:
    """What follows the URL in a line of JSON."""
    agent, reason = _quoted(verdict.agent), _quoted(verdict.reason)
    origin = _quoted(verdict.origin) if verdict.origin else "null"
    rule = "null" if verdict.rule is None else _quoted(verdict.rule)
    allowed, line = _LITERALS[verdict.allowed], verdict.line or "null"
    return (
        f', "origin": {origin}, "agent": {agent}, "allowed": {allowed}, "line": {line}, "rule": {rule},'
        f' "reason": {reason}}}\n'
    )


def _as_tsv(verdict: BulkVerdict) -> str:
    cells = (verdict.origin, verdict.agent, WORDS[verdict.allowed], verdict.line, verdict.rule, verdict.reason)
    return "\t" + "\t".join("" if cell is None else shown(str(cell)) for cell in cells) + "\n"


@dataclass(frozen=True, slots=True)
class Format:
    """How verdicts are written: ``head`` once; for each URL ``before``, the URL as ``spell`` does, ``after``."""

    before: str
    spell: Callable[[str], str]
    after: Callable[[BulkVerdict], str]
    head: str = ""


FORMATS: Final = {
    "jsonl": Format('{"url": ', _quoted, _as_json),
    "tsv": Format("", shown, _as_tsv, "\t".join(FIELDS) + "\n"),
    "urls": Format("", str, lambda _: "\n"),
}
"""The formats of output: JSON Lines, values separated by tabs, or the URLs alone, as they came."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a process needs to know before it can decide: all of it can be sent to it.

    ``only`` are the words of `WORDS` that are written, all if it is empty.
    """

    source: Path | BaseSettings
    reading: Reading
    rules: Rules
    cache_octets: int
    format: str = "jsonl"
    only: Collection[str] = field(default_factory=tuple)

    def start(self) -> LineDecider:
        """What decides. Raises `SourceError`."""
        return LineDecider(self)


Key = tuple[str, bool | None, str]
"""What is counted: the agent, whether it may, the reason."""


@dataclass(frozen=True, slots=True, eq=False)
class _Ending:
    """What follows the URL in a line, and how that line counts."""

    text: str
    key: Key
    is_written: bool


class LineDecider:
    """Decides pieces of the input, one after the other."""

    def __init__(self, task: Task) -> None:
        """Raises `SourceError`."""
        self._format, self._only = FORMATS[task.format], task.only or WORDS.values()
        source = open_source(task.source, task.reading)
        self._decider = Decider(source, task.rules, self._ending, task.cache_octets)

    def _ending(self, verdict: BulkVerdict) -> _Ending:
        is_written = WORDS[verdict.allowed] in self._only
        after = self._format.after(verdict) if is_written else ""
        return _Ending(after, (verdict.agent, verdict.allowed, verdict.reason), is_written)

    def __call__(self, chunk: bytes) -> tuple[bytes, Counter[Key]]:
        """The output for the URLs in the lines of *chunk*, and how many verdicts there are of each kind.

        Raises `SourceError`.
        """
        decided, before, spell = self._decider.on, self._format.before, self._format.spell
        may_have_control = _CONTROL.search(chunk) is not None
        endings: list[_Ending] = []
        lines: list[str] = []
        for line in chunk.decode("utf-8", "surrogateescape").split("\n"):
            url = line.strip(_WHITE)
            if not url:
                continue
            for ending in decided("" if may_have_control and _find_control(url) else url):
                endings.append(ending)
                if ending.is_written:
                    lines.append(f"{before}{spell(url)}{ending.text}")
        counts: Counter[Key] = Counter()
        for ending, number in Counter(endings).items():
            counts[ending.key] += number
        return "".join(lines).encode("utf-8", "surrogateescape"), counts
