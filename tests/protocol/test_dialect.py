"""Where the default dialect leaves Google's parser: D1 to D3, and that google-exact does not."""

from __future__ import annotations

import dataclasses
import pickle

import pytest

from scrapy_rep.protocol import DIALECTS, GOOGLE, GOOGLE_EXACT, Dialect, Reason, RobotsTxt, Rule, parse

BOTH = pytest.mark.parametrize("dialect", [GOOGLE, GOOGLE_EXACT], ids=lambda dialect: dialect.name)


def robots(*lines: str, dialect: Dialect = GOOGLE) -> RobotsTxt:
    return parse("\n".join(lines).encode("utf-8", "surrogateescape"), dialect)


def allowed(pattern: str, url: str, dialect: Dialect) -> bool:
    return robots("User-agent: *", f"Disallow: {pattern}", dialect=dialect).verdict("foobot", url).allowed


def addressed(line: str, token: str, dialect: Dialect) -> bool:
    """Whether a group under *line* names *token* and its rules reach it, which must be one answer."""
    file = robots(f"User-agent: {line}", "Disallow: /x", dialect=dialect)
    named = file.has_group(token)
    assert file.verdict(token, "/x").allowed is not named
    assert file.verdict(token, "/y").allowed
    return named


def test_ours_dialects_are_found_by_name() -> None:
    assert all(DIALECTS[name].name == name for name in DIALECTS)
    assert [DIALECTS["google"], DIALECTS["google-exact"]] == [GOOGLE, GOOGLE_EXACT]


def test_ours_google_is_the_default() -> None:
    assert parse(b"").dialect is GOOGLE
    assert parse(b"", GOOGLE_EXACT).dialect is GOOGLE_EXACT


def test_ours_a_dialect_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        GOOGLE.wide_tokens = False  # type: ignore[misc]


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=lambda dialect: dialect.name)
def test_ours_a_dialect_can_be_sent_to_another_process(dialect: Dialect) -> None:
    copy = pickle.loads(pickle.dumps(dialect))  # noqa: S301  # our own octets
    assert copy == dialect
    assert (copy.is_googles, copy.canonical_octets) == (dialect.is_googles, dialect.canonical_octets)


# D1: /robots.txt itself


@pytest.mark.parametrize(
    "url",
    [
        "http://h.example/robots.txt",
        "https://h.example:8443/robots.txt#top",
        "/robots.txt",
        "http://h.example/robots%2Etxt",
        "http://h.example/%72obots.txt",
    ],
)
def test_rfc_2_2_2_robots_txt_itself_is_always_allowed(url: str) -> None:
    verdict = robots("User-agent: *", "Disallow: /", "Disallow: /robots.txt$").verdict("foobot", url)

    assert verdict.allowed
    assert (verdict.rule, verdict.line, verdict.reason) == (None, 0, Reason.ROBOTS_TXT)


@pytest.mark.parametrize(
    "path", ["/robots.txt?", "/robots.txt?x", "/robots.txt;p", "/robots.txt/", "/a/robots.txt"]
)
def test_ours_no_other_path_is_robots_txt(path: str) -> None:
    verdict = robots("User-agent: *", "Disallow: /").verdict("foobot", f"http://h.example{path}")

    assert not verdict.allowed
    assert (verdict.line, verdict.reason) == (2, Reason.RULE)


def test_ours_the_case_of_robots_txt_counts() -> None:
    assert not allowed("/", "/Robots.txt", GOOGLE)
    assert not allowed("/", "//robots.txt", GOOGLE)


def test_ours_robots_txt_is_allowed_without_rules_too() -> None:
    assert parse(b"").verdict("foobot", "/robots.txt").reason is Reason.ROBOTS_TXT
    assert parse(b"").verdict("foobot", "/").reason is Reason.NO_RULE


def test_google_exact_forbids_robots_txt_like_any_path() -> None:
    file = robots("User-agent: *", "Disallow: /", dialect=GOOGLE_EXACT)
    verdict = file.verdict("foobot", "http://h.example/robots.txt")

    assert not verdict.allowed
    assert (verdict.rule, verdict.reason) == (Rule(False, b"/", 2), Reason.RULE)
    assert parse(b"", GOOGLE_EXACT).verdict("foobot", "/robots.txt").reason is Reason.NO_RULE


# D2: one spelling of octets


@pytest.mark.parametrize(
    ("pattern", "url"),
    [
        ("/my folder/", "/my%20folder/x"),
        ("/a|b", "/a%7Cb"),
        ("/*?f[", "/list?f%5B"),
        ("/~me", "/%7Eme"),
        ("/%7Eme", "/~me"),
        ("/%61b", "/ab"),
        ("/é", "/é"),
        ("/%C3%A9", "/é"),
        ("/\udce9", "/%e9"),
        ("/a%2fb", "/a%2fb"),
        ("/a%2Ab", "/a*b"),
        ("/a%24", "/a$"),
        ("/a$b", "/a%24b"),
        ("/a'b", "/a%27b"),
    ],
)
def test_rfc_2_2_2_octets_are_compared_in_one_spelling(pattern: str, url: str) -> None:
    assert not allowed(pattern, url, GOOGLE)
    assert allowed(pattern, url, GOOGLE_EXACT)


