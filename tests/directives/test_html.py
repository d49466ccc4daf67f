"""The elements by which a page speaks, in whatever encoding and however it is written."""

from __future__ import annotations

from encodings.aliases import aliases

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_rep.directives import page_directives
from scrapy_rep.directives.html import MAX_SIZE, HtmlPage
from scrapy_rep.directives.page import MAX_FIELDS, directives_of

META = '<meta name="robots" content="noindex">'
HIDDEN = ["script", "style", "textarea", "title", "iframe", "xmp", "noembed", "noframes", "template"]
PIECES = [
    META, "<", ">", "</", "/>", "<!--", "-->", "--!>", "<!", "<?", '"', "'", "=", " ", "<a ", "href=", "&#114;",
    "x", *(f"<{name}>" for name in HIDDEN), *(f"</{name}>" for name in HIDDEN), "<body>", "</head>", "\0", "é",
]  # fmt: skip


def said(html: str | bytes, content_type: str = "text/html") -> list[str]:
    return [one.name for one in directives_of(["mybot"], (), html, content_type)]


@pytest.mark.parametrize("name", HIDDEN)
def test_html_standard_what_is_inside_such_an_element_is_none_of_the_page(name: str) -> None:
    assert said(f"<{name} a='>'>{META}</{name.upper()} >") == []
    assert said(f"<{name}>x</{name}>{META}") == ["noindex"]
    assert said(f"<{name}>{META}") == [], "it has no end"
    assert said(f"<{name} />{META}") == ["noindex"], "an empty element of XHTML"


@pytest.mark.parametrize(
    ("html", "count"),
    [
        (f"<!-- {META} -->", 0), (f"<!-->{META}", 1), (f"<!--->{META}-->", 1), (f"<!-- --!>{META}", 1),
        (f"<!-- {META}", 0), (f"<!x {META}", 0), (f"<?x?>{META}", 1), (f"</ {META}", 0), (f"< {META}", 1),
        (f"<p title='{META}'>", 0), (f"<p title={META}", 0), (f"<p 'a={META}", 0), (f"<p a='>'{META}", 0),
        (f"<p a=b'>{META}'", 1), (f"<p =a>{META}", 1), (f"<p a= >{META}", 1), (f"<p a='{META}", 0),
        ("<meta name=x name=robots content=noindex>", 0), ("<meta/name=robots/content=noindex>", 0),
        ("<meta/name='robots'/content='noindex'>", 1), ("<METAS name=robots content=noindex>", 0),
        ("<meta name\n=\trobots\fcontent = noindex", 0), (f"<noscript>{META}</noscript>", 1),
        (f"<template><template></template>{META}</template>{META}", 1), (f"{META}<plaintext>", 1),
    ],
)  # fmt: skip
def test_html_standard_elements_are_where_a_browser_finds_them(html: str, count: int) -> None:
    assert said(html) == ["noindex"] * count


@pytest.mark.parametrize(
    "before",
    [
        "<!doctype html>\n<html><head>", "<title>a <b> c</title><!-- x -->", "<template><p>x</p></template>",
        "<script>'<body>'</script><link rel=x><base href=/>", "\ufeff<noscript>", "text", "<body>", "</body>",
    ],
)  # fmt: skip
def test_google_a_meta_element_counts_anywhere_in_the_page(before: str) -> None:
    assert said(before + META) == ["noindex"]


@pytest.mark.parametrize("name", sorted(set(aliases.values())))
def test_no_declared_encoding_hides_what_ascii_says(name: str) -> None:
    body = f"<html><head><title>x</title>{META}</head>".encode()
    assert said(body, f"text/html; charset={name}") == ["noindex"]
    assert said(f"<meta charset='{name}'>".encode() + body) == ["noindex"]


@pytest.mark.parametrize(
    "encoding",
    [
        "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "shift_jis", "euc-jp", "iso2022_jp", "gb18030",
        "big5", "euc-kr", "cp1251", "koi8-r",
    ],
)  # fmt: skip
def test_a_page_is_read_in_its_encoding(encoding: str) -> None:
    text = "日本語" if encoding not in {"cp1251", "koi8-r", "euc-kr"} else "текст"
    page = f'<html><title>{text}</title><meta name="robots" content="noindex, {text}">'.encode(encoding)
    assert said(page, f"text/html; charset={encoding}") == ["noindex", text]


def test_octets_of_text_that_look_like_markup_are_text() -> None:
    body = "<title>腺</title>".encode("iso2022_jp") + META.encode()
    assert said(body, "text/html; charset=iso-2022-jp") == ["noindex"]
    assert said(b"<p>\x1b$B<!--\x1b(B</p>" + META.encode(), "text/html; charset=iso-2022-jp") == ["noindex"]


def test_an_encoding_that_is_not_declared_is_utf_8_or_that_of_old_pages() -> None:
    for octets in ("é".encode(), "é".encode("cp1252")):
        assert said(b"<meta name=robots content='" + octets + b"'>") == ["é"]


def test_a_zero_among_the_first_octets_makes_no_other_encoding() -> None:
    assert said(f"<html>\0\0<p>{META}".encode()) == ["noindex"]


def test_references_are_read_and_bounded() -> None:
    assert said("<meta name=&#x72;obots content='no&#105;ndex&comma;nofollow&'>") == ["noindex", "nofollow&"]
    assert len(said(f"<meta name=robots content='&#{'9' * 9_000};'>")) <= 2


def test_a_page_is_read_up_to_a_bound() -> None:
    late = " " * (MAX_SIZE - 5)
    for html in (late + META, (late + META).encode()):
        assert said(html) == []
    assert len(said(META * (MAX_FIELDS + 1))) == MAX_FIELDS


def test_only_html_has_elements() -> None:
    for content_type in ("application/pdf", "text/plain; charset=utf-8", "", "application/xml"):
        assert said(META, content_type) == []
    for content_type in ("TEXT/HTML ;charset=x", "application/xhtml+xml"):
        assert said(META, content_type) == ["noindex"]


@given(st.lists(st.sampled_from(PIECES)).map("".join), st.sampled_from(["utf-8", "utf-16", "hex", "iso2022_jp"]))
def test_any_page_is_read_alike_as_text_and_as_octets(html: str, charset: str) -> None:
    as_text = said(html)
    if "\0" not in html:
        assert said(html.encode(), "text/html; charset=utf-8") == as_text
    said(html.encode(), f"text/html; charset={charset}")
    for one in HtmlPage(html).elements(["robots"]):
        assert one.name == one.name.lower()


@given(st.binary(), st.text())
def test_no_octets_raise(body: bytes, content_type: str) -> None:
    page_directives(
        ["mybot"], [(body, body), (content_type, body)], body, content_type=f"text/html;{content_type}"
    )
