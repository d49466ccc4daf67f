"""A robots.txt on a real FTP server."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.crawl import crawl, loop_params
from tests.support.redis_server import free_port

REACTORS = loop_params(["asyncio", "twisted"])  # Scrapy's FTP handler needs one


@contextmanager
def ftp_site(folder: Path) -> Iterator[str]:
    """An anonymous FTP server on loopback; yields its origin."""
    port = free_port()
    command = [sys.executable, "-m", "pyftpdlib", "-i", "127.0.0.1", "-p", str(port), "-d", str(folder)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as server:
        try:
            wait_for(port)
            yield f"ftp://127.0.0.1:{port}"
        finally:
            server.kill()


def wait_for(port: int) -> None:
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("the FTP server did not start")


pytestmark = pytest.mark.full


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("open.txt", "private.txt"):
        (tmp_path / name).write_text(name)
    return tmp_path


@pytest.mark.parametrize("loop", REACTORS)
def test_google_the_robots_txt_of_an_ftp_server_is_obeyed(folder: Path, loop: str) -> None:
    (folder / "robots.txt").write_text("User-agent: *\nDisallow: /private\n")
    with ftp_site(folder) as origin:
        result = crawl(f"{origin}/open.txt", f"{origin}/private.txt", loop=loop)
    assert result.urls == [f"{origin}/open.txt"]
    assert result.failures[0].rule == "Disallow: /private"
    assert result.tracebacks == []


@pytest.mark.parametrize("loop", REACTORS)
def test_google_an_ftp_server_without_the_file_allows_everything(folder: Path, loop: str) -> None:
    with ftp_site(folder) as origin:
        result = crawl(f"{origin}/open.txt", f"{origin}/private.txt", loop=loop)
    assert len(result.pages) == 2
    assert result.stats["rep/access/unavailable"] == 1
    assert result.lines("WARNING", "scrapy_rep") == []
    assert result.tracebacks == []


def test_an_ftp_server_that_is_gone_is_unreachable(folder: Path) -> None:
    with ftp_site(folder) as origin:
        pass
    result = crawl(f"{origin}/open.txt", settings={"REP_RETRY_TIMES": 0})
    assert [failure.reason for failure in result.failures] == ["unreachable"]
    assert result.tracebacks == []
