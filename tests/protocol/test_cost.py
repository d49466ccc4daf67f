"""Every public question about any body takes time linear in its octets, and a verdict in those of the URL, too.

How that is measured is said in `tests.support.cost`. A bound that is the same for every body hides what grows up
to it; those of the linter grow with the body, and nothing here makes them smaller.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeVar

import pytest

from scrapy_rep import RepRobotParser
from scrapy_rep.census import Capture, Row, rows
from scrapy_rep.census.row import to_json
from scrapy_rep.crawl.pacing.requested_delays import requested_delay
from scrapy_rep.crawl.robots.robots import Robots
from scrapy_rep.crawl.sitemaps.requests import sitemaps_of
from scrapy_rep.directives.robots_signals import RobotsSignals
from scrapy_rep.protocol import (
    DIALECTS,
    ENGINE,
    GOOGLE,
    GOOGLE_EXACT,
    Access,
    Dialect,
    Origin,
    RobotsTxt,
    parse,
    robotstxt,
)
from scrapy_rep.protocol.dialect import GEOPORTAL_FIRST, YANDEX
from scrapy_rep.protocol.freshness import Entry
from scrapy_rep.tools.bulk.sources import Known
from scrapy_rep.tools.bulk.verdicts import decide
from scrapy_rep.tools.difference import Difference
from scrapy_rep.tools.explanation import Explainer
from scrapy_rep.tools.lint import lint
from scrapy_rep.tools.lint.config import Config
from scrapy_rep.tools.lint.file_linter import FileLinter
from scrapy_rep.tools.survey.sites import SiteExplorer, site_item
from scrapy_rep.tools.watch import changes as watch
from scrapy_rep.tools.watch.copies import Copy
from tests.support.cost import is_linear_in_steps, is_linear_in_time, too_costly

from .hostile import ALL, LINES, RUNS, URLS, filled

pytestmark = pytest.mark.untraced

PLAIN: Final = ("1994", "yandex", "geoportal-longest")
TOKENS: Final = ("a", "zz")  # one that most bodies name, one that none does
URL: Final = "https://h.example/" + "a" * 400
ORIGIN: Final = Origin.from_url(URL)
WILDCARDS: Final = filled(lambda number: b"disallow:/*%x*a\nallow:/a*b%x$\n" % (number, number), 2_000)

Question = Callable[[bytes], object]
Test = TypeVar("Test", bound=Callable[..., None])


@pytest.fixture(autouse=True, scope="module")
def engine() -> str:
    """Whichever there is; what decides in plain Python is asked in a test of its own."""
    return ENGINE


def for_tokens(ask: Callable[[Any, str], object]) -> Question:
    """The question for each of `TOKENS`, to a file of its own."""
    return lambda body: [ask(parse(body), token) for token in TOKENS]


def verdicts(body: bytes, dialect: Dialect = GOOGLE) -> None:
    """The first decision reads the rules."""
    for token in TOKENS:
        file = parse(body, dialect)
        for url in (URL, "https://h.example/a/", "https://h.example/%61/index.html?a=b"):
            _ = file.verdict(token, url).line


def differences(body: bytes) -> None:
    difference = Difference(body, ALL, TOKENS, (GOOGLE, YANDEX), limit=None)
    for path in [*difference.sample_paths()[0], URL]:
        list(difference.changes(path))


def changes(body: bytes) -> None:
    asked = watch.Watch(TOKENS, (), GOOGLE, len(ALL) + len(body))
    list(asked.changes(str(ORIGIN), Copy(200, 0.0, "", ALL), Copy(200, 1.0, "", body)))


def verdicts_by_path(body: bytes) -> None:
    for token in TOKENS:
        file = parse(body)
        for path in (b"/" + b"a" * 400, b"/a/", b"/a/index.html?a=b"):
            _ = file.verdict_on_path(token, path).line


class OneFile:
    """A source with one robots.txt, for every origin."""

    def __init__(self, body: bytes) -> None:
        self._known = Known(Access.SUCCESSFUL, body)

    def get(self, origin: Origin) -> Known:
        return self._known


def sitemap_urls(body: bytes) -> object:
    entry = Entry(ORIGIN, Access.SUCCESSFUL, ORIGIN.robots_url, 200, body, (), 0.0, 0.0)
    return sitemaps_of(Robots(entry, Access.SUCCESSFUL, 0.0, RepRobotParser(body)))


def listed(body: bytes) -> object:
    row, sites = Row(**next(rows([Capture(f"{ORIGIN}/robots.txt", 200, body)]))), SiteExplorer()
    sites.add_site(row, site_item(row, body))
    return sites.packed()


def signals_of(signals: RobotsSignals) -> object:
    return signals.octets, signals.statements(URL)


QUESTIONS: Final[dict[str, Question]] = {
    "verdict": verdicts,
    "verdict, google-exact": lambda body: verdicts(body, GOOGLE_EXACT),
    **{f"verdict, {name}": partial(verdicts, dialect=DIALECTS[name]) for name in PLAIN},
    "verdict_on_path": verdicts_by_path,
    "clean_params": lambda body: parse(body, YANDEX).clean_params,
    "clean_param": lambda body: parse(body, YANDEX).clean_param(f"{URL}?{'a=b&' * 50}"),
    "at_host": lambda body: parse(body, GEOPORTAL_FIRST).at_host(URL),
    "records": lambda body: parse(body).records,
    "groups": lambda body: parse(body).groups,
    "extensions": lambda body: parse(body).extensions,
    "sitemaps": lambda body: parse(body).sitemaps,
    "host": lambda body: parse(body).host,
    "has_group": for_tokens(lambda file, token: file.has_group(token)),
    "agents_for": for_tokens(lambda file, token: file.agents_for(token)),
    "rules": for_tokens(lambda file, token: file.rules(token)),
    "extensions_for": for_tokens(lambda file, token: file.extensions_for(token)),
    "crawl_delay": for_tokens(lambda file, token: file.crawl_delay(token)),
    "crawl_delays": for_tokens(lambda file, token: file.crawl_delays(token)),
    "request_rate": for_tokens(lambda file, token: file.request_rate(token)),
    "Explainer": for_tokens(lambda file, token: Explainer(file, token).explain(URL)),
    "Difference": differences,
    "watch": changes,
    "lint": lint,
    "fixes": lambda body: FileLinter(Config()).lint("robots.txt", body),  # of one pass: there are ten at most
    "RobotsSignals": for_tokens(lambda file, token: signals_of(RobotsSignals.of(file, token))),
    "decide": lambda body: [*decide([URL, f"{URL}b", "/"], OneFile(body), TOKENS)],
    "census": lambda body: to_json(next(rows([Capture(f"{ORIGIN}/robots.txt", 200, body)]))),
    "site_item": listed,
    "requested_delay": lambda body: requested_delay(RepRobotParser(body), TOKENS),
    "sitemaps_of": sitemap_urls,
}

AT_HAND: Final = {"body", "dialect", "octets"}
"""What a file answers without a look at its lines."""

METHODS: Final[dict[type, set[str]]] = {
    Explainer: {"explain"},
    Difference: {"changes", "sample_paths"},
    RobotsSignals: {"of", "statements", "licenses", "octets"},
}
"""The questions to other classes, all of which the entry of the class in `QUESTIONS` asks."""


def public(kind: type) -> set[str]:
    return {name for name in vars(kind) if not name.startswith("_")}


def test_every_public_question_is_asked() -> None:
    assert public(RobotsTxt) - AT_HAND == {name for name in QUESTIONS if name in vars(RobotsTxt)}
    assert {kind: public(kind) for kind in METHODS} == METHODS
    assert {kind.__name__ for kind in METHODS} <= set(QUESTIONS)


def timed(test: Test) -> Test:
    """Steps are counted in each run, time is taken in the full one: decorator."""
    return pytest.mark.full(pytest.mark.usefixtures("_no_collection")(test))


AROUND_THE_LINTER: Final = {"census", "site_item", "fixes", "watch"}
"""Dear questions that ask little beside what `lint` and `Difference` ask: left to the full run."""

ASKED = pytest.mark.parametrize(
    "ask",
    [
        pytest.param(ask, id=name, marks=[pytest.mark.full] * (name in AROUND_THE_LINTER))
        for name, ask in QUESTIONS.items()
    ],
)


@ASKED
def test_a_question_takes_steps_linear_in_the_body(ask: Question) -> None:
    assert too_costly(is_linear_in_steps, ask, LINES | RUNS, 1_000) == []


@ASKED
@timed
def test_a_question_takes_time_linear_in_the_body(ask: Question) -> None:
    # A difference asks each rule about each sample path, up to a bound that lies behind the larger bodies.
    assert too_costly(is_linear_in_time, ask, LINES, 2_050 if ask is differences else 2_500) == []
    assert too_costly(is_linear_in_time, ask, RUNS, 2_050) == []


@pytest.mark.parametrize("dialect", [GOOGLE, GOOGLE_EXACT], ids=lambda dialect: dialect.name)
def test_a_verdict_of_plain_python_takes_steps_linear_in_the_body(
    dialect: Dialect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(robotstxt, "_Compiled", None)
    assert too_costly(is_linear_in_steps, partial(verdicts, dialect=dialect), LINES | RUNS, 1_000) == []


def verdicts_on(url: str, dialect: Dialect) -> None:
    file = parse(WILDCARDS, dialect)
    for end in ("", "b", "a"):
        file.verdict("a", url + end)


@pytest.mark.parametrize("dialect", [GOOGLE, GOOGLE_EXACT], ids=lambda dialect: dialect.name)
def test_a_verdict_takes_steps_linear_in_the_url(dialect: Dialect) -> None:
    assert too_costly(is_linear_in_steps, partial(verdicts_on, dialect=dialect), URLS, 2_000) == []


@timed
@pytest.mark.parametrize("dialect", [GOOGLE, GOOGLE_EXACT], ids=lambda dialect: dialect.name)
def test_a_verdict_takes_time_linear_in_the_url(dialect: Dialect) -> None:
    assert too_costly(is_linear_in_time, partial(verdicts_on, dialect=dialect), URLS, 20_000) == []


def test_the_steps_of_a_walk_for_each_of_many_are_seen() -> None:
    def ask(body: bytes) -> int:
        return sum(1 for _ in body.splitlines() for _ in body.splitlines())

    assert too_costly(is_linear_in_steps, ask, {"lines": LINES["the same rule"]}, 1_000) == ["lines"]


@timed
def test_the_time_of_an_expression_with_overlapping_runs_is_seen() -> None:
    def ask(body: bytes) -> object:
        return re.search(rb"x\v*\v*$", body)

    runs = {"blanks": RUNS["vertical tabs before a second word"]}
    assert too_costly(is_linear_in_steps, ask, runs, 1_000) == []
    assert too_costly(is_linear_in_time, ask, runs, 400) == ["blanks"]
