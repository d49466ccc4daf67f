"""Groups, rules and verdicts: RFC 9309 sections 2.1, 2.2.1 and 2.2.2 in Google's reading."""

from __future__ import annotations

import time

import pytest

from scrapy_rep.protocol import GOOGLE, GOOGLE_EXACT, Dialect, Reason, RobotsTxt, Rule, parse

BOTH = pytest.mark.parametrize("dialect", [GOOGLE, GOOGLE_EXACT], ids=lambda dialect: dialect.name)


def robots(*lines: str, dialect: Dialect = GOOGLE) -> RobotsTxt:
    return parse("\n".join(lines).encode("utf-8", "surrogateescape"), dialect)


def allowed(robots_txt: RobotsTxt, token: str, url: str) -> bool:
    return robots_txt.verdict(token, url).allowed


def decided(robots_txt: RobotsTxt, url: str, agent: str = "foobot") -> tuple[bool, int]:
    verdict = robots_txt.verdict(agent, url)
    return verdict.allowed, verdict.line


def for_all(*rules: str, dialect: Dialect = GOOGLE) -> RobotsTxt:
    """A file for everybody; its first rule is on line 2."""
    return robots("User-agent: *", *rules, dialect=dialect)


# Groups


@BOTH
@pytest.mark.parametrize(
    "between",
    ["", "# comment", "Sitemap: /s.xml", "Crawl-delay: 1", "Host: h", "Foo: bar", "garbage", "Noindex: /x", "\0"],
)
def test_google_a_run_of_user_agent_lines_is_not_closed_by(between: str, dialect: Dialect) -> None:
    file = robots("User-agent: foobot", between, "User-agent: barbot", "Disallow: /x", dialect=dialect)

    for token in ("foobot", "barbot"):
        assert not allowed(file, token, "/x")
        assert allowed(file, token, "/y")
    assert allowed(file, "other", "/x")


@BOTH
@pytest.mark.parametrize("rule", ["Disallow: /x", "Allow: /x", "Disallow:", "Allow:", "disalow /x", "Disallow: x"])
def test_rfc_2_1_a_rule_closes_a_run_of_user_agent_lines(rule: str, dialect: Dialect) -> None:
    file = robots("User-agent: foobot", rule, "User-agent: barbot", "Disallow: /y", dialect=dialect)

    assert allowed(file, "foobot", "/y")
    assert not allowed(file, "barbot", "/y")
    assert [len(group.agents) for group in file.groups] == [1, 1]


def test_google_what_stands_between_two_rules_does_not_end_their_group() -> None:
    file = robots("User-agent: foobot", "Disallow: /x", "", "Sitemap: /s", "Foo: bar", "?", "Disallow: /y")

    assert not allowed(file, "foobot", "/x")
    assert not allowed(file, "foobot", "/y")
    assert allowed(file, "other", "/y")


def test_rfc_2_2_1_groups_of_one_token_are_merged() -> None:
    file = robots(
        "User-agent: foobot",
        "Disallow: /x",
        "User-agent: barbot",
        "Disallow: /y",
        "User-agent: FooBot/2.0",
        "Disallow: /z",
    )

    assert [decided(file, url) for url in ("/x", "/y", "/z")] == [(False, 2), (True, 0), (False, 6)]
    assert [decided(file, url, "barbot") for url in ("/x", "/y", "/z")] == [(True, 0), (False, 4), (True, 0)]


def test_rfc_2_2_1_star_groups_are_merged() -> None:
    file = robots(
        "User-agent: *", "Disallow: /x", "User-agent: barbot", "Allow: /", "User-agent: *", "Disallow: /z"
    )

    assert [decided(file, url) for url in ("/x", "/y", "/z")] == [(False, 2), (True, 0), (False, 6)]
    assert [decided(file, url, "barbot") for url in ("/x", "/z")] == [(True, 4), (True, 4)]


def test_rfc_2_2_1_a_longer_rule_of_a_later_group_wins_over_an_earlier_one() -> None:
    file = robots("User-agent: foobot", "Disallow: /x", "User-agent: foobot", "Allow: /x/y")

    assert decided(file, "/x/z") == (False, 2)
    assert decided(file, "/x/y") == (True, 4)


