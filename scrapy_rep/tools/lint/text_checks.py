"""Checks of the file as a text: where it comes from, its encoding, its line ends, and the syntax of its lines."""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from scrapy_rep.directives.robots_signals import AI_TRAINING
from scrapy_rep.protocol import Access, Kind, Record, access
from scrapy_rep.protocol.body_kind import BodyKind
from scrapy_rep.protocol.records import MAX_LINE, as_text, kind_of, split_line
from scrapy_rep.tools.files import reader_of

from .finding import Findings, Prose
from .subject import RULES, Subject, characters

_MISSING: Final = frozenset({404, 410})
_NAMES: Final[dict[Kind, str]] = {kind: kind.value.capitalize() for kind in Kind if kind is not Kind.UNKNOWN}
_KEYS: Final = {name.lower(): name for name in _NAMES.values()}
_MISSPELT: Final = re.compile(  # and no "Allow-training", which is read as Allow by its start alone
    rb"user[- ]?agents?|allow(?:s|ed)?|(?:disallow|dissallow|dissalow|disalow|diasllow|disallaw)(?:s|ed)?"
    rb"|site-?maps?|crawl ?delay|content-signals",
    re.IGNORECASE,
)
_KEY_BEHIND: Final = re.compile(rb"[^a-z](user-?agent|disallow|sitemap|crawl-delay)\Z", re.IGNORECASE)
_APACHE: Final = re.compile(
    rb"(?:SetEnvIf\w*|Rewrite\w+|Redirect\w*|ExpiresByType|AddType|Header|Options|Order|Deny|Allow) "
    rb"|</?(?:IfModule|Files|Directory|Limit)\b",
    re.IGNORECASE,
)
_NO_TEXT: Final = (b"\0", "ï»¿".encode())  # the mark of a file that was encoded twice, before no record
_SOLID_KEY: Final = re.compile(rb"[A-Za-z-]+")
_USUAL: Final = {
    spelling.encode(): f"{spelling}:".encode()
    for name in _NAMES.values()
    for spelling in (name, name.lower(), name.title())
}
"""The usual spellings of keys, and how a line with one starts."""

_VALUE_STARTS: Final = {
    Kind.USER_AGENT: re.compile(rb"[\w*]"),
    Kind.SITEMAP: re.compile(rb"https?://"),
    **dict.fromkeys(RULES, re.compile(rb"[/*]")),
}
_NO_RECORD: Final = Prose("not a record"), Prose("Start it with #, or write “key: value”")
_APACHE_LINE: Final = Prose("Apache configuration"), Prose("Move it to the server's configuration")
_SCHEMES: Final = frozenset({b"http", b"https"})
_RULE_IN_COMMENT: Final = re.compile(rb"#[#\s]*(?:dis)?allow\s*:\s*[/*]\S*", re.IGNORECASE)
_LONGEST_KEY: Final = 16  # characters: anything longer is not a misspelling
_MOST_GUESSED: Final = 300  # different unknown keys of a file that are compared with the known ones


def check_file(subject: Subject, found: Findings) -> None:
    """Check *subject* as a whole."""
    _check_source(subject, found)
    if subject.is_error_page:
        return
    is_cut = subject.limit is not None and len(subject.octets) > subject.limit
    if is_cut and not subject.is_markup and not subject.binary_kind:
        lines = subject.octets[len(subject.body) :].splitlines()[1:]
        lost = [as_text(line.strip()) for line in lines if kind_of(split_line(line)[0]) in RULES]
        last = Prose(f", such as “{lost[-1][:60]}”") if lost else ""
        found.add("file-too-long", 0, 0, len(subject.octets), len(subject.body), last)
    if subject.body_kind is BodyKind.BLANK:
        found.add("empty-file")
    elif subject.is_program:
        found.add("not-robots-txt", 1, 1, Prose("a PHP program that the server does not run"))
    elif subject.body_kind is BodyKind.HTML:
        found.add("html", 1, 1, "only what lies between its tags" if subject.groups else "no rules")
    elif subject.is_markup:
        found.add("not-robots-txt", 1, 1, subject.body_kind.instead)
    elif subject.binary_kind:
        kind, reader = subject.binary_kind, reader_of(subject.binary_kind)
        found.add("binary-file", 1, 1, f"{kind} ({reader})" if reader else kind)
    elif subject.is_utf_16:
        found.add("utf-16")
    else:
        _check_text(subject, found)


