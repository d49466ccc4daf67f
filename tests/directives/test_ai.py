"""What page directives say about the use by AI, to those who take them so."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_rep.directives.ai import noai
from scrapy_rep.directives.page import PageDirectives, combine, read_header, read_meta
from scrapy_rep.extras.ai.ai_signals import bing, google
from tests.directives.cases import said

WORDS = [
    "noai", "noimageai", "noarchive", "nosnippet", "max-snippet:0", "max-snippet:5", "archive", "all", "noindex",
]  # fmt: skip
UNKNOWN = "unknown throughout"


def page(*fields: str) -> PageDirectives:
    return combine([one for field in fields for one in read_header(field)], ["mybot"])


def test_deviantart_noai_reserves_training() -> None:
    for field, media_type, expected in [
        ("noai", "", "ai-train: no"),
        ("noai", "image/png", "ai-train: no"),
        ("noimageai", "text/html", UNKNOWN),
        ("noimageai", "Image/PNG; q=1", "ai-train: no"),
        ("otherbot: noai", "", UNKNOWN),
    ]:
        assert said(noai(page(field), media_type)) == expected, field


def test_bing_noarchive_reserves_answers_and_training() -> None:
    assert said(bing(page("noarchive"))) == "ai-input: no, ai-train: no"
    for field in ("nocache", "noarchive, nocache", "otherbot: noarchive"):
        assert said(bing(page(field))) == UNKNOWN, field


def test_bing_nocache_is_recorded_without_a_category() -> None:
    assert [(one.text, one.category) for one in bing(page("noarchive, nocache"))] == [
        ("noarchive", None), ("nocache", None),
    ]  # fmt: skip


def test_google_a_page_without_a_snippet_is_no_input() -> None:
    assert said(google(page("nosnippet"))) == said(google(page("max-snippet:0"))) == "ai-input: no"
    for length in ("1", "-1", "none"):
        assert said(google(page(f"max-snippet:{length}"))) == UNKNOWN, length


def test_a_statement_keeps_source_and_text_of_its_directive() -> None:
    found = noai(combine([*read_meta("mybot", "NoAI"), *read_header("noai")], ["mybot"]))
    assert [(one.signal, one.source, one.text) for one in found] == [
        ("noai", "meta", "NoAI"), ("noai", "X-Robots-Tag", "noai"),
    ]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS)), st.sampled_from(WORDS))
def test_one_more_word_never_permits_more(words: list[str], more: str) -> None:
    for read in (noai, bing, google):
        before, after = read(page(*words)), read(page(*words, more))
        assert {one.category for one in before} <= {one.category for one in after}
        assert said(read(page(*words[::-1]))) == said(before)
