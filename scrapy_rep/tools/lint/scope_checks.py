"""Checks of how far rules reach: a site closed to all, and more, or less, forbidden than was probably meant.

What is said about a path is the verdict of the engine on it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from scrapy_rep.protocol import Kind, Record, Rule
from scrapy_rep.protocol.path_pattern import Pattern, is_plain
from scrapy_rep.protocol.product_token import is_global, token_in
from scrapy_rep.tools.crawlers import crawler_of

from .finding import Code, Findings, Severity
from .subject import UNNAMED, Subject, closing, is_for_all

CODES: Final[dict[str, Code]] = {
    "site-closed": Code(
        Severity.WARNING,
        "Site closed to all crawlers",
        "{0} forbids every crawler the whole site, search engines included.",
        "Remove the line when the site is ready to be found.",
    ),
    "closed-except": Code(
        Severity.NOTE,
        "Site closed except to named crawlers",
        "{0} closes the site, but not to {1}{2}: a crawler that a group names follows that group alone.",
        "Check that all crawlers that should come are named.",
    ),
    "blocked-css-js": Code(
        Severity.WARNING,
        "Style sheets or scripts closed to Google",
        "Google may not fetch files such as {0}, and so does not see pages as visitors do.",
        "Remove or narrow the line; a longer rule such as “Allow: {1}” opens a part.",
    ),
    "blocked-images": Code(
        Severity.NOTE,
        "Images closed to Google",
        "Google may not fetch images such as {0}, so it cannot list them.",
        "If they should be found, remove the line; a longer rule such as “Allow: {1}” opens a part.",
    ),
    "blocked-queries": Code(
        Severity.NOTE,
        "All URLs with a query closed",
        "{0} forbids every URL with a ?, such as links with a tracking parameter (?utm_source=…).",
        "Name the parameters that should not be crawled, such as “Disallow: /*?sort=”.",
    ),
    "prefix-trap": Code(
        Severity.NOTE,
        "Rule that reaches further than its folder",
        "{0} also forbids {1} of line {2}, and whatever else begins with it.",
        "Write {0}/ for the folder alone or {0}$ for the page alone, unless all of that is meant.",
    ),
    "closable-pattern": Code(
        Severity.NOTE,
        "Pattern closed one by one",
        "{0} rules close single URLs with {1}, and other such URLs stay open.",
        "Write “Disallow: {2}” if all of them should be closed.",
    ),
}

_MOST_ASKED: Final = 200  # rules of a file that the engine is asked about


def check(subject: Subject, found: Findings) -> None:
    """Check how far the rules of *subject* reach."""
    _check_closed(subject, found)
    _check_assets(subject, found)
    _check_queries(subject, found)
    _check_prefixes(subject, found)
    _check_single(subject, found)


def _check_closed(subject: Subject, found: Findings) -> None:
    """Find a rule that closes the site to all crawlers, or to those that no group names."""
    rule = subject.closing_rule
    if not rule:
        return
    excepted = [
        agent
        for group in subject.groups
        for agent in group.agents
        if not is_global(agent.value) and _token(agent) and not closing(group.rules)
    ]
    if not excepted:
        found.add("site-closed", rule.line, 1, str(rule))
        return
    names = {_token(agent) for agent in excepted}
    first = next((agent for agent in excepted if crawler_of(agent.text)), excepted[0])
    more = f" at line {first.line}" + (f" and {len(names) - 1:,} more" if len(names) > 1 else "")
    found.add("closed-except", rule.line, 1, str(rule), first.value, more)


def _token(agent: Record) -> bytes:
    return token_in(agent.value, wide=True).lower()


class _Asset(NamedTuple):
    """What pages need: the code, the paths that may close it, and names of such files."""

    code: str
    paths: bytes
    files: tuple[bytes, ...]


_END: Final = rb"/?\*?\$?\Z"
_CSS_JS: Final = _Asset(
    "blocked-css-js",
    rb"\*[^*/]*\.(?:css|js)\*?\$?\Z"
    rb"|[/*](?:css|js|javascripts?|stylesheets?|wp-includes|wp-content(?:/(?:themes|plugins))?)" + _END,
    (b"a.css", b"a.js"),
)
_IMAGES: Final = _Asset(
    "blocked-images",
    rb"\*[^*/]*\.(?:jpe?g|png|gif|webp|svg)\*?\$?\Z"
    rb"|[/*](?:images?|imgs?|wp-content/uploads)" + _END,
    (b"a.jpg", b"a.png"),
)
_OF_SYSTEMS: Final = (
    (b"/CHANGELOG.txt", rb"/(?:misc|modules|themes)/\Z"),  # Drupal
    (b"/administrator/", rb"/(?:templates|media|modules|components|plugins)/\Z"),  # Joomla
    (b"/skin/", rb"/(?:skin|js)/\Z"),  # Magento
)
"""Folders with style sheets and scripts, by a path that only files of the same system have."""

_SCRIPTS: Final = re.compile(rb"/(?:js|javascripts?)\b[/*]*\Z", re.IGNORECASE)
_GOOGLE: Final = "Googlebot"
_GOOGLE_IMAGES: Final = b"googlebot-image"


def _check_assets(subject: Subject, found: Findings) -> None:
    has_own = any(_token(agent) == _GOOGLE_IMAGES for group in subject.groups for agent in group.agents)
    systems = [folders for sign, folders in _OF_SYSTEMS if sign in subject.body]
    for asset, token, folders in (
        (_CSS_JS, _GOOGLE, systems),
        (_IMAGES, _GOOGLE_IMAGES.decode() if has_own else _GOOGLE, []),
    ):
        may_close = re.compile(
            b"|".join((asset.paths, *folders)), re.IGNORECASE
        ).search  # re keeps what it compiled
        rules = (rule for group in subject.groups for rule in group.rules if may_close(rule.value))
        for rule in islice(rules, _MOST_ASKED):
            path = b"" if rule.allow else _closed_file(rule, asset, token, subject)
            if path:
                found.add(asset.code, rule.line, 1, path, _longer_rule(rule.value, asset))


def _closed_file(rule: Rule, asset: _Asset, token: str, subject: Subject) -> bytes:
    """A file of the kind of *asset* that *rule* forbids to the crawler called *token*, or nothing."""
    for path in _files(rule, asset, subject):
        verdict = subject.verdict(token, path)
        if not verdict.allowed and verdict.line == rule.line:
            return path
    return b""


def _files(rule: Rule, asset: _Asset, subject: Subject) -> Iterator[bytes]:
    pieces = Pattern.of(rule.value, canonical_octets=subject.dialect.canonical_octets).pieces
    path = b"/" + b"".join(_filled(pieces)).lstrip(b"/")
    if _names_files(rule.value):
        yield path
    else:
        yield from (path.rstrip(b"/") + b"/" + file for file in _in_order(rule.value, asset))


def _filled(pieces: tuple[bytes, ...]) -> Iterator[bytes]:
    """*pieces* of a pattern, with something for a wildcard where nothing would look odd."""
    for at, piece in enumerate(pieces):
        yield b"a" + piece if at and piece and not piece[:1].isalnum() else piece


def _names_files(value: bytes) -> bool:
    return b"." in value.rpartition(b"/")[2]


def _longer_rule(value: bytes, asset: _Asset) -> bytes:
    """A longer path for files of the kind of *asset* among those that *value* forbids."""
    if _names_files(value):
        return b"/" + value.rstrip(b"$").replace(b"*", b"public/*", 1).removeprefix(b"/")
    return value.rstrip(b"*$/") + b"/*" + _in_order(value, asset)[0].removeprefix(b"a")


def _in_order(value: bytes, asset: _Asset) -> list[bytes]:
    """The files of *asset*, the most likely one in the folder *value* first."""
    is_of_scripts = _SCRIPTS.search(value) is not None
    return sorted(asset.files, key=lambda file: file.endswith(b".js") is not is_of_scripts)


def _check_queries(subject: Subject, found: Findings) -> None:
    for rule in (rule for group in subject.groups if is_for_all(group) for rule in group.rules):
        if not rule.allow and rule.value.rstrip(b"*") in {b"/*?", b"*?"}:
            verdict = subject.verdict(UNNAMED, "/a?b=c")
            if not verdict.allowed and verdict.line == rule.line:
                found.add("blocked-queries", rule.line, 1, str(rule))


def _check_prefixes(subject: Subject, found: Findings) -> None:
    """Find rules for what may be a folder that also forbid another path which the file has."""
    rules = [rule for group in subject.groups for rule in group.rules if not rule.allow]
    short = [rule for rule in rules if _FOLDER_OR_PAGE.fullmatch(rule.value)]
    lines = {path: record.line for record, path in _sitemaps(subject)} if short else {}
    lines |= {rule.value: rule.line for rule in reversed(rules)}
    paths = sorted(lines)
    for rule in short:
        longer = _longer(rule.value, paths)
        if longer and is_plain(longer):
            found.add("prefix-trap", rule.line, 1, rule.value, longer, str(lines[longer]))


_FOLDER_OR_PAGE: Final = re.compile(rb"(?:/[\w~+-]*)*/[\w-]+")
_NEXT: Final = (b"-", b"0", b"A", b"_", b"a")  # the first of the runs of octets that continue a name
_CONTINUES: Final = re.compile(rb"[\w-]")


def _sitemaps(subject: Subject) -> Iterator[tuple[Record, bytes]]:
    """The sitemaps on the host of *subject*, or on any where that is not known, with their paths."""
    try:
        host = urlsplit(subject.url).netloc.lower()
        for record in subject.records:
            if record.kind is Kind.SITEMAP:
                url = urlsplit(record.text)
                if url.path and (not host or url.netloc.lower() == host):
                    yield record, url.path.encode("utf-8", "surrogateescape")
    except ValueError:
        return


def _longer(path: bytes, paths: list[bytes]) -> bytes:
    """The first of the sorted *paths* that begins with *path* and continues its last name."""
    for octet in _NEXT:
        at = bisect_left(paths, path + octet)
        if at < len(paths) and paths[at].startswith(path) and _CONTINUES.match(paths[at], len(path)):
            return paths[at]
    return b""


_SINGLE: Final = re.compile(
    rb"[^*?]*\?(?:[^*]*(?=&))?(&?)"
    rb"((?:php|j|asp)?sess(?:ion)?_?id|sid|sort(?:_?by)?|order(?:_?by)?|print(?:able)?|replytocom)=[^*]*"
    rb"|[^*?]+/(print(?:able|er)?)/?",
    re.IGNORECASE,
)
_MANY: Final = 3  # rules for single URLs that show a pattern


def _check_single(subject: Subject, found: Findings) -> None:
    """Find patterns of URLs that a file closes one by one: sessions, orders of a list, views for printing."""
    singles: dict[tuple[str, str], list[Rule]] = {}
    for rule in (rule for group in subject.groups if is_for_all(group) for rule in group.rules):
        single = None if rule.allow else _SINGLE.fullmatch(rule.value)
        if single:
            separator, parameter, folder = ((each or b"").decode() for each in single.groups())
            pattern = f"/*{separator or '?'}{parameter}=" if parameter else f"/*/{folder}/"
            singles.setdefault((pattern, parameter or folder), []).append(rule)
    for (pattern, name), rules in singles.items():
        example = pattern.replace("*", "any-other?a" if "&" in pattern else "any-other") + "1"
        if len({rule.value for rule in rules}) >= _MANY and subject.verdict(UNNAMED, example).allowed:
            found.add("closable-pattern", rules[0].line, 1, len(rules), name, pattern)
