"""What the commands are given: names of files, URLs, standard input and product tokens.

A URL is fetched now, whatever the store holds. Imports nothing of a crawl until there is a URL to fetch, so that
a command that reads files starts quickly.
"""

from __future__ import annotations

import re
import sys
from codecs import BOM_UTF8
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import urlsplit

from scrapy_rep.protocol import Access, Origin
from scrapy_rep.protocol.display import shown
from scrapy_rep.protocol.product_token import asked_token
from scrapy_rep.tools import files
from scrapy_rep.tools.answers import url_problem
from scrapy_rep.tools.files import ARCHIVES, binary_kind, not_plain_text, open_file, read_rest, require_text

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from .fetching import CrawlFetcher, FetchedRobots

T = TypeVar("T")

_LONGEST_LINE: Final = 65_536  # octets: more is no URL
_BINARY: Final = re.compile(rb"[\0-\x08\x0e-\x1f\x7f]")
_NO_HOST: Final = re.compile(r"[^\w.~%!$&'()*+,;=:-]", re.ASCII)  # RFC 3986 section 3.2.2
_OVERSIZE_FACTOR: Final = 4  # a body is fetched up to this multiple of the limit, to report its real size


WITHOUT_JINJA2: Final = "Jinja2, which renders the report, is not installed: pip install 'scrapy_rep[report]'"


class InputError(Exception):
    """Something on the command line that cannot be used; the message names it."""


@dataclass(frozen=True, slots=True)
class GivenFile:
    """A robots.txt from a file, standard input or a URL.

    ``name`` is the file's, ``-``, or the URL of the robots.txt. Of a fetched one ``url`` is the URL that was
    requested, ``hops`` are its redirects, ``status`` is that of the final response, ``access`` what it means.
    """

    name: str
    body: bytes
    url: str = ""
    hops: tuple[str, ...] = ()
    status: int | None = None
    access: Access = Access.SUCCESSFUL


def is_url(name: str) -> bool:
    """Whether *name* is a URL rather than the name of a file."""
    return "://" in name


def with_scheme(url: str) -> str:
    """Return *url*, which may be a bare host, as a URL."""
    return url if is_url(url) else f"https://{url}"


def origin_of(url: str) -> Origin:
    """Return the origin of *url*, which may be a bare host. Raises `InputError`."""
    try:
        origin = Origin.from_url(with_scheme(url))
    except ValueError as error:
        raise InputError(f"{shown(url)}: {error}") from None
    if wrong := _NO_HOST.search(origin.host):
        raise InputError(f"{shown(url)}: no host contains {wrong[0]!r}")
    return origin


def require_piped(otherwise: str) -> None:
    """Raise `InputError` if nothing is piped to standard input: the user would wait for the command."""
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError(f"no URL given: {otherwise}, or pipe them to standard input, one per line")


def decidable(urls: Iterable[str], failed: Callable[[str], object]) -> Iterator[str]:
    """Yield those of *urls* that rules can decide, URLs and paths; *failed* gets what is wrong with the others."""
    for url in urls:
        if problem := url_problem(url):
            failed(problem)
        else:
            yield url


def token_of(agent: str) -> str:
    """Return the product token in a value of ``--agent``; ``*`` stays. Raises `InputError` when there is none."""
    token = asked_token(agent)
    if not token:
        raise InputError(f"--agent {shown(agent)!r} contains no product token: write one such as ExampleBot")
    return token


def crawlers_of(given: Sequence[str] | None, settings: BaseSettings | None) -> list[tuple[str, ...]]:
    """The product tokens of each crawler: of those *given* with ``--agent``, or of the project's; else of any.

    Raises `InputError` and `InvalidSettingError`.
    """
    if given is None and settings is not None:
        from scrapy_rep.crawl.runtime.product_tokens import tokens_of  # noqa: PLC0415  # loads Scrapy

        return [tokens_of(settings)]
    return [(token,) for token in dict.fromkeys(map(token_of, given or "*"))]


Check = Callable[[bytes], bytes]
"""Returns what a file holds, or raises ``OSError``: `require_text`, or ``bytes``, which takes whatever it is."""


def read_file(name: str, check: Check = require_text) -> bytes:
    """Return the robots.txt in the file *name*, on standard input for ``-``. Raises `InputError`."""
    try:
        return check(read_rest(sys.stdin.buffer) if name == "-" else files.read_file(Path(name)))
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from None


def unreadable(name: str, error: OSError | ValueError) -> InputError:
    """What to say when *error* keeps the file *name* from being read."""
    return InputError(f"{name}: {getattr(error, 'strerror', None) or error}")