@BOTH
def test_google_rules_before_any_user_agent_line_are_nobodys(dialect: Dialect) -> None:
    file = robots("Disallow: /x", "Allow: /", "User-agent: *", "Disallow: /y", dialect=dialect)

    assert decided(file, "/x") == (True, 0)
    assert decided(file, "/y") == (False, 4)
    assert [group.rules for group in file.groups] == [(Rule(False, b"/y", 4),)]


def test_ours_groups_stand_in_the_order_of_their_lines_unmerged() -> None:
    file = robots("User-agent: a", "User-agent: b", "Disallow: /x", "Allow: /y", "User-agent: a", "User-agent: c")

    assert [[agent.value for agent in group.agents] for group in file.groups] == [[b"a", b"b"], [b"a", b"c"]]
    assert [group.rules for group in file.groups] == [(Rule(False, b"/x", 3), Rule(True, b"/y", 4)), ()]


@BOTH
def test_rfc_2_2_1_tokens_are_compared_without_case(dialect: Dialect) -> None:
    file = robots("User-agent: FooBot", "Disallow: /x", dialect=dialect)

    assert not allowed(file, "fOObOT", "/x")
    assert allowed(file, "fOObOT", "/y")


@BOTH
@pytest.mark.parametrize(
    ("line", "token"),
    [
        ("Foobot", "Foobot-Image"),
        ("Foobot-Image", "Foobot"),
        ("my", "mybot"),
        ("bot", "mybot"),
        ("mybot", "my"),
        ("mybot", "bot"),
    ],
)
def test_rfc_2_2_1_neither_prefix_nor_substring_names_a_token(line: str, token: str, dialect: Dialect) -> None:
    file = robots(f"User-agent: {line}", "Disallow: /", dialect=dialect)

    assert allowed(file, token, "/x")
    assert not file.has_group(token)
    assert not allowed(file, line, "/x")
    assert file.has_group(line)


@BOTH
@pytest.mark.parametrize(
    "value", ["foobot/2.1", "foobot Images", "foobot*", "foobot, barbot", "foobot2", "foobot."]
)
def test_google_a_token_in_the_file_ends_at_the_first_other_character(value: str, dialect: Dialect) -> None:
    file = robots(f"User-agent: {value}", "Disallow: /", dialect=dialect)

    assert file.has_group("foobot")
    assert not allowed(file, "foobot", "/")
    assert not file.has_group("barbot")
    assert allowed(file, "barbot", "/")


@BOTH
@pytest.mark.parametrize("token", ["foo_bot", "foo-bot", "_foo", "-foo", "f"])
def test_rfc_2_2_1_a_token_may_hold_underscore_and_hyphen(token: str, dialect: Dialect) -> None:
    file = robots(f"User-agent: {token}/2", "Disallow: /", dialect=dialect)

    assert not allowed(file, token, "/")
    assert allowed(file, "foo", "/")


@BOTH
@pytest.mark.parametrize("value", ["*", "* ", "*\tall of you", "* foobot", "*\x0bx"])
def test_google_a_star_alone_or_before_white_space_is_the_global_group(value: str, dialect: Dialect) -> None:
    file = robots(f"User-agent: {value}", "Disallow: /x", dialect=dialect)

    assert not allowed(file, "foobot", "/x")
    assert allowed(file, "foobot", "/y")
    assert not file.has_group("foobot")


@BOTH
@pytest.mark.parametrize("value", ["*foobot", "**", "*/1", "foobot *", "/*", ""])
def test_google_any_other_value_is_not_the_global_group(value: str, dialect: Dialect) -> None:
    file = robots(f"User-agent: {value}", "Disallow: /", "User-agent: a", "Disallow: /", dialect=dialect)

    assert decided(file, "/", "other") == (True, 0)
    assert decided(file, "/", "a") == (False, 4)


@BOTH
def test_rfc_2_2_1_a_group_of_its_own_replaces_the_global_one(dialect: Dialect) -> None:
    file = robots("User-agent: *", "Disallow: /x", "User-agent: foobot", "Disallow: /y", dialect=dialect)

    assert [decided(file, url) for url in ("/x", "/y")] == [(True, 0), (False, 4)]
    assert [decided(file, url, "other") for url in ("/x", "/y")] == [(False, 2), (True, 0)]
    assert file.has_group("foobot")
    assert not file.has_group("other")


