"""``scrapy robots identity``: who the crawler is by its settings, and what is missing."""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import Any

import pytest
from scrapy.settings import Settings

from scrapy_rep.tools.commands import identity
from scrapy_rep.tools.commands.identity import Identity
from tests.support.command import command_here
from tests.support.cost import is_linear_in_time

from . import shop

OURS: dict[str, Any] = {
    "ADDONS": {"scrapy_rep.Addon": 300},
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "REP_PAGE_DIRECTIVES": "obey",
    "REP_RETRY_DELAY": 0.01,
}
PRACTICES = "draft-illyes-webbotauth-cbcp-00 section 2."


def checked(*arguments: str, **settings: Any) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code and the rows, by their names, of a crawler with these settings."""
    code, out = command_here(identity, "--json", *arguments, **{**OURS, **settings})
    rows = [json.loads(line) for line in out.splitlines()]
    return code, {row["name"]: row for row in rows}


def row_of(
    name: str, agent: str = "ShelfBot/1.0 (+https://shelf.example/bot)", **settings: Any
) -> tuple[str, str]:
    """The status of the row called *name*, and what to change or, if it is ok, what was found."""
    row = checked(USER_AGENT=agent, **settings)[1][name]
    return row["status"], row["change"] or row["found"]


def test_a_crawler_that_does_what_is_asked_has_no_missing_row() -> None:
    agent = "ShelfBot/1.0 (+https://shelf.example/bot; bot@shelf.example)"
    assert command_here(identity, **OURS, USER_AGENT=agent) == (
        0,
        f"""\
ok       product token    ShelfBot
                          see RFC 9309 section 2.2.1, Cloudflare: Verified bots policy
ok       page             https://shelf.example/bot describes the crawler
                          see {PRACTICES}2, RFC 9309 section 2.2.1
ok       contact          bot@shelf.example in the User-Agent
                          see {PRACTICES}6, RFC 9110 section 10.1.2
ok       one name         ShelfBot is in {agent}
                          see RFC 9309 section 2.2.1, {PRACTICES}2
ok       obedience        robots.txt is obeyed
                          see {PRACTICES}1, RFC 9309 section 2.3.1.4, Cloudflare: Verified bots policy
ok       page directives  X-Robots-Tag and meta robots are obeyed
                          see {PRACTICES}1
ok       rate             Crawl-delay, back-off and a limit of its own
                          see {PRACTICES}3, Cloudflare: Verified bots policy
