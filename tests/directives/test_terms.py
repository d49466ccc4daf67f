"""RSL: which license a site or a page names, and what a license says about usage."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_rep.directives.robots_signals import RobotsSignals
from scrapy_rep.directives.terms import License, read_licenses, urls_in_header
from scrapy_rep.directives.vocabulary import Category, answers
from scrapy_rep.protocol import parse
from tests.directives.cases import CASES, said

NAMED = [case for case in CASES if 113 <= case.number <= 116]
READ = [case for case in CASES if case.number in {118, 119}]
TOKENS = ["all", "ai-all", "ai-train", "ai-input", "ai-index", "search", "train-ai"]
LISTS = st.lists(st.sampled_from(TOKENS)).map(" ".join)
LICENSES = st.lists(st.builds(License, st.none() | LISTS, LISTS, st.sampled_from(["free", "use"]), st.booleans()))


def test_the_given_license_is_named() -> None:
    for case in NAMED:
        files = [parse(text.encode()) for text in case.after("robots.txt")]
        site = [url for file in files for url in RobotsSignals.of(file, "mybot").licenses]
        fields = [field.removeprefix("Link: ") for field in case.after("header")]
        found = [*urls_in_header(fields, "https://e.org/"), *site]
        assert case.expected.startswith(f"license {found[0] if found else 'none'}"), case


def test_the_given_license_means_what_is_expected() -> None:
    for case in READ:
        elements = dict(re.findall(r'<(\w+) type="usage">(.*?)<', case.given))
        license_ = License(elements.get("permits"), elements.get("prohibits", ""))
        found = answers(read_licenses([license_], "RSL in page"))
        for categories, answer in re.findall(r"([\w, -]+): (yes|no)", case.expected):
            assert {found[Category(name)] for name in categories.strip(", ").split(", ")} == {answer}, case


def test_rsl_a_prohibition_wins_over_a_permission() -> None:
    found = read_licenses([License("all", "ai-train")], "RSL")
    assert said(found) == "ai-index: yes, ai-input: yes, ai-train: no, search: yes"


def test_rsl_a_license_without_permits_restricts_nothing() -> None:
    assert said(read_licenses([License()], "RSL")) == "unknown throughout"


def test_rsl_a_license_that_permits_nothing_restricts_all() -> None:
    found = read_licenses([License("")], "RSL")
    assert said(found) == "ai-index: no, ai-input: no, ai-train: no, search: no"


def test_rsl_what_another_license_of_the_content_lists_is_not_forbidden() -> None:
    found = read_licenses([License("search"), License("ai-input")], "RSL")
    assert said(found) == "ai-index: no, ai-input: yes, ai-train: no, search: yes"


@pytest.mark.parametrize(
    ("license_", "text"),
    [
        (License("ai-train", payment="Crawl"), "permits: ai-train (payment: crawl)"),
        (License("ai-train", is_limited=True), "permits: ai-train (limited)"),
        (License(payment="subscription"), "payment: subscription"),
    ],
)
def test_ours_a_permission_with_a_condition_is_recorded_and_no_yes(license_: License, text: str) -> None:
    found = read_licenses([license_], "RSL")
    assert (found[0].category, found[0].text) == (None, text)
    assert "yes" not in said(found)
    assert "ai-train: no" not in said(found)


def test_ours_tokens_are_read_in_any_case_and_with_commas() -> None:
    assert said(read_licenses([License(prohibits=" AI-Train,search\n")], "RSL")) == "ai-train: no, search: no"


def test_ours_an_unknown_token_is_recorded_as_irregular() -> None:
    (one,) = read_licenses([License(prohibits="ai-summarize")], "RSL in page")
    assert (one.category, one.irregular, one.source) == (None, True, "RSL in page")


@given(LICENSES)
def test_rsl_the_order_of_licenses_does_not_matter(licenses: list[License]) -> None:
    assert said(read_licenses(licenses, "RSL")) == said(read_licenses(licenses[::-1], "RSL"))


@given(LICENSES, st.sampled_from(TOKENS))
def test_rsl_one_more_prohibition_never_permits_more(licenses: list[License], token: str) -> None:
    before, after = (said(read_licenses(one, "RSL")) for one in (licenses, [*licenses, License(prohibits=token)]))
    assert {yes for yes in after.split(", ") if "yes" in yes} <= set(before.split(", "))


def test_ours_a_license_that_is_no_url_means_nothing() -> None:
    for value in ("none (public domain)", "/license.xml", "https://e.org/\udcff", "https://[", "mailto:a@e.org"):
        body = f"License: {value}".encode("utf-8", "surrogateescape")
        assert RobotsSignals.of(parse(body), "mybot").licenses == (), value


def test_rsl_a_link_field_names_a_license_by_relation_and_type() -> None:
    for field in (
        '</l.xml>; rel="license"; type="application/rsl+xml"',
        "</l.xml>; REL=license; Type=application/RSL+xml",
        '</l.xml>; rel="next license"; type="application/rsl+xml"',
    ):
        assert urls_in_header([field], "https://e.org/a/") == ("https://e.org/l.xml",), field
    for field in (
        '</l.xml>; rel="license"',
        '</l.xml>; rel="next"; type="application/rsl+xml"',
        '<javascript:x>; rel="license"; type="application/rsl+xml"',
    ):
        assert urls_in_header([field], "https://e.org/a/") == (), field
