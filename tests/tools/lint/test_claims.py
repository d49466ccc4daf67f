"""What is claimed, and what is not: cases at the border of each check."""

from __future__ import annotations

import pytest

from scrapy_rep.protocol import parse
from scrapy_rep.tools.lint import lint

from .asking import HEAD, codes, only


def test_a_file_that_starts_with_an_html_comment_and_has_rules_is_no_page() -> None:
    body = b"<!-- ours -->\nUser-agent: *\nDisallow: /a\n"
    assert "html" not in codes(body)
    assert "html" in codes(b"<!-- ours -->\n<html>\n")


def test_of_a_page_with_rules_in_it_it_is_not_said_that_it_has_none() -> None:
    body = b"<pre>\nUser-agent: *\nDisallow: /a\n</pre>"
    assert not parse(body).verdict("a", "/a").allowed
    assert "no rules" not in only(body, "html").message
    assert "no rules" in only(b"<html>", "html").message


@pytest.mark.parametrize(
    ("body", "is_binary"),
    [
        (b"\x1f\x8b\x08\0\0\0\0\0", True),
        (bytes(range(256)), True),
        (b"PK\3\4" + b"\0" * 40, True),
        ("User-agent: *\nDisallow: /a\n".encode("utf-16"), False),
        (HEAD + b"Disallow: /a\0b\n", False),
        (b"GIF8\n" + HEAD + b"Disallow: /a\n", False),  # crawlers find the rules
        (b"\xef\xbb\xbf" + HEAD, False),
    ],
)
def test_a_binary_file_is_told_from_a_text_with_a_wrong_octet(body: bytes, is_binary: bool) -> None:
    assert ("binary-file" in codes(body)) is is_binary


@pytest.mark.parametrize(
    ("status", "code", "severity"),
    [
        (404, "missing-file", "note"),
        (410, "missing-file", "note"),
        (403, "error-page", "error"),
        (429, "unreachable", "error"),
        (500, "unreachable", "error"),
        (503, "unreachable", "error"),
    ],
)
def test_a_status_means_what_crawlers_make_of_it(status: int, code: str, severity: str) -> None:
    (finding,) = lint(b"<html>", status=status)
    assert (finding.code, finding.severity.value) == (code, severity)
    assert str(status) in finding.message


@pytest.mark.parametrize(
    ("path", "is_private"),
    [
        (b"/private/", True),
        (b"/_private", True),
        (b"/passwords.txt", True),
        (b"/old/db.sql", True),
        (b"/.git/", True),
        (b"/site_admin/", True),
        (b"/backup.zip", True),
        (b"/private-sale/", False),
        (b"/private.php", False),
        (b"/forgot-password", False),
        (b"/user/password/", False),
        (b"/admin/", False),
        (b"/?q=admin/", False),
        (b"/wp-admin/", False),
        (b"/administration/staff", False),
        (b"/victorias-secret/", False),
    ],
)
def test_only_what_tells_a_secret_is_called_private(path: bytes, is_private: bool) -> None:
    assert ("private-path" in codes(HEAD + b"Disallow: " + path)) is is_private


@pytest.mark.parametrize(
    ("path", "right"),
    [
        (b"css", b"/css"),
        (b".js", b"/*.js"),
        (b".pdf$", b"/*.pdf$"),
        (b"?sort=", b"/*?sort="),
        (b".git/", b"/.git/"),
        (b".env", b"/.env"),
        (b"search.aspx", b"/search.aspx"),
    ],
)
def test_the_advice_for_a_path_without_a_slash_is_what_was_meant(path: bytes, right: bytes) -> None:
    finding = only(HEAD + b"Disallow: " + path, "path-without-slash")
    assert finding.replacement == b"Disallow: " + right
    assert finding.advice == f"Write “Disallow: {right.decode()}”; crawlers then obey it."


@pytest.mark.parametrize(
    "path", [b"www.shop.example.com/a", b"zh-tw.www.cloudflare.com", b"shop.com/", b"^/a", b"a(b)"]
)
def test_what_may_be_another_site_or_a_pattern_is_asked_about(path: bytes) -> None:
    finding = only(HEAD + b"Disallow: " + path, "path-without-slash")
    assert finding.replacement is None
    assert finding.advice == "Write a path of this site, such as /search."


