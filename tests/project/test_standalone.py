"""The distribution scrapy-rep-standalone: what it requires, and what its commands do without Scrapy."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
METADATA = runpy.run_path(str(ROOT / "setup.py"))["standalone"]()
SCRIPTS = dict(line.split(" = ") for line in METADATA["entry_points"]["console_scripts"])

# The server has a test of its own in tests/tools/web.
ALONE = """
import sys
sys.modules["scrapy"] = sys.modules["twisted"] = None
from {module} import main
sys.exit(main())
"""
BODY = "User-agent: *\nDisallow: /private\nContent-Signal: ai-train=no\n\nUser-agent: Bot\nDisallow: /\n"


def alone(folder: Path, script: str, *arguments: str) -> tuple[int, str, str]:
    """The exit code and the output of *script* in a process that can import neither Scrapy nor Twisted."""
    (folder / "robots.txt").write_text(BODY)
    code = ALONE.format(module=SCRIPTS[script].removesuffix(":main"))
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_it_requires_neither_scrapy_nor_what_scrapy_brings() -> None:
    assert METADATA["install_requires"] == ['tomli>=2.0; python_version < "3.11"']
    assert list(METADATA["extras_require"]) == ["web"]
    assert not [one for one in METADATA["extras_require"]["web"] if "scrapy" in one]


def test_its_scripts_are_those_of_the_whole_and_it_adds_no_command_to_scrapy() -> None:
    assert list(METADATA["entry_points"]) == ["console_scripts"]
    assert list(SCRIPTS) == ["robots-explain", "robots-lint", "robots-serve"]
    assert all(callable(import_module(path.removesuffix(":main")).main) for path in SCRIPTS.values())


def test_it_explains_by_a_file_to_any_crawler(tmp_path: Path) -> None:
    urls = ["https://example.com/", "https://example.com/private"]
    assert alone(tmp_path, "robots-explain", "--file", "robots.txt", *urls) == (
        1,
        "allowed     no rule      https://example.com/\n"
        "disallowed  line 2       https://example.com/private  Disallow: /private\n",
        "",
    )


def test_it_explains_in_full_and_to_the_crawlers_that_are_named(tmp_path: Path) -> None:
    arguments = ["https://example.com/a", "--file", "robots.txt", "--agent"]
    code, out, _ = alone(tmp_path, "robots-explain", *arguments, "Bot")
    assert (code, out.splitlines()[0]) == (1, "disallowed  https://example.com/a")
    code, out, _ = alone(tmp_path, "robots-explain", *arguments, "Other", "--json", "--full", "--dialect", "1994")
    facts = json.loads(out)
    assert (code, facts["agent"], facts["allowed"], facts["dialect"]) == (0, "Other", True, "1994")
    assert facts["ai"]["answers"]["ai-train"] == "no"
    assert (facts["mode"], facts["exception"], facts["consequences"]) == (None, None, [])


def test_it_lints(tmp_path: Path) -> None:
    code, out, err = alone(tmp_path, "robots-lint", "robots.txt", "--select", "private-path")
    assert (code, err) == (0, "")
    assert out.startswith("robots.txt:2:11: note: /private looks private")


@pytest.mark.parametrize(
    ("script", "arguments"),
    [
        ("robots-explain", ["https://example.com/"]),
        ("robots-explain", ["https://example.com/", "--page"]),
        ("robots-explain", ["https://example.com/", "--spider", "shop"]),
        ("robots-lint", ["https://example.com/robots.txt"]),
    ],
)
def test_what_needs_scrapy_says_so(script: str, arguments: list[str], tmp_path: Path) -> None:
    message = "scrapy robots: Scrapy, which fetches as a crawl does, is not installed: name a file\n"
    assert alone(tmp_path, script, *arguments) == (2, "", message)
