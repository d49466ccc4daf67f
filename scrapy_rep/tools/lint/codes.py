"""The table of the codes: what each finding says, what to do about it, and a file that has it.

``docs/lint/`` is generated from it (``python -m tests.support.lint_pages``), and ``--explain`` prints it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from textwrap import fill, indent
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

    ``advice`` may name what to ``{write}`` in place of the line; ``question`` takes its place where the author has
    to decide. ``page`` of the documentation tells ``why`` it matters, and shows a ``bad`` and a ``good`` file. An
    example that text cannot show, or that needs a URL, is a call of `lint`. An accident of publishing comes from
    an editor, a form or a deployment, not the author: it is reported first, and alone on its line. A code that
    ``is_listed``, and every improvement, is one finding for all its lines.
    """

    page: str
    severity: Severity
    title: str
    why: str
    message: str
    advice: str
    bad: str
    good: str = "User-agent: *\nDisallow: /search"
    question: str = ""
    is_accident: bool = False
    is_listed: bool = False


# fmt: off
CODES: Final[dict[str, Code]] = {
    "line-breaks-lost": Code(
        "accidents", Severity.ERROR, "Line breaks lost",
        "An editor, a form or a template has put the file on one line, or left “\\n” or “<br>” "
        "where its lines ended.",
        "This line is {0} lines in one: {1}.",
        "Write {write}; crawlers then obey each of them.",
        "User-agent: *<br>Disallow: /search<br>",
        question="Put each record on a line of its own.",
        is_accident=True,
    ),
    "rule-on-agent-line": Code(
        "accidents", Severity.ERROR, "Rule on the user-agent line",
        "A user-agent line ends before the first rule. What follows the name is no rule.",
        "The rule stands on the user-agent line: {1}.",
        "Write {write}; crawlers then obey the rule.",
        "User-agent: * Disallow: /search",
        is_accident=True,
    ),
    "files-joined": Code(
        "accidents", Severity.ERROR, "Two files joined",
        "The first file had no line break at its end, and a second was put behind it.",
        "A line break is missing before the user-agent line: {1}.",
        "Write {write}; crawlers then obey both.",
        "User-agent: GPTBot\nDisallow: /User-agent: *\nDisallow: /search",
        "User-agent: GPTBot\nDisallow: /\nUser-agent: *\nDisallow: /search",
        question="Whom is the Allow for? Write it below their user-agent line, on a line of its own.",
        is_accident=True,
    ),
    "line-broken": Code(
        "accidents", Severity.ERROR, "Line broken in two",
        "A record stands on one line. A value on the next line is not read, and a rule without one disallows "
        "nothing.",
        "The value of the {0} above stands on a line of its own: crawlers ignore it.",
        "Write “{0}: {1}” on one line, if that is meant; crawlers then obey it.",
        "User-agent: *\nDisallow:\n/search",
        is_accident=True,
    ),
    "key-twice": Code(
        "accidents", Severity.ERROR, "Key written twice",
        "The second key is part of the value.",
        "The key stands twice on the line: {1}.",
        "Write {write}; crawlers then obey the line.",
        "User-agent: *\nDisallow: Disallow: /search",
        is_accident=True,
    ),
    "several-records": Code(
        "accidents", Severity.ERROR, "Two records on one line",
        "A line has one key and one value.",
        "A line break is missing: {1}.",
        "Write {write}; crawlers then obey the line.",
        "User-agent: *\nDisallow: /search Sitemap: https://www.example/sitemap.xml",
        "User-agent: *\nDisallow: /search\nSitemap: https://www.example/sitemap.xml",
        is_accident=True,
    ),
    "invisible-character": Code(
        "accidents", Severity.ERROR, "Invisible character",
        "Text that was copied from a page or a chat often has no-break or zero-width spaces, soft hyphens, or "
        "marks of direction. Crawlers read them as letters.",
        "The line has an invisible character ({0}): {1}.",
        "Write {write}, typed anew; crawlers then read the line as it looks.",
        'lint("User-agent: *\\nDisallow:\\xa0/search\\n".encode())',
        question="Type the line anew. A space in a path is written %20.",
        is_accident=True,
    ),
    "encoded-twice": Code(
        "accidents", Severity.ERROR, "Text encoded twice",
        "A program took UTF-8 for another encoding and encoded it again: “ï»¿” before the first key, "
        "“Ã©” for “é”.",
        "The line{0} encoded as UTF-8 twice: {1}.",
        "Write {write}, and save the file as UTF-8 once.",
        "ï»¿User-agent: *\nDisallow: /search",
        question="Type the line anew, and save the file as UTF-8 once.",
        is_accident=True,
    ),
    "lookalike-character": Code(
        "accidents", Severity.ERROR, "Character that looks like another",
        "A word processor writes dashes for hyphens, and some keyboards a wide colon.",
        "The key looks like {0}, but has another character in it, so crawlers ignore the line.",
        "Write {write}; crawlers then read the line as it looks.",
        "User–agent: *\nDisallow: /search",
        is_accident=True,
    ),
    "quoted-value": Code(
        "accidents", Severity.ERROR, "Value in quotes",
        "Values have no quotes, and no URL path begins with one.",
        "The quotes are part of the value: {0}.",
        "Write {write}; crawlers then read the line as it is meant.",
        'User-agent: *\nDisallow: "/search"',
        question="Write only the name of the crawler, without quotes.",
        is_accident=True,
    ),
    "backslash-in-path": Code(
        "accidents", Severity.ERROR, "Backslashes for slashes",
        "Paths of Windows have backslashes; those of URLs have slashes.",
        "The path is one of Windows: {0}.",
        "Write {write}; crawlers then obey the line.",
        "User-agent: *\nDisallow: \\search\\",
        "User-agent: *\nDisallow: /search/",
        is_accident=True,
    ),
    "html-in-line": Code(
        "accidents", Severity.ERROR, "HTML in a line",
        "A content management system has escaped or marked up the text. Not reported where the file has the same "
        "value without it, because then both are meant.",
        "The value has HTML in it: {0}.",
        "Write {write}; crawlers then obey the line.",
        "User-agent: *\nDisallow: /*?sort=a&amp;b=",
        "User-agent: *\nDisallow: /*?sort=a&b=",
        question="What is meant? Write the whole value as plain text, or remove the line.",
        is_accident=True,
    ),
    "foreign-comment": Code(
        "accidents", Severity.ERROR, "Comment of another language",
        "Only # starts a comment. What follows // or ; is part of the path, and rules between <!-- and --> hold.",
        "Only # starts a comment in robots.txt: {0}.",
        "Write {write}; crawlers then obey the rule.",
        "User-agent: *\nDisallow: /search // slow pages",
        "User-agent: *\n# slow pages\nDisallow: /search",
        question="Should the rules hold? Then remove the marks; if not, start each line with #.",
        is_accident=True,
    ),
    "several-sitemaps": Code(
        "accidents", Severity.ERROR, "Several sitemaps on one line",
        "A Sitemap record has one URL.",
        "The line has {0} URLs, and crawlers read them as one, which does not exist.",
        "Write {write}.",
        "User-agent: *\nDisallow: /search\nSitemap: https://www.example/a.xml, https://www.example/b.xml",
        "User-agent: *\nDisallow: /search\nSitemap: https://www.example/a.xml\nSitemap: https://www.example/b.xml",
        is_accident=True,
    ),
    "placeholder-sitemap": Code(
        "accidents", Severity.ERROR, "Sitemap of no site",
        "The URL is that of a developer's machine, of an example, or a template that nobody filled in.",
        "{0} is not the address of a sitemap of this site, so crawlers find none.",
        "Write the complete URL of the sitemap on this site, or remove the line.",
        "User-agent: *\nDisallow: /search\nSitemap: http://localhost:8000/sitemap.xml",
        "User-agent: *\nDisallow: /search\nSitemap: https://www.example/sitemap.xml",
        is_accident=True,
    ),
    "empty-file": Code(
        "file", Severity.NOTE, "Empty file",
        "An empty robots.txt is not an error: without rules everything is allowed. But readers cannot tell "
        "whether that is intended.",
        "The file is empty, so every crawler may request everything.",
        "Say so explicitly: “User-agent: *” followed by “Disallow:”.",
        'lint(b"")',
        "User-agent: *\nDisallow:",
    ),
    "html": Code(
        "file", Severity.ERROR, "HTML instead of text",
        "Many sites answer any unknown address with a page and status 200. A crawler reads the page as a "
        "robots.txt, and obeys a rule that stands on a line of it. Single lines are not checked.",
        "This is an HTML page, not a robots.txt: crawlers find {0} in it.",
        "Serve plain text at /robots.txt, or respond with status 404 if there are no rules.",
        "<!DOCTYPE html>\n<title>Welcome</title>",
    ),
    "not-robots-txt": Code(
        "file", Severity.ERROR, "Something else instead",
        "The server answers with an error in XML or JSON, as S3 and Azure do, or with a text such as “Not "
        "Found”, and status 200. No line is a comment or a record of robots.txt. In XML and JSON single lines "
        "are not checked.",
        "This is {0}, not a robots.txt: crawlers find no rules in it.",
        "Serve plain text at /robots.txt, or respond with status 404 if there are no rules.",
        '{"statusCode": 404, "message": "Not Found"}',
    ),
    "binary-file": Code(
        "file", Severity.ERROR, "Binary file",
        "An image, an archive or a program is served as robots.txt, often by a rule of the server that answers "
        "for every file. Single lines are not checked.",
        "This is {0}, not a text file: crawlers find no rules in it.",
        "Serve plain text at /robots.txt, or respond with status 404 if there are no rules.",
        'lint(b"\\x89PNG\\r\\n\\x1a\\n\\0\\0\\0\\rIHDR")',
    ),
    "file-too-long": Code(
        "file", Severity.ERROR, "File over the limit",
        "Google reads 500 KiB, and RFC 9309 requires crawlers to read no more. Rules after that do not exist.",
        "The file has {0} bytes; crawlers ignore everything after the first {1}{2}.",
        "Shorten the file until all of it is read: one pattern can stand for many single files.",
        'lint(b"User-agent: *\\n" + b"Disallow: /a-long-name/of-a-page\\n" * 20_000)',
    ),
    "line-too-long": Code(
        "file", Severity.ERROR, "Line over the limit",
        "Google's parser reads 16,663 octets of a line.",
        "The line has {0} octets; everything after the first {1} is ignored.",
        "Split it into several shorter lines.",
        'lint(b"User-agent: *\\nDisallow: /" + b"a" * 20_000)',
    ),
    "utf-16": Code(
        "file", Severity.ERROR, "UTF-16",
        "Some editors call this encoding “Unicode”; it has two octets per letter. Parsers expect UTF-8. Single "
        "lines are not checked.",
        "The file looks like UTF-16, which crawlers cannot read.",
        "Save it as UTF-8.",
        'lint("User-agent: *\\nDisallow: /search\\n".encode("utf-16"))',
    ),
    "not-utf-8": Code(
        "file", Severity.WARNING, "Not UTF-8",
        "RFC 9309 §2.2 requires UTF-8. Only the first invalid octet is reported. A path in another encoding "
        "matches only URLs in that encoding.",
        "This octet is not valid UTF-8.",
        "Save the file as UTF-8, or percent-encode the octet in paths as %XX.",
        'lint(b"User-agent: *\\nDisallow: /caf\\xe9\\n")',
        "User-agent: *\nDisallow: /café",
    ),
    "nul": Code(
        "file", Severity.ERROR, "NUL character",
        "A text file should contain no NUL. Only the first one is reported.",
        "A NUL ends the line, so the rest of it is ignored.",
        "Remove it, and find out which program writes it.",
        'lint(b"User-agent: *\\nDisallow: /a\\0b\\n")',
        "User-agent: *\nDisallow: /ab",
    ),
    "byte-order-mark": Code(
        "file", Severity.NOTE, "Byte order mark",
        "Google skips the mark. Other parsers may read it as part of the first key.",
        "The file starts with a byte order mark, which makes some crawlers miss the first line.",
        "Save it as UTF-8 without the mark.",
        'lint(b"\\xef\\xbb\\xbfUser-agent: *\\nDisallow: /search\\n")',
    ),
    "cr-line-ends": Code(
        "file", Severity.WARNING, "CR line ends",
        "Old Macintosh computers ended lines like this. RFC 9309 allows it, but a program that splits at LF "
        "sees one long line.",
        "The lines end with CR alone, so some crawlers see a single line.",
        "End lines with LF.",
        'lint(b"User-agent: *\\rDisallow: /search\\r")',
    ),
    "crlf-line-ends": Code(
        "file", Severity.NOTE, "CRLF line ends",
        "Windows ends lines like this. Every crawler can read them.",
        "The lines end with CRLF, which works but costs one octet per line.",
        "End lines with LF.",
        'lint(b"User-agent: *\\r\\nDisallow: /search\\r\\n")',
    ),
    "mixed-line-ends": Code(
        "file", Severity.NOTE, "Mixed line ends",
        "Usually harmless. It suggests that the file was assembled from parts, so check where they meet.",
        "Lines end in different ways: {0} with LF, {1} with CRLF, {2} with CR.",
        "End all lines with LF.",
        'lint(b"User-agent: *\\r\\nDisallow: /search\\n")',
    ),
    "below-root": Code(
        "file", Severity.ERROR, "Not at the root",
        "RFC 9309 §2.3: the file is at `/robots.txt`, and crawlers do not look for it in folders. Reported "
        "when the URL is known.",
        "Crawlers do not request {0}: the robots.txt of a host is at its root.",
        "Move the rules to {1}.",
        'lint(b"User-agent: *\\nDisallow: /search\\n", url="https://example.com/shop/robots.txt")',
        'lint(b"User-agent: *\\nDisallow: /search\\n", url="https://example.com/robots.txt")',
    ),
    "redirected": Code(
        "file", Severity.WARNING, "Redirected",
        "RFC 9309 §2.3.1.2 asks crawlers to follow at least five redirects, but some follow fewer. A redirect "
        "from http to https at the same address is fine.",
        "The file is at {0}: some crawlers follow at most five redirects, or none to another host.",
        "Serve the file at this URL, with status 200.",
        'lint(\n    b"User-agent: *\\nDisallow: /search\\n", url="https://example.com/robots.txt", '
        'hops=["https://cdn.example/r.txt"]\n)',
        'lint(\n    b"User-agent: *\\nDisallow: /search\\n",\n    url="http://example.com/robots.txt",\n    '
        'hops=["https://example.com/robots.txt"],\n)',
    ),
    "missing-file": Code(
        "file", Severity.NOTE, "No robots.txt",
        "RFC 9309 §2.3.1.3: without the file everything is allowed. Reported for status 404 and 410.",
        "The server responds with status {0}: there is no robots.txt, so every crawler may request everything.",
        "You need one only if something should not be crawled.",
        'lint(b"", url="https://example.com/robots.txt", status=404)',
        'lint(b"User-agent: *\\nDisallow:\\n", url="https://example.com/robots.txt", status=200)',
    ),
    "unreachable": Code(
        "file", Severity.ERROR, "Unreachable",
        "RFC 9309 §2.3.1.4: with a 5xx status nothing may be crawled; Google reads 429 so too. After 30 days "
        "crawlers may take the file for missing.",
        "The server responds with status {0}, so crawlers request nothing from this host for now.",
        "Serve the file with status 200, or respond with status 404 if there are no rules.",
        'lint(b"", url="https://example.com/robots.txt", status=503)',
        'lint(b"User-agent: *\\nDisallow:\\n", url="https://example.com/robots.txt", status=200)',
    ),
    "error-page": Code(
        "file", Severity.ERROR, "Error page",
        "With another 4xx status, such as 403, everything is allowed, whatever the page says (RFC 9309 §2.3.1.3).",
        "The server responds with status {0}, so crawlers ignore any rules in the page.",
        "Serve the file with status 200.",
        'lint(b"User-agent: *\\nDisallow: /search\\n", url="https://example.com/robots.txt", status=403)',
        'lint(b"User-agent: *\\nDisallow: /search\\n", url="https://example.com/robots.txt", status=200)',
    ),
    "unreadable-line": Code(
        "lines", Severity.WARNING, "Unreadable line",
        "Neither a record nor a comment nor blank. All such lines of a kind are one finding.",
        "The line is {0}, so crawlers ignore it.",
        "{1}.",
        "User-agent: *\nKeep out of here please\nDisallow: /search",
        "User-agent: *\n# Keep out of here please\nDisallow: /search",
        is_listed=True,
    ),
    "unknown-record": Code(
        "lines", Severity.WARNING, "Unknown record",
        "RFC 9309 §2.2.4 allows crawlers to read other records than those it defines, but no known crawler "
        "reads this one.",
        "No known crawler reads a record called {0}.",
        "If nobody needs it, remove it, or start the line with #.",
        "User-agent: *\nDisallow: /search\nMood: sunny",
    ),
    "bare-url": Code(
        "lines", Severity.WARNING, "URL without a key",
        "Most often the URL of a sitemap whose key was forgotten.",
        "The line is a URL alone, so crawlers ignore it.",
        "Write {write}.",
        "User-agent: *\nDisallow: /search\nhttps://www.example/sitemap.xml",
        "User-agent: *\nDisallow: /search\nSitemap: https://www.example/sitemap.xml",
        question="Is it a sitemap? Then write “Sitemap: ” before it. Otherwise start the line with #.",
    ),
    "misspelt-key": Code(
        "lines", Severity.WARNING, "Misspelled key that some parsers accept",
        "Google's parser tolerates some misspellings, and matches only the beginning of a key. Do not rely on "
        "other parsers to do so.",
        "{0} is not how {1} is spelled: some crawlers read the line, others ignore it.",
        "Write {write}.",
        "Useragent: *\nDisalow: /search",
        question="Write {1}, if that is meant, and its value on the same line.",
    ),
    "misspelt-key-ignored": Code(
        "lines", Severity.ERROR, "Misspelled key that no parser accepts",
        "The line looks like a rule to people, but crawlers ignore it.",
        "{0} is not a known key, so the line is ignored; perhaps {1} was meant.",
        "Write {write}; crawlers then obey the line.",
        "User-agent: *\nDisallow: /search\nDisallop: /cart",
        "User-agent: *\nDisallow: /search\nDisallow: /cart",
    ),
    "missing-colon": Code(
        "lines", Severity.ERROR, "Missing colon",
        "Google's parser accepts a line of exactly two words without a colon; other parsers do not.",
        "There is no colon after {0}, so most parsers ignore the line.",
        "Write {write}; all crawlers then obey the line.",
        "User-agent: *\nDisallow /search",
        question="Write “{0}: ” followed by a path of this site.",
    ),
    "indented-line": Code(
        "lines", Severity.NOTE, "White space before a key",
        "RFC 9309 §2.2 allows leading white space.",
        "RFC 9309 allows white space before the key, but some old parsers do not read such a line.",
        "Write {write}.",
        "User-agent: *\n  Disallow: /search",
    ),
    "odd-case-key": Code(
        "lines", Severity.NOTE, "Unusual capitalisation of a key",
        "Keys are not case-sensitive. Each spelling is reported once.",
        "{0} works, since case does not matter, but is hard to read.",
        "Write {write}.",
        "USER-agent: *\nDisallow: /search",
    ),
    "comment-after-rule": Code(
        "lines", Severity.NOTE, "Comment after a rule",
        "RFC 9309 §2.2 allows it. Parsers that do not look for `#` read a different path.",
        "Some old parsers take the comment after the rule as part of the path.",
        "Write {write}.",
        "User-agent: *\nDisallow: /search # slow pages",
        "User-agent: *\n# slow pages\nDisallow: /search",
    ),
    "hash-in-path": Code(
        "lines", Severity.WARNING, "# inside a path",
        "RFC 9309 §2.2: a `#` starts a comment wherever it stands, so `/#!/cart` is read as `/`. Behind a "
        "space it is reported as `comment-after-rule`.",
        "A # starts a comment, so crawlers read only “{0}”.",
        "Crawlers send no fragment. If that rule reaches further than you meant, remove the line; write %23 for "
        "a # in a path.",
        "User-agent: *\nDisallow: /shop#cart",
        "User-agent: *\nDisallow: /shop",
    ),
    "commented-out-rule": Code(
        "lines", Severity.NOTE, "Rule turned into a comment",
        "Reported once, for the first one: the comment is a rule but for its `#`.",
        "{0} is a comment, so it is not in force{1}.",
        "Remove the # if the rule should apply, or the line if it should not.",
        "User-agent: *\nDisallow: /search\n# Disallow: /cart",
        "User-agent: *\nDisallow: /search\nDisallow: /cart",
    ),
    "blank-line-in-group": Code(
        "lines", Severity.NOTE, "Blank line inside a group",
        "In RFC 9309 blank lines have no meaning; in the 1994 standard they ended a group. Only the first one "
        "in each group is reported.",
        "A blank line ends the group for parsers that follow the 1994 standard.",
        "Remove the blank line, or replace it with a comment.",
        "User-agent: *\nDisallow: /search\n\nDisallow: /cart",
        "User-agent: *\nDisallow: /search\n#\nDisallow: /cart",
    ),
    "no-user-agent": Code(
        "user-agents", Severity.ERROR, "No user-agent line",
        "RFC 9309 §2.2.1: rules belong to the user-agent lines above them.",
        "Without a user-agent line the rules apply to no crawler.",
        "Start with “User-agent: *”.",
        "Disallow: /search",
    ),
    "rule-before-user-agent": Code(
        "user-agents", Severity.ERROR, "Rule before any user-agent line",
        "RFC 9309 §2.2.1: rules belong to the user-agent lines above them.",
        "The rule comes before the first user-agent line, so it applies to no crawler.",
        "Move it below the user-agent line of the crawlers that it is for.",
        "Disallow: /search\nUser-agent: *\nDisallow: /cart",
        "User-agent: *\nDisallow: /search\nDisallow: /cart",
    ),
    "empty-user-agent": Code(
        "user-agents", Severity.ERROR, "User-agent without a value",
        "An empty value matches no crawler; it does not mean all crawlers.",
        "The line names no crawler.",
        "Which crawler is meant? Write its name; “*” is the name of all.",
        "User-agent:\nDisallow: /search",
    ),
    "agent-names-nobody": Code(
        "user-agents", Severity.ERROR, "User-agent that names no crawler",
        "A token starts with a letter, `-` or `_` (RFC 9309 §2.2.1); by default digits and dots are read as well.",
        "{0} is not a product token, so it matches no crawler.",
        "Write {write}; that crawler then follows this group.",
        "User-agent: *\nDisallow: /search\n\nUser-agent: /shop\nDisallow: /cart",
        question="Which crawler is meant? A name has letters, - and _ only; “*” is the name of all.",
    ),
    "star-agent-with-text": Code(
        "user-agents", Severity.WARNING, "Text after the * of a user-agent line",
        "Google reads `*` followed by a space as all crawlers, whatever comes after, and `*bot` as none. Names "
        "have no wildcards.",
        "{0} is not a plain *, and crawlers disagree about its meaning.",
        "Write {write}; that crawler then follows this group.",
        "User-agent: *bot\nDisallow: /search",
        question="{2}",
    ),
    "several-agents": Code(
        "user-agents", Severity.ERROR, "Several crawlers on one line",
        "Everything after the first token is ignored.",
        "{0} names only {1}: a user-agent line takes one token.",
        "Write {write}; the rules below then hold for each of them.",
        "User-agent: ExampleBot, FooBot\nDisallow: /search\n\nUser-agent: *\nDisallow:",
        "User-agent: ExampleBot\nUser-agent: FooBot\nDisallow: /search\n\nUser-agent: *\nDisallow:",
    ),
    "user-agent-header": Code(
        "user-agents", Severity.WARNING, "User-Agent header instead of a token",
        "Crawlers choose a group by their product token, not by the header that they send.",
        "{0} looks like a User-Agent header; crawlers read only the token {1}.",
        "Write {write}; that crawler then follows this group.",
        "User-agent: Mozilla/5.0 (compatible; ExampleBot/1.0)\nDisallow: /search\n\nUser-agent: *\nDisallow:",
        "User-agent: ExampleBot\nDisallow: /search\n\nUser-agent: *\nDisallow:",
        question="Which crawler is meant? Write its name once, without version and comment.",
    ),
    "agent-with-other-text": Code(
        "user-agents", Severity.NOTE, "Text after a token",
        "A version, a star or a second word after the token is ignored: `Googlebot Images` means all of "
        "Googlebot.",
        "Crawlers read only {1} of {0}.",
        "Write {write}.",
        "User-agent: ExampleBot/2.1\nDisallow: /search\n\nUser-agent: *\nDisallow:",
        "User-agent: ExampleBot\nDisallow: /search\n\nUser-agent: *\nDisallow:",
        question="Are all crawlers called {1} meant? Then write {1} alone.",
    ),
    "group-without-rules": Code(
        "user-agents", Severity.WARNING, "Group without rules",
        "A blank line does not end a group. A user-agent line without rules shares those of the next group; at "
        "the end of the file it allows everything.",
        "No Allow or Disallow follows {0} before the next user-agent line or the end of the file{1}.",
        "Add the missing rules below it, or “Disallow:” to allow everything.",
        "User-agent: ExampleBot\n\nUser-agent: *\nDisallow: /search",
        "User-agent: ExampleBot\nDisallow:\n\nUser-agent: *\nDisallow: /search",
    ),
    "agent-in-several-groups": Code(
        "user-agents", Severity.WARNING, "The same crawler in several groups",
        "RFC 9309 §2.2.1 merges the groups of a crawler, but not every crawler does.",
        "{0} already has a group at line {1}; RFC 9309 merges them, but some crawlers use only one.",
        "Put all its rules in one group.",
        "User-agent: *\nDisallow: /search\n\nUser-agent: *\nDisallow: /cart",
        "User-agent: *\nDisallow: /search\nDisallow: /cart",
    ),
    "no-star-group": Code(
        "user-agents", Severity.NOTE, "No * group",
        "This is valid. Still, say what applies to all other crawlers, so that readers do not have to guess.",
        "Crawlers that no group names may request everything.",
        "Add “User-agent: *” with the rules for all other crawlers, or with “Disallow:”.",
        "User-agent: ExampleBot\nDisallow: /search",
        "User-agent: ExampleBot\nDisallow: /search\n\nUser-agent: *\nDisallow:",
    ),
    "named-group-drops-star-rules": Code(
        "user-agents", Severity.NOTE, "Named group without the rules for *",
        "A crawler follows one group: its own group replaces that of `*` and does not add to it. Reported when "
        "its own group disallows something, but not this; not for crawlers that [ignore groups for "
        "`*`](../profiles.md#which-group-counts).",
        "{0} follows only its own group, and so ignores {1} at line {2}, which is for *.",
        "Repeat the rules for * that should apply to this group too.",
        "User-agent: *\nDisallow: /search\n\nUser-agent: ExampleBot\nDisallow: /cart",
        "User-agent: *\nDisallow: /search\n\nUser-agent: ExampleBot\nDisallow: /search\nDisallow: /cart",
    ),
    "misspelt-agent": Code(
        "crawlers", Severity.WARNING, "Misspelled name of a crawler",
        "The name of no known crawler, but one letter, a space or an ending away from one; or the name of its "
        "owner, such as Google for Googlebot.",
        "No known crawler is called {0}; perhaps {1} was meant.",
        "Write {write}; {1} then follows this group.",
        "User-agent: Googelbot\nDisallow: /search\n\nUser-agent: *\nDisallow:",
        "User-agent: Googlebot\nDisallow: /search\n\nUser-agent: *\nDisallow:",
        question="Is {1} meant? Then write {1}, which then follows this group.",
    ),
    "unknown-agent": Code(
        "crawlers", Severity.NOTE, "Unknown crawler",
        "Many files name crawlers that never existed, copied from old lists. Reported once, for the first one.",
        "{0} is not the name of a known crawler{1}.",
        "Check the spelling in the crawler's documentation; a name that no crawler uses does nothing.",
        "User-agent: MoonbeamCollector\nDisallow: /search\n\nUser-agent: *\nDisallow:",
        "User-agent: Googlebot\nDisallow: /search\n\nUser-agent: *\nDisallow:",
    ),
    "retired-agent": Code(
        "crawlers", Severity.NOTE, "Retired crawler",
        "The crawler is no longer in use; some have a successor with another name.",
        "{0}, a crawler of {1}, was retired in {2}.",
        "Remove the line.",
        "User-agent: msnbot\nDisallow: /search\n\nUser-agent: *\nDisallow:",
        "User-agent: bingbot\nDisallow: /search\n\nUser-agent: *\nDisallow:",
        question="{3}.",
    ),
    "agent-ignores-rules": Code(
        "crawlers", Severity.NOTE, "Crawler that does not follow robots.txt",
        "Its owner documents that it does not, or not always, follow robots.txt, most often because a user "
        "asked for the page. Reported where its group disallows something.",
        "According to its documentation, {0} ({1}) {2} robots.txt.",
        "Do not rely on these rules; block it at the server if you do not want it.",
        "User-agent: FeedFetcher-Google\nDisallow: /search\n\nUser-agent: *\nDisallow:",
        "User-agent: Googlebot\nDisallow: /search\n\nUser-agent: *\nDisallow:",
    ),
    "path-without-slash": Code(
        "rules", Severity.ERROR, "Rule without a leading slash",
        "The path of every URL starts with a slash, and rules are compared from the start.",
        "{0} matches nothing: a path must start with / or *.",
        "Write {write}; crawlers then obey the line.",
        "User-agent: *\nDisallow: search",
        question="What is meant? A rule is a path of this site, such as /search.",
    ),
    "empty-allow": Code(
        "rules", Severity.WARNING, "Allow without a path",
        "It allows nothing that would not be allowed without it. `Disallow:` without a path is different: it "
        "says that everything is allowed.",
        "An Allow without a path changes nothing.",
        "Write “Disallow:” to allow everything or “Disallow: /” to allow nothing, or remove the line.",
        "User-agent: *\nDisallow: /search\nAllow:",
    ),
    "rule-never-matches": Code(
        "rules", Severity.ERROR, "Rule that never matches",
        "The rule is a whole URL, or an end anchor without a path. `/robots.txt` itself is always allowed.",
        "{0} never affects a page: {1}.",
        "Write {write}; crawlers then obey the line.",
        "User-agent: *\nDisallow: https://example.com/search",
        question="{2}",
    ),
    "several-paths": Code(
        "rules", Severity.ERROR, "Several paths on one line",
        "A rule has one path, and a space is part of it.",
        "{0} is read as a single path.",
        "Write {write}; crawlers then obey each of them.",
        "User-agent: *\nDisallow: /search /cart",
        "User-agent: *\nDisallow: /search\nDisallow: /cart",
    ),
    "space-in-path": Code(
        "rules", Severity.WARNING, "Space in a path",
        "Crawlers request `%20`. By default scrapy_rep compares both spellings as equal (RFC 9309 §2.2.2); "
        "Google's parser does not.",
        "A space in a URL is written %20; Google compares {0} as it stands, so it matches nothing.",
        "Write {write}; Google then obeys the line.",
        "User-agent: *\nDisallow: /my folder/",
        "User-agent: *\nDisallow: /my%20folder/",
        question="Are the spaces meant? Then write %20 for each; if not, write the path without them.",
    ),
    "bad-escape": Code(
        "rules", Severity.WARNING, "Invalid % escape",
        "RFC 3986 §2.1: a `%` is followed by two hexadecimal digits.",
        "The % is not followed by two hexadecimal digits, and parsers disagree about it.",
        "{0}",
        "User-agent: *\nDisallow: /100%/",
        "User-agent: *\nDisallow: /100%25/",
    ),
    "agent-as-path": Code(
        "rules", Severity.ERROR, "Crawler name as a path",
        "The name of a crawler belongs in a user-agent line.",
        "{0} is the name of a crawler, but here it is read as a path.",
        "Write “User-agent: {0}” followed by “Disallow: /”.",
        "User-agent: *\nDisallow: ExampleBot",
        "User-agent: ExampleBot\nDisallow: /\n\nUser-agent: *\nDisallow:",
    ),
    "dollar-inside": Code(
        "rules", Severity.WARNING, "$ inside a path",
        "RFC 9309 §2.2.3: `$` means the end of the URL only at the end of a path. Not reported where a name "
        "begins with it, such as `/$FILE/`: there it works as written.",
        "A $ before the end of the path is a literal $, not the end of the URL.",
        "Write {write}; crawlers then obey the line.",
        "User-agent: *\nDisallow: /*.pdf$?",
        "User-agent: *\nDisallow: /*.pdf$",
        question="Is the end of the URL meant? Then put the $ last. A literal $ works as it is written.",
    ),
    "needless-star": Code(
        "rules", Severity.OPTIMISE, "Redundant *",
        "Rules match every URL that starts with their path, so a final star matches nothing more. It does make "
        "the rule longer by one, which counts when rules are ranked.",
        "A * in {0} does not change what the rule matches.",
        "Write {write}, which matches the same URLs.",
        "User-agent: *\nDisallow: /search*",
    ),
    "private-path": Code(
        "rules", Severity.NOTE, "Private path made public",
        "robots.txt is public, and some people read it to find such names. Reported for names such as private, "
        "backup, passwords or .sql, but not for well-known ones such as /admin/.",
        "{0} looks private, but anyone can read it here, and the rule does not protect it.",
        "Protect it with a password, and do not list it here.",
        "User-agent: *\nDisallow: /backup/2024.sql",
    ),
    "many-single-files": Code(
        "rules", Severity.OPTIMISE, "Many rules for single files",
        "Reported from 20 single files in a folder on.",
        "{0} rules of this group disallow single files in {1}.",
        "If crawlers need nothing else in it, disallow the folder {1}, or a pattern, and allow the exceptions.",
        'lint(b"User-agent: *\\n" + b"".join(b"Disallow: /news/%d.html\\n" % number for number in range(150)))',
        "User-agent: *\nDisallow: /news/",
    ),
    "allow-disallow-tie": Code(
        "rules-compared", Severity.WARNING, "Allow and Disallow of the same path",
        "At equal length the Allow rule wins (RFC 9309 §2.2.2).",
        "Line {1} allows {0} what this line disallows: the Allow wins, but some crawlers use the first rule.",
        "Keep the rule that you mean.",
        "User-agent: *\nDisallow: /search\nAllow: /search",
    ),
    "duplicate-rule": Code(
        "rules-compared", Severity.OPTIMISE, "Duplicate rule",
        "The same rule occurs twice in a group.",
        "Line {1} of this group is the same rule.",
        "Remove the line.",
        "User-agent: *\nDisallow: /search\nDisallow: /search",
    ),
    "useless-rule": Code(
        "rules-compared", Severity.OPTIMISE, "Useless rule",
        "Without the rule no URL changes its verdict, and all rules with this finding can be removed together. "
        "Reported only when that is proved, for a limited number of rules. All lines are one finding.",
        "{0} makes no difference: {1}.",
        "Remove the line.",
        "User-agent: *\nDisallow: /search\nDisallow: /search/advanced",
    ),
    "site-closed": Code(
        "reach", Severity.WARNING, "Site closed to all crawlers",
        "Intended for a test site; forgotten, it takes a site out of every search engine.",
        "{0} closes the whole site to every crawler, search engines included.",
        "Keep the line only if no search engine should show the site.",
        "User-agent: *\nDisallow: /",
    ),
    "closed-except": Code(
        "reach", Severity.NOTE, "Site closed except to named crawlers",
        "RFC 9309 §2.2.1: a crawler follows the groups that name it, else those for `*`, never both. The "
        "others, new search engines among them, may request nothing.",
        "{0} closes the site, but not to {1}{2}: a crawler that a group names follows that group alone.",
        "Check that every crawler you want is named.",
        "User-agent: Googlebot\nDisallow:\n\nUser-agent: *\nDisallow: /",
        "User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow:",
    ),
    "blocked-css-js": Code(
        "reach", Severity.WARNING, "Style sheets or scripts closed to Google",
        "Google renders pages and asks that their style sheets and scripts be open. Reported for folders such "
        "as `/css/` and `/wp-includes/`, for `/*.css` and `/*.js`, and for known folders of Drupal, Joomla and "
        "Magento.",
        "Google may not fetch files such as {0}, and so does not see pages as visitors do.",
        "If pages need them, remove or narrow the line{1}.",
        "User-agent: *\nDisallow: /css/",
    ),
    "blocked-images": Code(
        "reach", Severity.NOTE, "Images closed to Google",
        "Reported for folders such as `/images/`, and for `/*.jpg` and the like. Fine where images should not "
        "be found.",
        "Google may not fetch images such as {0}, so it does not show them in its results.",
        "If they should be found, remove or narrow the line{1}.",
        "User-agent: *\nDisallow: /images/",
    ),
    "blocked-queries": Code(
        "reach", Severity.NOTE, "All URLs with a query closed",
        "Links from newsletters and ads often have a query, and then lead to a page that crawlers may not "
        "request.",
        "{0} disallows every URL with a ?, such as links with a tracking parameter (?utm_source=…).",
        "Name the parameters that should not be crawled, such as “Disallow: /*?sort=”.",
        "User-agent: *\nDisallow: /*?",
        "User-agent: *\nDisallow: /*?sort=",
    ),
    "prefix-trap": Code(
        "reach", Severity.NOTE, "Rule that reaches further than its folder",
        "RFC 9309 §2.2.2: a rule matches every path that begins with it. Reported where another Disallow of "
        "the file, or the URL of a sitemap, shows such a path.",
        "{0} also disallows {1} (line {2}) and everything else that starts with {0}.",
        "Write {0}/ for the folder alone or {0}$ for the page alone, unless all of that is meant.",
        "User-agent: *\nDisallow: /blog\nSitemap: https://www.example/blog-sitemap.xml",
        "User-agent: *\nDisallow: /blog/\nSitemap: https://www.example/blog-sitemap.xml",
    ),
    "closable-pattern": Code(
        "reach", Severity.NOTE, "Pattern closed one by one",
        "Three rules or more close single URLs with a session, an order of a list, or a view for printing.",
        "{0} rules disallow single URLs with {1}, and other URLs like them stay open.",
        "Write “Disallow: {2}” if all of them should be closed.",
        "User-agent: *\nDisallow: /shoes?sort=price\nDisallow: /shirts?sort=price\nDisallow: /hats?sort=price",
        "User-agent: *\nDisallow: /*?sort=",
    ),
    "relative-sitemap": Code(
        "records", Severity.ERROR, "Sitemap without a complete URL",
        "A Sitemap record needs a complete URL (sitemaps.org).",
        "{0} is not a complete URL, so crawlers may ignore it.",
        "Write {write}.",
        "User-agent: *\nDisallow: /search\nSitemap: /sitemap.xml",
        "User-agent: *\nDisallow: /search\nSitemap: https://www.example/sitemap.xml",
        question="Write the complete URL, such as https://www.example/sitemap.xml.",
    ),
    "sitemap-not-http": Code(
        "records", Severity.WARNING, "Sitemap without an HTTP URL",
        "Crawlers fetch sitemaps over HTTP and HTTPS.",
        "{0} is not an HTTP or HTTPS URL, so crawlers do not fetch it.",
        "Serve the sitemap over HTTPS.",
        "User-agent: *\nDisallow: /search\nSitemap: ftp://example.com/sitemap.xml",
        "User-agent: *\nDisallow: /search\nSitemap: https://www.example/sitemap.xml",
    ),
    "no-sitemap": Code(
        "records", Severity.NOTE, "No sitemap",
        "Not required (sitemaps.org), but it helps crawlers to find all pages. Not reported for a closed site.",
        "No Sitemap line tells crawlers where to find the list of the site's pages.",
        "Add “Sitemap: ” with the complete URL of the sitemap, if there is one.",
        "User-agent: *\nDisallow: /search",
        "User-agent: *\nDisallow: /search\nSitemap: https://www.example/sitemap.xml",
    ),
    "bad-crawl-delay": Code(
        "records", Severity.ERROR, "Unreadable Crawl-delay",
        "The value is a number of seconds with a decimal point, not negative and without a unit.",
        "{0} is not a delay: crawlers expect a number of seconds, 0 or more.",
        "Write seconds as a number, such as 2 or 0.5, or remove the line.",
        "User-agent: Slurp\nDisallow: /search\nCrawl-delay: 5 s\n\nUser-agent: *\nDisallow:",
        "User-agent: Slurp\nDisallow: /search\nCrawl-delay: 5\n\nUser-agent: *\nDisallow:",
    ),
    "long-crawl-delay": Code(
        "records", Severity.WARNING, "Very long Crawl-delay",
        "Reported above 300 seconds, which allow 288 pages per day.",
        "With {0} seconds between requests a crawler gets at most {1} per day.",
        "Write a delay of a few seconds.",
        "User-agent: Slurp\nDisallow: /search\nCrawl-delay: 3600\n\nUser-agent: *\nDisallow:",
        "User-agent: Slurp\nDisallow: /search\nCrawl-delay: 5\n\nUser-agent: *\nDisallow:",
    ),
    "record-before-user-agent": Code(
        "records", Severity.WARNING, "Record before any user-agent line",
        "Crawl-delay, Request-rate and Visit-time belong to the user-agent lines above them.",
        "{0} comes before the first user-agent line, so it applies to no crawler.",
        "Move it below the user-agent line of the crawlers that it is for.",
        "Crawl-delay: 5\nUser-agent: *\nDisallow: /search",
        "User-agent: Slurp\nDisallow: /search\nCrawl-delay: 5\n\nUser-agent: *\nDisallow: /search",
    ),
    "record-before-rules": Code(
        "records", Severity.NOTE, "Record before the rules of its group",
        "RFC 9309 allows it. Yandex recommended such records after the rules, for parsers that expect a rule "
        "right below the user-agent line.",
        "{0} comes before the first rule of its group, where parsers that follow the 1994 standard expect rules.",
        "Move it after the rules of the group.",
        "User-agent: Slurp\nCrawl-delay: 5\nDisallow: /search\n\nUser-agent: *\nDisallow: /search",
        "User-agent: Slurp\nDisallow: /search\nCrawl-delay: 5\n\nUser-agent: *\nDisallow: /search",
    ),
    "record-of-another-engine": Code(
        "records", Severity.WARNING, "Record of one search engine in the group of another",
        "Google does not read Crawl-delay, Request-rate or Visit-time.",
        "The crawlers that this group names do not read {0}.",
        "Remove it, or move it to the group that it is for.",
        "User-agent: Googlebot\nDisallow: /search\nCrawl-delay: 5\n\nUser-agent: *\nDisallow: /search",
        "User-agent: Slurp\nDisallow: /search\nCrawl-delay: 5\n\nUser-agent: *\nDisallow: /search",
    ),
    "record-google-ignores": Code(
        "records", Severity.NOTE, "Record that Google ignores",
        "Reported in a group for all crawlers, which Google follows too.",
        "Google does not read {0}; other crawlers do.",
        "Do not rely on it for Google.",
        "User-agent: *\nDisallow: /search\nCrawl-delay: 5",
        "User-agent: Slurp\nDisallow: /search\nCrawl-delay: 5\n\nUser-agent: *\nDisallow: /search",
    ),
    "host-record": Code(
        "records", Severity.NOTE, "Host",
        "Yandex no longer reads it.",
        "Only Yandex ever read Host, and it stopped in 2018.",
        "Remove it, and redirect to the preferred host with status 301.",
        "User-agent: Yandex\nDisallow: /search\nHost: example.com\n\nUser-agent: *\nDisallow: /search",
    ),
    "noindex-record": Code(
        "records", Severity.WARNING, "Noindex",
        "It was never documented and is no longer read. Crawlers do not see a noindex on a page that they may "
        "not request, so allow the page and put it there.",
        "No search engine reads Noindex in robots.txt; Google stopped in 2019.",
        "Use the X-Robots-Tag header or a robots meta tag on pages that are not disallowed.",
        "User-agent: *\nNoindex: /search\nDisallow: /cart",
        "User-agent: *\nDisallow: /cart",
    ),
    "noindex-behind-disallow": Code(
        "records", Severity.WARNING, "Noindex behind a Disallow",
        "What crawlers may not request they do not see, a noindex on the page included, and search engines can "
        "still list its URL. Reported instead of `noindex-record`.",
        "No search engine reads Noindex in robots.txt, and line {1} disallows {0}: none sees a noindex there.",
        "Remove this line. To keep the page out of search results, allow it and send it with a noindex; to keep "
        "crawlers away, leave it disallowed.",
        "User-agent: *\nNoindex: /search\nDisallow: /search",
        "User-agent: *\nDisallow: /cart",
    ),
    "misplaced-content-signal": Code(
        "records", Severity.WARNING, "Content-Signal outside a group",
        "Content-Signal and Content-Usage apply to the crawlers of a group. A Content-Usage outside belongs to "
        "no crawler. scrapy_rep takes a Content-Signal outside for crawlers whose own group has none; other "
        "readers differ.",
        "{0} comes before the first user-agent line, {1}.",
        "Move it below “User-agent: *”.",
        "Content-Signal: ai-train=no\n\nUser-agent: *\nDisallow: /search",
        "User-agent: *\nContent-Signal: ai-train=no\nDisallow: /search",
    ),
    "unknown-content-signal": Code(
        "ai-signals", Severity.ERROR, "Unknown key in Content-Signal",
        "The keys are `search`, `ai-input` and `ai-train`, and `use` for a level (<https://contentsignals.org>).",
        "{0} is not a key of Content-Signal, so crawlers ignore it{1}.",
        "Write {2}.",
        "User-agent: *\nContent-Signal: ai_train=no\nDisallow: /search",
        "User-agent: *\nContent-Signal: ai-train=no\nDisallow: /search",
    ),
    "bad-content-signal": Code(
        "ai-signals", Severity.ERROR, "Unreadable value in Content-Signal",
        "Values are `yes` and `no`; the levels of `use` are `immediate`, `reference` and `full`. Commas "
        "separate keys, semicolons and spaces do not.",
        "Crawlers ignore {0}: its value is not {1}.",
        "Write {2}.",
        "User-agent: *\nContent-Signal: search=yes; ai-train=no\nDisallow: /search",
        "User-agent: *\nContent-Signal: search=yes, ai-train=no, use=reference\nDisallow: /search",
    ),
    "content-signal-with-path": Code(
        "ai-signals", Severity.ERROR, "Path in Content-Signal",
        "A Content-Signal is for all URLs of its group. What follows a comma is read all the same, and for all "
        "URLs.",
        "Content-Signal has no paths, so crawlers ignore {0}.",
        "Write {1} without a path, for all URLs of the group; only Content-Usage has paths.",
        "User-agent: *\nContent-Signal: /blog/ ai-train=no\nDisallow: /search",
        "User-agent: *\nContent-Usage: /blog/ train-ai=n\nDisallow: /search",
    ),
    "empty-signal": Code(
        "ai-signals", Severity.WARNING, "Signal that says nothing",
        "A Content-Signal or Content-Usage without a preference. A Content-Usage with a path alone takes the "
        "URLs below it out of the preferences of shorter paths, which is rarely meant.",
        "{0} states no preference.",
        "Add one, such as {1}, or remove the line.",
        "User-agent: *\nContent-Usage: /blog/\nDisallow: /search",
        "User-agent: *\nContent-Usage: /blog/ train-ai=n\nDisallow: /search",
    ),
    "license-without-url": Code(
        "ai-signals", Severity.ERROR, "License without a complete URL",
        "The record names the license of the site by its URL (<https://rslstandard.org>).",
        "{0} is not an HTTP or HTTPS URL, so crawlers find no license.",
        "Write the complete URL, such as https://example.com/license.xml.",
        "License: none (public domain)\n\nUser-agent: *\nDisallow: /search",
        "License: https://example.com/license.xml\n\nUser-agent: *\nDisallow: /search",
    ),
    "ai-training-record": Code(
        "ai-signals", Severity.ERROR, "DisallowAITraining or AllowAITraining",
        "The keys of a draft that expired (draft-canel-robots-ai-control-00). Parsers that match the beginning "
        "of a key take them for Disallow and Allow, so `DisallowAITraining: /` closes the site to search "
        "engines.",
        "Parsers that match the beginning of a key, such as Google's, read it as “{0}”, a rule for all crawling.",
        "{1}.",
        "User-agent: *\nDisallowAITraining: /",
        "User-agent: *\nContent-Usage: train-ai=n\nContent-Signal: ai-train=no\nDisallow:",
    ),
    "group-opens-site": Code(
        "ai-signals", Severity.ERROR, "Group for all crawlers that opens a closed site",
        "RFC 9309 §2.2.1 merges groups, and at equal length the Allow rule wins (§2.2.2). Cloudflare's managed "
        "robots.txt puts such a group before the rules of the site. Reported when the file would disallow `/` "
        "to crawlers that no group names without the first group for them, and allows it with that group.",
        "“{0}” at line {1} opens what this line closes: groups for * are merged, and this rule loses.",
        "Remove “{0}”; if a service adds it, such as Cloudflare's managed robots.txt, switch that off.",
        "User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\n\nUser-agent: *\nDisallow: /",
        "User-agent: *\nContent-Signal: search=yes, ai-train=no\nDisallow: /",
    ),
    "bad-content-usage": Code(
        "ai-signals", Severity.ERROR, "Unreadable Content-Usage",
        "The preferences are a Dictionary of RFC 9651, which is strict: with upper case in a key, a comma at "
        "the end or white space next to an `=` crawlers read nothing of the line. A value other than `y` and "
        "`n`, quotes included, states no preference; after a semicolon a label is a parameter, which is "
        "ignored.",
        "Crawlers ignore {0}: {1}.",
        "Write {2}.",
        "User-agent: *\nContent-Usage: train-ai=no\nDisallow: /search",
        "User-agent: *\nContent-Usage: train-ai=n, search=y\nDisallow: /search",
    ),
    "unknown-content-usage": Code(
        "ai-signals", Severity.ERROR, "Unknown label in Content-Usage",
        "The labels are `train-ai`, `ai-use` and `search` (draft-ietf-aipref-vocab-08). Those of "
        "Content-Signal are different.",
        "{0} is not a label of Content-Usage, so crawlers ignore it{1}.",
        "Write {2}.",
        "User-agent: *\nContent-Usage: ai-train=n\nDisallow: /search",
        "User-agent: *\nContent-Usage: train-ai=n\nDisallow: /search",
    ),
    "retired-content-usage": Code(
        "ai-signals", Severity.WARNING, "Retired label in Content-Usage",
        "A label of an earlier draft. Crawlers must ignore labels that they do not know, and nothing says that "
        "an old label means a new one.",
        "{0} is a label of draft-ietf-aipref-{1}. Later drafts dropped it; crawlers that follow them ignore it.",
        "Write the current labels, {2}, if they say what you mean.",
        "User-agent: *\nContent-Usage: genai=n\nDisallow: /search",
        "User-agent: *\nContent-Usage: train-ai=n\nDisallow: /search",
    ),
    "content-usage-path": Code(
        "ai-signals", Severity.ERROR, "Unreadable path in Content-Usage",
        "A path starts with a slash and ends at a space or a tab (draft-ietf-aipref-attach-05).",
        "{0} is not read as the path that was meant: {1}.",
        "Write {2}.",
        "User-agent: *\nContent-Usage: /blog/, train-ai=n\nDisallow: /search",
        "User-agent: *\nContent-Usage: /blog/ train-ai=n\nDisallow: /search",
    ),
    "content-usage-between-agents": Code(
        "ai-signals", Severity.WARNING, "Content-Usage between user-agent lines",
        "draft-ietf-aipref-attach-05 makes Content-Usage a rule, and a user-agent line after a rule starts a "
        "new group. Parsers that do not know it, such as Google's, see one group. scrapy_rep gives the "
        "Content-Usage to the lines above it, and the rules below to both.",
        "The draft makes Content-Usage a rule, so {0} lacks the rules for {1}; other parsers apply them to both.",
        "Put a rule after it, such as “Disallow:”, or move it below {1}.",
        "User-agent: ExampleBot\nContent-Usage: train-ai=n\nUser-agent: *\nDisallow: /search",
        "User-agent: ExampleBot\nContent-Usage: train-ai=n\nDisallow: /search\n\nUser-agent: *\nDisallow: /search",
    ),
    "read-otherwise": Code(
        "dialects", Severity.NOTE, "Crawler that reads the file differently",
        "The file names a crawler of Bing, Yandex or Baidu, which [reads robots.txt in a dialect of its "
        "own](../dialects.md): to some, a blank line ends a group, and the first rule that matches decides. "
        "The first such path is named. Files with more than 1,000 rules are not compared, of long ones some "
        "rules.",
        "{0} {1} request {2} ({3}); as Google reads the file, it {4} ({5}).",
        "“scrapy robots diff robots.txt --dialect google --dialect {6}” lists such URLs.",
        "User-agent: Yandex\nCrawl-delay: 5\n\nUser-agent: Baiduspider\nDisallow: /",
        "User-agent: Yandex\nDisallow:\n\nUser-agent: Baiduspider\nDisallow: /\n\nUser-agent: *\nDisallow:",
    ),
}
# fmt: on
"""The kinds of findings by their codes, in the order of the documentation."""


_FACT: Final = re.compile(r"\{\w+\}")


def explained(code: str, width: int = 100) -> str:
    """What the findings of *code* mean, with a bad and a good file, as plain text of *width* columns."""
    kind = CODES[code]
    parts = (
        f"{code}: {kind.severity}: {kind.title}",
        fill(kind.why, width),
        "Bad:",
        indent(kind.bad, "    "),
        fill(f"It says: {_FACT.sub('…', kind.message)}", width),
        fill(f"Help: {_FACT.sub('…', kind.question or kind.advice)}", width),
        "Good:",
        indent(kind.good, "    "),
    )
    return "\n\n".join(filter(None, parts)) + "\n"