@pytest.mark.parametrize("host", [b"www.shop.example", b"cdn.example"])
def test_only_a_url_of_this_site_is_written_as_a_path(host: bytes) -> None:
    body = HEAD + b"Disallow: https://" + host + b"/private/"
    (finding,) = (
        one
        for one in lint(body, url="https://www.shop.example/robots.txt")
        if one.line == 2 and one.severity == "error"
    )
    is_here = host == b"www.shop.example"
    assert finding.replacement == (b"Disallow: /private/" if is_here else None)
    assert only(body, "rule-never-matches").replacement is None  # nobody said which site it is


@pytest.mark.parametrize(
    "path", [b"http://www.shop.example/", b"https://www.shop.example", b"https://www.shop.example/*"]
)
def test_a_url_of_a_whole_site_is_never_written_as_all_of_this_one(path: bytes) -> None:
    found = lint(HEAD + b"Disallow: " + path, url="https://www.shop.example/robots.txt")
    assert [one.replacement for one in found if one.code == "rule-never-matches"] == [None]


@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        (b"Disallow: /a#b", "hash-in-path", "“Disallow: /a”"),
        (b"Disallow: /#!/cart", "hash-in-path", "“Disallow: /”"),
        (b"Disallow: /a #b", "comment-after-rule", ""),
        (b"Disallow: #b", "comment-after-rule", ""),
        (b"Disallow:#b", "comment-after-rule", ""),
    ],
)
def test_a_hash_that_cuts_a_path_is_told_from_a_comment(line: bytes, code: str, told: str) -> None:
    assert told in only(HEAD + line, code).message
    assert len(codes(HEAD + line) & {"hash-in-path", "comment-after-rule"}) == 1


@pytest.mark.parametrize(
    ("line", "is_rule"),
    [
        (b"# Disallow: /a", True),
        (b"#allow:*.css", True),
        (b"## Disallow: /", True),
        (b"# Disallow: nothing", False),
        (b"# We disallow: /a and /b", False),
        (b"# Disallow: /a because of load", False),
    ],
)
def test_a_rule_in_a_comment_is_told_from_prose(line: bytes, is_rule: bool) -> None:
    assert ("commented-out-rule" in codes(HEAD + b"Disallow: /x\n" + line)) is is_rule


def test_a_line_of_a_commented_out_rule_counts_the_others() -> None:
    body = HEAD + b"#Disallow: /a\n#Disallow: /b\n#Disallow: /c\n"
    assert only(body, "commented-out-rule").message == (
        "Disallow: /a is a comment, so crawlers ignore it, and 2 more like it."
    )


def test_a_name_is_told_as_written_with_the_line_of_its_agent() -> None:
    body = HEAD + b"Disallow: /a\nUser-agent: FooBot\nUser-agent: BarBot\nDisallow: /b\n"
    found = [each for each in lint(body) if each.code == "named-group-drops-star-rules"]
    assert [(each.line, each.message.split()[0]) for each in found] == [(3, "FooBot"), (4, "BarBot")]


def test_google_a_crawler_that_ignores_what_is_for_all_lacks_none_of_it() -> None:
    body = HEAD + b"Disallow: /a\nUser-agent: %s\nDisallow: /b\n"
    assert "named-group-drops-star-rules" in codes(body % b"Googlebot")
    assert "named-group-drops-star-rules" not in codes(body % b"AdsBot-Google")


def test_unknown_crawlers_are_one_finding() -> None:
    body = HEAD + b"Disallow:\n" + b"".join(b"User-agent: Nobody%d\n" % n for n in range(4)) + b"Disallow: /a\n"
    finding = only(body, "unknown-agent")
    assert (finding.line, finding.column) == (3, 13)
    assert finding.message == "Nobody0 is not the name of a known crawler, and neither are 3 more of the 4 names."


