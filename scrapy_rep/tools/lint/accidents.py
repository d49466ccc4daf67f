"""Checks for accidents of publishing: what an editor, a form or a deployment did to the file, not its author.

They come first, and a line with an accident gets no other finding: those show once it is repaired. Every message
says what crawlers now read. The replacement has the characters of the line, put in order; where their order is not
clear, the finding asks.
"""

from __future__ import annotations

import html
import re
import unicodedata
from contextlib import suppress
from typing import Final

from scrapy_rep.protocol import Kind, Record
from scrapy_rep.protocol.display import number_of
from scrapy_rep.protocol.product_token import is_global, token_in
from scrapy_rep.protocol.records import MAX_LINE, as_text, kind_of, split_line

from .finding import Findings, Prose
from .subject import RULES, Subject, characters

_READ: Final = RULES | {Kind.USER_AGENT, Kind.SITEMAP}
_BREAK: Final = re.compile(
    rb"\\r\\n|\\[rn]|<br\s*/?>|</?p>|&#x?0*(?:10|13|[ad]);|[\x0b\x0c]|\xc2\x85|\xe2\x80[\xa8\xa9]", re.IGNORECASE
)
"""What stands where line breaks were: escapes, tags, entities, and characters that break lines elsewhere."""

_RECORD: Final = re.compile(
    rb"(?:user-?agent|disallow|(?<![a-z])allow"
    rb"|crawl-delay(?=[ \t]?:[ \t]?\d)|sitemap(?=[ \t]?:[ \t]?https?:))[ \t]?:",
    re.IGNORECASE,
)
_BETWEEN: Final = b" \t,;|"
_VALUE: Final = {Kind.USER_AGENT: re.compile(rb"[ \t]*[\w*]"), Kind.SITEMAP: re.compile(b"")}
_PATH: Final = re.compile(rb"[ \t]*[/*]")
_ENTITY: Final = b"&#"
_MANY: Final = 3  # records on one line are no slip

_INVISIBLE: Final = re.compile(
    "[\xa0\xad\u034f\u061c\u1680\u180e\u2000-\u200f\u202a-\u202f\u205f-\u206f\u3000\ufeff]"
)
_SPACE: Final = re.compile("[\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_JOINERS: Final = re.compile("(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f])")  # as some scripts are written
_MARK_TWICE: Final = "\ufeff".encode().decode("latin-1").encode()
_TWICE: Final = re.compile(rb"\xc3[\x82-\x85\xa2-\xbf]\xc2[\x80-\xbf]|\xc3\xa2\xe2\x82\xac")
_DASHES: Final = dict.fromkeys(range(0x2010, 0x2016), "-")

_QUOTES: Final = "\"'`\u2018\u2019\u201a\u201c\u201d\u201e\xab\xbb"
_BACKSLASHES: Final = re.compile(rb"(?:\\[\w.~-]+)+\\?")
_HTML: Final = re.compile(
    rb"&(?:amp|lt|gt|quot|apos|nbsp|#\d{1,4});|</?(?:br|p|div|span|pre|b|a)\b[^>]{0,99}>", re.IGNORECASE
)
_HTML_TAG: Final = re.compile(r"<[^>]{0,99}>")
_FOREIGN: Final = re.compile(rb"(?<![ \t])[ \t]+(<!--|/\*|//|;)")
_ENDS: Final = {b"<!--": b"-->", b"/*": b"*/"}
_BETWEEN_URLS: Final = re.compile(rb"(?<![\s,;])[\s,;]+(?=https?://)", re.IGNORECASE)
_PLACEHOLDER: Final = re.compile(
    rb"\Ahttps?://(?:[^/]*\.)?(?:localhost|127\.[\d.]+|\[::1\]|example\.(?:com|org|net)|(?:your|my)-?"
    rb"(?:domain|site|website)(?:\.[a-z]+)+)(?::\d+)?(?:/|\Z)|\{\{.{0,99}\}\}|\$\{.{0,99}\}|<[%?].{0,99}>|%[A-Z_]{4,30}%",
    re.IGNORECASE,
)


def check(subject: Subject, found: Findings) -> None:
    """Find what happened to *subject* as it was published."""
    _check_line_breaks(subject, found)
    if not subject.body.isascii():
        _check_characters(subject, found)
    _check_open_comments(subject, found)
    for record in subject.records:
        if record.kind in _READ:
            _check_value(record, subject, found)


