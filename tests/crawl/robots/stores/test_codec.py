"""Every entry can be read back from its stored form; nothing else is read as an entry."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_rep.crawl.robots.stores.codec import (
    FACTS,
    MAX_BODY,
    SCHEMA,
    UnreadableEntryError,
    decode,
    encode,
    encode_body,
)
from scrapy_rep.extras.fleet.redis_store import decode_json, encode_json
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.freshness import Entry

from .test_sqlite_file import ENTRY, ORIGIN

BLANK = Entry(ORIGIN, Access.UNREACHABLE, "", None, b"", (), 0.0, 0.0)
TIMES = st.floats(0, 2e11)
TEXTS = st.text()
ENTRIES = st.builds(
    Entry,
    st.just(ORIGIN),
    st.sampled_from(Access),
    TEXTS,
    st.none() | st.integers(200, 599),
    st.binary(),
    st.lists(TEXTS).map(tuple),
    TIMES,
    TIMES,
    TEXTS,
    TEXTS,
    st.integers(0, 2**63 - 1),
    st.none() | TIMES,
    TIMES,
    TIMES,
)


@given(ENTRIES)
def test_an_entry_comes_back_as_it_was(entry: Entry) -> None:
    assert decode(ORIGIN, encode(entry), encode_body(entry)) == entry
    assert decode_json(ORIGIN, encode_json(entry).encode(), encode_body(entry)) == entry


def test_facts_are_all_fields_but_the_key_and_the_body() -> None:
    assert tuple(encode(ENTRY)) == FACTS
    assert {*FACTS, "origin", "body"} == set(Entry.__slots__)


def test_json_leaves_out_what_has_its_default() -> None:
    facts = {"schema": SCHEMA, "access": "unreachable", "url": "", "fetched_at": 0.0, "fresh_until": 0.0}
    assert json.loads(encode_json(BLANK)) == facts


@pytest.mark.parametrize("time", [inf, 1e300, -1.0])
def test_a_time_out_of_range_is_cut_to_one_that_is_read_back(time: float) -> None:
    times = dict.fromkeys(("fetched_at", "fresh_until", "unreachable_since", "tried_at", "retry_at"), time)
    entry = replace(ENTRY, **times)  # type: ignore[arg-type]
    found = decode(ORIGIN, encode(entry), encode_body(entry))
    assert found.fresh_until == min(max(time, 0.0), 253_402_300_799.0)


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("access", "maybe"),
        ("access", None),
        ("url", None),
        ("status", "200"),
        ("status", ""),
        ("status", 2**63),
        ("hops", None),
        ("hops", [1]),
        ("fetched_at", "now"),
        ("fetched_at", None),
        ("fresh_until", nan),
        ("retry_at", 253_402_300_800.0),
        ("tried_at", -1),
        ("unreachable_since", "long ago"),
        ("unreachable_since", ""),
        ("etag", 5),
        ("failures", 1.5),
        ("failures", -1),
        ("failures", 2**63),
        ("unknown", 1),
    ],
)
def test_a_fact_that_no_entry_can_have_makes_it_unreadable(name: str, fact: Any) -> None:
    with pytest.raises(UnreadableEntryError):
        decode(ORIGIN, {**encode(ENTRY), name: fact}, encode_body(ENTRY))


def test_a_missing_fact_or_a_damaged_body_makes_an_entry_unreadable() -> None:
    facts = encode(ENTRY)
    del facts["url"]
    for broken, body in ((facts, encode_body(ENTRY)), (encode(ENTRY), b"not compressed")):
        with pytest.raises(UnreadableEntryError):
            decode(ORIGIN, broken, body)


@pytest.mark.parametrize("text", [b"", b"[]", b"5", b"{", b"\xff", b"{}", b"[" * 100_000, b'{"a":' * 100_000])
def test_other_json_is_unreadable(text: bytes) -> None:
    with pytest.raises(UnreadableEntryError):
        decode_json(ORIGIN, text, zlib.compress(b""))


@pytest.mark.parametrize("schema", [None, SCHEMA - 1, SCHEMA + 1, "2"])
def test_json_of_another_schema_is_unreadable(schema: Any) -> None:
    facts = {**json.loads(encode_json(ENTRY)), "schema": schema}
    with pytest.raises(UnreadableEntryError, match="another version"):
        decode_json(Origin("http", "b.example", 80), json.dumps(facts).encode(), encode_body(ENTRY))


def test_a_body_that_inflates_beyond_all_bounds_is_not_read() -> None:
    bomb = zlib.compress(bytes(MAX_BODY + 1), 9)
    with pytest.raises(UnreadableEntryError, match="longer than 67,108,864 bytes"):
        decode(ORIGIN, encode(ENTRY), bomb)
