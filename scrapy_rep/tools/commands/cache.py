"""List, show or purge the robots.txt files in the project's store: REP_STORE, or Redis with REP_REDIS_URL.

ORIGIN may be any URL of the origin. The URLs of its tdmrep.json, its ai.txt or a stored license stand for those
files. Purging an origin also purges them; a license goes with the origin whose robots.txt names it.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from contextlib import closing
from io import StringIO
from typing import IO, TYPE_CHECKING, Any

from scrapy_rep.clock import clock
from scrapy_rep.crawl.robots.stores import Store
from scrapy_rep.directives.ai import PATHS, SiteFile
from scrapy_rep.extras.ai.files import license_at
from scrapy_rep.extras.fleet.sharing import store_of
from scrapy_rep.protocol import Kind, Origin, parse
from scrapy_rep.protocol.display import number_of, shown
from scrapy_rep.protocol.freshness import Entry
from scrapy_rep.settings import NOT_SHARED
from scrapy_rep.tools.answers import entry_facts, time_fact

from . import FOUND, OK
from .inputs import InputError, with_scheme
from .parser import add_shared

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    parser.add_argument("action", choices=["list", "show", "purge"])
    parser.add_argument("origin", nargs="?", help="an origin, or any URL of it")
    add_shared(parser, "--json")


def run(arguments: Namespace, settings: BaseSettings, out: IO[str]) -> int:
    """Run the command; return the exit code."""
    try:
        with closing(store_of(settings)) as store:
            origin = _named(with_scheme(arguments.origin), store) if arguments.origin is not None else None
            return _ACTIONS[arguments.action](store, origin, arguments.json, out)
    except (ValueError, OSError) as error:
        raise InputError(str(error)) from None


def _named(url: str, store: Store) -> Origin:
    """The origin of *url*, or the file at *url* if it is one that is stored. Raises ``ValueError``."""
    file = SiteFile.at(url)
    return file if file.path in PATHS or (file.path != "/" and any(store.entries(file))) else file.origin


def _list(store: Store, origin: Origin | None, as_json: bool, out: IO[str]) -> int:
    entry = None
    for entry in store.entries(origin):
        line = json.dumps(_facts(entry)) if as_json else _line(entry)
        out.write(f"{line}\n")
    if entry is None:
        sys.stderr.write(f"No entries. {NOT_SHARED}\n")
    return OK


def _show(store: Store, origin: Origin | None, as_json: bool, out: IO[str]) -> int:
    if origin is None:
        raise InputError("show needs an ORIGIN")
    entry = next(store.entries(origin), None)
    if entry is None:
        out.write(f"{origin} is not in the store\n")
        return FOUND
    facts, text = _facts(entry), entry.body.decode("utf-8", "backslashreplace")
    if as_json:
        out.write(json.dumps({**facts, "body": text}) + "\n")
        return OK
    for name, value in facts.items():
        fact = ", ".join(value) if isinstance(value, list) else value
        if fact not in (None, "", 0):
            out.write(f"{name.replace('_', ' ')}: {shown(str(fact))}\n")
    out.write("\n")
    for line in StringIO(text, newline=None):  # CR and CRLF end lines too; nothing else does
        out.write(shown(line.removesuffix("\n").expandtabs()) + "\n")
    return OK


def _purge(store: Store, origin: Origin | None, as_json: bool, out: IO[str]) -> int:
    files = [] if origin is None else _files_of(origin, store)
    purged = store.purge(origin) + sum(map(store.purge, files))
    out.write(f'{{"gone": {purged}}}\n' if as_json else f"{number_of(purged, 'entry', 'entries')} purged\n")
    return OK if purged or origin is None else FOUND


def _files_of(origin: Origin, store: Store) -> list[SiteFile]:
    """The files of *origin* that may be in *store*, and the licenses that its robots.txt there names."""
    records = [record for entry in store.entries(origin) for record in parse(entry.body).records]
    licenses = [license_at(record.text, origin) for record in records if record.kind is Kind.LICENSE]
    return [*(SiteFile.of(origin, path) for path in PATHS), *filter(None, licenses)]


_ACTIONS = {"list": _list, "show": _show, "purge": _purge}


def _line(entry: Entry) -> str:
    left = entry.fresh_until - clock.time()
    state = f"fresh for {left:,.0f} s" if left > 0 else f"expired {-left:,.0f} s ago"
    if entry.failures:
        state += f", {number_of(entry.failures, 'failed attempt', 'failed attempts')}"
    return f"{entry.origin}  {entry.access.value}  {entry.status or '-'}  {len(entry.body):,} octets  {state}"


def _facts(entry: Entry) -> dict[str, Any]:
    return {
        "origin": str(entry.origin),
        **entry_facts(entry),
        "fresh_until": time_fact(entry.fresh_until),
        "etag": entry.etag,
        "last_modified": entry.last_modified,
        "failures": entry.failures,
        "unreachable_since": time_fact(entry.unreachable_since),
        "retry_at": time_fact(entry.retry_at) if entry.failures else None,
    }