7 ok, 0 missing
""",
    )


def test_the_defaults_of_scrapy_lack_much() -> None:
    code, out = command_here(identity, "--json")
    rows = {row["name"]: row for row in map(json.loads, out.splitlines())}
    assert code == 1
    assert [name for name, row in rows.items() if row["status"] == "missing"] == [
        "product token", "contact", "obedience", "page directives", "rate",
    ]  # fmt: skip
    assert rows["obedience"]["change"] == 'ROBOTSTXT_OBEY = True; ADDONS = {"scrapy_rep.Addon": 300}'
    assert rows["rate"]["documents"] == [f"{PRACTICES}3", "Cloudflare: Verified bots policy"]


@pytest.mark.parametrize(
    ("agent", "found"),
    [
        *[
            (agent, "the User-Agent contains no product token")
            for agent in (
                "",
                "User-Agent: ShelfBot/1.0",
                "+http://127.0.0.1/bot",
                "https://127.0.0.1/bot",
                "(compatible; ShelfBot)",
            )
        ],
        ("Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0", "Mozilla is the name of a browser"),
        ("Chrome/140", "Chrome is the name of a browser"),
        ("Googlebot/2.1", "Googlebot is a known name (Google: search)"),
        ("python-requests/2", "python-requests is a known name (library)"),
        ("Shelf42/1.0", "Shelf42 has characters besides letters, _ and -"),
        ("Shelf.Bot", "Shelf.Bot has characters besides letters, _ and -"),
        ("Mozilla/5.0 (compatible; ShelfBot/1.0)", None),
        ("shelf_bot-news", None),
    ],
)
def test_a_product_token_is_a_name_of_its_own_of_letters(agent: str, found: str | None) -> None:
    row = checked(USER_AGENT=agent)[1]["product token"]
    assert row["status"] == ("missing" if found else "ok")
    assert row["found"] == (found or row["found"])
    assert bool(row["change"]) == bool(found)


def test_the_setting_to_change_is_the_one_that_counts() -> None:
    given: dict[str, dict[str, Any]] = {
        "USER_AGENT": {"agent": "Googlebot"},
        "DEFAULT_REQUEST_HEADERS": {"DEFAULT_REQUEST_HEADERS": {"user-agent": "Googlebot"}},
        "ROBOTSTXT_USER_AGENT": {"ROBOTSTXT_USER_AGENT": "Googlebot"},
        "REP_USER_AGENTS": {"REP_USER_AGENTS": ["ShelfBot", "Googlebot"], "ROBOTSTXT_USER_AGENT": "Googlebot"},
    }
    for setting, settings in given.items():
        assert f" in {setting}, of letters" in row_of("product token", **settings)[1]
    assert "into DEFAULT_REQUEST_HEADERS, as in" in row_of("page", **given["DEFAULT_REQUEST_HEADERS"])[1]


@pytest.mark.parametrize(
    ("settings", "status", "found"),
    [
        ({"DEFAULT_REQUEST_HEADERS": {"from": "a.b@shelf.example"}}, "ok", "a.b@shelf.example in From"),
        ({"USER_AGENT": "ShelfBot (bot@shelf.example)"}, "ok", "bot@shelf.example in the User-Agent"),
        ({"USER_AGENT": "ShelfBot (a @ b, @shelf, x@y)"}, "missing", "no mail address"),
        ({"DEFAULT_REQUEST_HEADERS": {"From": None}}, "missing", "no mail address"),
    ],
)
def test_a_contact_is_a_mail_address(settings: dict[str, Any], status: str, found: str) -> None:
    row = checked(**{"USER_AGENT": "ShelfBot (+https://shelf.example)", **settings})[1]["contact"]
    assert (row["status"], row["found"][: len(found)]) == (status, found)


def test_a_page_is_a_url_in_the_user_agent() -> None:
    assert row_of("page")[1] == "https://shelf.example/bot describes the crawler"
    assert row_of("page", "ShelfBot/1.0 (books)")[0] == "missing"


@pytest.mark.parametrize(
    ("settings", "status", "text"),
    [
        ({"ROBOTSTXT_USER_AGENT": "shelfbot"}, "ok", "shelfbot is in ShelfBot/1.0 (+https://shelf.example/bot)"),
        ({"ROBOTSTXT_USER_AGENT": "BookBot"}, "missing", "the same name into USER_AGENT and ROBOTSTXT_USER_AGENT"),
        ({"REP_USER_AGENTS": ["ShelfBot-News", "ShelfBot"]}, "missing", "into USER_AGENT and REP_USER_AGENTS"),
        ({"agent": ""}, "missing", "the same name into USER_AGENT and USER_AGENT"),
    ],
)
def test_robots_txt_is_asked_by_the_name_in_the_header(settings: dict[str, Any], status: str, text: str) -> None:
    found = row_of("one name", **settings)
    assert (found[0], found[1][-len(text) :]) == (status, text)


ADDED = 'ADDONS = {"scrapy_rep.Addon": 300}'
WHOLE = {"url": "https://a.example/*", "reason": "theirs", "until": "2026-12-31", "whole_site": True}


@pytest.mark.parametrize(
    ("row", "settings", "change"),
    [
        ("obedience", {"ROBOTSTXT_OBEY": False}, "ROBOTSTXT_OBEY = True"),
        ("obedience", {"ADDONS": {}, "ROBOTSTXT_OBEY": True}, ADDED),
        ("obedience", {"REP_UNREACHABLE": "allow"}, 'REP_UNREACHABLE = "disallow"'),
        ("obedience", {"REP_MODES": {"*": "report"}}, "name single sites in REP_MODES"),
        ("obedience", {"REP_MODES": {"*.com": "ignore"}}, "name single sites in REP_MODES"),
        ("obedience", {"REP_MODES": {"*": "obey", "a.example": "report", "*.b.example": "ignore"}}, ""),
        ("obedience", {"REP_EXCEPTIONS": [WHOLE]}, "narrow that in REP_EXCEPTIONS"),
        ("obedience", {"REP_EXCEPTIONS": [{**WHOLE, "until": "2026-11-21"}]}, ""),
        ("obedience", {"REP_EXCEPTIONS": [{**WHOLE, "url": "https://a.example/api/*"}]}, ""),
        ("page directives", {"REP_PAGE_DIRECTIVES": "report"}, 'REP_PAGE_DIRECTIVES = "obey"'),
        ("page directives", {"ADDONS": {}}, f'{ADDED}; REP_PAGE_DIRECTIVES = "obey"'),
        ("rate", {"REP_CRAWL_DELAY": "ignore"}, 'REP_CRAWL_DELAY = "obey"'),
        ("rate", {"ROBOTSTXT_OBEY": False}, 'REP_CRAWL_DELAY = "always"'),
        ("rate", {"ROBOTSTXT_OBEY": False, "REP_CRAWL_DELAY": "obey"}, 'REP_CRAWL_DELAY = "always"'),
        ("rate", {"ROBOTSTXT_OBEY": False, "REP_CRAWL_DELAY": "always"}, ""),
        ("rate", {"REP_BACKOFF": False}, "REP_BACKOFF = True"),
        ("rate", {"CONCURRENT_REQUESTS_PER_DOMAIN": 8, "DOWNLOAD_DELAY": 0.5}, ""),
        ("rate", {"CONCURRENT_REQUESTS_PER_DOMAIN": 8, "AUTOTHROTTLE_ENABLED": True}, ""),
        ("rate", {"CONCURRENT_REQUESTS_PER_DOMAIN": 8}, "DOWNLOAD_DELAY = 1, "),
    ],
)
def test_what_a_setting_switches_off_is_missing(
    row: str, settings: dict[str, Any], change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scrapy_rep.clock.clock.time", lambda: 1_795_348_800.0)  # 2026-11-22
    status, found = row_of(row, **settings)
    assert status == ("missing" if change else "ok")
    assert change in found


def test_without_its_extension_neither_crawl_delay_nor_back_off_is_kept() -> None:
    row = checked(EXTENSIONS={"scrapy_rep.crawl.pacing.crawl_delay.CrawlDelay": None})[1]["rate"]
    assert (row["found"], row["change"]) == ("Crawl-delay is not kept; there is no back-off", ADDED)


@pytest.mark.parametrize("part", ["a", "@", "a@", "a@a", "a@a.", ".a", "a.a@", "https://"])
def test_a_header_is_searched_in_time_linear_in_it(part: str) -> None:
    def ask(text: str) -> list[object]:
        return [*Identity(Settings({"USER_AGENT": f"ShelfBot {text}"})).rows()]

    assert is_linear_in_time(ask, part * 4_000, part * 32_000)


class Brings:
    """An add-on of a project that names the crawler."""

    def update_settings(self, settings: Settings) -> None:
        settings.set("USER_AGENT", "BroughtBot", priority="addon")


class Broken:
    def update_settings(self, settings: Settings) -> None:
        raise RuntimeError("no licence")


@pytest.fixture
def here() -> ModuleType:
    return sys.modules[__name__]


def test_what_an_add_on_sets_counts(here: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = command_here(identity, "--json", ADDONS={here.Brings: 100})
    assert (code, json.loads(out.splitlines()[0])["found"]) == (1, "BroughtBot")
    assert command_here(identity, ADDONS={here.Broken: 100})[0] == 2
    err = capsys.readouterr().err
    assert err == "scrapy robots identity: error: the add-ons of this project cannot be loaded: no licence\n"


def test_the_settings_of_a_spider_count_where_it_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shop.Shop, "custom_settings", {"USER_AGENT": "ShelfBot", "REP_BACKOFF": False})
    project = {"USER_AGENT": "BookBot", "SPIDER_MODULES": [shop.__name__]}
    tokens = {}
    for arguments in ((), ("--spider", "shop"), ("--spider", "named")):
        rows = checked(*arguments, **project)[1]
        tokens[rows["product token"]["found"]] = rows["rate"]["status"]
    assert tokens == {"BookBot": "ok", "ShelfBot": "missing", "NamedBot": "ok"}
    for arguments, settings in (
        (("--spider", "none"), {}),
        (("--spider", "shp"), {}),
        ((), {"REP_MODES": {"a/b": "obey"}}),
        ((), {"REP_X": 1}),
    ):
        assert checked(*arguments, **project, **settings) == (2, {})
    first, hinted, second, third = capsys.readouterr().err.splitlines()
    assert first == "scrapy robots identity: error: there is no spider called 'none' in this project"
    assert hinted.endswith("there is no spider called 'shp' in this project (perhaps shop?)")
    assert second.startswith("scrapy robots identity: error: REP_MODES: ")
    assert third.startswith("scrapy robots identity: error: unknown setting REP_X: ")


def test_settings_cannot_steer_the_terminal() -> None:
    code, out = command_here(identity, USER_AGENT="ShelfBot \x1b[31m(+https://a.example/\u202e)")
    assert (code, all(line.isprintable() for line in out.splitlines())) == (1, True)
