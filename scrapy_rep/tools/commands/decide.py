"""Decide millions of URLs by robots.txt files that are already there, and fetch nothing.

    scrapy robots decide --robots PATH [--urls FILE] [--agent TOKEN]… [--only allowed] [--format tsv] [--summary]

PATH is a folder of robots.txt files named by host, the folder of a survey, or a store (REP_STORE_PATH), by default
that of the project. FILE has one URL per line, in any order; gzip, bzip2 and xz are read too, - is standard input.
Prints one line per URL, in the order of the input, as JSON or separated by tabs; --format urls prints the URLs of
one kind as they came. With several --agent each URL is decided for each of them.
A URL whose robots.txt is not in PATH is unknown, and so is what is not a URL. An unreachable robots.txt disallows,
a missing one (404) allows, as in a crawl. Modes and exceptions of the project do not count.
Exits with 0 when there is a verdict on every URL, 1 when one is unknown, 2 when it could not do its work.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast

from scrapy_rep.protocol import DIALECTS
from scrapy_rep.settings import RepSettings
from scrapy_rep.tools.answers import WORDS
from scrapy_rep.tools.bulk.lines import FORMATS, Damaged, Key, LineDecider, chunks, decompressed
from scrapy_rep.tools.bulk.sources import SourceError, open_source
from scrapy_rep.tools.bulk.verdicts import BulkOptions, Held
from scrapy_rep.tools.files import open_file
from scrapy_rep.tools.processes import cores, map_with_state

from . import FOUND, OK
from .inputs import InputError, crawlers_of, unreadable
from .parser import add_shared, at_least_one
from .terminal import Progress, Speed, print_warning

if TYPE_CHECKING:
    from io import BufferedReader

    from scrapy.settings import BaseSettings

_MISSING: Final[dict[str, bool | None]] = {"allow": True, "disallow": False, "unknown": None}
_CHUNKS_WORTH_PROCESSES: Final = 2
_TIMES_ITS_BODY: Final = 4  # the memory of a parsed file and its verdicts, as measured over 2,800 files


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    parser.add_argument(
        "--urls", metavar="FILE", default="-", help="one URL per line; - is standard input (default)"
    )
    parser.add_argument("--robots", metavar="PATH", help="a folder or a store (default: the store of the project)")
    add_shared(parser, "--agent", "--dialect")
    parser.add_argument(
        "--missing",
        choices=_MISSING,
        default="unknown",
        help="the verdict on URLs without a robots.txt in PATH (default: unknown)",
    )
    parser.add_argument("--format", choices=FORMATS, default="jsonl", help="how to print (default: jsonl)")
    parser.add_argument(
        "--only", choices=[*WORDS.values()], action="append", help="print only these URLs; may be repeated"
    )
    parser.add_argument("--summary", action="store_true", help="print counts of URLs instead")
    parser.add_argument(
        "--processes", type=at_least_one("processes"), metavar="N", help="(default: one for each core)"
    )


def run(arguments: Namespace, settings: BaseSettings, out: IO[str]) -> int:
    """Run the command; return the exit code."""
    parsed = RepSettings.from_settings(settings)
    source = Path(arguments.robots) if arguments.robots else _store_of(parsed, settings)
    # Settings may hold what cannot be sent to another process.
    processes = (arguments.processes or cores()) if isinstance(source, Path) else 1
    start = _decider(arguments, settings, parsed, source, arguments.processes or cores())
    try:
        start()  # what cannot be used is said before anything is read
        counts = _decide(arguments, start, processes, out)
    except SourceError as error:
        raise InputError(str(error)) from None
    if arguments.summary:
        out.writelines(_summary(counts, is_json=arguments.format == "jsonl"))
    out.flush()
    return _unknown(counts)


def _decider(
    arguments: Namespace, settings: BaseSettings, parsed: RepSettings, place: Path | BaseSettings, processes: int
) -> Callable[[], LineDecider]:
    """What each process starts with. Raises `InputError` and `InvalidSettingError`."""
    crawlers = crawlers_of(arguments.agent, settings)
    is_one = (len(arguments.only or ()), len(crawlers)) == (1, 1)
    if arguments.format == "urls" and not arguments.summary and not is_one:
        raise InputError(
            "--format urls prints URLs of one kind for one crawler: add --only allowed, and one --agent"
        )
    rules = BulkOptions(
        tuple(crawlers),
        DIALECTS[arguments.dialect] if arguments.dialect else parsed.dialect,
        parsed.max_size,
        parsed.unreachable.access,
        _MISSING[arguments.missing],
    )
    status_access = dict(parsed.status_access)
    source = partial(open_source, place, stale_max=parsed.stale_max, status_access=status_access)
    held = Held(parsed.memory_entries // processes, parsed.memory_size // processes // _TIMES_ITS_BODY)
    only = ("",) if arguments.summary else tuple(arguments.only or ())
    return partial(LineDecider, source, rules, held, arguments.format, only)


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
        if sys.stdin is None or sys.stdin.isatty():
            raise InputError(
                "no URLs given: name a file with --urls, or pipe them to standard input, one per line"
            )
        return nullcontext(cast("BufferedReader", sys.stdin.buffer))
    try:
        return open_file(Path(name))
    except ValueError as error:  # a NUL in the name
        raise unreadable(name, error) from None


def _decide(arguments: Namespace, start: Callable[[], LineDecider], processes: int, out: IO[str]) -> Counter[Key]:
    """Write the verdicts as they come, and show progress; return how many there are of each kind.

    Raises `InputError` and `SourceError`.
    """
    counts: Counter[Key] = Counter()
    progress, speed = Progress(sys.stderr), Speed()
    if not arguments.summary:
        out.write(FORMATS[arguments.format].head)
    out.flush()
    with _opened(arguments.urls) as file:
        size, pieces = _size(file), _read(arguments.urls, file)
        results = map_with_state(start, pieces, worth_it=_CHUNKS_WORTH_PROCESSES, processes=processes, batch=1)
        with closing(cast("Any", results)):
            for octets, found in results:
                if hasattr(out, "buffer"):
                    out.buffer.write(octets)
                else:
                    out.write(octets.decode("utf-8", "surrogateescape"))
                counts.update(found)
                done = counts.total()
                progress.show(f"{done:,} verdicts, {speed.text(done, file.tell() / size if size else None)}")
    progress.clear()
    return counts


def _read(name: str, file: BufferedReader) -> Iterator[bytes]:
    try:
        yield from chunks(decompressed(file))
    except Damaged as error:
        raise InputError(f"{name}: damaged, or cut off: {error}") from None
    except OSError as error:  # gzip says so of a damaged file, too
        raise InputError(f"{name}: {error.strerror or error}") from None


def _summary(counts: Counter[Key], *, is_json: bool) -> Iterator[str]:
    if not is_json:
        yield "agent\tallowed\treason\turls\n"
    for (agent, allowed, reason), number in counts.most_common():
        facts = {"agent": agent, "allowed": allowed, "reason": reason, "urls": number}
        yield f"{json.dumps(facts)}\n" if is_json else f"{agent}\t{WORDS[allowed]}\t{reason}\t{number}\n"


def _unknown(counts: Counter[Key]) -> int:
    """Say on how many URLs there is no verdict, and why; return the exit code."""
    unknown: Counter[str] = Counter()
    for (_, allowed, reason), number in counts.items():
        if allowed is None:
            unknown[reason] += number
    if not unknown:
        return OK
    reasons = ", ".join(f"{number:,} {reason}" for reason, number in unknown.most_common())
    print_warning("decide", f"{unknown.total():,} of {counts.total():,} verdicts are {WORDS[None]}: {reasons}")
    return FOUND


def _size(file: BufferedReader) -> int:
    """The octets of *file*, 0 of a pipe."""
    try:
        return os.fstat(file.fileno()).st_size
    except OSError:  # no file, in a test
        return 0
