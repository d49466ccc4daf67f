"""The table of the codes: what each finding says, what to do about it, and a file that has it.

``docs/lint/`` is generated from it (``python -m tests.support.lint_pages``), and ``--explain`` prints it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scrapy_rep.protocol.display import StringEnum


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
    """A kind of finding. ``message``, ``advice`` and ``question`` are format strings for the facts of a finding.

    ``advice`` may name what to ``{write}`` in place of the line; ``question`` replaces it if the author has to
    decide. ``page`` of the documentation shows a ``bad`` file with its finding, then ``why`` it matters and a
    ``good`` file, both only if the finding does not say so. An example that text cannot show, or that needs a URL,
    is a call of `lint`. An accident of publishing comes from an editor, a form or a deployment, not the author: it
    is reported first, and alone on its line. A code that ``is_listed``, and every improvement, is one finding for
    all its lines.
    """

    page: str
    severity: Severity
    title: str
    message: str
    advice: str
    bad: str
    why: str = ""
    good: str = ""
    question: str = ""
    is_accident: bool = False
    is_listed: bool = False


# fmt: off
CODES: Final[dict[str, Code]] = {
    "line-breaks-lost": Code(
        "accidents", Severity.ERROR, "Line breaks lost",
        "{0} lines run together: {1}.",
        "Write {write}; crawlers then obey each.",
        "User-agent: * <br>Disallow: /search <br>",
        why="An editor, form or template removed the line breaks, or turned them into `\\n` or `<br>`.",
        question="Put each record on its own line.",
        is_accident=True,
    ),
    "rule-on-agent-line": Code(
        "accidents", Severity.ERROR, "Rule on the user-agent line",
        "The rule is on the user-agent line: {1}.",
        "Write {write}; crawlers then obey the rule.",
        "User-agent: * Disallow: /search",
        is_accident=True,
    ),
    "files-joined": Code(
        "accidents", Severity.ERROR, "Two files joined",
        "A line break is missing before the user-agent line: {1}.",
        "Write {write}; crawlers then obey both.",
        "User-agent: GPTBot\nDisallow: /User-agent: *\nDisallow: /search",
        why="The first file did not end with a line break.",
        question="Which crawlers is the Allow for? Put it below their user-agent line, on its own line.",
        is_accident=True,
    ),
    "line-broken": Code(
        "accidents", Severity.ERROR, "Line broken in two",
        "The value of the {0} above is on its own line, so crawlers ignore it.",
        "If that is meant, write “{0}: {1}” on one line; crawlers then obey it.",
        "User-agent: *\nDisallow:\n/search",
        why="A rule without a value disallows nothing.",
        is_accident=True,
    ),
    "key-twice": Code(
        "accidents", Severity.ERROR, "Key written twice",
        "The line repeats its key: {1}.",
        "Write {write}; crawlers then obey it.",
        "User-agent: *\nDisallow: Disallow: /search",
        is_accident=True,
    ),
    "several-records": Code(
        "accidents", Severity.ERROR, "Two records on one line",
        "A line break is missing: {1}.",
        "Write {write}; crawlers then obey both.",
        "User-agent: *\nDisallow: /search Sitemap: https://www.example/sitemap.xml",
        is_accident=True,
    ),
    "invisible-character": Code(
        "accidents", Severity.ERROR, "Invisible character",
        "The line contains an invisible character ({0}): {1}.",
        "Retype {write}; crawlers then obey it.",
        'lint("User-agent: *\\nDisallow:\\xa0/search\\n".encode())',
        why="Text copied from pages and chats brings no-break and zero-width spaces, soft hyphens and "
        "direction marks. Crawlers read them as letters.",
        question="Retype the line; write %20 for a space in a path.",
        is_accident=True,
    ),
    "encoded-twice": Code(
        "accidents", Severity.ERROR, "Text encoded twice",
        "The line{0} encoded as UTF-8 twice: {1}.",
        "Write {write}, and save the file as UTF-8.",
        "ï»¿User-agent: *\nDisallow: /search",
        why="A program read UTF-8 as another encoding and encoded it again: “ï»¿” before the first key, “Ã©” "
        "for “é”.",
        question="Retype the line, and save the file as UTF-8.",
        is_accident=True,
    ),
    "lookalike-character": Code(
        "accidents", Severity.ERROR, "Character that looks like another",
        "The key looks like {0} but contains another character, so crawlers ignore the line.",
        "Retype {write}; crawlers then obey it.",
        "User–agent: *\nDisallow: /search",
        why="Word processors turn hyphens into dashes; some keyboards type a wide colon.",
        is_accident=True,
    ),
    "quoted-value": Code(
        "accidents", Severity.ERROR, "Value in quotes",
        "The quotes are part of the value: {0}.",
        "Write {write}; crawlers then obey it.",
        'User-agent: *\nDisallow: "/search"',
        question="Write only the crawler's name, without quotes.",
        is_accident=True,
    ),
    "backslash-in-path": Code(
        "accidents", Severity.ERROR, "Backslashes in a path",
        "The path has Windows backslashes: {0}.",
        "Write {write}; crawlers then obey it.",
        "User-agent: *\nDisallow: \\search\\",
        is_accident=True,
    ),
    "html-in-line": Code(
        "accidents", Severity.ERROR, "HTML in a line",
        "The value contains HTML: {0}.",
        "Write {write}; crawlers then obey it.",
        "User-agent: *\nDisallow: /*?sort=a&amp;b=",
        why="A content management system escaped the text or added tags. Not reported if the file also has "
        "the plain value.",
        question="Write the whole value as plain text, or remove the line.",
        is_accident=True,
    ),
    "foreign-comment": Code(
        "accidents", Severity.ERROR, "Comment in another syntax",
        "Only # starts a comment in robots.txt: {0}.",
        "Write {write}; crawlers then obey the rule.",
        "User-agent: *\nDisallow: /search // slow pages",
        why="Text after `//` or `;` belongs to the path, and crawlers obey rules between `<!--` and `-->`.",
        question="To keep the rules, remove the marks; to drop them, start each line with #.",
        is_accident=True,
    ),
    "several-sitemaps": Code(
        "accidents", Severity.ERROR, "Several sitemaps on one line",
        "The line has {0} URLs; crawlers read them as one URL, which does not exist.",
        "Write {write}.",
        "Sitemap: https://www.example/a.xml, https://www.example/b.xml",
        is_accident=True,
    ),
    "placeholder-sitemap": Code(
        "accidents", Severity.ERROR, "Placeholder for a sitemap",
        "{0} is a placeholder, so crawlers find no sitemap.",
        "Write the full URL of this site's sitemap, or remove the line.",
        "Sitemap: http://localhost:8000/sitemap.xml",
        why="Reported for localhost, example domains and templates that nobody filled in.",
        is_accident=True,
    ),
    "empty-file": Code(
        "file", Severity.NOTE, "Empty file",
        "The file is empty, so every crawler may request everything.",
        "To show that this is intended, write “User-agent: *” and “Disallow:”.",
        'lint(b"")',
    ),
    "html": Code(
        "file", Severity.ERROR, "HTML instead of text",
        "This is an HTML page, not a robots.txt: crawlers find {0} in it.",
        "Serve plain text at /robots.txt, or status 404 if there are no rules.",
        "<!DOCTYPE html>\n<title>Welcome</title>",
        why="Many servers answer unknown URLs with a page and status 200.",
    ),
    "not-robots-txt": Code(
        "file", Severity.ERROR, "Not a robots.txt",
        "This is {0}, not a robots.txt: crawlers find no rules in it.",
        "Serve plain text at /robots.txt, or status 404 if there are no rules.",
        '{"statusCode": 404, "message": "Not Found"}',
        why="The server sends an XML or JSON error, or a text such as “Not Found”, with status 200.",
    ),
    "binary-file": Code(
        "file", Severity.ERROR, "Binary file",
        "This is {0}, not a text file: crawlers find no rules in it.",
        "Serve plain text at /robots.txt, or status 404 if there are no rules.",
        'lint(b"\\x89PNG\\r\\n\\x1a\\n\\0\\0\\0\\rIHDR")',
    ),
    "file-too-long": Code(
        "file", Severity.ERROR, "File over the limit",
        "The file has {0} bytes; crawlers ignore everything after the first {1}{2}.",
        "Shorten the file: one pattern can replace many rules for single files.",
        'lint(b"User-agent: *\\n" + b"Disallow: /a-long-name/of-a-page\\n" * 20_000)',
        why="Google reads 500 KiB. RFC 9309 requires no more of crawlers.",
    ),
    "line-too-long": Code(
        "file", Severity.ERROR, "Line over the limit",
        "The line has {0} bytes; Google's parser ignores everything after the first {1}.",
        "Split it into shorter lines.",
        'lint(b"User-agent: *\\nDisallow: /" + b"a" * 20_000)',
    ),
    "utf-16": Code(
        "file", Severity.ERROR, "UTF-16",
        "The file looks like UTF-16, which crawlers cannot read.",
        "Save it as UTF-8.",
        'lint("User-agent: *\\nDisallow: /search\\n".encode("utf-16"))',
        why="Some editors call UTF-16 “Unicode”.",
    ),
    "not-utf-8": Code(
        "file", Severity.WARNING, "Not UTF-8",
        "This byte is not valid UTF-8.",
        "Save the file as UTF-8, or write the byte as %XX in paths.",
        'lint(b"User-agent: *\\nDisallow: /caf\\xe9\\n")',
        why="RFC 9309 §2.2 requires UTF-8. Only the first invalid byte is reported.",
    ),
    "nul": Code(
        "file", Severity.ERROR, "NUL character",
        "A NUL character ends the line; crawlers ignore what follows.",
        "Remove it, and find out which program writes it.",
        'lint(b"User-agent: *\\nDisallow: /a\\0b\\n")',
        why="Only the first NUL is reported.",
    ),
    "byte-order-mark": Code(
        "file", Severity.NOTE, "Byte order mark",
        "The file starts with a byte order mark, which makes some crawlers miss the first line.",
        "Save it as UTF-8 without the mark.",
        'lint(b"\\xef\\xbb\\xbfUser-agent: *\\nDisallow: /search\\n")',
        why="Google skips the mark.",
    ),
    "cr-line-ends": Code(
        "file", Severity.WARNING, "CR line ends",
        "Lines end with CR alone, so some crawlers see a single line.",
        "End lines with LF.",
        'lint(b"User-agent: *\\rDisallow: /search\\r")',
    ),
    "crlf-line-ends": Code(
        "file", Severity.NOTE, "CRLF line ends",
        "Lines end with CRLF, which works but costs one byte per line.",
        "End lines with LF.",
        'lint(b"User-agent: *\\r\\nDisallow: /search\\r\\n")',
    ),
    "mixed-line-ends": Code(
        "file", Severity.NOTE, "Mixed line ends",
        "Lines end in different ways: {0} with LF, {1} with CRLF, {2} with CR.",
        "End all lines with LF.",
        'lint(b"User-agent: *\\r\\nDisallow: /search\\n")',
        why="Harmless, but check where the file may have been put together from parts.",
    ),
    "below-root": Code(
        "file", Severity.ERROR, "Not at the root",
        "Crawlers never request {0}: they look for robots.txt at the root of a host.",
        "Move the rules to {1}.",
        'lint(b"User-agent: *\\nDisallow: /search\\n", url="https://example.com/shop/robots.txt")',
    ),
    "redirected": Code(
        "file", Severity.WARNING, "Redirected",
        "The file redirects to {0}; some crawlers follow at most five redirects, or none to another host.",
        "Serve the file at this URL, with status 200.",
        'lint(\n    b"User-agent: *\\nDisallow: /search\\n", url="https://example.com/robots.txt", '
        'hops=["https://cdn.example/r.txt"]\n)',
        why="A redirect from http to https at the same address is fine.",
    ),
    "missing-file": Code(
        "file", Severity.NOTE, "No robots.txt",
        "Status {0}: there is no robots.txt, so every crawler may request everything.",
        "You need one only to keep crawlers out of something.",
        'lint(b"", url="https://example.com/robots.txt", status=404)',
        why="Reported for status 404 and 410.",
    ),
    "unreachable": Code(
        "file", Severity.ERROR, "Unreachable",
        "The server responds with status {0}, so crawlers request nothing from this host for now.",
        "Serve the file with status 200, or status 404 if there are no rules.",
        'lint(b"", url="https://example.com/robots.txt", status=503)',
        why="Reported for 5xx and 429. After 30 days, crawlers may treat the file as missing (RFC 9309 "
        "§2.3.1.4).",
    ),
    "error-page": Code(
        "file", Severity.ERROR, "Error page",
        "The server responds with status {0}, so crawlers ignore any rules in the page.",
        "Serve the file with status 200.",
        'lint(b"User-agent: *\\nDisallow: /search\\n", url="https://example.com/robots.txt", status=403)',
        why="Any other 4xx status allows everything (RFC 9309 §2.3.1.3).",
    ),
    "unreadable-line": Code(
        "lines", Severity.WARNING, "Unreadable line",
        "The line is {0}, so crawlers ignore it.",
        "{1}.",
        "User-agent: *\nKeep out of here please\nDisallow: /search",
        is_listed=True,
    ),
    "unknown-record": Code(
        "lines", Severity.WARNING, "Unknown record",
        "No known crawler reads {0}.",
        "Remove the line if nobody needs it, or start it with #.",
        "User-agent: *\nMood: sunny",
    ),
    "bare-url": Code(
        "lines", Severity.WARNING, "URL without a key",
        "The line is only a URL, so crawlers ignore it.",
        "Write {write}.",
        "https://www.example/sitemap.xml",
        question="If it is a sitemap, write “Sitemap: ” before it; otherwise start the line with #.",
    ),
    "misspelt-key": Code(
        "lines", Severity.WARNING, "Misspelled key that some parsers accept",
        "{0} is a misspelling of {1}: some crawlers read the line, others ignore it.",
        "Write {write}.",
        "Useragent: *\nDisalow: /search",
        why="Google's parser accepts some misspellings, and matches only the start of a key.",
        question="If you mean {1}, write it and its value on one line.",
    ),
    "misspelt-key-ignored": Code(
        "lines", Severity.ERROR, "Misspelled key that no parser accepts",
        "{0} is not a known key, so crawlers ignore the line; perhaps {1} was meant.",
        "Write {write}; crawlers then obey it.",
        "User-agent: *\nDisallop: /cart",
    ),
    "missing-colon": Code(
        "lines", Severity.ERROR, "Missing colon",
        "No colon follows {0}, so most parsers ignore the line.",
        "Write {write}; all crawlers then obey it.",
        "User-agent: *\nDisallow /search",
        why="Google's parser accepts a line of exactly two words.",
        question="Write “{0}: ” followed by a path of this site.",
    ),
    "indented-line": Code(
        "lines", Severity.NOTE, "White space before a key",
        "Some old parsers ignore a line that starts with white space, though RFC 9309 allows it.",
        "Write {write}.",
        "User-agent: *\n  Disallow: /search",
    ),
    "odd-case-key": Code(
        "lines", Severity.NOTE, "Unusual capitalization of a key",
        "Keys are not case-sensitive, but {0} is hard to read.",
        "Write {write}.",
        "USER-agent: *\nDisallow: /search",
        why="Each spelling is reported once.",
    ),
    "comment-after-rule": Code(
        "lines", Severity.NOTE, "Comment after a rule",
        "Some old parsers read the comment as part of the path.",
        "Write {write}.",
        "User-agent: *\nDisallow: /search # slow pages",
    ),
    "hash-in-path": Code(
        "lines", Severity.WARNING, "# inside a path",
        "A # starts a comment, so crawlers read only “{0}”.",
        "If that rule matches more than you meant, remove the line; write %23 for a # in a path.",
        "User-agent: *\nDisallow: /shop#cart",
        why="Crawlers request no fragments: they read `/#!/cart` as `/`.",
    ),
    "commented-out-rule": Code(
        "lines", Severity.NOTE, "Rule turned into a comment",
        "{0} is a comment, so crawlers ignore it{1}.",
        "Remove the # if the rule should apply, or the line if it should not.",
        "User-agent: *\nDisallow: /search\n# Disallow: /cart",
        why="Reported once, for the first such line.",
    ),
    "blank-line-in-group": Code(
        "lines", Severity.NOTE, "Blank line inside a group",
        "A blank line ends the group for parsers that follow the 1994 standard.",
        "Remove the blank line, or write a # on it.",
        "User-agent: *\nDisallow: /search\n\nDisallow: /cart",
        why="RFC 9309 ignores blank lines. Reported once per group.",
    ),
    "no-user-agent": Code(
        "user-agents", Severity.ERROR, "No user-agent line",
        "Without a user-agent line, the rules apply to no crawler.",
        "Start with “User-agent: *”.",
        "Disallow: /search",
    ),
    "rule-before-user-agent": Code(
        "user-agents", Severity.ERROR, "Rule before any user-agent line",
        "The rule comes before the first user-agent line, so it applies to no crawler.",
        "Move it below the user-agent line of the crawlers you mean.",
        "Disallow: /search\nUser-agent: *\nDisallow: /cart",
    ),
    "empty-user-agent": Code(
        "user-agents", Severity.ERROR, "User-agent without a value",
        "The line names no crawler.",
        "Write the crawler's name, or * for all crawlers.",
        "User-agent:\nDisallow: /search",
        why="An empty value does not mean all crawlers.",
    ),
    "agent-names-nobody": Code(
        "user-agents", Severity.ERROR, "User-agent that names no crawler",
        "{0} is not a product token, so it matches no crawler.",
        "Write {write}; that crawler then follows this group.",
        "User-agent: /shop\nDisallow: /cart",
        question="Write the crawler's name, which has only letters, - and _, or * for all crawlers.",
    ),
    "star-agent-with-text": Code(
        "user-agents", Severity.WARNING, "Text after the * of a user-agent line",
        "{0} is not the same as *: crawlers disagree about its meaning.",
        "Write {write}; that crawler then follows this group.",
        "User-agent: *bot\nDisallow: /search",
        why="Google reads `*` followed by a space as all crawlers, and `*bot` as none.",
        question="{2}",
    ),
    "several-agents": Code(
        "user-agents", Severity.ERROR, "Several crawlers on one line",
        "{0} names only {1}: a user-agent line takes one name.",
        "Write {write}; the rules below then apply to each.",
        "User-agent: ExampleBot, FooBot\nDisallow: /search",
    ),
    "user-agent-header": Code(
        "user-agents", Severity.WARNING, "User-Agent header instead of a token",
        "{0} looks like a User-Agent header; crawlers read only the token {1}.",
        "Write {write}; that crawler then follows this group.",
        "User-agent: Mozilla/5.0 (compatible; ExampleBot/1.0)\nDisallow: /search",
        question="Write only the crawler's name, without version and comment.",
    ),
    "agent-with-other-text": Code(
        "user-agents", Severity.NOTE, "Text after a token",
        "Crawlers read only {1} in {0}.",
        "Write {write}.",
        "User-agent: ExampleBot/2.1\nDisallow: /search",
        why="`Googlebot Images` means all of Googlebot.",
        question="If you mean every crawler called {1}, write {1} alone.",
    ),
    "group-without-rules": Code(
        "user-agents", Severity.WARNING, "Group without rules",
        "No rule follows the user-agent line of {0}{1}.",
        "Add the missing rules below it, or “Disallow:” to allow everything.",
        "User-agent: ExampleBot\n\nUser-agent: *\nDisallow: /search",
        why="A blank line does not end a group.",
    ),
    "agent-in-several-groups": Code(
        "user-agents", Severity.WARNING, "The same crawler in several groups",
        "{0} already has a group at line {1}; RFC 9309 merges them, but some crawlers use only one.",
        "Put all its rules in one group.",
        "User-agent: *\nDisallow: /search\n\nUser-agent: *\nDisallow: /cart",
    ),
    "no-star-group": Code(
        "user-agents", Severity.NOTE, "No * group",
        "Crawlers that no group names may request everything.",
        "Add “User-agent: *” with their rules, or with “Disallow:” to say so.",
        "User-agent: ExampleBot\nDisallow: /search",
    ),
    "named-group-drops-star-rules": Code(
        "user-agents", Severity.NOTE, "Named group without the rules for *",
        "{0} follows only its own group and ignores {1} at line {2}, which is for *.",
        "Copy into this group the rules for * that should apply.",
        "User-agent: *\nDisallow: /search\n\nUser-agent: ExampleBot\nDisallow: /cart",
        why="Reported if the group disallows something, but not for crawlers that [ignore groups for "
        "`*`](../profiles.md#which-group-counts).",
        good="User-agent: *\nDisallow: /search\n\nUser-agent: ExampleBot\nDisallow: /search\nDisallow: /cart",
    ),
    "misspelt-agent": Code(
        "crawlers", Severity.WARNING, "Misspelled name of a crawler",
        "No known crawler is called {0}; perhaps {1} was meant.",
        "Write {write}; {1} then follows this group.",
        "User-agent: Googelbot\nDisallow: /search",
        why="The name is one letter, space or ending away from a known crawler's, or is its owner's, such as "
        "Google.",
        question="If you mean {1}, write {1}; it then follows this group.",
    ),
    "unknown-agent": Code(
        "crawlers", Severity.NOTE, "Unknown crawler",
        "{0} is not the name of a known crawler{1}.",
        "Check its spelling in the crawler's documentation; a name that no crawler uses does nothing.",
        "User-agent: MoonbeamCollector\nDisallow: /search",
        why="Many names in old lists never existed. Only the first unknown name is reported.",
    ),
    "retired-agent": Code(
        "crawlers", Severity.NOTE, "Retired crawler",
        "{0}, a crawler of {1}, was retired in {2}.",
        "Remove the line.",
        "User-agent: msnbot\nDisallow: /search",
        question="{3}.",
    ),
    "agent-ignores-rules": Code(
        "crawlers", Severity.NOTE, "Crawler that does not follow robots.txt",
        "According to its documentation, {0} ({1}) {2} robots.txt.",
        "Do not rely on these rules; to keep it out, block it at the server.",
        "User-agent: FeedFetcher-Google\nDisallow: /search",
        why="Most such crawlers fetch a page because a user asked for it. Reported if the group disallows "
        "something.",
    ),
    "path-without-slash": Code(
        "rules", Severity.ERROR, "Rule without a leading slash",
        "{0} matches nothing: a path must start with / or *.",
        "Write {write}; crawlers then obey it.",
        "User-agent: *\nDisallow: search",
        question="Write a path of this site, such as /search.",
    ),
    "empty-allow": Code(
        "rules", Severity.WARNING, "Allow without a path",
        "An Allow without a path changes nothing.",
        "Write “Disallow:” to allow everything or “Disallow: /” to allow nothing, or remove the line.",
        "User-agent: *\nAllow:",
    ),
    "rule-never-matches": Code(
        "rules", Severity.ERROR, "Rule that never matches",
        "{0} never affects a page: {1}.",
        "Write {write}; crawlers then obey it.",
        "User-agent: *\nDisallow: https://example.com/search",
        question="{2}",
    ),
    "several-paths": Code(
        "rules", Severity.ERROR, "Several paths on one line",
        "Crawlers read {0} as one path.",
        "Write {write}; crawlers then obey each.",
        "User-agent: *\nDisallow: /search /cart",
    ),
    "space-in-path": Code(
        "rules", Severity.WARNING, "Space in a path",
        "URLs write a space as %20; Google compares {0} as it stands, so it matches nothing.",
        "Write {write}; Google then obeys it.",
        "User-agent: *\nDisallow: /my folder/",
        why="By default scrapy_rep treats both spellings as equal (RFC 9309 §2.2.2).",
        question="If you mean the spaces, write %20 for each; otherwise remove them.",
    ),
    "bad-escape": Code(
        "rules", Severity.WARNING, "Invalid % escape",
        "The % is not followed by two hexadecimal digits, and parsers disagree about it.",
        "{0}",
        "User-agent: *\nDisallow: /100%/",
    ),
    "agent-as-path": Code(
        "rules", Severity.ERROR, "Crawler name as a path",
        "{0} is the name of a crawler, but crawlers read it as a path.",
        "Write “User-agent: {0}” followed by “Disallow: /”.",
        "User-agent: *\nDisallow: ExampleBot",
    ),
    "dollar-inside": Code(
        "rules", Severity.WARNING, "$ inside a path",
        "A $ before the end of the path is a literal $, not the end of the URL.",
        "Write {write}; crawlers then obey the line.",
        "User-agent: *\nDisallow: /*.pdf$?",
        why="Not reported at the start of a name, such as `/$FILE/`.",
        question="To match the end of the URL, put the $ last; a literal $ works as written.",
    ),
    "needless-star": Code(
        "rules", Severity.OPTIMISE, "Redundant *",
        "A * in {0} does not change what the rule matches.",
        "Write {write}, which matches the same URLs.",
        "User-agent: *\nDisallow: /search*",
        why="The star makes the rule longer by one, which counts when rules are ranked.",
    ),
    "private-path": Code(
        "rules", Severity.NOTE, "Private path made public",
        "{0} looks private, but anyone can read it here, and the rule does not protect it.",
        "Protect it with a password, and do not list it here.",
        "User-agent: *\nDisallow: /backup/2024.sql",
        why="Reported for names such as private, backup, passwords or .sql, not for well-known ones such as "
        "/admin/.",
    ),
    "many-single-files": Code(
        "rules", Severity.OPTIMISE, "Many rules for single files",
        "{0} rules of this group disallow single files in {1}.",
        "If crawlers need nothing else there, disallow the folder or a pattern, and allow the exceptions.",
        'lint(b"User-agent: *\\n" + b"".join(b"Disallow: /news/%d.html\\n" % number for number in '
        'range(150)))',
        why="Reported from 20 single files in a folder.",
    ),
    "allow-disallow-tie": Code(
        "rules-compared", Severity.WARNING, "Allow and Disallow of the same path",
        "Line {1} allows {0} what this line disallows: the Allow wins, but some crawlers use the first rule.",
        "Keep the rule that you mean.",
        "User-agent: *\nDisallow: /search\nAllow: /search",
    ),
    "duplicate-rule": Code(
        "rules-compared", Severity.OPTIMISE, "Duplicate rule",
        "Line {1} of this group is the same rule.",
        "Remove the line.",
        "User-agent: *\nDisallow: /search\nDisallow: /search",
    ),
    "useless-rule": Code(
        "rules-compared", Severity.OPTIMISE, "Useless rule",
        "{0} makes no difference: {1}.",
        "Remove the line.",
        "User-agent: *\nDisallow: /search\nDisallow: /search/advanced",
        why="All rules with this finding can be removed together; no verdict changes. Long files are checked "
        "in part.",
    ),
    "site-closed": Code(
        "reach", Severity.WARNING, "Site blocked for all crawlers",
        "{0} blocks the whole site for every crawler, search engines included.",
        "Keep the line only if no search engine should show the site.",
        "User-agent: *\nDisallow: /",
        why="Meant for a test site; left in place, it takes a site out of every search engine.",
    ),
    "closed-except": Code(
        "reach", Severity.NOTE, "Site blocked except for named crawlers",
        "{0} blocks the site, but not for {1}{2}: a named crawler follows only its own group.",
        "Check that a group names every crawler you want.",
        "User-agent: Googlebot\nDisallow:\n\nUser-agent: *\nDisallow: /",
    ),
    "blocked-css-js": Code(
        "reach", Severity.WARNING, "CSS or JavaScript blocked for Google",
        "Google may not fetch files such as {0}, so it does not see pages as visitors do.",
        "If pages need them, remove or narrow the line{1}.",
        "User-agent: *\nDisallow: /css/",
        why="Reported for folders such as `/css/` and `/wp-includes/`, for `/*.css` and `/*.js`, and for "
        "known folders of Drupal, Joomla and Magento.",
    ),
    "blocked-images": Code(
        "reach", Severity.NOTE, "Images blocked for Google",
        "Google may not fetch images such as {0}, so it does not show them in its results.",
        "To have them appear in results, remove or narrow the line{1}.",
        "User-agent: *\nDisallow: /images/",
        why="Reported for folders such as `/images/` and patterns such as `/*.jpg`.",
    ),
    "blocked-queries": Code(
        "reach", Severity.NOTE, "All URLs with a query blocked",
        "{0} disallows every URL with a ?, including links with tracking parameters (?utm_source=…).",
        "Disallow only the parameters you mean, such as “Disallow: /*?sort=”.",
        "User-agent: *\nDisallow: /*?",
    ),
    "prefix-trap": Code(
        "reach", Severity.NOTE, "Rule that matches more than its folder",
        "{0} also disallows {1} (line {2}) and everything else that starts with {0}.",
        "Unless you mean all of that, write {0}/ for the folder or {0}$ for the page.",
        "User-agent: *\nDisallow: /blog\nSitemap: https://www.example/blog-sitemap.xml",
        why="Reported if another Disallow or a sitemap URL shows such a path.",
    ),
    "closable-pattern": Code(
        "reach", Severity.NOTE, "URLs blocked one by one",
        "{0} rules disallow single URLs with {1}; other URLs like them stay allowed.",
        "To block all of them, write “Disallow: {2}”.",
        "User-agent: *\nDisallow: /shoes?sort=price\nDisallow: /shirts?sort=price\nDisallow: /hats?sort=price",
        why="Reported from three URLs with a session ID, a sort order or a print view.",
    ),
    "relative-sitemap": Code(
        "records", Severity.ERROR, "Sitemap without a complete URL",
        "{0} is not a complete URL, so crawlers may ignore it.",
        "Write {write}.",
        "Sitemap: /sitemap.xml",
        question="Write the complete URL, such as https://www.example/sitemap.xml.",
    ),
    "sitemap-not-http": Code(
        "records", Severity.WARNING, "Sitemap without an HTTP URL",
        "{0} is not an HTTP or HTTPS URL, so crawlers do not fetch it.",
        "Serve the sitemap over HTTPS.",
        "Sitemap: ftp://example.com/sitemap.xml",
    ),
    "no-sitemap": Code(
        "records", Severity.NOTE, "No sitemap",
        "Without a Sitemap line, crawlers may miss pages of the site.",
        "If there is a sitemap, add “Sitemap: ” and its full URL.",
        "User-agent: *\nDisallow: /search",
        why="Sitemaps are optional. Not reported for a blocked site.",
    ),
    "bad-crawl-delay": Code(
        "records", Severity.ERROR, "Unreadable Crawl-delay",
        "{0} is not a delay: crawlers expect a number of seconds, 0 or more.",
        "Write seconds as a number, such as 2 or 0.5, or remove the line.",
        "User-agent: Slurp\nDisallow: /search\nCrawl-delay: 5 s",
    ),
    "long-crawl-delay": Code(
        "records", Severity.WARNING, "Very long Crawl-delay",
        "At {0} seconds between requests, a crawler gets at most {1} per day.",
        "Write a delay of a few seconds.",
        "User-agent: Slurp\nDisallow: /search\nCrawl-delay: 3600",
        why="Reported above 300 seconds.",
    ),
    "record-before-user-agent": Code(
        "records", Severity.WARNING, "Record before any user-agent line",
        "{0} comes before the first user-agent line, so it applies to no crawler.",
        "Move it below the user-agent line of the crawlers you mean.",
        "Crawl-delay: 5\nUser-agent: *\nDisallow: /search",
        why="Reported for Crawl-delay, Request-rate and Visit-time.",
    ),
    "record-before-rules": Code(
        "records", Severity.NOTE, "Record before the rules of its group",
        "{0} comes before the first rule of its group, where old parsers expect a rule.",
        "Move it below the rules of the group.",
        "User-agent: Slurp\nCrawl-delay: 5\nDisallow: /search",
    ),
    "record-of-another-engine": Code(
        "records", Severity.WARNING, "Record for another search engine",
        "The crawlers of this group do not read {0}.",
        "Remove it, or move it to the group it is for.",
        "User-agent: Googlebot\nDisallow: /search\nCrawl-delay: 5",
        why="Google does not read Crawl-delay, Request-rate or Visit-time.",
    ),
    "record-google-ignores": Code(
        "records", Severity.NOTE, "Record that Google ignores",
        "Google does not read {0}; other crawlers do.",
        "Do not rely on it for Google.",
        "User-agent: *\nDisallow: /search\nCrawl-delay: 5",
    ),
    "host-record": Code(
        "records", Severity.NOTE, "Host",
        "Only Yandex read Host, until 2018.",
        "Remove it, and redirect to the preferred host with status 301.",
        "User-agent: Yandex\nDisallow: /search\nHost: example.com",
    ),
    "noindex-record": Code(
        "records", Severity.WARNING, "Noindex",
        "No search engine reads Noindex in robots.txt; Google stopped in 2019.",
        "Use an X-Robots-Tag header or a robots meta tag on pages that crawlers may request.",
        "User-agent: *\nNoindex: /search",
    ),
    "noindex-behind-disallow": Code(
        "records", Severity.WARNING, "Noindex behind a Disallow",
        "No search engine reads Noindex in robots.txt, and line {1} disallows {0}, so none sees a noindex "
        "there.",
        "Remove this line. To keep the page out of search results, allow it and send it with a noindex; to "
        "keep crawlers away, leave it disallowed.",
        "User-agent: *\nNoindex: /search\nDisallow: /search",
        why="Search engines can still list a disallowed URL.",
    ),
    "misplaced-content-signal": Code(
        "records", Severity.WARNING, "Content-Signal outside a group",
        "{0} comes before the first user-agent line, {1}.",
        "Move it below “User-agent: *”.",
        "Content-Signal: ai-train=no\n\nUser-agent: *\nDisallow: /search",
        why="Content-Signal and Content-Usage apply to a group. scrapy_rep applies a Content-Signal outside "
        "all groups to crawlers whose group has none; other parsers differ.",
    ),
    "unknown-content-signal": Code(
        "ai-signals", Severity.ERROR, "Unknown key in Content-Signal",
        "{0} is not a key of Content-Signal, so crawlers ignore it{1}.",
        "Write {2}.",
        "User-agent: *\nContent-Signal: ai_train=no",
        why="<https://contentsignals.org> defines `search`, `ai-input`, `ai-train` and `use`.",
    ),
    "bad-content-signal": Code(
        "ai-signals", Severity.ERROR, "Unreadable value in Content-Signal",
        "Crawlers ignore “{0}”: its value is not {1}.",
        "Write {2}.",
        "User-agent: *\nContent-Signal: search=yes; ai-train=no",
        why="Commas separate keys; semicolons and spaces do not.",
    ),
    "content-signal-with-path": Code(
        "ai-signals", Severity.ERROR, "Path in Content-Signal",
        "Content-Signal takes no paths, so crawlers ignore “{0}”.",
        "Write {1} without a path, for all URLs of the group; only Content-Usage takes paths.",
        "User-agent: *\nContent-Signal: /blog/ ai-train=no",
        why="Crawlers still read what follows a comma, for all URLs.",
    ),
    "empty-signal": Code(
        "ai-signals", Severity.WARNING, "Signal that says nothing",
        "{0} states no preference.",
        "Add one, such as {1}, or remove the line.",
        "User-agent: *\nContent-Usage: /blog/",
        why="A Content-Usage with only a path cancels the preferences of shorter paths for the URLs below it.",
    ),
    "license-without-url": Code(
        "ai-signals", Severity.ERROR, "License without a complete URL",
        "{0} is not an HTTP or HTTPS URL, so crawlers find no license.",
        "Write the complete URL, such as https://example.com/license.xml.",
        "License: none (public domain)",
        why="RSL (<https://rslstandard.org>) names the license of a site by its URL.",
    ),
    "ai-training-record": Code(
        "ai-signals", Severity.ERROR, "DisallowAITraining or AllowAITraining",
        "Parsers that match only the start of a key, such as Google's, read it as “{0}”, a rule for all "
        "crawling.",
        "{1}.",
        "User-agent: *\nDisallowAITraining: /",
        why="These keys come from an expired draft, draft-canel-robots-ai-control-00. `DisallowAITraining: /` "
        "blocks search engines.",
        good="User-agent: *\nContent-Usage: train-ai=n\nContent-Signal: ai-train=no\nDisallow:",
    ),
    "group-opens-site": Code(
        "ai-signals", Severity.ERROR, "Group for * that allows a blocked site",
        "“{0}” at line {1} allows what this line blocks: groups for * are merged, and this rule loses.",
        "Remove “{0}”; if a service such as Cloudflare's managed robots.txt adds it, turn that off.",
        "User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\n\nUser-agent: *\nDisallow: /",
        good="User-agent: *\nContent-Signal: search=yes, ai-train=no\nDisallow: /",
    ),
    "bad-content-usage": Code(
        "ai-signals", Severity.ERROR, "Unreadable Content-Usage",
        "Crawlers ignore “{0}”: {1}.",
        "Write {2}.",
        "User-agent: *\nContent-Usage: train-ai=no",
        why="The value is a Dictionary of RFC 9651, which is strict: an upper-case key, a comma at the end or "
        "a space around `=` makes crawlers ignore the whole line. Values are `y` and `n`, without quotes. A "
        "label after a semicolon is ignored.",
    ),
    "unknown-content-usage": Code(
        "ai-signals", Severity.ERROR, "Unknown label in Content-Usage",
        "{0} is not a label of Content-Usage, so crawlers ignore it{1}.",
        "Write {2}.",
        "User-agent: *\nContent-Usage: ai-train=n",
        why="draft-ietf-aipref-vocab-08 defines `train-ai`, `ai-use` and `search`. Content-Signal has other "
        "names.",
    ),
    "retired-content-usage": Code(
        "ai-signals", Severity.WARNING, "Retired label in Content-Usage",
        "{0} is a label of draft-ietf-aipref-{1}. Later drafts dropped it, and their crawlers ignore it.",
        "Write the current labels, {2}, if they say what you mean.",
        "User-agent: *\nContent-Usage: genai=n",
    ),
    "content-usage-path": Code(
        "ai-signals", Severity.ERROR, "Unreadable path in Content-Usage",
        "Crawlers misread the path “{0}”: {1}.",
        "Write {2}.",
        "User-agent: *\nContent-Usage: /blog/, train-ai=n",
        why="A path starts with a slash and ends at a space or tab (draft-ietf-aipref-attach-05).",
    ),
    "content-usage-between-agents": Code(
        "ai-signals", Severity.WARNING, "Content-Usage between user-agent lines",
        "The draft makes Content-Usage a rule, so {0} lacks the rules for {1}; other parsers apply them to "
        "both.",
        "Put a rule after it, such as “Disallow:”, or move it below {1}.",
        "User-agent: ExampleBot\nContent-Usage: train-ai=n\nUser-agent: *\nDisallow: /search",
        why="In draft-ietf-aipref-attach-05, a user-agent line after Content-Usage starts a new group. "
        "Google's parser sees one group. scrapy_rep applies the Content-Usage to the user-agent lines above "
        "it, and the rules below to both.",
        good="User-agent: ExampleBot\nContent-Usage: train-ai=n\nDisallow: /search\n\nUser-agent: "
        "*\nDisallow: /search",
    ),
    "read-otherwise": Code(
        "dialects", Severity.NOTE, "Crawler that reads the file differently",
        "{0} {1} request {2} ({3}); as Google reads the file, it {4} ({5}).",
        "“scrapy robots diff robots.txt --dialect google --dialect {6}” lists such URLs.",
        "User-agent: Yandex\nCrawl-delay: 5\n\nUser-agent: Baiduspider\nDisallow: /",
        why="Bing, Yandex and Baidu [read robots.txt in their own dialects](../dialects.md): to some, a blank "
        "line ends a group, or the first matching rule decides. Only the first such path is reported, and "
        "none in files with more than 1,000 rules.",
        good="User-agent: Yandex\nDisallow:\n\nUser-agent: Baiduspider\nDisallow: /\n\nUser-agent: "
        "*\nDisallow:",
    ),
}
# fmt: on
"""The kinds of findings by their codes, in the order of the documentation."""
