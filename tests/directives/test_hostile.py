"""What a hostile site can send: every reader answers, in time that is linear in it, and never raises."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_rep.directives import ai_answers, page_directives
from scrapy_rep.directives.ai import (
    MAX_TDMREP,
    Elements,
    Reservation,
    ReservationFile,
    noai,
)
from scrapy_rep.directives.dates import read_moment
from scrapy_rep.directives.page import MAX_ITEMS, combine, read_header, read_meta, read_robots_tag
from scrapy_rep.directives.robots_signals import MAX_PATTERNS, PathRules, RobotsSignals, read_signal, read_usage
from scrapy_rep.directives.rsl import MAX_LICENSES, License, RslFile, read_licenses, urls_in_header
from scrapy_rep.directives.structured_fields import parse_dictionary, parse_list
from scrapy_rep.directives.vocabulary import MAX_UNREAD
from scrapy_rep.extras.ai.ai_signals import bing, google
from scrapy_rep.extras.ai.signals import read_ai_txt
from scrapy_rep.protocol import Kind, Record, RobotsTxt, parse

MEGABYTE = 1_000_000
SECONDS = 20.0
"""CPU time that only what is beyond linear exceeds: linear readers need hundredths of it."""

RSL = "application/rsl+xml"
END = b"<meta name=robots><meta name=tdm-reservation>"
URL = f"https://e.org/{'ab' * 500}"
DATES = ["Mon", " ", ", ", "Jun", "25", "9999", "0001", "-12", "-31", "T", "12", ":", "59", "PST", "Z", "."]
FIELDS = [
    "<",
    ">",
    "<u>",
    ";",
    '"',
    ",",
    "=",
    "rel",
    "a",
    " ",
    "(",
    "*",
    "a;b=",
    "<u>;rel=",
    "max-snippet:1 ",
    "<a ",
    "<meta ",
    "<!--",
    "='",
    "</",
    "<script>",
    "<script type=application/rsl+xml>",
    "<template>",
    "&#",
    "/>",
]

LINES = [
    "Content-Usage: /p{} train-ai=n",
    "Content-Usage: /p train-ai=n",
    "Content-Usage: /p a{}=n",
    "Content-Usage: /*{:05}* train-ai=n",
    "Content-Signal: a{}=no",
    "License: https://e.org/{}",
    "DisallowAITraining: /*{:05}",
]

READERS: dict[str, Callable[[str], object]] = {
    "X-Robots-Tag": read_header,
    "Robots-Tag": read_robots_tag,
    "meta": lambda text: read_meta("robots", text),
    "Content-Usage": lambda text: read_usage([text]),
    "Content-Signal": lambda text: read_signal([text]),
    "Link": lambda text: urls_in_header([f"{text}license"], URL),
    "tdm-reservation": lambda text: Reservation.of([text], "header").statements(),
    "tdmrep.json": lambda text: ReservationFile(text.encode("utf-8", "replace")).about(URL),
    "ai.txt": lambda text: read_ai_txt(parse(text.encode("utf-8", "replace")), "mybot", URL),
    "robots.txt": lambda text: robots_txt(text).statements(URL),
    "page": lambda text: page_directives([text], [(text, text)], f"<meta name=robots {text}<meta name=robots"),
    "page of octets": lambda text: ai_answers(
        "a", text, headers=[(b"Link", b"license")], html=text.encode() + END
    ),
    "elements": lambda text: Elements.of(f"<script type={RSL}><content {text}{RSL}", "text/html", text),
    "RSL": lambda text: read_licenses([License(text, text, (text,), (text,))], text),
    "RSL file": lambda text: RslFile(f"<rsl><content url='{text}'><license>{text}").statements(URL, text),
}


def robots_txt(text: str) -> RobotsSignals:
    keys = ("Content-Usage", "Content-Usage: /", "Content-Signal", "License", "DisallowAITraining")
    body = "User-agent: *\nAllow: /\n" + "\n".join(f"{key}: {text}" for key in keys)
    return RobotsSignals.of(parse(body.encode("utf-8", "replace")), "mybot")


def taken(read: Callable[[], object]) -> float:
    start = time.process_time()
    read()
    return time.process_time() - start


@pytest.mark.full
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_megabyte_is_read_in_linear_time(read: Callable[[str], object]) -> None:
    for part in FIELDS:
        text = part * (MEGABYTE // len(part))
        assert taken(partial(read, text)) < SECONDS, part


@pytest.mark.full
def test_ten_thousand_fields_are_read_in_linear_time() -> None:
    for part in FIELDS:
        fields = [f"{part * 100}license"] * 10_000
        for read in (read_usage, read_signal, partial(Reservation.of, source="header")):
            assert taken(partial(read, fields)) < SECONDS, part
        assert taken(partial(urls_in_header, fields, URL)) < SECONDS, part


@given(st.sampled_from(sorted(READERS)), st.text() | st.lists(st.sampled_from(FIELDS + DATES)).map("".join))
def test_readers_never_raise(name: str, text: str) -> None:
    READERS[name](text)


@given(st.binary())
def test_readers_of_files_never_raise(octets: bytes) -> None:
    ReservationFile(octets).about(URL)
    read_ai_txt(parse(octets), "mybot", URL)
    lines = (key + octets for key in (b"Content-Usage:", b"Content-Signal:", b"License:", b"AllowAITraining:"))
    found = RobotsSignals.of(parse(b"\n".join([b"User-agent: *", *lines])), "mybot")
    for one in found.statements(URL):
        one.text.encode()
    for url in found.licenses:
        url.encode()


@given(st.lists(st.sampled_from(DATES)).map("".join))
def test_a_date_that_is_read_can_be_shown(text: str) -> None:
    read_moment(text)
    page = combine(read_header(f"unavailable_after: {text}"), ["mybot"])
    assert str(page) is not None
    for read in (noai, bing, google):
        read(page)


def test_a_date_out_of_range_in_utc_is_none() -> None:
    assert read_moment("9999-12-31T23:59:59-12:00") is read_moment("0001-01-01T00:00:00+12:00") is None


def test_rules_in_one_item_are_bounded() -> None:
    for rule in ("max-snippet:1 ", "noindex ", "x "):
        assert len(read_header(rule * 10_000)) == len(read_robots_tag(rule * 10_000)) == MAX_ITEMS
        assert len(read_robots_tag(f'*;x="{rule * 1_000}", *;{"a;" * 1_000}b')) <= MAX_ITEMS


def test_a_nested_file_says_nothing() -> None:
    for body in (b"[" * 100_000, b'{"a":' * 100_000, b"[" * 100_000 + b"]" * 100_000):
        assert not ReservationFile(body)


def test_a_file_of_a_hundred_thousand_rules_is_bounded() -> None:
    rule = {"location": f"/{'*a' * 50}$", "tdm-reservation": 1}
    small = json.dumps([rule] * 5_000).encode()
    assert len(small) < MAX_TDMREP < len(small) * 20
    assert taken(lambda: ReservationFile(small).about(URL)) < SECONDS
    assert ReservationFile(small).about(f"{URL}a").reserved
    assert not ReservationFile(json.dumps([rule] * 100_000).encode())


def test_a_hostile_location_matches_nothing() -> None:
    for location in (f"/{'*' * 100_000}x", f"/{'*a' * 10_000}", "/\n", "/\ud800", "a", ""):
        body = json.dumps([{"location": location, "tdm-reservation": 1}]).encode()
        assert ReservationFile(body).about("https://e.org/b").reserved is None


def statements(robotstxt: RobotsTxt) -> object:
    return RobotsSignals.of(robotstxt, "mybot").statements(URL)


@pytest.mark.parametrize("count", [2_000, pytest.param(20_000, marks=pytest.mark.full)])
def test_thousands_of_lines_are_bounded(count: int) -> None:
    for line in LINES:
        lines = "\n".join(map(line.format, range(count)))
        robotstxt = parse(f"User-agent: *\nAllow: /\n{lines}".encode(), limit=None)
        assert taken(partial(statements, robotstxt)) < SECONDS, line
        found = RobotsSignals.of(robotstxt, "mybot")
        assert len(found.statements("https://e.org/p")) <= MAX_UNREAD, line
        assert len(found.licenses) <= MAX_LICENSES, line


USAGES = {
    "paths": "Content-Usage: /p/{} train-ai=n",
    "paths of one length": "Content-Usage: /p/{:06} train-ai=n",
    "prefixes": "Content-Usage: /{0:p<{1}}! train-ai=n",
    "wildcards": "Content-Usage: /*p{:06} train-ai=n",
    "many wildcards": "Content-Usage: /*p*{}*b*c train-ai=n",
    "ends": "Content-Usage: /*{:06}$ train-ai=n",
    "texts of one path": "Content-Usage: /p train-ai=n, x{}=y",
    "texts of several paths": "Content-Usage: /p/{2} train-ai=n, x{0}=y",
    "training": "DisallowAITraining: /p/{}",
}


@pytest.mark.parametrize("form", USAGES.values(), ids=USAGES)
def test_a_page_of_a_site_with_500_kib_of_signals_takes_less_than_a_millisecond(form: str) -> None:
    lines, size = ["User-agent: *", "Allow: /"], 0
    while size < 524_288:
        lines.append(form.format(len(lines), len(lines) % 1_000, len(lines) % 20))
        size += len(lines[-1]) + 1
    found = RobotsSignals.of(parse("\n".join(lines).encode()), "mybot")
    urls = [f"https://e.org/p/{number % 20}/{'p' * 200}?q={number}" for number in range(100)]
    for url in urls[:20]:  # whose texts are read
        found.statements(url)
    assert min(taken(lambda: [found.statements(url) for url in urls]) for _ in range(3)) < len(urls) * 0.001


def test_patterns_of_one_length_count_up_to_a_bound() -> None:
    matched: list[int] = []
    patterns = (format(number, "015b").replace("0", "*").replace("1", "a") for number in range(20_000))
    rules = PathRules(
        ((f"/{path}".encode(), Record(line, Kind.CONTENT_USAGE, b"", b"")) for line, path in enumerate(patterns)),
        lambda record: matched.append(record.line) or [],  # type: ignore[func-returns-value]
    )
    rules.statements(b"/" + b"a" * 50)
    assert len(matched) <= MAX_PATTERNS + 1


@given(st.text("ab*%;=,?:@\"'()\\ 01-.~", max_size=20))
def test_rfc_9651_parsers_raise_nothing_but_value_errors(text: str) -> None:
    with suppress(ValueError):
        parse_list(text)
    with suppress(ValueError):
        parse_dictionary(text)


def test_rfc_9651_a_display_string_is_utf_8_in_lower_case_digits() -> None:
    for text in ('a=%"%ff"', 'a=%"%c3"', 'a=%"%C3%A9"'):
        with pytest.raises(ValueError, match=r"codec|unexpected"):
            parse_dictionary(text)
    assert parse_dictionary('a=%"%c3%a9"')["a"].value is None
