"""Measure the robots.txt of many sites: a row for each, and a report.

    scrapy robots survey SITE… [--from-file FILE] [--out DIR [--resume | --overwrite]]
    scrapy robots survey --files DIR [--date DATE] | --warc PATH… | --captures PATH… | --rows PATH…
    scrapy robots survey --compare PATH PATH… [--out DIR]

SITE is an origin, any URL of it, or a bare host; FILE lists one per line, - is standard input. FILE may be CSV:
--by splits the tables by one of its columns. Each robots.txt is fetched once, CONCURRENT_REQUESTS at a time, as in
a crawl of the project. Instead, --files reads the files in a folder, --warc and --captures the captures in WARC
files and in Parquet, of each site the newest, and --rows the rows that Spark wrote; FILE says which sites count.
The --out folder gets survey.jsonl, survey.html and, when files were fetched, files/; --csv and --parquet add
tables. --compare shows in compare.html what changed between surveys, in folders or in Parquet.
Ctrl-C ends the survey with a report on what has arrived; --resume continues it, --overwrite starts again.
Exits with 0, or 2 when the survey could not be completed. Needs Jinja2: pip install 'scrapy_rep[report]'.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import datetime, timezone
from functools import partial
from importlib.util import find_spec
from itertools import chain, compress, repeat
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from scrapy_rep.census import Capture, Row, rows
from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.display import number_of
from scrapy_rep.settings import RepSettings
from scrapy_rep.tools.processes import in_background, map_in_processes
from scrapy_rep.tools.survey.folder import SurveyFolder
from scrapy_rep.tools.survey.inputs import (
    WITHOUT,
    Files,
    ParquetRows,
    parquet_captures,
    surveys_in,
    warc_captures,
)
from scrapy_rep.tools.survey.site_list import SiteCounts

from . import OK
from .inputs import WITHOUT_JINJA2, InputError
from .surveying import Surveying
from .terminal import print_error

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from .fetching import FetchedRobots

_FOLDER: Final = "robots-survey"
_WORTH_PROCESSES: Final = 200  # files or captures
_HOSTS_WORTH_PROCESSES: Final = 100
_INPUTS: Final = ("files", "warc", "captures", "rows")
_OWNERS: Final = {"date": ("files",), "warc_list": ("warc",), "all": ("warc", "captures")}
"""Which inputs an option is for."""

_NOT_COMPARED: Final = (
    "sites", "from_file", "warc_list", "date", "all", "light", "by", "csv", "parquet", "resume", "overwrite"
)  # fmt: skip


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    add = parser.add_argument
    add("sites", nargs="*", metavar="SITE", help="an origin, a URL of it, or a host")
    add("--from-file", metavar="FILE", help="more sites, one per line, with other columns; - is standard input")
    read = parser.add_mutually_exclusive_group().add_argument
    read("--files", metavar="DIR", help="read the files in this folder, fetch nothing")
    read("--warc", metavar="PATH", nargs="+", help="read the captures in these WARC files, - is standard input")
    read("--captures", metavar="PATH", nargs="+", help="read the captures in these Parquet files or folders")
    read("--rows", metavar="PATH", nargs="+", help="make the report of the rows in these Parquet files or folders")
    read("--compare", metavar="PATH", nargs="+", help="compare the surveys in these folders or Parquet files")
    add("--warc-list", metavar="FILE", action="append", default=[], help="more paths for --warc, one per line")
    add("--date", metavar="DATE", help="when the files of --files were captured, such as 2026-11-24")
    add("--all", action="store_true", help="measure every capture, not only the newest of each site")
    add("--light", action="store_true", help="leave out the linter")
    add("--by", metavar="COLUMN", help="split all tables by tld, or by this column of --from-file")
    add("--out", metavar="DIR", help=f"folder to write to (default: {_FOLDER}; with --compare the last PATH)")
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
        if arguments.compare:
            return _compare(arguments, out)
        given = _check(arguments)
        parsed = RepSettings.from_settings(settings)
        return _survey_input(arguments, parsed, out) if given else _survey_sites(arguments, settings, parsed, out)
    except (InputError, InvalidSettingError, ValueError) as error:
        return print_error("survey", error)
    except ModuleNotFoundError as error:
        library = str(error.name).partition(".")[0]
        if library not in WITHOUT:
            raise
        return print_error("survey", WITHOUT[library])
    except KeyboardInterrupt:
        return print_error("survey", "interrupted before there was a report; --resume continues it")
    except OSError as error:
        return print_error("survey", f"{error.filename or arguments.out}: {error.strerror or error}")


def _check(arguments: Namespace) -> str:
    """Return the option that names what is read, if one is given.

    Raises `InputError` for options that do not go together, and for a library that is missing.
    """
    arguments.out = arguments.out or _FOLDER
    if arguments.warc_list and not any(getattr(arguments, name) for name in _INPUTS):
        arguments.warc = []
    given = next((name for name in _INPUTS if getattr(arguments, name) is not None), "")
    if given and arguments.sites:
        raise InputError(f"--{given} reads what was captured before: do not name sites as well")
    for option, owners in _OWNERS.items():
        if getattr(arguments, option) and given not in owners:
            raise InputError(
                f"--{option.replace('_', '-')} is for {' and '.join(f'--{owner}' for owner in owners)}"
            )
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
    from scrapy_rep.tools.survey.comparison_report import comparison_report  # noqa: PLC0415  # Jinja2 is an extra

    page, found = comparison_report(surveys, datetime.now().astimezone())
    last = Path(arguments.compare[-1])
    path = Path(arguments.out or (last if last.is_dir() else last.parent)) / "compare.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    both = "both surveys" if len(surveys) == 2 else "the first and the last survey"
    out.write(f"{found.summary(both)}\n{path}\n")
    return OK


def _survey_sites(arguments: Namespace, settings: BaseSettings, parsed: RepSettings, out: IO[str]) -> int:
    survey = Surveying(arguments)
    sites = survey.sites or ()
    chosen = survey.choose(sites)
    origins = map(Origin.from_url, compress(sites, chosen))

    def fetch_all() -> None:
        from .fetching import fetch_each  # noqa: PLC0415  # loads a whole crawl, which files do not need

        if not any(chosen):
            return
        processes = None if sum(chosen) >= _HOSTS_WORTH_PROCESSES else 0
        with in_background(_measure(arguments, parsed), survey.add, processes=processes) as measure_soon:
            fetch_each(origins, settings, lambda fetched: measure_soon(_captured(fetched, survey.folder)))

    return survey.run(out, fetch_all)


def _captured(fetched: FetchedRobots, to: SurveyFolder) -> tuple[Capture, str | None]:
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
    )
    return capture, to.save_body(fetched.origin, entry.body) if is_there else None


def _survey_input(arguments: Namespace, parsed: RepSettings, out: IO[str]) -> int:
    survey, measure = Surveying(arguments), _measure(arguments, parsed)
    with ExitStack() as stack:
        if arguments.files:
            found = _rows_of_files(Files(Path(arguments.files), _date(arguments.date)), survey, measure)
        elif arguments.rows:
            found = _rows_of_parquet(arguments.rows, survey)
        else:
            found = _rows_of_captures(arguments, survey, measure, stack)
        return survey.run(out, lambda: survey.add_all(found))


def _rows_of_files(files: Files, survey: Surveying, measure: _Measure) -> Iterator[Row]:
    earlier = SiteCounts()

    def sites() -> Iterator[str]:
        for path in files.paths():
            problem, site = files.problem(path), files.site(path)
            if not problem and not earlier.is_new(site):
                problem = f"{path}: {site} has another file, which counts"
            if problem:
                survey.invalid(problem)
            yield "" if problem else site

    paths = compress(files.paths(), survey.choose(sites()))
    return map_in_processes(partial(_measure_file, files, survey.out, measure), paths, worth_it=_WORTH_PROCESSES)


def _rows_of_captures(
    arguments: Namespace, survey: Surveying, measure: _Measure, stack: ExitStack
) -> Iterator[Row]:
    if arguments.captures:
        captures = parquet_captures(arguments.captures)
    else:
        captures = warc_captures(arguments.warc, arguments.warc_list, stack)
    number = captures.choose(survey.is_wanted, every=arguments.all, seen=survey.seen)
    if captures.skipped:
        print_error("survey", f"{number_of(captures.skipped, 'record', 'records')} of a robots.txt cannot be read")
    survey.expect(number)
    found = map_in_processes(measure, zip(captures, repeat(None)), worth_it=_WORTH_PROCESSES)
    return captures.with_damage(found)


def _rows_of_parquet(paths: Sequence[str], survey: Surveying) -> Iterator[Row]:
    tables = [ParquetRows(Path(path)) for path in paths]
    chosen = survey.choose(chain.from_iterable(table.sites() for table in tables))
    return compress(chain.from_iterable(table.rows() for table in tables), chosen)


_Measure = Callable[[tuple[Capture, str | None]], Row]


def _measure(arguments: Namespace, parsed: RepSettings) -> _Measure:
    """What makes a row of a capture and the name of the file that has its body, if any; picklable."""
    return partial(_row_of, partial(rows, dialect=parsed.dialect, limit=parsed.max_size, light=arguments.light))


def _row_of(census: Callable[..., Iterator[dict[str, Any]]], captured: tuple[Capture, str | None]) -> Row:
    capture, file = captured
    return Row(**next(census([capture])) | {"file": file})


def _measure_file(files: Files, out: str, measure: _Measure, path: Path) -> Row:
    try:
        name = os.path.relpath(path, out)
    except ValueError:  # another drive
        name = os.path.abspath(path)
    return measure((files.capture(path), name))


def _date(text: str | None) -> datetime | None:
    """The date in ISO 8601 in *text*, by UTC unless it says otherwise. Raises `InputError`."""
    try:
        when = datetime.fromisoformat(text.replace("Z", "+00:00")) if text else None
        return when and (when if when.tzinfo else when.replace(tzinfo=timezone.utc)).astimezone(timezone.utc)
    except (OverflowError, ValueError):
        raise InputError(f"--date takes a date such as 2026-11-24, not {text}") from None
