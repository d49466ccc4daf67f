"""Which parser back-ends conform to RFC 9309 and to Google's document, section by section: the conformance kit.

Needs the extra ``test``.
"""

from __future__ import annotations

import logging
import platform
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any, Final

from scrapy.robotstxt import ProtegoRobotParser, PythonRobotParser, RobotParser

from scrapy_rep import RepRobotParser
from scrapy_rep.testing import SITUATIONS, Conformance, Situation, ask
from tests.testing.robotspy_parser import RobotspyParser

from .figures import Benchmark, main, row, table

OURS: Final = "scrapy_rep"
PARSERS: Final[Mapping[str, type[RobotParser]]] = {
    OURS: RepRobotParser,
    f"Protego {version('protego')}": ProtegoRobotParser,
    f"urllib.robotparser {platform.python_version()}": PythonRobotParser,
    f"robotspy {version('robotspy')}": RobotspyParser,
}


def measure() -> dict[str, Any]:
    logging.disable(logging.WARNING)  # Scrapy tells of files that are not UTF-8
    return {
        "situations": len(SITUATIONS),
        "questions": sum(len(situation.questions) for situation in SITUATIONS),
        "disputed": sorted({" ".join(place(each)) for each in SITUATIONS if not each.required}),
        "parsers": {name: answers(ask(parser)) for name, parser in PARSERS.items()},
        "tested": {each.name: [short(each), each.sentence] for each in SITUATIONS if each.required},
        "right": {name.split()[0]: by_source(ask(parser)) for name, parser in PARSERS.items()},
    }


def place(situation: Situation) -> tuple[str, str]:
    return situation.source, situation.section


def short(situation: Situation) -> str:
    """The source with the number of the section, or with its heading where sections have none."""
    number = situation.section.split()[0]
    return f"{situation.source} {number}" if number[0].isdigit() else situation.heading


def answers(found: Conformance) -> dict[str, Any]:
    """Right answers and questions by section, and the situations that failed."""
    failed = [situation.name for situation in found.failed() if situation.required]
    return {"sections": {" ".join(where): counts for where, counts in found.sections().items()}, "failed": failed}


def by_source(found: Conformance) -> dict[str, str]:
    sums: dict[str, list[int]] = {}
    for (source, _), counts in found.sections().items():
        sums[source] = [one + more for one, more in zip(sums.get(source, [0, 0]), counts, strict=True)]
    return {f"right, {source}": f"{right} of {total}" for source, (right, total) in sums.items()}


def asked(conformance: dict[str, Any]) -> Iterator[str]:
    counted = f"{conformance['situations']} situations with {conformance['questions']} questions"
    yield f"{counted}, asked as Scrapy asks the class in `ROBOTSTXT_PARSER`."


def sections(conformance: dict[str, Any]) -> Iterator[str]:
    """A row per section, a column per parser, and the sums for each source."""
    parsers, disputed = conformance["parsers"], conformance["disputed"]

    def cell(name: str, section: str) -> str:
        right, total = parsers[name]["sections"][section]
        counted = f"{right} of {total}"
        return f"**{counted}**" if section not in disputed and right < total else counted

    names = parsers[OURS]["sections"]
    yield from table(
        ["section", *parsers], ([section, *(cell(name, section) for name in parsers)] for section in names)
    )
    for source in conformance["right"][OURS]:
        yield row(source.replace("right,", "all of"), *(right[source] for right in conformance["right"].values()))


def failures(conformance: dict[str, Any]) -> Iterator[str]:
    """A row per situation that is required and that somebody fails."""
    failed = {name: one["failed"] for name, one in conformance["parsers"].items()}
    tested = {
        name: said
        for name, said in conformance["tested"].items()
        if any(name in names for names in failed.values())
    }
    return table(
        ["section", "what is tested", *failed],
        (
            [*said, *("fails" if name in names else "" for names in failed.values())]
            for name, said in tested.items()
        ),
    )


BENCHMARK: Final = Benchmark(
    measure,
    minutes=0.2,
    blocks={"conformance": asked, "conformance.sections": sections, "conformance.failures": failures},
    versions=("robotspy",),
)

if __name__ == "__main__":
    main(__spec__.name)
