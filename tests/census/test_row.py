"""The row of a site."""

from __future__ import annotations

import json
from datetime import datetime, timezone

import pytest

from scrapy_rep.census import COLUMNS, Capture, Row, rows
from scrapy_rep.census.row import to_json


@pytest.mark.parametrize(
    "fields",
    [
        {"site": 5}, {"access": None}, {"status": "200"}, {"status": True}, {"hops": "x"}, {"hops": [1]},
        {"bytes": 1.5},
        {"is_html": 0}, {"agents_allow": {"*": "1"}}, {"restriction": {"*": 1}}, {"named": ["x"]},
        {"crawl_delays": {"*": "1"}},
        {"finding_lines": {"x": [None]}}, {"ai_answers": {"x": []}}, {"fetched_at": 5},
    ],
    ids=str,
)  # fmt: skip
def test_a_field_of_another_type_raises_a_value_error_that_names_it(fields: dict[str, object]) -> None:
    (name,) = fields
    with pytest.raises(ValueError, match=rf"^{name} is not "):
        Row.from_json(json.dumps({"site": "x", **fields}))


def test_a_row_comes_back_as_it_was() -> None:
    body = b"User-agent: GPTBot\nDisallow: /\nDisallow: b\nCrawl-delay: 1.5\nContent-Signal: search=no\n"
    when = datetime(2026, 11, 24, 1, 2, 3, 4_000, tzinfo=timezone.utc)
    (values,) = rows([Capture("https://x/robots.txt", 200, body, when)])
    assert Row.from_json(to_json(values)).as_dict() == values
    assert Row.from_json(json.dumps({"site": "x", "crawl_delays": {"*": 1}})).crawl_delays == {"*": 1}


def test_every_column_says_what_it_holds() -> None:
    assert all(column.about for column in COLUMNS.values())


@pytest.mark.parametrize("line", ["", "{", "[]", "5", '{"unknown": 1}', "{}", "[" * 100_000])
def test_a_line_that_is_no_row_raises_a_value_error(line: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Row.from_json(line)


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        ("HTTP status 503", "The server answers with HTTP status 503."),
        ("DNS lookup failed: no results for hostname lookup: x.", "The host name does not resolve (DNS)."),
        ("Getting https://h/robots.txt took longer than 10.0 seconds.", "The server does not answer in time."),
        ("TCP connection timed out: 110: Connection timed out.", "The server does not answer in time."),
        ("Connection was refused by other side: 111: Connection refused.", "The server refuses the connection."),
        ("Cannot connect to host h:1 ssl:default [Connect call failed ('h', 1)]",
         "The server refuses the connection."),
        ("truncated response", "The server stops in the middle of its answer."),
        ("TLS fails: certificate verify failed", "TLS or the server's certificate fails."),
        ("Connection to the other side was lost in a non-clean fashion: Connection lost.",
         "The server closes the connection."),
        ("('wrong number of parts', b'SSH-2.0')", "The answer is not HTTP."),
        ("No such file or directory", "No such file or directory"),
        ("X" * 500, "X" * 80),
    ],
)  # fmt: skip
def test_a_problem_has_a_sentence(problem: str, reason: str) -> None:
    assert Row("s", problem=problem).reason == reason
