"""What a survey of real files costs, and a comparison of dated surveys: time, memory, the size of the page.

The dated surveys are made: files of the corpus, which change from date to date. Sites close themselves to AI
crawlers, a few open up, some files appear or vanish, some sites cannot be reached for a while, and the list of
sites changes.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from hashlib import sha256
from itertools import count
from pathlib import Path
from time import process_time
from typing import Any, Final

from scrapy_rep.census import Capture, Row, rows
from scrapy_rep.tools.survey.comparison import CHANGED
from scrapy_rep.tools.survey.comparison_report import write_comparison
from scrapy_rep.tools.survey.folder import SurveyFolder

from .apart import apart
from .corpus import bodies
from .crawl_subject import peak_octets
from .figures import Benchmark, main
from .shell import Run, files_in

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


def make_surveys(out: Path, surveys: int, sites: int) -> list[Path]:
    """Write *surveys* folders below *out*, each of about *sites* sites; return them."""
    texts = bodies()
    made = (
        Site(f"www{number:06}.example", texts[number % len(texts)], random.Random(number))  # noqa: S311
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
    began = process_time()
    surveys = [SurveyFolder(Path(name)) for name in folders]
    found = write_comparison(surveys, datetime.now(timezone.utc), Path(out))
    return {
        "changed": found.sites[CHANGED],
        "cpu": process_time() - began,
        "peak": peak_octets(),
        "page": Path(out).stat().st_size,
    }


def of_files(folder: Path) -> dict[str, float]:
    """The survey of the corpus, by the command."""
    files = files_in(folder / "files")
    run = Run("survey", "--files", str(folder / "files"), "--out", str(folder / "out"))
    return {"files": len(files), **run.figures(), "page": (folder / "out" / "survey.html").stat().st_size}


def measure(surveys: int = 10, sites: int = 10_000) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one = of_files(folder)
        folders = [str(path) for path in make_surveys(folder, surveys, sites)]
        built = apart(build, folders, str(folder / "compare.html"))
    return {"one": one, "compared": {"surveys": surveys, "sites": sites, **built}}


def compared(survey: dict[str, Any]) -> Iterator[str]:
    found = survey["compared"]
    yield (
        f"{found['surveys']} surveys of {found['sites']:,} sites took {found['cpu']:.0f} s of CPU,"
        f" {found['peak'] / 1e6:.0f} MB of memory and a page of {found['page'] / 1e6:.1f} MB."
    )


BENCHMARK: Final = Benchmark(
    measure, minutes=1.5, quick={"surveys": 2, "sites": 50}, blocks={"survey.compared": compared}
)

if __name__ == "__main__":
    main(__spec__.name)
