"""Checks of records that are no rules: Sitemap, Crawl-delay and the like, and what is said about the use by AI."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Final

from scrapy_rep.directives.robots_signals import AI_TRAINING, MAX_ITEMS
from scrapy_rep.directives.rsl import is_url
from scrapy_rep.directives.vocabulary import LABELS, USE_LEVELS, Signal
from scrapy_rep.protocol import Extension, Kind, Record, Rule, parse
from scrapy_rep.protocol.display import number_of
from scrapy_rep.protocol.product_token import is_global, token_in
from scrapy_rep.protocol.records import as_text
from scrapy_rep.protocol.robotstxt import seconds

from .finding import Findings
from .subject import UNNAMED, Subject, closing

_KEYS: Final = tuple(label.name for label in LABELS if label.signal is Signal.CONTENT_SIGNAL)
_YES_OR_NO: Final = ("yes", "no")
_AI_TRAINING: Final = b"allowaitraining"
_WORD: Final = re.compile(r"[a-z0-9]+")
_PATH: Final = re.compile(r"([/*]\S*)\s*(.*)", re.DOTALL)
_LONGEST_KEY: Final = 20  # characters: anything longer is not a misspelling
_MOST_GUESSED: Final = 300  # unknown keys of a file that are compared with the known ones
_OUTSIDE: Final = {
    Kind.CONTENT_SIGNAL: "so crawlers that look only in their group miss it",
    Kind.CONTENT_USAGE: "so it applies to no crawler",
}
_MOST_ASKED: Final = 100  # Noindex records of a file that the engine is asked about
_LONG_DELAY: Final = 300.0  # seconds: 288 pages a day
_DAY: Final = 86_400.0
_SCHEME: Final = re.compile(rb"([a-z][a-z0-9+.-]*)://[^/]", re.IGNORECASE)
_LOST_SLASH: Final = re.compile(rb"(https?:)/(?=[a-z0-9-]+\.)", re.IGNORECASE)
_SIGNALS: Final = frozenset({Kind.CONTENT_SIGNAL, Kind.CONTENT_USAGE})
_DELAYS: Final = frozenset({Kind.CRAWL_DELAY, Kind.REQUEST_RATE, Kind.VISIT_TIME})
_OF_SOME: Final = _DELAYS | {Kind.CLEAN_PARAM}  # engines; that nobody reads Host has a code of its own
_GOOGLE: Final = re.compile(rb"[a-z-]*google", re.IGNORECASE)


def check(subject: Subject, found: Findings) -> None:
    """Check the records of *subject* that are no rules."""
    for record in subject.by_kind[Kind.SITEMAP]:
        _check_sitemap(record, subject, found)
    for record in subject.by_kind[Kind.CRAWL_DELAY]:
        _check_delay(record, subject, found)
    for record in subject.by_kind[Kind.HOST]:
        found.add("host-record", record.line, subject.column(record))
    if subject.groups and not subject.closing_rule and not subject.by_kind[Kind.SITEMAP]:
        found.add("no-sitemap")
    readers = _Readers()
    for extension in subject.extensions:
        record = extension.record
        code = _extension_code(extension, readers)
        if code:
            found.add(code, record.line, subject.column(record), record.key, _OUTSIDE.get(record.kind, ""))
    _check_noindex(subject, found)
    _check_before_rules(subject, found)
    _check_signals(subject, found)
    _check_opened(subject, found)


def _check_sitemap(record: Record, subject: Subject, found: Findings) -> None:
    scheme = _SCHEME.match(record.value)
    if not scheme:
        slash = _LOST_SLASH.match(record.value)
        write = subject.with_value(record, slash[1] + b"//" + record.value[slash.end() :]) if slash else None
        place = record.line, subject.value_column(record)
        found.add("relative-sitemap", *place, record.value or record.key, write=write)
    elif scheme[1].lower() not in {b"http", b"https"}:
        found.add("sitemap-not-http", record.line, subject.value_column(record), record.value)


def _check_delay(record: Record, subject: Subject, found: Findings) -> None:
    delay = seconds(record.value)
    if delay is None:
        found.add("bad-crawl-delay", record.line, subject.value_column(record), record.value or record.key)
    elif delay > _LONG_DELAY and not _is_closed(record, subject):
        pages = number_of(int(_DAY / delay), "page", "pages")
        found.add("long-crawl-delay", record.line, subject.value_column(record), record.value, pages)


def _is_closed(record: Record, subject: Subject) -> bool:
    """Whether the group of *record* disallows everything, so that its delay does not matter."""
    groups = [group for group in subject.groups if group.agents[0].line < record.line]
    return bool(groups) and closing(groups[-1].rules) is not None


class _Readers:
    """Which crawlers runs of user-agent lines address; each run is checked once, as many records may share it."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[bool, bool]] = {}

    def of(self, agents: tuple[Record, ...]) -> tuple[bool, bool]:
        """Whether *agents* address all crawlers, and only Google's."""
        run = agents[0].line, agents[-1].line
        if run not in self._known:
            self._known[run] = (
                any(is_global(agent.value) for agent in agents),
                all(_GOOGLE.match(agent.value) for agent in agents),
            )
        return self._known[run]


