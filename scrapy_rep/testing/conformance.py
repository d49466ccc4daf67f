"""Asks a parser about every situation: a back-end of Scrapy, or a program in any language.

``python -m scrapy_rep.testing.conformance COMMAND`` asks a program. It reads a question per line: the path of a
robots.txt file, an agent and a URL, with tabs between them. It answers each with a line: ``allowed`` or
``disallowed``, and then the number of the line that decided, if it knows. A file needs no decoding.
"""

from __future__ import annotations

import re
import sys
from argparse import REMAINDER, ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from subprocess import PIPE, Popen
from tempfile import NamedTemporaryFile, TemporaryDirectory
from threading import Thread
from typing import IO, TYPE_CHECKING, Any, Final

from .situations import SITUATIONS, VERSION, Question, Situation

if TYPE_CHECKING:
    from scrapy.robotstxt import RobotParser
    from typing_extensions import Self

Build = Callable[[bytes], Any]
"""Makes a parser of the octets of a robots.txt; the parser has the method ``allowed`` of a ``RobotParser``.

One that knows which line decided has it in its attribute ``line`` after each answer.
"""

_PATIENCE: Final = 10.0  # seconds until a program that does not answer is ended
_SILENT: Final = 3  # situations in a row without an answer, after which a program is given up
_VERDICT: Final = re.compile(r"(allowed|disallowed)(?:[ \t]+(\d+))?\s*")
_LINES_SHOWN: Final = 20
_LINE_WIDTH: Final = 100


@dataclass(frozen=True, slots=True)
class Answer:
    """What a parser said to ``question``: ``given`` is None if it raised ``error``, ``line`` if it named none."""

    question: Question
    given: bool | None
    error: Exception | None = None
    line: int | None = None

    @property
    def is_right(self) -> bool:
        """Whether that is what the situation expects, whichever line decided."""
        return self.given is self.question.allowed

    def __str__(self) -> str:
        """The answer as a sentence."""
        question, error = self.question, self.error
        said = "allows" if self.given else "disallows"
        if error is not None:
            said = f"{'' if isinstance(error, ProgramError) else f'raises {type(error).__name__}: '}{error}, for"
        expected = "allowed" if question.allowed else "disallowed"
        by, expected_by = (f" by line {line}" if line else "" for line in (self.line, question.line))
        return f"{said} {question.url} as {question.crawler}{by}: expected {expected}{expected_by}"


class Conformance:
    """The answers of one parser, by situation."""

    def __init__(self, build: Build, situations: Iterable[Situation] = SITUATIONS) -> None:
        """*build* is called once per situation, as Scrapy calls a parser back-end once per origin."""
        self.answers = {situation: [*_answers(build, situation)] for situation in situations}

    def failed(self) -> list[Situation]:
        """The situations with a wrong answer, those that are not required too."""
        return [situation for situation, given in self.answers.items() if not all(one.is_right for one in given)]

    def sections(self) -> dict[tuple[str, str], tuple[int, int]]:
        """By source and section: the number of right answers and of all answers."""
        right, total = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for situation, given in self.answers.items():
            place = situation.source, situation.section
            right[place] += sum(one.is_right for one in given)
            total[place] += len(given)
        return {place: (right[place], total[place]) for place in total}


def ask(parser: type[RobotParser], situations: Iterable[Situation] = SITUATIONS) -> Conformance:
    """Ask the class *parser*, a value of ``ROBOTSTXT_PARSER``, about *situations*.

    It is built by ``from_crawler`` with a crawler that has Scrapy's default settings and does not run.
    """
    from scrapy import Spider  # noqa: PLC0415  # the situations need no Scrapy
    from scrapy.crawler import Crawler  # noqa: PLC0415

    crawler = Crawler(Spider)
    return Conformance(lambda body: parser.from_crawler(crawler, body), situations)


def _answers(build: Build, situation: Situation) -> Iterator[Answer]:
    parser = None
    for question in situation.questions:
        # Scrapy hands over a product token of the settings as text, and the header of a request as octets.
        crawler = question.crawler.encode() if "/" in question.crawler else question.crawler
        try:
            parser = build(situation.body) if parser is None else parser
            given = bool(parser.allowed(question.url, crawler))
        except Exception as error:  # noqa: BLE001  # a parser of others; that it raises is its answer
            yield Answer(question, None, error)
        else:
            yield Answer(question, given, line=getattr(parser, "line", None))


class ProgramError(Exception):
    """A program ended, kept silent, or answered something else."""


