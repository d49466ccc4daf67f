"""The rows of captures: the figures of one file, and where it is from."""

from __future__ import annotations

import os
import pickle
from datetime import datetime, timezone
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from scrapy_rep.census import COLUMNS, LONG, Capture, Row, long, precedence, rows
from scrapy_rep.census.measure import _Measured, _measured
from scrapy_rep.census.row import LINTED, to_json
from scrapy_rep.protocol import DIALECTS, GOOGLE, MAX_SIZE, Dialect
from tests.protocol.test_google_verdicts import FOLDER, bodies

from .counting import count

NOON = datetime(2026, 11, 24, 12, tzinfo=timezone.utc)


def measure(body: bytes, url: str = "s", dialect: Dialect = GOOGLE, **of_capture: Any) -> Row:
    (values,) = rows([Capture(url, body=body, **of_capture)], dialect=dialect)
    return Row.of(values)


BODY = b"""# for all
User-agent: *
User-agent: MJ12bot/1.4   # the same
Crawl-delay: 2
Disallow: /*?s=
Allow: /a$

user-agent: mj12BOT
Disallow: /x
Sitemap: https://h/a.xml
Sitemap: https://h/a.xml
Nonsense: x
what is this?
User-agent: GPTBot
Disallow: /
User-agent: CCBot
Disallow: /x
User-agent: ClaudeBot
Disallow:
"""


def test_lines_records_and_rules_are_counted() -> None:
    row = measure(BODY)
    assert (row.bytes, row.lines, row.blank_lines, row.comment_lines) == (len(BODY), 19, 1, 1)
    assert (row.lines_with_comment, row.unread_lines, row.unread_share) == (1, 2, round(2 / 19, 6))
    assert (row.groups, row.user_agent_fields, row.allow, row.disallow) == (5, 6, 1, 5)
    assert (row.wildcards, row.anchors, row.sitemaps) == (1, 1, 1)
    assert row.records == {
        "user-agent": 6, "crawl-delay": 1, "disallow": 5, "allow": 1, "sitemap": 2, "unknown": 1
    }  # fmt: skip


def test_rules_and_delays_are_counted_by_name_whatever_its_case() -> None:
    row = measure(BODY)
    assert (row.agents_allow["*"], row.agents_disallow["*"]) == (1, 1)
    assert (row.agents_allow["MJ12bot"], row.agents_disallow["MJ12bot"]) == (1, 2)
    assert list(row.agents_allow) == ["*", "MJ12bot", "GPTBot", "CCBot", "ClaudeBot"]
    assert row.crawl_delays == {"*": 2.0, "MJ12bot": 2.0}


def test_a_name_of_thousands_of_octets_is_cut() -> None:
    row = measure(b"User-agent: " + b"x" * 5_000 + b"\nDisallow: /\n")
    assert list(row.agents_disallow) == ["x" * 64]


def test_a_line_without_a_token_is_not_for_crawlers_that_no_line_names() -> None:
    body = b"User-agent: 360Spider\nDisallow: /\n"
    for dialect in DIALECTS.values():
        row = measure(body, dialect=dialect)
        assert not row.shuts_out, dialect.name
        assert set(row.home_closed) <= {"360Spider"}, dialect.name


def said(*lines: str) -> Row:
    return measure("\n".join(["User-agent: *", *lines]).encode())


def test_lines_of_signals_are_counted_those_of_a_license_with_a_url_alone() -> None:
    row = said("Content-Signal: ai-train=no", "Content-Signal: x", "License: none", "License: https://h/l.xml")
    assert row.ai_signals == {"Content-Signal": 2, "License": 1}
    assert said("Disallow: /x").ai_signals == {}
    page = measure(b"<html>\nLicense: https://h/l.xml\nContent-Signal: ai-train=no\n")  # as a crawl reads it
    assert page.ai_signals == {"Content-Signal": 1, "License": 1}


