"""Directives as responses carry them: the given cases with elements, read by the parser of the response."""

from __future__ import annotations

import pytest
from scrapy.http import HtmlResponse, Response, TextResponse, XmlResponse
from scrapy.settings import Settings

from scrapy_rep.directives.ai import Elements
from scrapy_rep.directives.page import MAX_FIELDS, combine
from scrapy_rep.extras.pages.page_directives import links_of, marked_links, same
from scrapy_rep.extras.pages.reading import content_type_of, html_of, said_by
from scrapy_rep.extras.pages.reading import read_directives as directives_of
from scrapy_rep.settings import RepSettings
from tests.directives.cases import CASES, Case

# Case 47 asks for elements in the head alone: we read them anywhere, as Google does.
WITH_ELEMENTS = [case for case in CASES if 43 <= case.number <= 59 and "head only" not in case.given]


def response(kind: type[Response], body: str, *fields: str) -> Response:
    headers = {"X-Robots-Tag": list(fields)} if fields else {}
    return kind("https://e.org/", headers=headers, body=body.encode())


def elements(page: Response) -> Elements:
    return Elements.of(page.body, content_type_of(page), page.url)


@pytest.mark.parametrize("case", WITH_ELEMENTS, ids=lambda case: case.number)
def test_the_given_page_means_what_is_expected(case: Case) -> None:
    fields = [code.partition(":")[2] for code in case.code if code.lower().startswith("x-robots-tag:")]
    body = "".join(code for code in case.code if not code.lower().startswith("x-robots-tag:"))
    kind = Response if "application/pdf" in case.given else HtmlResponse
    found = directives_of(response(kind, body, *fields), ["mybot"])
    assert (str(combine(found, ["mybot"])) or "(nothing)") == case.expected


@pytest.mark.parametrize(("dialect", "noindex"), [("google", True), ("yandex", False)])
def test_the_dialect_says_whether_a_permissive_word_wins(dialect: str, noindex: bool) -> None:
    page = response(HtmlResponse, '<html><meta name="robots" content="all"></html>', "noindex")
    settings = RepSettings.from_settings(Settings({"REP_DIALECT": dialect}))
    assert said_by(page, ["mybot"], settings).noindex is noindex


@pytest.mark.parametrize("name", ["textarea", "style", "iframe"])
def test_what_is_no_element_of_the_page_says_nothing(name: str) -> None:
    body = f'<html><body><{name}><meta name="robots" content="noindex"></{name}></body></html>'
    assert directives_of(response(HtmlResponse, body), ["mybot"]) == []


def test_a_comment_says_nothing_and_a_noscript_does() -> None:
    meta = '<meta name="robots" content="noindex">'
    assert directives_of(response(HtmlResponse, f"<html><!-- {meta} --></html>"), []) == []
    assert len(directives_of(response(HtmlResponse, f"<html><noscript>{meta}</noscript></html>"), [])) == 1


def test_xml_has_no_meta_elements() -> None:
    assert directives_of(response(XmlResponse, '<x><meta name="robots" content="noindex"/></x>'), []) == []


def test_fields_and_elements_are_bounded() -> None:
    many = response(HtmlResponse, '<meta name="robots" content="noindex">' * 3_000, *["noindex"] * 10_000)
    assert len(directives_of(many, [])) == 2 * MAX_FIELDS


@pytest.mark.parametrize("element", ['<meta name="noai">', '<meta name="NoAI" content="">'])
def test_an_element_called_noai_says_so(element: str) -> None:
    found = directives_of(response(HtmlResponse, f"<html>{element}</html>"), ["mybot"])
    assert str(combine(found, ["mybot"])) == "noai"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32", "shift_jis", "cp1252"])
def test_a_page_is_read_in_any_encoding(encoding: str) -> None:
    body = '<html><meta name="robots" content="noindex"></html>'.encode(encoding)
    page = HtmlResponse("https://e.org/", body=body, encoding=encoding)
    assert str(combine(directives_of(page, ["mybot"]), ["mybot"])) == "noindex"


def test_a_name_may_be_spelt_with_character_references() -> None:
    body = '<html><meta name="&#114;&#111;bots" content="noindex"></html>'
    assert len(directives_of(response(HtmlResponse, body), ["mybot"])) == 1


META = '<meta name="robots" content="noindex">'
LICENSE = '<rsl><content url="{}"><license><prohibits type="usage">all</prohibits></license></content></rsl>'


def typed(content_type: str, body: str, kind: type[Response] = HtmlResponse) -> Response:
    return kind("https://e.org/d/p", headers={"Content-Type": content_type}, body=body.encode())


@pytest.mark.parametrize("charset", ["hex", "base64", "rot13", "idna", "undefined", "bogus", ""])
def test_a_charset_that_is_none_hides_nothing(charset: str) -> None:
    page = typed(f"text/html; charset={charset}", f"{META}<p>\xe9")
    assert [one.name for one in directives_of(page, [])] == ["noindex"]
    assert elements(
        typed(f"text/html; charset={charset}", '<meta name="tdm-reservation" content="1">')
    ).reservation.reserved


