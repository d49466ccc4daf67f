"""What the key of a line means: RFC 9309 section 2.2 and Google's forgiving reading of it."""

from __future__ import annotations

import pytest

from scrapy_rep.protocol import Kind, Record
from scrapy_rep.protocol.records import kind_of

KEYS = {
    Kind.USER_AGENT: ["User-agent", "useragent", "user agent", "User-agents"],
    Kind.ALLOW: ["Allow", "Allows", "Allow all"],
    Kind.DISALLOW: ["Disallow", "Disallowed", "dissallow", "dissalow", "disalow!", "diasllow", "disallaw"],
    Kind.SITEMAP: ["Sitemap", "Sitemaps", "site-map", "sitemap-index"],
}
EXACT_KEYS = {
    Kind.CRAWL_DELAY: ["Crawl-delay", "crawldelay", "crawl delay"],
    Kind.CONTENT_SIGNAL: ["Content-Signals", "content-signals"],
    **{kind: [kind.value] for kind in Kind if kind not in {*KEYS, Kind.CONTENT_SIGNAL, Kind.UNKNOWN}},
}
UNKNOWN_KEYS = [
    "user--agent", "user  agent", "user_agent", "agent", "my-user-agent", "x-allow", "allo", "dis-allow", "disalo",
    "disllow", "site map", "site_map", "", "*", "/", "unknown",
]  # fmt: skip


def test_google_a_key_counts_by_its_beginning_and_some_typos_do() -> None:
    for kind, keys in KEYS.items():
        assert {key: kind_of(key.encode()) for key in keys} == dict.fromkeys(keys, kind)


def test_google_any_other_key_is_unknown() -> None:
    for key in [*map(str.encode, UNKNOWN_KEYS), b"\xef\xbb\xbfuser-agent"]:
        assert kind_of(key) is Kind.UNKNOWN, key


@pytest.mark.parametrize("kind", EXACT_KEYS, ids=str)
def test_the_records_beside_the_protocol_have_exact_names(kind: Kind) -> None:
    for key in map(str.encode, EXACT_KEYS[kind]):
        assert kind_of(key) is kind
        assert kind_of(key + b"s") is kind_of(b"x" + key) is Kind.UNKNOWN


def test_content_signal_may_be_written_in_the_plural() -> None:
    assert kind_of(b"Content-Signal") is kind_of(b"content-signals") is Kind.CONTENT_SIGNAL


def test_rfc_2_2_the_case_of_a_key_does_not_count() -> None:
    for kind in set(Kind) - {Kind.UNKNOWN}:
        name = kind.value.encode()
        assert kind_of(name.upper()) is kind_of(name.title()) is kind


def test_the_text_of_a_record_keeps_octets_that_are_no_utf_8() -> None:
    assert Record(1, Kind.HOST, b"host", "café".encode()).text == "café"
    assert Record(1, Kind.HOST, b"host", b"caf\xe9").text == "caf\udce9"
