"""Measure the robots.txt of many sites: a record of each, and a report to look at.

    scrapy robots survey SITE… [--from-file FILE] [--out DIR [--resume | --overwrite]]
    scrapy robots survey --files DIR [--out DIR [--resume | --overwrite]]

SITE is an origin, any URL of it, or a bare host; FILE holds one a line (or rank,host), - is standard input.
Each robots.txt is fetched once, CONCURRENT_REQUESTS at a time, as in a crawl of the project; with --files
those in a folder are read instead. DIR then holds survey.jsonl, survey.html and, where files were fetched,
files/. Ctrl-C ends it with a report on what has come; --resume asks for the rest, --overwrite begins anew.
Exits with 0, or 2 when it could not run to its end.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from time import monotonic
from typing import IO, TYPE_CHECKING, Any, TypeVar

from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.display import shown
from scrapy_rep.settings import RepSettings
from scrapy_rep.tools.survey.files import files_in, measured, site_of
from scrapy_rep.tools.survey.measure import measure
from scrapy_rep.tools.survey.record import SiteRecord
from scrapy_rep.tools.survey.writer import Writer, is_used

from . import COULD_NOT_RUN, FINE
from .terminal import GivenError, Progress, complain, lines_of, origin_of

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from .fetching import Fetched


T = TypeVar("T")


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of the command line."""
    parser.add_argument("sites", nargs="*", metavar="SITE", help="an origin, a URL of it, or a host")
    parser.add_argument("--from-file", metavar="FILE", help="more sites, one a line; - is standard input")
    parser.add_argument("--files", metavar="DIR", help="read the files in this folder and below, fetch nothing")
    parser.add_argument("--out", metavar="DIR", default="robots-survey", help="where to write (robots-survey)")
    used = parser.add_mutually_exclusive_group()
    used.add_argument("--resume", action="store_true", help="go on with the survey in DIR: leave out sites it has")
    used.add_argument("--overwrite", action="store_true", help="replace the survey in DIR")


def run(arguments: Namespace, settings: BaseSettings, out: IO[str]) -> int:
    """Do what the *arguments* say; the exit code."""
    try:
        parsed = RepSettings.from_settings(settings)
        if arguments.files:
            if arguments.sites or arguments.from_file:
                raise GivenError("--files reads a folder: name no sites beside it")
            return _survey_files(arguments, parsed, out)
        return _survey_sites(arguments, settings, parsed, out)
    except (GivenError, InvalidSettingError) as error:
        return complain("survey", error)
    except OSError as error:
        return complain("survey", f"{error.filename or arguments.out}: {error.strerror or error}")


def _survey_files(arguments: Namespace, parsed: RepSettings, out: IO[str]) -> int:
    folder = Path(arguments.files)
    paths = files_in(folder)
    desk = _Desk(arguments, len(paths))
    left = desk.left_of(paths, lambda path: site_of(folder, path))
    return desk.work(out, lambda: desk.take_all(measured(folder, left, parsed.dialect, parsed.max_size)))


def _survey_sites(arguments: Namespace, settings: BaseSettings, parsed: RepSettings, out: IO[str]) -> int:
    origins, unusable = _origins(arguments)
    desk = _Desk(arguments, len(origins) + len(unusable))
    unusable = desk.left_of(unusable, lambda record: record.site)
    origins = desk.left_of(origins, str)
    return desk.work(out, lambda: _fetch(origins, unusable, settings, parsed, desk))


class _Desk:
    """Where records are taken in: written, counted, told of."""

    def __init__(self, arguments: Namespace, expected: int) -> None:
        if not expected:
            raise GivenError("nothing to survey: name sites, --from-file or --files")
        folder = Path(arguments.out)
        if is_used(folder) and not (arguments.resume or arguments.overwrite):
            raise GivenError(
                f"{folder} holds a survey: --resume goes on with it, --overwrite replaces it, --out names another"
            )
        try:
            self.writer = Writer(folder, resume=arguments.resume)
        except ValueError as error:
            raise GivenError(str(error)) from None
        self._expected = self.writer.totals.sites
        self._before = self._expected
        self._began = monotonic()
        self._progress = Progress(sys.stderr)

    def left_of(self, subjects: Iterable[T], site: Callable[[T], str]) -> list[T]:
        """Those of *subjects* that an earlier survey has no record of; *site* is what its record would name."""
        earlier, left = self.writer.earlier, []
        for subject in subjects:
            name = site(subject)
            if earlier[name]:
                earlier[name] -= 1
            else:
                left.append(subject)
        self._expected += len(left)
        return left

    def take(self, record: SiteRecord) -> None:
        """Write *record*, and say how far it is."""
        self.writer.add(record)
        totals = self.writer.totals
        rate = (totals.sites - self._before) / max(monotonic() - self._began, 0.001)
        self._progress.tell(
            f"{totals.sites:,} of {self._expected:,} sites, {totals.with_file:,} with a robots.txt,"
            f" {rate:,.0f} a second"
        )

    def take_all(self, records: Iterable[SiteRecord]) -> None:
        """Take each of *records*."""
        for record in records:
            self.take(record)

    def work(self, out: IO[str], survey: Callable[[], None]) -> int:
        """Run *survey*, and write the report on what came of it; the exit code."""
        with suppress(KeyboardInterrupt):
            survey()
        totals = self.writer.totals
        is_whole = totals.sites == self._expected
        self._progress.end()
        self.writer.close(expected=self._expected)
        out.write(
            f"{totals.sites:,} of {self._expected:,} sites, {totals.with_file:,} with a robots.txt,"
            f" {totals.kinds['unreachable']:,} unreachable\n{self.writer.page}\n"
        )
        return FINE if is_whole else COULD_NOT_RUN


def _origins(arguments: Namespace) -> tuple[list[Origin], list[SiteRecord]]:
    """The origins to ask, each once; and records of what names none."""
    sites = [*arguments.sites]
    if arguments.from_file:
        sites += [line.rpartition(",")[2].strip() for line in lines_of(arguments.from_file) if line[0] != "#"]
    origins: dict[Origin, None] = {}
    unusable = []
    for site in dict.fromkeys(sites):
        try:
            origins[origin_of(site)] = None
        except GivenError as error:  # noqa: PERF203
            unusable.append(SiteRecord(site=shown(site), access="unreachable", problem=f"no site: {error}"))
    return [*origins], unusable


def _fetch(
    origins: list[Origin], unusable: list[SiteRecord], settings: BaseSettings, parsed: RepSettings, desk: _Desk
) -> None:
    from .fetching import fetch  # noqa: PLC0415  # all of Scrapy's machinery, which a folder does not need

    desk.take_all(unusable)
    if origins:
        fetch(origins, settings, lambda fetched: desk.take(_record(fetched, parsed, desk.writer)))


def _record(fetched: Fetched, parsed: RepSettings, writer: Writer) -> SiteRecord:
    entry, access = fetched.entry, fetched.robots.access
    about: dict[str, Any] = {
        "site": str(fetched.origin),
        "access": access.value,
        "status": entry.status,
        "url": entry.url,
        "hops": list(entry.hops),
        "problem": fetched.problem or None,
        "fetched_at": datetime.fromtimestamp(entry.fetched_at, timezone.utc).isoformat(timespec="seconds"),
    }
    if access is not Access.SUCCESSFUL:
        return SiteRecord(**about)
    file = writer.keep(fetched.origin, entry.body)
    return measure(body=entry.body, dialect=parsed.dialect, limit=parsed.max_size, file=file, **about)
