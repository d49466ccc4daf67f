"""Decide millions of URLs by robots.txt files on disk, and fetch nothing.

PATH is a folder of robots.txt files named by host, or the folder of a survey. FILE has one URL per line, in any
order; - is standard input. Prints one JSON object per URL, in the order of the input; --only prints the URLs with
one verdict, unchanged. Several --agent options decide each URL for each agent.

A URL is unknown if PATH has no robots.txt for it; so is text that is not a URL. As in a crawl, an unreachable
robots.txt disallows and a missing one (404) allows. Modes and exceptions of the project are ignored.
Exits with 0 if every URL has a verdict, 1 if one is unknown, 2 if the command failed.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast

from scrapy_rep.settings import RepSettings
from scrapy_rep.tools.answers import WORDS
from scrapy_rep.tools.bulk.sources import open_source
from scrapy_rep.tools.bulk.verdicts import Decider, LineDecider
from scrapy_rep.tools.files import open_file, require_text
from scrapy_rep.tools.processes import cores, map_in_processes

from . import FOUND, OK
from .inputs import InputError, crawlers_of, require_piped, unreadable
from .parser import add_shared
from .terminal import Progress, Speed, print_warning

if TYPE_CHECKING:
    from io import BufferedReader

    from scrapy.settings import BaseSettings

_MISSING: Final[dict[str, bool | None]] = {"allow": True, "disallow": False, "unknown": None}
_START: Final = 1_024  # octets that tell a text from a binary file
_BATCH: Final = 400_000  # octets of lines that a process gets at once
_BATCHES_WORTH_PROCESSES: Final = 2
_TIMES_ITS_BODY: Final = 4  # the memory of a parsed file and its verdicts, as measured over 2,800 files


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    add = parser.add_argument
    add("--urls", metavar="FILE", default="-", help="one URL per line; - is standard input (default)")
    add("--robots", metavar="PATH", type=Path, required=True, help="a folder of files, or of a survey")
    add_shared(parser, "--agent")
    missing = "the verdict on URLs without a robots.txt in PATH (default: unknown)"
    add("--missing", choices=_MISSING, default="unknown", help=missing)
    add("--only", choices=[*WORDS.values()], help="print only the URLs with this verdict, unchanged")


def run(arguments: Namespace, settings: BaseSettings, out: IO[str]) -> int:
    """Run the command; return the exit code."""
    crawlers, parsed = crawlers_of(arguments.agent, settings), RepSettings.from_settings(settings)
    if arguments.only and len(crawlers) > 1:
        raise InputError("--only prints URLs without their agent: name one --agent")
    source = partial(open_source, arguments.robots)
    source()  # what cannot be used is said before anything is read
    decider = partial(
        Decider,
        crawlers=tuple(crawlers),
        dialect=parsed.dialect,
        limit=parsed.max_size,
        unreachable=parsed.unreachable.access,
        missing=_MISSING[arguments.missing],
        held=parsed.memory_size // cores() // _TIMES_ITS_BODY,
    )
    number, unknown = _decide(arguments.urls, LineDecider(source, decider, arguments.only), out)
    out.flush()
    if not unknown:
        return OK
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in unknown.most_common())
    print_warning("decide", f"{unknown.total():,} of {number:,} verdicts are {WORDS[None]}: {reasons}")
    return FOUND


def _decide(name: str, decider: LineDecider, out: IO[str]) -> tuple[int, Counter[str]]:
    """Write the verdicts on the URLs in the file *name* as they come, and show progress.

    Returns how many there are, and why some are unknown. Raises `InputError` and `SourceError`.
    """
    number, unknown = 0, Counter[str]()
    progress, speed = Progress(sys.stderr), Speed()
    # URLs come back as they were, whatever the encoding of the terminal.
    write = out.buffer.write if hasattr(out, "buffer") else lambda octets: out.write(octets.decode())
    if name == "-":
        require_piped("name a file with --urls")
    with nullcontext(sys.stdin.buffer) if name == "-" else open_file(name) as file:
        size = 0 if name == "-" else os.fstat(file.fileno()).st_size
        results = map_in_processes(
            decider,
            _batches(name, cast("BufferedReader", file)),
            worth_it=_BATCHES_WORTH_PROCESSES,
            processes=cores(),
            batch=1,
        )
        with closing(cast("Any", results)):
            for octets, count, reasons in results:
                progress.clear()
                write(octets)
                number += count
                unknown += reasons
                progress.show(f"{number:,} verdicts, {speed.text(number, file.tell() / size if size else None)}")
    progress.clear()
    return number, unknown


def _batches(name: str, file: BufferedReader) -> Iterator[list[bytes]]:
    """The lines of *file*, some thousands at once. Raises `InputError`, for a binary file too."""
    try:
        start = require_text(file.peek(_START)[:_START])
        if start.startswith(BOM_UTF8):  # Notepad writes one
            file.read(len(BOM_UTF8))
        yield from iter(partial(file.readlines, _BATCH), [])
    except OSError as error:
        raise unreadable(name, error) from None
