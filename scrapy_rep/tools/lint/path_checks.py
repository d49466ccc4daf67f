"""Checks of the path of each rule: what it can match, and how much more, or less, it forbids than was meant.

What is said about a path is the verdict of the engine on it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from scrapy_rep.protocol import Group, Kind, Record, Rule
from scrapy_rep.protocol.path_pattern import is_plain
from scrapy_rep.protocol.product_token import token_in
from scrapy_rep.protocol.records import as_text
from scrapy_rep.tools.crawlers import crawler_of
from scrapy_rep.tools.profiles import reading

from .finding import Findings, Prose
from .rule_proofs import RuleProofs
from .subject import UNNAMED, Subject, characters, closing

_MANY_FILES: Final = 20
_BETWEEN: Final = re.compile(rb"(?<![\s,;])[\s,;]+(?=/)")
_URL: Final = re.compile(rb"/?[a-z][a-z0-9+.-]*://([^/]*)(/.*)?", re.IGNORECASE)
_HOST: Final = re.compile(rb"(?:[a-z0-9-]+\.){2,}[a-z]{2,}|[a-z0-9-]+\.(?:com|org|net|[a-z]{2})", re.IGNORECASE)
_MEANT: Final = re.compile(rb"[\w.?&=*$%/~+-]+")  # a path that lacks its slash, and nothing else
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
_PRIVATE_WORD: Final = re.compile(
    rb"private|secret|passw|credential|confidential|intranet|phpmyadmin|backup|dump|admin|id_rsa"
    rb"|\.(?:git|svn|env|htpasswd|sql|bak|old|pem|key)"
)
"""One of these is in every private path."""
_WELL_KNOWN: Final = re.compile(
    rb"/(?:\*/)?(?:index\.php/|\?q=)?admin(?:istrator)?(?:\.\w+)?/?[*$]?", re.IGNORECASE
)
_UNUSUAL: Final = re.compile(rb"[\s%$]|[,;]\s*/")
_SPACE: Final = re.compile(rb"\s")
_ANCHOR_INSIDE: Final = re.compile(rb"(?<!/)\$(?!\Z)")  # not /$FILE/, where it is part of a name
_READABLE: Final = re.compile(rb"(?:[^\s{}<>\"'`!()]|(?<=\w) (?=\w))*")  # spaces between words alone
_TEMPLATE: Final = re.compile(rb"%{1,2}[\w:]{3,}%")
_STRAY_PERCENT: Final = re.compile(rb"%(?![0-9a-f]{2})", re.IGNORECASE)
_PAGE: Final = re.compile(
    rb"[\w-]+\.(?:aspx?|php\d?|s?html?|jspx?|cgi|cfm|pl|do|js|xml|txt|pdf)\b.*", re.IGNORECASE
)
_EXTENSION: Final = re.compile(rb"\.(?!(?:git|svn|hg|env)\b)[a-z0-9]{1,5}\$?", re.IGNORECASE)
_IN_QUERY: Final = (b"?", b"&", b"=", b";")
_ROBOTS_TXT: Final = b"/robots.txt$"
_NEEDLESS: Final = re.compile(rb"\*{2,}|\*\$?\Z")


def check(subject: Subject, found: Findings) -> None:
    """Check the paths of the rules of *subject*."""
    proofs = RuleProofs(subject)
    agents = {record.value.lower() for record in subject.by_kind[Kind.USER_AGENT]} - {b"*", b""}
    may_be_private = _PRIVATE_WORD.search(subject.rule_text)
    for record in subject.rules:
        path = record.value
        if not path:
            if record.kind is Kind.ALLOW:
                found.add("empty-allow", record.line, subject.column(record))
        elif not path.startswith(b"/") or path.find(b",") >= 0 or not is_plain(path) or path[1:].lower() in agents:
            _check_path(record, agents, proofs, subject, found)
        if may_be_private and record.kind is Kind.DISALLOW and _is_private(path):
            found.add("private-path", record.line, subject.value_column(record), path)
    for group in subject.groups:
        _check_files(group, found)
    _check_closed(subject, found)
    _check_assets(subject, found)
    _check_queries(subject, found)
    _check_prefixes(subject, found)
    _check_single(subject, found)


def _check_path(record: Record, agents: set[bytes], proofs: RuleProofs, subject: Subject, found: Findings) -> None:
    """Check a path that is more than a plain one, or the name of a crawler."""
    path, place = record.value, (record.line, subject.value_column(record))
    if _is_name(path, agents):
        found.add("agent-as-path", *place, path.strip(b"/*"))
    elif never := _never(path, subject):
        why, question, right = never
        write = right and subject.with_value(record, right)
        found.add("rule-never-matches", *place, path, why, question, write=write)
    elif path[:1] not in b"/*":
        right = _rooted(path)
        found.add("path-without-slash", *place, path, write=right and subject.with_value(record, right))
    elif _UNUSUAL.search(path):
        _check_octets(record, *place, subject, found)
    needless = _NEEDLESS.search(path)
    shorter = proofs.without_needless_star(record) if needless and path[:1] in b"/*" else b""
    if needless and shorter:
        column = place[1] + characters(path[: needless.start()])
        found.add("needless-star", place[0], column, path, write=subject.with_value(record, shorter))


def _check_octets(record: Record, line: int, column: int, subject: Subject, found: Findings) -> None:
    """Find octets in the path of *record* that mean something else, or that no URL has."""
    path = record.value
    paths = _BETWEEN.split(path)
    space, percent, dollar = _SPACE.search(path), _STRAY_PERCENT.search(path), _ANCHOR_INSIDE.search(path)
    if len(paths) > 1 and not any(each == b"/" or _SPACE.search(each) for each in paths):
        lines = b"\n".join(record.key + b": " + each for each in paths)
        found.add("several-paths", line, column, path, write=lines)
        return
    if space:
        right = _SPACE.sub(lambda space: b"%%%02X" % ord(space[0]), path)
        column_of_space = column + characters(path[: space.start()])
        write = subject.with_value(record, right) if _READABLE.fullmatch(path) else None
        found.add("space-in-path", line, column_of_space, path, write=write)
    if percent:
        column_of_percent = column + characters(path[: percent.start()])
        found.add("bad-escape", line, column_of_percent, _about_percent(path, percent.end()))
    if dollar:
        shorter = path.rstrip(b",;")
        write = subject.with_value(record, shorter) if shorter.endswith(b"$") else None
        found.add("dollar-inside", line, column + characters(path[: dollar.start()]), write=write)


def _about_percent(path: bytes, end: int) -> Prose:
    """What to do about a stray percent sign that ends at *end* in *path*."""
    if _TEMPLATE.match(path, end - 1):
        return Prose("If it is a placeholder, fill it in or remove the line.")
    if not path[end:].strip(b"*"):
        return Prose("Keep it if you mean any escape, as Google reads it; write %25 for a percent sign.")
    return Prose("Write %20 for a space or %25 for a percent sign, or remove the line.")


def _rooted(path: bytes) -> bytes | None:
    """What was meant by *path*, which has no slash at its start; None where that is not clear."""
    if (
        not _MEANT.fullmatch(path)
        or path.startswith(b"./")
        or (_HOST.fullmatch(path.partition(b"/")[0]) and not _PAGE.fullmatch(path))
    ):
        return None
    is_part = _EXTENSION.fullmatch(path) or path.startswith(_IN_QUERY)
    return b"/*" + path if is_part else b"/" + path


def _is_private(path: bytes) -> bool:
    return _PRIVATE.search(path) is not None and not _WELL_KNOWN.fullmatch(path)


def _is_name(path: bytes, agents: set[bytes]) -> bool:
    """Whether *path* is the name of a crawler; after a slash, where it may be a folder, only one of *agents*."""
    if path[:1] != b"/":
        if path.lower() in agents or _CRAWLER.fullmatch(path):
            return True
        return len(path) >= _SHORTEST_NAME and path.isalpha() and crawler_of(path.decode()) is not None
    return path[1:].lower() in agents and bool(_CRAWLER.fullmatch(path[1:]))


def _never(path: bytes, subject: Subject) -> tuple[str, str, bytes | None] | None:
    """Why *path* never decides, what to ask, and the path that was meant if it is clear; None for any other."""
    url = _URL.fullmatch(path)
    if url and not path.startswith(b"/"):
        host, right = url[1].decode("utf-8", "replace"), url[2]
        if b"sitemap" in path.lower():
            question = Prose("If it is a sitemap, write “Sitemap: ” and its URL; otherwise write only the path.")
            return "a rule is a path, without scheme and host", question, None
        is_clear = host.lower() == subject.host and right and right.strip(b"/*") and not _SPACE.search(right)
        whose = f"If {host[:60]} is this site" if host else "If it is on this site"
        question = Prose(f"{whose}, write only the path; no robots.txt speaks for another site.")
        return "a rule is a path, without scheme and host", question, right if is_clear else None
    if path == b"$":
        return "no URL has an empty path", "If you mean the home page, write /$.", None
    if subject.dialect.robots_txt_allowed and path == _ROBOTS_TXT:
        return "/robots.txt itself is always allowed", "", b""
    return None


def _check_files(group: Group, found: Findings) -> None:
    if len(group.rules) < _MANY_FILES:
        return
    folders: dict[bytes, list[Rule]] = {}
    for rule in group.rules:
        folder, _, file = rule.value.rpartition(b"/")
        if not rule.allow and folder and b"." in file and is_plain(rule.value):
            folders.setdefault(folder + b"/", []).append(rule)
    for name, rules in folders.items():
        if len(rules) >= _MANY_FILES:
            found.add("many-single-files", rules[0].line, 1, len(rules), name)


def _check_closed(subject: Subject, found: Findings) -> None:
    """Find a rule that closes the site to all crawlers, or to those that no group names."""
    rule = subject.closing_rule
    if not rule:
        return
    open_groups = [group for group in subject.groups if not closing(group.rules)]
    excepted = [
        (token, agent)
        for group in open_groups
        for agent in group.agents
        if (token := token_in(agent.value, wide=True).lower())
    ]
    if not excepted:
        found.add("site-closed", rule.line, 1, str(rule))
        return
    count = len({token for token, _ in excepted})
    first = next((agent for _, agent in excepted if crawler_of(agent.text)), excepted[0][1])
    more = f" at line {first.line}" + (f" and {count - 1:,} more" if count > 1 else "")
    found.add("closed-except", rule.line, 1, str(rule), first.value, more)


class _Asset(NamedTuple):
    """What pages need: the code, words of which one is in each path that may close it, and names of such files."""

    code: str
    words: re.Pattern[bytes]
    paths: bytes
    files: tuple[bytes, ...]


_END: Final = rb"/?\*?\$?\Z"
_CSS_JS: Final = _Asset(
    "blocked-css-js",
    re.compile(rb"css|js|javascript|stylesheet|wp-"),
    rb"\*[^*/]*\.(?:css|js)\*?\$?\Z"
    rb"|[/*](?:css|js|javascripts?|stylesheets?|wp-includes|wp-content(?:/(?:themes|plugins))?)" + _END,
    (b"a.css", b"a.js"),
)
_IMAGES: Final = _Asset(
    "blocked-images",
    re.compile(rb"image|img|\.(?:jpe?g|png|gif|webp|svg)|wp-content"),
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

_MOST_ASKED: Final = 200  # rules of a file that the engine is asked about
_SCRIPTS: Final = re.compile(rb"/(?:js|javascripts?)\b[/*]*\Z", re.IGNORECASE)
_GOOGLE: Final = "Googlebot"
_GOOGLE_IMAGES: Final = "Googlebot-Image"


def _check_assets(subject: Subject, found: Findings) -> None:
    systems = [folders for sign, folders in _OF_SYSTEMS if sign in subject.body]
    for asset, agent, folders in ((_CSS_JS, _GOOGLE, systems), (_IMAGES, _GOOGLE_IMAGES, [])):
        if not folders and not asset.words.search(subject.rule_text):
            continue
        token = reading(subject.robotstxt, agent).token
        may_close = re.compile(b"|".join((asset.paths, *folders)), re.IGNORECASE)  # re keeps what it compiled
        rules = (rule for group in subject.groups for rule in group.rules if may_close.search(rule.value))
        for rule in islice(rules, _MOST_ASKED):
            for path in () if rule.allow else _files(rule, asset, subject):
                verdict = subject.verdict(token, path)
                if not verdict.allowed and verdict.line == rule.line:
                    found.add(asset.code, rule.line, 1, path, _narrower(rule.value, asset))
                    break


def _files(rule: Rule, asset: _Asset, subject: Subject) -> Iterator[bytes]:
    path = b"/" + b"".join(_filled(subject.pattern(rule.value).pieces)).lstrip(b"/")
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


def _narrower(value: bytes, asset: _Asset) -> Prose:
    """What opens the files of the kind of *asset* among those that the folder *value* closes."""
    if _names_files(value) or b"*" in value.rstrip(b"*"):
        return Prose()
    path = value.rstrip(b"*$/") + b"/*" + _in_order(value, asset)[0].removeprefix(b"a")
    return Prose(f"; a longer rule such as “Allow: {as_text(path)[:60]}” allows them")


def _in_order(value: bytes, asset: _Asset) -> list[bytes]:
    """The files of *asset*, the most likely one in the folder *value* first."""
    is_of_scripts = _SCRIPTS.search(value) is not None
    return sorted(asset.files, key=lambda file: file.endswith(b".js") is not is_of_scripts)


def _check_queries(subject: Subject, found: Findings) -> None:
    if b"*?" not in subject.rule_text:
        return
    for rule in (rule for group in subject.groups_for_all for rule in group.rules):
        if not rule.allow and rule.value.rstrip(b"*") in {b"/*?", b"*?"}:
            verdict = subject.verdict(UNNAMED, "/a?b=c")
            if not verdict.allowed and verdict.line == rule.line:
                found.add("blocked-queries", rule.line, 1, str(rule))


def _check_prefixes(subject: Subject, found: Findings) -> None:
    """Find rules for what may be a folder that also forbid another path which the file has."""
    rules = [rule for group in subject.groups for rule in group.rules if not rule.allow]
    lines = {path: record.line for record, path in _sitemaps(subject)} if rules else {}
    lines |= {rule.value: rule.line for rule in reversed(rules)}
    paths = sorted(lines)
    traps = {
        path: _longer(path, paths)
        for path, following in pairwise(paths)
        if following.startswith(path) and _FOLDER_OR_PAGE.fullmatch(path)
    }
    for rule in rules if traps else ():
        longer = traps.get(rule.value)
        if longer and is_plain(longer):
            found.add("prefix-trap", rule.line, 1, rule.value, longer, str(lines[longer]))


_FOLDER_OR_PAGE: Final = re.compile(rb"(?:/[\w~+-]*)*/[\w-]+")
_NEXT: Final = (b"-", b"0", b"A", b"_", b"a")  # the first of the runs of octets that continue a name
_CONTINUES: Final = re.compile(rb"[\w-]")


def _sitemaps(subject: Subject) -> Iterator[tuple[Record, bytes]]:
    """The sitemaps on the host of *subject*, or on any where that is not known, with their paths."""
    try:
        for record in subject.by_kind[Kind.SITEMAP]:
            url = urlsplit(record.text)
            if url.path and subject.host in ("", url.netloc.lower()):
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
    if b"?" not in subject.rule_text and b"/print" not in subject.rule_text:
        return
    singles: dict[tuple[str, str], list[Rule]] = {}
    for rule in (rule for group in subject.groups_for_all for rule in group.rules):
        single = None if rule.allow else _SINGLE.fullmatch(rule.value)
        if single:
            separator, parameter, folder = ((each or b"").decode() for each in single.groups())
            pattern = f"/*{separator or '?'}{parameter}=" if parameter else f"/*/{folder}/"
            singles.setdefault((pattern, parameter or folder), []).append(rule)
    for (pattern, name), rules in singles.items():
        example = pattern.replace("*", "any-other?a" if "&" in pattern else "any-other") + "1"
        if len({rule.value for rule in rules}) >= _MANY and subject.verdict(UNNAMED, example).allowed:
            found.add("closable-pattern", rules[0].line, 1, len(rules), name, pattern)
