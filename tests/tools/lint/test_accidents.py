"""Accidents of publishing: each is the first finding, by its name, and says what crawlers now read."""

from __future__ import annotations

import pytest

from scrapy_rep.protocol import parse
from scrapy_rep.tools.lint import CODES, Severity, lint

from .asking import HEAD, codes

SITEMAP = b"Sitemap: https://www.shop.example/sitemap.xml\n"
RULES = HEAD + b"Disallow: /private/\n"
BODIES = {
    "line-breaks-lost": [
        rb"User-agent: *\nDisallow: /private/",
        rb"User-agent: *\r\nDisallow: /private/\r\nSitemap: https://www.shop.example/sitemap.xml",
        rb"# ours\nUser-agent: *\nDisallow: /private/",
        b"User-agent: *<br>Disallow: /private/<br>",
        b"User-agent: *<br />Disallow: /private/<br />",
        b"User-agent: * Disallow: /private/ Disallow: /old/ " + SITEMAP,
        b"User-agent: *; Disallow: /private/; Allow: /private/a",
        b"User-agent: * | Disallow: /private/ | Disallow: /old/",
        b"User-agent: *, Disallow: /private/, Disallow: /old/",
        "User-agent: *\u2028Disallow: /private/\u2028".encode(),
        "User-agent: *\x85Disallow: /private/".encode(),
        b"User-agent: *\x0bDisallow: /private/\x0b",
        b"User-agent: *&#10;Disallow: /private/",
        b"User-agent: *Disallow: /private/Disallow: /old/",
    ],
    "rule-on-agent-line": [
        b"User-agent: * Disallow: /private/",
        b"User-agent: GPTBot Disallow: /\n" + RULES,
        b"User-agent: * " + SITEMAP,
        b"User-agent: GPTBot, Disallow: /\n" + RULES,
        b"User-agent: Googlebot\tAllow: /\n" + RULES,
    ],
    "files-joined": [
        b"User-agent: GPTBot\nDisallow: /User-agent: *\nDisallow: /private/",
        RULES + SITEMAP.strip() + HEAD + b"Disallow: /old/",
        HEAD + b"Disallow:User-agent: GPTBot\nDisallow: /",
    ],
    "several-records": [
        HEAD + b"Disallow: /old/Disallow: /private/",
        HEAD + b"Disallow: /private/ " + SITEMAP,
        HEAD + b"Disallow: /private/, Allow: /private/a",
        HEAD + b"Crawl-delay: 10 Disallow: /private/",
    ],
    "line-broken": [
        HEAD + b"Disallow:\n/private/",
        HEAD + b"Disallow:\n/wiki/a:b",
        RULES + b"Sitemap:\nhttps://www.shop.example/sitemap.xml",
    ],
    "key-twice": [HEAD + b"Disallow: Disallow: /private/", b"User-agent: User-agent: *\nDisallow: /private/"],
    "invisible-character": [
        "User-agent: *\nDisallow: \xa0/private/".encode(),
        "User-agent: Google\u200bbot\nDisallow: /private/".encode(),
        "User-agent: *\n\xa0Disallow: /private/".encode(),
        "User-agent: *\nDisallow: /pri\xadvate/".encode(),
        "User-agent: *\n\u200eDisallow: /private/".encode(),
        "User-agent: *\nDisallow: /old/\n\ufeffUser-agent: GPTBot\nDisallow: /".encode(),
        "User-agent: *\nDis\u200ballow: /private/".encode(),
        "User-agent:\u3000*\nDisallow: /private/".encode(),
        "User-agent: *\nDisallow: /private/\u200b".encode(),
    ],
    "encoded-twice": [
        "ï»¿User-agent: *\nDisallow: /private/".encode(),
        "User-agent: *\nDisallow: /cafÃ©/".encode(),
    ],
    "lookalike-character": [
        "User-agent: *\nDisallow\uff1a/private/".encode(),
        "User\u2013agent: *\nDisallow: /private/".encode(),
    ],
    "quoted-value": [
        HEAD + b'Disallow: "/private/"',
        HEAD + b"Disallow: '/private/'",
        HEAD + "Disallow: “/private/”".encode(),
        b'User-agent: "*"\nDisallow: /private/',
        RULES + b'Sitemap: "https://www.shop.example/sitemap.xml"',
    ],
    "backslash-in-path": [HEAD + rb"Disallow: \private" + b"\\", HEAD + rb"Disallow: \private\a.html"],
    "html-in-line": [
        HEAD + b"Disallow: /*?a=1&amp;b=2",
        b"User-agent: *<br>\nDisallow: /private/<br>",
        RULES + b"Sitemap: https://www.shop.example/map?a=1&amp;b=2",
    ],
    "foreign-comment": [
        HEAD + b"Disallow: /private/ // ours",
        HEAD + b"Disallow: /private/ ; ours",
        HEAD + b"Disallow: /private/ <!-- ours -->",
        HEAD + b"Disallow: /private/ /* ours */",
        HEAD + b"Disallow: /old/\n<!--\nDisallow: /private/\n-->",
    ],
    "several-sitemaps": [
        RULES + b"Sitemap: https://www.shop.example/a.xml, https://www.shop.example/b.xml",
        RULES + b"Sitemap: https://www.shop.example/a.xml https://www.shop.example/b.xml",
    ],
    "placeholder-sitemap": [
        RULES + b"Sitemap: http://localhost:3000/sitemap.xml",
        RULES + b"Sitemap: https://www.example.com/sitemap.xml",
        RULES + b"Sitemap: http://127.0.0.1/sitemap.xml",
        RULES + b"Sitemap: https://yourdomain.com/sitemap.xml",
        RULES + b"Sitemap: {{ site.url }}/sitemap.xml",
    ],
    "html": [
        b"<p>User-agent: *</p><p>Disallow: /private/</p>",
        b"<!doctype html>\n<title>Not found</title>",
        b"<html><body>403 Forbidden</body></html>",
    ],
    "not-robots-txt": [
        b'{"error": "Not Found"}',
        b'<?xml version="1.0"?>\n<Error><Code>AccessDenied</Code></Error>',
        b"404 Not Found",
    ],
    "utf-16": [(HEAD + b"Disallow: /private/\n").decode().encode("utf-16")],
    "binary-file": [b"\x1f\x8b\x08\0\0\0\0\0"],
}
CASES = [(code, body) for code, bodies in BODIES.items() for body in bodies]
ACCIDENTS = {code for code, kind in CODES.items() if kind.is_accident}