def _as_read(subject: Subject, number: int) -> Prose:
    """What crawlers make of line *number*."""
    record = subject.record(number)
    if record is None or record.kind is Kind.UNKNOWN:
        return Prose("crawlers ignore the line")
    if record.kind is Kind.USER_AGENT:
        name = as_text(token_in(record.value, wide=True))[:40]
        read = "*" if is_global(record.value) else name
        return Prose(f"crawlers read “User-agent: {read}” and ignore the rest" if read else "it names no crawler")
    if record.kind in RULES:
        return Prose(f"crawlers read one rule for the path “{record.text[:60]}”")
    return Prose(f"crawlers read it as the URL “{record.text[:60]}”")


def _kind(line: bytes) -> Kind:
    return kind_of(split_line(line)[0])


def _check_line_breaks(subject: Subject, found: Findings) -> None:
    """Find lines that are several records."""
    numbers = [record.line for record in subject.records if record.kind is Kind.UNKNOWN or b":" in record.value]
    if _ENTITY in subject.body:  # whose # starts a comment
        numbers += [record.line for record in subject.records if _ENTITY in subject.raw(record)]
    if not subject.groups:  # of a file without groups all may stand in one comment
        numbers += [number for number, text in subject.unread if b":" in text]
    for number in sorted({*numbers}):
        line = subject.lines[number - 1][:MAX_LINE]
        parts, code = _parts(line)
        if code:
            first = _kind(parts[0])
            is_clear = first is not Kind.ALLOW if code == "files-joined" else first is not Kind.UNKNOWN
            is_whole = b"\0" not in line and (parts[0][:1] == b"#" or is_clear)
            write = b"\n".join(parts) if is_whole else None
            found.add(code, number, 1, len(parts), _as_read(subject, number), write=write)


