"""Measure the robots.txt of many sites: a record of each, and a report.

    scrapy robots survey SITE… [--from-file FILE] [--out DIR [--resume | --overwrite]]
    scrapy robots survey --files DIR [--out DIR [--resume | --overwrite]]

SITE is an origin, any URL of it, or a bare host; FILE lists one per line (or rank,host), - is standard input.
Each robots.txt is fetched once, CONCURRENT_REQUESTS at a time, as in a crawl of the project. --files reads the
files in a folder instead. The --out folder gets survey.jsonl, survey.html and, when files were fetched, files/;
--csv and --parquet add the records as a table. --compare shows what changed between the surveys in two folders,
and who newly shuts out whom, in compare.html.
Ctrl-C ends the survey with a report on what has arrived; --resume continues it, --overwrite starts again.
Exits with 0, or 2 when the survey could not be completed. Needs Jinja2: pip install 'scrapy_rep[report]'.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar

from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.display import number_of
from scrapy_rep.settings import RepSettings
from scrapy_rep.tools.answers import time_fact
from scrapy_rep.tools.files import binary_kind_at, files_in
from scrapy_rep.tools.processes import in_background
from scrapy_rep.tools.survey import UNREACHABLE, SiteRecord, folder
from scrapy_rep.tools.survey.folder import SurveyFolder, can_write_parquet
from scrapy_rep.tools.survey.measure import measure
from scrapy_rep.tools.survey.totals import Totals

from . import FAILED, OK
from .inputs import WITHOUT_JINJA2, InputError, numbered_lines, origin_of
from .terminal import Pace, Progress, print_error

try:
    from scrapy_rep.tools.survey.comparison_report import comparison_report
    from scrapy_rep.tools.survey.report import report
except ModuleNotFoundError as error:
    if error.name != "jinja2":
        raise
    report = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from .fetching import Fetched

T = TypeVar("T")

_FOLDER: Final = "robots-survey"
_HOSTS_WORTH_PROCESSES: Final = 100
_MOST_NAMED: Final = 10  # lines and files that are invalid


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    add = parser.add_argument
    add("sites", nargs="*", metavar="SITE", help="an origin, a URL of it, or a host")
    add("--from-file", metavar="FILE", help="more sites, one per line; - is standard input")
    add("--files", metavar="DIR", help="read the files in this folder, fetch nothing")
    comparing = "compare the surveys in these folders, fetch nothing"
    add("--compare", nargs=2, metavar=("OLD", "NEW"), help=comparing)
    add("--out", metavar="DIR", help=f"folder to write to (default: {_FOLDER}; with --compare the folder NEW)")
    add("--csv", action="store_true", help="write the records to survey.csv too")
    add("--parquet", action="store_true", help="write the records to survey.parquet too")
    add = parser.add_mutually_exclusive_group().add_argument
    add("--resume", action="store_true", help="continue the survey in the --out folder: skip the sites it has")
    add("--overwrite", action="store_true", help="replace the survey in the --out folder")


def run(arguments: Namespace, settings: BaseSettings, out: IO[str]) -> int:
    """Run the command; return the exit code."""
    try:
        if report is None:
            raise InputError(WITHOUT_JINJA2)
        if arguments.compare:
            return _compare(arguments, out)
        if arguments.parquet and not can_write_parquet():
            raise InputError(folder.WITHOUT_PYARROW)
        arguments.out = arguments.out or _FOLDER
        parsed = RepSettings.from_settings(settings)
        if not arguments.files:
            return _survey_sites(arguments, settings, parsed, out)
        if arguments.sites or arguments.from_file:
            raise InputError("--files reads a folder: do not name sites as well")
        return _survey_files(arguments, parsed, out)
    except (InputError, InvalidSettingError) as error:
        return print_error("survey", error)
    except OSError as error:
        return print_error("survey", f"{error.filename or arguments.out}: {error.strerror or error}")


def _compare(arguments: Namespace, out: IO[str]) -> int:
    others = (arguments.sites, arguments.from_file, arguments.files, arguments.resume, arguments.overwrite)
    if any((*others, arguments.csv, arguments.parquet)):
        raise InputError("--compare takes two folders: the only other option is --out")
    old, new = (SurveyFolder(Path(name)) for name in arguments.compare)
    try:
        page, found = comparison_report(old, new, datetime.now().astimezone())
    except ValueError as error:
        raise InputError(str(error)) from None
    path = Path(arguments.out or arguments.compare[1]) / "compare.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    out.write(
        f"{number_of(found.in_both, 'site', 'sites')} in both surveys, {found.changed:,} changed,"
        f" {found.shutting_out:,} newly shut out a crawler, {found.letting_in:,} no longer shut one out\n{path}\n"
    )
    return OK


def _survey_files(arguments: Namespace, parsed: RepSettings, out: IO[str]) -> int:
    files = Path(arguments.files)
    found = (path for path in files_in(files) if not path.name.startswith("."))
    kinds = {path: binary_kind_at(path) for path in found}
    paths = [path for path, kind in kinds.items() if not kind]
    invalid = [f"{path}: {kind}, not plain text" for path, kind in kinds.items() if kind]
    survey = _Survey(arguments, len(paths), invalid)
    left = survey.without_earlier(paths, lambda path: folder.site_of(files, path))
    records = folder.measure_files(files, left, arguments.out, parsed.dialect, parsed.max_size)
    return survey.run(out, lambda: survey.add_all(records))


def _survey_sites(arguments: Namespace, settings: BaseSettings, parsed: RepSettings, out: IO[str]) -> int:
    origins, invalid = _origins(arguments)
    survey = _Survey(arguments, len(origins), invalid)
    origins = survey.without_earlier(origins, str)

    def fetch_all() -> None:
        from .fetching import fetch_each  # noqa: PLC0415  # loads a whole crawl, which files do not need

        if not origins:
            return
        processes = None if len(origins) >= _HOSTS_WORTH_PROCESSES else 0
        with in_background(_measure, survey.add, processes=processes) as measure_soon:
            fetch_each(origins, settings, lambda fetched: measure_soon(_captured(fetched, parsed, survey.folder)))

    return survey.run(out, fetch_all)


def _origins(arguments: Namespace) -> tuple[list[Origin], list[str]]:
    """Return the origins to fetch, each once, and what is wrong with the others, with their lines."""
    lines = numbered_lines(arguments.from_file) if arguments.from_file else ()
    listed = ((number, line.rpartition(",")[2].strip()) for number, line in lines if line[0] != "#")
    origins: dict[Origin, None] = {}
    invalid = []
    for number, site in chain(((0, site) for site in arguments.sites), listed):
        try:
            origins[origin_of(site)] = None
        except InputError as error:  # noqa: PERF203
            invalid.append(f"{arguments.from_file}:{number}: {error}" if number else str(error))
    return [*origins], invalid


def _captured(fetched: Fetched, parsed: RepSettings, to: SurveyFolder) -> dict[str, Any]:
    """The arguments of `measure`; a robots.txt is saved in the folder *to*."""
    entry, access = fetched.entry, fetched.robots.access
    is_there = access is Access.SUCCESSFUL
    return {
        "site": str(fetched.origin),
        "body": entry.body if is_there else None,
        "dialect": parsed.dialect,
        "limit": parsed.max_size,
        "access": access.value,
        "status": entry.status,
        "url": entry.url,
        "hops": list(entry.hops),
        "problem": fetched.problem or None,
        "fetched_at": time_fact(entry.fetched_at),
        "file": to.save_body(fetched.origin, entry.body) if is_there else None,
    }


def _measure(arguments: dict[str, Any]) -> SiteRecord:
    return measure(**arguments)


class _Survey:
    """A survey under way: writes the records, adds them up, shows progress, and writes the report.

    *invalid* says what is wrong with lines that name no site, and with binary files; they count nowhere else.
    """

    def __init__(self, arguments: Namespace, sites: int, invalid: Sequence[str]) -> None:
        for problem in invalid[:_MOST_NAMED]:
            print_error("survey", problem)
        if len(invalid) > _MOST_NAMED:
            print_error("survey", f"{len(invalid) - _MOST_NAMED:,} more are invalid")
        if not sites:
            raise InputError("nothing to survey: name sites, --from-file or --files")
        self.folder = SurveyFolder(Path(arguments.out))
        if self.folder.is_used and not (arguments.resume or arguments.overwrite):
            raise InputError(
                f"{arguments.out} contains a survey: --resume continues it, --overwrite replaces it, --out names"
                " another folder"
            )
        self._arguments = arguments
        self._totals, self._invalid = Totals(), len(invalid)
        self._earlier: Counter[str] = Counter()
        if arguments.resume:
            self._add_earlier()
        self.folder.open(append=arguments.resume)
        self._expected = self._before = self._totals.sites
        self._pace, self._progress = Pace(), Progress(sys.stderr)

    def _add_earlier(self) -> None:
        try:
            for record in self.folder.earlier_records():
                self._totals.add(record)
                self._earlier[record.site] += 1
        except ValueError as error:
            raise InputError(str(error)) from None

    def without_earlier(self, subjects: Iterable[T], site: Callable[[T], str]) -> list[T]:
        """Return, and expect, those of *subjects* whose *site* has no record from an earlier run."""
        left = []
        for subject in subjects:
            name = site(subject)
            if self._earlier[name]:
                self._earlier[name] -= 1
            else:
                left.append(subject)
        self._expected += len(left)
        return left

    def add(self, record: SiteRecord) -> None:
        """Write *record*, add it up, and show progress."""
        self.folder.add(record)
        self._totals.add(record)
        done = self._totals.sites - self._before
        pace = self._pace.text(done, done / max(self._expected - self._before, 1))
        self._progress.show(f"{self._counts()}, {pace}")

    def add_all(self, records: Iterable[SiteRecord]) -> None:
        """Add each of *records*."""
        for record in records:
            self.add(record)

    def _counts(self) -> str:
        totals = self._totals
        invalid = f", {self._invalid:,} invalid" if self._invalid else ""
        return (
            f"{totals.sites:,} of {self._expected:,} sites, {totals.files:,} with a robots.txt,"
            f" {totals.traits['serves', UNREACHABLE]:,} unreachable{invalid}"
        )

    def run(self, out: IO[str], survey: Callable[[], None]) -> int:
        """Run *survey* to its end or to Ctrl-C, and write the report; return the exit code."""
        with suppress(KeyboardInterrupt):
            survey()
        totals, to = self._totals, self.folder
        self._progress.clear()
        to.close()
        now = datetime.now().astimezone()
        page = report(totals, now, expected=self._expected, records=to.records(), body=to.body)
        to.page.write_text(page, encoding="utf-8")
        if self._arguments.csv:
            folder.write_csv(to.records(), to.page.with_suffix(".csv"))
        if self._arguments.parquet:
            folder.write_parquet(to.records(), to.page.with_suffix(".parquet"))
        out.write(f"{self._counts()}\n{to.page}\n")
        return OK if totals.sites == self._expected else FAILED
