"""Findings: how serious they are, how they are collected, how they are fixed, and the table of their codes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Final, NamedTuple

from scrapy_rep.protocol.display import StringEnum, shown

MOST_OF_A_CODE: Final = 1_000
"""Findings of one code that are kept: a hostile body can have hundreds of thousands."""

_LONGEST_QUOTE: Final = 60  # characters


class Severity(StringEnum):
    """How serious a finding is, the worst first; each is a string."""

    ERROR = "error"
    """It does not do what its author meant, or no crawler reads it."""
    WARNING = "warning"
    """Crawlers disagree about it, or it is probably a mistake."""
    OPTIMISE = "optimise"
    """It could be removed without changing a verdict."""
    NOTE = "note"
    """It works, but is worth knowing."""

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return _RANKS[self]

    @property
    def noun(self) -> str:
        """What a finding of this severity is called in a sentence, in the singular."""
        return "improvement" if self is Severity.OPTIMISE else self.value


_RANKS: Final = {severity: rank for rank, severity in enumerate(Severity)}


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of finding. ``message`` and ``advice`` are format strings for the facts of a finding."""

    severity: Severity
    title: str
    message: str
    advice: str


class Consequence(NamedTuple):
    """What follows from a finding, and is gone once that is repaired: no finding of its own.

    ``line`` counts from 1; 0 is the whole file. ``message`` is a sentence or two.
    """

    code: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in a robots.txt that its author should know.

    ``line`` and ``column``, in characters, count from 1; line 0 is the whole file, column 0 the whole line.
    ``advice`` says what to do about it, and thus about its ``consequences``.
    """

    code: str
    severity: Severity
    line: int
    column: int
    message: str
    advice: str
    consequences: tuple[Consequence, ...] = ()


class Findings:
    """Collects findings, at most `MOST_OF_A_CODE` of each code."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._found: list[Finding] = []

    def add(self, code: str, line: int = 0, column: int = 0, *facts: bytes | str | int) -> None:
        """Add a finding of *code*, with *facts* for its texts."""
        self._counts[code] += 1
        if self._counts[code] > MOST_OF_A_CODE:
            return
        kind, quotes = CODES[code], [_quote(fact) for fact in facts]
        message, advice = kind.message.format(*quotes), kind.advice.format(*quotes)
        self._found.append(Finding(code, kind.severity, line, column, message, advice))

    def sorted(self) -> tuple[Finding, ...]:
        """Return all findings by line and column."""
        return tuple(sorted(self._found, key=_order))


def _order(finding: Finding) -> tuple[int, int, int, str]:
    return finding.line, finding.column, _RANKS[finding.severity], finding.code


def _quote(fact: bytes | str | int) -> str:
    """*fact* as printable text of limited length."""
    if isinstance(fact, int):
        return f"{fact:,}"
    text = fact[: 4 * _LONGEST_QUOTE].decode("utf-8", "backslashreplace") if isinstance(fact, bytes) else fact
    if len(text) > _LONGEST_QUOTE:
        text = text[: _LONGEST_QUOTE - 1] + "…"
    return shown(text)


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """``text`` replaces the octets of a body from ``start`` to before ``end``, counted from 0."""

    start: int
    end: int
    text: bytes = b""


@dataclass(frozen=True, slots=True)
class Fix:
    """The edits that settle one finding, in the order of their places. They do not overlap."""

    edits: tuple[Edit, ...]

    def applied_to(self, body: bytes) -> bytes:
        """*body* with all edits made."""
        return apply_fixes(body, [self])[0]


def apply_fixes(body: bytes, fixes: Iterable[Fix]) -> tuple[bytes, int]:
    """*body* with *fixes* made, and how many were: one that touches the place of an earlier one is left out."""
    chosen: list[Edit] = []
    made, end = 0, -1
    for fix in sorted(fixes, key=lambda each: each.edits[0]):
        if fix.edits[0].start > end:
            chosen += fix.edits
            made, end = made + 1, fix.edits[-1].end
    parts, end = [], 0
    for edit in chosen:
        parts += [body[end : edit.start], edit.text]
        end = edit.end
    return b"".join([*parts, body[end:]]), made


