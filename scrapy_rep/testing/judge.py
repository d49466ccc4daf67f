"""The process in which a crawl with given settings judges URLs: ``python -m scrapy_rep.testing.judge ANSWERS``.

Standard input is the pickled settings and URLs, from the process of the tests. The answers go to the file ANSWERS.
"""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.tools.commands.crawl_policy import SettingsJudge
from scrapy_rep.tools.commands.crawl_runner import run_in_crawl

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

_NO_WAITING: Final = {"REP_RETRY_TIMES": 0, "REP_UNREACHABLE_WAIT": 0.0, "REP_STORE": "memory"}
"""A test wants an answer, of the site as it is now; the project's other settings decide which."""


def judge(settings: BaseSettings, urls: Sequence[str]) -> list[dict[str, Any]]:
    """The judgments on *urls*, as the fields of a `Judgment`. Raises what `run_in_crawl` does."""
    found: list[dict[str, Any]] = []

    async def work(crawler: Crawler) -> None:
        judge = SettingsJudge(crawler)
        for url in urls:
            found.append((await judge.judge(url))._asdict())  # noqa: PERF401  # each awaits

    run_in_crawl(_for_tests(settings), work)
    return found


def _for_tests(settings: BaseSettings) -> BaseSettings:
    """*settings* with nothing that only costs a test its time, and with the project's parser back-end."""
    chosen = settings.copy()
    chosen.setdict({"LOG_LEVEL": "WARNING", **_NO_WAITING}, priority="cmdline")
    if chosen.getpriority("ROBOTSTXT_PARSER"):  # else the add-on chooses
        chosen.set("ROBOTSTXT_PARSER", chosen["ROBOTSTXT_PARSER"], priority="cmdline")
    return chosen


def main() -> None:
    """SettingsJudge, and write the answers."""
    settings, urls = pickle.load(sys.stdin.buffer)  # noqa: S301  # the process of the tests has written it
    try:
        answers = judge(settings, urls)
    except InvalidSettingError as error:
        sys.exit(str(error))
    Path(sys.argv[1]).write_text(json.dumps(answers), "utf-8")


if __name__ == "__main__":
    main()