@BOTH
@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
def test_google_a_group_without_rules_replaces_the_global_one(first: bool, dialect: Dialect) -> None:
    for_others = ["User-agent: *", "Disallow: /"]
    # A lone user-agent line opens a group of its own only where a rule or the end of the file closes it.
    lines = ["User-agent: foobot", "Disallow:", *for_others] if first else [*for_others, "User-agent: foobot"]
    file = robots(*lines, dialect=dialect)

    assert file.has_group("foobot")
    assert allowed(file, "foobot", "/x")
    assert not allowed(file, "other", "/x")


@BOTH
@pytest.mark.parametrize("agents", [("*", "foobot"), ("foobot", "*")])
def test_google_a_group_that_names_both_gives_its_rules_to_both(agents: tuple[str, str], dialect: Dialect) -> None:
    lines = [f"User-agent: {agent}" for agent in agents]
    file = robots(*lines, "Disallow: /x", "User-agent: *", "Disallow: /y", dialect=dialect)

    assert [decided(file, url) for url in ("/x", "/y")] == [(False, 3), (True, 0)]
    assert [decided(file, url, "other") for url in ("/x", "/y")] == [(False, 3), (False, 5)]


@BOTH
@pytest.mark.parametrize("token", ["*", "**", "* "])
def test_google_a_star_names_nobody(token: str, dialect: Dialect) -> None:
    file = robots("User-agent: *", "Disallow: /x", dialect=dialect)

    assert not file.has_group(token)
    assert not allowed(file, token, "/x")


@BOTH
def test_ours_a_file_without_groups_names_nobody(dialect: Dialect) -> None:
    file = robots("Foo: bar", dialect=dialect)

    assert not file.has_group("foobot")
    assert file.groups == ()
    assert file.rules("foobot") == ()
    assert file.verdict("foobot", "/").reason is Reason.NO_RULE


# Which rule decides


@BOTH
@pytest.mark.parametrize(
    ("rules", "url", "expected"),
    [
        (["Allow: /p", "Disallow: /"], "/page", (True, 2)),
        (["Allow: /p", "Disallow: /"], "/other", (False, 3)),
        (["Disallow: /", "Allow: /p"], "/page", (True, 3)),
        (["Allow: /folder", "Disallow: /folder/x"], "/folder/x", (False, 3)),
        (["Allow: /*.htm", "Disallow: /page"], "/page.htm", (True, 2)),
        (["Allow: /p*", "Disallow: /page"], "/page", (False, 3)),
        (["Allow: /$", "Disallow: /"], "/", (True, 2)),
        (["Allow: /$", "Disallow: /"], "/x", (False, 3)),
        (["Allow: /a*****", "Disallow: /abcde"], "/abcde", (True, 2)),
    ],
)
def test_rfc_2_2_2_the_longest_match_wins(
    rules: list[str], url: str, expected: tuple[bool, int], dialect: Dialect
) -> None:
    assert decided(for_all(*rules, dialect=dialect), url) == expected


def test_google_the_length_is_that_of_the_pattern_as_written() -> None:
    file = for_all("Disallow: /%61%62", "Allow: /abcde")

    assert decided(file, "/abcdef") == (False, 2)
    assert decided(file, "/abxdef") == (False, 2)
    assert decided(file, "/xabcde") == (True, 0)


@BOTH
def test_google_a_letter_beyond_ascii_counts_six(dialect: Dialect) -> None:
    url = "/%C3%A9abcdef"

    assert decided(for_all("Disallow: /é", "Allow: /*bcdef", dialect=dialect), url) == (True, 3)
    assert decided(for_all("Disallow: /é", "Allow: /*cdef", dialect=dialect), url) == (False, 2)
    assert decided(for_all("Disallow: /é", "Allow: /*a*cdef", dialect=dialect), url) == (True, 3)


@BOTH
@pytest.mark.parametrize("rules", [["Allow: /x", "Disallow: /x"], ["Disallow: /x", "Allow: /x"]])
def test_rfc_2_2_2_a_tie_goes_to_allow(rules: list[str], dialect: Dialect) -> None:
    file = for_all(*rules, dialect=dialect)
    line = 2 + rules.index("Allow: /x")

    assert decided(file, "/x") == (True, line)
    assert decided(file, "/y") == (True, 0)