def _check_text(subject: Subject, found: Findings) -> None:
    if subject.body_kind is BodyKind.TEXT:
        found.add("not-robots-txt", 1, 1, subject.body_kind.instead)
    _check_encoding(subject, found)
    _check_line_ends(subject.body, found)
    for number, line in enumerate(subject.lines, start=1):
        if len(line) > MAX_LINE:
            found.add("line-too-long", number, 1, len(line), MAX_LINE)


def _check_source(subject: Subject, found: Findings) -> None:
    path, root = _path_and_root(subject.url)
    if path and path != "/robots.txt":
        found.add("below-root", 0, 0, path, root)
    if subject.hops and [*subject.hops] != [subject.url.replace("http://", "https://", 1)]:
        found.add("redirected", 0, 0, subject.hops[-1])
    if subject.is_error_page and subject.status is not None:
        is_unreachable = access(subject.status, subject.body) is Access.UNREACHABLE
        code = "unreachable" if is_unreachable else "missing-file" if subject.status in _MISSING else "error-page"
        found.add(code, 0, 0, str(subject.status))


def _path_and_root(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", ""
    return parts.path, f"{parts.scheme}://{parts.netloc}/robots.txt"


def _check_encoding(subject: Subject, found: Findings) -> None:
    if subject.bom_length == 3:
        found.add("byte-order-mark", 1, 1)
    nul = subject.body.find(0)
    if nul >= 0 and subject.body_kind is not BodyKind.TEXT:
        found.add("nul", *subject.place(nul))
    try:
        subject.body[subject.bom_length :].decode("utf-8")
    except UnicodeDecodeError as error:
        found.add("not-utf-8", *subject.place(subject.bom_length + error.start))


def _check_line_ends(body: bytes, found: Findings) -> None:
    crlf = body.count(b"\r\n")
    cr, lf = body.count(b"\r") - crlf, body.count(b"\n") - crlf
    if bool(lf) + bool(crlf) + bool(cr) > 1:
        found.add("mixed-line-ends", 0, 0, lf, crlf, cr)
    elif cr:
        found.add("cr-line-ends")
    elif crlf:
        found.add("crlf-line-ends")


def check(subject: Subject, found: Findings) -> None:
    """Check the syntax of each line of *subject*."""
    keys: set[bytes] = set()
    lines = subject.lines
    for record in subject.records:
        line = lines[record.line - 1]
        if line.startswith(_USUAL.get(record.key, b"\n")):
            keys.add(record.key)
        else:
            _check_start(record, _read(line), subject, found, keys)
        if record.kind in RULES and line.find(b"#") >= 0:
            _check_comment(record, _read(line), subject, found)
    _check_unread(subject, found)
    _check_blank_lines(subject, found)


def _read(line: bytes) -> bytes:
    """What the parser reads of *line*."""
    return line[:MAX_LINE].partition(b"\0")[0]


def _check_start(record: Record, line: bytes, subject: Subject, found: Findings, keys: set[bytes]) -> None:
    """Check the start of a *line* that is no usual one; *keys* are those of the records before it."""
    if line[:1].isspace():
        found.add("indented-line", record.line, 1, write=subject.raw(record).lstrip())
    if record.kind is not Kind.UNKNOWN:
        _check_key(record, line, subject, found, keys)
    elif key := _broken_key(record.line, line.strip(), subject):
        found.add("line-broken", record.line, 1, key, line.strip())
    elif record.key.lower() in _SCHEMES and record.value.startswith(b"//"):
        url = line.strip()
        write = b"Sitemap: " + url if b"sitemap" in url.lower() else None
        found.add("bare-url", record.line, subject.column(record), write=write)
    else:
        keys.add(record.key)
        meant = known_key(record.key) if len(keys) < _MOST_GUESSED else ""
        place = record.line, subject.column(record)
        if meant:
            write = subject.with_key(record, meant.encode()) if record.value else None
            found.add("misspelt-key-ignored", *place, record.key, meant, write=write)
        elif b":" not in line or line[:1] == b"/":
            _check_unread_line(record.line, line.strip(), subject, found)
        elif subject.body_kind is not BodyKind.TEXT:
            found.add("unknown-record", *place, record.key)


def _check_comment(record: Record, line: bytes, subject: Subject, found: Findings) -> None:
    """Check the comment that follows a rule on its *line*."""
    before, mark, comment = line.partition(b"#")
    if not mark:
        return  # it lies beyond what is read
    column = characters(before) + 1
    if not before[-1:].strip() or before.endswith(b":"):
        is_whole = line == subject.raw(record)
        write = b"#" + comment.rstrip() + b"\n" + before.rstrip() if is_whole else None
        found.add("comment-after-rule", record.line, column, write=write)
    elif record.value[:1] in b"/*" and comment.strip() and not comment[:1].isspace():
        # A comment after a space was meant as one; what else is wrong with the path is a finding of its own.
        found.add("hash-in-path", record.line, column, before.strip())


@lru_cache(maxsize=4_096)
def known_key(key: bytes) -> str:
    """The known key that *key* resembles, or an empty string."""
    behind = _KEY_BEHIND.search(key)
    if behind:
        return _KEYS[re.sub("(?<=user)(?=agent)", "-", behind[1].decode().lower())]
    if len(key) > _LONGEST_KEY:
        return ""
    close = get_close_matches(key.lower().decode("latin-1"), _KEYS, n=1, cutoff=0.8)
    return _KEYS[close[0]] if close else ""


def _check_key(record: Record, line: bytes, subject: Subject, found: Findings, keys: set[bytes]) -> None:
    key, name = record.key.lower(), _NAMES[record.kind]
    first = key.partition(b" ")[0]
    place = record.line, subject.column(record)
    if b":" not in line.partition(b"#")[0] or (first != key and kind_of(first) is record.kind and b"/" in line):
        _add_missing_colon(record.line, subject, found)
    elif key in AI_TRAINING:
        pass  # which has a code of its own
    elif key != name.lower().encode():
        is_clear = _MISSPELT.fullmatch(record.key) and (record.value or record.kind in RULES)
        write = subject.with_key(record, name.encode()) if is_clear else None
        found.add("misspelt-key", *place, record.key, name, write=write)
    elif record.key not in keys and record.key not in _USUAL:
        write = subject.with_key(record, name.encode())
        found.add("odd-case-key", *place, record.key, name, write=write)
    keys.add(record.key)


def _add_missing_colon(number: int, subject: Subject, found: Findings) -> None:
    """Report line *number*, whose first word is a key without its colon, whatever stands in its place."""
    line = subject.lines[number - 1]
    key, rest = line.split(None, 1)
    word = _SOLID_KEY.match(key)
    name = word[0] if word else key
    write = None if b"://" in rest and kind_of(name) in RULES else name + b": " + rest
    found.add("missing-colon", number, characters(line[: line.find(key)]) + 1, name, write=write)


def _check_unread(subject: Subject, found: Findings) -> None:
    """Check the lines that are not records, and find the first that would be a rule without its #."""
    commented_out = []
    for number, text in subject.unread:
        if text[:1] == b"#":
            if _RULE_IN_COMMENT.fullmatch(text):
                commented_out.append(number)
        elif text:
            _check_unread_line(number, text, subject, found)
    if commented_out:
        first, more = commented_out[0], len(commented_out) - 1
        others = f", and {more:,} more like it" if more else ""
        found.add("commented-out-rule", first, 1, subject.lines[first - 1].strip(b"# \t"), others)


def _broken_key(number: int, text: bytes, subject: Subject) -> str:
    """The key on the line above, if it has no value and *text* may be that; empty for any other."""
    above = subject.record(number - 1)
    start = _VALUE_STARTS.get(above.kind) if above and not above.value else None
    return _NAMES[above.kind] if above and start and start.match(text) else ""


def _check_unread_line(number: int, text: bytes, subject: Subject, found: Findings) -> None:
    word, *rest = text.split(None, 1)
    kind = kind_of(word)
    is_value = bool(rest) and (kind not in RULES or rest[0][:1] in b"/*")  # no "Allow from all" of another file
    if kind is not Kind.UNKNOWN and b":" not in text and is_value:
        _add_missing_colon(number, subject, found)
    elif key := _broken_key(number, text, subject):
        found.add("line-broken", number, 1, key, text)
    elif not text.startswith(_NO_TEXT) and subject.body_kind is not BodyKind.TEXT:
        facts = _APACHE_LINE if _APACHE.match(text) else _NO_RECORD
        found.add("unreadable-line", number, 1, *facts)


def _check_blank_lines(subject: Subject, found: Findings) -> None:
    """Find the first blank line inside each group."""
    for group in subject.groups if subject.blank_lines else ():
        blank = subject.first_blank(group.agents[-1].line, group.rules[-1].line) if group.rules else 0
        if blank:
            found.add("blank-line-in-group", blank)
