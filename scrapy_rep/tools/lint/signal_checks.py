"""Checks of what a file says about the use by AI, except Content-Usage, and of what opens a closed site."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Final

from scrapy_rep.directives.robots_signals import AI_TRAINING, MAX_ITEMS
from scrapy_rep.directives.terms import is_url
from scrapy_rep.directives.vocabulary import LABELS, ContentUse, Signal
from scrapy_rep.protocol import Group, Kind, Record, Rule, parse

from .finding import Code, Findings, Severity
from .subject import UNNAMED, Subject, is_for_all

CODES: Final[dict[str, Code]] = {
    "unknown-content-signal": Code(
        Severity.ERROR,
        "Unknown key in Content-Signal",
        "{0} is not a key of Content-Signal, so crawlers ignore it{1}.",
        "Write {2}.",
    ),
    "bad-content-signal": Code(
        Severity.ERROR,
        "Unreadable value in Content-Signal",
        "Crawlers ignore {0}: its value is not {1}.",
        "Write {2}.",
    ),
    "content-signal-with-path": Code(
        Severity.ERROR,
        "Path in Content-Signal",
        "Content-Signal has no paths, so crawlers ignore {0}.",
        "Write {1} without a path, for all URLs of the group; only Content-Usage has paths.",
    ),
    "empty-signal": Code(
        Severity.WARNING,
        "Signal that says nothing",
        "{0} states no preference.",
        "Add one, such as {1}, or remove the line.",
    ),
    "license-without-url": Code(
        Severity.ERROR,
        "License without a complete URL",
        "{0} is not an HTTP or HTTPS URL, so crawlers find no license.",
        "Write the complete URL, such as https://example.com/license.xml.",
    ),
    "ai-training-record": Code(
        Severity.ERROR,
        "DisallowAITraining or AllowAITraining",
        "Parsers that match the beginning of a key, such as Google's, read it as “{0}”, a rule for all crawling.",
        "{1}.",
    ),
    "group-opens-site": Code(
        Severity.ERROR,
        "Group for all crawlers that opens a closed site",
        "“{0}” at line {1} opens what this line closes: groups for * are merged, and this rule loses.",
        "Remove “{0}”; if a service adds it, such as Cloudflare's managed robots.txt, switch that off.",
    ),
}

_KEYS: Final = tuple(label.name for label in LABELS if label.signal is Signal.CONTENT_SIGNAL)
_YES_OR_NO: Final = ("yes", "no")
_LEVELS: Final = tuple(level.value for level in ContentUse)
_WORD: Final = re.compile(r"[a-z0-9]+")
_PATH: Final = re.compile(r"([/*]\S*)\s*(.*)", re.DOTALL)
_LONGEST_KEY: Final = 20  # characters: anything longer is not a misspelling
_MOST_GUESSED: Final = 300  # unknown keys of a file that are compared with the known ones


def check(subject: Subject, found: Findings) -> None:
    """Check the signals of *subject*."""
    guesses = Guesses(_KEYS)
    for record in (extension.record for extension in subject.extensions):
        if record.kind is Kind.CONTENT_SIGNAL:
            _check_content_signal(record, subject, guesses, found)
        elif record.kind is Kind.LICENSE and not is_url(record.text):
            found.add("license-without-url", record.line, subject.value_column(record), record.value or record.key)
    if b"allowaitraining" in subject.body.lower():  # few files have it, and all have records
        for record in subject.records:
            if record.key.lower() in AI_TRAINING:
                _check_ai_training(record, subject, found)
    _check_opened(subject, found)


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
    elif value.lower() not in (levels := _LEVELS if key == "use" else _YES_OR_NO):
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
    """Find a group for all crawlers that allows everything, before one that alone would disallow everything."""
    groups = [group for group in subject.groups if is_for_all(group)]
    openers = (at for at, group in enumerate(groups) if any(map(_allows_everything, group.rules)))
    first = next(openers, len(groups))
    later = [group for group in groups[first + 1 :] if any(not rule.allow and rule.value for rule in group.rules)]
    if later:
        _check_opened_by(groups[first], later[0], subject, found)


def _check_opened_by(opener: Group, own: Group, subject: Subject, found: Findings) -> None:
    """Ask the engine: from *own* on the file disallows ``/``; all of it allows ``/``, by a rule of *opener*."""
    verdict = subject.verdict(UNNAMED, "/")
    rule = verdict.rule
    if rule is None or not _allows_everything(rule) or rule.line not in {each.line for each in opener.rules}:
        return
    above = own.agents[0].line - 1
    alone = parse(b"\n".join(subject.lines[above:]), subject.dialect, limit=None).verdict(UNNAMED, "/")
    if not alone.allowed:
        found.add("group-opens-site", above + alone.line, 1, str(rule), str(rule.line))


def _allows_everything(rule: Rule) -> bool:
    return rule.allow and rule.value.rstrip(b"*") == b"/"