@BOTH
def test_rfc_2_2_2_a_tie_of_two_other_patterns_goes_to_allow(dialect: Dialect) -> None:
    file = for_all("Disallow: /pa", "Allow: /*a", dialect=dialect)

    assert decided(file, "/pa") == (True, 3)
    assert decided(file, "/a") == (True, 3)
    assert decided(for_all("Disallow: /pa", "Allow: /*b", dialect=dialect), "/pa") == (False, 2)


@BOTH
@pytest.mark.parametrize("key", ["Allow", "Disallow"])
def test_google_the_first_line_among_equals_is_named(key: str, dialect: Dialect) -> None:
    file = for_all(f"{key}: /*b", "Disallow:", f"{key}: /ab", f"{key}: /ab", dialect=dialect)

    assert decided(file, "/ab") == (key == "Allow", 2)
    assert decided(file, "/a") == (True, 3)


@BOTH
def test_google_an_empty_rule_forbids_nothing_and_names_its_line(dialect: Dialect) -> None:
    file = for_all("Disallow:", "Disallow: /x", dialect=dialect)
    verdict = file.verdict("foobot", "/y")

    assert (verdict.allowed, verdict.line, verdict.reason) == (True, 2, Reason.RULE)
    assert decided(file, "/x") == (False, 3)


@BOTH
def test_google_an_empty_allow_allows_no_more_than_no_rule(dialect: Dialect) -> None:
    file = for_all("Allow:", "Disallow: /x", dialect=dialect)

    assert decided(file, "/y") == (True, 2)
    assert decided(file, "/x") == (False, 3)


@BOTH
@pytest.mark.parametrize(("rules", "line"), [(["Disallow:", "Allow:"], 3), (["Allow:", "Disallow:"], 2)])
def test_google_of_two_empty_rules_the_allow_is_named(rules: list[str], line: int, dialect: Dialect) -> None:
    assert decided(for_all(*rules, dialect=dialect), "/y") == (True, line)


@BOTH
def test_google_an_empty_disallow_does_not_lift_an_earlier_one(dialect: Dialect) -> None:
    assert decided(for_all("Disallow: /", "Disallow:", dialect=dialect), "/x") == (False, 2)


@BOTH
def test_rfc_2_2_2_no_match_allows(dialect: Dialect) -> None:
    verdict = for_all("Disallow: /x", dialect=dialect).verdict("foobot", "/y")

    assert verdict.allowed
    assert (verdict.rule, verdict.line, verdict.reason) == (None, 0, Reason.NO_RULE)


@BOTH
@pytest.mark.parametrize("pattern", ["x", "http://h.example/x", "$", "%2Fx", "?x", "./x"])
def test_google_a_pattern_without_slash_or_star_at_its_start_never_matches(pattern: str, dialect: Dialect) -> None:
    file = for_all(f"Disallow: {pattern}", "Disallow: *y", dialect=dialect)

    assert decided(file, "http://h.example/x") == (True, 0)
    assert decided(file, "x") == (True, 0)
    assert decided(file, "/") == (True, 0)
    assert decided(file, "/y") == (False, 3)


@BOTH
def test_rfc_2_2_2_the_case_of_a_path_counts(dialect: Dialect) -> None:
    file = for_all("Disallow: /X", dialect=dialect)

    assert not allowed(file, "foobot", "/X")
    assert allowed(file, "foobot", "/x")


@BOTH
@pytest.mark.parametrize(
    ("pattern", "hit", "miss"),
    [
        ("/x?", "/x?", "/x"),
        ("/x$", "/x#y", "/x?"),
        ("/$", "http://h.example", "http://h.example/x"),
        ("/$", "http://h.example#y", "http://h.example?y"),
        ("/?q", "http://h.example?q", "http://h.example/q"),
        ("/?q", "?q", "q"),
        ("/;p", ";p", "/p"),
        ("/b", "a/b", "/a/b"),
        ("/b", "//a/b", "//a//b"),
        ("/a//b", "/a//b", "/a/b"),
        ("/a/../b", "http://h.example/a/../b", "/b"),
        ("/x;p", "http://h.example/x;p?q", "/x?q;p"),
        ("/x", "http://u:p@H.example:81/x", "http://h.example/u:p@x"),
        ("/*.example", "/http://i.example/", "http://i.example/"),
    ],
)
def test_google_rules_see_path_params_and_query(pattern: str, hit: str, miss: str, dialect: Dialect) -> None:
    file = for_all(f"Disallow: {pattern}", dialect=dialect)

    assert not allowed(file, "foobot", hit)
    assert allowed(file, "foobot", miss)


