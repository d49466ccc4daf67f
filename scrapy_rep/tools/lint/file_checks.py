"""Checks of the file as a whole: its size, its encoding, its line ends, and where it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from scrapy_rep.protocol.records import MAX_LINE

from .finding import Code, Findings, Severity
from .subject import Subject, characters

CODES: Final[dict[str, Code]] = {
    "empty-file": Code(
        Severity.NOTE,
        "Empty file",
        "The file is empty, so every crawler may request everything.",
        "Say so explicitly: “User-agent: *” followed by “Disallow:”.",
    ),
    "html": Code(
        Severity.ERROR,
        "HTML instead of text",
        "This is an HTML page, not a robots.txt: crawlers find {0} in it.",
        "Serve plain text at /robots.txt, or status 404 if there are no rules.",
    ),
    "binary-file": Code(
        Severity.ERROR,
        "Binary file",
        "This is {0}, not a text: crawlers find no rules in it.",
        "Serve plain text at /robots.txt, or status 404 if there are no rules.",
    ),
    "file-too-long": Code(
        Severity.ERROR,
        "File over the limit",
        "The file has {0} octets; everything after the first {1} is ignored.",
        "Replace rules for single files with folders or wildcards, and remove rules that change nothing.",
    ),
    "line-too-long": Code(
        Severity.ERROR,
        "Line over the limit",
        "The line has {0} octets; everything after the first {1} is ignored.",
        "Split it into several shorter lines.",
    ),
    "utf-16": Code(
        Severity.ERROR,
        "UTF-16",
        "The file looks like UTF-16, which crawlers cannot read.",
        "Save it as UTF-8.",
    ),
    "not-utf-8": Code(
        Severity.WARNING,
        "Not UTF-8",
        "This octet is not valid UTF-8.",
        "Save the file as UTF-8, or percent-encode the octet in paths as %XX.",
    ),
    "nul": Code(
        Severity.ERROR,
        "NUL character",
        "A NUL ends the line: the rest of the line is ignored.",
        "Remove it, and find out which program wrote it.",
    ),
    "byte-order-mark": Code(
        Severity.NOTE,
        "Byte order mark",
        "The file starts with a byte order mark, which makes some crawlers miss the first line.",
        "Save it as UTF-8 without the mark.",
    ),
    "cr-line-ends": Code(
        Severity.WARNING,
        "CR line ends",
        "The lines end with CR alone, so some crawlers see a single line.",
        "End lines with LF.",
    ),
    "crlf-line-ends": Code(
        Severity.NOTE,
        "CRLF line ends",
        "The lines end with CRLF, which works but costs one octet per line.",
        "End lines with LF.",
    ),
    "mixed-line-ends": Code(
        Severity.NOTE,
        "Mixed line ends",
        "Lines end in different ways: {0} with LF, {1} with CRLF, {2} with CR.",
        "End all lines with LF.",
    ),
    "below-root": Code(
        Severity.ERROR,
        "Not at the root",
        "Crawlers do not request {0}: the robots.txt of a host is at its root.",
        "Move the rules to {1}.",
    ),
    "redirected": Code(
        Severity.WARNING,
        "Redirected",
        "The file is at {0}: some crawlers follow at most five redirects, or none to another host.",
        "Serve the file at this URL, with status 200.",
    ),
    "missing-file": Code(
        Severity.NOTE,
        "No robots.txt",
        "The server responds with status {0}: there is no robots.txt, so every crawler may request everything.",
        "Nothing needs to be done unless something should not be crawled.",
    ),
    "unreachable": Code(
        Severity.ERROR,
        "Unreachable",
        "The server responds with status {0}, which forbids crawlers everything for now.",
        "Serve the file with status 200, or status 404 if there are no rules.",
    ),
    "error-page": Code(
        Severity.ERROR,
        "Error page",
        "The server responds with status {0}, so crawlers ignore any rules in the page.",
        "Serve the file with status 200.",
    ),
}

_MISSING: Final = frozenset({404, 410})
_TOO_MANY_REQUESTS: Final = 429
_SERVER_ERROR: Final = 500  # and above


def check(subject: Subject, found: Findings) -> None:
    """Check *subject* as a whole."""
    _check_source(subject, found)
    if subject.is_error_page:
        return
    if subject.limit is not None and len(subject.octets) > subject.limit:
        found.add("file-too-long", 0, 0, len(subject.octets), subject.limit)
    if not subject.body.strip():
        found.add("empty-file")
    elif subject.is_html:
        found.add("html", 1, 1, "only what lies between its tags" if subject.groups else "no rules")
    elif subject.binary_kind:
        found.add("binary-file", 1, 1, subject.binary_kind)
    elif subject.is_utf_16:
        found.add("utf-16")
    else:
        _check_encoding(subject, found)
        _check_line_ends(subject.body, found)
        _check_lengths(subject, found)


def _check_source(subject: Subject, found: Findings) -> None:
    path, root = _path_and_root(subject.url)
    if path and path != "/robots.txt":
        found.add("below-root", 0, 0, path, root)
    if subject.hops and not _is_upgrade(subject.url, subject.hops):
        found.add("redirected", 0, 0, subject.hops[-1])
    if subject.is_error_page and subject.status is not None:
        found.add(_status_code(subject.status), 0, 0, str(subject.status))


def _status_code(status: int) -> str:
    """The code for a *status* that is no success (RFC 9309 sections 2.3.1.3 and 2.3.1.4)."""
    if status in _MISSING:
        return "missing-file"
    return "unreachable" if status == _TOO_MANY_REQUESTS or status >= _SERVER_ERROR else "error-page"


def _path_and_root(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", ""
    return parts.path, f"{parts.scheme}://{parts.netloc}/robots.txt"


def _is_upgrade(url: str, hops: Sequence[str]) -> bool:
    """Whether *hops* only change http to https."""
    return list(hops) == [url.replace("http://", "https://", 1)]


def _check_encoding(subject: Subject, found: Findings) -> None:
    if subject.bom_length == 3:
        found.add("byte-order-mark", 1, 1)
    text = subject.body[subject.bom_length :]
    nul = text.find(0)
    if nul >= 0:
        found.add("nul", *_position(text, nul))
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        found.add("not-utf-8", *_position(text, error.start))


def _position(text: bytes, at: int) -> tuple[int, int]:
    """The line and the column of the octet at index *at*."""
    lines = (text[:at] + b".").splitlines()
    return len(lines), characters(lines[-1])


def _check_line_ends(body: bytes, found: Findings) -> None:
    crlf = body.count(b"\r\n")
    cr, lf = body.count(b"\r") - crlf, body.count(b"\n") - crlf
    if bool(lf) + bool(crlf) + bool(cr) > 1:
        found.add("mixed-line-ends", 0, 0, lf, crlf, cr)
    elif cr:
        found.add("cr-line-ends")
    elif crlf:
        found.add("crlf-line-ends")


def _check_lengths(subject: Subject, found: Findings) -> None:
    for number, line in enumerate(subject.lines, start=1):
        if len(line) > MAX_LINE:
            found.add("line-too-long", number, 1, len(line), MAX_LINE)