class Program:
    """The process of a *command*, as a `Build` and as the parser that this makes.

    One that fails is ended, and asked nothing more about the same robots.txt; the next one starts it again. An
    answer that comes late or twice is therefore never taken for that to another question.
    """

    def __init__(self, command: Sequence[str], patience: float = _PATIENCE) -> None:
        """*patience* is in seconds, for each answer. Raises ``OSError`` for what cannot be started."""
        self._command, self._patience = command, patience
        self.failure: ProgramError | None = None  # at the current robots.txt
        self.failures = 0  # in a row, without a verdict between them
        self.line: int | None = None
        self._start()
        self._folder = TemporaryDirectory()

    def __call__(self, body: bytes) -> Self:
        if self.failure:
            self._start()
        # A name for each robots.txt: the program may remember what it has read.
        with NamedTemporaryFile(dir=self._folder.name, suffix=".txt", delete=False) as file:
            file.write(body)
        self._path = file.name
        return self

    def allowed(self, url: str, crawler: str | bytes) -> bool:
        """Ask the program. Raises `ProgramError` if it gives no verdict."""
        if self.failure:
            raise self.failure
        agent = crawler.decode() if isinstance(crawler, bytes) else crawler
        said = self._said(f"{self._path}\t{agent}\t{url}\n")
        verdict = _VERDICT.fullmatch(said)
        if not verdict:
            raise self._failed(f"answers {said.rstrip()!r}")
        self.failures = 0
        self.line = int(verdict[2] or 0) or None
        return verdict[1] == "allowed"

    def close(self) -> None:
        """End the program."""
        self._stop()
        self._folder.cleanup()

    def _said(self, question: str) -> str:
        with suppress(OSError):  # it has ended, which the reader tells
            self._process.stdin.write(question)
            self._process.stdin.flush()
        try:
            said = self._lines.get(timeout=self._patience)
        except Empty:
            raise self._failed(f"says nothing for {self._patience:g} s (is its output flushed?)") from None
        if not said:
            raise self._failed(f"ends with exit code {self._process.wait()}")
        if self._lines.empty() or self._process.poll() is not None:
            return said
        return said + self._lines.get()  # nobody asked for it

    def _failed(self, why: str) -> ProgramError:
        self._stop()
        self.failures += 1
        self.failure = ProgramError(why)
        return self.failure

    def _start(self) -> None:
        self.failure = None
        self._process: Any = Popen(self._command, stdin=PIPE, stdout=PIPE, encoding="utf-8", errors="replace")  # noqa: S603
        self._lines = SimpleQueue[str]()
        Thread(target=_read, args=(self._process.stdout, self._lines), daemon=True).start()

    def _stop(self) -> None:
        self._process.kill()
        self._process.wait()
        with suppress(OSError):  # a question that it did not read
            self._process.stdin.close()


def _read(stdout: IO[str], lines: SimpleQueue[str]) -> None:
    with stdout:
        for line in stdout:
            lines.put(line)
    lines.put("")  # the end


def watched(program: Program) -> Iterator[Situation]:
    """All situations, while the *program* answers. Raises `ProgramError` if three in a row bring no verdict."""
    for situation in SITUATIONS:
        yield situation
        if program.failures == _SILENT:
            raise ProgramError(f"{program.failure}, on {_SILENT} robots.txt files in a row")


def report(found: Conformance) -> Iterator[str]:
    """What differs from the kit, situation by situation, and the sums by section and document."""
    for situation, given in found.answers.items():
        told = [
            answer for answer in given if not answer.is_right or answer.line not in {None, answer.question.line}
        ]
        if not told:
            continue
        word = "wrong" if situation.required and situation in found.failed() else "differs"
        yield f"{word}: {situation.heading}: {situation.sentence}"
        yield from (f"    {answer}" for answer in told)
        lines = situation.body.splitlines(keepends=True)
        shown = (f"{number:8}  {line!r}" for number, line in enumerate(lines[:_LINES_SHOWN], 1))
        yield from (line[:_LINE_WIDTH] for line in shown)
        yield f"          and {len(lines) - _LINES_SHOWN} lines more\n" if lines[_LINES_SHOWN:] else ""
    required = {(situation.source, situation.section): situation.required for situation in found.answers}
    for place, (right, total) in found.sections().items():
        word = "" if right == total else "wrong" if required[place] else "differs"
        yield f"{right:4} of {total:3}  {word:7}  {' '.join(place)}"
    named = [one for given in found.answers.values() for one in given if one.is_right and one.line]
    same = sum(one.line == one.question.line for one in named)
    yield f"{same:4} of {len(named):3}           lines that it names, as in version {VERSION} of the kit"


def main() -> int:
    """Ask the program that the arguments name; the exit code: 0, 1 if it is wrong, 2 if it cannot be asked."""
    parser = ArgumentParser(prog="python -m scrapy_rep.testing.conformance", description=__doc__)
    parser.add_argument("command", nargs=REMAINDER, help="the program, with its arguments")
    command = parser.parse_args().command
    try:
        with closing(Program(command or parser.error("name the program, as in: node adapter.js"))) as program:
            found = Conformance(program, watched(program))
    except (OSError, ProgramError) as error:
        parser.error(f"{command[0]}: {error}")
    sys.stdout.writelines(f"{line}\n" for line in report(found))
    return int(any(situation.required for situation in found.failed()))


if __name__ == "__main__":
    sys.exit(main())