@BOTH
@pytest.mark.parametrize(
    ("pattern", "hit", "miss"),
    [
        ("/a%2Fb", "/a%2Fb", "/a/b"),
        ("/a%2fb", "/a%2Fb", "/a/b"),
        ("/a%2Ab", "/a%2Ab", "/axb"),
        ("/a%24", "/a%24x", "/a"),
        ("/a$b", "/a$bc", "/ab"),
        ("/a$*c", "/a$bc", "/abc"),
        ("/ü", "/%C3%BC", "/u"),
        ("/%c3%bc", "/%C3%BC", "/%C3%BD"),
    ],
)
def test_rfc_2_2_3_what_looks_special_can_be_written(pattern: str, hit: str, miss: str, dialect: Dialect) -> None:
    file = for_all(f"Disallow: {pattern}", dialect=dialect)

    assert not allowed(file, "foobot", hit)
    assert allowed(file, "foobot", miss)


# The index page


@BOTH
@pytest.mark.parametrize("page", ["index.htm", "index.html", "index.html?x=1", "index.htm*", "index.htmfoo"])
def test_google_an_allowed_index_page_allows_its_folder(page: str, dialect: Dialect) -> None:
    file = for_all("Disallow: /", f"Allow: /a/{page}", dialect=dialect)

    assert decided(file, "/a/") == (True, 3)
    assert decided(file, "/a/x") == (False, 2)
    assert decided(file, "/a") == (False, 2)
    assert decided(file, "/a/?q") == (False, 2)


@BOTH
@pytest.mark.parametrize("page", ["Index.html", "index.php", "myindex.html", "index", "index.html/x"])
def test_google_another_page_does_not_allow_its_folder(page: str, dialect: Dialect) -> None:
    file = for_all("Disallow: /", f"Allow: /a/{page}", dialect=dialect)

    assert decided(file, "/a/") == (False, 2)
    assert decided(file, f"/a/{page}") == (True, 3)


@BOTH
def test_google_a_disallowed_index_page_does_not_disallow_its_folder(dialect: Dialect) -> None:
    file = for_all("Disallow: /a/index.html", dialect=dialect)

    assert decided(file, "/a/index.html") == (False, 2)
    assert decided(file, "/a/") == (True, 0)


@BOTH
def test_google_the_folder_of_an_index_page_has_the_length_of_the_folder(dialect: Dialect) -> None:
    allow = "Allow: /a/index.html"

    assert decided(for_all("Disallow: /a/*", allow, dialect=dialect), "/a/") == (True, 3)
    assert decided(for_all("Disallow: /a/**", allow, dialect=dialect), "/a/") == (False, 2)
    assert decided(for_all("Disallow: /a/**", allow, dialect=dialect), "/a/index.html") == (True, 3)


@BOTH
def test_google_an_index_page_without_a_folder_is_no_pattern(dialect: Dialect) -> None:
    file = for_all("Disallow: /", "Allow: index.html", dialect=dialect)

    assert decided(file, "/") == (False, 2)
    assert decided(file, "/index.html") == (False, 2)


@BOTH
def test_google_the_index_page_of_the_root_allows_the_root(dialect: Dialect) -> None:
    file = for_all("Disallow: /", "Allow: /index.html", dialect=dialect)

    assert decided(file, "http://h.example") == (True, 3)
    assert decided(file, "http://h.example/index.html") == (True, 3)
    assert decided(file, "http://h.example/x") == (False, 2)


# What a verdict and its kin say


