"""Where the default dialect leaves Google's parser: D1 to D3, and that google-exact does not."""

from __future__ import annotations

import dataclasses
import pickle

import pytest

from scrapy_rep.protocol import (
    DIALECTS,
    GOOGLE,
    GOOGLE_EXACT,
    Dialect,
    Reason,
    RobotsTxt,
    Rule,
    parse,
    product_token,
)
from scrapy_rep.testing import SITUATIONS, Situation

from .test_google_verdicts import DEVIATIONS

BOTH = pytest.mark.parametrize("dialect", [GOOGLE, GOOGLE_EXACT], ids=lambda dialect: dialect.name)

# Patterns, and URLs as in an href, that match in the default dialect alone.
ONE_SPELLING = {
    "/my folder/": "/my%20folder/x",
    "/a|b": "/a%7Cb",
    "/*?f[": "/list?f%5B",
    "/~me": "/%7Eme",
    "/%7Eme": "/~me",
    "/%61b": "/ab",
    "/é": "/é",
    "/%C3%A9": "/é",
    "/\udce9": "/%e9",
    "/a%2fb": "/a%2fb",
    "/a%2Ab": "/a*b",
    "/a%24": "/a$",
    "/a$b": "/a%24b",
    "/a'b": "/a%27b",
}
# Situations of the conformance kit that google-exact answers otherwise, and the deviation that makes them right.
DEVIATING = {
    "The file /robots.txt itself is always allowed.": "D1",
    "The hexadecimal digits of an escape may be in upper or lower case.": "D2",
    "An escaped letter in a URL is that letter.": "D2",
    "An escaped letter in a rule is that letter.": "D2",
    "An escaped star or dollar sign in a rule is that character in the URL.": "D2",
    "Spaces and other characters that Scrapy escapes match in a rule as they are written.": "D2",
    "A crawler whose name has digits and dots is addressed by its whole name.": "D3",
}


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


def test_dialects_are_found_by_name_and_google_is_the_default() -> None:
    assert all(DIALECTS[name].name == name for name in DIALECTS)
    assert [DIALECTS["google"], DIALECTS["google-exact"]] == [GOOGLE, GOOGLE_EXACT]
    assert [parse(b"").dialect, parse(b"", GOOGLE_EXACT).dialect] == [GOOGLE, GOOGLE_EXACT]


def test_a_dialect_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        GOOGLE.wide_tokens = False  # type: ignore[misc]


def test_a_dialect_can_be_sent_to_another_process() -> None:
    for dialect in DIALECTS.values():
        copy = pickle.loads(pickle.dumps(dialect))  # noqa: S301  # our own octets
        assert copy == dialect
        assert (copy.is_googles, copy.canonical_octets) == (dialect.is_googles, dialect.canonical_octets)


def is_right(situation: Situation, dialect: Dialect) -> bool:
    file = parse(situation.body, dialect)
    verdicts = [file.verdict(product_token(each.crawler), each.url) for each in situation.questions]
    return [verdict.allowed for verdict in verdicts] == [each.allowed for each in situation.questions]


def test_google_exact_answers_every_situation_as_the_default_does_where_no_deviation_says_otherwise() -> None:
    situations = [each for each in SITUATIONS if not each.section.endswith("disputed")]
    assert [each.name for each in situations if not is_right(each, GOOGLE)] == []
    wrong = {each.sentence: each for each in situations if not is_right(each, GOOGLE_EXACT)}
    assert wrong.keys() == DEVIATING.keys()
    for sentence, situation in wrong.items():
        names = [name for name, dialect in DEVIATIONS.items() if is_right(situation, dialect)]
        assert names == [DEVIATING[sentence]], sentence


# D1: /robots.txt itself


def test_rfc_2_2_2_robots_txt_itself_is_always_allowed() -> None:
    file = robots("User-agent: *", "Disallow: /", "Disallow: /robots.txt$")
    for path in ("/robots.txt", "/robots.txt#top", "/robots%2Etxt", "/%72obots.txt"):
        for url in (path, f"http://h.example{path}", f"https://h.example:8443{path}"):
            assert file.verdict("foobot", url) == (True, None, Reason.ROBOTS_TXT), url
    assert parse(b"").verdict("foobot", "/robots.txt").reason is Reason.ROBOTS_TXT


