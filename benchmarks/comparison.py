"""What a comparison of dated surveys costs: time, memory, the size of the page, and its first paint in a browser.

    python -m benchmarks.comparison --corpus DIR [--surveys 10] [--sites 10000] [--out DIR]

prints a Markdown table (extra ``bench``, and Chromium for the last row). The surveys are made: files of the
corpus, which change from date to date. Sites close themselves to AI crawlers, a few open up, some files appear or
vanish, some sites cannot be reached for a while, and the list of sites changes.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from hashlib import sha256
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from scrapy_rep.census import Capture, Row, rows
from scrapy_rep.tools.survey.comparison import CHANGED, IN_BOTH
from scrapy_rep.tools.survey.comparison_report import comparison_report
from scrapy_rep.tools.survey.folder import SurveyFolder

from .browser import Browser
from .corpus import read_corpus

_FIRST: Final = datetime(2023, 6, 1, tzinfo=timezone.utc)
_STEP: Final = timedelta(days=122)
_NEW_NAMES: Final = (
    ("GPTBot",), ("GPTBot", "CCBot"), ("GPTBot", "ChatGPT-User", "CCBot", "Google-Extended"), ("ClaudeBot",),
    ("GPTBot", "ClaudeBot", "CCBot", "Bytespider", "PerplexityBot", "anthropic-ai", "Amazonbot"),
)  # fmt: skip
_CLOSES, _OPENS, _SIGNALS, _EDITS, _MOVES = 0.03, 0.004, 0.008, 0.08, 0.01  # of the sites, at each date
_DOWN, _UP, _LEAVES = 0.006, 0.5, 0.01


class Site:
    """A site and its robots.txt at a date."""

    def __init__(self, name: str, body: bytes, chance: random.Random) -> None:
        self.name, self.body, self.chance = name, body, chance
        self.added: list[bytes] = []
        self.has_file, self.is_down = chance.random() > 0.15, chance.random() < 0.02

    def go_on(self) -> None:
        """To the next date."""
        happens = self.chance.random
        if happens() < _CLOSES:
            names = self.chance.choice(_NEW_NAMES)
            path = b"/" if happens() > 0.2 else b"/private/"
            self.added.append(
                b"".join(b"User-agent: %s\n" % name.encode() for name in names) + b"Disallow: %s" % path
            )
        if happens() < _SIGNALS:
            self.added.append(b"User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /")
        if self.added and happens() < _OPENS:
            self.added.pop()
        if happens() < _EDITS:
            self.added.append(b"User-agent: *\nDisallow: /edit-%d/" % self.chance.randrange(20))
        if happens() < _MOVES:
            self.has_file = not self.has_file
        self.is_down = happens() > _UP if self.is_down else happens() < _DOWN

    def capture(self, when: datetime) -> Capture:
        """What is fetched on the day of *when*."""
        url, at = f"https://{self.name}/robots.txt", when + timedelta(seconds=self.chance.randrange(6_000))
        if self.is_down:
            return Capture(url, fetched_at=at, problem="TimeoutError: the server took longer than 30 s")
        if not self.has_file:
            return Capture(url, 404, fetched_at=at)
        return Capture(url, 200, b"\n\n".join([self.body, *self.added]), at)


def make_surveys(out: Path, corpus: Path, surveys: int, sites: int) -> list[Path]:
    """Write *surveys* folders below *out*, each of about *sites* sites; return them."""
    bodies = [file.body for file in read_corpus(corpus)]
    made = (
        Site(f"www{number:06}.example", bodies[number % len(bodies)], random.Random(number))  # noqa: S311
        for number in count()
    )
    listed, known, folders = [next(made) for _ in range(sites)], dict[str, dict[str, Any]](), []
    for number in range(surveys):
        folders.append(out / f"survey-{number}")
        _write(folders[-1], listed, _FIRST + number * _STEP, known)
        for site in listed:
            site.go_on()
        listed = [site if site.chance.random() > _LEAVES else next(made) for site in listed]
    return folders


def _write(path: Path, sites: list[Site], when: datetime, known: dict[str, dict[str, Any]]) -> None:
    """A survey; *known* are the rows of files that were measured before."""
    folder = SurveyFolder(path)
    folder.open(append=False)
    for site in sites:
        folder.add(_row(site.capture(when), path, known))
    folder.close()


def _row(capture: Capture, path: Path, known: dict[str, dict[str, Any]]) -> Row:
    if capture.body is None:
        return Row(**next(rows([capture])))
    sha = sha256(capture.body).hexdigest()
    if sha not in known:
        known[sha] = next(rows([capture]))
        (path.parent / "bodies").mkdir(exist_ok=True)
        (path.parent / "bodies" / sha).write_bytes(capture.body)
    site = capture.url.removesuffix("/robots.txt")
    return Row(**known[sha] | {"site": site, "fetched_at": capture.fetched_at, "file": f"../bodies/{sha}"})


def build(folders: list[str], out: str) -> dict[str, float]:
    """The page about the surveys in *folders*, and what it cost; in a process of its own."""
    began = perf_counter()
    page, found = comparison_report([SurveyFolder(Path(name)) for name in folders], datetime.now(timezone.utc))
    Path(out).write_text(page, encoding="utf-8")
    return {
        "sites in the first and the last survey": found.sites[IN_BOTH],
        "changed": found.sites[CHANGED],
        "seconds": perf_counter() - began,
        "peak memory, MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024,
        "size of the page, MB": len(page.encode()) / 1e6,
    }


def first_paint(page: Path) -> float:
    """Seconds until Chromium paints the first content of *page*: the median of three."""
    with Browser() as browser:
        times = []
        for _ in range(3):
            browser.open(page.as_uri())
            asked = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
            times.append(float(browser.evaluate(asked)) / 1_000)
    return sorted(times)[1]


def figures(corpus: Path, out: Path, surveys: int, sites: int) -> Iterator[tuple[str, float]]:
    folders = [str(path) for path in make_surveys(out, corpus, surveys, sites)]
    page = out / "compare.html"
    command = [sys.executable, "-m", "benchmarks.comparison", "--build", json.dumps([folders, str(page)])]
    built = subprocess.run(command, check=True, capture_output=True)  # noqa: S603
    yield from json.loads(built.stdout).items()
    yield "first paint, seconds", first_paint(page)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--corpus", type=Path)
    options.add_argument("--surveys", type=int, default=10)
    options.add_argument("--sites", type=int, default=10_000)
    options.add_argument("--out", type=Path, help="where the surveys and the page stay")
    options.add_argument("--build", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.build:
        print(json.dumps(build(*json.loads(given.build))))
        return
    with tempfile.TemporaryDirectory() as folder:
        out = given.out or Path(folder)
        out.mkdir(parents=True, exist_ok=True)
        print(f"| {given.surveys} surveys of {given.sites:,} sites | |\n|---|---:|")
        for name, value in figures(given.corpus, out.resolve(), given.surveys, given.sites):
            print(f"| {name} | {value:,.2f} |" if isinstance(value, float) else f"| {name} | {value:,} |")


if __name__ == "__main__":
    main()
