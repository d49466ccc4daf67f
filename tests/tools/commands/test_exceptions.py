"""``scrapy robots exceptions``: what ends when, and which have ended, for people and for CI."""

from __future__ import annotations

import io
import json
from argparse import ArgumentParser
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from scrapy_rep.tools.commands import exceptions, run_told

from . import shop

NOW = datetime(2026, 11, 22, 12, tzinfo=timezone.utc).timestamp()
LATE = {
    "url": "https://shop.example/api/*",
    "reason": "ticket 47",
    "until": "2027-03-31",
    "rule": "Disallow: /api/",
}
SOON = {"url": "https://b.example/x", "reason": "the owner\tsaid so", "until": "2026-11-22", "for": "unreachable"}
OVER = {"url": "https://a.example/x", "reason": "a trial", "until": "2026-11-21"}


def listed(*arguments: str, found: Any = (), **settings: Any) -> tuple[int, str]:
    """The exit code and what is printed, in this process."""
    parser, out = ArgumentParser(), io.StringIO()
    exceptions.add_arguments(parser)
    given = Settings({"REP_EXCEPTIONS": list(found), **settings})
    return run_told(exceptions, parser.parse_args(arguments), given, out), out.getvalue()


@pytest.fixture(autouse=True)
def _noon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scrapy_rep.clock.clock.time", lambda: NOW)


def test_those_that_end_first_come_first_with_days_url_rule_and_reason() -> None:
    assert listed(found=[LATE, SOON, OVER]) == (
        0,
        r"""expired        2026-11-21  https://a.example/x  for rule
               a trial
ends today     2026-11-22  https://b.example/x  for unreachable
               the owner\tsaid so
129 days left  2027-03-31  https://shop.example/api/*  for rule (Disallow: /api/)
               ticket 47
3 exceptions, 1 expired
""",
    )


def test_json_is_one_object_a_line() -> None:
    code, out = listed("--json", found=[LATE, OVER])
    first, second = map(json.loads, out.splitlines())
    assert (code, first["expired"], first["days_left"], first["rule"]) == (0, True, -1, None)
    assert second == {**LATE, "for": ["rule"], "days_left": 129, "expired": False, "spiders": []}


def test_check_ends_with_1_only_when_one_has_expired() -> None:
    assert [listed("--check", found=found)[0] for found in ([], [LATE, SOON], [LATE, OVER])] == [0, 0, 1]


def test_one_that_cannot_be_read_ends_it_with_2_and_the_message_of_a_crawl(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert listed("--check", found=[LATE, {**SOON, "reason": ""}])[0] == 2
    err = capsys.readouterr().err
    assert err.startswith(
        "scrapy robots exceptions: error: REP_EXCEPTIONS: exception 2: https://b.example/x: reason is"
    )
    assert err.count("\n") == 1


def test_without_exceptions_it_says_which_settings_hold_none() -> None:
    assert listed() == (0, "REP_EXCEPTIONS and REP_EXCEPTIONS_FILE contain no exceptions\n")


def test_the_file_is_read_too(tmp_path: Path) -> None:
    file = tmp_path / "exceptions.toml"
    file.write_text('[[exception]]\nurl = "https://c.example/y"\nreason = "r"\nuntil = 2027-01-01\n')
    assert "40 days left   2027-01-01  https://c.example/y" in listed(REP_EXCEPTIONS_FILE=str(file))[1]


@pytest.fixture
def spiders(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The settings of a project, one of whose spiders has an exception that has expired."""
    monkeypatch.setattr(shop.Shop, "custom_settings", {"REP_EXCEPTIONS": [LATE, OVER]})
    return {"SPIDER_MODULES": [shop.__name__]}


def test_the_spiders_of_the_project_are_all_looked_at(spiders: dict[str, Any]) -> None:
    code, out = listed("--check", found=[LATE], **spiders)
    first, _, third, *_, summary = out.splitlines()
    assert (code, summary) == (1, "2 exceptions, 1 expired")
    assert first == "expired        2026-11-21  https://a.example/x  for rule, in shop"
    assert third.endswith("  for rule (Disallow: /api/)")  # the project has it too
    facts = map(json.loads, listed("--json", found=[LATE], **spiders)[1].splitlines())
    assert [one["spiders"] for one in facts] == [["shop"], []]


def test_the_custom_settings_of_one_spider_are_read_where_it_is_named(
    spiders: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert listed("--check", "--spider", "named", **spiders)[0] == 0
    code, out = listed("--check", "--spider", "shop", **spiders)
    assert (code, out.startswith("expired        2026-11-21  https://a.example/x  for rule\n")) == (1, True)
    assert listed("--spider", "none", **spiders)[0] == 2
    err = capsys.readouterr().err
    assert err == "scrapy robots exceptions: error: there is no spider called 'none' in this project\n"


def test_a_spider_that_cannot_be_read_is_named(
    spiders: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shop.Shop, "custom_settings", {"REP_EXCEPTIONS": [{**LATE, "reason": ""}]})
    assert listed("--check", **spiders)[0] == 2
    assert listed("--check", SPIDER_MODULES=["tests.nosuch"])[0] == 2
    spider, module = capsys.readouterr().err.splitlines()
    assert spider.startswith("scrapy robots exceptions: error: spider shop: REP_EXCEPTIONS: exception 1: ")
    assert module == (
        "scrapy robots exceptions: error: "
        "the spiders of this project cannot be loaded: No module named 'tests.nosuch'"
    )
