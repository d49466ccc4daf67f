"""Exceptions from robots.txt: what an entry must say, and which request one covers."""

from __future__ import annotations

import subprocess
import sys
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from scrapy.exceptions import ScrapyDeprecationWarning

from scrapy_rep.crawl.policy.exceptions import (
    ExceptionIndex,
    PolicyException,
    read_exceptions,
    read_exceptions_file,
)
from scrapy_rep.crawl.policy.policy import exceptions_of
from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.protocol import Reason
from scrapy_rep.settings import RepSettings

NOW = datetime(2026, 11, 22, 12, tzinfo=timezone.utc).timestamp()
DAY = 86_400.0
GOOD = {"url": "https://shop.example/api/*", "reason": "ticket 47", "until": "2027-03-31"}


def read(*entries: dict[str, Any]) -> list[PolicyException]:
    return read_exceptions(entries, now=NOW)


def test_an_exception_has_a_pattern_a_reason_and_an_end() -> None:
    (exception,) = read(GOOD)
    assert exception.pattern == "/api/*"
    assert str(exception.origin) == "https://shop.example"
    assert exception.kinds == {Reason.RULE}
    assert exception.days_left(NOW) == 129
    assert exception.ends_at == datetime(2027, 4, 1, tzinfo=timezone.utc).timestamp()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reason": ""}, "reason is missing"),
        ({"reason": None}, "reason is missing"),
        ({"until": None}, "write the last day, such as 2027-03-31"),
        ({"until": "2027-02-30"}, "write the last day"),
        ({"until": "2028-01-01"}, "more than 366 days away: write 2027-11-23 or earlier"),
        ({"url": "/api/*"}, "write scheme, host and pattern"),
        ({"url": "https:///api/*"}, "no host"),
        ({"url": "gopher://x/api"}, "scheme"),
        ({"url": "https://shop.example"}, "a path that starts with /"),
        ({"url": "https://shop.example?q=1"}, "a path that starts with /"),
        ({"url": "https://shop.example/*"}, '"whole_site": True'),
        ({"url": "https://shop.example/**$"}, '"whole_site": True'),
        ({"url": "https://shop.example/a\nAllow: /"}, "escape blanks"),
        ({"url": "https://shop.example/a#b"}, "escape blanks"),
        ({"for": ["rules"]}, "write a list of rule, unreachable, crawl-delay, ai-signal"),
        ({"for": []}, "write a list of"),
        ({"rule": "/api/"}, "'Disallow: /api/'"),
        ({"rule": "Allow: /api/"}, "'Disallow: /api/'"),
        ({"pattern": "/x"}, "unknown key 'pattern'"),
    ],
)
def test_an_entry_that_cannot_be_says_what_to_write(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r"exception 2: ") as caught:
        read(GOOD, {**GOOD, **change})
    assert message in str(caught.value)


@pytest.mark.parametrize(("names", "kinds"), [("visit-time", set()), (["visit-time", "rule"], {Reason.RULE})])
def test_an_exception_for_visit_time_warns_and_lifts_nothing(names: Any, kinds: set[Reason]) -> None:
    with pytest.warns(ScrapyDeprecationWarning, match="'visit-time' no longer has an effect; remove it"):
        (exception,) = read({**GOOD, "for": names})
    assert exception.kinds == kinds


def test_a_whole_site_has_to_be_meant() -> None:
    (exception,) = read({**GOOD, "url": "https://shop.example/*", "whole_site": True})
    assert ExceptionIndex([exception]).find("https://shop.example/any", Reason.RULE, None, NOW) is exception


def test_an_exception_covers_what_a_rule_with_its_pattern_would() -> None:
    (exception,) = read(GOOD)
    index = ExceptionIndex([exception])
    assert index.find("https://shop.example/api/stores?page=2", Reason.RULE, None, NOW) is exception
    assert index.find("https://shop.example:443/%61pi/stores", Reason.RULE, None, NOW) is exception
    assert index.find("http://shop.example/api/stores", Reason.RULE, None, NOW) is None
    assert index.find("https://www.shop.example/api/stores", Reason.RULE, None, NOW) is None
    assert index.find("https://shop.example/apis", Reason.RULE, None, NOW) is None
    assert index.find("https://shop.example/api/stores", Reason.UNREACHABLE, None, NOW) is None


def test_of_several_the_longest_pattern_applies() -> None:
    wide, narrow = read(GOOD, {**GOOD, "url": "https://shop.example/api/stores/", "reason": "ticket 48"})
    index = ExceptionIndex([wide, narrow])
    assert index.find("https://shop.example/api/stores/1", Reason.RULE, None, NOW) is narrow
    assert index.find("https://shop.example/api/x", Reason.RULE, None, NOW) is wide


