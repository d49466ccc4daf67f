"""Where there is no scrapy.cfg: eggs on scrapyd, scripts. robots.txt is obeyed there, too."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.scrapyd_server import Scrapyd, egg
from tests.support.site import Site, robots

_ROOT = Path(__file__).parents[2]

SETTINGS = """
BOT_NAME = "shop"
SPIDER_MODULES = ["shop.spiders"]
ADDONS = {"scrapy_rep.Addon": 300}
TELNETCONSOLE_ENABLED = False
"""
SPIDER = """
import scrapy

class Shop(scrapy.Spider):
    name = "shop"

    async def start(self):
        for path in ("open", "private"):  # of a host that is not this machine, through a proxy that is
            yield scrapy.Request("http://shop.example/" + path, meta={"proxy": "PROXY"})

    def parse(self, response):
        self.logger.info("crawled %s", response.url)
"""
RUN = """
from scrapy.crawler import CrawlerProcess
from scrapy.utils.project import get_project_settings
process = CrawlerProcess(get_project_settings())
process.crawl("shop")
process.start()
"""
HINT = "WARNING: Without a project (no scrapy.cfg found)"


@pytest.fixture
def proxy() -> Iterator[str]:
    with Site() as site:
        site.answer("http://shop.example/robots.txt", robots("User-agent: *\nDisallow: /private\n"))
        yield site.origin


def run_script(folder: Path, proxy: str, more_settings: str = "") -> str:
    """The log of a script that finds its settings by the environment alone."""
    (folder / "shop").mkdir(exist_ok=True)
    for name, text in {"__init__": "", "settings": SETTINGS + more_settings, "spiders": SPIDER}.items():
        (folder / "shop" / f"{name}.py").write_text(text.replace("PROXY", proxy))
    path = os.pathsep.join([str(folder), str(_ROOT)])
    environment = {**os.environ, "PYTHONPATH": path, "SCRAPY_SETTINGS_MODULE": "shop.settings"}
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stderr


def assert_obeyed(log: str) -> None:
    assert "crawled http://shop.example/open" in log
    assert "Forbidden by robots.txt: <GET http://shop.example/private>" in log
    assert "Traceback" not in log


def test_a_script_crawls_with_its_entries_in_memory_and_is_told_once(tmp_path: Path, proxy: str) -> None:
    log = run_script(tmp_path, proxy)
    assert_obeyed(log)
    assert log.count(HINT) == 1
    assert "REP_STORE_PATH" in log
    assert [file.name for file in tmp_path.iterdir()] == ["shop"]


def test_a_relative_path_counts_from_the_working_directory(tmp_path: Path, proxy: str) -> None:
    for hits in (0, 1):
        log = run_script(tmp_path, proxy, "REP_STORE_PATH = 'data/robots.sqlite'\n")
        assert_obeyed(log)
        assert HINT not in log
        assert log.count("'rep/store_hit_count': 1") == hits
    assert (tmp_path / "data" / "robots.sqlite").exists()


@pytest.mark.full
def test_an_egg_on_scrapyd_crawls(tmp_path: Path, proxy: str) -> None:
    spider = SPIDER.replace("PROXY", proxy)
    with Scrapyd(tmp_path) as scrapyd:
        answer = scrapyd.add("shop", egg("shop", {"settings": SETTINGS, "spiders": spider}))
        assert (answer["status"], answer.get("spiders")) == ("ok", 1), answer
        log = scrapyd.run("shop", "shop")
    assert_obeyed(log)
    assert log.count(HINT) == 1
