"""The two public questions answer the given cases, and whatever they are given."""

from __future__ import annotations

import doctest
import pkgutil
import re
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from importlib import import_module

import pytest

from scrapy_rep import directives
from scrapy_rep.directives import PageDirectives, ai_answers, page_directives
from scrapy_rep.protocol import parse
from tests.directives.cases import CASES, Case

NOW = datetime(2026, 9, 21, tzinfo=timezone.utc)
OF_PAGES = [case for case in CASES if case.number <= 62 and case.number != 47]  # which needs a setting
RESERVATIONS = [case for case in CASES if 101 <= case.number <= 112]
OF_AI = [*(case for case in CASES if 64 <= case.number <= 100 or 201 <= case.number <= 214), *RESERVATIONS]
UNKNOWN = {"search": None, "ai-input": None, "ai-train": None}


def field(code: str) -> tuple[str, str]:
    name, _, value = code.partition(":")
    return name, value


def answered(case: Case) -> dict[str, bool | None]:
    texts, fields = (
        case.after("robots.txt"),
        [field(code) for code in case.code if code.startswith("Content-Usage: ")],
    )
    own = "User-agent: mybot\n" if "in own group" in case.given else ""
    return ai_answers(
        "ExampleBot" if case.number == 67 else "mybot",
        "".join(case.after("path")) or "/",
        robots=parse(f"{own}{texts[0]}".encode()) if texts else None,
        headers=(fields if "header" in case.given and case not in RESERVATIONS else [])
        + [("tdm-reservation", value) for value in case.after("header") if case in RESERVATIONS],
        html="".join(f'<meta name="tdm-reservation" content="{value}">' for value in case.after("meta")),
        tdmrep="".join(case.after("tdmrep.json")).encode() or None,
    )


@pytest.mark.parametrize("case", OF_PAGES, ids=lambda case: case.number)
def test_the_given_page_means_what_is_expected(case: Case) -> None:
    fields = [field(code) for code in case.code if "robots-tag:" in code.lower().partition(" ")[0]]
    html = "".join(code for code in case.code if field(code) not in fields)
    content_type = "application/pdf" if "application/pdf" in case.given else "text/html"
    for octets in (fields, [(name.encode(), value.encode()) for name, value in fields]):
        page = page_directives(["mybot"], octets, html, content_type=content_type, now=NOW)
        assert (str(page) or "(nothing)") == case.expected


@pytest.mark.parametrize("case", OF_AI, ids=lambda case: case.number)
def test_the_given_signal_means_what_is_expected(case: Case) -> None:
    reserved = {"reserved": False, "not reserved": True}.get(case.expected.partition(":")[0])
    expected = {
        **UNKNOWN,
        **{use: answer == "yes" for use, answer in re.findall(r"([\w-]+): (yes|no)", case.expected)},
    }
    if case in RESERVATIONS:
        expected |= {"ai-input": reserved, "ai-train": reserved}
    assert answered(case) == expected


def test_a_page_without_anything_says_nothing() -> None:
    assert page_directives([], []) == page_directives(["mybot"], [], "", now=NOW) == PageDirectives()
    assert ai_answers("mybot", "/") == ai_answers("", "", headers=[], html=b"", tdmrep=b"") == UNKNOWN


def test_the_page_ends_at_the_moment_that_it_names() -> None:
    end = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)
    headers = [("X-Robots-Tag", "unavailable_after: 2026-01-01T13:00+01:00")]
    for now, noindex in [(end, True), (end - timedelta(seconds=1), False), (None, True)]:
        page = page_directives(["mybot"], headers, now=now)
        assert (page.noindex, page.unavailable_after) == (noindex, end)


def test_a_moment_without_a_time_zone_is_an_error_that_says_what_to_write() -> None:
    with pytest.raises(ValueError, match=r"datetime\.now\(timezone\.utc\)"):
        page_directives(["mybot"], [], now=datetime(2026, 1, 1))  # noqa: DTZ001


def test_names_are_compared_as_tokens_and_one_name_may_stand_alone() -> None:
    headers = [("x-robots-tag", "MyBot/2.1: noindex"), ("X-ROBOTS-TAG", "my: nofollow")]
    for tokens in (["MYBOT", " My "], ("mybot/3", "my/1"), iter(["mybot", "my"])):
        page = page_directives(tokens, headers)
        assert (page.noindex, page.nofollow) == (True, True)
    assert str(page_directives("mybot", headers)) == "noindex"


def test_attach_05_what_may_not_be_crawled_has_no_preferences_of_its_site() -> None:
    robots, tdmrep = (
        parse(b"User-agent: *\nContent-Signal: search=yes\nDisallow: /x"),
        b'{"location":"/","tdm-reservation":1}',
    )
    asked = {path: ai_answers("mybot", path, robots=robots, tdmrep=tdmrep) for path in ("/x", "https://e.org/y")}
    assert asked == {"/x": UNKNOWN, "https://e.org/y": {"search": True, "ai-input": False, "ai-train": False}}
    assert ai_answers("mybot", "/x", robots=robots, headers=[("Content-Signal", "search=no")])["search"] is False


def test_headers_may_come_one_by_one() -> None:
    headers = (pair for pair in [("X-Robots-Tag", "noai"), ("Content-Usage", "search=y")])
    assert ai_answers("mybot", "/", headers=headers) == {"search": True, "ai-input": None, "ai-train": False}


def test_deviantart_noimageai_counts_for_images() -> None:
    for content_type, answer in [("image/png", False), ("text/html", None)]:
        headers = [(b"content-type", content_type.encode()), (b"X-Robots-Tag", b"noimageai")]
        assert ai_answers("mybot", "/", headers=headers)["ai-train"] is answer


@pytest.mark.parametrize(
    ("url", "path", "answer"),
    [
        ("", "/a/b", False), ("/a/", "/a/b", False), ("/c", "/a/b", None), ("https://e.org/a/*", "/a/b", False),
        ("https://e.org/a", "https://e.org/a/b", False), ("https://o.org/a", "https://e.org/a/b", None),
        ("http://[", "/a/b", None), ("http://[", "http://[", None),
    ],
)  # fmt: skip
def test_rsl_a_license_in_a_page_is_for_the_content_that_it_names(
    url: str, path: str, answer: bool | None
) -> None:
    license_ = (
        f"<rsl><content url='{url}'><license><prohibits type='usage'>ai-train</prohibits></license></content>"
    )
    html = f"<p/><script type='Application/RSL+xml; v=1'>{license_}</script>"
    assert ai_answers("mybot", path, html=html)["ai-train"] is answer
    assert ai_answers("mybot", path, html=html, headers=[("Content-Type", "text/plain")]) == UNKNOWN


@pytest.mark.parametrize(
    "name", [module.name for module in pkgutil.iter_modules(directives.__path__)] + ["__init__"]
)
def test_the_examples_in_docstrings_are_true(name: str) -> None:
    module = import_module(f"scrapy_rep.directives.{name}")
    found = doctest.testmod(module)
    assert found.failed == 0
    assert found.attempted or name not in {"page", "ai", "__init__"}


def test_importing_them_imports_no_scrapy() -> None:
    code = "import scrapy_rep.directives, sys; print({'scrapy', 'twisted', 'parsel', 'lxml'} & sys.modules.keys())"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "set()\n"
