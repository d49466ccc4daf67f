"""What an answer refuses, by its status and headers alone, held against the table of answers."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_rep.directives.refusals import HEADERS, STATUSES, Refusal, read_refusal
from scrapy_rep.protocol.access import Via, headers_read
from tests.support.refusals import CARRIED, CASES, Case


def read(case: Case, via: str = "nobody") -> Refusal | None:
    return read_refusal(case.status, headers_read(case.headers, HEADERS), Via(via))


@pytest.mark.parametrize("name", CASES)
def test_an_answer_refuses_what_its_document_says(name: str) -> None:
    found = read(CASES[name])
    assert (str(found or ""), found.kind if found else "") == (CASES[name].refused, CASES[name].kind)


@pytest.mark.parametrize(("via", "name"), CARRIED)
def test_who_carries_a_request_does_not_speak_for_the_site(via: str, name: str) -> None:
    assert str(read(CARRIED[via, name], via) or "") == CARRIED[via, name].refused


def test_the_table_has_forty_kinds_of_answers() -> None:
    assert len(CASES) >= 40
    assert all(case.document for case in CASES.values())


def test_every_refusal_has_a_status_that_a_crawl_hears() -> None:
    assert {case.status for case in CASES.values() if case.refused} == STATUSES


@given(
    st.sampled_from([200, *STATUSES]),
    st.dictionaries(st.sampled_from(HEADERS), st.text(max_size=40) | st.sampled_from(["challenge", "License"])),
)
def test_any_header_is_read_and_its_text_is_safe_to_show(status: int, headers: dict[str, str]) -> None:
    found = read_refusal(status, headers)
    assert found is None or str(found).isprintable()


@pytest.mark.parametrize("text", ["<a>;", "<" * 9, ", " * 9, "License" * 9, "; rel=" * 9, "<a>" + " " * 99])
def test_a_hostile_header_takes_no_longer(text: str) -> None:
    headers = dict.fromkeys(HEADERS[4:], (text * 65_536)[:65_536])
    began = time.process_time()
    for status in STATUSES:
        read_refusal(status, headers)
    assert time.process_time() - began < 2.0
