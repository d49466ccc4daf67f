"""RSL: which license a site or a page names."""

from __future__ import annotations

from scrapy_rep.directives.robots_signals import RobotsSignals
from scrapy_rep.directives.rsl import urls_in_header
from scrapy_rep.protocol import parse
from tests.directives.cases import CASES

NAMED = [case for case in CASES if 113 <= case.number <= 116]


def test_the_given_license_is_named() -> None:
    for case in NAMED:
        files = [parse(text.encode()) for text in case.after("robots.txt")]
        site = [url for file in files for url in RobotsSignals.of(file, "mybot").licenses]
        fields = [field.removeprefix("Link: ") for field in case.after("header")]
        found = [*urls_in_header(fields, "https://e.org/"), *site]
        assert case.expected.startswith(f"license {found[0] if found else 'none'}"), case


def test_a_license_that_is_no_url_means_nothing() -> None:
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
