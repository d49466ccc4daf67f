"""Items carry the stamp of the response that they were made from, if REP_ITEM_FIELD names a field for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import Crawl, crawl, on_each_loop
from tests.support.exceptions import day
from tests.support.site import Site, robots

RULES = robots("User-agent: *\nAllow: /open\nDisallow: /private\n")
ITEMS = "tests.crawl.output_spiders:Items"
SPIDERS = [ITEMS, "tests.crawl.output_spiders:ItemsAsync"]
MODULE = "tests.crawl.output_spiders"
STAMP = "scrapy_rep.output.item_stamp"


def scrape(
    *urls: str, spider: str = ITEMS, loop: str = "asyncio", attributes: Any = None, **settings: Any
) -> Crawl:
    settings = {"REP_ITEM_FIELD": "robots", **settings}
    return crawl(*urls, spider=spider, loop=loop, attributes=attributes, settings=settings)


def stamps(result: Crawl, name: str) -> list[Any]:
    """The field of each item called *name*; "missing" if it has none."""
    return [page.tag for page in result.pages if page.url == f"item:{name}"]


@pytest.mark.parametrize("spider", SPIDERS)
@on_each_loop
def test_ours_an_item_carries_the_short_stamp_of_its_response(loop: str, spider: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", RULES)
        url = f"{site.origin}/open"
        result = scrape(url, spider=spider, loop=loop, attributes={"kinds": ["dict", "item", "data", "attrs"]})
    found = stamps(result, url)
    assert [list(stamp) for stamp in found] == [["verdict", "mode", "rule", "sha256", "fetched", "page", "ai"]] * 4
    assert all(stamp == found[0] for stamp in found)
    assert {name: found[0][name] for name in ("verdict", "mode", "rule")} == {
        "verdict": "allowed",
        "mode": "obey",
        "rule": "Allow: /open",
    }
    assert len(found[0]["sha256"]) == 64


def test_ours_an_item_of_start_has_no_response_and_is_left_alone() -> None:
    with Site() as site:
        result = scrape(f"{site.origin}/open")
    assert stamps(result, "start") == ["missing"]
    assert "rep/item/unstamped_count" not in result.stats


def test_ours_without_the_setting_items_stay_as_they_are() -> None:
    with Site() as site:
        result = scrape(f"{site.origin}/open", REP_ITEM_FIELD="")
    assert stamps(result, f"{site.origin}/open") == ["missing"]


def test_ours_a_full_stamp_names_file_and_exception() -> None:
    with Site() as site:
        site.answer("/robots.txt", RULES)
        url = f"{site.origin}/private"
        exception = {"url": url, "reason": "written permission", "until": day()}
        result = scrape(url, REP_ITEM_STAMP="full", REP_EXCEPTIONS=[exception])
    (stamp,) = stamps(result, url)
    assert (stamp["verdict"], stamp["line"], stamp["robots"]) == ("excepted", 3, f"{site.origin}/robots.txt")
    assert stamp["exception"]["reason"] == "written permission"


def test_ours_an_item_of_a_forbidden_page_in_report_mode_says_so() -> None:
    with Site() as site:
        site.answer("/robots.txt", RULES)
        url = f"{site.origin}/private"
        result = scrape(url, REP_MODES={"*": "report"})
    (stamp,) = stamps(result, url)
    assert (stamp["verdict"], stamp["mode"], stamp["rule"]) == ("reported", "report", "Disallow: /private")


@pytest.mark.parametrize("choice", ["short", "full"])
def test_ours_no_two_items_share_a_stamp(choice: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", RULES)
        url = f"{site.origin}/private"
        result = scrape(
            url,
            attributes={"kinds": ["dict"] * 3, "marks": True},
            REP_ITEM_STAMP=choice,
            REP_EXCEPTIONS=[{"url": url, "reason": "written permission", "until": day()}],
        )
    assert [stamp["mark"] for stamp in stamps(result, url)] == [1, 2, 3]
    if choice == "full":
        assert [stamp["exception"]["mark"] for stamp in stamps(result, url)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("url", "settings"), [("data:text/plain,x", {}), ("/open", {"ROBOTSTXT_OBEY": False})], ids=["data", "off"]
)
def test_ours_the_field_is_none_where_robots_txt_was_not_asked(url: str, settings: dict[str, Any]) -> None:
    with Site() as site:
        url = f"{site.origin}{url}" if url.startswith("/") else url
        result = scrape(url, **settings)
    assert stamps(result, url) == [None]


def test_ours_a_class_without_the_field_is_named_once_and_its_items_pass() -> None:
    with Site() as site:
        urls = [f"{site.origin}/{number}" for number in range(3)]
        result = scrape(*urls, attributes={"kinds": ["no item", "no data", "frozen", "dict"]})
    assert all(len(stamps(result, url)) == 4 for url in urls)
    assert result.stats["rep/item/unstamped_count"] == 9
    lines = result.lines("WARNING", STAMP)
    assert sorted(line.partition(" (Frozen")[0] for line in lines) == [
        f"Items of {MODULE}.FrozenData carry no stamp of robots.txt: 'robots', the field of REP_ITEM_FIELD,"
        " cannot be set",
        f"Items of {MODULE}.NoData carry no stamp of robots.txt: add the field of REP_ITEM_FIELD to the class:"
        " robots: dict | None = None",
        f"Items of {MODULE}.NoField carry no stamp of robots.txt: add the field of REP_ITEM_FIELD to the class:"
        " robots = scrapy.Field()",
    ]
    assert not result.tracebacks


def test_ours_a_pydantic_model_takes_the_stamp() -> None:
    pytest.importorskip("pydantic")
    with Site() as site:
        result = scrape(f"{site.origin}/1", attributes={"kinds": ["pydantic", "no pydantic"]})
    stamped, unstamped = stamps(result, f"{site.origin}/1")
    assert stamped["verdict"] == "allowed"
    assert unstamped == "missing"
    assert result.stats["rep/item/unstamped_count"] == 1


@on_each_loop
def test_ours_a_copied_meta_does_not_make_a_stamp_lie(loop: str) -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        site.answer("/robots.txt", RULES)
        first, second = f"{site.origins[0]}/open", f"{site.origins[1]}/private"
        result = scrape(
            first, loop=loop, attributes={"copies_meta": second}, REP_MODES={"127.0.0.2": "report"},
            REP_ITEM_STAMP="full",
        )  # fmt: skip
    (before,), (after,) = stamps(result, first), stamps(result, second)
    assert (before["verdict"], after["verdict"]) == ("allowed", "reported")
    assert after["origin"] == site.origins[1]


def test_ours_a_copied_stamp_is_neither_stored_in_a_jobdir_nor_shown_by_what_answers_before_the_gate(
    tmp_path: Path,
) -> None:
    with Site() as site:
        site.answer("/robots.txt", RULES)
        first = f"{site.origin}/open"
        result = scrape(
            first, attributes={"copies_meta": f"{site.origin}/answered"}, JOBDIR=str(tmp_path),
            DOWNLOADER_MIDDLEWARES={f"{MODULE}.Answers": 50},
        )  # fmt: skip
    assert stamps(result, first)[0]["verdict"] == "allowed"
    assert stamps(result, f"{site.origin}/answered") == [None]
    assert result.stats["stamped_requests"] == 1, "the spider copied a stamp"
    assert result.stats["stored_stamps"] == 0


def test_ours_a_stamp_is_exported_and_can_be_filtered_by(tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", RULES)
        every, allowed = tmp_path / "all.jsonl", tmp_path / "allowed.jsonl"
        feeds = {every: {"format": "jsonlines"},
                 allowed: {"format": "jsonlines", "item_filter": f"{MODULE}.Allowed"}}  # fmt: skip
        urls = [f"{site.origin}/open", f"{site.origin}/private"]
        scrape(*urls, REP_MODES={"*": "report"}, FEEDS=feeds)
    exported = [json.loads(line) for line in every.read_text().splitlines()]
    assert {item["name"]: item["robots"]["verdict"] for item in exported if "robots" in item} == {
        urls[0]: "allowed",
        urls[1]: "reported",
    }
    assert [json.loads(line)["name"] for line in allowed.read_text().splitlines()] == urls[:1]
