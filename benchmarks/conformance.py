"""Which parsers read robots.txt as RFC 9309 says: the programs in `benchmarks.court` answer the conformance kit.

A parser that is not installed here keeps the answers that it gave to the same version of the kit.
Environment variables name the parsers that pip does not install: Google's compiled ``google.cc``
(``GOOGLE_ROBOTSTXT``), the JAR files of crawler-commons (``CRAWLER_COMMONS``), CPython's
``Lib/urllib/robotparser.py`` (``CPYTHON_ROBOTPARSER``), and the folder of npm's packages (``NODE_PATH``).
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

from scrapy_rep.testing import SITUATIONS, Conformance, Situation
from scrapy_rep.testing.conformance import Program, ProgramError, watched
from scrapy_rep.testing.situations import VERSION

from .figures import DOCS, Benchmark, installed, main, read, table

OURS: Final = "scrapy_rep"
COURT: Final = Path(__file__).parent / "court"
OFTEN: Final = 10
"""Parsers that are wrong in more situations are not listed one by one: their rows would hide the others."""


class Subject(NamedTuple):
    """A parser: what it is written in, the command of the program that answers for it, and its version."""

    language: str
    command: list[str]
    version: str


def python(name: str, language: str = "Python", version: str = "") -> Subject:
    command = [sys.executable, "-m", "benchmarks.court.python", name]
    return Subject(language, command, version or installed(name))


def node(name: str, version: str) -> Subject:
    return Subject("JavaScript", ["node", str(COURT / "node.js"), name], version)


def java(file: str, version: str) -> Subject:
    return Subject("Java", ["java", "-cp", os.environ.get("CRAWLER_COMMONS", ""), str(COURT / file)], version)


SUBJECTS: Final[Mapping[str, Subject]] = {
    OURS: python("scrapy-rep", "Python, C"),
    "scrapy_rep, plain Python": python("plain", version=installed("scrapy-rep")),
    "google/robotstxt": Subject("C++", [os.environ.get("GOOGLE_ROBOTSTXT", "google")], "22b355f"),
    "fast-robotstxt": python("fast-robotstxt", "C++, for Python"),
    "texting-robots-py": python("texting-robots-py", "Rust, for Python"),
    "crawler-commons": java("CrawlerCommons.java", "8e14e27"),
    "Protego": python("protego"),
    "robotspy": python("robotspy"),
    "gpyrobotstxt": python("gpyrobotstxt"),
    "urllib.robotparser of main": python("urllib-main", version="055a953"),
    "reppy2": python("reppy2"),
    "robots-parser": node("robots-parser", "3.0.1"),
    "robots-txt-guard": node("robots-txt-guard", "1.0.2"),
    "robotexclusionrulesparser": python("robotexclusionrulesparser"),
    "urllib.robotparser": python("urllib", version=platform.python_version()),
}


def measure() -> dict[str, Any]:
    before = read("conformance", DOCS).get("figures", {})
    old = before["parsers"] if before.get("kit") == VERSION else {}
    parsers = {name: found for name in SUBJECTS if (found := asked(name) or old.get(name))}
    return {
        "kit": VERSION,
        "situations": len(SITUATIONS),
        "questions": sum(len(situation.questions) for situation in SITUATIONS),
        "tested": {situation.name: [short(situation), situation.sentence] for situation in SITUATIONS},
        "parsers": parsers,
        "right": {name: right(found) for name, found in parsers.items()},
    }


def asked(name: str) -> dict[str, Any] | None:
    """What the parser of this *name* answers; None if it is not installed."""
    subject = SUBJECTS[name]
    try:
        with closing(Program(subject.command)) as program:
            found = Conformance(program, watched(program))
    except (OSError, ProgramError) as error:
        print(f"{name} is not asked: {error}", file=sys.stderr)
        return None
    answers = [answer for given in found.answers.values() for answer in given]
    named = [answer for answer in answers if answer.is_right and answer.line]
    return {
        "language": subject.language,
        "version": subject.version,
        "right": documents(found),
        "lines": [sum(answer.line == answer.question.line for answer in named), len(named)],
        "breaks": sum(answer.error is not None for answer in answers),
        "failed": [situation.name for situation in found.failed()],
    }


def documents(found: Conformance) -> dict[str, list[int]]:
    """Right answers and all of them by document; what RFC 9309 leaves open is not asked of it."""
    sums: dict[str, list[int]] = {}
    for situation, given in found.answers.items():
        counts = sums.setdefault(situation.source, [0, 0])
        if situation.required or situation.source != "RFC 9309":
            counts[0] += sum(answer.is_right for answer in given)
            counts[1] += len(given)
    return sums


def right(found: dict[str, Any]) -> dict[str, str]:
    return {f"right, {source}": "{} of {}".format(*counts) for source, counts in found["right"].items()}


def short(situation: Situation) -> str:
    """The source with the number of the section, or with its heading where sections have none."""
    number, *_ = situation.section.split()
    disputed = ", disputed" if situation.section.endswith("disputed") else ""
    return f"{situation.source} {number}{disputed}" if number[0].isdigit() else situation.heading


# The page


def counted(conformance: dict[str, Any]) -> Iterator[str]:
    parsers = sum("plain" not in name for name in conformance["parsers"])
    yield (
        f"Version {conformance['kit']} of the kit: {conformance['situations']} situations with"
        f" {conformance['questions']} questions, asked of {parsers} parsers."
    )


def parsers(conformance: dict[str, Any]) -> Iterator[str]:
    """A row per parser, the best in RFC 9309 first."""

    def cells(name: str) -> Iterator[str]:
        found = conformance["parsers"][name]
        yield from (f"{name} {found['version']}", found["language"])
        yield from (str(right) for right, _ in found["right"].values())

    def most(name: str) -> list[int]:
        return [-right for right, _ in conformance["parsers"][name]["right"].values()]

    totals = [total for _, total in conformance["parsers"][OURS]["right"].values()]
    documents = zip(("RFC 9309", "Google's additions", "our choices"), totals, strict=True)
    head = ["parser", "in", *(f"{document}, of {total}" for document, total in documents)]
    return table(head, (cells(name) for name in sorted(conformance["parsers"], key=most)))


def failures(conformance: dict[str, Any]) -> Iterator[str]:
    """A row per situation of RFC 9309 in which two parsers are wrong that seldom are."""
    tested = conformance["tested"]

    def is_required(situation: str) -> bool:
        section, _ = tested[situation]
        return section.startswith("RFC 9309") and "disputed" not in section

    parsers = {name: found["failed"] for name, found in conformance["parsers"].items() if "plain" not in name}
    wrong = {name: [*filter(is_required, failed)] for name, failed in parsers.items()}
    often = {name: len(failed) for name, failed in wrong.items() if len(failed) > OFTEN}
    if often:
        listed = ", ".join(f"{name} ({count})" for name, count in often.items())
        yield f"Left out, with the situations that they get wrong: {listed}."
        yield ""

    def rows() -> Iterator[list[str]]:
        for situation, (section, sentence) in tested.items():
            names = [name for name, failed in wrong.items() if situation in failed and name not in often]
            if len(names) > 1:
                yield [section.removeprefix("RFC 9309 "), sentence, ", ".join(names)]

    yield from table(["section", "what is tested", "wrong"], rows())


BENCHMARK: Final = Benchmark(
    measure,
    minutes=0.3,
    blocks={
        "conformance": counted,
        "conformance.parsers": parsers,
        "conformance.failures": failures,
    },
    versions=("robotspy",),
    is_timed=False,
)

if __name__ == "__main__":
    main(__spec__.name)