@pytest.mark.parametrize(("code", "body"), CASES)
def test_an_accident_is_the_first_finding(code: str, body: bytes) -> None:
    first = lint(body)[0]
    assert (first.code, first.severity) == (code, Severity.ERROR)


@pytest.mark.parametrize(("code", "body"), CASES)
def test_an_accident_is_one_finding_on_its_line(code: str, body: bytes) -> None:
    first = lint(body)[0]
    assert [each.code for each in lint(body) if first.line and each.line == first.line] == [code] * bool(
        first.line
    )


@pytest.mark.parametrize(("code", "body"), [case for case in CASES if case[0] in ACCIDENTS])
def test_the_repaired_line_has_no_accident(code: str, body: bytes) -> None:
    first = lint(body)[0]
    if first.replacement is not None:
        lines = body.splitlines()
        lines[first.line - 1 : first.line] = first.replacement.split(b"\n")
        assert code not in {each.code for each in lint(b"\n".join(lines)) if each.line == first.line}


def test_every_accident_has_a_case() -> None:
    assert set(BODIES) >= ACCIDENTS


@pytest.mark.parametrize("body", [body for code, body in CASES if code in {"rule-on-agent-line", "files-joined"}])
def test_the_lines_that_are_written_hold_what_the_line_says(body: bytes) -> None:
    first = lint(body)[0]
    assert first.replacement
    assert b"".join(first.replacement.split()).replace(b",", b"") in b"".join(body.split()).replace(b",", b"")


@pytest.mark.parametrize(
    "line",
    [
        b"Disallow: /wiki/Disallow:",
        b"Disallow: /allow:all",
        b"Disallow: /*?redirect=http://user-agent.example/",
        b"# User-agent: * Disallow: /",
        rb"Disallow: /path\new",
        b"Disallow: /$FILE/",
        b"Disallow: /a'b/",
        b'Disallow: /*"*',
        b"Disallow: /a//b",
        b"Disallow: /a;b",
        b"Disallow: /a--b",
        "Disallow: /صفحه‌ها/".encode(),
        "Disallow: /café/".encode(),
        "# – a dash —\u200b".encode(),
        b"Sitemap: https://www.shop.example/?u=https://a.example/",
    ],
)
def test_what_only_looks_like_an_accident_is_none(line: bytes) -> None:
    assert not codes(RULES + line) & ACCIDENTS


def test_a_value_with_and_without_html_is_meant_both_ways() -> None:
    assert "html-in-line" not in codes(HEAD + b"Disallow: /*&sort=\nDisallow: /*&amp;sort=")


def test_a_dollar_in_a_name_is_no_anchor() -> None:
    assert not codes(HEAD + b"Disallow: /$FILE/\n" + SITEMAP)
    assert "dollar-inside" in codes(RULES + b"Disallow: /*.pdf$?")


def test_an_example_site_may_have_its_own_sitemap() -> None:
    body = RULES + b"Sitemap: https://example.com/sitemap.xml"
    assert "placeholder-sitemap" in codes(body)
    assert "placeholder-sitemap" not in codes(body, url="https://example.com/robots.txt")


def test_the_message_says_what_crawlers_read() -> None:
    body = b"User-agent: * Disallow: /"
    assert parse(body).verdict("a", "/").allowed
    assert lint(body)[0].message == (
        "The rule is on the user-agent line: crawlers read “User-agent: *” and ignore the rest."
    )
    assert lint(body)[0].advice == "Write “User-agent: *” and “Disallow: /”; crawlers then obey the rule."