def test_an_exception_ends_with_its_last_day_in_utc() -> None:
    ends, stays = read({**GOOD, "until": "2026-11-22"}, {**GOOD, "url": "https://shop.example/a"})
    index = ExceptionIndex([ends, stays])
    assert index.find("https://shop.example/api/", Reason.RULE, None, NOW) is ends
    assert index.find("https://shop.example/api/", Reason.RULE, None, NOW + DAY / 2) is stays
    assert index.find("https://shop.example/api/", Reason.RULE, None, NOW) is stays, (
        "a clock put back revives nothing"
    )


def test_an_exception_for_a_rule_lapses_when_another_rule_decides() -> None:
    (exception,) = read({**GOOD, "rule": "disallow:/api/"})
    index, url = ExceptionIndex([exception]), "https://shop.example/api/stores"
    assert index.find(url, Reason.RULE, "Disallow: /api/", NOW) is exception
    assert index.find(url, Reason.RULE, "Disallow: /", NOW) is None
    assert index.find(url, Reason.RULE, None, NOW) is None


def test_a_rule_that_an_exception_names_is_nothing_to_an_unreachable_origin() -> None:
    (exception,) = read({**GOOD, "for": ["rule", "unreachable"], "rule": "Disallow: /api/"})
    index, url = ExceptionIndex([exception]), "https://shop.example/api/stores"
    assert index.find(url, Reason.UNREACHABLE, None, NOW) is exception
    assert index.find(url, Reason.RULE, "Disallow: /", NOW) is None


def test_exceptions_come_from_a_toml_file(tmp_path: Path) -> None:
    path = tmp_path / "robots-exceptions.toml"
    path.write_text('[[exception]]\nurl = "https://shop.example/api/*"\nreason = "ticket"\nuntil = 2027-03-31\n')
    (exception,) = read(*read_exceptions_file(path))  # type: ignore[arg-type]
    assert exception.until == date(2027, 3, 31)


def test_python_3_10_reads_them_by_tomli(tmp_path: Path) -> None:
    pytest.importorskip("tomli")
    path = tmp_path / "robots-exceptions.toml"
    path.write_text('[[exception]]\nurl = "https://shop.example/api/*"\n')
    code = (
        "import sys; sys.modules['tomllib'] = None\n"
        "from scrapy_rep.crawl.policy.exceptions import read_exceptions_file\n"
        "print(read_exceptions_file(sys.argv[1])[0]['url'], 'tomli' in sys.modules)"
    )
    printed = subprocess.check_output([sys.executable, "-c", code, path], text=True)
    assert printed == "https://shop.example/api/* True\n"


@pytest.mark.parametrize("text", ["x = 1", "[[exceptions]]\n", "[exception]\nurl = 1", "[[", "\x00"])
def test_a_toml_file_that_says_something_else_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "robots-exceptions.toml"
    path.write_text(text)
    with pytest.raises(InvalidSettingError, match=str(path)):
        exceptions_of(RepSettings(exceptions_file=str(path)))


def test_ten_thousand_exceptions_cost_a_question_next_to_nothing() -> None:
    entries = [
        {**GOOD, "url": f"https://shop.example/{'*/' * (number % 7)}section-{number}/*$"}
        for number in range(10_000)
    ]
    index = ExceptionIndex(read(*entries))
    began = perf_counter()
    index.find("https://shop.example/warm-up", Reason.RULE, None, NOW)
    built = perf_counter()
    found = [
        index.find(f"https://shop.example/a/section-{number}/x", Reason.RULE, None, NOW)
        for number in range(0, 10_000, 97)
    ]
    assert sum(exception is not None for exception in found) > 10
    assert built - began < 20
    assert perf_counter() - built < 20


@pytest.mark.parametrize(
    "path",
    ["/api/../private", "/api/..", "/api/..?x", "/api/%2e%2E/private", "/api/.%2e/private", "/api/..%2Fprivate",
     "/api\\..\\private", "/api/x/../../private"],
)  # fmt: skip
def test_a_path_that_leads_out_of_the_pattern_is_not_covered(path: str) -> None:
    index = ExceptionIndex(read({**GOOD, "url": "https://shop.example/api"}))
    assert index.find(f"https://shop.example{path}", Reason.RULE, None, NOW) is None


