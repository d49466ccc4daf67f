"""Directives as responses carry them: the given cases with elements, read by the parser of the response."""

from __future__ import annotations

import pytest
from scrapy.http import HtmlResponse, Response, XmlResponse

from scrapy_rep.directives.page import combine
from scrapy_rep.pages.reading import MAX_FIELDS, directives_of
from tests.directives.cases import CASES, Case

NOW = 1_790_000_000.0
WITH_ELEMENTS = [case for case in CASES if 43 <= case.number <= 59]


def response(kind: type[Response], body: str, *fields: str) -> Response:
    headers = {"X-Robots-Tag": list(fields)} if fields else {}
    return kind("https://e.org/", headers=headers, body=body.encode())


@pytest.mark.parametrize("case", WITH_ELEMENTS, ids=lambda case: case.number)
def test_the_given_page_means_what_is_expected(case: Case) -> None:
    fields = [code.partition(":")[2] for code in case.code if code.lower().startswith("x-robots-tag:")]
    body = "".join(code for code in case.code if not code.lower().startswith("x-robots-tag:"))
    kind = Response if "application/pdf" in case.given else HtmlResponse
    found = directives_of(response(kind, body, *fields), ["mybot"], head_only="head only" in case.given)
    assert (str(combine(found, ["mybot"], NOW)) or "(nothing)") == case.expected


@pytest.mark.parametrize("name", ["textarea", "style", "iframe"])
def test_ours_what_is_no_element_of_the_page_says_nothing(name: str) -> None:
    body = f'<html><body><{name}><meta name="robots" content="noindex"></{name}></body></html>'
    assert directives_of(response(HtmlResponse, body), ["mybot"]) == []


def test_ours_a_comment_says_nothing_and_a_noscript_does() -> None:
    meta = '<meta name="robots" content="noindex">'
    assert directives_of(response(HtmlResponse, f"<html><!-- {meta} --></html>"), []) == []
    assert len(directives_of(response(HtmlResponse, f"<html><noscript>{meta}</noscript></html>"), [])) == 1


def test_ours_xml_has_no_meta_elements() -> None:
    assert directives_of(response(XmlResponse, '<x><meta name="robots" content="noindex"/></x>'), []) == []


def test_ours_fields_and_elements_are_bounded() -> None:
    many = response(HtmlResponse, '<meta name="robots" content="noindex">' * 3_000, *["noindex"] * 10_000)
    assert len(directives_of(many, [])) == 2 * MAX_FIELDS


@pytest.mark.parametrize("element", ['<meta name="noai">', '<meta name="NoAI" content="">'])
def test_ours_an_element_called_noai_says_so(element: str) -> None:
    found = directives_of(response(HtmlResponse, f"<html>{element}</html>"), ["mybot"])
    assert str(combine(found, ["mybot"], NOW)) == "noai"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32", "shift_jis", "cp1252"])
def test_ours_a_page_is_read_in_any_encoding(encoding: str) -> None:
    body = '<html><meta name="robots" content="noindex"></html>'.encode(encoding)
    page = HtmlResponse("https://e.org/", body=body, encoding=encoding)
    assert str(combine(directives_of(page, ["mybot"]), ["mybot"], NOW)) == "noindex"


def test_ours_a_name_may_be_spelt_with_character_references() -> None:
    body = '<html><meta name="&#114;&#111;bots" content="noindex"></html>'
    assert len(directives_of(response(HtmlResponse, body), ["mybot"])) == 1
