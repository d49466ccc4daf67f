"""Measure the robots.txt of many sites: a row for each, and a report.

    scrapy robots survey SITE… [--from-file FILE] [--out DIR [--resume | --overwrite]]
    scrapy robots survey --files DIR | --warc PATH… | --rows PATH…
    scrapy robots survey --dates DIR | --compare PATH PATH… [--out DIR]

SITE is an origin, any URL of it, or a bare host; FILE lists one per line, perhaps with other columns as CSV, - is
standard input. Each robots.txt is fetched once, CONCURRENT_REQUESTS at a time, as in a crawl of the project.
Instead, --files reads the files in a folder, --warc the captures in WARC files, of each site the newest, and
--rows the rows that Spark wrote; FILE says which sites count.
The --out folder gets survey.jsonl, survey.html and, when files were fetched, files/; --csv and --parquet add
tables. --dates reads a folder or WARC files for each date, such as 2026-11-24, writes the rows of all dates, and
shows in compare.html and compare.csv what changed. --compare shows that for surveys, in folders or in Parquet.
Ctrl-C ends the survey with a report on what has arrived; --resume continues it, --overwrite starts again.
Exits with 0, or 2 when the survey could not be completed. Needs Jinja2: pip install 'scrapy_rep[report]'.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from importlib.util import find_spec
from itertools import chain, compress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Union

from scrapy_rep.census import Capture, Row, row_of
from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.display import number_of
from scrapy_rep.settings import RepSettings
from scrapy_rep.tools.processes import in_processes, map_in_processes
from scrapy_rep.tools.survey import folder
from scrapy_rep.tools.survey.folder import SurveyFolder
from scrapy_rep.tools.survey.inputs import (
    PATHS_AT_ONCE,
    WITHOUT,
    WORTH_PROCESSES,
    Captured,
    Files,
    FileToRead,
    ParquetRows,
    Survey,
    WarcCaptures,
    dates_in,
    rows_of_date,
    surveys_in,
)
from scrapy_rep.tools.survey.site_list import SiteList, Sites
from scrapy_rep.tools.survey.totals import Totals

from . import FAILED, OK
from .inputs import WITHOUT_JINJA2, InputError, numbered_lines, origin_of
from .terminal import Progress, Speed, print_error

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from scrapy_rep.tools.page import ItemDetails
    from scrapy_rep.tools.survey.joined import ComparedSurvey

    from .fetching import FetchedRobots

Measure = Callable[["Captured | FileToRead"], Row]
_Found = Union[Row, "tuple[Row, ItemDetails]"]
_FOLDER: Final = "robots-survey"
_INPUTS: Final = ("files", "warc", "dates", "rows")
_NOT_COMPARED: Final = ("sites", "from_file", "light", "csv", "parquet", "resume", "overwrite")


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    add = parser.add_argument
    add("sites", nargs="*", metavar="SITE", help="an origin, a URL of it, or a host")
    add("--from-file", metavar="FILE", help="more sites, one per line, with other columns; - is standard input")
    read = parser.add_mutually_exclusive_group().add_argument
    read("--files", metavar="DIR", help="read the files in this folder, fetch nothing")
    read("--warc", metavar="PATH", nargs="+", help="read the captures in these WARC files")
    read("--dates", metavar="DIR", help="read and compare the dated folders and WARC files in this folder")
    read("--rows", metavar="PATH", nargs="+", help="make the report of the rows in these Parquet files or folders")
    read("--compare", metavar="PATH", nargs="+", help="compare the surveys in these folders and Parquet files")
    add("--light", action="store_true", help="leave out the linter")
    add("--out", metavar="DIR", default=_FOLDER, help=f"folder to write to (default: {_FOLDER})")
    add("--csv", action="store_true", help="write the rows to survey.csv too")
    add("--parquet", action="store_true", help="write the rows to survey.parquet too")
    add = parser.add_mutually_exclusive_group().add_argument
    add("--resume", action="store_true", help="continue the survey in the --out folder: skip the sites it has")
    add("--overwrite", action="store_true", help="replace the survey in the --out folder")


def run(arguments: Namespace, settings: BaseSettings, out: IO[str]) -> int:
    """Run the command; return the exit code."""
    try:
        if not find_spec("jinja2"):
            raise InputError(WITHOUT_JINJA2)
        parsed = RepSettings.from_settings(settings)
        if arguments.compare:
            return _compare(arguments, out)
        given = _check(arguments)
        if given == "dates":
            return _survey_dates(arguments, parsed, out)
        return _survey_input(arguments, parsed, out) if given else _survey_sites(arguments, settings, parsed, out)
    except (InputError, InvalidSettingError, ValueError) as error:
        return print_error("survey", error)
    except ModuleNotFoundError as error:
        library = str(error.name).partition(".")[0]
        if library not in WITHOUT:
            raise
        return print_error("survey", WITHOUT[library])
    except KeyboardInterrupt:
        hint = "" if arguments.dates else "; --resume continues it"
        return print_error("survey", f"interrupted before there was a report{hint}")
    except OSError as error:
        return print_error("survey", f"{error.filename or arguments.out}: {error.strerror or error}")


def _check(arguments: Namespace) -> str:
    """Return the option that names what is read, if one is given.

    Raises `InputError` for options that do not go together, and for a library that is missing.
    """
    given = next((name for name in _INPUTS if getattr(arguments, name)), "")
    if given and arguments.sites:
        raise InputError(f"--{given} reads what was captured before: do not name sites as well")
    if arguments.resume and given == "dates":
        raise InputError("--dates reads all dates: --overwrite replaces the survey, --out names another folder")
    if arguments.light and given == "rows":
        raise InputError("--rows reads what was measured before: omit --light")
    if arguments.parquet and not find_spec("pyarrow"):
        raise InputError(WITHOUT["pyarrow"])
    return given


def _compare(arguments: Namespace, out: IO[str]) -> int:
    if other := next((name for name in _NOT_COMPARED if getattr(arguments, name)), ""):
        what = "sites" if other == "sites" else f"--{other.replace('_', '-')}"
        raise InputError(f"--compare reads surveys that there are: omit {what}; --out says where to write")
    surveys = [survey for path in arguments.compare for survey in surveys_in(Path(path))]
    if len(surveys) < 2:
        raise InputError(f"--compare takes two or more surveys: name another one beside {arguments.compare[0]}")
    return _write_comparison(surveys, Path(arguments.out), out)


def _write_comparison(surveys: Sequence[ComparedSurvey], to: Path, out: IO[str]) -> int:
    from scrapy_rep.tools.survey.comparison_report import write_comparison  # noqa: PLC0415  # Jinja2 is an extra

    page = to / "compare.html"
    found = write_comparison(surveys, datetime.now().astimezone(), page)
    out.write(f"{found.summary()}\n{page}\n{page.with_suffix('.csv')}\n")
    return OK


def _survey_dates(arguments: Namespace, parsed: RepSettings, out: IO[str]) -> int:
    survey, dates = _Survey(arguments), dates_in(Path(arguments.dates))
    measure = _measure(arguments, parsed)
    with in_processes(measure, worth_it=WORTH_PROCESSES, batch=PATHS_AT_ONCE) as run:
        surveys = [
            Survey(date, partial(survey.dated, rows_of_date(date, paths, run, survey.out, survey.damaged), date))
            for date, paths in dates.items()
        ]
        return survey.compare(surveys, out)


def _survey_sites(arguments: Namespace, settings: BaseSettings, parsed: RepSettings, out: IO[str]) -> int:
    survey = _Survey(arguments)
    sites = survey.sites or ()
    chosen = survey.choose(sites)
    origins = map(Origin.from_url, compress(sites, chosen))

    def fetch_all() -> None:
        from .fetching import fetch_each  # noqa: PLC0415  # loads a whole crawl, which files do not need

        if not any(chosen):
            return
        measure = survey.listing(_measure(arguments, parsed))
        fetch_each(origins, settings, lambda one: survey.add(measure(_captured(one, survey.folder))))

    return survey.run(out, fetch_all)


def _captured(fetched: FetchedRobots, to: SurveyFolder) -> Captured:
    """What was fetched, and where its body is saved in the folder *to*."""
    entry, access = fetched.entry, fetched.robots.access
    is_there = access is Access.SUCCESSFUL
    capture = Capture(
        fetched.origin.robots_url,
        entry.status,
        entry.body if is_there else None,
        datetime.fromtimestamp(entry.fetched_at, timezone.utc),
        problem=fetched.problem or None,
        hops=entry.hops,
        access=access,
        refused=str(fetched.refusal) if fetched.refusal else None,
    )
    return Captured(capture, to.save_body(fetched.origin, entry.body) if is_there else None)


def _survey_input(arguments: Namespace, parsed: RepSettings, out: IO[str]) -> int:
    survey, measure = _Survey(arguments), _measure(arguments, parsed)
    if arguments.files:
        found = _rows_of_files(Files(Path(arguments.files)), survey, measure)
    elif arguments.warc:
        found = _rows_of_captures(WarcCaptures(arguments.warc, survey.damaged), survey, measure)
    else:
        tables = [ParquetRows(Path(path)) for path in arguments.rows]
        chosen = survey.choose(chain.from_iterable(table.sites() for table in tables))
        found = compress(chain.from_iterable(table.rows() for table in tables), chosen)
    return survey.run(out, lambda: deque(map(survey.add, found), maxlen=0))


def _rows_of_files(files: Files, survey: _Survey, measure: Measure) -> Iterator[_Found]:
    earlier = Sites()

    def sites() -> Iterator[str]:
        for path in files.paths():
            problem, site = files.problem(path), files.site(path)
            if not problem and not earlier.is_new(site):
                problem = f"{path}: {site} has another file, which counts"
            if problem:
                survey.invalid(problem)
            yield "" if problem else site

    chosen = compress(files.paths(), survey.choose(sites()))
    found = (FileToRead(files, path, survey.out) for path in chosen)
    return map_in_processes(survey.listing(measure), found, worth_it=WORTH_PROCESSES, batch=PATHS_AT_ONCE)


def _rows_of_captures(captures: WarcCaptures, survey: _Survey, measure: Measure) -> Iterator[_Found]:
    number = captures.choose(survey.is_wanted)
    if captures.skipped:
        print_error("survey", f"{number_of(captures.skipped, 'record', 'records')} of a robots.txt cannot be read")
    survey.expect(number)
    return map_in_processes(survey.listing(measure), map(Captured, captures), worth_it=WORTH_PROCESSES)


def _measure(arguments: Namespace, parsed: RepSettings) -> Measure:
    """What makes a row of a capture or of a file; picklable."""
    return partial(_row_of, partial(row_of, dialect=parsed.dialect, limit=parsed.max_size, light=arguments.light))


def _row_of(census: Callable[..., Row], found: Captured | FileToRead) -> Row:
    capture, file, date = found.read()
    return census(capture, file=file, date=date)


def _listed(measure: Measure, found: Captured | FileToRead) -> tuple[Row, ItemDetails]:
    """The row, and its page in the report while its body is at hand."""
    from scrapy_rep.tools.survey.sites import site_item  # noqa: PLC0415  # Jinja2 is an extra

    captured = found.read()
    row = measure(captured)
    return row, site_item(row, captured.capture.body if captured.file else None)


# A survey under way, whatever it reads: which sites are left, the rows as they come, progress, and the report.

_MOST_NAMED: Final = 10  # lines and files that are invalid


class _Survey:
    """Writes the rows of a survey, adds them up, shows progress, and writes the report.

    ``sites`` are those that the command names, if it names any: others do not count.
    """

    def __init__(self, arguments: Namespace) -> None:
        """Raises `InputError`, and ``OSError`` for what cannot be read."""
        from scrapy_rep.tools.survey.sites import SiteExplorer  # noqa: PLC0415  # Jinja2 is an extra

        self.out = Path(arguments.out)
        self.folder = SurveyFolder(self.out)
        if self.folder.is_used and not (arguments.resume or arguments.overwrite):
            raise InputError(
                f"{arguments.out} contains a survey: --resume continues it, --overwrite replaces it, --out names"
                " another folder"
            )
        self._arguments = arguments
        self._totals, self._invalid, self._progress = Totals(), 0, Progress(sys.stderr)
        self._earlier, self._is_damaged = Sites(), False
        self._list = SiteExplorer()
        for row in self.folder.earlier_rows() if arguments.resume else ():
            self._count(row)
            self._earlier.is_new(row.site)
        self._before = self._expected = self._totals.sites
        self.sites = self._listed() if arguments.sites or arguments.from_file else None

    def _listed(self) -> SiteList:
        sites, name = SiteList(), self._arguments.from_file
        for site in self._arguments.sites:
            try:
                sites.add(origin_of(site))
            except InputError as error:  # noqa: PERF203
                self.invalid(str(error))
        for number, problem in sites.read(numbered_lines(name), origin_of) if name else ():
            self.invalid(f"{name}:{number}: {problem}")
        return sites

    def invalid(self, problem: str) -> None:
        """Say what is wrong with a line that names no site, or with a file; it counts nowhere else."""
        self._invalid += 1
        if self._invalid <= _MOST_NAMED:
            print_error("survey", problem)

    def damaged(self, error: ValueError) -> None:
        """Name a file that turned out to be damaged: the rest counts, and the exit code is 2."""
        self._is_damaged = True
        print_error("survey", error)

    def is_wanted(self, site: str) -> bool:
        """Whether a row of *site* is wanted: it is listed, if there is a list, and has no row yet.

        To be asked once for each row that could be made.
        """
        is_listed = self.sites is None or self.sites.strata(site) is not None
        return bool(site) and is_listed and self._earlier.is_new(site)

    def choose(self, sites: Iterable[str]) -> bytearray:
        """For each of *sites* an octet that is 1 if its row is wanted, and expect these rows."""
        chosen = bytearray(map(self.is_wanted, sites))
        self.expect(sum(chosen))
        return chosen

    def expect(self, number: int) -> None:
        """Expect *number* more rows, and begin. Raises `InputError` when there is none, now or before."""
        if self._invalid > _MOST_NAMED:
            print_error("survey", f"{self._invalid - _MOST_NAMED:,} more are invalid")
        self._expected += number
        if not self._expected:
            raise InputError("nothing to survey: no site is named, and no robots.txt is in what was read")
        self.folder.open(append=self._arguments.resume, sites=self._expected)
        self._speed = Speed()

    def listing(self, measure: Measure) -> Callable[[Captured | FileToRead], _Found]:
        """*measure*, which other processes do, with the page of each site if all are listed."""
        from scrapy_rep.tools.page import MOST_ITEMS  # noqa: PLC0415  # Jinja2 is an extra

        return partial(_listed, measure) if self._expected <= MOST_ITEMS else measure

    def _count(self, row: Row, item: ItemDetails | None = None) -> None:
        from scrapy_rep.tools.survey.sites import site_item  # noqa: PLC0415  # Jinja2 is an extra

        self._totals.add(row)
        if not self._list.is_full:
            self._list.add_site(row, item or site_item(row, self.folder.body(row)))

    def add(self, found: _Found) -> None:
        """Write the row that was *found*, add it up, and show progress."""
        row, item = found if isinstance(found, tuple) else (found, None)
        self._count(self._written(row), item)
        done = self._totals.sites - self._before
        if done % 16 == 0:
            speed = self._speed.text(done, done / max(self._expected - self._before, 1))
            self._progress.show(f"{self._counts()}, {speed}")

    def _written(self, row: Row) -> Row:
        if self.sites is not None:
            row = replace(row, strata=self.sites.strata(row.site) or {})
        self.folder.add(row)
        return row

    def dated(self, rows: Iterable[Row], date: str) -> Iterator[Row]:
        """Write those of *rows*, all of a *date*, that are wanted, and yield them."""
        self._earlier = Sites()  # each site has a row for each date
        self._progress.show(date)
        yield from map(self._written, (row for row in rows if self.is_wanted(row.site)))

    def compare(self, surveys: Sequence[Survey], out: IO[str]) -> int:
        """Write all rows of *surveys* and the comparison of them; return the exit code."""
        self.folder.open(append=False)
        code = _write_comparison(surveys, self.out, out)
        self._progress.clear()
        self.folder.close()
        self._write_tables(is_light=self._arguments.light)
        return FAILED if self._is_damaged else code

    def _counts(self) -> str:
        totals = self._totals
        invalid = f", {self._invalid:,} invalid" if self._invalid else ""
        return (
            f"{totals.sites:,} of {self._expected:,} sites, {totals.files:,} with a robots.txt,"
            f" {totals.unreachable:,} unreachable{invalid}"
        )

    def run(self, out: IO[str], survey: Callable[[], object]) -> int:
        """Run *survey* to its end or to Ctrl-C, and write the report; return the exit code."""
        try:
            with suppress(KeyboardInterrupt):
                survey()
        except ValueError as error:
            self.damaged(error)
        self._progress.clear()
        self.folder.close()
        self._write()
        out.write(f"{self._counts()}\n{self.folder.page}\n")
        return OK if self._totals.sites == self._expected and not self._is_damaged else FAILED

    def _write(self) -> None:
        from scrapy_rep.tools.survey.report import report  # noqa: PLC0415  # Jinja2 is an extra

        to, now = self.folder, datetime.now().astimezone()
        page = report(self._totals, now, expected=self._expected, sites=self._list)
        to.page.write_text(page, encoding="utf-8")
        self._write_tables(is_light=not self._totals.linted)

    def _write_tables(self, *, is_light: bool) -> None:
        to = self.folder
        if self._arguments.csv:
            folder.write_csv(to.rows(), to.page.with_suffix(".csv"))
        if self._arguments.parquet:
            from scrapy_rep.census import arrow  # noqa: PLC0415  # takes as long to load as all the rest

            schema = arrow.LIGHT_ROWS if is_light else arrow.ROWS
            arrow.write_parquet((row.as_dict() for row in to.rows()), to.page.with_suffix(".parquet"), schema)