def _extension_code(extension: Extension, readers: _Readers) -> str:
    """The code for the position of *extension*; empty when it is fine."""
    kind = extension.record.kind
    if not extension.agents:
        if kind in _SIGNALS:
            return "misplaced-content-signal"
        return "record-before-user-agent" if kind in _DELAYS else ""
    is_for_all, is_for_google = readers.of(extension.agents)
    if is_for_google and kind in _DELAYS:
        return "record-of-another-engine"
    return "record-google-ignores" if is_for_all and kind in _OF_SOME else ""


def _check_noindex(subject: Subject, found: Findings) -> None:
    records = [extension for extension in subject.extensions if extension.record.kind is Kind.NOINDEX]
    for asked, extension in enumerate(records):
        record = extension.record
        path, line = _disallowed(extension, subject) if asked < _MOST_ASKED else (b"", 0)
        code = "noindex-behind-disallow" if line else "noindex-record"
        found.add(code, record.line, subject.column(record), path, str(line))


def _disallowed(extension: Extension, subject: Subject) -> tuple[bytes, int]:
    """A path of the Noindex in *extension*, and the line that disallows it to the first crawler of its group."""
    value = extension.record.value
    if not extension.agents or value[:1] not in {b"/", b"*"} or value[:2] == b"//":
        return b"", 0
    path = b"/" + b"a".join(subject.pattern(value).pieces).lstrip(b"/")
    agent = extension.agents[0].value
    token = as_text(token_in(agent, wide=subject.dialect.wide_tokens))
    verdict = subject.verdict(UNNAMED if is_global(agent) else token, path)
    return path, 0 if verdict.allowed else verdict.line


def _check_before_rules(subject: Subject, found: Findings) -> None:
    """Find delays between the user-agent lines of a group and its first rule."""
    early = [each.record for each in subject.extensions if each.record.kind in _OF_SOME]
    lines = [record.line for record in early]
    for group in subject.groups if early else ():
        if group.rules:
            start, end = bisect_left(lines, group.agents[-1].line), bisect_left(lines, group.rules[0].line)
            for record in early[start:end]:
                found.add("record-before-rules", record.line, subject.column(record), record.key)


def _check_signals(subject: Subject, found: Findings) -> None:
    """Check what *subject* says about the use by AI, except in Content-Usage."""
    guesses = Guesses(_KEYS)
    for record in subject.by_kind[Kind.CONTENT_SIGNAL]:
        _check_content_signal(record, subject, guesses, found)
    for record in subject.by_kind[Kind.LICENSE]:
        if not is_url(record.text):
            found.add("license-without-url", record.line, subject.value_column(record), record.value or record.key)
    if _AI_TRAINING in subject.body.lower():  # few files have it, and all have rules
        for record in subject.rules:
            if record.key.lower() in AI_TRAINING:
                _check_ai_training(record, subject, found)


