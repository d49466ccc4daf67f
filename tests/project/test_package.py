"""What importing the package costs, and which version it is: the protocol alone brings no Scrapy."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

import scrapy_rep
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


def test_the_changelog_has_a_section_for_the_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    first, version = re.findall(r"^## \[(.+?)\](?: - \d{4}-\d\d-\d\d)?$", changelog, re.MULTILINE)[:2]
    assert (first, version) == ("Unreleased", scrapy_rep.__version__)


def test_every_public_name_can_be_had() -> None:
    code = "import scrapy_rep\nprint(all(getattr(scrapy_rep, name) for name in scrapy_rep.__all__))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "True\n"