_error, _warning, _optimise, _note = (partial(Code, severity) for severity in Severity)

CODES: Final[dict[str, Code]] = {
    # The file
    "empty-file": _note(
        "Empty file",
        "The file is empty, so every crawler may request everything.",
        "Say so explicitly: “User-agent: *” followed by “Disallow:”.",
    ),
    "html": _error(
        "HTML instead of text",
        "This is an HTML page, not a robots.txt: crawlers find {0} in it.",
        "Serve plain text at /robots.txt, or respond with status 404 if there are no rules.",
    ),
    "binary-file": _error(
        "Binary file",
        "This is {0}, not a text file: crawlers find no rules in it.",
        "Serve plain text at /robots.txt, or respond with status 404 if there are no rules.",
    ),
    "file-too-long": _error(
        "File over the limit",
        "The file has {0} octets; everything after the first {1} is ignored.",
        "Replace rules for single files with folders or wildcards, and remove rules that change nothing.",
    ),
    "line-too-long": _error(
        "Line over the limit",
        "The line has {0} octets; everything after the first {1} is ignored.",
        "Split it into several shorter lines.",
    ),
    "utf-16": _error(
        "UTF-16",
        "The file looks like UTF-16, which crawlers cannot read.",
        "Save it as UTF-8.",
    ),
    "not-utf-8": _warning(
        "Not UTF-8",
        "This octet is not valid UTF-8.",
        "Save the file as UTF-8, or percent-encode the octet in paths as %XX.",
    ),
    "nul": _error(
        "NUL character",
        "A NUL ends the line, so the rest of it is ignored.",
        "Remove it, and find out which program writes it.",
    ),
    "byte-order-mark": _note(
        "Byte order mark",
        "The file starts with a byte order mark, which makes some crawlers miss the first line.",
        "Save it as UTF-8 without the mark.",
    ),
    "cr-line-ends": _warning(
        "CR line ends",
        "The lines end with CR alone, so some crawlers see a single line.",
        "End lines with LF.",
    ),
    "crlf-line-ends": _note(
        "CRLF line ends",
        "The lines end with CRLF, which works but costs one octet per line.",
        "End lines with LF.",
    ),
    "mixed-line-ends": _note(
        "Mixed line ends",
        "Lines end in different ways: {0} with LF, {1} with CRLF, {2} with CR.",
        "End all lines with LF.",
    ),
    "below-root": _error(
        "Not at the root",
        "Crawlers do not request {0}: the robots.txt of a host is at its root.",
        "Move the rules to {1}.",
    ),
    "redirected": _warning(
        "Redirected",
        "The file is at {0}: some crawlers follow at most five redirects, or none to another host.",
        "Serve the file at this URL, with status 200.",
    ),
    "missing-file": _note(
        "No robots.txt",
        "The server responds with status {0}: there is no robots.txt, so every crawler may request everything.",
        "You need one only if something should not be crawled.",
    ),
    "unreachable": _error(
        "Unreachable",
        "The server responds with status {0}, so crawlers request nothing from this host for now.",
        "Serve the file with status 200, or respond with status 404 if there are no rules.",
    ),
    "error-page": _error(
        "Error page",
        "The server responds with status {0}, so crawlers ignore any rules in the page.",
        "Serve the file with status 200.",
    ),
    # Lines
    "unreadable-line": _warning(
        "Unreadable line",
        "The line is not a record, so crawlers ignore it.",
        "Write “key: value”, or turn it into a comment with a leading #.",
    ),
    "unknown-record": _warning(
        "Unknown record",
        "No known crawler reads a record called {0}.",
        "Remove it, or turn it into a comment with a leading #.",
    ),
    "bare-url": _warning(
        "URL without a key",
        "The line is a URL alone, so crawlers ignore it.",
        "Write “Sitemap: ” before it if it is a sitemap; otherwise make it a comment with a leading #.",
    ),
    "misspelt-key": _warning(
        "Misspelled key that some parsers accept",
        "Some parsers, including Google's, read {0} as {1}; others ignore it.",
        "Write {1}.",
    ),
    "misspelt-key-ignored": _error(
        "Misspelled key that no parser accepts",
        "{0} is not a known key, so the line is ignored; perhaps {1} was meant.",
        "Write {1}.",
    ),
    "missing-colon": _error(
        "Missing colon",
        "There is no colon after {0}, so most parsers ignore the line.",
        "Write “{0}: ” followed by the value.",
    ),
    "indented-line": _note(
        "White space before a key",
        "RFC 9309 allows white space before the key, but some old parsers do not read such a line.",
        "Start the line with its key.",
    ),
    "odd-case-key": _note(
        "Unusual capitalisation of a key",
        "{0} works, since case does not matter, but is hard to read.",
        "Write {1}.",
    ),
    "comment-after-rule": _note(
        "Comment after a rule",
        "Some old parsers take the comment after the rule as part of the path.",
        "Move the comment to its own line.",
    ),
    "hash-in-path": _warning(
        "# inside a path",
        "A # starts a comment, so crawlers read only “{0}”.",
        "Remove what follows the #, since crawlers send no fragment; write %23 for a # in a path.",
    ),
    "commented-out-rule": _note(
        "Rule turned into a comment",
        "{0} is a comment, so it is not in force{1}.",
        "Remove the # if the rule should apply, or the line if it should not.",
    ),
    "blank-line-in-group": _note(
        "Blank line inside a group",
        "A blank line ends the group for parsers that follow the 1994 standard.",
        "Remove the blank line, or replace it with a comment.",
    ),
    # User-agent lines and groups
    "no-user-agent": _error(
        "No user-agent line",
        "Without a user-agent line the rules apply to no crawler.",
        "Start with “User-agent: *”.",
    ),
    "rule-before-user-agent": _error(
        "Rule before any user-agent line",
        "The rule comes before the first user-agent line, so it applies to no crawler.",
        "Move it below a user-agent line.",
    ),
    "empty-user-agent": _error(
        "User-agent without a value",
        "The line names no crawler.",
        "Name a crawler, or write “User-agent: *” for all.",
    ),
    "agent-names-nobody": _error(
        "User-agent that names no crawler",
        "{0} is not a product token, so it matches no crawler.",
        "Write the crawler's token, made of letters, - and _, such as ExampleBot.",
    ),
    "star-agent-with-text": _warning(
        "Text after the * of a user-agent line",
        "{0} is not a plain *, and crawlers disagree about its meaning.",
        "Write * alone, or the token of one crawler.",
    ),
    "several-agents": _error(
        "Several crawlers on one line",
        "{0} names only {1}: a user-agent line takes one token.",
        "Write a separate user-agent line for each crawler.",
    ),
    "user-agent-header": _warning(
        "User-Agent header instead of a token",
        "{0} looks like a User-Agent header; crawlers read only the token {1}.",
        "Write only the crawler's token, such as ExampleBot.",
    ),
    "agent-with-other-text": _note(
        "Text after a token",
        "Crawlers read only {1} of {0}.",
        "Write {1}.",
    ),
    "group-without-rules": _warning(
        "Group without rules",
        "No rule follows {0} before the next user-agent line or the end of the file{1}.",
        "Add the missing rules below it, or “Disallow:” to allow everything.",
    ),
    "agent-in-several-groups": _warning(
        "The same crawler in several groups",
        "{0} already has a group at line {1}; RFC 9309 merges them, but some crawlers use only one.",
        "Put all its rules in one group.",
    ),
    "no-star-group": _note(
        "No * group",
        "Crawlers that no group names may request everything.",
        "Add “User-agent: *” with the rules for all other crawlers, or with “Disallow:”.",
    ),
    "named-group-drops-star-rules": _note(
        "Named group without the rules for *",
        "{0} follows only its own group, and so ignores {1} at line {2}, which is for *.",
        "Repeat the rules for * that should apply to this group too.",
    ),
    # Known crawlers
    "misspelt-agent": _warning(
        "Misspelled name of a crawler",
        "No known crawler is called {0}; perhaps {1} was meant.",
        "Write {1}.",
    ),
    "unknown-agent": _note(
        "Unknown crawler",
        "{0} is not the name of a known crawler{1}.",
        "Check the spelling in the crawler's documentation; a name that no crawler uses does nothing.",
    ),
    "retired-agent": _note(
        "Retired crawler",
        "{0}, a crawler of {1}, was retired in {2}.",
        "{3}.",
    ),
    "agent-ignores-rules": _note(
        "Crawler that does not follow robots.txt",
        "According to its documentation, {0} ({1}) {2} robots.txt.",
        "Do not rely on these rules; block it at the server if you do not want it.",
    ),
    # Rules, one by one
    "path-without-slash": _error(
        "Rule without a leading slash",
        "{0} matches nothing: a path must start with / or *.",
        "Write {1}.",
    ),
    "empty-allow": _warning(
        "Allow without a path",
        "An Allow without a path changes nothing.",
        "Write “Disallow:” to allow everything or “Disallow: /” to allow nothing, or remove the line.",
    ),
    "rule-never-matches": _error(
        "Rule that never matches",
        "{0} never affects a page: {1}.",
        "{2}.",
    ),
    "several-paths": _error(
        "Several paths on one line",
        "{0} is read as a single path.",
        "Write a separate line for each path.",
    ),
    "space-in-path": _warning(
        "Space in a path",
        "A space in a URL is written %20; Google compares {0} as it stands, so it matches nothing.",
        "Write {1}.",
    ),
    "bad-escape": _warning(
        "Invalid % escape",
        "The % is not followed by two hexadecimal digits, and parsers disagree about it.",
        "Write %25 for a literal %.",
    ),
    "agent-as-path": _error(
        "Crawler name as a path",
        "{0} is the name of a crawler, but here it is read as a path.",
        "Write “User-agent: {0}” followed by “Disallow: /”.",
    ),
    "dollar-inside": _warning(
        "$ inside a path",
        "A $ before the end of the path is a literal $, not the end of the URL.",
        "Move the $ to the end, or write %24 for a literal dollar sign.",
    ),
    "needless-star": _optimise(
        "Redundant *",
        "A * in {0} does not change what the rule matches.",
        "Write {1}, which matches the same URLs.",
    ),
    "private-path": _note(
        "Private path made public",
        "{0} looks private, but anyone can read it here, and the rule does not protect it.",
        "Protect it with a password, and do not list it here.",
    ),
    "many-single-files": _optimise(
        "Many rules for single files",
        "{0} rules of this group disallow single files in {1}.",
        "Disallow the folder {1}, or a pattern, and allow the exceptions.",
    ),
    # Rules compared with each other
    "allow-disallow-tie": _warning(
        "Allow and Disallow of the same path",
        "Line {1} allows {0} what this line disallows; for Google the Allow wins, others use the first rule.",
        "Keep the rule that you mean.",
    ),
    "duplicate-rule": _optimise(
        "Duplicate rule",
        "Line {1} of this group is the same rule.",
        "Remove this line.",
    ),
    "useless-rule": _optimise(
        "Useless rule",
        "{0} makes no difference: {1}.",
        "Remove this line.",
    ),
    # How far rules reach
    "site-closed": _warning(
        "Site closed to all crawlers",
        "{0} closes the whole site to every crawler, search engines included.",
        "Remove the line when the site is ready to be found.",
    ),
    "closed-except": _note(
        "Site closed except to named crawlers",
        "{0} closes the site, but not to {1}{2}: a crawler that a group names follows that group alone.",
        "Check that every crawler you want is named.",
    ),
    "blocked-css-js": _warning(
        "Style sheets or scripts closed to Google",
        "Google may not fetch files such as {0}, and so does not see pages as visitors do.",
        "Remove or narrow the line; a longer rule such as “Allow: {1}” opens a part.",
    ),
    "blocked-images": _note(
        "Images closed to Google",
        "Google may not fetch images such as {0}, so it does not show them in its results.",
        "If they should be found, remove the line; a longer rule such as “Allow: {1}” opens a part.",
    ),
    "blocked-queries": _note(
        "All URLs with a query closed",
        "{0} disallows every URL with a ?, such as links with a tracking parameter (?utm_source=…).",
        "Name the parameters that should not be crawled, such as “Disallow: /*?sort=”.",
    ),
    "prefix-trap": _note(
        "Rule that reaches further than its folder",
        "{0} also disallows {1} (line {2}) and everything else that starts with {0}.",
        "Write {0}/ for the folder alone or {0}$ for the page alone, unless all of that is meant.",
    ),
    "closable-pattern": _note(
        "Pattern closed one by one",
        "{0} rules disallow single URLs with {1}, and other URLs like them stay open.",
        "Write “Disallow: {2}” if all of them should be closed.",
    ),
    # Sitemaps and extensions
    "relative-sitemap": _error(
        "Sitemap without a complete URL",
        "{0} is not a complete URL, so crawlers may ignore it.",
        "Write the complete URL, such as https://example.com/sitemap.xml.",
    ),
    "sitemap-not-http": _warning(
        "Sitemap without an HTTP URL",
        "{0} is not an HTTP or HTTPS URL, so crawlers do not fetch it.",
        "Serve the sitemap over HTTPS.",
    ),
    "no-sitemap": _note(
        "No sitemap",
        "No Sitemap line tells crawlers where to find the list of the site's pages.",
        "Add “Sitemap: ” with the complete URL of the sitemap, if there is one.",
    ),
    "bad-crawl-delay": _error(
        "Unreadable Crawl-delay",
        "{0} is not a delay: crawlers expect a number of seconds, 0 or more.",
        "Write a number, such as 2 or 0.5.",
    ),
    "long-crawl-delay": _warning(
        "Very long Crawl-delay",
        "With {0} seconds between requests a crawler gets at most {1} pages per day.",
        "Write a delay of a few seconds, or disallow the crawler.",
    ),
    "record-before-user-agent": _warning(
        "Record before any user-agent line",
        "{0} comes before the first user-agent line, so it applies to no crawler.",
        "Move it below a user-agent line.",
    ),
    "record-before-rules": _note(
        "Record before the rules of its group",
        "{0} comes before the first rule of its group, where parsers that follow the 1994 standard expect rules.",
        "Move it after the rules of the group.",
    ),
    "record-of-another-engine": _warning(
        "Record of one search engine in the group of another",
        "The crawlers that this group names do not read {0}.",
        "Move it to the group of a crawler that reads it.",
    ),
    "record-google-ignores": _note(
        "Record that Google ignores",
        "Google does not read {0}; other crawlers do.",
        "Do not rely on it for Google.",
    ),
    "host-record": _note(
        "Host",
        "Only Yandex ever read Host, and it stopped in 2018.",
        "Remove it, and redirect to the preferred host with status 301.",
    ),
    "noindex-record": _warning(
        "Noindex",
        "No search engine reads Noindex in robots.txt; Google stopped in 2019.",
        "Use the X-Robots-Tag header or a robots meta tag on pages that are not disallowed.",
    ),
    "noindex-behind-disallow": _warning(
        "Noindex behind a Disallow",
        "No search engine reads Noindex in robots.txt, and line {1} disallows {0}: none sees a noindex there.",
        "Allow the page and put the noindex in its X-Robots-Tag header or robots meta tag; remove this line.",
    ),
    "misplaced-content-signal": _warning(
        "Content-Signal outside a group",
        "{0} comes before the first user-agent line, {1}.",
        "Move it below “User-agent: *”.",
    ),
    # Signals about the use by AI
    "unknown-content-signal": _error(
        "Unknown key in Content-Signal",
        "{0} is not a key of Content-Signal, so crawlers ignore it{1}.",
        "Write {2}.",
    ),
    "bad-content-signal": _error(
        "Unreadable value in Content-Signal",
        "Crawlers ignore {0}: its value is not {1}.",
        "Write {2}.",
    ),
    "content-signal-with-path": _error(
        "Path in Content-Signal",
        "Content-Signal has no paths, so crawlers ignore {0}.",
        "Write {1} without a path, for all URLs of the group; only Content-Usage has paths.",
    ),
    "empty-signal": _warning(
        "Signal that says nothing",
        "{0} states no preference.",
        "Add one, such as {1}, or remove the line.",
    ),
    "license-without-url": _error(
        "License without a complete URL",
        "{0} is not an HTTP or HTTPS URL, so crawlers find no license.",
        "Write the complete URL, such as https://example.com/license.xml.",
    ),
    "ai-training-record": _error(
        "DisallowAITraining or AllowAITraining",
        "Parsers that match the beginning of a key, such as Google's, read it as “{0}”, a rule for all crawling.",
        "{1}.",
    ),
    "group-opens-site": _error(
        "Group for all crawlers that opens a closed site",
        "“{0}” at line {1} opens what this line closes: groups for * are merged, and this rule loses.",
        "Remove “{0}”; if a service adds it, such as Cloudflare's managed robots.txt, switch that off.",
    ),
    "bad-content-usage": _error(
        "Unreadable Content-Usage",
        "Crawlers ignore {0}: {1}.",
        "Write {2}.",
    ),
    "unknown-content-usage": _error(
        "Unknown label in Content-Usage",
        "{0} is not a label of Content-Usage, so crawlers ignore it{1}.",
        "Write {2}.",
    ),
    "retired-content-usage": _warning(
        "Retired label in Content-Usage",
        "{0} is a label of draft-ietf-aipref-{1}. Later drafts dropped it; crawlers that follow them ignore it.",
        "Write the current labels, {2}, if they say what you mean.",
    ),
    "content-usage-path": _error(
        "Unreadable path in Content-Usage",
        "{0} is not read as the path that was meant: {1}.",
        "Write {2}.",
    ),
    "content-usage-between-agents": _warning(
        "Content-Usage between user-agent lines",
        "The draft makes Content-Usage a rule, so {0} lacks the rules for {1}; other parsers apply them to both.",
        "Put a rule after it, such as “Disallow:”, or move it below {1}.",
    ),
    # Other dialects
    "read-otherwise": _note(
        "Crawler that reads the file differently",
        "{0} {1} request {2} ({3}); as Google reads the file, it {4} ({5}).",
        "“scrapy robots diff robots.txt --dialect google --dialect {6}” lists such URLs.",
    ),
}
"""The kinds of findings by their codes; docs/lint/ has an entry for each, in this order."""

_PAGES: Final = Path(__file__).with_name("pages")  # docs/lint/, which ships with the package
_PAGE: Final = re.compile(r"^## ([a-z0-9-]+)\n\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def page(code: str) -> str:
    """What the findings of *code* mean, with a bad and a good example, in Markdown; empty for no code."""
    return _pages().get(code, "")


@lru_cache(maxsize=1)
def _pages() -> dict[str, str]:
    texts = [path.read_text("utf-8") for path in _PAGES.glob("*.md")]
    return {code: entry.strip() for text in texts for code, entry in _PAGE.findall(text)}
