"""What the key of a line means: RFC 9309 section 2.2 and Google's forgiving reading of it."""

from __future__ import annotations

import pytest

from scrapy_rep.protocol import Kind, Record
from scrapy_rep.protocol.records import kind_of


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        (b"User-agent", Kind.USER_AGENT),
        (b"Allow", Kind.ALLOW),
        (b"Disallow", Kind.DISALLOW),
    ],
)
def test_rfc_2_2_the_keys_of_the_protocol_are_known(key: bytes, kind: Kind) -> None:
    assert kind_of(key) is kind


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        (b"useragent", Kind.USER_AGENT),
        (b"user agent", Kind.USER_AGENT),
        (b"dissallow", Kind.DISALLOW),
        (b"dissalow", Kind.DISALLOW),
        (b"disalow", Kind.DISALLOW),
        (b"diasllow", Kind.DISALLOW),
        (b"disallaw", Kind.DISALLOW),
        (b"sitemap", Kind.SITEMAP),
        (b"site-map", Kind.SITEMAP),
    ],
)
def test_google_the_typos_it_forgives_are_known(key: bytes, kind: Kind) -> None:
    assert kind_of(key) is kind


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        (b"Disallowed", Kind.DISALLOW),
        (b"Allow all", Kind.ALLOW),
        (b"Allows", Kind.ALLOW),
        (b"User-agents", Kind.USER_AGENT),
        (b"Sitemaps", Kind.SITEMAP),
        (b"sitemap-index", Kind.SITEMAP),
        (b"disalow!", Kind.DISALLOW),
    ],
)
def test_google_a_key_matches_by_prefix(key: bytes, kind: Kind) -> None:
    assert kind_of(key) is kind


@pytest.mark.parametrize(
    "key",
    [
        b"user--agent",
        b"user  agent",
        b"user_agent",
        b"agent",
        b"my-user-agent",
        b"x-allow",
        b"dis-allow",
        b"disalo",
        b"disllow",
        b"allo",
        b"site map",
        b"site_map",
        b"\xef\xbb\xbfuser-agent",
        b"",
        b"*",
        b"/",
    ],
)
def test_google_any_other_key_is_unknown(key: bytes) -> None:
    assert kind_of(key) is Kind.UNKNOWN


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        (b"Crawl-delay", Kind.CRAWL_DELAY),
        (b"crawldelay", Kind.CRAWL_DELAY),
        (b"crawl delay", Kind.CRAWL_DELAY),
        (b"Request-rate", Kind.REQUEST_RATE),
        (b"Visit-time", Kind.VISIT_TIME),
        (b"Host", Kind.HOST),
        (b"Clean-param", Kind.CLEAN_PARAM),
        (b"Content-Signal", Kind.CONTENT_SIGNAL),
        (b"Content-Signals", Kind.CONTENT_SIGNAL),
        (b"Content-Usage", Kind.CONTENT_USAGE),
        (b"Noindex", Kind.NOINDEX),
    ],
)
def test_ours_the_records_beside_the_protocol_have_exact_names(key: bytes, kind: Kind) -> None:
    assert kind_of(key) is kind
    assert kind_of(key + b"x") is Kind.UNKNOWN
    assert kind_of(b"x" + key) is Kind.UNKNOWN


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.UNKNOWN], ids=str)
def test_rfc_2_2_the_case_of_a_key_does_not_count(kind: Kind) -> None:
    name = kind.value.encode()

    assert kind_of(name.upper()) is kind
    assert kind_of(name.title()) is kind


def test_ours_no_key_spells_unknown() -> None:
    assert kind_of(b"unknown") is Kind.UNKNOWN


def test_ours_the_text_of_a_record_keeps_octets_that_are_no_utf_8() -> None:
    assert Record(1, Kind.HOST, b"host", "café".encode()).text == "café"
    assert Record(1, Kind.HOST, b"host", b"caf\xe9").text == "caf\udce9"
