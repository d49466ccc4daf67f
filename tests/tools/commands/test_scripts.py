"""``robots-explain`` and its like: the commands without a project, which read no settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scrapy_rep.tools.commands import main_of

BODY = "User-agent: *\nDisallow: /private\nContent-Signal: ai-train=no\n\nUser-agent: Bot\nDisallow: /\n"


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "robots.txt").write_text(BODY)
    return str(tmp_path / "robots.txt")


def test_without_an_agent_any_crawler_is_answered(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main_of("explain")(["--file", file, "https://example.com/", "https://example.com/private"]) == 1
    assert capsys.readouterr().out == (
        "allowed     no rule      https://example.com/\n"
        "disallowed  line 2       https://example.com/private  Disallow: /private\n"
    )


def test_a_file_has_no_mode_and_no_exception(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["https://example.com/a", "--file", file, "--agent", "Other", "--json", "--full"]
    assert main_of("explain")([*arguments, "--dialect", "1994"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["agent"], facts["allowed"], facts["dialect"]) == ("Other", True, "1994")
    assert facts["ai"]["answers"]["ai-train"] == "no"
    assert (facts["mode"], facts["exception"]) == (None, None)
