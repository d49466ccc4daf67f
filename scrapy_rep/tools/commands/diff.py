"""Tell which URLs change their verdict between two robots.txt files.

    scrapy robots diff OLD NEW [--urls FILE | --sitemap] [--agent TOKEN]… [--json]

OLD and NEW are files, URLs (https://…) or -, standard input. The URLs to ask about come from --urls, one a
line, or from the sitemaps that NEW names; without either, paths are made of the rules of both files, which
shows where they differ, not what a site loses. --agent may be given several times; by default it is *, a
crawler that no group names. Prints each URL that changes, with the rules on both sides, and a sum; --json
prints an object for each change. Exits with 0 when no verdict changes, 1 when one does, 2 when it could not
run, or not to its end.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urljoin

from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.protocol import Access, Verdict, parse
from scrapy_rep.protocol.display import shown
from scrapy_rep.settings import RepSettings
from scrapy_rep.tools.difference import Change, Difference

from . import FINE, FOUND
from .sources import Given, check_names, fail_for, fetch_urls, is_url, read, read_files, settings_of_fetch
from .terminal import GivenError, Progress, complain, lines_of, origin_of, paint, token_of

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from .fetching import Source

_PROGRESS_EVERY = 1_000  # URLs


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of the command line."""
    for name in ("old", "new"):
        parser.add_argument(name, metavar=name.upper(), help="a file, a URL (https://…), or - for standard input")
    urls = parser.add_mutually_exclusive_group()
    urls.add_argument("--urls", metavar="FILE", help="ask about these, one a line; - is standard input")
    urls.add_argument("--sitemap", action="store_true", help="ask about the URLs in the sitemaps that NEW names")
    parser.add_argument(
        "--agent", metavar="TOKEN", action="append", help="a product token or User-Agent header; several are fine"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object for each change")


def run(arguments: Namespace, settings: BaseSettings, out: IO[str]) -> int:
    """Do what the *arguments* say; the exit code."""
    names = (arguments.old, arguments.new)
    try:
        parsed = RepSettings.from_settings(settings)
        check_names([*names, "-"] if arguments.urls == "-" else names)
        errand = _Errand(names, _agents(arguments.agent or ["*"]), parsed, _Teller(out, as_json=arguments.json))
        if arguments.sitemap:
            errand.ask_sitemaps(settings)
        else:
            read(names, settings, errand.keep, parsed.max_size)
            errand.ask(lines_of(arguments.urls) if arguments.urls else None, arguments.urls)
        return errand.teller.end()
    except (GivenError, InvalidSettingError) as error:
        out.flush()
        return complain("diff", error)


def _agents(given: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(token_of, given)))


