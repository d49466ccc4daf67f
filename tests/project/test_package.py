"""What importing the package costs, and which version it is: the protocol alone brings no Scrapy."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

import scrapy_rep
from scrapy_rep.crawl import OLDEST_SCRAPY
from tests.support.markdown import ROOT

NOT_MEASURED = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
"""Coverage would import modules of its own into the process that is examined."""


@pytest.mark.parametrize("statement", ["import scrapy_rep", "from scrapy_rep.protocol import parse"])
def test_the_protocol_imports_neither_scrapy_nor_twisted(statement: str) -> None:
    listing = "import sys\nprint(sorted(sys.modules.keys() & {'scrapy', 'twisted', 'socket', 'asyncio'}))"
    code = f"{statement}\n{listing}"
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, env=NOT_MEASURED, capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


OLDER = """
import sys
import scrapy.utils
sys.modules["scrapy.utils.asyncio"] = None  # which Scrapy 2.14 brought
vars(scrapy.utils).pop("asyncio", None)
scrapy.__version__ = "2.13.4"
"""


@pytest.mark.parametrize(
    "statement", ["import scrapy_rep.crawl.gate.middleware", "from scrapy_rep import RepMiddleware"]
)
def test_an_older_scrapy_is_told_which_one_is_supported(statement: str) -> None:
    command = [sys.executable, "-c", OLDER + statement]
    done = subprocess.run(command, env=NOT_MEASURED, capture_output=True, text=True, check=False)
    told = f"scrapy_rep supports Scrapy {OLDEST_SCRAPY} and later, and this is Scrapy 2.13.4: pip install"
    assert done.stderr.splitlines()[-1].startswith(f"ImportError: {told}")


def test_a_command_with_an_older_scrapy_says_so_in_one_line() -> None:
    main = "from scrapy_rep.tools.commands.explain import main; sys.exit(main(['http://127.0.0.1:9/x']))"
    command = [sys.executable, "-c", OLDER + main]
    done = subprocess.run(command, env=NOT_MEASURED, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"robots-explain: error: scrapy_rep supports Scrapy {OLDEST_SCRAPY} and later")


def test_the_oldest_scrapy_is_that_of_the_metadata() -> None:
    assert f"    scrapy>={OLDEST_SCRAPY}\n" in (ROOT / "setup.cfg").read_text("utf-8")


def test_the_changelog_has_a_section_for_the_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    first, version = re.findall(r"^## \[(.+?)\](?: - \d{4}-\d\d-\d\d)?$", changelog, re.MULTILINE)[:2]
    assert (first, version) == ("Unreleased", scrapy_rep.__version__)


def test_every_public_name_can_be_had() -> None:
    code = "import scrapy_rep\nprint(all(getattr(scrapy_rep, name) for name in scrapy_rep.__all__))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "True\n"
