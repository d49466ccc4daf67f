"""What the directives of a page mean for one crawler: the given cases, and the rules behind them."""

from __future__ import annotations

from datetime import datetime, timezone

from hypothesis import given
from hypothesis import strategies as st

from scrapy_rep.directives.page import (
    MAX_ITEMS,
    MAX_NAMES,
    WORDS,
    PageDirectives,
    combine,
    read_header,
    read_meta,
    read_robots_tag,
)
from tests.directives.cases import CASES

NOW = datetime(2026, 9, 21, 14, 13, 20, tzinfo=timezone.utc)
PARTS = [*',:; "*-/AZ09', "noindex", "mybot", "unavailable_after", "max-snippet"]
FIELDS = st.lists(st.sampled_from(PARTS)).map("".join)


def of(*lines: str) -> PageDirectives:
    return combine([one for line in lines for one in read_header(line)], ["mybot"], NOW)


def test_the_given_header_means_what_is_expected() -> None:
    read = {"x-robots-tag": read_header, "robots-tag": read_robots_tag}
    given = [case for case in CASES if case.code and all("tag:" in code.lower() for code in case.code)]
    assert len(given) == 30
    for case in given:
        fields = [code.partition(":") for code in case.code]
        directives = [one for name, _, value in fields for one in read[name.lower()](value)]
        assert (str(combine(directives, ["mybot"], NOW)) or "(nothing)") == case.expected, case


def test_google_a_meta_element_has_no_names_in_its_content() -> None:
    directives = read_meta("robots", "otherbot: noindex, nofollow")
    assert str(combine(directives, ["mybot"], NOW)) == "nofollow"
    assert [one.name for one in directives if not one.is_read] == ["otherbot"]


def test_a_word_that_permits_wins_if_so_asked() -> None:
    for words, google, yandex in [
        ("noindex, index", "noindex", ""),
        ("none, all", "noindex, nofollow", ""),
        ("none, follow", "noindex, nofollow", "noindex"),
        ("none", "noindex, nofollow", "noindex, nofollow"),
        ("noarchive, archive, nofollow", "nofollow, noarchive", "nofollow"),
        ("noarchive, all", "noarchive", "noarchive"),
        ("nosnippet, all", "max-snippet=0", "max-snippet=0"),
        ("notranslate, nocache, index", "nocache, notranslate", "nocache, notranslate"),
    ]:
        directives = [*read_header(words.partition(", ")[0]), *read_meta("robots", words)]
        assert str(combine(directives, ["mybot"], NOW)) == google
        assert str(combine(directives, ["mybot"], NOW, permissive=True)) == yandex


def test_google_all_names_of_a_crawler_count() -> None:
    directives = [*read_header("my-news: noindex"), *read_header("my: nofollow")]
    assert str(combine(directives, ["my-news", "my"], NOW)) == "noindex, nofollow"


def test_words_before_a_name_are_for_the_one_before() -> None:
    assert str(of("otherbot: noindex mybot: nofollow")) == "nofollow"


def test_a_page_that_ends_later_is_indexed_until_then() -> None:
    page = of("unavailable_after: 2099-01-01")
    assert (page.noindex, page.unavailable_after) == (False, datetime(2099, 1, 1, tzinfo=timezone.utc))


def test_google_a_date_has_many_forms() -> None:
    for date, moment in {
        "25 Jun 2010": "2010-06-25T00:00:00Z",
        "Fri, 25 Jun 2010": "2010-06-25T00:00:00Z",
        "Friday, 25-Jun-10": "2010-06-25T00:00:00Z",
        "25-Jun-2010 15:00:00": "2010-06-25T15:00:00Z",
        "20100625": "2010-06-25T00:00:00Z",
        "20100625T150000Z": "2010-06-25T15:00:00Z",
        "2010-06-25 15:00:00 PST": "2010-06-25T23:00:00Z",
        "2010-06-25T15:00 EDT": "2010-06-25T19:00:00Z",
    }.items():
        assert str(of(f"unavailable_after: {date}, nofollow")) == f"noindex, nofollow, unavailable_after={moment}"


def test_unread_rules_are_listed_and_mean_nothing() -> None:
    assert of("noindx, max-snippet: many, unavailable_after: soon").unread == (
        "noindx", "max-snippet", "unavailable_after",
    )  # fmt: skip


def test_items_and_names_are_bounded() -> None:
    assert len(read_header("noindex," * 1_000_000)) <= MAX_ITEMS
    names = ",".join(f"bot{number}: noindex" for number in range(1_000))
    assert len({one.agent for one in read_header(names)}) <= MAX_NAMES


@given(FIELDS | st.text())
def test_readers_never_raise(text: str) -> None:
    for directives in (read_header(text), read_meta("robots", text), read_meta(text, text), read_robots_tag(text)):
        str(combine(directives, ["mybot"], NOW))


@given(st.permutations(["noindex", "max-snippet:5", "max-snippet:9", "nofollow", "mybot: none", "all", "index"]))
def test_the_order_of_fields_does_not_matter(fields: list[str]) -> None:
    assert of(*fields) == PageDirectives(
        noindex=True, nofollow=True, max_snippet=5, statements=of(*fields).statements
    )


@given(
    st.lists(st.sampled_from(sorted(WORDS - {"all", "index", "follow", "archive"}))),
    st.sampled_from(sorted(WORDS)),
)
def test_one_more_word_never_permits_more(words: list[str], more: str) -> None:
    before, after = of(*words), of(*words, more)
    assert (before.noindex, before.nofollow) <= (after.noindex, after.nofollow)
    assert before.marks <= after.marks