def test_the_answers_of_signals_are_told_apart_and_unknown_ones_left_out() -> None:
    row = said("Content-Signal: ai-train=yes, search=yes, ai_input=no", "Content-Usage: train-ai=n", "Allow: /")
    assert row.ai_answers == {
        "Content-Signal search": "yes", "Content-Signal ai-train": "yes", "Content-Usage ai-train": "no"
    }  # fmt: skip
    assert said("Content-Usage: train-ai=no", "Content-Signal: use=full").ai_answers == {}


def test_a_site_that_may_not_be_crawled_has_signals_and_no_answers() -> None:
    row = said("Content-Signal: ai-train=no", "Disallow: /")
    assert (row.ai_signals, row.ai_answers) == ({"Content-Signal": 1}, {})
    assert said("Content-Signal: ai-train=no", "Disallow: /x").ai_answers


def test_the_answers_are_those_for_crawlers_that_no_group_names() -> None:
    body = b"User-agent: a\nContent-Signal: ai-train=no\n\nUser-agent: *\nContent-Usage: /y train-ai=n\n"
    assert measure(body).ai_answers == {}
    assert measure(b"Content-Signal: ai-train=no\n" + body).ai_answers == {"Content-Signal ai-train": "no"}


def test_findings_are_counted_by_code_those_about_the_fetch_too() -> None:
    body = b"User-agent: *\nDisallow: a\nDisallow: b\n"
    assert (measure(body, "https://h/robots.txt").findings or {})["path-without-slash"] == 2
    moved = measure(body, "https://h/robots.txt", hops=("https://h/x",), status=200)
    assert (moved.findings or {})["redirected"] == 1
    assert moved.url == "https://h/x"


@pytest.mark.parametrize(
    "body", [b"", b"\0", b"\xff\xfe\0U\0s", b"User-agent: \xff\xe2\x80\xae\nDisallow: /\xff", os.urandom(5_000)]
)
def test_a_row_is_a_line_of_json_whatever_the_octets(body: bytes) -> None:
    (values,) = rows([Capture("s", 200, body, NOON)])
    line = to_json(values)
    assert "\n" not in line
    line.encode()
    assert Row.from_json(line) == Row.of(values)


def test_an_empty_file_has_nothing() -> None:
    row = measure(b"")
    assert (row.lines, row.unread_share, row.groups, row.agents_allow) == (0, 0.0, 0, {})
    assert row.has_file


@pytest.mark.skipif(not FOLDER, reason="SCRAPY_REP_CORPUS names no folder")
def test_real_files_are_counted_as_simple_code_counts_them() -> None:
    for name, body in islice(bodies(Path(FOLDER)).items(), 0, None, 40):
        row, expected = measure(body), count(body)
        figures = (row.bytes, row.lines, row.blank_lines, row.comment_lines, row.lines_with_comment)
        assert figures == tuple(expected[key] for key in ("bytes", "lines", "blank", "comment", "behind")), name
        kinds = ("allow", "disallow", "user-agent", "sitemap", "crawl-delay")
        assert [row.records.get(kind, 0) for kind in kinds] == [expected[kind] for kind in kinds], name


# Where a capture is from


def from_(**fields: Any) -> dict[str, Any]:
    (values,) = rows([Capture("http://example.com:8080/robots.txt", **fields)])
    return values


def test_the_site_is_the_origin_and_a_time_stays_a_time() -> None:
    values = from_(status=200, body=b"", fetched_at=NOON)
    assert (values["site"], values["url"]) == ("http://example.com:8080", "http://example.com:8080/robots.txt")
    assert (values["status"], values["fetched_at"], values["access"]) == (200, NOON, "successful")


