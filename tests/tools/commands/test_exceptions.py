"""``scrapy robots exceptions``: what ends when, and which have ended, for people and for CI."""

from __future__ import annotations

import io
import json
import sys
from argparse import ArgumentParser
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from scrapy_rep.tools.commands import exceptions
from tests.support.command import scrapy_command

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
    return exceptions.run(parser.parse_args(arguments), given, out), out.getvalue()


@pytest.fixture(autouse=True)
def _noon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scrapy_rep.clock.clock.time", lambda: NOW)


def test_ours_those_that_end_first_come_first_with_days_url_rule_and_reason() -> None:
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


def test_ours_json_is_one_object_a_line() -> None:
    code, out = listed("--json", found=[LATE, OVER])
    first, second = map(json.loads, out.splitlines())
    assert (code, first["expired"], first["days_left"], first["rule"]) == (0, True, -1, None)
    assert second == {**LATE, "for": ["rule"], "days_left": 129, "expired": False}


def test_ours_check_ends_with_1_only_when_one_has_expired() -> None:
    assert [listed("--check", found=found)[0] for found in ([], [LATE, SOON], [LATE, OVER])] == [0, 0, 1]


def test_ours_one_that_cannot_be_read_ends_it_with_2_and_the_message_of_a_crawl(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert listed("--check", found=[LATE, {**SOON, "reason": ""}])[0] == 2
    err = capsys.readouterr().err
    assert err.startswith("scrapy robots exceptions: REP_EXCEPTIONS: exception 2: https://b.example/x: reason is")
    assert err.count("\n") == 1


def test_ours_without_exceptions_it_says_which_settings_hold_none() -> None:
    assert listed() == (0, "REP_EXCEPTIONS and REP_EXCEPTIONS_FILE hold no exception\n")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="reading TOML takes Python 3.11")
def test_ours_the_file_is_read_too(tmp_path: Path) -> None:
    file = tmp_path / "exceptions.toml"
    file.write_text('[[exception]]\nurl = "https://c.example/y"\nreason = "r"\nuntil = 2027-01-01\n')
    assert "40 days left   2027-01-01  https://c.example/y" in listed(REP_EXCEPTIONS_FILE=str(file))[1]


SPIDER = """
import scrapy
class Shop(scrapy.Spider):
    name = "shop"
    custom_settings = {"REP_EXCEPTIONS": [{"url": "https://a.example/x", "reason": "r", "until": "2020-01-01"}]}
"""


def test_ours_the_custom_settings_of_a_spider_are_read_where_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = shops.settings\n")
    (tmp_path / "shops").mkdir()
    (tmp_path / "shops" / "__init__.py").touch()
    (tmp_path / "shops" / "settings.py").write_text('SPIDER_MODULES = ["shops.spiders"]\n')
    (tmp_path / "shops" / "spiders.py").write_text(SPIDER)
    assert scrapy_command(tmp_path, "robots", "exceptions", "--check")[0] == 0
    code, out, err = scrapy_command(tmp_path, "robots", "exceptions", "--check", "--spider", "shop")
    assert (code, out.startswith("expired        2020-01-01  https://a.example/x"), err) == (1, True, "")
    code, _, err = scrapy_command(tmp_path, "robots", "exceptions", "--spider", "none")
    assert (code, err) == (2, "scrapy robots exceptions: there is no spider called 'none' in this project\n")
