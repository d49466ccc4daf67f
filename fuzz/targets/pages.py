"""What pages and sites say beside Allow and Disallow: page directives, links, signals about the use by AI."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from scrapy.http import HtmlResponse

from fuzz.inputs import parts, text_of
from scrapy_rep.directives import ai_training, ai_txt, content_signal, content_usage, rsl, tdm
from scrapy_rep.directives.answers import MAX_TEXT, Statement, answers
from scrapy_rep.directives.dates import parse_date
from scrapy_rep.directives.page import combine
from scrapy_rep.directives.page_signals import bing, google, noai
from scrapy_rep.directives.robots_signals import RobotsSignals
from scrapy_rep.directives.robots_tag import MAX_ITEMS, read_header, read_meta, read_robots_tag
from scrapy_rep.directives.statement import Directive
from scrapy_rep.directives.structured_fields import parse_dictionary, parse_list
from scrapy_rep.gate.site_files import as_values, statements_in
from scrapy_rep.protocol import parse
from scrapy_rep.spiders.ai_signals import Elements
from scrapy_rep.spiders.page_directives import links_of, marked_links
from scrapy_rep.spiders.reading import directives_of, html_of

from .questions import SITE

_NAMES: Final = ("mybot",)
_URL: Final = f"{SITE}/a/b?c=d"
_NOW: Final = 1_750_000_000.0


def page_headers(data: bytes) -> None:
    """Fields and meta elements give a bounded number of rules, which combine to what can be shown and written."""
    value, name = (part.decode("latin-1") for part in parts(data, 2))
    for found in (read_header(value), read_robots_tag(value), read_meta(name, value)):
        assert len(found) <= MAX_ITEMS
        _check_directives(found)
    moment = parse_date(value)
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
        _check_statements([*noai(page, "image/png"), *bing(page), *google(page)])


def page_html(data: bytes) -> None:
    """Whatever a page is made of, it gives directives, elements and links."""
    body, content_type = parts(data, 2)
    page = HtmlResponse(_URL, body=body, headers={"Content-Type": content_type or b"text/html"})
    _check_directives(directives_of(page, _NAMES))
    assert len(directives_of(page, _NAMES, head_only=True)) <= len(directives_of(page, _NAMES))
    elements = Elements.of(page)
    assert all(map(rsl.is_url, elements.licenses))
    _check_statements(rsl.read_licenses(elements.rsl, "meta"))
    _check_statements(tdm.read_meta(*elements.tdm).statements())
    html = html_of(page)
    assert html is not None
    links_of(html)
    marked_links(html, {"nofollow"})


def ai_signals(data: bytes) -> None:
    """The signals of a robots.txt answer as its parts do, alone; those of fields and files can be kept as JSON."""
    body, url, field = parts(data, 3)
    text = field.decode("latin-1")
    _check_robots_txt(body, text_of(url))
    _check_statements(content_usage.read_header([text]))
    _check_statements(content_signal.read_header([text]))
    _check_statements(tdm.read_header([text], [text]).statements())
    assert all(map(rsl.is_url, rsl.urls_in_header([text, f"<{text}>;rel=license"], _URL)))
    _check_statements(rsl.read_licenses([rsl.License(text, text, text)], "header"))


def _check_robots_txt(body: bytes, url: str) -> None:
    file = parse(body, limit=None)
    for token in (*_NAMES, "*"):
        signals = RobotsSignals.of(file, token)
        alone = [
            *content_usage.read_robots_txt(file, token, url),
            *content_signal.read_robots_txt(file, token),
            *ai_training.read_robots_txt(file, token, url),
        ]
        together = signals.statements(url)
        assert answers(together) == answers(alone)
        assert signals.licenses == rsl.urls_in_robots_txt(file, token)
        _check_statements(together, signals.licenses)


def site_files(data: bytes) -> None:
    """A tdmrep.json and an ai.txt answer about every URL, whatever they hold."""
    body, url = parts(data, 2)
    said = tdm.ReservationFile.of(body).about(text_of(url))
    assert len(said.policy) <= tdm.MAX_POLICY
    _check_statements(said.statements())
    _check_statements(ai_txt.read_file(body, _NAMES[0], text_of(url)))


def _check_statements(statements: Iterable[Statement], licenses: Iterable[str] = ()) -> None:
    """Whether *statements* can be kept in a stamp, and come back from it."""
    found = [*statements]
    assert all(len(one.text) <= MAX_TEXT for one in found)
    assert all(one.text.encode() for one in found if one.text)
    kept = json.loads(json.dumps(as_values(found, licenses)))
    assert {*statements_in(kept)} <= {*found}