@pytest.mark.parametrize(
    ("fields", "access", "problem", "kind", "closed_to_all"),
    [
        ({"status": 404, "body": b"Disallow: /"}, "unavailable", None, "no robots.txt", "none"),
        ({"status": 403}, "unavailable", None, "no robots.txt", "none"),
        ({"status": 301, "location": "https://example.com/"}, "redirected", None, "redirected elsewhere", None),
        ({"status": 301}, "unavailable", None, "no robots.txt", "none"),
        ({"status": 429}, "unreachable", "HTTP status 429", "unreachable", None),
        ({"status": 503}, "unreachable", "HTTP status 503", "unreachable", None),
        ({}, "unreachable", "no response", "unreachable", None),
        ({"status": 200, "problem": "truncated response (time)"}, "unreachable", "truncated response (time)",
         "unreachable", None),
        ({"status": 200, "body": b""}, "successful", None, "empty", "none"),
        ({"status": 200}, "unreachable", "response without its body", "unreachable", None),
        ({"body": b"User-agent: *\nDisallow: /"}, "successful", None, "with rules", "all"),
    ],
    ids=str,
)  # fmt: skip
def test_rfc_2_3_1_a_status_says_what_a_response_means(
    fields: dict[str, Any], access: str, problem: str | None, kind: str, closed_to_all: str | None
) -> None:
    values = from_(**fields)
    assert (values["access"], values["problem"], Row.of(values).kind) == (access, problem, kind)
    assert values["restriction"].get("*") == closed_to_all
    assert {row["treatment"] for row in long([values])} == ({closed_to_all} if closed_to_all else set())


def test_a_user_and_a_password_are_in_no_row() -> None:
    secret, plain = "http://user:secret@example.com/robots.txt", "http://example.com/robots.txt"
    (values,) = rows([Capture(secret, 301, location=secret)])
    assert (values["url"], values["location"]) == (plain, plain)
    (values,) = rows([Capture(plain, 200, b"", hops=(secret,))])
    assert (values["url"], values["hops"]) == (plain, [plain])
    (values,) = rows([Capture("http://example.com/robots.txt", 301, location="http://example.com/a@b")])
    assert values["location"] == "http://example.com/a@b"


def test_of_captures_of_one_time_that_with_a_body_comes_first() -> None:
    url = "https://h/robots.txt"
    ranked = [
        Capture(url, problem="no route"), Capture(url, 404), Capture(url, 503), Capture(url, 200, BODY),
    ]  # fmt: skip
    assert sorted([*ranked[::-1]], key=precedence) == ranked


def test_a_light_row_is_the_same_without_the_linter() -> None:
    captures = [Capture("https://h/robots.txt", 200, BODY), Capture("https://g/robots.txt", 404)]
    for full, light in zip(rows(captures), rows(captures, light=True), strict=True):
        assert light == {name: value for name, value in full.items() if name not in LINTED}
    assert list(full) == list(COLUMNS)


@pytest.mark.parametrize("light", [False, True])
def test_a_body_that_many_sites_serve_is_measured_as_if_each_were_alone(light: bool) -> None:
    """That a rule also closes a sitemap is a finding at the host of the sitemap alone."""
    body = b"User-agent: *\nDisallow: /site\nSitemap: https://a.example/site-map.xml\n"
    sites = [Capture(f"https://{host}.example/robots.txt", 200, body) for host in "abab"]
    together = [*rows(sites, light=light)]
    for capture, row in zip(sites, together, strict=True):
        _measured._found.clear()
        assert row == next(rows([capture], light=light))
    codes = ["prefix-trap" in row["findings"] for row in together] if not light else []
    assert codes == ([] if light else [True, False, True, False])


def test_what_is_kept_of_bodies_is_bounded() -> None:
    kept = _Measured()
    for number in range(100):
        kept.add(number, {"bytes": number}, 2**20)
    assert (kept.get(99), kept.get(0)) == ({"bytes": 99}, None)
    assert len(kept._found) <= 8


def copied(what: Any) -> Any:
    return pickle.loads(pickle.dumps(what))  # noqa: S301  # it is ours


