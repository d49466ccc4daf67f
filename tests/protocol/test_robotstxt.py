"""Groups, rules, verdicts and the lines that decide: RFC 9309 sections 2.1, 2.2.1 and 2.2.2 in Google's reading.

What is allowed is asked by the situations of the conformance kit and, of real files, by the rows of the corpus.
Here are the lines that decide, in both of Google's dialects, and what a file says beside verdicts.
"""

from __future__ import annotations

import time

import pytest

from scrapy_rep.protocol import GOOGLE, GOOGLE_EXACT, Dialect, Reason, RobotsTxt, Rule, parse

BOTH = pytest.mark.parametrize("dialect", [GOOGLE, GOOGLE_EXACT], ids=lambda dialect: dialect.name)

# Rules for all, the first of them on line 2; URLs, each with the line that decides about it, negative where that
# one disallows and 0 where none does.
RULES_THAT_DECIDE = [
    ("Allow: /p; Disallow: /", {"/page": 2, "/other": -3}),
    ("Allow: /p*; Disallow: /page", {"/page": -3, "/p": 2}),
    ("Allow: /a*****; Disallow: /abcde", {"/abcde": 2}),
    # A tie goes to allow, then to the first line.
    ("Disallow: /x; Allow: /x", {"/x": 3, "/y": 0}),
    ("Disallow: /pa; Allow: /*a", {"/pa": 3, "/a": 3}),
    ("Disallow: /*b; Disallow:; Disallow: /ab; Disallow: /ab", {"/ab": -2, "/a": 3}),
    # An empty rule forbids nothing, and is named.
    ("Disallow:; Allow:; Disallow: /x", {"/y": 3, "/x": -4}),
    ("Disallow: /; Disallow:", {"/x": -2}),
    # A letter beyond ASCII counts six.
    ("Disallow: /é; Allow: /*cdef; Allow: /*bcdex", {"/%C3%A9abcdef": -2, "/%C3%A9abcdex": 4}),
    # An allowed index page allows its folder, with the length of that.
    ("Disallow: /; Allow: /index.html", {"http://h.example": 3, "/index.html": 3, "/x": -2}),
    ("Disallow: /; Allow: /a/index.htm", {"/a/": 3, "/a/x": -2, "/a": -2, "/a/?q": -2}),
    ("Disallow: /; Allow: /a/index.html?x=1", {"/a/": 3}),
    ("Disallow: /; Allow: /a/index.htm*", {"/a/": 3}),
    ("Disallow: /; Allow: /a/myindex.html", {"/a/": -2, "/a/myindex.html": 3}),
    ("Disallow: /; Allow: /a/index.html/x", {"/a/": -2, "/a/index.html/x": 3}),
    ("Disallow: /; Allow: index.html", {"/": -2, "/index.html": -2}),
    ("Disallow: /a/index.html", {"/a/index.html": -2, "/a/": 0}),
    ("Disallow: /a/*; Allow: /a/index.html", {"/a/": 3}),
    ("Disallow: /a/**; Allow: /a/index.html", {"/a/": -2, "/a/index.html": 3}),
]


def robots(lines: str, dialect: Dialect = GOOGLE) -> RobotsTxt:
    """A file with these *lines*, between semicolons."""
    return parse("\n".join(lines.split("; ")).encode("utf-8", "surrogateescape"), dialect)


def for_all(rules: str, dialect: Dialect = GOOGLE) -> RobotsTxt:
    """A file for everybody; its first rule is on line 2."""
    return robots(f"User-agent: *; {rules}", dialect)


def decided(file: RobotsTxt, *urls: str, agent: str = "foobot") -> list[int]:
    """The line that decides about each of *urls*, negative where it disallows."""
    verdicts = [file.verdict(agent, url) for url in urls]
    return [verdict.line if verdict.allowed else -verdict.line for verdict in verdicts]


@BOTH
@pytest.mark.parametrize(("rules", "expected"), RULES_THAT_DECIDE)
def test_google_the_line_that_decides(rules: str, expected: dict[str, int], dialect: Dialect) -> None:
    assert decided(for_all(rules, dialect), *expected) == [*expected.values()]