class _Errand:
    """Two robots.txt files, and the URLs to ask them about."""

    def __init__(
        self, names: tuple[str, str], agents: tuple[str, ...], settings: RepSettings, teller: _Teller
    ) -> None:
        self.teller = teller
        self._names = names
        self._agents = agents
        self._settings = settings
        self._given: dict[str, Given] = {}

    def keep(self, given: Given) -> None:
        """Take one of the two files. Raises `GivenError` when nobody can say what it means."""
        if given.access is Access.UNREACHABLE:
            raise GivenError(f"{given.name} is unreachable: status {given.status}")
        self._given[given.name] = given

    def ask(self, urls: Iterable[str] | None, source: str = "") -> None:
        """Ask about *urls*, or about paths made of the rules. Raises `GivenError` when there are none."""
        difference = self._difference()
        if urls is None:
            urls, made = difference.samples()
            self.teller.asked = "paths made of the rules"
            if len(urls) < made:
                self.teller.asked = f"paths, a sample of {made:,} made of the rules,"
        for url in urls:
            self.teller.tell(url, difference)
        if not self.teller.count:
            raise GivenError(f"{'standard input' if source == '-' else source} holds no URL")

    def ask_sitemaps(self, settings: BaseSettings) -> None:
        """Ask about the URLs in the sitemaps of the new file. Raises `GivenError` when there are none."""
        from .fetching import crawl  # noqa: PLC0415  # all of Scrapy's machinery, which files do not need

        fail_for(read_files(self._names, self.keep))
        crawl(settings_of_fetch(settings, self._settings.max_size), self._ask_sitemaps)
        if not self.teller.count:
            raise GivenError("there is no URL in the sitemaps that NEW names")

    async def _ask_sitemaps(self, source: Source) -> None:
        from .sitemaps import walk  # noqa: PLC0415

        fail_for(await fetch_urls(source, self._names, self.keep))
        difference, new = self._difference(), self._of(self._names[1])
        sitemaps = parse(new.body, limit=self._settings.max_size).sitemaps
        if not sitemaps:
            raise GivenError("NEW names no sitemap: --urls takes the URLs to ask about")
        urls = [urljoin(new.url, sitemap) for sitemap in sitemaps]
        await walk(source, urls, lambda url: self.teller.tell(url, difference), self.teller.cannot)

    def _of(self, name: str) -> Given:
        return self._given[origin_of(name).robots_url if is_url(name) else name]

    def _difference(self) -> Difference:
        old, new = (self._of(name).body for name in self._names)
        return Difference(old, new, self._agents, self._settings.dialect, limit=self._settings.max_size)


class _Teller:
    """Prints changes, and remembers the exit code that they come to."""

    def __init__(self, out: IO[str], *, as_json: bool) -> None:
        self.count = 0
        self.asked = "URLs"
        self._changed = self._forbidden = self._allowed = 0
        self._code = FINE
        self._out = out
        self._as_json = as_json
        self._progress = Progress(sys.stderr) if sys.stderr.isatty() else None

    def tell(self, url: str, difference: Difference) -> None:
        """Print what changes about *url*."""
        self.count += 1
        changes = list(difference.on(url))
        if changes:
            self._changed += 1
            self._code = max(self._code, FOUND)
            self._wipe()
        for change in changes:
            self._forbidden += change.old.allowed
            self._allowed += change.new.allowed
            self._out.write(json.dumps(_facts(change)) + "\n" if self._as_json else _text(change, self._out))
        if self._progress and not self.count % _PROGRESS_EVERY:
            self._progress.tell(f"{self.count:,} {self.asked} asked about, {self._changed:,} change")

    def cannot(self, problem: str) -> None:
        """Say what could not be asked."""
        self._wipe()
        self._out.flush()
        self._code = complain("diff", problem)

    def _wipe(self) -> None:
        if self._progress:
            self._progress.end()

    def end(self) -> int:
        """Print a sum; the exit code."""
        self._wipe()
        if not self._as_json:
            counts = f"{self._forbidden:,} newly disallowed, {self._allowed:,} newly allowed"
            self._out.write(f"{self._changed:,} of {self.count:,} {self.asked} change: {counts}\n")
        return self._code


def _text(change: Change, out: IO[str]) -> str:
    old = paint(f"- {_why(change.old)}", "faint", out)
    new = paint(f"+ {_why(change.new)}", "good" if change.new.allowed else "bad", out)
    return f"{shown(change.url)}  ({change.agent})\n    {old}\n    {new}\n"


def _why(verdict: Verdict) -> str:
    answer = "allowed" if verdict.allowed else "disallowed"
    if verdict.rule is None:
        return f"{answer}: {verdict.reason.value}"
    return f"{answer} by line {verdict.line}, {verdict.rule!s}"


def _facts(change: Change) -> dict[str, Any]:
    return {"url": change.url, "agent": change.agent, "old": _side(change.old), "new": _side(change.new)}


def _side(verdict: Verdict) -> dict[str, Any]:
    return {
        "allowed": verdict.allowed,
        "line": verdict.line or None,
        "rule": str(verdict.rule) if verdict.rule else None,
        "reason": verdict.reason.value,
    }