def read_lines(name: str) -> Iterator[str]:
    """Yield the lines of the file *name*, of standard input for ``-``, as they come, without blank ones.

    Raises `InputError`, for a binary file too.
    """
    return (line for _, line in numbered_lines(name))


def numbered_lines(name: str) -> Iterator[tuple[int, str]]:
    """As `read_lines`, with the number of each line."""
    try:
        with nullcontext(sys.stdin.buffer) if name == "-" else open_file(Path(name)) as file:
            for number, line in enumerate(iter(partial(file.readline, _LONGEST_LINE), b""), start=1):
                if number == 1 and (kind := binary_kind(line)) in ARCHIVES:
                    raise InputError(f"{name}: {not_plain_text(kind)}")
                if len(line) == _LONGEST_LINE or _BINARY.search(line):
                    source = "standard input" if name == "-" else name
                    raise InputError(f"{source} is not a text file: line {number} cannot be a URL")
                if number == 1:
                    line = line.removeprefix(BOM_UTF8)  # noqa: PLW2901  # Notepad writes one
                if line := line.strip():
                    yield number, line.decode("utf-8", "surrogateescape")
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or error}") from None


def check_names(names: Iterable[str]) -> None:
    """Raise `InputError` for a URL without an origin, and when standard input is named twice."""
    names = list(names)
    if names.count("-") > 1:
        raise InputError("standard input can be read only once")
    for name in filter(is_url, names):
        origin_of(name)


def read_all(
    names: Iterable[str], settings: BaseSettings, found: Callable[[GivenFile], object], limit: int,
    check: Check = require_text, *, then: Callable[[CrawlFetcher], Awaitable[None]] | None = None,
) -> None:  # fmt: skip
    """Hand each robots.txt in *names* to *found*: files first, in order, then URLs as they arrive.

    *limit* is the number of octets that will be parsed. Raises `InputError` for those that cannot be read, after
    all others have been handed over. *then* is done in the same crawl, once all could be read.
    """
    names = list(names)
    problems: list[InputError] = []
    for name in names:
        try:
            if not is_url(name):
                found(GivenFile(name, read_file(name, check)))
        except InputError as error:  # noqa: PERF203
            problems.append(with_hint(error))
    if then:
        raise_for(problems)
    if then or any(map(is_url, names)):
        from .fetching import crawl  # noqa: PLC0415  # loads a whole crawl, which files do not need

        async def work(fetcher: CrawlFetcher) -> None:
            problems.extend(await _fetch_urls(fetcher, names, found))
            if then:
                raise_for(problems)
                await then(fetcher)

        crawl(fetch_settings(settings, limit), work)
    raise_for(problems)


def raise_for(problems: list[InputError]) -> None:
    """Raise one `InputError` for all *problems*, if there are any."""
    if problems:
        raise InputError("; ".join(map(str, problems)))


def with_hint(error: InputError) -> InputError:
    """*error*, and what to write instead where that is likely."""
    if "Is a directory" in str(error):
        return InputError(f"{error}: name the files in it")
    return InputError(f"{error} (a URL starts with https://)") if "No such file" in str(error) else error


async def _fetch_urls(
    fetcher: CrawlFetcher, names: Iterable[str], found: Callable[[GivenFile], object]
) -> list[InputError]:
    """Hand the robots.txt of each URL in *names* to *found* as it arrives; return the problems of the others."""
    problems: list[InputError] = []
    by_origin: dict[Origin, str] = {}
    for name in filter(is_url, names):
        by_origin.setdefault(origin_of(name), name)

    def keep(fetched: FetchedRobots) -> None:
        entry, origin, url = fetched.entry, fetched.origin, fetched.origin.robots_url
        if entry.status is None:
            problems.append(InputError(f"{origin} is unreachable: {fetched.problem}"))
        else:
            requested = by_origin[origin] if urlsplit(by_origin[origin]).path.endswith("/robots.txt") else url
            found(GivenFile(url, entry.body, requested, entry.hops, entry.status, fetched.robots.access))

    await fetcher.fetch_each(list(by_origin), keep)
    return problems


def fetch_settings(settings: BaseSettings, limit: int) -> BaseSettings:
    """The *settings* for a crawl without a store or HTTP cache that fetches more than *limit* octets of a file."""
    chosen = settings.copy()
    afresh = {"REP_STORE": "memory", "REP_REDIS_URL": "", "HTTPCACHE_ENABLED": False}
    chosen.setdict({**afresh, "REP_MAX_SIZE": _OVERSIZE_FACTOR * limit}, priority="cmdline")
    return chosen
