"""Crawls whose store is locked by another process."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from scrapy_rep.crawl.robots.stores.sqlite_file import SqliteFile
from tests.support.crawl import crawl, on_each_download_handler
from tests.support.site import Site, robots

HOSTS = [f"127.0.6.{number}" for number in range(1, 21)]


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Path]:
    """A store that another process has locked for writing."""
    path = tmp_path / "robots.sqlite"
    SqliteFile(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield path


@on_each_download_handler
def test_a_write_locked_store_stalls_no_crawl(locked: Path, loop: str) -> None:
    with Site(HOSTS) as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private\n"))
        urls = [f"{origin}/{page}" for origin in site.origins for page in range(3)]
        result = crawl(*urls, settings={"REP_STORE_PATH": str(locked)}, loop=loop)
        assert site.count("/robots.txt") == 20
    assert len(result.pages) == 60
    (warning,) = result.lines("WARNING", "scrapy_rep")
    assert "cannot be used (database is locked)" in warning
    assert not result.tracebacks


def test_ctrl_c_ends_a_crawl_whose_store_is_write_locked(locked: Path) -> None:
    with Site(HOSTS) as site:
        site.answer("/robots.txt", robots("User-agent: *\nCrawl-delay: 1\n"))
        urls = [f"{origin}/{page}" for origin in site.origins for page in range(100)]
        result = crawl(*urls, settings={"REP_STORE_PATH": str(locked)}, interrupt_when=lambda: len(site.log) > 20)
    assert result.reason == "shutdown"
    assert not result.tracebacks
