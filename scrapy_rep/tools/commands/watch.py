"""Fetch the robots.txt of sites again, and show what changed in meaning since the last run.

    scrapy robots watch LIST --store FILE [--agent TOKEN]… [--path PATH]… [--json] [--webhook URL]

LIST is a file with a site per line, - for standard input, or the URL of a single site. FILE keeps the
robots.txt of each site as it was last read; the first run creates it, and only stores. Keep one file for each
question. A change is a verdict on one of the paths to one of the agents, a robots.txt that is gone or new, a
site that is unreachable or reachable again, a Crawl-delay, a signal on the use by AI, or a Sitemap line.
Changes of the text alone are not shown. --agent may be repeated; the default is *, a crawler that no group
names, Googlebot and the common AI crawlers. --path may be repeated; by default paths are derived from the rules
of both files.
Prints nothing when nothing changed, else a line per change, and of many rules for the same agents only the
first; --json prints one object per change, of all. --webhook sends all changes in one JSON document. If it is
not accepted, FILE stays as it is, and the next run shows and sends the changes again.
Exits with 0 when nothing changed, 1 when something did, 2 when the command, or one of the sites, failed.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from contextlib import closing
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from scrapy_rep.clock import clock
from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.display import number_of, shown
from scrapy_rep.settings import RepSettings
from scrapy_rep.tools.answers import MOST, time_fact
from scrapy_rep.tools.crawlers import COMMON_AI_CRAWLERS
from scrapy_rep.tools.survey.site_list import SiteList
from scrapy_rep.tools.watch.changes import Change, Watch
from scrapy_rep.tools.watch.copies import Copies, Copy, UnusableFileError
from scrapy_rep.tools.watch.webhook import WebhookError, post, webhook_problem

from . import FOUND, OK
from .inputs import InputError, fetch_settings, is_url, numbered_lines, origin_of, token_of
from .terminal import Progress, Speed, paint, print_error

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from .fetching import FetchedRobots

_AGENTS: Final = ("*", "Googlebot", *COMMON_AI_CRAWLERS)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    parser.add_argument("list", metavar="LIST", help="a file with a site per line, - for standard input, or a URL")
    parser.add_argument("--store", metavar="FILE", required=True, help="where the robots.txt files are kept")
    parser.add_argument(
        "--agent",
        metavar="TOKEN",
        action="append",
        help=f"a product token or User-Agent header, may be repeated (default: {', '.join(_AGENTS)})",
    )
    parser.add_argument(
        "--path",
        metavar="PATH",
        action="append",
        default=[],
        help="ask about this path, such as /shop/, may be repeated (default: paths made of the rules)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per change")
    parser.add_argument("--webhook", metavar="URL", help="send the changes to this URL, if there are any")


def run(arguments: Namespace, settings: BaseSettings, out: IO[str]) -> int:
    """Run the command; return the exit code."""
    try:
        parsed = RepSettings.from_settings(settings)
        agents = tuple(dict.fromkeys(map(token_of, arguments.agent or _AGENTS)))
        if wrong := next((path for path in arguments.path if not path.startswith("/")), None):
            raise InputError(f"--path {shown(wrong)}: a path starts with /")
        watch = Watch(agents, tuple(arguments.path), parsed.dialect, parsed.max_size)
        if arguments.webhook and (problem := webhook_problem(arguments.webhook)):
            raise InputError(f"--webhook {problem}")
        watched = _WatchRun(watch, out, as_json=arguments.json)
        sites = watched.sites_of(arguments.list)
        with closing(Copies(Path(arguments.store))) as copies:
            watched.fetch(sites, settings, copies)
            watched.compare(sites, copies)
            out.flush()
            if arguments.webhook and watched.changes:
                post(arguments.webhook, watched.document())
            copies.commit()
        return watched.exit_code
    except KeyboardInterrupt:
        raise InputError("interrupted: nothing was stored") from None
    except WebhookError as error:
        raise InputError(f"--webhook: {error}. {arguments.store} was not updated: run watch again") from None
    except UnusableFileError as error:
        raise InputError(str(error)) from None


class _WatchRun:
    """Fetches the robots.txt of sites, asks the old and the new one of each what the *watch* asks.

    Prints and keeps the ``changes``, and the sentences about them, and keeps the exit code.
    """

    def __init__(self, watch: Watch, out: IO[str], *, as_json: bool) -> None:
        self.changes: list[Change] = []
        self.exit_code = OK
        self._lines: list[str] = []
        self._watch = watch
        self._out = out
        self._as_json = as_json
        self._sites = self._changed = 0
        self._progress = Progress(sys.stderr)
        self._is_watched = sys.stderr.isatty()  # by a person: cron would send a mail

    def sites_of(self, name: str) -> SiteList:
        """The sites in the file called *name*, or the site at this URL; invalid lines are named on standard error.

        Raises `InputError`.
        """
        sites = SiteList()
        if is_url(name):
            sites.add(origin_of(name))
            return sites
        try:
            for number, problem in sites.read(numbered_lines(name), origin_of):
                self._fail(f"{name}:{number}: {problem}")
        except ValueError as error:
            raise InputError(f"{name}: {error}") from None
        if not len(sites):
            raise InputError(f"{'standard input' if name == '-' else name} contains no site")
        return sites

    def fetch(self, sites: SiteList, settings: BaseSettings, copies: Copies) -> None:
        """Fetch the robots.txt of each of *sites* into *copies*. Raises ``KeyboardInterrupt`` if not all were."""
        from .fetching import fetch_each  # noqa: PLC0415  # loads a whole crawl, which a wrong argument does not need

        limit, speed, expected = self._watch.limit, Speed(), len(sites)

        def keep(fetched: FetchedRobots) -> None:
            entry, access = fetched.entry, fetched.robots.access
            problem = fetched.problem if access is Access.UNREACHABLE else ""
            body = entry.body[:limit] if access is Access.SUCCESSFUL else None
            copies.add_fetched(str(fetched.origin), Copy(entry.status, clock.time(), problem, body))
            self._sites += 1
            if self._is_watched:
                rate = speed.text(self._sites, self._sites / expected)
                self._progress.show(f"{self._sites:,} of {expected:,} sites fetched, {rate}")

        try:
            fetch_each(map(Origin.from_url, sites), fetch_settings(settings, limit), keep)
        finally:
            self._progress.clear()
        if self._sites < expected:
            raise KeyboardInterrupt

    def compare(self, sites: SiteList, copies: Copies) -> None:
        """Print what changed at each of *sites*, in their order, and store the new copies."""
        first = 0
        for site, old, new in copies.pairs(sites):
            if old is None and new.problem:
                self._fail(f"{site} is unreachable: {new.problem}; no copy of its robots.txt is stored")
                continue
            if old is None:
                first += 1
            else:
                self._tell(site, [*self._watch.changes(site, old, new)])
            copies.store(site, replace(old, problem=new.problem) if old and new.problem else new)
        if first:
            sites_stored = number_of(first, "site", "sites")
            self._progress.note(f"{sites_stored} stored for the first time: the next run compares")
        if self._is_watched:
            self._progress.note(f"{self._changed:,} of {number_of(self._sites, 'site', 'sites')} changed")

    def _tell(self, site: str, changes: list[Change]) -> None:
        sentences = [*self._watch.sentences(changes)]
        if self._as_json:
            self._out.writelines(f"{json.dumps(change.as_facts())}\n" for change in changes)
        else:
            self._out.writelines(f"{paint(site, 'strong', self._out)}: {sentence}\n" for sentence in sentences)
        if changes:
            self.changes += changes
            self._lines += (f"{site}: {sentence}" for sentence in sentences)
            self._changed += 1
            self.exit_code = max(self.exit_code, FOUND)

    def _fail(self, problem: str) -> None:
        self._out.flush()
        self.exit_code = print_error("watch", problem)

    def document(self) -> dict[str, Any]:
        """What is sent to a webhook.

        ``text`` is what Slack and those like it show. There ``<!channel>``, which a robots.txt may contain, would
        call everybody: https://docs.slack.dev/messaging/formatting-message-text ("Escaping text").
        """
        lines = self._lines[:MOST]
        if more := len(self._lines) - len(lines):
            lines.append(f"and {number_of(more, 'more line', 'more lines')}")
        return {
            "text": escape("\n".join(lines), quote=False),
            "at": time_fact(clock.time()),
            "sites": self._sites,
            "changed": self._changed,
            "changes": [change.as_facts() for change in self.changes],
        }