@pytest.mark.parametrize("path", ["/api/..x/", "/api/x..", "/api/...", "/api/.", "/api?next=/../x"])
def test_dots_that_lead_nowhere_are_covered(path: str) -> None:
    index = ExceptionIndex(read({**GOOD, "url": "https://shop.example/api"}))
    assert index.find(f"https://shop.example{path}", Reason.RULE, None, NOW) is not None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"url": "https://*.shop.example/api/"}, "'*.shop.example' is not a host"),
        ({"url": r"https://shop\.example/api/"}, "is not a host"),
        ({"url": "https://user:secret@shop.example/api/"}, "leave out the user name and the password"),
        ({"url": f"https://shop.example/{'a' * 4_000}"}, "longer than 4,000 characters"),
        ({"until": datetime(2027, 3, 31, 0, 30, tzinfo=timezone(timedelta(hours=2)))}, "write the last day"),
        ({"until": datetime(2027, 3, 31, tzinfo=timezone.utc)}, "write the last day"),
        ({"until": "20270331"}, "write the last day"),
        ({"until": "2027-W13-3"}, "write the last day"),
        ({"for": ["unreachable"], "rule": "Disallow: /"}, "leave out rule = 'Disallow: /'"),
        ({"for": None}, "for = None: write a list of rule"),
        ({"for": 5}, "for = 5: write a list of rule"),
        ({"for": [["rule"]]}, "write a list of rule"),
    ],
)
def test_what_would_never_apply_or_apply_too_long_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r"exception 1: ") as caught:
        read({**GOOD, **change})
    assert message in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_rule_may_be_copied_with_its_comment() -> None:
    (exception,) = read({**GOOD, "rule": "Disallow: /api/  # ours"})
    assert exception.rule == "Disallow: /api/"


def test_an_exception_may_last_a_year_and_a_day() -> None:
    (exception,) = read({**GOOD, "until": "2027-11-23"})
    assert ExceptionIndex([exception]).find("https://shop.example/api/", Reason.RULE, None, NOW) is exception


def test_a_toml_file_may_start_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "robots-exceptions.toml"
    path.write_text('[[exception]]\nurl = "https://shop.example/api/*"\n', encoding="utf-8-sig")
    assert read_exceptions_file(path) == [{"url": "https://shop.example/api/*"}]


def test_an_error_in_the_file_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "robots-exceptions.toml"
    path.write_text('[[exception]]\nurl = "https://shop.example/api/*"\n')
    with pytest.raises(InvalidSettingError, match=rf"{path}.*exception 1: .*reason is missing"):
        exceptions_of(RepSettings(exceptions_file=str(path)))


STEPS_UP = r"""
    ..; ..;x=1 ...; ..%3b ..%00 ..%00.html ..%20 ..+ ..%09 ..%0a ..%0d%0ax ..%7f ..%3f ..%23
    ..::$INDEX_ALLOCATION .%09. %09.. %2e%2e; .%2e %2e.; %2e%2e%20 %252e%252e .%252e %25252e%25252e
    %%32%65%%32%65 %c0%ae%c0%ae .%c0%ae %c0%2e%c0%2e %e0%80%ae%e0%80%ae %f0%80%80%ae. %25c0%25ae.
    %u002e%u002e %uff0e. %ef%bc%8e%ef%bc%8e %e2%80%a5 %e2%80%a4. ..%80
"""
SEPARATORS = r"""
    / \ %2f %5c %252f %255C %c0%af %c1%9c %c0%5c %e0%80%af %e0%81%9c %25c0%25af %u2215 %u005c %ef%bc%8f
    %ef%bc%bc %e2%88%95 %e2%81%84
"""


def covered(path: str) -> bool:
    index = ExceptionIndex(read(GOOD))
    return index.find(f"https://shop.example/api/{path}", Reason.RULE, None, NOW) is not None


@pytest.mark.parametrize("step", STEPS_UP.split())
def test_a_step_up_in_disguise_is_not_covered(step: str) -> None:
    assert not covered(f"stores/{step}/admin")
    assert not covered(step)
    assert not covered(f"stores/{step}?x")


@pytest.mark.parametrize("separator", SEPARATORS.split())
def test_a_step_up_behind_any_spelling_of_a_slash_is_not_covered(separator: str) -> None:
    assert not covered(f"stores{separator}..")
    assert not covered(f"stores/..{separator}admin")


def test_a_path_that_is_encoded_too_often_is_not_covered() -> None:
    assert covered("%2525252565")
    assert not covered(f"%{'25' * 40}65")


@pytest.mark.parametrize(
    "path",
    ["", "..x/", "x../y", ".../x", "a..b", ".;/x", ".well-known/x", "caf%c3%a9/%C0-propos", "x;v=..y", "100%25/a",
     "%e2%80%a6x", "proxy/https%253a%252f%252fsite.example%252f", "x%20y/z+z", "~user/..-x"],
)  # fmt: skip
def test_a_path_that_only_looks_like_a_step_up_stays_covered(path: str) -> None:
    assert covered(path)


def test_a_long_path_of_dots_and_escapes_is_judged_in_a_moment() -> None:
    for path in ("%25" * 60_000, ".%20" * 60_000, "%c0%ae" * 30_000, ";." * 60_000, "./" * 60_000):
        began = perf_counter()
        covered(path)
        assert perf_counter() - began < 2.0
