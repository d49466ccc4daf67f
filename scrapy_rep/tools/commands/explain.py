"""Say whether a crawler may request a URL, and why.

    scrapy robots explain URL… [--agent TOKEN]… [--file FILE] [--json] [--full]
    … | scrapy robots explain [-] …

URLs come from the command line, or one a line from standard input. One URL is explained in full, of
several each gets a line; --full explains all of them, --json prints an object a line. With several --agent
each URL is answered for each of them. Without --file the robots.txt of each origin is fetched, or found in
the store, as in a crawl of the project. Exits with 0 when all are allowed, 1 when one is not, 2 when one
could not be told.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import IO, TYPE_CHECKING, Final

from scrapy_rep.crawl.product_tokens import tokens_of
from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.protocol import Origin, parse
from scrapy_rep.protocol.display import shown
from scrapy_rep.protocol.html import is_html
from scrapy_rep.settings import RepSettings

from . import FINE, FOUND
from .explain_text import facts_about, line_about, text_about
from .subject import Subject
from .terminal import GivenError, Progress, complain, lines_of, origin_of, read_file, token_of, with_scheme

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from .fetching import Fetched, Source

_URLS_AT_ONCE: Final = 5_000  # are in memory while their origins are asked


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of the command line."""
    parser.add_argument("urls", nargs="*", metavar="URL", help="- or none: one a line from standard input")
    parser.add_argument(
        "--agent",
        metavar="TOKEN",
        action="append",
        help="a product token or User-Agent header; several are fine; else the project's",
    )
    parser.add_argument(
        "--file", metavar="FILE", help="this robots.txt, from a file, for every URL; - is standard input"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--full", action="store_true", help="the whole explanation for each of several URLs, too")


def run(arguments: Namespace, settings: BaseSettings, out: IO[str]) -> int:
    """Do what the *arguments* say; the exit code."""
    try:
        agents = _agents(arguments.agent, settings)
        is_one = _is_one(arguments.urls) and len(agents) == 1
        teller = _Teller(out, agents, as_json=arguments.json, full=arguments.full or is_one)
        if arguments.file:
            return _explain_by_file(arguments, RepSettings.from_settings(settings), teller)
        return _explain_by_origin(_given(arguments.urls), settings, teller)
    except (GivenError, InvalidSettingError) as error:
        return complain("explain", error)


def _agents(given: Sequence[str] | None, settings: BaseSettings) -> list[tuple[str, ...]]:
    """The crawlers that ask, each with its product tokens: those *given*, or that of the project."""
    if given is None:
        return [tokens_of(settings)]
    return [(token,) for token in dict.fromkeys(map(token_of, given))]


def _is_one(urls: Sequence[str]) -> bool:
    return len(urls) == 1 and urls[0] != "-"


def _given(urls: Sequence[str]) -> Iterator[str]:
    if not urls and sys.stdin.isatty():
        raise GivenError("which URL? - reads them from standard input, one a line")
    for url in urls or ("-",):
        if url == "-":
            yield from lines_of("-")
        else:
            yield url


class _Teller:
    """Prints answers, and remembers the exit code that they come to."""

    def __init__(self, out: IO[str], agents: list[tuple[str, ...]], *, as_json: bool, full: bool) -> None:
        self.agents = agents
        self.code = FINE
        self._out = out
        self._as_json = as_json
        self._full = full
        self._shows = out.isatty()  # and so needs no telling how far it is
        self._told: dict[bool, int] = {True: 0, False: 0}
        self._progress = Progress(sys.stderr)

    def tell_each(self, url: str, subjects: Iterable[Subject]) -> None:
        """Print the answers of *subjects*, one for each crawler, about *url*."""
        for subject in subjects:
            self.tell(url, subject)

    def tell(self, url: str, subject: Subject) -> None:
        """Print the answer about *url*."""
        if self._shows:
            self._progress.end()
        allowed = self._print(url, subject)
        self._told[allowed] += 1
        if not allowed:
            self.code = max(self.code, FOUND)
        if not self._shows and not sum(self._told.values()) % 100:
            self._progress.tell(f"{self._told[True]:,} URLs allowed, {self._told[False]:,} disallowed")

    def ask(self, number: int) -> None:
        """Say that so many origins are asked, which may take a while."""
        if number:
            self._progress.tell(f"asking {number:,} {'origin' if number == 1 else 'origins'} …", at_once=True)

    def _print(self, url: str, subject: Subject) -> bool:
        """Whether *url* is allowed."""
        if self._as_json:
            facts = facts_about(url, subject, full=self._full)
            self._out.write(json.dumps(facts) + "\n")
            return bool(facts["allowed"])
        verdict = subject.verdict(url)
        if self._full:
            gap = "\n" if any(self._told.values()) else ""
            self._out.write(f"{gap}{text_about(url, subject, self._out)}\n")
        else:
            crawler = f"  ({shown(subject.token)})" if len(self.agents) > 1 else ""
            self._out.write(f"{line_about(url, verdict, self._out)}{crawler}\n")
        return verdict.allowed

    def cannot(self, problem: object) -> None:
        """Say what could not be told."""
        self._progress.end()
        self._out.flush()
        self.code = complain("explain", problem)

    def end(self) -> int:
        """The exit code."""
        self._progress.end()
        return self.code


def _explain_by_file(arguments: Namespace, settings: RepSettings, teller: _Teller) -> int:
    if arguments.file == "-" and ("-" in arguments.urls or not arguments.urls):
        raise GivenError("standard input cannot hold both the robots.txt and the URLs")
    body = read_file(arguments.file)
    robotstxt = parse(body, settings.dialect, limit=settings.max_size)
    is_page = is_html(body)
    subjects = [Subject(robotstxt, tokens, file=arguments.file, is_html=is_page) for tokens in teller.agents]
    for url in _given(arguments.urls):
        teller.tell_each(url, subjects)
    return teller.end()


def _explain_by_origin(urls: Iterator[str], settings: BaseSettings, teller: _Teller) -> int:
    from .fetching import crawl  # noqa: PLC0415  # all of Scrapy's machinery, which a file does not need

    # What cannot be read, and URLs that have no origin, are told without a crawl.
    while (first := list(islice(urls, _URLS_AT_ONCE))) and not any(map(_origin, first)):
        _tell_all(first, {}, teller)
    if first:
        crawl(settings, lambda source: _explain_all(first, urls, source, teller))
    return teller.end()


async def _explain_all(first: list[str], urls: Iterator[str], source: Source, teller: _Teller) -> None:
    """The answers in the order of the URLs; those of many are asked and given together."""
    subjects: dict[Origin, list[Subject]] = {}
    while some := first or list(islice(urls, _URLS_AT_ONCE)):
        first = []
        wanted = dict.fromkeys(filter(None, (_origin(url) for url in some)))
        subjects = {origin: subjects[origin] for origin in wanted if origin in subjects}

        def keep(fetched: Fetched) -> None:
            subjects[fetched.origin] = [Subject.of(fetched, tokens) for tokens in teller.agents]  # noqa: B023
            if problem := subjects[fetched.origin][0].problem:  # noqa: B023
                teller.cannot(problem)

        unknown = [origin for origin in wanted if origin not in subjects]
        teller.ask(len(unknown))
        await source.each(unknown, keep)
        _tell_all(some, subjects, teller)


def _tell_all(urls: Iterable[str], subjects: dict[Origin, list[Subject]], teller: _Teller) -> None:
    for url in urls:
        try:
            answers = subjects.get(origin_of(url), [])  # none when Ctrl-C came before it
        except GivenError as error:
            teller.cannot(error)
            continue
        teller.tell_each(with_scheme(url), answers)


def _origin(url: str) -> Origin | None:
    try:
        return origin_of(url)
    except GivenError:
        return None
