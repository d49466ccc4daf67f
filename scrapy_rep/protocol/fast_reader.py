"""Reads the rules for one crawler straight from the octets, in a tenth of the time of the plain reader.

A crawl asks for one product token, so most user-agent lines are dismissed because they hold neither the token
nor a ``*``, and their rules are never read. Other records are read only if the body holds their key, and line
numbers are worked out on demand.

`PlainReader` is the reference: a property test compares the answers.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Iterator
from typing import Final

from .line_scanner import INDENT, LinePattern, NormalizedBody, iter_rules, read, rule_paths
from .plain_reader import Paths, PlainReader, Span, TokenScan
from .product_token import Token, is_global
from .records import Kind, kind_of, split_line

# With a colon, or of two words. No two adjacent runs may take the same octets, or a hostile line is
# divided between them in all ways: what is behind the second word starts with a blank or is nothing.
_AGENT: Final = LinePattern.of(
    rb"(?:user[- ]?agent[^\n:#]*:(.*)"
    rb"|user-?agent[^ \t\n:#]*[ \t]+([\v\f]*[^\s:#][^ \t\n:#]*)(?:[ \t][ \t\v\f]*)?(?:#.*)?(?=\n|\Z))"
)
_SITEMAP: Final = LinePattern.of(rb"(site-?map[^\n:#]*(:?)(.*))")
_EXTENSIONS: Final = {
    Kind.CRAWL_DELAY: LinePattern.of(rb"(crawl[- ]?delay.*)"),
    Kind.REQUEST_RATE: LinePattern.of(rb"(request-rate.*)"),
    Kind.VISIT_TIME: LinePattern.of(rb"(visit-time.*)"),
}

_STAR: Final = ord("*")
_RULE: Final = re.compile(rb"\n" + INDENT + rb"(?:dis)?allow[^\n:#]*:")  # of a text in lower case
_PERHAPS_A_RULE: Final = re.compile(rb"\n" + INDENT + rb"(?:al|dis|dia)")  # of a text in lower case
_TRIES: Final = 8  # occurrences of a path that are tried before all rules are read by line


class FastReader(PlainReader):
    """Reads no more of a body than a question needs."""

    __slots__ = ()

    def scan(self, token: Token) -> TokenScan:
        """Where the rules for *token* are."""
        by_name, spans = _spans_for(read(self.body), token)
        return TokenScan(by_name, tuple(spans))

    def paths(self, token: Token, scan: TokenScan) -> Paths:  # noqa: ARG002
        """The paths of the rules in *scan*."""
        return _latest_paths.of(self.body, scan)

    def by_line(self, token: Token, scan: TokenScan) -> Iterator[tuple[bool, bytes, int]]:  # noqa: ARG002
        """The rules in *scan* in the order of their lines: whether it allows, its path, its line."""
        text = read(self.body).text
        line = counted = 0
        for span in scan.spans:
            for allow, path, offset in iter_rules(text, *span):
                line += text.count(b"\n", counted, offset + 1)
                counted = offset + 1
                yield allow, path, line

    def line(self, allow: bool, path: bytes, scan: TokenScan) -> int | None:
        """The first line of a rule in *scan*; None when it is not found soon."""
        text = read(self.body).text
        offset = _find_rule(allow, path, text, scan.spans) if path else None
        return None if offset is None else text.count(b"\n", 0, offset + 1)

    def sitemaps(self) -> list[bytes]:
        """The values of the Sitemap lines."""
        body = read(self.body)
        if body.lower.find(b"sitemap") < 0 and body.lower.find(b"site-map") < 0:
            return []
        found = []
        for line in body.lines(_SITEMAP):
            if line[2]:
                found.append(body.text[line.start(3) : line.end()].partition(b"#")[0].strip())
            else:  # perhaps two words
                key, value = split_line(body.text[line.start(1) : line.end()])
                found += [value] if key else []
        return found

    def values(self, kind: Kind, token: Token, *, by_name: bool) -> list[bytes]:
        """The values of the other records of *kind* for *token*, or for all crawlers when not *by_name*."""
        if kind not in _EXTENSIONS:
            return super().values(kind, token, by_name=by_name)
        body = read(self.body)
        fields = [line.span(1) for line in body.lines(_EXTENSIONS[kind])]
        if not fields:
            return []
        agents = list(body.lines(_AGENT))
        starts = [agent.start() for agent in agents]
        runs = _AgentRuns(body.text, agents, token.is_named_by if by_name else is_global)
        found = []
        for start, end in fields:
            key, value = split_line(body.text[start:end])
            if runs.is_for(bisect(starts, start) - 1) and kind_of(key) is kind:
                found.append(value)
        return found


class _LatestPaths:
    """Keeps the paths of the latest scan: soon after the first decision the second one makes an index of them."""

    def __init__(self) -> None:
        self._held: tuple[TokenScan | None, Paths] = None, ([], [])

    def of(self, body: bytes, scan: TokenScan) -> Paths:
        held, paths = self._held
        if held is not scan:
            text = read(body).text
            paths = rule_paths(b"".join([text[start:end] for start, end in scan.spans]))
            self._held = scan, paths
        return paths


_latest_paths: Final = _LatestPaths()


def _find_rule(allow: bool, path: bytes, text: bytes, spans: tuple[Span, ...]) -> int | None:
    """The offset of the LF before the first line of a rule; None when it is not found soon."""
    tries = 0
    for start, end in spans:
        at = text.find(path, start, end)
        while at >= 0:
            line = text.rfind(b"\n", start, at)
            if (allow, path, line) in iter_rules(text, line, _line_end(text, line)):
                return line
            tries += 1
            if tries == _TRIES:
                return None
            at = text.find(path, at + 1, end)
    return None


def _line_end(text: bytes, start: int) -> int:
    end = text.find(b"\n", start + 1)
    return len(text) if end < 0 else end


def _spans_for(body: NormalizedBody, token: Token) -> tuple[bool, list[Span]]:
    """Whether a user-agent line names *token*, and the spans of its rules, or of those for all if none does."""
    named: list[Span] = []
    general: list[Span] = []
    by_name = is_named = is_general = False
    start = run = 0
    for line in body.lines(_AGENT):
        text = line[0]
        wanted = _STAR in text or (token.name is not None and text.find(token.name) >= 0)
        if not (wanted or is_named or is_general):
            continue
        offset = line.start()
        if not (is_named or is_general):
            run = offset
        elif _has_rules(body, start, offset):  # which closes the run of user-agent lines
            _add(named if is_named else general, run, start, offset)
            is_named = is_general = False
            run = offset
        value = _agent(line) if wanted else b""
        if value == b"*":
            is_general = True
        elif wanted:
            is_named |= token.is_named_by(value)
            is_general |= is_global(value)
            by_name |= is_named
        start = line.end()
    if is_named or is_general:
        _add(named if is_named else general, run, start, len(body.text))
    return by_name, named if by_name else general


def _agent(line: re.Match[bytes]) -> bytes:
    """The value of a user-agent line."""
    with_colon, second_word = line.groups()
    value: bytes = second_word if with_colon is None else with_colon
    return value.partition(b"#")[0].strip()


def _add(spans: list[Span], run: int, start: int, end: int) -> None:
    """Add a span, or extend the last one when the user-agent lines of this one follow it directly."""
    if spans and spans[-1][1] == run:
        start = spans.pop()[0]
    spans.append((start, end))


def _has_rules(body: NormalizedBody, start: int, end: int) -> bool:
    if start == end:
        return False
    if _RULE.search(body.lower, start, end):
        return True
    return bool(_PERHAPS_A_RULE.search(body.lower, start, end)) and any(rule_paths(body.text[start:end]))


class _AgentRuns:
    """Which runs of user-agent lines apply to a crawler; each line is read once, however often this is asked."""

    def __init__(self, text: bytes, agents: list[re.Match[bytes]], is_for: Callable[[bytes], bool]) -> None:
        self._text = text
        self._agents = agents
        self._is_for = is_for
        self._known: dict[int, bool] = {-1: False}

    def is_for(self, last: int) -> bool:
        """Whether the run that ends with user-agent line *last* applies; reads back to where it starts."""
        for number in range(last, -2, -1):
            known = self._known.get(number)
            if known is None and self._is_for(_agent(self._agents[number])):
                known = True
            elif known is None and self._starts_a_run(number):
                known = False
            if known is not None:
                break
        self._known.update(dict.fromkeys(range(number, last + 1), bool(known)))
        return bool(known)

    def _starts_a_run(self, number: int) -> bool:
        if number == 0:
            return True
        between = self._text[self._agents[number - 1].end() : self._agents[number].start()].strip()
        return bool(between) and any(map(_ends_run, between.split(b"\n")))


def _ends_run(line: bytes) -> bool:
    key, _ = split_line(line)
    return bool(key) and kind_of(key) is not Kind.SITEMAP