# Groups


@BOTH
def test_google_rules_alone_close_a_run_of_user_agent_lines(dialect: Dialect) -> None:
    for between in ("", "# comment", "Sitemap: /s.xml", "Crawl-delay: 1", "Host: h", "Foo: bar", "garbage", "\0"):
        file = robots(f"User-agent: foobot; {between}; User-agent: barbot; Disallow: /x", dialect)
        assert [decided(file, "/x", agent=agent) for agent in ("foobot", "barbot")] == [[-4], [-4]], between
    for rule in ("Disallow: /x", "Allow: /x", "Disallow:", "Allow:", "disalow /x", "diasllow:"):
        file = robots(f"User-agent: foobot; {rule}; User-agent: barbot; Disallow: /yy", dialect)
        assert [file.verdict(agent, "/yy").allowed for agent in ("foobot", "barbot")] == [True, False], rule
        assert [len(group.agents) for group in file.groups] == [1, 1]


@BOTH
def test_rfc_2_2_1_groups_of_one_token_are_merged(dialect: Dialect) -> None:
    for first, second in (("foobot", "FooBot/2.0"), ("*", "*")):
        groups = [f"User-agent: {first}; Disallow: /x", "User-agent: barbot; Disallow: /y"]
        file = robots("; ".join([*groups, f"User-agent: {second}; ; Disallow: /z"]), dialect)
        assert decided(file, "/x", "/y", "/z") == [-2, 0, -7]
        assert decided(file, "/x", "/y", "/z", agent="barbot") == [0, -4, 0]


@BOTH
def test_google_rules_before_any_user_agent_line_are_nobodys(dialect: Dialect) -> None:
    file = robots("Disallow: /x; Allow: /; User-agent: *; Disallow: /y", dialect)

    assert decided(file, "/x", "/y") == [0, -4]
    assert [group.rules for group in file.groups] == [(Rule(False, b"/y", 4),)]


def test_groups_stand_in_the_order_of_their_lines_unmerged() -> None:
    file = robots("User-agent: a; User-agent: b; Disallow: /x; Allow: /y; User-agent: a; User-agent: c")

    assert [[agent.value for agent in group.agents] for group in file.groups] == [[b"a", b"b"], [b"a", b"c"]]
    assert [group.rules for group in file.groups] == [(Rule(False, b"/x", 3), Rule(True, b"/y", 4)), ()]


@BOTH
def test_google_a_file_knows_whom_it_names(dialect: Dialect) -> None:
    for value in ("foobot", "FOOBOT/2.1", "foobot Images", "foobot*", "foobot, barbot", "foobot2", "foobot."):
        file = robots(f"User-agent: {value}; Disallow: /", dialect)
        assert file.has_group("fooBot"), value
        assert not any(map(file.has_group, ("foo", "foobot-x", "bot", "barbot"))), value
    for value in ("*", "* ", "*\tall of you", "* foobot", "*\x0bx"):
        file = robots(f"User-agent: {value}; Disallow: /", dialect)
        assert (file.has_group("foobot"), decided(file, "/")) == (False, [-2]), value
    for value in ("*foobot", "**", "*/1", "/*", ""):
        file = robots(f"User-agent: {value}; Disallow: /", dialect)
        assert (file.has_group("foobot"), decided(file, "/")) == (False, [0]), value
    for token in ("*", "**", "* "):
        file = for_all("Disallow: /", dialect)
        assert (file.has_group(token), decided(file, "/", agent=token)) == (False, [-2]), token


@BOTH
def test_google_a_group_that_names_both_gives_its_rules_to_both(dialect: Dialect) -> None:
    for agents in ("User-agent: *; User-agent: foobot", "User-agent: foobot; User-agent: *"):
        file = robots(f"{agents}; Disallow: /x; User-agent: *; Disallow: /y", dialect)
        assert [decided(file, "/x", "/y", agent=agent) for agent in ("foobot", "other")] == [[-3, 0], [-3, -5]]


# What a verdict and its kin say


