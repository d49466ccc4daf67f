"""The tutorial: each of its commands is run, in order and in an empty folder, and prints what the page shows."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.markdown import PAGES, ROOT, blocks, commands

SHOP = ROOT / "example_project" / "shop.py"
PAGE = PAGES["docs/tutorial.md"]
STEPS = re.findall(r"^```(console|python)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not SHOP.exists(), reason="needs the example project"),
]


class OpenShop:
    """The shop of the tutorial, on a free port instead of 8997."""

    def __init__(self, terminal: Path) -> None:
        """*terminal* is the file in which it writes instead of a terminal."""
        self._terminal = terminal
        self._read = 1
        with terminal.open("w") as file:
            self._process = subprocess.Popen([sys.executable, SHOP, "0"], stdout=file, text=True)
        while not terminal.read_text().endswith("stops it\n"):
            assert self._process.poll() is None
        self.site = terminal.read_text().split("/ ")[0]

    def new_requests(self) -> list[tuple[float, str]]:
        """The requests since the last call: seconds since the one before, and path."""
        lines = [line.split() for line in self._terminal.read_text().splitlines()[self._read :]]
        self._read += len(lines)
        return [(float(seconds), path) for seconds, _, path in lines]

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()


@pytest.fixture
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenShop]:
    shop = OpenShop(tmp_path_factory.mktemp("shop") / "terminal.txt")
    yield shop
    shop.close()


def run(command: str, folder: Path) -> str:
    program, *arguments = shlex.split(command)
    assert program == "scrapy"
    call = [sys.executable, "-m", "scrapy", *arguments]
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == ("disallowed" in done.stdout), done.stderr
    return done.stdout + done.stderr


def shape(line: str) -> str:
    """A *line* without what differs from run to run: dates, times, hashes, the order of equal counts."""
    line = re.sub(r"\d{4}-\d\d-\d\d[T ][\d:]{8}|\d+ \w+ \d{4}, \d\d:\d\d|[0-9a-f]{64}|\d+\.\d+s", "#", line)
    line = re.sub(r"# to \d\d:\d\d", "#", line)  # a crawl that began in the minute before
    line = re.sub(r"waited [\d.]+ s", "waited #", line)
    head, most, counts = line.partition(", most by ")
    return head + most + ", ".join(sorted(re.split(r"(?<=\d), ", counts)))


def test_every_command_can_be_run_and_prints_what_is_shown(shop: OpenShop, tmp_path: Path) -> None:
    def local(text: str) -> str:
        return text.replace("http://127.0.0.1:8997", shop.site)

    seen: dict[str, list[tuple[float, str]]] = {}
    for language, block in STEPS:
        if language == "python":
            head, _, code = local(block).partition("\n")
            file = tmp_path / head.split()[-1]
            file.write_text((file.read_text() if head.startswith("# add to") else "") + code)
            continue
        for words, shown in commands(block):
            printed = {shape(line) for line in run(local(" ".join(words)), tmp_path).splitlines()}
            assert not {shape(line) for line in local(shown).splitlines()} - printed - {"…"}
            seen.setdefault(" ".join(words[:3]), shop.new_requests())

    robots_txt, terminal = blocks(PAGE, "text")
    assert run(f"scrapy fetch --nolog {shop.site}/robots.txt", tmp_path).strip() == local(robots_txt).strip()
    links = seen["scrapy crawl links"]
    assert [path for _, path in links][:7] == [line.split()[-1] for line in terminal.splitlines()]
    assert f"The shop saw {len(links)} requests" in PAGE
    assert sum(seconds for seconds, _ in links[2:]) >= 0.18 * len(links[2:])  # the page says 0.2; one may be late
    assert f"{len(seen['scrapy crawl products'])} requests for 18 prices" in PAGE

    shop.new_requests()
    run("scrapy crawl links -s ROBOTSTXT_OBEY=False", tmp_path)
    assert f"requests {len(shop.new_requests())} URLs" in PAGE

    (item,) = blocks(PAGE, "json")
    items = (tmp_path / "products.jsonl").read_text().splitlines()
    assert shape(local(item.strip())) in {shape(line) for line in items}
    assert (tmp_path / "audit.html").is_file()
