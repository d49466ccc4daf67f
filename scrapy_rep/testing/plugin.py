"""A pytest plugin: the conformance of a parser back-end as tests, and a site with a robots.txt as a fixture.

``pytest -p scrapy_rep.testing.plugin --robotstxt-parser my.module.Class`` adds a test per situation. In a
``conftest.py``, ``pytest_plugins = ["scrapy_rep.testing.plugin"]`` loads the plugin for a project's own tests.

It is no entry point: pytest would load it for everyone who has installed this package, and would rewrite the
assertions of all its modules.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from _pytest._code.code import ExceptionInfo, TerminalRepr
    from _pytest.terminal import TerminalReporter

    from .conformance import Answer, Build
    from .site import RobotsSite
    from .situations import Situation

OPTION: Final = "robotstxt_parser"
MARKER: Final = "robotstxt_conformance"
_HELP: Final = "import path of a ROBOTSTXT_PARSER class to test for conformance"
_LINES_SHOWN: Final = 20
_LINE_WIDTH: Final = 120


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--robotstxt-parser``, which may be repeated, and the ini option of the same meaning."""
    group = parser.getgroup("scrapy_rep", "robots.txt conformance")
    group.addoption("--robotstxt-parser", action="append", metavar="CLASS", help=f"{_HELP}; may be repeated")
    parser.addini(OPTION, f"{_HELP}, one per line", type="linelist")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker of the tests: ``-m robotstxt_conformance`` runs them alone."""
    config.addinivalue_line("markers", f"{MARKER}: whether a robots.txt parser conforms to RFC 9309 and Google")


@pytest.fixture
def robots_site() -> Iterator[RobotsSite]:
    """A site on loopback, without a robots.txt until the test sets ``robots_site.robots``."""
    from .site import RobotsSite  # noqa: PLC0415  # loaded for those who use it

    with RobotsSite() as site:
        yield site


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Add a collector per parser behind what the arguments of pytest name."""
    report = yield
    if isinstance(collector, pytest.Session) and report.result is not None:
        paths = collector.config.getoption(OPTION) or collector.config.getini(OPTION)
        report.result += [ParserTests.from_parent(collector, name=path) for path in paths]
    return report


class ParserTests(pytest.Collector):
    """The tests of the class with the import path ``name``."""

    def collect(self) -> Iterator[SituationTest]:
        """A test per situation. Raises ``CollectError`` for what is no parser back-end."""
        from .conformance import building  # noqa: PLC0415  # as above
        from .situations import SITUATIONS  # noqa: PLC0415

        try:
            build = building(_parser(self.name))
        except Exception as error:  # noqa: BLE001  # whatever the import of a module of others raises
            raise self.CollectError(f"--robotstxt-parser {self.name}: {_problem(error)}") from None
        for place, situation in enumerate(SITUATIONS):
            yield SituationTest.from_parent(self, situation=situation, build=build, place=place)


class SituationTest(pytest.Item):
    """Asks the parser all questions of one situation."""

    def __init__(self, *, situation: Situation, build: Build, place: int, **kwargs: Any) -> None:
        super().__init__(name=situation.name, **kwargs)
        self.add_marker(MARKER)
        self._situation = situation
        self._build = build
        self._place = place

    def runtest(self) -> None:
        """Fail on a wrong answer; in a situation that is not required it is an expected failure."""
        from .conformance import answers  # noqa: PLC0415  # as above

        situation = self._situation
        given = answers(self._build, situation)
        wrong = [answer for answer in given if not answer.is_right]
        facts = {
            "parser": self.parent.name if self.parent else "",
            "place": self._place,
            "section": situation.heading,
            "right": len(given) - len(wrong),
            "total": len(given),
            "required": situation.required,
        }
        self.user_properties.append((MARKER, json.dumps(facts)))
        if wrong and not situation.required:
            pytest.xfail(_told(situation, wrong))
        if wrong:
            raise NonconformanceError(_told(situation, wrong))

    def repr_failure(self, excinfo: ExceptionInfo[BaseException], style: Any = None) -> str | TerminalRepr:
        """What is wrong, without a traceback through this module."""
        if isinstance(excinfo.value, NonconformanceError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """How pytest names the test in a report."""
        return self.path, None, f"{self._situation.heading}: {self._situation.sentence}"


class NonconformanceError(Exception):
    """A parser gives wrong answers in a situation that is required."""


def _parser(path: str) -> Any:
    from scrapy.utils.misc import load_object  # noqa: PLC0415  # as above

    parser = load_object(path)
    if not (hasattr(parser, "from_crawler") and hasattr(parser, "allowed")):
        raise ValueError("a parser back-end has from_crawler() and allowed(), see scrapy.robotstxt")
    return parser


def _problem(error: Exception) -> str:
    says_enough = type(error) in {ImportError, ModuleNotFoundError, NameError, ValueError}
    return str(error) if says_enough else f"{type(error).__name__}: {error}"


def _told(situation: Situation, wrong: list[Answer]) -> str:
    lines = [f"{situation.heading}: {situation.sentence}", *(f"    {answer}" for answer in wrong), "robots.txt:"]
    body = situation.body.splitlines(keepends=True)
    lines += [f"    {line!r}"[:_LINE_WIDTH] for line in body[:_LINES_SHOWN]]
    return "\n".join([*lines, f"    and {len(body) - _LINES_SHOWN} lines more"] if body[_LINES_SHOWN:] else lines)


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Per parser and section: how many answers are right."""
    tallies: dict[str, dict[str, _Tally]] = {}
    for facts in sorted(_facts(terminalreporter), key=itemgetter("place")):
        tally = tallies.setdefault(facts["parser"], {}).setdefault(facts["section"], _Tally())
        tally.right += facts["right"]
        tally.total += facts["total"]
        tally.failure = "FAILS" if facts["required"] else "differs"
    for parser, sections in tallies.items():
        terminalreporter.section(f"robots.txt conformance of {parser}")
        for section, tally in sections.items():
            word = tally.failure if tally.right < tally.total else ""
            line = f"{tally.right:4} of {tally.total:3}  {word:8} {section}"
            terminalreporter.write_line(line, red=word == "FAILS", yellow=word == "differs")


@dataclass
class _Tally:
    """The right answers in a section, all answers, and the word for too few right ones."""

    right: int = 0
    total: int = 0
    failure: str = ""


def _facts(terminalreporter: TerminalReporter) -> Iterator[dict[str, Any]]:
    """What the tests have told; it comes from other processes with pytest-xdist."""
    for reports in list(terminalreporter.stats.values()):
        for report in reports:
            if getattr(report, "when", "") == "call":
                yield from (json.loads(text) for key, text in report.user_properties if key == MARKER)
