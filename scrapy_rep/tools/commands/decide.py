"""Decide millions of URLs by robots.txt files that are already there, and fetch nothing.

PATH is a folder of robots.txt files named by host, the folder of a survey, or a store (REP_STORE_PATH), by default
that of the project. FILE has one URL per line, in any order; gzip, bzip2 and xz are read too, - is standard input.
Prints one line of JSON per URL, in the order of the input; --format urls prints the URLs of one kind as they came.
With several --agent each URL is decided for each of them.

A URL whose robots.txt is not in PATH is unknown, and so is what is not a URL. An unreachable robots.txt disallows,
a missing one (404) allows, as in a crawl. Modes and exceptions of the project do not count.
Exits with 0 when there is a verdict on every URL, 1 when one is unknown, 2 when it could not do its work.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast

from scrapy_rep.protocol import DIALECTS
from scrapy_rep.settings import RepSettings
from scrapy_rep.tools.answers import WORDS
from scrapy_rep.tools.bulk.lines import Damaged, LineDecider, decompressed, lines_in
from scrapy_rep.tools.bulk.sources import open_source
from scrapy_rep.tools.bulk.verdicts import BulkOptions, Held
from scrapy_rep.tools.files import open_file
from scrapy_rep.tools.processes import cores, map_in_processes

from . import FOUND, OK
from .inputs import InputError, crawlers_of, require_piped, unreadable
from .parser import add_shared
from .terminal import Progress, Speed, print_warning

if TYPE_CHECKING:
    from io import BufferedReader

    from scrapy.settings import BaseSettings

_MISSING: Final[dict[str, bool | None]] = {"allow": True, "disallow": False, "unknown": None}
_BATCH: Final = 5_000  # URLs that a process gets at once
_BATCHES_WORTH_PROCESSES: Final = 2
_TIMES_ITS_BODY: Final = 4  # the memory of a parsed file and its verdicts, as measured over 2,800 files


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    add = parser.add_argument
    add("--urls", metavar="FILE", default="-", help="one URL per line; - is standard input (default)")
    add("--robots", metavar="PATH", help="a folder or a store (default: the store of the project)")
    add_shared(parser, "--agent", "--dialect")
    add(
        "--missing",
        choices=_MISSING,
        default="unknown",
        help="the verdict on URLs without a robots.txt in PATH (default: unknown)",
    )
    add("--format", choices=("jsonl", "urls"), default="jsonl", help="how to print (default: jsonl)")
    add("--only", choices=[*WORDS.values()], action="append", help="print only these URLs; may be repeated")


def run(arguments: Namespace, settings: BaseSettings, out: IO[str]) -> int:
    """Run the command; return the exit code."""
    parsed = RepSettings.from_settings(settings)
    source = Path(arguments.robots) if arguments.robots else _store_of(parsed, settings)
    decider = _decider(arguments, settings, parsed, source)
    decider.open()  # what cannot be used is said before anything is read
    # Settings may hold what cannot be sent to another process.
    number, unknown = _decide(arguments.urls, decider, cores() if isinstance(source, Path) else 1, out)
    out.flush()
    if not unknown:
        return OK
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in unknown.most_common())
    print_warning("decide", f"{unknown.total():,} of {number:,} verdicts are {WORDS[None]}: {reasons}")
    return FOUND


def _decider(
    arguments: Namespace, settings: BaseSettings, parsed: RepSettings, place: Path | BaseSettings
) -> LineDecider:
    """What each process works with. Raises `InputError` and `InvalidSettingError`."""
    crawlers, as_urls = crawlers_of(arguments.agent, settings), arguments.format == "urls"
    if as_urls and (len(arguments.only or ()), len(crawlers)) != (1, 1):
        raise InputError(
            "--format urls prints URLs of one kind for one crawler: add --only allowed, and one --agent"
        )
    options = BulkOptions(
        tuple(crawlers),
        DIALECTS[arguments.dialect] if arguments.dialect else parsed.dialect,
        parsed.max_size,
        parsed.unreachable.access,
        _MISSING[arguments.missing],
        Held(parsed.memory_entries // cores(), parsed.memory_size // cores() // _TIMES_ITS_BODY),
    )
    status_access = dict(parsed.status_access)
    source = partial(open_source, place, stale_max=parsed.stale_max, status_access=status_access)
    return LineDecider(source, options, arguments.only or tuple(WORDS.values()), as_urls)


def _store_of(parsed: RepSettings, settings: BaseSettings) -> Path | BaseSettings:
    if parsed.redis_url or parsed.store not in {"sqlite", "memory"}:
        return settings
    from scrapy_rep.crawl.robots.stores.sqlite import path_of_store  # noqa: PLC0415  # loads Scrapy, which files do not need

    path = path_of_store(parsed) if parsed.store == "sqlite" else None
    if path is None or not path.exists():
        raise InputError("there is no store here: name a folder of robots.txt files, or a store, with --robots")
    return path


def _opened(name: str) -> AbstractContextManager[BufferedReader]:
    """The file *name*, or standard input. Raises ``OSError`` and `InputError`."""
    if name == "-":
        require_piped("name a file with --urls")
        return nullcontext(cast("BufferedReader", sys.stdin.buffer))
    try:
        return open_file(Path(name))
    except ValueError as error:  # a NUL in the name
        raise unreadable(name, error) from None


def _decide(name: str, decider: LineDecider, processes: int, out: IO[str]) -> tuple[int, Counter[str]]:
    """Write the verdicts on the URLs in the file *name* as they come, and show progress.

    Returns how many there are, and why some are unknown. Raises `InputError` and `SourceError`.
    """
    number, unknown = 0, Counter[str]()
    progress, speed = Progress(sys.stderr), Speed()
    # URLs come back as they were, whatever the encoding of the terminal.
    write = out.buffer.write if hasattr(out, "buffer") else lambda octets: out.write(octets.decode())
    with _opened(name) as file:
        size = _size(file)
        results = map_in_processes(
            decider, _batches(name, file), worth_it=_BATCHES_WORTH_PROCESSES, processes=processes, batch=1
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
    try:
        lines = lines_in(decompressed(file))
        while batch := [*islice(lines, _BATCH)]:
            yield batch
    except Damaged as error:
        raise InputError(f"{name}: damaged, or cut off: {error}") from None
    except OSError as error:  # gzip says so of a damaged file, too
        raise InputError(f"{name}: {error.strerror or error}") from None


def _size(file: BufferedReader) -> int:
    """The octets of *file*, 0 of a pipe."""
    try:
        return os.fstat(file.fileno()).st_size
    except OSError:  # no file, in a test
        return 0
