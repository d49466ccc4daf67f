"""Checks of the path of each rule: what it can match."""

from __future__ import annotations

import re
from typing import Final

from scrapy_rep.protocol import Group, Kind, Record, Rule
from scrapy_rep.protocol.path_pattern import is_plain
from scrapy_rep.tools.crawlers import crawler_of

from .finding import Code, Findings, Severity
from .subject import RULES, Subject, characters

CODES: Final[dict[str, Code]] = {
    "path-without-slash": Code(
        Severity.ERROR,
        "Rule without a leading slash",
        "{0} matches nothing: a path must start with / or *.",
        "Write {1}.",
    ),
    "empty-allow": Code(
        Severity.WARNING,
        "Allow without a path",
        "An Allow without a path changes nothing.",
        "Write “Disallow:” to allow everything or “Disallow: /” to allow nothing, or remove the line.",
    ),
    "rule-never-matches": Code(
        Severity.ERROR,
        "Rule that never matches",
        "{0} never affects a page: {1}.",
        "{2}.",
    ),
    "several-paths": Code(
        Severity.ERROR,
        "Several paths on one line",
        "{0} is read as a single path.",
        "Write a separate line for each path.",
    ),
    "space-in-path": Code(
        Severity.WARNING,
        "Space in a path",
        "In URLs a space is %20, and Google compares {0} as it is written, so it matches nothing there.",
        "Write {1}.",
    ),
    "bad-escape": Code(
        Severity.WARNING,
        "Invalid % escape",
        "The % is followed by no two hexadecimal digits, and parsers disagree about it.",
        "Write %25 for a literal %.",
    ),
    "agent-as-path": Code(
        Severity.ERROR,
        "Crawler name as a path",
        "{0} is the name of a crawler, but here it is read as a path.",
        "Write “User-agent: {0}” followed by “Disallow: /”.",
    ),
    "dollar-inside": Code(
        Severity.WARNING,
        "$ inside a path",
        "A $ before the end of the path is a literal $, not the end of the URL.",
        "Move the $ to the end, or write %24 for a literal dollar sign.",
    ),
    "needless-star": Code(
        Severity.OPTIMISE,
        "Redundant *",
        "A * in {0} does not change what the rule matches.",
        "Write {1}, which matches the same URLs.",
    ),
    "private-path": Code(
        Severity.NOTE,
        "Private path made public",
        "{0} looks private, but anyone can read it here, and the rule does not protect it.",
        "Protect it with a password, and do not list it here.",
    ),
    "many-single-files": Code(
        Severity.OPTIMISE,
        "Many rules for single files",
        "{0} rules of this group disallow single files in {1}.",
        "Disallow the folder {1}, or a pattern, and allow the exceptions.",
    ),
}

_MANY_FILES: Final = 20
_SEVERAL: Final = re.compile(rb"[\s,];?/")
_URL: Final = re.compile(rb"/?[a-z][a-z0-9+.-]*://[^/]*(.*)", re.IGNORECASE)
_CRAWLER: Final = re.compile(rb"[a-z0-9._-]*(?:bot|spider|crawler|slurp|archiver)(?:/[0-9.]*|\*)?", re.IGNORECASE)
_SHORTEST_NAME: Final = 6  # letters of a known crawler: a shorter one, such as Java, may be meant as a path
_PRIVATE: Final = re.compile(
    rb"(?:\A|[/*])(?:_?private(?=[/*$]|\Z)"  # not /private-sale/, nor the private.php of forums
    rb"|[_.]?(?:secrets?|passwords|passwd|credentials?|confidential|intranet|phpmyadmin|backups?|dumps?)(?![\w-])"
    rb"|\.(?:git|svn|env|htpasswd)(?![\w-])|id_rsa(?![\w-])"
    rb"|(?!wp-)(?:[a-z0-9]+[_-])*admin(?:istrator)?(?![\w-]))"
    rb"|\.(?:sql|bak|old|pem|key)(?![a-z])",
    re.IGNORECASE,
)
_WELL_KNOWN: Final = re.compile(
    rb"/(?:\*/)?(?:index\.php/|\?q=)?admin(?:istrator)?(?:\.\w+)?/?[*$]?", re.IGNORECASE
)
_UNUSUAL: Final = re.compile(rb"[\s%$]|[,\]];?/")
_SPACE: Final = re.compile(rb"\s")
_STRAY_PERCENT: Final = re.compile(rb"%(?![0-9a-f]{2})", re.IGNORECASE)
_EXTENSION: Final = re.compile(rb"\.(?!(?:git|svn|hg|env)\b)[a-z0-9]{1,5}\$?", re.IGNORECASE)
_WWW: Final = re.compile(rb"\Awww\.[^/]+/", re.IGNORECASE)
_IN_QUERY: Final = (b"?", b"&", b"=", b";")
_ROBOTS_TXT: Final = b"/robots.txt$"
_NEEDLESS: Final = re.compile(rb"\*{2,}|\*\$?\Z")