def test_a_verdict_names_the_rule_that_decided() -> None:
    file = for_all("Allow: /x; Disallow: /")

    assert file.verdict("foobot", "/y") == (False, Rule(False, b"/", 3), Reason.RULE)
    assert for_all("Disallow: /x").verdict("foobot", "/y") == (True, None, Reason.NO_RULE)
    assert for_all("Disallow:").verdict("foobot", "/y") == (True, Rule(False, b"", 2), Reason.RULE)


def test_a_file_without_groups_names_nobody() -> None:
    file = robots("Foo: bar")

    assert (file.has_group("foobot"), file.groups, file.rules("foobot")) == (False, (), ())
    assert file.verdict("foobot", "/").reason is Reason.NO_RULE


def test_a_rule_as_text_is_its_line() -> None:
    values = [b"/x", b"", "/é".encode(), b"/\xe9"]
    assert [str(Rule(False, value, 1)) for value in values] == [
        "Disallow: /x", "Disallow: ", "Disallow: /é", r"Disallow: /\xe9",
    ]  # fmt: skip
    assert str(Rule(True, b"/x", 1)) == "Allow: /x"


@BOTH
def test_the_rules_of_a_token_are_those_of_all_its_groups(dialect: Dialect) -> None:
    groups = ["User-agent: foobot; Disallow: /a; Allow: /a/index.html", "User-agent: *; Disallow: /"]
    file = robots("; ".join([*groups, "User-agent: foobot; Disallow:"]), dialect)

    assert file.rules("FOOBOT") == (Rule(False, b"/a", 2), Rule(True, b"/a/index.html", 3), Rule(False, b"", 7))
    assert file.rules("other") == (Rule(False, b"/", 5),)


def test_an_answer_does_not_depend_on_who_was_asked_before() -> None:
    file = robots("User-agent: foobot; Disallow: /x; User-agent: *; Disallow: /y")
    for _ in range(2):
        assert all(decided(file, "/x", "/y", agent="a" * n) == [0, -4] for n in range(1, 40))
        assert decided(file, "/x", "/y") == [-2, 0]


def test_a_crawl_under_ever_new_names_keeps_few_of_them() -> None:
    file = for_all("Disallow: /x")
    for n in range(1_000):
        file.has_group("a" * n)

    assert 1 <= repr(file).count("'a") <= 16


def test_the_representation_shows_dialect_and_tokens_asked_for() -> None:
    file = for_all("Disallow: /x", GOOGLE_EXACT)
    file.verdict("foobot", "/")

    assert repr(file) == "<RobotsTxt google-exact tokens=['foobot']>"


def test_facts_are_frozen() -> None:
    verdict = for_all("Disallow: /x").verdict("foobot", "/x")

    with pytest.raises(AttributeError):
        verdict.allowed = True  # type: ignore[misc]


def test_a_hostile_file_takes_no_time() -> None:
    many = for_all("; ".join(f"Disallow: /*{n}*a*a*a*a*b" for n in range(10_000)))
    start = time.process_time()

    assert decided(many, "/" + "a" * 2_000) == [0]
    assert time.process_time() - start < 5


# Records outside groups


def test_rfc_2_2_4_sitemaps_stand_outside_groups_in_order_without_duplicates() -> None:
    file = robots(
        "Sitemap: https://h.example/b.xml; User-agent: a; site-map: https://i.example/a.xml # here; Disallow: /; "
        "SITEMAP: https://h.example/b.xml; Sitemap /é.xml; Sitemap: /\udce9.xml"
    )

    assert file.sitemaps == ("https://h.example/b.xml", "https://i.example/a.xml", "/é.xml", "/\udce9.xml")
    assert for_all("Disallow: /").sitemaps == ()


def test_the_first_host_counts_wherever_it_stands() -> None:
    assert robots("User-agent: a; Disallow: /; HOST: www.h.example; Host: second.example").host == "www.h.example"
    assert for_all("Disallow: /").host is None


def test_records_hold_every_line_with_a_key() -> None:
    file = robots("# c; User-agent: a; Foo: 1; ; Disallow: /x; Crawl-delay: 2; ?")

    assert {record.line: record.value for record in file.records} == {2: b"a", 3: b"1", 5: b"/x", 6: b"2"}
