"""Assertions on what a crawl may request, as its gate decides: statuses, modes, exceptions and delays included.

A crawl that has run is asked for what it knows. For settings a crawl that requests nothing but robots.txt is
started in a process of its own, so that this works beside any reactor or event loop of the tests.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings, Settings

from scrapy_rep.crawl.gate.extension import RepExtension
from scrapy_rep.crawl.policy.meta import BLANK, stamp_of
from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.tools.answers import decision_text
from scrapy_rep.tools.commands.crawl_policy import Judgment, SettingsJudge
from scrapy_rep.tools.commands.crawl_runner import run_in_crawl

if TYPE_CHECKING:
    Subject = Crawler | BaseSettings | Mapping[str, Any]

_NO_WAITING: Final = {"REP_RETRY_TIMES": 0, "REP_UNREACHABLE_WAIT": 0.0, "REP_STORE": "memory"}
"""A test wants an answer, of the site as it is now; the project's other settings decide which."""

_PATIENCE: Final = 60.0  # seconds until the crawl for settings is given up
_END_OF_LOG: Final = 2_000  # characters
_ADD: Final = 'enable it with ADDONS = {"scrapy_rep.Addon": 300}'


def assert_allowed(subject: Subject, *urls: str) -> None:
    """Assert that a crawl may request each of *urls*.

    *subject* is the settings of a project, as ``get_project_settings()`` returns them, or a crawler that has
    crawled. With settings each robots.txt is fetched now. A crawler answers from the robots.txt files that it has
    fetched, and does not ask about delays that may forbid a request.

    Raises ``AssertionError`` with the rule or the reason that decided, and if that cannot be found out;
    ``ValueError`` for what is no URL.
    """
    __tracebackhide__ = True  # of pytest: the traceback ends in the test
    _assert(subject, urls, passes=True)


def assert_disallowed(subject: Subject, *urls: str) -> None:
    """Assert that a crawl may request none of *urls*; see `assert_allowed`.

    A robots.txt that is unreachable disallows everything, for now.
    """
    __tracebackhide__ = True
    _assert(subject, urls, passes=False)


def _assert(subject: Subject, urls: Sequence[str], *, passes: bool) -> None:
    __tracebackhide__ = True
    if not urls:
        raise AssertionError("no URL given: an assertion about nothing is always true")
    requests = [Request(url) for url in urls]  # which names what is no URL
    if isinstance(subject, Crawler):
        found = [_by_crawler(subject, request) for request in requests]
    else:
        settings = subject if isinstance(subject, BaseSettings) else Settings(dict(subject))
        found = _by_settings(settings, urls)
    wrong = [judgment for judgment in found if judgment.passes is not passes]
    if wrong:
        raise AssertionError("\n".join(map(str, wrong)))


def _by_crawler(crawler: Crawler, request: Request) -> Judgment:
    __tracebackhide__ = True
    url = request.url
    try:
        extension = crawler.get_extension(RepExtension)
    except RuntimeError:  # it has not crawled
        extension = None
    if extension is None:
        raise AssertionError(f"the crawler has no scrapy_rep.RepExtension: {_ADD}, and ask after the crawl")
    if not extension.judge.asks_rules(request):
        return Judgment(url, passes=True, why="robots.txt is not checked")
    robots = extension.registry.current(extension.targets.of(request))
    if robots is None:
        raise AssertionError(f"the crawl has not fetched the robots.txt for {url}, or it has expired")
    decision = extension.judge.decide(robots, request)
    return Judgment(url, not decision.is_forbidden, decision_text(stamp_of(decision, BLANK)))


def _by_settings(settings: BaseSettings, urls: Sequence[str]) -> list[Judgment]:
    """The judgments of a crawl with *settings* in a process of its own."""
    __tracebackhide__ = True
    with tempfile.TemporaryDirectory() as folder:
        answers = Path(folder, "answers.json")
        try:
            process = subprocess.run(  # noqa: S603  # our own module
                [sys.executable, "-m", "scrapy_rep.testing.assertions", str(answers)],
                input=_job(settings, urls),
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                capture_output=True,
                timeout=_PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"the crawl did not end within {_PATIENCE:g} s{_end(error.stderr)}") from None
        if not answers.exists():
            raise AssertionError(f"the crawl failed with exit code {process.returncode}{_end(process.stderr)}")
        return [Judgment(*answer) for answer in json.loads(answers.read_text("utf-8"))]


def _job(settings: BaseSettings, urls: Sequence[str]) -> bytes:
    try:
        return pickle.dumps((settings, list(urls)))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise AssertionError(
            f"the settings cannot be handed to the process of the crawl ({error}):"
            " name classes and functions by their import path"
        ) from None


def _end(log: bytes | None) -> str:
    return ":\n" + (log or b"").decode("utf-8", "backslashreplace")[-_END_OF_LOG:]


# The process of that crawl: ``python -m scrapy_rep.testing.assertions ANSWERS``.


def judge(settings: BaseSettings, urls: Sequence[str]) -> list[Judgment]:
    """The judgments of a crawl on *urls*. Raises what `run_in_crawl` does."""
    found: list[Judgment] = []

    async def work(crawler: Crawler) -> None:
        asked = SettingsJudge(crawler)
        for url in urls:
            found.append(await asked.judge(url))  # noqa: PERF401  # each awaits

    chosen = settings.copy()
    chosen.setdict({"LOG_LEVEL": "WARNING", **_NO_WAITING}, priority="cmdline")
    if chosen.getpriority("ROBOTSTXT_PARSER"):  # else the add-on chooses
        chosen.set("ROBOTSTXT_PARSER", chosen["ROBOTSTXT_PARSER"], priority="cmdline")
    run_in_crawl(chosen, work)
    return found


def main() -> None:
    """Judge by the settings and URLs that are pickled in standard input; write the answers to the file ANSWERS."""
    settings, urls = pickle.load(sys.stdin.buffer)  # noqa: S301  # the process of the tests has written it
    try:
        answers = judge(settings, urls)
    except InvalidSettingError as error:
        sys.exit(str(error))
    Path(sys.argv[1]).write_text(json.dumps(answers), "utf-8")


if __name__ == "__main__":
    main()
