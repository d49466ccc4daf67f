"""The program for other crawlers obeys rules, pace and freshness, as servers on loopback see it."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.markdown import PAGES, ROOT, blocks
from tests.support.site import Answer, Site, redirect, robots, truncated

pytest.importorskip("httpx")
(PROGRAM,) = blocks(PAGES["docs/howto/another-crawler.md"], "python")


def run(folder: Path, *urls: str) -> list[str]:
    """A line for each of *urls*: the response, or the error."""
    (folder / "crawler.py").write_text(PROGRAM)
    command = [sys.executable, str(folder / "crawler.py"), *urls]
    done = subprocess.run(
        command, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.splitlines()


def test_the_program_has_sixty_lines_at_most() -> None:
    assert len(PROGRAM.splitlines()) <= 60


def test_rules_and_delay_hold_and_robots_txt_is_fetched_once(tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", robots("User-agent: *\nDisallow: /private\nCrawl-delay: 0.3\n"))
        printed = run(tmp_path, *(f"{site.origin}{path}" for path in ("/a", "/private", "/b")))
    assert [arrival.path for arrival in site.log] == ["/robots.txt", "/a", "/b"]
    assert "Disallow: /private, line 2" in printed[1]
    times = [arrival.time for arrival in site.log]
    assert min(later - earlier for earlier, later in pairwise(times)) >= 0.28


@pytest.mark.parametrize(
    ("answer", "is_requested"),
    [
        (Answer(404), True),
        (Answer(403), True),
        (redirect("/robots.txt"), True),  # in a circle
        (Answer(429), False),
        (Answer(500), False),
        (truncated(b""), False),
        (Answer(resets=True), False),
    ],
)
def test_a_failure_means_what_rfc_9309_says(answer: Answer, is_requested: bool, tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", answer)
        run(tmp_path, f"{site.origin}/page")
    assert site.count("/page") == is_requested


def test_robots_txt_is_fetched_again_when_it_is_stale(tmp_path: Path) -> None:
    with Site() as site:
        site.answer("/robots.txt", Answer(headers=[("Cache-Control", "max-age=0")]))
        run(tmp_path, f"{site.origin}/a", f"{site.origin}/b")
    assert site.count("/robots.txt") == 2
