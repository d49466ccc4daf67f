"""Which parser back-ends conform to RFC 9309 and to Google's document, section by section: the conformance kit.

    python -m benchmarks.conformance [--out docs/conformance.md]

prints a page of Markdown (extras ``test`` and ``bench``), or writes it. It takes about ten seconds.
"""

from __future__ import annotations

import argparse
import logging
import platform
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Final

from scrapy.robotstxt import ProtegoRobotParser, PythonRobotParser, RobotParser

from scrapy_rep import RepRobotParser
from scrapy_rep.testing import SITUATIONS, Conformance, Situation, ask
from tests.tools.testing.robotspy_parser import RobotspyParser

PAGE: Final = Path(__file__).parents[1] / "docs" / "conformance.md"
OURS: Final = "scrapy_rep"
PARSERS: Final[Mapping[str, type[RobotParser]]] = {
    OURS: RepRobotParser,
    f"Protego {version('protego')}": ProtegoRobotParser,
    f"urllib of Python {platform.python_version()}": PythonRobotParser,
    f"robotspy {version('robotspy')}": RobotspyParser,
}
HEAD: Final = """\
# Conformance of parser back-ends

{situations} situations with {questions} questions, asked as Scrapy asks the class in `ROBOTSTXT_PARSER`. The
situations are data, in `scrapy_rep/testing/situations`: those of RFC 9309, of Google's document and our own. To
ask another parser, see [Test a project](howto/test-a-project.md#does-a-parser-conform).

This page is written by `python -m benchmarks.conformance --out docs/conformance.md`.

## Section by section

The number of right answers. A section that says *disputed*, and those of scrapy_rep, are decisions that a parser
is free to take: it differs there, and does not fail. Bold is a section in which a parser fails.
"""
LEGEND: Final = """\
## Where they fail

The situations of RFC 9309 and Google, without the disputed ones, in which at least one of the parsers gives a
wrong answer.
"""
NOTES: Final = """\
## Notes

- RFC 9309 §2.2.2 wants reserved characters percent-encoded before paths are compared, and its example encodes
  `https://` inside a query: a parser that follows it takes `%2F` and `/` for the same. RFC 3986 §2.2 says that
  they differ. Both disputed situations are about that; [scrapy_rep keeps them
  apart](semantics.md#deviations-from-rfc-9309), as Google's parser does.
- robotspy has no parser back-end for Scrapy. The adapter in `tests/tools/testing/robotspy_parser.py` hands over
  what Scrapy does; robotspy itself expects a product token where Scrapy passes a whole User-Agent header.
- Python's `urllib.robotparser` follows the descriptions of 1994 and 1996, which are older than both documents.
"""


def page(found: Mapping[str, Conformance]) -> str:
    """The whole page."""
    questions = sum(len(situation.questions) for situation in SITUATIONS)
    head = HEAD.format(situations=len(SITUATIONS), questions=questions)
    return "\n".join([head, *sections(found), "", LEGEND, *failures(found), "", NOTES])


def sections(found: Mapping[str, Conformance]) -> Iterator[str]:
    """A row per section, a column per parser, and the sums for each source."""
    yield _row("section", *found)
    yield _rule(len(found) + 1)
    required = {(situation.source, situation.section): situation.required for situation in SITUATIONS}
    counts = {name: conformance.sections() for name, conformance in found.items()}
    for place, is_required in required.items():
        cells = (_cell(*counts[name][place], is_required=is_required) for name in found)
        yield _row(" ".join(place), *cells)
    for source in dict.fromkeys(source for source, _ in required):
        places = [place for place in required if place[0] == source]
        sums = ([sum(numbers) for numbers in zip(*map(counts[name].get, places), strict=True)] for name in found)
        yield _row(f"all of {source}", *(f"{right} of {total}" for right, total in sums))


def failures(found: Mapping[str, Conformance]) -> Iterator[str]:
    """A row per situation that is required and that somebody fails."""
    failed = {name: set(map(_name, conformance.failed())) for name, conformance in found.items()}
    yield _row("section", "what is tested", *found)
    yield _rule(len(found) + 2)
    for situation in SITUATIONS:
        if situation.required and any(situation.name in names for names in failed.values()):
            cells = ("fails" if situation.name in names else "" for names in failed.values())
            yield _row(_place(situation), situation.sentence, *cells)


def _name(situation: Situation) -> str:
    return situation.name


def _place(situation: Situation) -> str:
    """The source with the number of the section, or with its heading where sections have none."""
    number = situation.section.split()[0]
    return f"{situation.source} {number}" if number[0].isdigit() else situation.heading


def _cell(right: int, total: int, *, is_required: bool) -> str:
    counted = f"{right} of {total}"
    return f"**{counted}**" if is_required and right < total else counted


def _rule(columns: int) -> str:
    return f"|{'---|' * columns}"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.conformance")
    options.add_argument("--out", type=Path, help="write the page there instead of printing it")
    out = options.parse_args().out
    logging.disable(logging.WARNING)  # Scrapy tells of files that are not UTF-8
    text = page({name: ask(parser) for name, parser in PARSERS.items()})
    out.write_text(text, "utf-8") if out else print(text)


if __name__ == "__main__":
    main()