def test_no_other_path_is_robots_txt() -> None:
    file = robots("User-agent: *", "Disallow: /")
    for path in ("?", "?x", ";p", "/"):
        assert file.verdict("foobot", f"http://h.example/robots.txt{path}").line == 2, path
    for path in ("/a/robots.txt", "/Robots.txt", "//robots.txt"):
        assert file.verdict("foobot", path).line == 2, path


def test_google_exact_forbids_robots_txt_like_any_path() -> None:
    file = robots("User-agent: *", "Disallow: /", dialect=GOOGLE_EXACT)

    assert file.verdict("foobot", "http://h.example/robots.txt") == (False, Rule(False, b"/", 2), Reason.RULE)
    assert parse(b"", GOOGLE_EXACT).verdict("foobot", "/robots.txt").reason is Reason.NO_RULE


# D2: one spelling of octets


def test_rfc_2_2_2_octets_are_compared_in_one_spelling() -> None:
    for pattern, url in ONE_SPELLING.items():
        assert [allowed(pattern, url, dialect) for dialect in (GOOGLE, GOOGLE_EXACT)] == [False, True], pattern


def test_google_a_nul_ends_the_path_of_a_url_in_google_exact_alone() -> None:
    lines = ["User-agent: *", "Disallow: /a$", "Allow: /a%00", "Disallow: /$"]
    google, exact = (robots(*lines, dialect=dialect) for dialect in (GOOGLE, GOOGLE_EXACT))
    for url in ("http://h.example/a\0b?c", b"http://h.example/a\0", "/a\0", "http://h.example/a\0#b"):
        assert (google.verdict("foobot", url).line, exact.verdict("foobot", url).line) == (3, 2), url
    assert [exact.verdict("foobot", f"http://h.example{path}").line for path in ("/\0a", "\0/a")] == [4, 2]


# D3: product tokens beyond [A-Za-z_-], and empty ones


def test_a_name_beyond_rfc_characters_is_compared_on_all_of_them() -> None:
    for line, token in [
        ("mj12BOT/1.4", "MJ12bot"),
        ("MJ12bot, other", "MJ12bot"),
        ("360Spider", "360spider"),
        ("a.b", "A.B"),
        ("bücher", "bücher"),
        ("\udcfcber", "\udcfcber"),
    ]:
        assert [addressed(line, token, dialect) for dialect in (GOOGLE, GOOGLE_EXACT)] == [True, False], line


@BOTH
def test_such_a_name_is_equal_or_it_is_not(dialect: Dialect) -> None:
    for line in ("MJ", "MJ12", "MJ12bots", "MJ12bot.x", "MJ12botü", "xMJ12bot", ""):
        assert not addressed(line, "MJ12bot", dialect), line


@BOTH
def test_google_a_name_of_rfc_characters_meets_the_cut_token(dialect: Dialect) -> None:
    for line in ("MJ12bot", "MJ", "mj/2", "MJ.x", "MJü", "MJ 12"):
        assert addressed(line, "MJ", dialect), line


@BOTH
def test_a_wide_name_that_nobody_names_falls_to_the_global_group(dialect: Dialect) -> None:
    file = robots("User-agent: MJ", "Allow: /", "User-agent: *", "Disallow: /x", dialect=dialect)

    assert not file.has_group("MJ12bot")
    assert [file.verdict(token, "/x").line for token in ("MJ12bot", "MJ")] == [4, 2]


def test_google_exact_lets_an_empty_token_address_a_crawler_without_a_name() -> None:
    for line in ("", "/foobot", "(foobot)", "12bot", "*foobot", "**"):
        assert [addressed(line, "", dialect) for dialect in (GOOGLE, GOOGLE_EXACT)] == [False, True], line
        assert not addressed(line, "foobot", GOOGLE)
        assert not addressed(line, "foobot", GOOGLE_EXACT)


@BOTH
def test_google_the_global_group_reaches_a_crawler_without_a_name(dialect: Dialect) -> None:
    file = robots("User-agent: *", "Disallow: /x", "User-agent: a", "Disallow: /y", dialect=dialect)

    assert not file.has_group("")
    assert [file.verdict("", path).allowed for path in ("/x", "/y")] == [False, True]