def check(subject: Subject, found: Findings) -> None:
    """Check the path of each rule of *subject*."""
    agents = {record.value.lower() for record in subject.records if record.kind is Kind.USER_AGENT} - {b"*", b""}
    for record in subject.records:
        if record.kind in RULES and record.value:
            _check_path(record, agents, subject, found)
        elif record.kind is Kind.ALLOW:
            found.add("empty-allow", record.line, subject.column(record))
    for group in subject.groups:
        _check_files(group, found)


def _check_path(record: Record, agents: set[bytes], subject: Subject, found: Findings) -> None:
    path, line = record.value, record.line
    if _is_name(path, agents):
        found.add("agent-as-path", line, subject.value_column(record), path.strip(b"/*"))
    elif never := _never(path, subject):
        found.add("rule-never-matches", line, subject.value_column(record), path, *never)
    elif path[:1] not in b"/*":
        found.add("path-without-slash", line, subject.value_column(record), path, _rooted(path))
    if _UNUSUAL.search(path):
        _check_octets(path, line, subject.value_column(record), found)
    needless = _NEEDLESS.search(path)
    if needless and not path.rstrip(b"*").endswith(b"$"):  # which would become an anchor
        column = subject.value_column(record) + characters(path[: needless.start()])
        found.add("needless-star", line, column, path, without_needless_stars(path))
    if record.kind is Kind.DISALLOW and _PRIVATE.search(path) and not _WELL_KNOWN.fullmatch(path):
        found.add("private-path", line, subject.value_column(record), path)


def _check_octets(path: bytes, line: int, column: int, found: Findings) -> None:
    """Find octets in *path* that mean something else, or that no URL has."""
    space, percent, dollar = _SPACE.search(path), _STRAY_PERCENT.search(path), path.find(b"$", 0, -1)
    if _SEVERAL.search(path):
        found.add("several-paths", line, column, path)
    elif space:
        found.add("space-in-path", line, column + characters(path[: space.start()]), path, _escaped(path))
    if percent:
        found.add("bad-escape", line, column + characters(path[: percent.start()]))
    if dollar >= 0:
        found.add("dollar-inside", line, column + characters(path[:dollar]))


def _escaped(path: bytes) -> bytes:
    return _SPACE.sub(lambda space: b"%%%02X" % ord(space[0]), path)


def _rooted(path: bytes) -> bytes:
    """What was probably meant by *path*, which has no slash at its start."""
    is_part = _EXTENSION.fullmatch(path) or path.startswith(_IN_QUERY)
    return b"/*" + path if is_part else b"/" + _WWW.sub(b"", path)


def _is_name(path: bytes, agents: set[bytes]) -> bool:
    """Whether *path* is the name of a crawler; after a slash, where it may be a folder, only one of *agents*."""
    if path[:1] != b"/":
        if path.lower() in agents or _CRAWLER.fullmatch(path):
            return True
        return len(path) >= _SHORTEST_NAME and path.isalpha() and crawler_of(path.decode()) is not None
    return path[1:].lower() in agents and bool(_CRAWLER.fullmatch(path[1:]))


def _never(path: bytes, subject: Subject) -> tuple[str, bytes] | None:
    """Why *path* never decides, and what to write, where a leading slash would not help."""
    url = _URL.fullmatch(path)
    if url and not path.startswith(b"/"):
        return "rules are compared with the path of a URL, without scheme and host", b"Write " + (url[1] or b"/")
    if path == b"$":
        return "no URL has an empty path", b"Write /$ for the home page"
    if subject.dialect.robots_txt_allowed and path == _ROBOTS_TXT:
        return "/robots.txt itself is always allowed", b"Remove this line"
    return None


def without_needless_stars(path: bytes) -> bytes:
    """*path* without its redundant stars."""
    path = re.sub(rb"\*{2,}", b"*", path)
    if path.endswith(b"*$"):
        path = path[:-2]
    return path.rstrip(b"*") or b"/"


def _check_files(group: Group, found: Findings) -> None:
    folders: dict[bytes, list[Rule]] = {}
    for rule in group.rules:
        folder, _, file = rule.value.rpartition(b"/")
        if not rule.allow and folder and b"." in file and is_plain(rule.value):
            folders.setdefault(folder + b"/", []).append(rule)
    for name, rules in folders.items():
        if len(rules) >= _MANY_FILES:
            found.add("many-single-files", rules[0].line, 1, len(rules), name)
