"""A survey under way, whatever it reads: which sites are left, the rows as they come, progress, and the report."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import IO, Final

from scrapy_rep.census.row import Row
from scrapy_rep.tools.survey import folder
from scrapy_rep.tools.survey.folder import SurveyFolder
from scrapy_rep.tools.survey.site_list import SiteCounts, SiteList
from scrapy_rep.tools.survey.totals import TLD, Totals

from . import FAILED, OK
from .inputs import InputError, numbered_lines, origin_of
from .terminal import Progress, Speed, print_error

_MOST_NAMED: Final = 10  # lines and files that are invalid


class Surveying:
    """Writes the rows of a survey, adds them up, shows progress, and writes the report.

    ``sites`` are those that the command names, if it names any: others do not count.
    """

    def __init__(self, arguments: Namespace) -> None:
        """Raises `InputError`, and ``OSError`` for what cannot be read."""
        self.out = str(arguments.out)
        self.folder = SurveyFolder(Path(arguments.out))
        if self.folder.is_used and not (arguments.resume or arguments.overwrite):
            raise InputError(
                f"{arguments.out} contains a survey: --resume continues it, --overwrite replaces it, --out names"
                " another folder"
            )
        self._arguments = arguments
        self._totals, self._invalid, self._progress = Totals(), 0, Progress(sys.stderr)
        self._earlier = self._earlier_sites() if arguments.resume else None
        self._before = self._expected = self._totals.sites
        self.sites = self._listed() if arguments.sites or arguments.from_file else None
        self._by = (arguments.by or "").strip().lower()  # as the names of a list are kept
        self._check_column(self._by)

    def _earlier_sites(self) -> SiteCounts:
        earlier = SiteCounts()
        for row in self.folder.earlier_rows():
            self._totals.add(row)
            earlier.add(row.site)
        return earlier

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

    def _check_column(self, name: str) -> None:
        """Raise `InputError` where the column *name* is in no list; rows that Spark wrote may have any."""
        if name in ("", TLD) or self._arguments.rows or self._arguments.resume:
            return
        known = [TLD, *(self.sites.columns if self.sites is not None else ())]
        if name not in known:
            raise InputError(f"--by takes a column of the list of sites, not {name}: {', '.join(known)}")

    def invalid(self, problem: str) -> None:
        """Say what is wrong with a line that names no site, or with a file; it counts nowhere else."""
        self._invalid += 1
        if self._invalid <= _MOST_NAMED:
            print_error("survey", problem)

    def is_wanted(self, site: str) -> bool:
        """Whether a row of *site* is wanted: it is listed, if there is a list, and has no row of an earlier run.

        To be asked once for each row that could be made.
        """
        is_listed = self.sites is None or self.sites.strata(site) is not None
        is_measured = self._earlier is not None and self._earlier.take(site)  # whose length takes time to count
        return bool(site) and is_listed and not is_measured

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

    def seen(self, captures: int) -> None:
        """Show that *captures* have been looked at, to choose among them."""
        self._progress.show(f"{captures:,} captures found")

    def add(self, row: Row) -> None:
        """Write *row*, add it up, and show progress."""
        if self.sites is not None:
            row = replace(row, strata=self.sites.strata(row.site) or {})
        self.folder.add(row)
        self._totals.add(row)
        done = self._totals.sites - self._before
        if done % 16 == 0:
            speed = self._speed.text(done, done / max(self._expected - self._before, 1))
            self._progress.show(f"{self._counts()}, {speed}")

    def add_all(self, rows: Iterable[Row]) -> None:
        """Add each of *rows*."""
        for row in rows:
            self.add(row)

    def _counts(self) -> str:
        totals = self._totals
        invalid = f", {self._invalid:,} invalid" if self._invalid else ""
        return (
            f"{totals.sites:,} of {self._expected:,} sites, {totals.files:,} with a robots.txt,"
            f" {totals.unreachable:,} unreachable{invalid}"
        )

    def run(self, out: IO[str], survey: Callable[[], None]) -> int:
        """Run *survey* to its end or to Ctrl-C, and write the report; return the exit code.

        Files that turn out to be damaged are named, and their report is about the rest.
        """
        problem = None
        try:
            with suppress(KeyboardInterrupt):
                survey()
        except ValueError as error:
            problem = error
        self._progress.clear()
        self.folder.close()
        self._write()
        out.write(f"{self._counts()}\n{self.folder.page}\n")
        if problem:
            return print_error("survey", problem)
        return OK if self._totals.sites == self._expected else FAILED

    def _write(self) -> None:
        from scrapy_rep.tools.survey.report import report  # noqa: PLC0415  # Jinja2 is an extra

        to, now = self.folder, datetime.now().astimezone()
        page = report(self._totals, now, expected=self._expected, records=to.rows(), body=to.body, by=self._by)
        to.page.write_text(page, encoding="utf-8")
        if self._arguments.csv:
            folder.write_csv(to.rows(), to.page.with_suffix(".csv"))
        if self._arguments.parquet:
            from scrapy_rep.census import arrow  # noqa: PLC0415  # takes as long to load as all the rest

            schema = arrow.ROWS if self._totals.linted else arrow.LIGHT_ROWS
            arrow.write_parquet((row.as_dict() for row in to.rows()), to.page.with_suffix(".parquet"), schema)