def test_rows_and_what_makes_them_go_to_another_process() -> None:
    make = copied(partial(rows, agents=("GPTBot",), dialect=GOOGLE, light=True))
    found = list(make([Capture("https://h/robots.txt", 200, BODY, NOON)]))
    assert copied(found) == found


def test_octets_beyond_the_limit_are_not_read() -> None:
    body = b"User-agent: *\nDisallow: /x\n" + b"#" * MAX_SIZE + b"\nDisallow: /y\n"
    assert (measure(body).disallow, measure(body).bytes) == (1, len(body))


# The long form


def test_the_long_form_has_a_row_for_each_agent() -> None:
    values = rows([Capture("https://h/robots.txt", 200, BODY, NOON)])
    found = {row["agent"]: row for row in long(values, ["GPTBot", "CCBot", "Diffbot"])}
    assert all(list(row) == list(LONG) for row in found.values())
    gptbot = found["GPTBot"]
    assert (gptbot["site"], gptbot["fetched_at"], gptbot["category"]) == ("https://h", NOON, "training")
    said = {name: (row["treatment"], row["by"], row["line"], row["level"]) for name, row in found.items()}
    assert said == {
        "*": ("part", "*", 5, "pattern"),
        "GPTBot": ("all", "name", 15, "full"),
        "CCBot": ("part", "name", 17, "pattern"),
        "Diffbot": ("part", "*", 5, "pattern"),
        "ClaudeBot": ("none", "name", 18, "sitemap and delay only"),
        "MJ12bot": ("part", "name", 5, "pattern"),
    }


@pytest.mark.parametrize(
    ("body", "level"),
    [
        (b"User-agent: *\nDisallow: /", "full"),
        (b"User-agent: *\nDisallow: /a", "pattern"),
        (b"User-agent: *\nCrawl-delay: 3", "sitemap and delay only"),
        (b"Sitemap: https://h/s.xml", "sitemap and delay only"),
        (b"User-agent: GPTBot\nDisallow:\nUser-agent: *\nDisallow: \nCrawl-delay: 3", "none"),
        (b"", "none"),
    ],
)
def test_consent_in_crisis_a_level_says_how_far_a_site_goes(body: bytes, level: str) -> None:
    values = rows([Capture("https://h/robots.txt", 200, body)])
    assert {row["level"] for row in long(values) if row["agent"] == "GPTBot"} == {level}


def test_a_known_agent_is_the_same_in_any_case() -> None:
    capture = Capture("https://h/robots.txt", 200, b"User-agent: GPTBot\nDisallow: /\n")
    (row,) = rows([capture], agents=["gptbot", "GPTBot", "*"], dialect=DIALECTS["google-exact"])
    assert row["restriction"] == {"*": "none", "GPTBot": "all"}
    assert {each["agent"]: each["treatment"] for each in long([row], ["gptbot"])} == row["restriction"]


def test_a_crawler_without_a_name_is_not_that_of_all_others() -> None:
    capture = Capture("https://h/robots.txt", 200, b"User-agent: *foo\nDisallow: /\n")
    (row,) = rows([capture], agents=["*"], dialect=DIALECTS["google-exact"])
    assert (row["restriction"], row["named"]) == ({"*": "none"}, {})


def test_an_agent_that_nobody_knows_is_told_by_name_where_it_was_asked_about() -> None:
    capture = Capture("https://h/robots.txt", 200, b"User-agent: our-bot\nDisallow: /\n")
    for asked, treatment in ((["our-bot"], "all"), ([], "none")):
        found = {row["agent"]: row["treatment"] for row in long(rows([capture], agents=asked), ["our-bot"])}
        assert found["our-bot"] == treatment


def test_one_string_is_no_list_of_agents() -> None:
    for found in (rows([], agents="GPTBot"), long([], "GPTBot")):
        with pytest.raises(TypeError, match=r"write \['GPTBot'\]"):
            list(found)