class Guesses:
    """Guesses which of *keys* a misspelling means, a limited number of times: a hostile file has thousands."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._by_words = {self._words(key): key for key in keys}
        self._left = _MOST_GUESSED

    def of(self, key: str) -> str:
        """The key that *key* resembles, whatever the order of its words, or an empty string."""
        self._left -= 1
        if self._left < 0 or len(key) > _LONGEST_KEY:
            return ""
        close = get_close_matches(self._words(key), self._by_words, n=1, cutoff=0.8)
        return self._by_words[close[0]] if close else ""

    @staticmethod
    def _words(key: str) -> str:
        return "-".join(sorted(_WORD.findall(key.lower())))


def _check_content_signal(record: Record, subject: Subject, guesses: Guesses, found: Findings) -> None:
    start, is_empty = 0, True
    for item in record.text.split(",", MAX_ITEMS)[:MAX_ITEMS]:
        text = item.strip()
        if text:
            is_empty = False
            column = subject.value_column(record) + start + item.index(text)
            for code, *facts in _problems(text, guesses):
                found.add(code, record.line, column, *facts)
        start += len(item) + 1
    if is_empty:
        found.add("empty-signal", record.line, subject.column(record), record.key, "ai-train=no")


def _problems(item: str, guesses: Guesses) -> Iterator[tuple[str, ...]]:
    """The code and the facts of what is wrong in one *item* of a Content-Signal line."""
    written, equals, value = (part.strip() for part in item.partition("="))
    key = written.lower()
    path = _PATH.fullmatch(item)
    if path:
        yield "content-signal-with-path", item, path[2] or "ai-train=no"
    elif key != "use" and key not in _KEYS:
        meant = guesses.of(key)
        hint = f"; perhaps {meant} was meant" if meant else ""
        right = (meant if equals else f"{meant}=yes or {meant}=no") if meant else "search, ai-input or ai-train"
        yield "unknown-content-signal", written or item, hint, right
    elif value.lower() not in (levels := USE_LEVELS if key == "use" else _YES_OR_NO):
        comma = ", and a comma before the next key" if re.search(r"[\s;]", value) else ""
        right = " or ".join(f"{key}={level}" for level in levels)
        yield "bad-content-signal", item, " or ".join(levels), right + comma


def _check_ai_training(record: Record, subject: Subject, found: Findings) -> None:
    """Find the rule of an expired draft (draft-canel-robots-ai-control-00)."""
    allows = record.kind is Kind.ALLOW
    rule = Rule(allows, record.value, record.line)
    path, preference = record.text, "y" if allows else "n"
    advice = "Remove the line"
    if path.startswith("/") and not re.search(r"\s", path):
        where = "" if path == "/" else f"{path} "
        advice = f"Write “Content-Usage: {where}train-ai={preference}”"
    found.add("ai-training-record", record.line, subject.column(record), str(rule).strip(), advice)


def _check_opened(subject: Subject, found: Findings) -> None:
    """Find a group for all crawlers that allows everything, before one that alone would disallow everything.

    The engine is asked: from the later group on the file disallows ``/``; all of it allows ``/``, by a rule of the
    first.
    """
    groups = subject.groups_for_all
    openers = (at for at, group in enumerate(groups) if any(map(_allows_everything, group.rules)))
    first = next(openers, len(groups))
    later = [group for group in groups[first + 1 :] if any(not rule.allow and rule.value for rule in group.rules)]
    rule = subject.verdict(UNNAMED, "/").rule if later else None
    if rule and _allows_everything(rule) and rule.line in {each.line for each in groups[first].rules}:
        above = later[0].agents[0].line - 1
        alone = parse(b"\n".join(subject.lines[above:]), subject.dialect, limit=None).verdict(UNNAMED, "/")
        if not alone.allowed:
            found.add("group-opens-site", above + alone.line, 1, str(rule), str(rule.line))


def _allows_everything(rule: Rule) -> bool:
    return rule.allow and rule.value.rstrip(b"*") == b"/"
