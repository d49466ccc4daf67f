"""Show the URLs whose verdict differs between two robots.txt files, or between two dialects.

OLD and NEW are files, URLs (https://…) or - for standard input. With two dialects, the first reads OLD and the
second reads NEW, which defaults to OLD. --urls names a file of URLs to compare, one per line; --sitemap takes
them from the sitemaps that NEW lists. Without either, paths are built from the rules of both files: they show
where the files differ, not what a site loses. The default --agent is *, a crawler that no group names.
Prints each URL that changes, with the rules on both sides, and the totals; --json prints one object per change.
Exits with 0 if no verdict changes, 1 if one does, 2 if the comparison failed.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING
from urllib.parse import urljoin

from scrapy_rep.protocol import DIALECTS, Access, Dialect, parse
from scrapy_rep.protocol.display import shown
from scrapy_rep.settings import RepSettings
from scrapy_rep.tools.answers import verdict_facts, verdict_text
from scrapy_rep.tools.difference import ChangedVerdict, Difference

from . import FOUND, OK
from .inputs import (
    GivenFile,
    InputError,
    check_names,
    decidable,
    is_url,
    origin_of,
    read_all,
    read_lines,
    token_of,
)
from .parser import SHARED, add_shared
from .terminal import Progress, paint, print_error

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from .fetching import CrawlFetcher

_PROGRESS_EVERY = 1_000  # URLs
_TWO = 2  # dialects


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    parser.add_argument("old", metavar="OLD", help="a file, a URL (https://…), or - for standard input")
    parser.add_argument("new", metavar="NEW", nargs="?", help="the same; not needed with two dialects")
    urls = parser.add_mutually_exclusive_group()
    urls.add_argument("--urls", metavar="FILE", help="compare these, one per line; - is standard input")
    urls.add_argument("--sitemap", action="store_true", help="compare the URLs in the sitemaps that NEW lists")
    how = f"how to read both, or, given twice, OLD and NEW (default: REP_DIALECT): {', '.join(DIALECTS)}"
    parser.add_argument("--dialect", **(SHARED["--dialect"] | {"action": "append", "default": [], "help": how}))
    add_shared(parser, "--json", agent="a product token or User-Agent header, may be repeated (default: *)")


def run(arguments: Namespace, settings: BaseSettings, out: IO[str]) -> int:
    """Run the command; return the exit code."""
    parsed, chosen = RepSettings.from_settings(settings), arguments.dialect
    if len(chosen) > _TWO:
        raise InputError(f"--dialect: {len(chosen)} dialects for two files; name two at most")
    if arguments.new is None and len(chosen) < _TWO:
        raise InputError("name a second robots.txt to compare with, or two dialects (--dialect A --dialect B)")
    named = [arguments.old, *filter(None, [arguments.new])]
    check_names([*named, "-"] if arguments.urls == "-" else named)
    dialects = [DIALECTS[name] for name in chosen] or [parsed.dialect]
    agents = tuple(dict.fromkeys(map(token_of, arguments.agent or ["*"])))
    comparison = _FileComparison(
        (named[0], named[-1]),
        agents,
        (dialects[0], dialects[-1]),
        parsed.max_size,
        out,
        as_json=arguments.json,
    )
    then = comparison.compare_sitemaps if arguments.sitemap else None
    read_all(dict.fromkeys(named), settings, comparison.keep, parsed.max_size, then=then)
    if not arguments.sitemap:
        comparison.compare_list(arguments.urls)
    return comparison.end()


class _FileComparison:
    """Reads the two robots.txt files called *names*, compares their verdicts for each of *agents*, prints changes.

    *limit* is the number of octets of each that are read.
    """

    def __init__(
        self, names: tuple[str, str], agents: tuple[str, ...], dialects: tuple[Dialect, Dialect], limit: int,
        out: IO[str], *, as_json: bool,
    ) -> None:  # fmt: skip
        self._names, self._agents, self._dialects, self._limit = names, agents, dialects, limit
        self._out, self._as_json = out, as_json
        self._files: dict[str, GivenFile] = {}
        self._subject = "URLs"  # what the URLs are called
        self._count = self._changed = self._disallowed = self._allowed = 0
        self._exit_code = OK
        self._progress = Progress(sys.stderr, is_logged=False)

    def keep(self, file: GivenFile) -> None:
        """Take one of the two files. Raises `InputError` for an unreachable one, whose rules are unknown."""
        if file.access is Access.UNREACHABLE:
            raise InputError(f"{file.name} is unreachable: status {file.status}")
        self._files[file.name] = file

    def compare_list(self, urls_from: str | None) -> None:
        """Compare the URLs in the file *urls_from*, or sample paths. Raises `InputError` when there are none."""
        difference = self._difference()
        if urls_from is not None:
            self._compare(decidable(read_lines(urls_from), self._print_problem), difference)
            self._require_urls("standard input" if urls_from == "-" else urls_from)
            return
        urls, number = difference.sample_paths()
        is_sample = len(urls) < number
        self._subject = (
            f"paths, a sample of {number:,} built from the rules," if is_sample else "paths built from the rules"
        )
        self._compare(urls, difference)

    async def compare_sitemaps(self, fetcher: CrawlFetcher) -> None:
        """Compare the URLs in the sitemaps of the new file. Raises `InputError` when there are none."""
        difference, new = self._difference(), self._file(self._names[1])
        sitemaps = parse(new.body, limit=self._limit).sitemaps
        if not sitemaps:
            raise InputError("NEW lists no sitemap: name the URLs to compare with --urls")
        urls = [urljoin(new.url, sitemap) for sitemap in sitemaps]
        async for pages in fetcher.sitemaps(urls, self._print_problem):
            self._compare(pages, difference)
        self._require_urls("the sitemaps that NEW lists")

    def _require_urls(self, source: str) -> None:
        if not self._count:
            verb = "contain" if source.startswith("the ") else "contains"
            raise InputError(f"{source} {verb} no URL")

    def _compare(self, urls: Iterable[str], difference: Difference) -> None:
        """Print what changes for each of *urls*."""
        for url in urls:
            self._count += 1
            changes = list(difference.changes(url))
            if changes:
                self._changed += 1
                self._exit_code = max(self._exit_code, FOUND)
                self._progress.clear()
            for change in changes:
                self._disallowed += change.old.allowed
                self._allowed += change.new.allowed
                self._out.write(self._json(change) if self._as_json else self._text(change))
            if not self._count % _PROGRESS_EVERY:
                self._progress.show(f"{self._count:,} {self._subject} compared, {self._changed:,} change")

    def _file(self, name: str) -> GivenFile:
        return self._files[origin_of(name).robots_url if is_url(name) else name]

    def _difference(self) -> Difference:
        old, new = (self._file(name).body for name in self._names)
        return Difference(old, new, self._agents, self._dialects, limit=self._limit)

    def _print_problem(self, problem: str) -> None:
        """Print what could not be compared."""
        self._out.flush()
        self._exit_code = print_error("diff", problem)

    def end(self) -> int:
        """Print the totals; return the exit code."""
        self._progress.clear()
        totals = f"change: {self._disallowed:,} newly disallowed, {self._allowed:,} newly allowed"
        old, new = self._dialects
        if old != new:
            totals = (
                f"differ: {self._disallowed:,} allowed by {old.name} alone, {self._allowed:,} by {new.name} alone"
            )
        if not self._as_json:
            self._out.write(f"{self._changed:,} of {self._count:,} {self._subject} {totals}\n")
        return self._exit_code

    def _text(self, change: ChangedVerdict) -> str:
        out, has_two = self._out, self._dialects[0] != self._dialects[1]
        names = [f"{dialect.name}: " if has_two else "" for dialect in self._dialects]
        old = paint(f"- {names[0]}{verdict_text(change.old)}", "faint", out)
        new = paint(f"+ {names[1]}{verdict_text(change.new)}", "good" if change.new.allowed else "bad", out)
        return f"{shown(change.url)}  ({change.agent})\n    {old}\n    {new}\n"

    def _json(self, change: ChangedVerdict) -> str:
        old, new = (
            {"dialect": dialect.name, **verdict_facts(verdict)}
            for dialect, verdict in zip(self._dialects, (change.old, change.new), strict=True)
        )
        return json.dumps({"url": change.url, "agent": change.agent, "old": old, "new": new}) + "\n"
