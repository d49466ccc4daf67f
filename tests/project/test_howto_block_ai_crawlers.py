"""The robots.txt that blocks AI crawlers names those of the table of crawlers, and blocks them and nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrapy_rep.protocol import parse
from scrapy_rep.tools.crawlers import CRAWLERS, SEARCH_CRAWLERS, Category, Follows
from tests.support.markdown import PAGES, blocks, commands, run_robots

PAGE = PAGES["docs/howto/block-ai-crawlers.md"]
(ROBOTS,) = blocks(PAGE, "text")
CATEGORIES = [Category.TRAINING, Category.SEARCH, Category.USER_REQUEST]


def documented(category: Category) -> list[str]:
    """The AI crawlers in use whose owners say that they follow robots.txt, always or partly."""
    return [
        crawler.token
        for crawler in CRAWLERS
        if crawler.is_of_ai
        and crawler.category is category
        and not crawler.until
        and crawler.follows not in (Follows.UNKNOWN, Follows.NOTHING)
    ]


def test_each_group_names_the_documented_crawlers_of_its_category() -> None:
    groups = [[agent.text for agent in group.agents] for group in parse(ROBOTS.encode()).groups]
    assert groups == [documented(category) for category in CATEGORIES]


def test_ai_crawlers_are_blocked_and_search_engines_are_not() -> None:
    robots = parse(ROBOTS.encode())
    for category in CATEGORIES:
        assert not any(robots.verdict(token, "https://a.example/x").allowed for token in documented(category))
    assert all(robots.verdict(token, "https://a.example/x").allowed for token in (*SEARCH_CRAWLERS, "anybot"))


def test_the_crawlers_that_may_ignore_it_are_named() -> None:
    (row,) = (line for line in PAGE.splitlines() if line.startswith("| Pages that users ask for |"))
    partly = {crawler.token for crawler in CRAWLERS if crawler.is_of_ai and crawler.follows is Follows.PARTLY}
    assert {token for token in documented(Category.USER_REQUEST) if f"`{token}`" in row} == partly


def test_the_check_prints_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("robots.txt").write_text(ROBOTS)
    ((call, printed),) = commands(blocks(PAGE, "console")[0])
    assert run_robots(call[0].removeprefix("robots-"), call[1:]) == (1, printed)
    assert run_robots("lint", ["robots.txt"])[0] == 0