def test_ours_a_verdict_names_the_rule_that_decided() -> None:
    verdict = for_all("Allow: /x", "Disallow: /").verdict("foobot", "/y")

    assert not verdict.allowed
    assert (verdict.rule, verdict.line, verdict.reason) == (Rule(False, b"/", 3), 3, Reason.RULE)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (Rule(True, b"/x", 1), "Allow: /x"),
        (Rule(False, b"", 1), "Disallow: "),
        (Rule(False, "/é".encode(), 1), "Disallow: /é"),
        (Rule(False, b"/\xe9", 1), r"Disallow: /\xe9"),
    ],
)
def test_ours_a_rule_as_text_is_its_line(rule: Rule, text: str) -> None:
    assert str(rule) == text


@BOTH
def test_ours_the_rules_of_a_token_are_those_of_all_its_groups(dialect: Dialect) -> None:
    file = robots(
        "User-agent: foobot",
        "Disallow: /a",
        "Allow: /a/index.html",
        "User-agent: *",
        "Disallow: /",
        "User-agent: foobot",
        "Disallow:",
        dialect=dialect,
    )

    assert file.rules("FOOBOT") == (
        Rule(False, b"/a", 2),
        Rule(True, b"/a/index.html", 3),
        Rule(False, b"", 7),
    )
    assert file.rules("other") == (Rule(False, b"/", 5),)


def test_ours_an_answer_does_not_depend_on_who_was_asked_before() -> None:
    file = robots("User-agent: foobot", "Disallow: /x", "User-agent: *", "Disallow: /y")
    crowd = ["a" * n for n in range(1, 40)]

    for _ in range(2):
        assert all(not allowed(file, token, "/y") and allowed(file, token, "/x") for token in crowd)
        assert allowed(file, "foobot", "/y")
        assert not allowed(file, "foobot", "/x")


def test_ours_a_crawl_under_ever_new_names_keeps_few_of_them() -> None:
    file = for_all("Disallow: /x")
    for n in range(1_000):
        file.has_group("a" * n)

    assert 1 <= repr(file).count("'a") <= 16


def test_ours_the_representation_shows_dialect_and_tokens_asked_for() -> None:
    file = for_all("Disallow: /x", dialect=GOOGLE_EXACT)

    file.verdict("foobot", "/")

    assert repr(file) == "<RobotsTxt google-exact tokens=['foobot']>"


def test_ours_facts_are_frozen() -> None:
    verdict = for_all("Disallow: /x").verdict("foobot", "/x")

    with pytest.raises(AttributeError):
        verdict.allowed = True  # type: ignore[misc]


def test_ours_a_hostile_file_takes_no_time() -> None:
    many = robots(*["User-agent: foobot", *(f"Disallow: /*{n}*a*a*a*a*b" for n in range(10_000))])
    url = "/" + "a" * 2_000
    start = time.process_time()

    assert allowed(many, "foobot", url)
    assert time.process_time() - start < 5


# Sitemaps and hosts


def test_rfc_2_2_4_sitemaps_stand_outside_groups_in_order_without_duplicates() -> None:
    file = robots(
        "Sitemap: https://h.example/b.xml",
        "User-agent: foobot",
        "site-map: https://i.example/a.xml # here",
        "Disallow: /",
        "SITEMAP: https://h.example/b.xml",
        "Sitemap /relative.xml",
    )

    assert file.sitemaps == ("https://h.example/b.xml", "https://i.example/a.xml", "/relative.xml")
    assert for_all("Disallow: /").sitemaps == ()


def test_ours_undecodable_octets_of_a_sitemap_survive() -> None:
    file = parse("Sitemap: /é.xml\n".encode() + b"Sitemap: /\xe9.xml")

    assert file.sitemaps == ("/é.xml", "/\udce9.xml")
    assert file.sitemaps[1].encode("utf-8", "surrogateescape") == b"/\xe9.xml"


def test_ours_the_first_host_counts_wherever_it_stands() -> None:
    file = robots("User-agent: foobot", "Disallow: /", "HOST: www.h.example", "Host: second.example")

    assert file.host == "www.h.example"
    assert for_all("Disallow: /").host is None


def test_ours_records_hold_every_line_with_a_key() -> None:
    file = robots("# c", "User-agent: a", "Foo: 1", "", "Disallow: /x", "Crawl-delay: 2", "?")
    found = [(record.line, record.value) for record in file.records]

    assert found == [
        (2, b"a"),
        (3, b"1"),
        (5, b"/x"),
        (6, b"2"),
    ]
