"""What pages and sites say beside Allow and Disallow: page directives, links, signals about the use by AI."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timezone
from typing import Final

from scrapy.http import HtmlResponse

from fuzz.inputs import parts, text_of
from scrapy_rep.directives import Directive, ai_answers, page_directives
from scrapy_rep.directives.ai import Elements, Reservation, ReservationFile, noai
from scrapy_rep.directives.dates import read_moment
from scrapy_rep.directives.html import HtmlPage
from scrapy_rep.directives.page import MAX_ITEMS, combine, directives_of, read_header, read_meta, read_robots_tag
from scrapy_rep.directives.robots_signals import RobotsSignals, read_signal, read_usage
from scrapy_rep.directives.rsl import License, is_url, read_licenses, urls_in_header
from scrapy_rep.directives.structured_fields import parse_dictionary, parse_list
from scrapy_rep.directives.vocabulary import MAX_TEXT, Statement, answers, as_values
from scrapy_rep.extras.ai.ai_signals import bing, google, statements_in
from scrapy_rep.extras.ai.signals import read_ai_txt
from scrapy_rep.extras.pages.page_directives import links_of, marked_links
from scrapy_rep.extras.pages.reading import html_of
from scrapy_rep.protocol import parse

from .questions import SITE

_NAMES: Final = ("mybot",)
_URL: Final = f"{SITE}/a/b?c=d"
_ALL: Final = ("",)
_SPEAKING: Final = {"base", "link", "meta", "script"}
_NOW: Final = datetime(2025, 6, 15, tzinfo=timezone.utc)


def page_headers(data: bytes) -> None:
    """Fields and meta elements give a bounded number of rules, which combine to what can be shown and written."""
    value, name = (part.decode("latin-1") for part in parts(data, 2))
    for found in (read_header(value), read_robots_tag(value), read_meta(name, value)):
        assert len(found) <= MAX_ITEMS
        _check_directives(found)
    moment = read_moment(value)
    assert moment is None or -1e11 < moment < 1e12
    for parser in (parse_list, parse_dictionary):
        with suppress(ValueError):
            parser(value)


def _check_directives(found: Iterable[Directive]) -> None:
    for permissive in (False, True):
        page = combine(found, _NAMES, _NOW, permissive=permissive)
        assert str(page) == ", ".join(page.words)
        json.dumps(page.words)
        assert page.max_snippet is None or page.max_snippet >= 0
        check_statements([*noai(page, "image/png"), *bing(page), *google(page)])


def page_html(data: bytes) -> None:
    """Whatever a page is made of, it gives directives, elements and links."""
    body, declared = parts(data, 2)
    content_type = f"text/html; charset={declared.decode('latin-1')}"
    found = directives_of(_NAMES, (), body, content_type)
    _check_directives(found)
    assert page_directives(_NAMES, (), body, content_type=content_type, now=_NOW) == combine(found, _NAMES, _NOW)
    elements = Elements.of(body, content_type, _URL)
    assert all(map(is_url, elements.urls))
    check_statements(elements.licensed)
    check_statements(elements.reservation.statements())
    page = HtmlResponse(_URL, body=body, headers={"Content-Type": declared or b"text/html"})
    html = html_of(page)
    assert html is not None
    links_of(html)
    marked_links(html)
    _check_elements(HtmlPage(body, content_type), body)
    text = body.decode("utf-8", "replace")
    if "\0" not in text and not text.startswith("\ufeff"):
        assert [*HtmlPage(text).elements(_ALL)] == [
            *HtmlPage(text.encode(), "text/html; charset=utf-8").elements(_ALL)
        ]


def _check_elements(page: HtmlPage, body: bytes) -> None:
    """Whether the elements that speak are those that a reader of all tags finds, as far as they go."""
    found = [*page.elements(_ALL)]
    loading = [each for each in page.loading_elements(_SPEAKING) if each.name in _SPEAKING]
    assert b"noscript" in body.lower().replace(b"\0", b"") or loading[: len(found)] == found


def ai_signals(data: bytes) -> None:
    """The signals of a robots.txt answer as `ai_answers` does; those of fields can be kept as JSON."""
    body, url, field = parts(data, 3)
    text = field.decode("latin-1")
    _check_robots_txt(body, text_of(url))
    check_statements(read_usage([text]))
    check_statements(read_signal([text]))
    check_statements(Reservation.of([text], "header").statements())
    assert all(map(is_url, urls_in_header([text, f"<{text}>;rel=license"], _URL)))
    check_statements(read_licenses([License(text, text, (text,), (text,))], text))


def _check_robots_txt(body: bytes, url: str) -> None:
    file = parse(body, limit=None)
    for token in (*_NAMES, "*"):
        signals = RobotsSignals.of(file, token)
        together = signals.statements(url)
        assert all(map(is_url, signals.licenses))
        check_statements(together, signals.licenses)
        said = {category.value: answer.value for category, answer in answers(together).items()}
        means = {"yes": True, "no": False, "unknown": None}
        for use, answer in ai_answers(token, url, robots=file).items():
            assert answer is (means[said[use]] if file.verdict(token, url).allowed else None)


def site_files(data: bytes) -> None:
    """A tdmrep.json and an ai.txt answer about every URL, whatever they hold."""
    body, url = parts(data, 2)
    check_statements(ReservationFile(body).about(text_of(url)).statements())
    check_statements(read_ai_txt(parse(body), _NAMES[0], text_of(url)))


def check_statements(statements: Iterable[Statement], licenses: Iterable[str] = ()) -> None:
    """Whether *statements* can be kept in a stamp, and come back from it."""
    found = [*statements]
    assert all(len(one.text) <= MAX_TEXT for one in found)
    assert all(one.text.encode() for one in found if one.text)
    kept = json.loads(json.dumps(as_values(found, licenses)))
    assert {*statements_in(kept)} <= {*found}