def _parts(line: bytes) -> tuple[list[bytes], str]:
    """The lines that *line* was, and the code for it; empty where it is one."""
    parts = [part.strip() for part in _BREAK.split(line)]
    if len(parts) > 1 and sum(_kind(part) is not Kind.UNKNOWN for part in parts) > 1:
        return [part for part in parts if part], "line-breaks-lost"
    text = line.partition(b"#")[0]
    starts = [match.start() for match in _RECORD.finditer(text) if _is_start(match, text)]
    if len(starts) < 2 or text[: starts[0]].strip():
        return [], ""
    parts = [text[start:end].rstrip(_BETWEEN) for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    kinds = [_kind(part) for part in parts]
    if len(parts) >= _MANY:
        return parts, "line-breaks-lost"
    if kinds[0] is kinds[1] and not split_line(parts[0])[1]:
        return [parts[0] + b" " + split_line(parts[1])[1]], "key-twice"
    if kinds[1] is Kind.USER_AGENT:
        return parts, "files-joined"
    if kinds[0] is Kind.USER_AGENT:
        return parts, "rule-on-agent-line"
    return parts, "several-records"


def _is_start(match: re.Match[bytes], text: bytes) -> bool:
    """Whether a record begins at *match*: where a path goes on without a space, only one with a value does."""
    before = text[: match.start()][-1:]
    return before in _BETWEEN or _VALUE.get(_kind(match[0]), _PATH).match(text, match.end()) is not None


def _check_characters(subject: Subject, found: Findings) -> None:
    """Find characters that nobody sees, or that look like others, and text that was encoded twice."""
    twice: list[tuple[int, bytes]] = []
    for number, line in enumerate(subject.lines, start=1):
        octets, mark, comment = line.partition(b"#")
        try:
            text = "" if octets.isascii() or b"\0" in octets else octets.decode()
        except UnicodeDecodeError:
            continue
        rest = mark + comment
        if number == 1 and octets.startswith(_MARK_TWICE):
            first = octets.removeprefix(_MARK_TWICE)
            if _kind(first) in _READ:  # a comment loses nothing
                found.add("encoded-twice", 1, 1, " was", _as_read(subject, 1), write=first + rest)
        elif _TWICE.search(octets):
            once = _once(text)
            if once and (_kind(octets) in _READ or _clean(once.decode())):
                twice.append((number, once + rest))
        elif text:
            _check_text(number, text, rest, subject, found)
    if twice:
        number, write = twice[0]
        more = Prose(f" and {len(twice) - 1:,} more like it were" if twice[1:] else " was")
        is_word = all(each.isalpha() or each.isascii() for each in write.decode())
        alone = write if is_word and not twice[1:] else None
        found.add("encoded-twice", number, 1, more, _as_read(subject, number), write=alone)


def _check_text(number: int, text: str, rest: bytes, subject: Subject, found: Findings) -> None:
    """Check the *text* of line *number*, before the comment that is its *rest*."""
    if invisible := _INVISIBLE.search(_JOINERS.sub("", text)):
        clean = _clean(text)
        if clean and not (_kind(clean) in RULES and b"://" in clean):  # which is no path in any case
            first = invisible[0]
            name = unicodedata.name(first, "a control character").lower()
            facts = f"U+{ord(first):04X}, {name}", _as_read(subject, number)
            write = None if b" " in split_line(clean)[1] else clean + rest
            found.add("invisible-character", number, text.index(first) + 1, *facts, write=write)
    elif _kind(text.encode()) is Kind.UNKNOWN:
        key, colon, value = unicodedata.normalize("NFKC", text).translate(_DASHES).partition(":")
        if colon and kind_of(key.strip().lower().encode()) is not Kind.UNKNOWN:
            found.add("lookalike-character", number, 1, key.strip(), write=(key + colon + value).encode() + rest)


def _clean(text: str) -> bytes:
    """The record *text* without its invisible characters, and with usual spaces; empty where it is none."""
    clean = _INVISIBLE.sub("", _SPACE.sub(" ", text)).strip().encode()
    return clean if _kind(clean) in _READ else b""


def _once(text: str) -> bytes:
    """*text* with one encoding less; empty where that is no text."""
    for codec in ("cp1252", "latin-1"):
        with suppress(UnicodeError):
            octets = text.encode(codec)
            octets.decode()
            return octets
    return b""


def _check_open_comments(subject: Subject, found: Findings) -> None:
    """Find rules between the marks of a comment of another language, which crawlers obey."""
    for number, text in subject.unread:
        end = next((end for start, end in _ENDS.items() if text.startswith(start) and end not in text), None)
        if end:
            last = next((at for at, line in enumerate(subject.lines[number:], number + 1) if end in line), number)
            if inside := sum(1 for record in subject.rules if number < record.line < last):
                rules = number_of(inside, "rule", "rules")
                found.add("foreign-comment", number, 1, Prose(f"crawlers obey the {rules} in it"))
            return  # the first one: a hostile file has a hundred thousand


def _check_value(record: Record, subject: Subject, found: Findings) -> None:
    """Check the value of *record*."""
    value, number, column = record.value, record.line, subject.value_column(record)
    if record.kind is Kind.SITEMAP:
        urls = _BETWEEN_URLS.split(value)
        if len(urls) > 1:
            lines = b"\n".join(record.key + b": " + url for url in urls)
            found.add("several-sitemaps", number, column, len(urls), write=lines)
        elif _PLACEHOLDER.search(value) and not (subject.host and subject.host.encode() in value):
            found.add("placeholder-sitemap", number, column, value)
    if len(value) > 1 and (quoted := _unquoted(value)):
        is_name = record.kind is not Kind.USER_AGENT or not re.search(rb"[^\w*/.-]", quoted)
        write = subject.with_value(record, quoted) if is_name else None
        found.add("quoted-value", number, column, _as_read(subject, number), write=write)
    elif record.kind in RULES:
        _check_path(record, number, column, subject, found)
    elif _HTML.search(value):
        _check_html(record, number, column, subject, found)


def _unquoted(value: bytes) -> bytes:
    """*value* without the quotes around it; empty where there are none."""
    text = value.decode("utf-8", "replace")
    is_quoted = text[0] in _QUOTES and text[-1] in _QUOTES
    return text[1:-1].strip(" ").encode() if is_quoted and not set(_QUOTES) & set(text[1:-1]) else b""


def _check_path(record: Record, number: int, column: int, subject: Subject, found: Findings) -> None:
    path = record.value
    foreign = _FOREIGN.search(path)
    if foreign and path.endswith(_ENDS.get(foreign[1], b"")):
        comment = path[foreign.end() :].removesuffix(_ENDS.get(foreign[1], b""))
        rule = subject.with_value(record, path[: foreign.start()])
        write = rule and b"# " + comment.strip() + b"\n" + rule
        column += characters(path[: foreign.start()]) + 1
        found.add("foreign-comment", number, column, _as_read(subject, number), write=write)
    elif _BACKSLASHES.fullmatch(path):
        write = subject.with_value(record, path.replace(b"\\", b"/"))
        found.add("backslash-in-path", number, column, _as_read(subject, number), write=write)
    elif _HTML.search(path):
        _check_html(record, number, column, subject, found)


def _check_html(record: Record, number: int, column: int, subject: Subject, found: Findings) -> None:
    """Find entities and tags, unless the file has the same value without them: then both are meant."""
    value = html.unescape(_HTML_TAG.sub("", record.text)).strip().encode("utf-8", "surrogateescape")
    if value not in subject.values:
        write = subject.with_value(record, value) if re.fullmatch(rb"[!-~]+", value) else None
        found.add("html-in-line", number, column, _as_read(subject, number), write=write)
