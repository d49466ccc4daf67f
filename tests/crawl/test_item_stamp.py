"""Items carry the stamp of the response that they were made from, if REP_ITEM_FIELD names a field for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import Crawl, crawl
from tests.support.crawl_site import visit
from tests.support.exceptions import day
from tests.support.site import Site, robots

RULES = "User-agent: *\nAllow: /open\nDisallow: /private\n"
MODULE = "tests.crawl.output_spiders"
FIELD = {"REP_ITEM_FIELD": "robots"}
REPORT = {"REP_MODES": {"*": "report"}}


def scrape(*urls: str, spider: str = "Items", settings: Any = None, **attributes: Any) -> tuple[Site, Crawl]:
    return visit(RULES, *urls, spider=f"{MODULE}:{spider}", attributes=attributes, **{**FIELD, **(settings or {})})


def stamps(result: Crawl, path: str) -> list[Any]:
    """The field of each item that was made from *path*; "missing" if it has none."""
    return [page.tag for page in result.pages if page.url.startswith("item:") and page.url.endswith(path)]


@pytest.mark.parametrize("spider", ["Items", "ItemsAsync"])
def test_an_item_carries_the_short_stamp_of_its_response(spider: str) -> None:
    _, result = scrape("/open", spider=spider, kinds=["dict", "item", "data", "attrs"])
    found = stamps(result, "/open")
    assert [list(stamp) for stamp in found] == [["verdict", "mode", "rule", "sha256", "fetched", "page", "ai"]] * 4
    assert all(stamp == found[0] for stamp in found)
    assert [found[0][name] for name in ("verdict", "mode", "rule")] == ["allowed", "obey", "Allow: /open"]
    assert len(found[0]["sha256"]) == 64
    assert stamps(result, "start") == ["missing"], "an item of start() has no response"
    assert "rep/item/unstamped_count" not in result.stats


@pytest.mark.parametrize(
    ("url", "settings", "field"),
    [
        ("/open", {"REP_ITEM_FIELD": ""}, "missing"),
        ("data:text/plain,x", {}, None),
        ("/open", {"ROBOTSTXT_OBEY": False}, None),
    ],
    ids=["without the setting", "data", "off"],
)
def test_the_field_is_none_where_robots_txt_was_not_asked(url: str, settings: Any, field: Any) -> None:
    assert stamps(scrape(url, settings=settings)[1], url) == [field]


def test_an_item_of_a_forbidden_page_in_report_mode_says_so() -> None:
    (stamp,) = stamps(scrape("/private", settings=REPORT)[1], "/private")
    assert (stamp["verdict"], stamp["mode"], stamp["rule"]) == ("reported", "report", "Disallow: /private")


@pytest.mark.parametrize("choice", ["short", "full"])
def test_no_two_items_share_a_stamp_and_a_full_one_names_file_and_exception(choice: str) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        url = f"{site.origin}/private"
        granted = [{"url": url, "reason": "written permission", "until": day()}]
        settings = {**FIELD, "REP_ITEM_STAMP": choice, "REP_EXCEPTIONS": granted}
        attributes = {"kinds": ["dict"] * 3, "marks": True}
        found = stamps(crawl(url, spider=f"{MODULE}:Items", attributes=attributes, settings=settings), url)
    assert [(stamp["mark"], stamp["verdict"]) for stamp in found] == [(n, "excepted") for n in (1, 2, 3)]
    if choice == "full":
        assert [(stamp["line"], stamp["robots"]) for stamp in found] == [(3, f"{site.origin}/robots.txt")] * 3
        told = [(stamp["exception"]["mark"], stamp["exception"]["reason"]) for stamp in found]
        assert told == [(n, "written permission") for n in (1, 2, 3)]


def test_a_class_without_the_field_is_named_once_and_its_items_pass() -> None:
    _, result = scrape("/1", "/2", "/3", kinds=["no item", "no data", "frozen", "dict"])
    assert all(len(stamps(result, path)) == 4 for path in ("/1", "/2", "/3"))
    assert result.stats["rep/item/unstamped_count"] == 9
    lines = result.lines("WARNING", "scrapy_rep.extras.pages.item_stamp")
    add = "add the field of REP_ITEM_FIELD to the class: robots"
    assert sorted(line.partition(" (cannot assign")[0] for line in lines) == [
        f"Items of {MODULE}.{name} carry no stamp of robots.txt: {advice}" for name, advice in (
            ("FrozenData", "'robots', the field of REP_ITEM_FIELD, cannot be set"),
            ("NoData", f"{add}: dict | None = None"), ("NoField", f"{add} = scrapy.Field()"),
        )
    ]  # fmt: skip
    assert not result.tracebacks


def test_a_pydantic_model_takes_the_stamp() -> None:
    pytest.importorskip("pydantic")
    _, result = scrape("/1", kinds=["pydantic", "no pydantic"])
    stamped, unstamped = stamps(result, "/1")
    assert (stamped["verdict"], unstamped) == ("allowed", "missing")
    assert result.stats["rep/item/unstamped_count"] == 1


def test_a_copied_meta_does_not_make_a_stamp_lie() -> None:
    with Site(["127.0.0.1", "127.0.0.2"]) as site:
        site.answer("/robots.txt", robots(RULES))
        settings = {**FIELD, "REP_MODES": {"127.0.0.2": "report"}, "REP_ITEM_STAMP": "full"}
        attributes = {"copies_meta": f"{site.origins[1]}/private"}
        first = f"{site.origin}/open"
        result = crawl(first, spider=f"{MODULE}:Items", attributes=attributes, settings=settings)
    (before,), (after,) = stamps(result, "/open"), stamps(result, "/private")
    assert (before["verdict"], after["verdict"]) == ("allowed", "reported")
    assert after["origin"] == site.origins[1]


def test_a_copied_stamp_is_neither_stored_in_a_jobdir_nor_shown_by_what_answers_before_the_gate(
    tmp_path: Path,
) -> None:
    settings = {"JOBDIR": str(tmp_path), "DOWNLOADER_MIDDLEWARES": {f"{MODULE}.Answers": 50}}
    _, result = scrape("/open", copies_meta="/answered", settings=settings)
    assert stamps(result, "/open")[0]["verdict"] == "allowed"
    assert stamps(result, "/answered") == [None]
    assert result.stats["stamped_requests"] == 1, "the spider copied a stamp"
    assert result.stats["stored_stamps"] == 0


def test_a_stamp_is_exported_and_can_be_filtered_by(tmp_path: Path) -> None:
    every, allowed = tmp_path / "all.jsonl", tmp_path / "allowed.jsonl"
    feeds = {every: {"format": "jsonlines"},
             allowed: {"format": "jsonlines", "item_filter": f"{MODULE}.Allowed"}}  # fmt: skip
    site, _ = scrape("/open", "/private", settings={**REPORT, "FEEDS": feeds})
    exported = [json.loads(line) for line in every.read_text().splitlines()]
    assert {item["name"]: item["robots"]["verdict"] for item in exported if "robots" in item} == {
        f"{site.origin}/open": "allowed",
        f"{site.origin}/private": "reported",
    }
    assert [json.loads(line)["name"] for line in allowed.read_text().splitlines()] == [f"{site.origin}/open"]
