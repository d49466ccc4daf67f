"""The spiders to copy: short, each with a contract, each in the docs. That all of them run, ``.ci/run`` sees."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from threading import Thread

import pytest

from scrapy_rep.tools.commands import cache
from tests.support.command import command_here
from tests.support.crawl import crawl
from tests.support.site import Site, robots

ROOT = Path(__file__).parents[2]
NEEDS_REDIS = {"fleet"}  # scrapy check has none
SPIDERS = {path.stem: path.read_text("utf-8") for path in ROOT.glob("example_project/example/spiders/[a-z]*.py")}


@pytest.mark.parametrize("name", SPIDERS)
def test_a_spider_has_25_lines_at_most_and_a_contract(name: str) -> None:
    assert SPIDERS[name].count("\n") <= 25
    assert name in NEEDS_REDIS or re.search(r"@url http://127\.0\.0\.1:8998/\S*\n\s+@\w+ ", SPIDERS[name])
    assert f'    name = "{name}"\n' in SPIDERS[name]


def test_the_docs_show_every_spider_of_the_example() -> None:
    page = (ROOT / "docs" / "howto" / "example-project.md").read_text("utf-8")
    assert sorted(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == sorted(SPIDERS)


def test_the_store_of_the_example_keeps_entries_from_run_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "example_project")
    own = {"REP_STORE": "example.store.ShelfStore", "SHELF": str(tmp_path / "shelf")}
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private\n"))
        for _ in range(2):
            result = crawl(f"{site.origin}/", f"{site.origin}/private", settings=own)
            assert result.urls == [f"{site.origin}/"]
        assert site.count("/robots.txt") == 1
    _, listed = command_here(cache, "list", "--json", **own)
    assert json.loads(listed)["origin"] == site.origin
    assert command_here(cache, "purge", **own)[0] == 0
    assert command_here(cache, "list", "--json", **own) == (0, "")


def test_the_considerate_spider_obeys_what_the_pages_of_the_example_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "example_project")
    with import_module("example.site").serve(port=0) as site:
        Thread(target=site.serve_forever, daemon=True).start()
        start = f"http://127.0.0.1:{site.server_port}/shop/"
        spider = "example.spiders.considerate:ConsiderateSpider"
        settings = {"USER_AGENT": "ExampleBot/1.0", "REP_CRAWL_DELAY": "ignore"}
        stats = crawl(spider=spider, attributes={"start_urls": [start]}, settings=settings).stats
        site.shutdown()
    assert stats["item_scraped_count"] == 3  # the shop, the basket, and what the page to print links to
    assert stats["rep/ai/item_dropped_count"] == 2  # the photos, and the essay
    assert stats["rep/page/item_dropped_count"] == 2  # the old page, and the one to print
    assert stats["rep/page/link_dropped_count"] == 1  # the next step from the basket