@pytest.mark.parametrize("base", ["http://[", "http://e.org:99999/", "http://\u2100/", "//<:l"])
def test_a_base_that_is_no_url_hides_nothing(base: str) -> None:
    page = typed("text/html; charset=utf-8", f'<head><base href="{base}">{META}</head><a href="/x">x</a>')
    html = html_of(page)
    assert html is not None
    assert links_of(html) == {"https://e.org/x"}
    assert [one.name for one in directives_of(page, [])] == ["noindex"]


def test_an_empty_script_of_xhtml_hides_nothing() -> None:
    body = f'<html xmlns="http://www.w3.org/1999/xhtml"><head><script src="x"/>{META[:-1]}/></head></html>'
    assert [one.name for one in directives_of(typed("application/xhtml+xml", body), [])] == ["noindex"]


def test_html_counts_in_a_response_class_of_another_package() -> None:
    assert len(directives_of(typed("text/html; charset=utf-8", META, TextResponse), [])) == 1
    assert directives_of(typed("text/plain", META, TextResponse), []) == []


@pytest.mark.parametrize("word", ["noai", "noimageai"])
def test_gao_a_rule_may_be_the_name_of_an_element(word: str) -> None:
    assert [one.name for one in directives_of(response(HtmlResponse, f'<meta name="{word}">'), [])] == [word]
    assert directives_of(response(HtmlResponse, f'<meta name="{word}" content="no">'), []) == []


def test_rel_of_a_link_element_is_a_set_of_words_in_any_case() -> None:
    body = "".join(f'<link rel="{rel}" href="/{rel[:2]}">' for rel in ["Next", "prev nofollow", "stylesheet"])
    assert links_of(HtmlResponse("https://e.org/", body=body.encode())) == {"https://e.org/Ne", "https://e.org/pr"}


@pytest.mark.parametrize("encoding", ["shift_jis", "utf-8", "euc-jp"])
def test_links_are_written_in_the_encoding_of_the_page(encoding: str) -> None:
    page = HtmlResponse("https://e.org/", body='<a href="/s?q=日本">x</a>'.encode(encoding), encoding=encoding)
    assert links_of(page) == {same(page.follow(page.css("a")[0]).url)}


def test_rsl_types_and_relations_have_any_case() -> None:
    text = LICENSE.format("/")
    page = (
        f'<script type="Application/RSL+XML">{text}</script><link rel=License type="Application/RSL+xml" href=/l>'
    )
    found = elements(typed("text/html", page))
    assert {one.text for one in found.licensed} == {"/ prohibits: all"}
    assert found.urls == ("https://e.org/l",)


@pytest.mark.parametrize(
    "text", [LICENSE.format("https://other.org/"), f'<?xml version="1.0" encoding="hex"?>{LICENSE}']
)
def test_rsl_content_of_another_site_and_what_cannot_be_parsed_say_nothing(text: str) -> None:
    page = typed("text/html; charset=utf-8", f'<p/><script type="application/rsl+xml">{text}</script>')
    assert elements(page).licensed == ()


def test_long_fields_are_bounded_together() -> None:
    many = response(Response, "", *["noindex, " + "x" * 50_000] * 100)
    assert len([one for one in directives_of(many, []) if one.is_read]) == 2


@pytest.mark.parametrize("name", ["robots", "ROBOTS", "MyBot", "&#114;obots"])
def test_an_element_is_found_wherever_its_name_stands(name: str) -> None:
    body = f'<META content="{"noindex, " * 50}a > b" name={name}><p>{"x" * 9_000}<meta itemprop="name">'
    assert directives_of(response(HtmlResponse, body), ["mybot"])


@pytest.mark.parametrize(
    "tags",
    [
        "<meta charset=utf-8><meta content=noindex name=robots>",
        "<meta charset=utf-8><meta content='noindex' x='a > b' name=robots>",
        "<meta x=it's content='noindex > ' name=robots>",
        '<meta content="<meta a=b> noindex" name="robots">',
        '<meta charset=utf-8><meta content=noindex name="robots" ',
        f"<meta charset=utf-8>{' ' * 99_999}<meta content=noindex name=robots><meta a=b>",
    ],
)
def test_an_element_is_found_wherever_its_end_may_be(tags: str) -> None:
    assert directives_of(response(HtmlResponse, f"{tags}<p>text</p>"), ["mybot"])


def test_an_attribute_with_a_control_character_in_its_name_hides_nothing() -> None:
    license_link = '<link rel="license" type="application/rsl+xml" href="/l" \1>'
    body = f'<a href="/a" rel="nofollow" \1>a</a><link rel="next" href="/n" \1>{license_link}'
    page = HtmlResponse("https://e.org/", body=body.encode())
    assert marked_links(page) == {"https://e.org/a"}
    assert links_of(page) == {"https://e.org/a", "https://e.org/n"}
    assert elements(page).urls == ("https://e.org/l",)
