"""What a robots.txt holds reaches no log, message or terminal unescaped."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from tests.support.command import robots_command
from tests.support.crawl import crawl
from tests.support.site import Site, robots

RUDE = "\x1b]0;owned\x07\x9b31m\u202e\u2028"
RULES = f"User-agent: *\nDisallow: /*{RUDE}$\nDisallow: /page*{RUDE}\nDisallow: /page\nSitemap: http://[{RUDE}\n"
URL = "/" + quote(RUDE, safe="];")


def test_a_crawl_shows_a_rule_without_what_a_terminal_would_obey() -> None:
    with Site() as site:
        site.answer("/robots.txt", robots(RULES))
        result = crawl(site.origin + URL)
    (failure,) = result.failures
    assert failure.rule is not None
    assert failure.rule.isprintable()
    assert failure.message == f"Forbidden by robots.txt (line 2, {failure.rule})"
    assert [line.message for line in result.log if not line.message.replace("\n", "").isprintable()] == []
    assert any(
        r"(line 2, Disallow: /*\x1b]0;owned\x07\x9b31m\u202e\u2028$)" in line for line in result.lines("DEBUG")
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["explain", "https://example.com" + URL, "--file", "robots.txt"],
        ["explain", "https://example.com" + URL, "https://example.com/", "--file", "robots.txt"],
        ["explain", "https://example.com" + URL, "--file", "robots.txt", "--json", "--full"],
        ["lint", "robots.txt"],
        ["diff", "robots.txt", "other.txt"],
    ],
)
def test_a_command_prints_a_rule_so(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "robots.txt").write_text(RULES, "utf-8")
    (tmp_path / "other.txt").write_text("User-agent: *\nAllow: /\n", "utf-8")
    _, out, err = robots_command(tmp_path, *arguments)
    assert err == ""
    assert r"\x1b]0;owned" in out
    assert out.replace("\n", "").isprintable()