@pytest.mark.parametrize(
    ("pattern", "url"),
    [("/a b", "/a b"), ("/é", "/%C3%A9"), ("/%c3%a9", "/%C3%A9"), ("/a%2fb", "/a%2Fb"), ("/a$b", "/a$b")],
)
@BOTH
def test_google_normalises_hexadecimal_digits_and_octets_beyond_ascii_of_the_pattern(
    pattern: str, url: str, dialect: Dialect
) -> None:
    assert not allowed(pattern, url, dialect)
    assert allowed(pattern, "/other", dialect)


@pytest.mark.parametrize(
    ("pattern", "url"),
    [("/a%2Fb", "/a/b"), ("/a/b", "/a%2Fb"), ("/?u=https%3A%2F%2Fx", "/?u=https://x"), ("/a%2Bb", "/a+b")],
)
@BOTH
def test_ours_an_escaped_reserved_octet_is_another_octet(pattern: str, url: str, dialect: Dialect) -> None:
    assert allowed(pattern, url, dialect)
    assert not allowed(pattern, pattern, dialect)


def test_google_exact_takes_a_star_of_the_path_as_any_octet() -> None:
    assert not allowed("/a*b", "/a*b", GOOGLE_EXACT)
    assert not allowed("/a*b", "/a*b", GOOGLE)
    assert allowed("/a%2Ab", "/a*b", GOOGLE_EXACT)


@BOTH
def test_ours_the_length_that_ranks_is_googles_count_in_both(dialect: Dialect) -> None:
    file = robots("User-agent: *", "Disallow: /%7e", "Allow: /*b", "Allow: /*b*c", dialect=dialect)

    assert [file.verdict("foobot", f"/%7E{tail}").line for tail in ("", "b", "bc")] == [2, 2, 4]


@pytest.mark.parametrize(
    "url", ["http://h.example/a\0b?c", b"http://h.example/a\0", "/a\0", "http://h.example/a\0#b"]
)
def test_google_a_nul_ends_the_path_of_a_url_in_google_exact_alone(url: str | bytes) -> None:
    lines = ["User-agent: *", "Disallow: /a$", "Allow: /a%00"]
    google, exact = (robots(*lines, dialect=dialect).verdict("foobot", url) for dialect in (GOOGLE, GOOGLE_EXACT))
    assert (google.line, exact.line) == (3, 2)


def test_google_a_nul_behind_the_slash_leaves_the_root() -> None:
    file = robots("User-agent: *", "Disallow: /$", dialect=GOOGLE_EXACT)
    assert [file.verdict("foobot", url).allowed for url in ("http://h.example/\0a", "http://h.example\0/a")] == [
        False,
        True,
    ]


# D3: product tokens beyond [A-Za-z_-], and empty ones


@pytest.mark.parametrize(
    ("line", "token"),
    [
        ("MJ12bot", "MJ12bot"),
        ("mj12BOT/1.4", "MJ12bot"),
        ("MJ12bot, other", "MJ12bot"),
        ("360Spider", "360spider"),
        ("a.b", "A.B"),
        ("bücher", "bücher"),
        ("\udcfcber", "\udcfcber"),
    ],
)
def test_ours_a_name_beyond_rfc_characters_is_compared_on_all_of_them(line: str, token: str) -> None:
    assert addressed(line, token, GOOGLE)
    assert not addressed(line, token, GOOGLE_EXACT)


@BOTH
@pytest.mark.parametrize("line", ["MJ", "MJ12", "MJ12bots", "MJ12bot.x", "MJ12botü", "xMJ12bot", ""])
def test_ours_such_a_name_is_equal_or_it_is_not(line: str, dialect: Dialect) -> None:
    assert not addressed(line, "MJ12bot", dialect)


@BOTH
@pytest.mark.parametrize("line", ["MJ12bot", "MJ", "mj/2", "MJ.x", "MJü", "MJ 12"])
def test_google_a_name_of_rfc_characters_meets_the_cut_token(line: str, dialect: Dialect) -> None:
    assert addressed(line, "MJ", dialect)


@BOTH
def test_ours_a_wide_name_that_nobody_names_falls_to_the_global_group(dialect: Dialect) -> None:
    file = robots("User-agent: MJ", "Allow: /", "User-agent: *", "Disallow: /x", dialect=dialect)

    assert not file.has_group("MJ12bot")
    assert file.verdict("MJ12bot", "/x").line == 4
    assert file.verdict("MJ", "/x").line == 2


@pytest.mark.parametrize("line", ["", "/foobot", "(foobot)", "12bot", "*foobot", "**"])
def test_google_exact_lets_an_empty_token_address_a_crawler_without_a_name(line: str) -> None:
    assert addressed(line, "", GOOGLE_EXACT)
    assert not addressed(line, "", GOOGLE)


@BOTH
@pytest.mark.parametrize("line", ["", "/foobot", "(foobot)", "12foobot", "*foobot", " # c"])
def test_google_an_empty_token_addresses_no_crawler_with_a_name(line: str, dialect: Dialect) -> None:
    assert not addressed(line, "foobot", dialect)


@BOTH
def test_google_the_global_group_reaches_a_crawler_without_a_name(dialect: Dialect) -> None:
    file = robots("User-agent: *", "Disallow: /x", "User-agent: a", "Disallow: /y", dialect=dialect)

    assert not file.has_group("")
    assert not file.verdict("", "/x").allowed
    assert file.verdict("", "/y").allowed
