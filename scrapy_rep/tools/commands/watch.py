"""Fetch the robots.txt of sites again, and show which verdicts and signals changed since the last run.

LIST is a file with a site per line, - for standard input, or the URL of a single site. FILE keeps the last
robots.txt of each site; the first run creates it and reports nothing. Use one FILE per set of --agent and --path.
A change is a verdict for an agent on a path, a robots.txt that appeared or disappeared, a site that became
unreachable or reachable, a Crawl-delay, an AI signal, or a Sitemap line. Other changes of the text are not shown.

Prints a line per change; if several rules change for the same agents, only the first. --json prints one object
per change, all of them. Exits with 0 if nothing changed, 1 if something did, 2 if the command or a site failed.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from scrapy_rep.clock import clock
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.display import number_of, shown
from scrapy_rep.settings import RepSettings
from scrapy_rep.tools.crawlers import COMMON_AI_CRAWLERS
from scrapy_rep.tools.survey.site_list import SiteList
from scrapy_rep.tools.watch.changes import Watch
from scrapy_rep.tools.watch.copies import Copies, Copy

from . import FAILED, FOUND, OK
from .inputs import InputError, fetch_settings, is_url, numbered_lines, origin_of, token_of
from .parser import add_shared
from .terminal import Progress, Speed, paint, print_error

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from .fetching import FetchedRobots

_AGENTS: Final = ("*", "Googlebot", *COMMON_AI_CRAWLERS)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    parser.add_argument("list", metavar="LIST", help="a file with a site per line, - for standard input, or a URL")
    parser.add_argument("--store", metavar="FILE", required=True, help="where the robots.txt files are kept")
    agents = f"a product token or User-Agent header, may be repeated (default: {', '.join(_AGENTS)})"
    add_shared(parser, "--json", agent=agents)
    parser.add_argument(
        "--path",
        metavar="PATH",
        action="append",
        default=[],
        help="check this path, such as /shop/; repeatable (default: paths built from the rules)",
    )


def run(arguments: Namespace, settings: BaseSettings, out: IO[str]) -> int:
    """Run the command; return the exit code."""
    from .fetching import fetch_each  # noqa: PLC0415  # loads a whole crawl, which a wrong argument does not need

    parsed = RepSettings.from_settings(settings)
    if wrong := next((path for path in arguments.path if not path.startswith("/")), None):
        raise InputError(f"--path {shown(wrong)}: a path starts with /")
    agents = tuple(dict.fromkeys(map(token_of, arguments.agent or _AGENTS)))
    watch = Watch(agents, tuple(arguments.path), parsed.dialect, parsed.max_size)
    sites, code = _sites_of(arguments.list)
    try:
        with closing(Copies(Path(arguments.store))) as copies:
            comparison = _SiteComparison(watch, copies, len(sites))
            fetch_each(map(Origin.from_url, sites), fetch_settings(settings, watch.limit), comparison.take)
            if comparison.count < len(sites):
                raise KeyboardInterrupt
            code = max(code, comparison.tell(sites, out, as_json=arguments.json))
            out.flush()
            copies.commit()  # last, so that a run that breaks off tells the same changes again
    except KeyboardInterrupt:
        raise InputError("interrupted: nothing was stored") from None
    return code


def _sites_of(name: str) -> tuple[SiteList, int]:
    """The sites in the file called *name*, or the site at this URL, and the exit code for lines that name none.

    Raises `InputError`.
    """
    sites, code = SiteList(), OK
    if is_url(name):
        sites.add(origin_of(name))
        return sites, code
    try:
        for number, problem in sites.read(numbered_lines(name), origin_of):
            code = print_error("watch", f"{name}:{number}: {problem}")
    except ValueError as error:
        raise InputError(f"{name}: {error}") from None
    if not len(sites):
        raise InputError(f"{'standard input' if name == '-' else name} contains no site")
    return sites, code


class _SiteComparison:
    """Asks the old and the new robots.txt of each site what the *watch* asks; *copies* has the old ones."""

    def __init__(self, watch: Watch, copies: Copies, expected: int) -> None:
        self.count = 0
        self._watch, self._copies, self._expected = watch, copies, expected
        # Compared at the end: the rules of a large file would hold up what is still being fetched.
        self._pairs: dict[str, tuple[Copy, Copy]] = {}
        self._first: set[str] = set()
        self._never_read: dict[str, str] = {}  # why, by site
        self._progress = Progress(sys.stderr, is_logged=False)  # cron would send a mail
        self._speed = Speed()

    def take(self, fetched: FetchedRobots) -> None:
        """Keep what was *fetched* in place of the copy of its site, and both if they differ."""
        entry, access, site = fetched.entry, fetched.robots.access, str(fetched.origin)
        problem = fetched.problem if access is Access.UNREACHABLE else ""
        body = entry.body[: self._watch.limit] if access is Access.SUCCESSFUL else None
        new, old = Copy(entry.status, clock.time(), problem, body), self._copies.get(site)
        if old is None and problem:
            self._never_read[site] = problem
        elif old is None:
            self._first.add(site)
            self._copies.store(site, new)
        else:
            if (old.problem, old.body) != (new.problem, new.body):
                self._pairs[site] = old, new
            self._copies.store(site, replace(old, problem=problem) if problem else new)
        self.count += 1
        rate = self._speed.text(self.count, self.count / self._expected)
        self._progress.show(f"{self.count:,} of {self._expected:,} sites fetched, {rate}")

    def tell(self, sites: SiteList, out: IO[str], *, as_json: bool) -> int:
        """Print what changed at each of *sites*, in their order; return the exit code."""
        self._progress.clear()
        changed = 0
        for site in sites:
            changes = [*self._watch.changes(site, *self._pairs[site])] if site in self._pairs else []
            changed += bool(changes)
            if as_json:
                out.writelines(f"{json.dumps(change.as_facts())}\n" for change in changes)
            else:
                sentences = self._watch.sentences(changes)
                out.writelines(f"{paint(site, 'strong', out)}: {sentence}\n" for sentence in sentences)
            if problem := self._never_read.get(site):
                out.flush()
                print_error("watch", f"{site} is unreachable: {problem}; no copy of its robots.txt is stored")
        if self._first:
            sites_stored = number_of(len(self._first), "site", "sites")
            self._progress.note(f"{sites_stored} stored for the first time: the next run compares")
        if sys.stderr.isatty():
            self._progress.note(f"{changed:,} of {number_of(self.count, 'site', 'sites')} changed")
        return FAILED if self._never_read else FOUND if changed else OK
