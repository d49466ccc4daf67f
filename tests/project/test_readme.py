"""The README: short, with examples that are true and links that work on any host."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.markdown import PAGES, ROOT, blocks, commands, run_robots

README = PAGES["README.md"]
LINK = re.compile(r"\]\((.+?)\)")


def test_it_has_110_lines_at_most() -> None:
    assert README.count("\n") <= 110


def test_the_explanation_shown_is_the_one_that_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "robots.txt").write_text(blocks(README, "text")[0])
    monkeypatch.chdir(tmp_path)
    ((call, printed),) = commands(blocks(README, "console")[0])
    assert call[:3] == ["scrapy", "robots", "explain"]
    assert run_robots("explain", call[3:]) == (1, printed)


def test_its_first_two_commands_crawl_the_example_and_run_the_tests() -> None:
    example, tests = blocks(README, "sh")  # what .ci/run runs
    assert example.endswith("-m example\n")
    assert tests.endswith("pytest\n")


def test_every_link_is_relative_and_leads_to_a_file_of_the_repository() -> None:
    links = LINK.findall(README)
    assert len(links) > 10
    assert all((ROOT / link.partition("#")[0]).is_file() for link in links)


def test_in_a_package_every_link_leads_to_the_repository() -> None:
    setup = runpy.run_path(str(ROOT / "setup.py"))
    links = LINK.findall(setup["description"]("https://git.example/x"))
    images = [link for link in links if link.endswith(".svg")]
    assert [link.startswith("https://git.example/x/raw/HEAD/docs/") for link in images] == [True]
    places = [link.removeprefix("https://git.example/x/blob/HEAD/") for link in links if link not in images]
    assert all((ROOT / place.partition("#")[0]).is_file() for place in places)
    assert (
        setup["links"]("https://git.example/x")["Documentation"] == "https://git.example/x/blob/HEAD/docs/index.md"
    )
    assert (setup["description"](""), setup["links"]("")) == (README, {})


def test_no_address_and_no_package_is_named_before_it_exists() -> None:
    folders = [ROOT.glob("*.*"), *((ROOT / name).rglob("*.*") for name in ("docs", "benchmarks", ".github"))]
    named = re.compile(rb"github(?:usercontent)?\.com/scrapy-rep|pip install .?scrapy[_-]rep")
    assert not [
        path for folder in folders for path in folder if path.is_file() and named.search(path.read_bytes())
    ]


@pytest.mark.full
def test_the_metadata_has_the_links_of_the_repository(tmp_path: Path) -> None:
    pytest.importorskip("setuptools")
    source = tmp_path / "source"
    for name in ("setup.py", "setup.cfg", "pyproject.toml", "README.md", "LICENSE", "scrapy_rep/__init__.py"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    subprocess.run(
        [sys.executable, "setup.py", "-q", "egg_info", "--egg-base", str(tmp_path)],
        cwd=source, env={**os.environ, "REPOSITORY_URL": "https://git.example/x/"}, check=True,
    )  # fmt: skip
    metadata = (tmp_path / "scrapy_rep.egg-info" / "PKG-INFO").read_text("utf-8")
    assert "Project-URL: Source, https://git.example/x\n" in metadata
    assert "Description-Content-Type: text/markdown\n" in metadata
    assert "](https://git.example/x/blob/HEAD/docs/changes.md)" in metadata
    assert "](docs/" not in metadata