@pytest.mark.parametrize(
    ("agent", "rule", "code"),
    [
        (b"msnbot", b"Disallow: /a", "retired-agent"),
        (b"Yahoo Pipes", b"Disallow: /a", "unknown-agent"),
        (b"ChatGPT-User", b"Disallow: /a", "agent-ignores-rules"),
        (b"ChatGPT-User", b"Disallow:", ""),  # it may come anyway
        (b"Googelbot", b"Disallow: /a", "misspelt-agent"),
        (b"Googlebot", b"Disallow: /a", ""),
        (b"Mozilla/5.0 (MSIE 10.0)", b"Disallow: /a", ""),
    ],
)
def test_what_is_known_of_a_crawler_is_told(agent: bytes, rule: bytes, code: str) -> None:
    about = {"retired-agent", "agent-ignores-rules", "misspelt-agent", "unknown-agent"}
    assert codes(b"User-agent: " + agent + b"\n" + rule) & about == ({code} if code else set())


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (HEAD + b"Disallow: /", "site-closed"),
        (HEAD + b"Disallow: *", "site-closed"),
        (HEAD + b"Disallow: /*", "site-closed"),
        (b"User-agent: a\nDisallow: /\n" + HEAD + b"Disallow: /", "site-closed"),
        (b"User-agent: a\nDisallow: /b\n" + HEAD + b"Disallow: /", "closed-except"),
        (b"User-agent: a\nUser-agent: *\nDisallow: /b\n" + HEAD + b"Disallow: /", "closed-except"),
        (HEAD + b"Disallow: /\nAllow: /a", ""),
        (HEAD + b"Disallow: /$", ""),
        (b"User-agent: a\nDisallow: /", ""),
    ],
)
def test_a_closed_site_is_told_from_one_with_a_door(body: bytes, code: str) -> None:
    assert codes(body) & {"site-closed", "closed-except"} == ({code} if code else set())
    assert ("no-sitemap" in codes(body)) is (not code)


@pytest.mark.parametrize(
    ("rules", "path"),
    [
        (b"Disallow: /css/", "/css/a.css"),
        (b"Disallow: /*wp-content*", "/wp-content/a.css"),
        (b"Disallow: /*/css/", "/a/css/a.css"),
        (b"Disallow: /js/", "/js/a.js"),
        (b"Disallow: /*.js$", "/a.js"),
        (b"Disallow: /blog/wp-includes", "/blog/wp-includes/a.css"),
        (b"Disallow: /css/\nAllow: /css/*.css", "/css/a.js"),
        (b"Disallow: /css/\nAllow: /css/*.css\nAllow: /css/*.js", ""),
        (b"Disallow: /static/one.js", ""),  # a single file may well be closed
        (b"Disallow: /modules/", ""),
        (b"Disallow: /modules/\nDisallow: /CHANGELOG.txt", "/modules/a.css"),
        (b"Disallow: /css-tricks/", ""),
        (b"Disallow: /css/\n\nUser-agent: Googlebot\nDisallow: /a", ""),
        (b"Disallow: /a\n\nUser-agent: AhrefsBot\nDisallow: /css/", ""),
    ],
)
def test_closed_style_sheets_and_scripts_are_those_of_google(rules: bytes, path: str) -> None:
    body = HEAD + rules
    assert ("blocked-css-js" in codes(body)) is bool(path)
    if path:
        finding = only(body, "blocked-css-js")
        assert path in finding.message
        advised = finding.advice.partition("“Allow: ")[2].partition("”")[0]
        rule = body.splitlines()[finding.line - 1].removeprefix(b"Disallow: ")
        assert (len(advised) > len(rule)) is (b"*" not in rule)  # for a pattern no exception is made up


@pytest.mark.parametrize(
    ("body", "is_closed"),
    [
        (HEAD + b"Disallow: /images/", True),
        (HEAD + b"Disallow: /images/\n\nUser-agent: Googlebot-Image\nDisallow:", False),
        (HEAD + b"Disallow: /images/\n\nUser-agent: Googlebot\nDisallow:", False),
        (HEAD + b"Disallow:\n\nUser-agent: Googlebot\nDisallow: /images/", True),
        (HEAD + b"Disallow: /images/logo.png", False),
        (HEAD + b"Disallow: /*.png$", True),
        (HEAD + b"Disallow: /imagesearch", False),
    ],
)
def test_closed_images_are_those_of_google(body: bytes, is_closed: bool) -> None:
    assert ("blocked-images" in codes(body)) is is_closed


@pytest.mark.parametrize(
    ("rules", "is_closed"),
    [(b"Disallow: /*?", True), (b"Disallow: *?*", True), (b"Disallow: /?", False), (b"Disallow: /*?a=", False)],
)
def test_all_queries_are_told_from_some(rules: bytes, is_closed: bool) -> None:
    assert ("blocked-queries" in codes(HEAD + rules)) is is_closed


@pytest.mark.parametrize(
    ("rules", "longer"),
    [
        (b"Disallow: /x\nDisallow: /x-old", "/x-old (line 3)"),
        (b"Disallow: /x\nDisallow: /x2", "/x2 (line 3)"),
        (b"Disallow: /x\nSitemap: https://a.example/x_sitemap.xml", "/x_sitemap.xml (line 3)"),
        (b"Disallow: /x\nAllow: /x-old", ""),  # its author knows
        (b"Disallow: /x\nDisallow: /x/old", ""),
        (b"Disallow: /x\nDisallow: /x.html", ""),
        (b"Disallow: /x/\nDisallow: /x-old", ""),
        (b"Disallow: /x\nSitemap: http://[/x-old", ""),
    ],
)
def test_a_prefix_is_a_trap_where_the_file_shows_what_else_it_forbids(rules: bytes, longer: str) -> None:
    found = [each for each in lint(HEAD + rules) if each.code == "prefix-trap"]
    assert [longer in each.message for each in found] == ([True] if longer else [])


def test_a_sitemap_of_another_host_shows_nothing() -> None:
    body = HEAD + b"Disallow: /x\nSitemap: https://b.example/x-map.xml"
    assert "prefix-trap" not in codes(body, url="https://a.example/robots.txt")
    assert "prefix-trap" in codes(body, url="https://b.example/robots.txt")


@pytest.mark.parametrize(
    ("rules", "pattern"),
    [
        (b"Disallow: /a?sid=1\nDisallow: /b?sid=2\nDisallow: /c?sid=3", "/*?sid="),
        (b"Disallow: /a?b=1&sort=1\nDisallow: /b?b=1&sort=2\nDisallow: /c?b=1&sort=3", "/*&sort="),
        (b"Disallow: /a/print/\nDisallow: /b/print/\nDisallow: /c/print", "/*/print/"),
        (b"Disallow: /a?sid=1\nDisallow: /b?sid=2", ""),
        (b"Disallow: /a?sid=1\nDisallow: /b?sid=2\nDisallow: /c?sid=3\nDisallow: /*?sid=", ""),
        (b"Disallow: /*/a?sid=\nDisallow: /*/b?sid=2\nDisallow: /*/c?sid=3", ""),
    ],
)
def test_a_pattern_is_hinted_at_where_single_rules_show_it(rules: bytes, pattern: str) -> None:
    found = [each for each in lint(HEAD + rules) if each.code == "closable-pattern"]
    assert [f"“Disallow: {pattern}”" in each.advice for each in found] == ([True] if pattern else [])


def test_a_retired_crawler_is_not_to_be_replaced_by_one_that_is_there() -> None:
    retired, successor = b"User-agent: msnbot\nDisallow: /a\n", b"User-agent: bingbot\nDisallow: /a\n"
    assert only(retired, "retired-agent").advice.startswith("Name bingbot")
    assert only(retired + successor, "retired-agent").advice == "Remove the group of msnbot."


def test_a_retired_crawler_is_removed_alone_only_where_others_share_its_rules() -> None:
    """Without its line, its rules would be those of the group above."""
    body = HEAD + b"Disallow: /a\nUser-agent: Teoma\nDisallow: /\n"
    assert only(body, "retired-agent").replacement is None
    shared = body.replace(b"Teoma\n", b"Teoma\nUser-agent: Googlebot\n")
    assert only(shared, "retired-agent").replacement == b""
